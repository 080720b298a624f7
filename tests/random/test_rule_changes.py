"""Rules and facts come and go together, and hypernodes merge and split: after every change,
answers, the Change, the HRDG and all tables must be what they would be from scratch.

The programs are those of rule_programs.py; hrdg.py says what is right. In a third of the changes
hypernodes merge or split. Each strategy gets programs of its own. To look for new examples:
    pytest --hypothesis-profile=explore tests/random/test_rule_changes.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from generators.program_changes import AddRule, Change, DropRule, Insert, State, Step
from generators.programs import PLAIN, Facts, Program, Rule
from generators.random_rules import chance, shuffled
from generators.rule_changes import Recipe, recipes, rules_after
from hypothesis import given, note, settings
from hypothesis import strategies as st
from support.agreement import assert_agrees, assert_told, make, numbered
from support.as_if_large import as_if_large
from support.examples import share
from support.hrdg import (
    Contents,
    Moved,
    Names,
    Seen,
    Shape,
    allowed,
    assert_hypernodes_told,
    assert_whole,
)
from support.oracle import extensions

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

# One sequence takes 2 s on two cores, 0.15 s a change: half of that is the change, the rest looking
# at every table and view. A set of rules in five orders takes 2 s, too.
SEQUENCES = share(85)
ORDERS = share(85)
CHANGES = 14


# ------------------------------------------------------------------------------ one after the other


@settings(max_examples=SEQUENCES)
@given(recipe=recipes, on_file=st.booleans(), large=st.booleans())
def test_rules_and_facts_come_and_go(
    open_kb: OpenKb,
    strategies: tuple[str, ...],
    strategy: str,
    recipe: Recipe,
    on_file: bool,
    large: bool,
) -> None:
    program, changes = recipe.sequence(strategy, CHANGES)
    note(f"% {strategy}\n{program}")
    with TemporaryDirectory() as folder, as_if_large(large):
        file = Path(folder) / "some.duckdb" if on_file else None
        rng = recipe.random(f"{strategy} reopened")
        with closing(_Session(open_kb, strategies, strategy, file, rng)) as session:
            _go_through(session, program, changes)


class _Session:
    """A knowledge base and what is known of it; on a file, it is opened anew now and then."""

    def __init__(
        self,
        open_kb: OpenKb,
        strategies: tuple[str, ...],
        strategy: str,
        file: Path | None,
        rng: Random,
    ) -> None:
        self._open_kb, self._file, self.rng = open_kb, file, rng
        self._strategies = (strategy, *strategies)  # half of the time the same one again
        self.kb = open_kb(file or ":memory:", strategy=strategy)
        self.state = State({}, {})
        self.seen = self.see()

    def see(self) -> Seen:
        """Look at everything, and compare it with what it should be."""
        rules, facts = dict(self.state.rules), dict(self.state.facts)
        every = extensions(list(rules.values()), facts)
        assert_agrees(self.kb, every)
        return Seen(rules, every, facts, assert_whole(self.kb, rules, facts))

    def reopen(self) -> None:
        if self._file and chance(self.rng, 25):
            strategy = self.rng.choice((self._strategies[0], *self._strategies))
            note(f"% reopened: {strategy}")
            self.kb.close()
            self.kb = self._open_kb(self._file, strategy=strategy)
            self.see()

    def verify(self) -> None:
        found = self.kb.verify()
        assert found, found

    def close(self) -> None:
        self.kb.close()


def _go_through(session: _Session, program: Program, changes: Sequence[Change]) -> None:
    facts = [Insert(name, tuple(sorted(rows, key=repr))) for name, rows in program.facts.items()]
    _change(session, (*facts, *map(AddRule, program.rules)))
    for number, change in enumerate(changes, 1):
        note(numbered(number, change))
        if allowed(rules_after(session.state, change).values()):
            _change(session, change)
        else:
            _refuse(session, change)
        session.reopen()
    session.verify()


def _change(session: _Session, change: Change) -> None:
    """A change, and everything that is to be said of it."""
    before = session.seen
    told = make(session.kb, change, PLAIN)
    session.state.apply(change)
    after = session.see()
    assert_told(told, before.extensions, after.extensions)  # type: ignore[arg-type]
    dropped = {step.name for step in change if isinstance(step, DropRule)}
    again = {step.rule.name for step in change if isinstance(step, AddRule)} & dropped
    assert_hypernodes_told(told.hypernodes, before, after, again)
    session.seen = after
    if Moved.between(before.rules, after.rules) and chance(session.rng, 35):
        session.verify()  # ranks above all, before another change repairs them


def _refuse(session: _Session, change: Change) -> None:
    """A change to what is no program: nothing of it happens."""
    from zodiac_sql.errors import ProgramError

    note("% to be refused")
    with pytest.raises(ProgramError):
        make(session.kb, change, PLAIN)
    after = session.see()
    assert after == session.seen


# --------------------------------------------------------------------------------- in another order

Group = tuple[Step, ...]


@settings(max_examples=ORDERS)
@given(recipe=recipes)
def test_the_order_does_not_matter(
    open_kb: OpenKb, strategies: tuple[str, ...], recipe: Recipe
) -> None:
    """The same rules and facts, in several orders and on detours, give the same HRDG and tables."""
    program = recipe.program("order")
    rules = {rule.name: rule for rule in program.rules}
    note(str(program))
    rng = recipe.random("orders")
    found = []
    for order in (_at_once, _one_by_one, _one_by_one, _in_groups, _there_and_back):
        groups = order(program, rng)
        strategy = rng.choice(strategies)
        note(f"% {strategy}, {order.__name__}")
        with open_kb(strategy=strategy) as kb:
            for number, group in enumerate(groups, 1):
                note(numbered(number, group))
                make(kb, group, PLAIN)
            found.append(_unnumbered(kb, rules, program.facts))
    for other in found[1:]:
        assert other == found[0]


Unnumbered = tuple[Shape, dict[Names, int], Contents, dict[str, list[object]]]


def _unnumbered(kb: KnowledgeBase, rules: dict[str, Rule], facts: Facts) -> Unnumbered:
    """All that does not depend on the order, which is all but the numbers of hypernodes."""
    every = extensions(list(rules.values()), facts)
    assert_agrees(kb, every)
    stored = assert_whole(kb, rules, facts)
    assert kb.verify()
    answers = {name: sorted(kb.table(name).fetchall(), key=repr) for name in every}
    tables = {key: rows for key, rows in stored.contents.items() if rows}
    return stored.shape, dict(stored.strata), tables, answers


def _steps(program: Program, rng: Random) -> list[Step]:
    """Every rule, and the facts in small portions."""
    steps: list[Step] = [AddRule(rule) for rule in program.rules]
    for name, rows in program.facts.items():
        listed = shuffled(rng, sorted(rows, key=repr))
        steps += [Insert(name, listed[at : at + 3]) for at in range(0, len(listed), 3)]
    return steps


def _at_once(program: Program, rng: Random) -> list[Group]:
    return [tuple(_steps(program, rng))]


def _one_by_one(program: Program, rng: Random) -> list[Group]:
    """Facts first, last, or in between."""
    steps = shuffled(rng, _steps(program, rng))
    where = rng.choice(("first", "last", "between"))
    if where != "between":
        steps = tuple(sorted(steps, key=lambda s: isinstance(s, Insert) == (where == "last")))
    return [(step,) for step in steps]


def _in_groups(program: Program, rng: Random) -> list[Group]:
    return _grouped(shuffled(rng, _steps(program, rng)), rng)


def _there_and_back(program: Program, rng: Random) -> list[Group]:
    """Through programs with more rules, which go again."""
    extra: list[Rule] = []
    for rule in program.spare:
        if allowed([*program.rules, *extra, rule]):
            extra.append(rule)
    steps = [*_steps(program, rng), *map(AddRule, extra)]
    gone: list[Step] = [DropRule(rule.name) for rule in extra]
    return [*_grouped(shuffled(rng, steps), rng), *_grouped(shuffled(rng, gone), rng)]


def _grouped(steps: Sequence[Step], rng: Random) -> list[Group]:
    """Up to four steps at a time."""
    left = list(steps)
    groups: list[Group] = []
    while left:
        size = rng.randint(1, 4)
        groups.append(tuple(left[:size]))
        del left[:size]
    return groups
