"""Interruptions anywhere in the package (support/struck.py): each change is there, or it is not.

What the session remembers of the file (symbols, row counts, copies, the journal) must be right
after each, so the facts are compared with those of an evaluator in plain Python, and the next
changes go on from there.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING

import pytest
from support import budget
from support.struck import struck_at

if TYPE_CHECKING:
    from pathlib import Path

    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]
Row = tuple[object, ...]
Facts = dict[str, set[Row]]

RULES = """
path(X, Y) :- edge(X, Y).
path(X, Z) :- path(X, Y), edge(Y, Z).
far(X, Y) :- path(X, Y), not edge(X, Y).
reached(X, N) :- AGGREGATE(path(X, Y)) ON X WITH COUNT(Y) AS N.
state(X, S) :- value(X, V), S = if(V > 5, "hot", "cold").
"""


def expected(facts: Facts) -> Facts:
    """The extensions of all predicates."""
    path = set(facts["edge"])
    while new := {(a, d) for a, b in path for c, d in facts["edge"] if b == c} - path:
        path |= new
    sources = [a for a, _ in path]
    return {
        **facts,
        "path": path,
        "far": path - facts["edge"],
        "reached": {(a, sources.count(a)) for a in sources},
        "state": {(x, "hot" if v > 5 else "cold") for x, v in facts["value"]},
    }


def change(rng: Random, facts: Facts) -> tuple[Facts, Callable[[KnowledgeBase], object]]:
    """A change of one fact or two, and the facts after it."""
    edge: tuple[str, Row] = ("edge", (rng.choice("abcdef"), rng.choice("abcdef")))
    value = ("value", (rng.choice("abcdef") + rng.choice("xyz"), rng.randrange(10)))
    moved = rng.choice([[edge], [value], [edge, value]])
    after = {name: facts[name] ^ {row for p, row in moved if p == name} for name in facts}

    def carry_out(kb: KnowledgeBase) -> None:
        with kb.update() as update:
            for predicate, row in moved:
                there = row in facts[predicate]
                (update.delete if there else update.insert)(predicate, [row])

    return after, carry_out


@pytest.mark.fuzz
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("by", ["lookups", "auto"])
def test_a_change_is_there_or_it_is_not(open_kb: OpenKb, tmp_path: Path, by: str) -> None:
    rng = Random(budget.seed(2611))
    facts: Facts = {"edge": {("a", "b"), ("b", "c")}, "value": {("ax", 1)}}
    struck = 0
    with open_kb(tmp_path / "s.duckdb", strategy=by) as kb:
        kb.add_rules(RULES)
        for predicate, rows in facts.items():
            kb.insert(predicate, list(rows))
        for _ in range(100):
            after, carry_out = change(rng, facts)
            number = int(10 ** rng.uniform(0, 3.2))
            try:
                with struck_at(number) as where:
                    carry_out(kb)
            except KeyboardInterrupt:  # SQLite hides which one struck a function that it calls
                struck += 1
                budget.tried("interruptions anywhere")
            there = {name: set(kb.table(name).fetchall()) for name in expected(facts)}
            assert where or there == expected(after)
            assert there in (expected(facts), expected(after)), where
            facts = {name: there[name] for name in facts}
        assert struck > 30 and kb.verify()
