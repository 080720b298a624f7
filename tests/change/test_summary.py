"""What print(change) and a notebook show."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import zodiac_sql
from zodiac_sql import KnowledgeBase
from zodiac_sql.change.change import Change

OpenKb = Callable[..., KnowledgeBase]


def told(change: Change) -> str:
    return re.sub(r"\d+\.\d+ s", "1 s", str(change))


def test_what_came_and_went() -> None:
    with zodiac_sql.connect() as kb:
        change = kb.add_rules("far(X, Z) :- e(X, Y), e(Y, Z). e(a, b). e(b, c). n(1).")
        assert told(change) == (
            "4 facts entered, 0 facts left (1 s)\n"
            "  e    +2\n"
            "  far  +1\n"
            "  n    +1\n"
            "hypernodes: 1 created (h1)"
        )
        assert told(kb.replace("e", [("b", "c"), ("c", "d")])) == (
            "2 facts entered, 2 facts left (1 s)\n"
            "  e    +1 -1\n"
            "  far  +1 -1\n"
            "hypernodes: 1 updated (h1)"
        )
        assert told(kb.delete("e", [("x", "y")])) == (
            "no fact came or went (1 s)\nhypernodes: 1 untouched"
        )
        assert told(kb.drop_rules("r1", "r7", "r8", "r9")) == (
            "0 facts entered, 1 fact left (1 s)\n"
            "  far  -1\n"
            "hypernodes: 1 dropped (h1)\n"
            "note: there is no rule named r7\n"
            "note: there is no rule named r8\n"
            "and 1 more: see change.notes"
        )


def test_ten_lines_are_enough() -> None:
    with zodiac_sql.connect() as kb, kb.update() as update:
        for number in range(1, 9):
            update.insert(f"p{number}", [(n,) for n in range(1000 * number)])
    assert told(update.change) == (
        "36,000 facts entered, 0 facts left (1 s)\n"
        "  p8  +8,000\n"
        "  p7  +7,000\n"
        "  p6  +6,000\n"
        "  p5  +5,000\n"
        "  p4  +4,000\n"
        "  and 3 more predicates\n"
        "hypernodes: none"
    )


def test_a_notebook_shows_a_table() -> None:
    with zodiac_sql.connect() as kb:
        change = kb.insert("p", [("x",)])
        shown = change._repr_html_()
    assert "<td style='text-align:left'>p</td><td>1</td><td></td>" in shown
    assert "1 fact entered, 0 facts left" in shown and "hypernodes: none" in shown


def test_after_another_change_of_the_file(open_kb: OpenKb, tmp_path: Path) -> None:
    """What vanished with a rule is counted when it is asked for, which may be too late."""
    with open_kb(tmp_path / "x.duckdb") as kb, open_kb(tmp_path / "x.duckdb") as other:
        kb.add_rules("a: q(X) :- p(X). b: q(X) :- r(X). p(1). p(2). r(1).")
        change = kb.drop_rules("a")
        other.insert("p", [(3,)])
        first, second, *_ = told(change).splitlines()
        assert first == "0 facts entered (1 s)"
        assert second.startswith("  what left is not known any more: ")


def test_a_notebook_shows_the_predicates_of_a_knowledge_base() -> None:
    with zodiac_sql.connect() as kb:
        kb.add_rules("q(X) :- p(X). p(a).")
        shown = kb._repr_html_()
    assert "&lt;zodiac_sql :memory:: 1 rules, 2 predicates&gt;" in shown and "<table" in shown
