"""Rules that are refused, and changes that stop half-way, change nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.changing_rules import EDGES, PATHS, moved, names, on_file

from zodiac_sql import ProgramError

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase
    from zodiac_sql.change.change import Change

OpenKb = Callable[..., "KnowledgeBase"]

REFUSED = {
    "a negative cycle": ("cut: edge(X, Y) :- ends(X), path(X, Y).", "edge -[not r1]-> ends"),
    "an aggregate in a cycle": (
        "n: number(N) :- AGGREGATE(path(X, Y)) WITH COUNT(Y) AS N. m: edge(a, a) :- number(N).",
        "path -[not n]-> number",
    ),
    "a type": (
        ".decl strict(n: int) many: strict(X) :- ends(X).",
        "column 1 of strict is int, but rule many gives it",
    ),
    "a type in a body": (
        "both: p(X) :- ends(X), number(X).",
        "X is symbol elsewhere, but column 1 of number(X) is int",
    ),
    "arities": ("p(X) :- path(X, Y, Z).", "path is used with 3 columns, but it has 2"),
    "unsafe": ("p(X, Y) :- ends(X), not edge(X, Y).", "unsafe: Y in the head of r2 has no value"),
    "syntax": ("p(X) :- ends(X), .", "syntax error"),
    "a fact": (
        ".decl strict(n: int) p(X) :- ends(X). strict(a).",
        "column n of strict is int, strict(a) gives symbol",
    ),
    "a name": ("base: p(X) :- ends(X).", "already a rule named base"),
    "an aggregate's head": (
        "p(X) :- ends(X). q: p(N) :- AGGREGATE(path(X, Y)) WITH COUNT(Y) AS N.", "p is derived by"
    ),
    "distinct without a space": (
        "n(N) :- AGGREGATE(ends(X)) WITH COUNT(DISTINCT(X)) AS N.",
        "Write a space after DISTINCT",
    ),
    "no function": ("p(Y) :- ends(X), BIND(nonsense(X) AS Y).", "there is no function nonsense"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "message"), REFUSED.values(), ids=REFUSED)
def test_a_refused_rule_changes_nothing(
    open_kb: OpenKb, tmp_path: Path, text: str, message: str
) -> None:
    """Neither do the facts that come and go with it, and other rules that would be right."""
    file = tmp_path / "paths.duckdb"
    with open_kb(file) as kb:
        kb.add_rules(PATHS)
        kb.insert("edge", EDGES)
        kb.insert("number", [(1,)])
        before = on_file(kb)
        for verb in (kb.update, kb.preview):
            with pytest.raises(ProgramError) as caught, verb() as update:
                update.insert("edge", [("d", "e"), ("new", "symbols")])
                update.delete("edge", EDGES[:1])
                update.insert("fresh", [("one", 2)])
                update.add_rules(
                    "@prefix ex: <http://new.org/> . right: ex:right(X) :- edge(X, _)."
                )
                update.drop_rules("step")
                update.add_rules(text)
            assert message in str(caught.value)
            assert on_file(kb) == before
        assert kb.insert("edge", [("d", "e")]).inserted == {"edge": 1, "path": 4, "ends": 1}
        assert kb.drop_rules("step").deleted == {"path": 6}
        assert kb.verify()
    with open_kb(file) as kb:
        assert names(kb) == ["base", "r1"] and kb.verify()


class Stopped(Exception):
    """What happens in the middle of a change."""


def test_a_change_that_stops_anywhere_changes_nothing(figure: KnowledgeBase) -> None:
    """Stopped at every seventh statement, and every second one of its publication."""
    figure.add_rules("r9: p9(X) :- p0(X, _).")
    before, at, publishing = on_file(figure), 1, False
    while True:
        statements: list[str] = []

        def stop(text: str, parameters: object) -> None:
            statements.append(text)  # noqa: B023
            if len(statements) == at and "COMMIT" not in statements:  # noqa: B023
                raise Stopped

        figure.trace(stop)
        try:
            change = _change_all(figure)
        except Stopped:
            figure.trace(None)
            assert on_file(figure) == before
            publishing = "BEGIN TRANSACTION" in statements
            at += 2 if publishing else 7
        else:
            break
    figure.trace(None)
    assert publishing
    assert moved(change).keys() == {"created", "dropped", "merged", "split"}
    assert change.inserted.keys() & change.deleted.keys()


def test_a_change_that_stops_before_the_commit_changes_nothing(paths: KnowledgeBase) -> None:
    def stop(text: str, parameters: object) -> None:
        if text == "COMMIT":
            raise Stopped

    before = on_file(paths)
    paths.trace(stop)
    with pytest.raises(Stopped):
        paths.drop_rules("step")
    paths.trace(None)
    assert on_file(paths) == before


def _change_all(kb: KnowledgeBase) -> Change:
    with kb.update() as update:
        update.drop_rules("r4", "r9")
        update.add_rules("p5(X, Y) :- p7(X, Y). p8(X, new) :- p7(X, Y).")
        update.insert("p6", [("a", "fresh")])
        update.delete("p4", [("d", "e")])
    return update.change


def test_a_cycle_is_named(paths: KnowledgeBase) -> None:
    with pytest.raises(ProgramError) as caught:
        paths.add_rules("cut: edge(X, Y) :- ends(X), path(X, Y).")
    (problem,) = caught.value.problems
    assert "rules cut, " in problem.hint or ", cut" in problem.hint
    for name in ("r1", "cut"):
        assert name in problem.message and name in problem.hint


def test_a_rule_that_a_drop_makes_possible(paths: KnowledgeBase) -> None:
    """What would be a negative cycle is none when its other half goes in the same update."""
    with paths.update() as update:
        update.drop_rules("r1")
        update.add_rules("cut: edge(X, Y) :- ends(X), path(X, Y). ends(d).")
    assert names(paths) == ["base", "step", "cut"]
    assert update.change.deleted == {}
