"""Continuing a recursive hypernode's fixpoint with what a change brings (paper 3, DR4 and DR5).

First the rules are applied to what entered the inputs, and those facts that were taken out but can
be derived after all come back. Then, round by round, the rules are applied to what the last round
has added.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from zodiac_sql.cost import closures
from zodiac_sql.cost.operator import Declined
from zodiac_sql.evaluate.cache_keys import relation_key
from zodiac_sql.evaluate.run_plans import Target
from zodiac_sql.maintain.contract import ManyRounds, Stopped, Task, Work
from zodiac_sql.maintain.steps.cascade import can_cascade, cascade_new
from zodiac_sql.maintain.steps.change_plans import gains
from zodiac_sql.maintain.steps.closure_form import was_in_layers
from zodiac_sql.maintain.steps.many_rounds import are_too_many
from zodiac_sql.maintain.steps.one_edge import add_one_edge
from zodiac_sql.maintain.steps.partitions import add_all_fed, add_fed, redo
from zodiac_sql.maintain.steps.plans import all_onwards, checks, found_by
from zodiac_sql.maintain.steps.slices import slice_tables
from zodiac_sql.maintain.steps.working_table import (
    WorkingTable,
    WorkingTables,
    add,
    context_of,
    hand_on,
)
from zodiac_sql.sql.emptiness import is_empty
from zodiac_sql.sql.plan import Plan
from zodiac_sql.sql.relations import FIRST, Part
from zodiac_sql.sql.set_difference import unknown


def extend(
    task: Task, owns: WorkingTables, rederive: bool = True, budget: int | None = None
) -> Work | Stopped:
    """Add what the hypernode derives beyond what it has.

    With `rederive`, facts that were taken out are checked again; without, they come back only if
    something new derives them. Stops when more facts than `budget` were added.
    """
    work, rounds = Work(), 0
    gained = bool(plans := gains(task))
    plans += _begun(task, owns, gained=gained, rederive=rederive)
    if gained and (new := add_one_edge(task, owns)) is not None:
        return work.plus(forward=new, insertions=new, iterations=1)
    while True:
        found = {p: _new(task, owns, own, plans, work.iterations) for p, own in owns.items()}
        added = sum(part.rows for part in found.values() if part)
        if not added:
            return work
        if work.iterations == 0 and gained:
            slice_tables(task, owns, found)
        work = work.plus(forward=added, insertions=added, iterations=1)
        if task.store.watch.bounds is not None:
            task.store.watch.bounds.iterated()
        if budget is not None and work.forward > budget:
            return Declined(f"more than {budget:,} facts are new")
        rounds += 1
        if can_cascade(task, owns, rounds):
            whole = _at_once(task, owns, found, _most(task, owns, budget, work.forward - added))
            if isinstance(whole, Declined):
                return whole
            work, rounds = work.plus(forward=whole - added, insertions=whole - added), 0
            if not task.closures:
                return work
            add_all_fed(task, owns)
            plans = all_onwards(task, owns)
            continue
        if budget is not None and (why := are_too_many(task, owns, work.iterations)):
            return Declined(why)
        if task.ends_after(work.iterations):
            return ManyRounds()
        for predicate, own in owns.items():
            hand_on(task, own, more := found[predicate])
            if more:
                add(task, own, more)
        add_fed(task, owns)
        plans = all_onwards(task, owns)


def _begun(task: Task, owns: WorkingTables, *, gained: bool, rederive: bool) -> list[Plan]:
    """Begin to grow: plans for what was taken out, and for what classes of nodes bring."""
    plans: list[Plan] = []
    for own in owns.values():
        own.is_checked_for(None)
        own.hands_on(None)
        if gained:
            own.narrows_to(None)  # what enters can be connected with anything
        if own.gone and rederive and not own.united:
            own.is_checked_for(replace(own.gone, ranked=False))
            plans += checks(task, own.predicate)
    return [*plans, *all_onwards(task, owns)] if redo(task, owns) else plans


def _at_once(
    task: Task, owns: WorkingTables, found: Mapping[str, Part | None], most: int | None
) -> int | Declined:
    """Add, in one statement, what was found and all that follows from it. Returns how many."""
    new = cascade_new(task, owns, found, most)
    if most is not None and new > most:
        return Declined(f"more than {most:,} facts are new")
    for own in owns.values():
        own.hands_on(None)
    return new


def _most(task: Task, owns: WorkingTables, budget: int | None, added: int) -> int | None:
    """How many facts one statement may find, after rounds have `added` some.

    It takes no longer for all of them than to start over, unless the hypernode was evaluated in
    layers, which find facts sooner; or may be kept as components now, which are fewer than its
    facts. Then it stops at as many facts as there are, if components may pay for so many: so its
    work is never much more than that of starting over.
    """
    if budget is None or was_in_layers(task):
        return budget
    there = sum(part.rows for name in owns if (part := task.stored(name)))
    too_few = closures.LEAST_PAIRS - there - added - 1
    return max(budget, there, too_few) if task.reconsiders else None


def _new(
    task: Task, owns: WorkingTables, own: WorkingTable, plans: Iterable[Plan], iteration: int
) -> Part | None:
    """Create `new_*`: what the plans derive of a predicate and the hypernode did not know."""
    context = context_of(task, owns)
    mine = [p for p in plans if p.rule.head.predicate == own.predicate and not is_empty(p, context)]
    if not mine:
        return None
    known = own.known
    target = Target(
        # Two names in turn: a statement cannot read the table that it replaces.
        table=f"new_{iteration % 2}_{own.stem}",
        columns=own.columns,
        key=("new", relation_key(known)),
        shape=lambda heads: unknown(heads, known, ranked=own.ranked, first=FIRST),
        ranked=own.ranked,
        grows=True,
    )
    return found_by(task, mine, context, target)
