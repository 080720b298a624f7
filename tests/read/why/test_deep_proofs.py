"""Facts that rest on long chains: a question takes as many statements for them as for others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from support.explained import searched_as_if_large

import zodiac_sql

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase
    from zodiac_sql.read.why.proof import Explanation

MOST_STATEMENTS = 30

PROGRAMS = {
    "p({n})": "p(X) :- start(X). p(Y) :- p(X), arc(X, Y).",
    "even({n})": """even(X) :- start(X). odd(Y) :- even(X), arc(X, Y).
        even(Y) :- odd(X), arc(X, Y).""",
    "p2({n})": "p2(X) :- start(X). p2(Y) :- p2(X), Y = X + 1, arc(X, Y), not stop(X).",
    "path(0, {n})": "path(X, Y) :- arc(X, Y). path(X, Z) :- path(X, Y), arc(Y, Z).",
    "all({n})": "all(X) :- start(X). all(Y) :- all(X), p(Y), arc(X, Y). p(X) :- arc(_, X).",
    "dist({n}, {n})": """dist(X, MIN(D)) :- start(X), D = 0.
        dist(Y, MIN(D)) :- dist(X, C), arc(X, Y), D = C + 1.""",
    "deep({n}, {n})": """deep(X, MAX(D)) :- start(X), D = 0.
        deep(Y, MAX(D)) :- other(X, C), arc(X, Y), D = C + 1.
        other(Y, MAX(D)) :- deep(X, C), arc(X, Y), D = C + 1.""",
}


@contextmanager
def told(kb: KnowledgeBase) -> Iterator[list[str]]:
    """What is asked inside the block."""
    statements: list[str] = []
    kb.trace(lambda text, _: statements.append(text))
    try:
        yield statements
    finally:
        kb.trace(None)


def chain(kb: KnowledgeBase, length: int) -> None:
    with kb.update() as update:
        update.insert("start", [(0,)])
        update.insert("stop", [(-1,)])
        update.insert("arc", [(number, number + 1) for number in range(length)])


@pytest.mark.parametrize(
    ("large", "read"), [(False, 20_000), (True, 100), (True, 1_000), (True, 20_000)]
)
@pytest.mark.parametrize("goal", PROGRAMS)
def test_as_many_statements_for_deep_facts(goal: str, large: bool, read: int) -> None:
    kb = zodiac_sql.connect(modules=False, threads=1)
    kb.add_rules(PROGRAMS[goal])
    chain(kb, 500)
    with searched_as_if_large(large, read), told(kb) as statements:
        found = kb.why(goal.format(n=500))
    assert len(statements) <= MOST_STATEMENTS
    assert 500 <= found.height <= 502
    assert_well_founded(found)


@pytest.mark.parametrize("read", [100, 1_000, 20_000])
def test_proofs_that_keep_different_values(read: int) -> None:
    """A rule keeps the first column, but the facts that are asked about differ there."""
    kb = zodiac_sql.connect(modules=False, threads=1)
    kb.add_rules(PROGRAMS["path(0, {n})"])
    chain(kb, 300)
    with searched_as_if_large(True, read):
        found = kb.why("path(X, 300)")
    assert [goal.values for goal in found.goals] == [(0, 300), (1, 300), (2, 300)]
    assert found.height == 300
    assert_well_founded(found)


def assert_well_founded(found: Explanation) -> None:
    """Each fact has a step, or is explicit, and all that a step uses has a lower height."""
    heights = dict.fromkeys(found.explicit, 0)
    left = {fact: step for fact, (step,) in found.derivations.items()}
    while left:
        ready = {f: s for f, s in left.items() if all(use in heights for use in s.uses)}
        assert ready, "these rest on themselves"
        for fact, step in ready.items():
            heights[fact] = 1 + max((heights[use] for use in step.uses), default=0)
            del left[fact]


def test_all_forms_of_a_deep_proof(open_kb: Callable[..., KnowledgeBase]) -> None:
    kb = open_kb()
    kb.add_rules(PROGRAMS["p({n})"])
    chain(kb, 3_000)
    found = kb.why("p(3000)")
    assert found.height == 3_001
    assert len(found.to_dict()["steps"]) == 3_001
    assert found.arrow().num_rows == 3_001
    for form in (str, lambda one: one.json(), lambda one: one.svg(), lambda one: one.dot()):
        assert form(found)
    assert kb.why_not("p(3000)").holds == found
    assert kb.why_not("p(3001)", depth=3).attempts


@pytest.mark.parametrize("goal", ["p({n})", "even({n})", "p2({n})", "all({n})"])
def test_why_deep_facts_moved(goal: str, open_kb: Callable[..., KnowledgeBase]) -> None:
    kb = open_kb()
    kb.add_rules(PROGRAMS[goal])
    chain(kb, 500)
    for act in (kb.delete, kb.insert):
        change = act("arc", [(1, 2)])
        with told(kb) as statements:
            why = change.why(goal.format(n=500))
        assert len(statements) <= MOST_STATEMENTS
        assert len(list(why.events())) >= 499


@pytest.mark.parametrize("goal", [goal for goal in PROGRAMS if "other" not in PROGRAMS[goal]])
def test_deep_recursions_are_verified(goal: str) -> None:
    kb = zodiac_sql.connect(modules=False, threads=1)
    kb.add_rules(PROGRAMS[goal])
    chain(kb, 300)
    with told(kb) as statements:
        assert kb.verify()
    assert len(statements) <= 3 * MOST_STATEMENTS
