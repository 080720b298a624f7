"""Adding rules, of which some are there already."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.changing_rules import PATHS, names, on_file, untouched

from zodiac_sql import ProgramError

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase


@pytest.mark.parametrize(("text", "note"), [
    ("base: path(X, Y) :- edge(X, Y).", "base: path(X, Y) :- edge(X, Y). is there already"),
    ("path(A, B) :- edge(A, B).", "path(A, B) :- edge(A, B). is there already, as base"),
    ("other: path(X, Z) :- edge(Y, Z),\n   path(X, Y).",
     "other: path(X, Z) :- edge(Y, Z), path(X, Y). is there already, as step"),
    ("ends(X) :- not edge(X, _), path(_, X).",
     "ends(X) :- not edge(X, _), path(_, X). is there already, as r1"),
])  # fmt: skip
def test_a_rule_that_is_there_is_reported(paths: KnowledgeBase, text: str, note: str) -> None:
    before = on_file(paths)[2]
    change = paths.add_rules(text)
    assert change.notes == (note,)
    assert untouched(paths, change)
    assert on_file(paths)[2] == before


def test_twice_in_one_text(kb: KnowledgeBase) -> None:
    change = kb.add_rules("e(a, a). p(X) :- e(X, Y). p(Y) :- e(Y, X). mine: p(Z) :- e(Z, _).")
    assert change.notes == (
        "p(Y) :- e(Y, X). is there already, as r1",
        "mine: p(Z) :- e(Z, _). is there already, as r1",
    )
    assert names(kb) == ["r1"]


def test_twice_in_one_update(kb: KnowledgeBase) -> None:
    with kb.update() as update:
        update.add_rules("e(a). one: p(X) :- e(X).")
        update.add_rules("two: p(Y) :- e(Y). three: q(Y) :- p(Y).")
    assert update.change.notes == ("two: p(Y) :- e(Y). is there already, as one",)
    assert names(kb) == ["one", "three"]


def test_what_is_new_in_a_text_is_added(paths: KnowledgeBase) -> None:
    change = paths.add_rules(PATHS + "back(Y, X) :- path(X, Y). edge(d, e).")
    assert len(change.notes) == 3
    assert names(paths) == ["base", "step", "r1", "r2"]
    assert change.inserted == {"edge": 1, "path": 4, "ends": 1, "back": 10}


def test_strict_says_where(paths: KnowledgeBase, tmp_path: Path) -> None:
    before = on_file(paths)
    file = tmp_path / "more.rules"
    file.write_text("% more\nnew(X) :- edge(X, X).\n  path(A, B) :- edge(A, B).\n", "utf-8")
    with pytest.raises(ProgramError) as caught:
        paths.add_rules(file, strict=True)
    (problem,) = caught.value.problems
    assert problem.span is not None
    assert (problem.span.source.name, problem.span.line, problem.span.column) == (str(file), 3, 3)
    assert problem.message == "path(A, B) :- edge(A, B). is there already, as base"
    assert on_file(paths) == before


def test_strict_holds_for_its_own_text(paths: KnowledgeBase) -> None:
    with pytest.raises(ProgramError, match="is there already, as r2"), paths.update() as update:
        update.add_rules("base: path(X, Y) :- edge(X, Y).")
        update.add_rules("new(X) :- edge(X, X). new(Y) :- edge(Y, Y).", strict=True)
    assert names(paths) == ["base", "step", "r1"]
