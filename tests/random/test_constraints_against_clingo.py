"""Random programs with constraints: a change is refused exactly when clingo finds a new violation.

After a refusal everything is as before. A change that is let pass brings the violations that clingo
finds, and later changes are refused only for others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from random import Random
from typing import TYPE_CHECKING

import pytest
from generators.constraint_programs import constrained_program
from generators.drawn_programs import programs_with_changes
from generators.program_changes import Change, State
from generators.programs import Program, program_text
from hypothesis import given, note, settings
from support.agreement import Extensions, assert_agrees, insert_all, make, numbered, preview
from support.contents import described
from support.examples import share
from support.oracle import extensions

from zodiac_sql.errors import ConstraintError, Violation

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

EXAMPLES = share(8, 7)


@settings(max_examples=EXAMPLES)
@given(case=programs_with_changes(make=constrained_program))
def test_refused_exactly_for_new_violations(
    open_kb: OpenKb, strategies: tuple[str, ...], case: tuple[Program, list[Change]]
) -> None:
    program, changes = case
    rng = Random(program.seed)
    strategy = strategies[program.seed % len(strategies)]
    note(f"% {strategy}\n{program}")
    state = State.of(program)
    with open_kb(strategy=strategy) as kb:
        insert_all(kb, program.facts)
        before = extensions(list(state.rules.values()), state.facts)
        with kb.update(check=False) as update:
            update.add_rules(program_text(program.rules, {}, program.style))
        _assert_told(update.change.violations, before, _counted(before))
        for number, wanted in enumerate(changes, 1):
            change = state.possible(wanted)
            if not change:
                continue
            note(numbered(number, change))
            then = deepcopy(state)
            then.apply(change)
            after = extensions(list(then.rules.values()), then.facts)
            new = _new(state, then, before, after)
            check = rng.random() < 0.7
            _assert_told(preview(kb, change, program.style).violations, after, new)
            if new and check:
                told = described(kb)
                with pytest.raises(ConstraintError) as caught:
                    make(kb, change, program.style)
                _assert_told(caught.value.violations, after, new)
                assert described(kb) == told
                continue
            violations = make(kb, change, program.style, check).violations
            _assert_told(violations, after, new)
            state, before = then, after
            assert_agrees(kb, _without_constraints(after))
            counts = {row["name"]: row["violations"] for row in kb.constraints().to_pylist()}
            assert counts == {
                rule.name: len(after[rule.head.predicate])
                for rule in state.rules.values()
                if rule.never
            }
        assert kb.verify()


def _new(state: State, then: State, before: Extensions, after: Extensions) -> dict[str, int]:
    """How many violations a change brings to each constraint."""
    found = {}
    for name, rule in then.rules.items():
        if rule.never:
            old = before.get(rule.head.predicate, set()) if name in state.rules else set()
            if rows := after[rule.head.predicate] - old:
                found[name] = len(rows)
    return found


def _counted(found: Extensions) -> dict[str, int]:
    return {
        name.removeprefix("never_"): len(rows)
        for name, rows in found.items()
        if name.startswith("never_") and rows
    }


def _assert_told(
    violations: Sequence[Violation], after: Extensions, new: Mapping[str, int]
) -> None:
    """The violations told are those that are new, with the first of their rows."""
    told = {one.constraint: one for one in violations}
    assert {name: one.count for name, one in told.items()} == new
    for name, one in told.items():
        assert len(one.rows) == min(one.count, 3) * bool(one.variables)
        # Columns are in the order of the text, and the oracle's are not.
        oracle = {tuple(sorted(row, key=repr)) for row in after[f"never_{name}"]}
        assert {tuple(sorted(row, key=repr)) for row in one.rows} <= oracle


def _without_constraints(found: Extensions) -> Extensions:
    return {name: rows for name, rows in found.items() if not name.startswith("never_")}
