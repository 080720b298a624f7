"""Random programs over all types: zodiac_sql must give what naive evaluation gives (naive.py)."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from random import Random
from typing import TYPE_CHECKING

import pytest
from generators.typed_language import Change, Program, given_rows, rule_text
from generators.typed_programs import State, facts_text, random_change, random_program
from hypothesis import given, note, settings
from hypothesis import strategies as st
from support import budget
from support.examples import share
from support.naive import extensions
from support.naive_values import NAN, Overflow, Row

from zodiac_sql import ZodiacError
from zodiac_sql.errors import LimitError

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

PROGRAMS = share(2)
CHANGES = 6
VERIFIED = 3
"""Every so many sequences are verified, too."""
LIMITED = 4
"""Every so many changes are tried within a limit before they are made without one."""


@settings(max_examples=PROGRAMS)
@given(seed=st.integers(0, 2**32 - 1))
def test_after_every_change(open_kb: OpenKb, strategies: tuple[str, ...], seed: int) -> None:
    rng = Random(seed)
    check_sequence(open_kb, rng.choice(strategies), rng)
    budget.tried("programs over all types")
    budget.tried("changes of programs over all types", CHANGES)


def check_sequence(open_kb: OpenKb, strategy: str, rng: Random) -> None:
    """A program from scratch, then some changes: after each, every extension is as it should be."""
    program = random_program(rng)
    note(described(program, strategy))
    state = State.empty(program)
    first = Change(tuple(program.facts.items()), (), program.rules)
    with open_kb(strategy=strategy) as kb:
        kb.add_rules(program.declarations)
        for number in range(CHANGES):
            change = first if number == 0 else random_change(rng, program, state)
            note(f"% change {number}: {change}")
            if rng.randrange(LIMITED) == 0 and within_limits(kb, program, state, change, rng):
                state = state.after(change)
            else:
                state = apply(kb, program, state, change)
        if rng.randrange(VERIFIED) == 0:
            assert kb.verify(), kb.verify()


def apply(kb: KnowledgeBase, program: Program, state: State, change: Change) -> State:
    """Make a change, and compare; returns the state after it. What overflows must be refused."""
    after = state.after(change)
    try:
        expected = extensions(list(after.rules.values()), after.facts, after.types)
    except Overflow:
        with pytest.raises(ZodiacError):
            make(kb, change)
        expected = extensions(list(state.rules.values()), state.facts, state.types)
        after = state
    else:
        make(kb, change)
    compare(kb, expected)
    return after


def within_limits(
    kb: KnowledgeBase, program: Program, state: State, change: Change, rng: Random
) -> bool:
    """Try a change within a limit, and compare; returns whether it was made.

    A change that comes to a limit leaves everything as it was. None does that derives no more than
    it allows.
    """
    before = extensions(list(state.rules.values()), state.facts, state.types)
    most = rng.choice((1, 1, 1, 2, 4))  # most of these changes derive little
    limits = {rng.choice(("max_rows", "max_rows", "max_iterations")): most}
    note(f"% within {limits}")
    after = state.after(change)
    try:
        make(kb, change, **limits)
    except LimitError as error:
        budget.tried("changes that came to a limit")
        assert error.limit in limits
        compare(kb, before)
        heads = {rule.head.predicate for rule in after.rules.values()}
        with suppress(Overflow):
            found = extensions(list(after.rules.values()), after.facts, after.types)
            assert "max_rows" not in limits or sum(len(found[name]) for name in heads) > most
        return False
    except ZodiacError:
        with pytest.raises(Overflow):
            extensions(list(after.rules.values()), after.facts, after.types)
        compare(kb, before)
        return False
    compare(kb, extensions(list(after.rules.values()), after.facts, after.types))
    return True


def compare(kb: KnowledgeBase, expected: Mapping[str, Collection[Row]]) -> None:
    """Compare the extensions of all predicates with what they should be."""
    known = kb.predicates()["predicate"].to_pylist()
    for name, rows in expected.items():
        if not rows and name not in known:
            continue  # nothing mentions it any more, and nothing declares it
        actual = [normal(row) for row in kb.table(name).fetchall()]
        assert len(actual) == len(set(actual)), f"{name} has a row twice: {actual}"
        missing, surplus = set(rows) - set(actual), set(actual) - set(rows)
        assert not missing and not surplus, f"{name}: {missing=} {surplus=}"


def make(kb: KnowledgeBase, change: Change, **limits: int) -> None:
    with kb.update(**limits) as update:
        for name in change.drop:
            update.drop_rules(name)
        for name, rows in change.deletes:
            update.delete(name, given_rows(name, rows))
        for name, rows in change.inserts:
            update.insert(name, given_rows(name, rows))
        for rule in change.add:
            update.add_rules(rule_text(rule))


def normal(row: Row) -> Row:
    """There is one NaN; a -0.0 would show by its text."""
    return tuple(
        (NAN if math.isnan(v) else "-0.0" if repr(v) == "-0.0" else v)
        if isinstance(v, float)
        else v
        for v in row
    )


def described(program: Program, strategy: str) -> str:
    rules = "".join(f"{rule_text(rule)}\n" for rule in program.rules)
    return f"% {strategy}\n{program.declarations}{facts_text(program.facts.items())}\n{rules}"
