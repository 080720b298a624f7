"""Random programs: zodiac_sql must give what clingo gives, from scratch and after every change."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from hypothesis import given, note, settings
from hypothesis import strategies as st
from oracle import extensions
from programs import (
    PLAIN,
    AddRule,
    Change,
    Delete,
    DropRule,
    Facts,
    Insert,
    Program,
    Row,
    Rule,
    State,
    Style,
    change_text,
    program_text,
    programs,
    programs_with_changes,
    rule_text,
)

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase
    from zodiac_sql.change import Change as Told

Extensions = dict[str, set[Row]]
OpenKb = Callable[..., "KnowledgeBase"]

PROGRAMS = settings().max_examples
SEQUENCES = max(40, PROGRAMS // 8)

# How a program reaches the library: the short syntax or a mixture, facts in the text or inserted.
WAYS = [("plain", "text"), ("mixed", "text"), ("mixed", "insert")]


@settings(max_examples=PROGRAMS)
@given(program=programs(), way=st.sampled_from(WAYS))
def test_from_scratch(open_kb: OpenKb, program: Program, way: tuple[str, str]) -> None:
    style = program.style if way[0] == "mixed" else PLAIN
    inserted: Facts = program.facts if way[1] == "insert" else {}
    written: Facts = {} if inserted else program.facts
    text = program_text(program.rules, written, style)
    note(text)
    with open_kb() as kb:
        kb.add_rules(text)
        _insert(kb, inserted)
        _assert_agrees(kb, program.rules, program.facts)


@settings(max_examples=SEQUENCES)
@given(case=programs_with_changes())
def test_after_every_change(open_kb: OpenKb, case: tuple[Program, list[Change]]) -> None:
    program, changes = case
    note(str(program))
    state = State.of(program)
    with open_kb() as kb:
        _insert(kb, program.facts)
        kb.add_rules(program_text(program.rules, {}, program.style))
        before = extensions(list(state.rules.values()), state.facts)
        for number, change in enumerate(changes, 1):
            note(f"% change {number}: {change_text(change)}")
            told = _make(kb, change, program.style)
            state.apply(change)
            _assert_agrees(kb, state.rules.values(), state.facts)
            after = extensions(list(state.rules.values()), state.facts)
            _assert_told(told, before, after)
            before = after


def _insert(kb: KnowledgeBase, facts: Facts) -> None:
    for predicate, rows in facts.items():
        kb.insert(predicate, sorted(rows, key=repr))


def _make(kb: KnowledgeBase, change: Change, style: Style) -> Told:
    """A change of one step through the verb itself, one of several through `update`."""
    if len(change) == 1:
        told: Told = _step(kb, change[0], style)
        return told
    with kb.update() as update:
        for step in change:
            _step(update, step, style)
    return update.change


def _step(target: Any, step: Insert | Delete | AddRule | DropRule, style: Style) -> Any:
    """`target` is a knowledge base or an update: both have the same verbs."""
    if isinstance(step, Insert):
        return target.insert(step.predicate, list(step.rows))
    if isinstance(step, Delete):
        return target.delete(step.predicate, list(step.rows))
    if isinstance(step, AddRule):
        return target.add_rules(rule_text(step.rule, style))
    return target.drop_rules(step.name)


def _assert_told(told: Told, before: Extensions, after: Extensions) -> None:
    """The Change tells exactly what entered and what left each extension."""
    for which, minuend, subtrahend in (("inserted", after, before), ("deleted", before, after)):
        counts = getattr(told, which)
        for predicate in before.keys() | after.keys() | counts.keys():
            expected = minuend.get(predicate, set()) - subtrahend.get(predicate, set())
            assert counts.get(predicate, 0) == len(expected), f"{which} of {predicate}: {expected}"
            if expected and expected != {()}:
                table = getattr(told, f"{which}_facts")(predicate)
                facts = {tuple(row.values()) for row in table.to_pylist()}
                assert facts == expected, f"{which} facts of {predicate}"


def _assert_agrees(kb: KnowledgeBase, rules: Iterable[Rule], facts: Facts) -> None:
    expected = extensions(list(rules), facts)
    actual = {p: _extension(kb, p, _nullary(rows)) for p, rows in expected.items()}
    for predicate, rows in expected.items():
        missing, surplus = rows - actual[predicate], actual[predicate] - rows
        assert not missing and not surplus, f"{predicate}: {missing=} {surplus=}"


def _nullary(rows: set[Row]) -> bool:
    return rows == {()}


def _extension(kb: KnowledgeBase, predicate: str, nullary: bool) -> set[Row]:
    """What the library says; a nullary predicate holds iff its table has the one row (True,)."""
    rows = kb.table(predicate).fetchall()
    assert len(rows) == len(set(rows)), f"{predicate} has a row twice"
    if nullary:
        assert rows == [(True,)], f"{predicate} should hold"
        return {()}
    return set(rows)
