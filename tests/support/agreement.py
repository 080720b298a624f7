"""Makes changes to a knowledge base, and compares what it says with what the oracle found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import TYPE_CHECKING, Any

from generators.program_changes import AddRule, Change, Delete, DropRule, Insert, change_text
from generators.programs import Facts, Row, Style, rule_text
from hypothesis import note
from support import budget

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase
    from zodiac_sql.change.change import Change as Told

Extensions = dict[str, set[Row]]


def insert_all(kb: KnowledgeBase, facts: Facts) -> None:
    for predicate, rows in facts.items():
        kb.insert(predicate, sorted(rows, key=repr))


def move(
    kb: KnowledgeBase,
    facts: Mapping[str, set[Row]],
    gone: Mapping[str, set[Row]],
    come: Mapping[str, set[Row]],
    **limits: int,
) -> tuple[dict[str, set[Row]], Told]:
    """Delete some facts and insert others in one change. Returns the facts then, and the Change."""
    with kb.update(**limits) as update:
        for name in gone:
            update.delete(name, sorted(gone[name]))
            update.insert(name, sorted(come[name]))
    after = {
        name: (rows - gone.get(name, set())) | come.get(name, set()) for name, rows in facts.items()
    }
    return after, update.change


def play_moves(
    kb: KnowledgeBase,
    facts: Any,
    rng: Random,
    draw: Callable[[Random, Any], tuple[Any, Any]],
    compare: Callable[[Any], None],
) -> None:
    """Insert the first facts, let some that are drawn go and come, and compare each time.

    Some changes have limits. Those that come to one change nothing, and are made without.
    """
    nothing: dict[str, set[Row]] = {name: set() for name in facts}
    limited_move(kb, nothing, nothing, facts, random_limits(rng), compare)
    compare(facts)
    for _ in range(rng.randrange(1, 4)):
        gone, come = draw(rng, facts)
        limits = random_limits(rng)
        note(f"gone {gone}, come {come}, within {limits}")
        facts = limited_move(kb, facts, gone, come, limits, compare)
        compare(facts)
    assert kb.verify(**random_limits(rng))


def random_limits(rng: Random) -> dict[str, int]:
    """Mostly none, else one that changes come to, or one that they do not."""
    if rng.random() < 0.5:
        return {}
    return {rng.choice(("max_rows", "max_iterations")): rng.choice((rng.randint(1, 60), 10**6))}


def limited_move(
    kb: KnowledgeBase,
    facts: dict[str, set[Row]],
    gone: Mapping[str, set[Row]],
    come: Mapping[str, set[Row]],
    limits: Mapping[str, int],
    compare: Callable[[Any], None],
) -> dict[str, set[Row]]:
    """Make a change within limits, and if it comes to one, without. Returns the facts then."""
    from zodiac_sql.errors import LimitError  # here, so that the oracle's own tests need no library

    try:
        return move(kb, facts, gone, come, **limits)[0]
    except LimitError as error:
        budget.tried("changes that came to a limit")
        assert error.limit in limits
        most = limits[error.limit]
        assert (error.rows > most) if error.limit == "max_rows" else (error.iterations == most)
        compare(facts)
        return move(kb, facts, gone, come)[0]


def make(kb: KnowledgeBase, change: Change, style: Style, check: bool = True) -> Told:
    """A change of one step through the verb itself, one of several through `update`."""
    budget.tried("changes")
    if len(change) == 1 and check:
        told: Told = _step(kb, change[0], style)
        return told
    with kb.update(check=check) as update:
        for step in change:
            _step(update, step, style)
    return update.change


def preview(kb: KnowledgeBase, change: Change, style: Style) -> Told:
    """What a change would do."""
    with kb.preview() as update:
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


def numbered(number: int, change: Change) -> str:
    """What to note of a change, so that a failure can be read."""
    return f"% change {number}: {change_text(change)}"


def assert_told(told: Told, before: Extensions, after: Extensions) -> None:
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


def assert_agrees(kb: KnowledgeBase, expected: Extensions) -> None:
    """The tables hold exactly these facts, each once. What nothing mentions any more has none."""
    budget.tried("states compared with an oracle")
    empty = [predicate for predicate, rows in expected.items() if not rows]
    forgotten = {*empty} - {*kb.predicates()["predicate"].to_pylist()} if empty else {}
    for predicate, rows in expected.items():
        if predicate in forgotten:
            continue
        actual = _extension(kb, predicate, rows == {()})
        missing, surplus = rows - actual, actual - rows
        assert not missing and not surplus, f"{predicate}: {missing=} {surplus=}"


def _extension(kb: KnowledgeBase, predicate: str, holds: bool) -> set[Row]:
    """What the library says; a nullary predicate holds iff its table has the one row (True,)."""
    rows = kb.table(predicate).fetchall()
    assert len(rows) == len(set(rows)), f"{predicate} has a row twice"
    if holds:
        assert rows == [(True,)], f"{predicate} should hold"
        return {()}
    return set(rows)
