"""What a preview of a change of rules tells, and its graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from support.changing_rules import CHAIN, aside, come, gone, on_file
from support.figure_1 import R8

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase
    from zodiac_sql.change.change import Change

OpenKb = Callable[..., "KnowledgeBase"]

Verbs = Callable[[Any], None]

CHANGES: dict[str, Verbs] = {
    "hypernodes vanish": lambda u: u.drop_rules("r5", "r6", "r7"),
    "one is dropped by text": lambda u: u.drop_rules("p7(A, C) :- p5(B, C), p3(A, B)."),
    "a rule joins": lambda u: u.add_rules(R8),
    "one splits": lambda u: u.drop_rules("r4"),
    "some merge": lambda u: u.add_rules("p0(X, Y) :- p4(Y, X). p3(X, Y) :- p1(X, Y)."),
    "one is created": lambda u: u.add_rules("p8(X, Y) :- p7(Y, X), not p2(X, Y). p8(new, symbol)."),
    "one is replaced": lambda u: u.add_rules("r1: p1(Y, X) :- p0(X, Y).", replace=True),
    "nothing": lambda u: u.add_rules("r4: p4(A, B) :- p2(A, B)."),
    "rules and facts": lambda u: (
        u.drop_rules("r3", "none"),
        u.delete("p0", [("a", "b")]),
        u.add_rules("r3: p3(X, Y) :- p4(X, Y), p0(_, X). p9(Z) :- p3(Z, Z)."),
        u.insert("p6", [("b", "fresh")]),
    )[0],
}


@pytest.mark.parametrize("verbs", CHANGES.values(), ids=CHANGES)
def test_a_preview_tells_what_the_change_will(
    figure: KnowledgeBase, open_kb: OpenKb, verbs: Verbs
) -> None:
    before = on_file(figure)
    told = []
    for _ in range(2):
        with figure.preview() as preview:
            verbs(preview)
        told.append(everything_told(figure, preview.change))
        assert on_file(figure) == before
    with figure.update() as update:
        verbs(update)
    assert told == [everything_told(figure, update.change)] * 2


def everything_told(kb: KnowledgeBase, change: Change) -> tuple[object, ...]:
    facts = (
        {name: come(change, name) for name in change.inserted},
        {name: gone(change, name) for name in change.deleted},
    )
    for counts, rows in zip((change.inserted, change.deleted), facts, strict=True):
        assert counts == {name: len(some) for name, some in rows.items()}
    return change.inserted, change.deleted, change.hypernodes, change.notes, *facts, str(
        kb.graph(change)
    )  # fmt: skip


def test_a_preview_of_rules_leaves_the_facts_of_the_change_before_it_alone(
    figure: KnowledgeBase,
) -> None:
    """In the file: what was set aside goes with the next change, and not with a preview."""
    figure.drop_rules("r7")
    before = on_file(figure)
    with figure.preview() as preview:
        preview.drop_rules("r5", "r6")
    assert preview.change.deleted == {"p5": 3, "p6": 3}
    assert on_file(figure) == before and len(aside(figure)) == 1


def test_the_graph_of_a_change(kb: KnowledgeBase) -> None:
    kb.add_rules(CHAIN)
    with kb.preview() as preview:
        preview.add_rules("d: p(X, Y) :- r(X, Y).")
    for change in (preview.change, kb.add_rules("d: p(X, Y) :- r(X, Y).")):
        lines = [" ".join(line.split()) for line in str(kb.graph(change)).splitlines()]
        assert lines[0] == "before"
        before, after = lines[1 : lines.index("after") - 1], lines[lines.index("after") + 1 :]
        assert "h2 stratum 0 merged b derives q <- h1" in before
        assert "h3 stratum 0 merged c derives r <- h2" in before
        assert "h1 stratum 0 a derives p" in before and "h1 stratum 0 a derives p" in after
        (merged,) = [line for line in after if "merged" in line]
        assert "recursive" in merged and "b, c, + d" in merged


def test_the_graph_of_a_change_of_facts_has_no_signs(paths: KnowledgeBase) -> None:
    drawn = str(paths.graph(paths.insert("edge", [("d", "e")])))
    assert drawn.startswith("before\n") and "\n\nafter\n" in drawn
    assert "+" not in drawn and "- " not in drawn.replace("<- ", "")
