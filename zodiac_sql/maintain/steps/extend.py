"""Continuing a recursive hypernode's fixpoint with what a change brings (paper 3, DR4 and DR5).

First the rules are applied to what entered the inputs, and those facts that were taken out but can
be derived after all come back. Then, round by round, the rules are applied to what the last round
has added.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from zodiac_sql.cost import closures
from zodiac_sql.cost.operator import Declined
from zodiac_sql.evaluate.cache_keys import relation_key
from zodiac_sql.evaluate.run_plans import Target, found_by
from zodiac_sql.maintain.contract import ManyRounds, Stopped, Work
from zodiac_sql.maintain.steps.cascade import can_cascade, cascade_new
from zodiac_sql.maintain.steps.closure_form import was_in_layers
from zodiac_sql.maintain.steps.many_rounds import are_too_many
from zodiac_sql.maintain.steps.one_edge import add_one_edge
from zodiac_sql.maintain.steps.partitions import add_fed, redo
from zodiac_sql.maintain.steps.recursion import Recursion
from zodiac_sql.maintain.steps.slices import slice_tables
from zodiac_sql.maintain.steps.working_table import WorkingTable, add, hand_on
from zodiac_sql.sql.emptiness import solvable
from zodiac_sql.sql.plan import Plan
from zodiac_sql.sql.relations import FIRST, Part
from zodiac_sql.sql.set_difference import unknown


def extend(
    recursion: Recursion, gains: Sequence[Plan], rederive: bool = True, budget: int | None = None
) -> Work | Stopped:
    """Add what the hypernode derives beyond what it has, beginning with what the change `gains`.

    With `rederive`, facts that were taken out are checked again; without, they come back only if
    something new derives them. Stops when more facts than `budget` were added.
    """
    work, rounds = Work(), 0
    store, owns = recursion.store, recursion.owns
    plans = [*gains, *_begun(recursion, gained=bool(gains), rederive=rederive)]
    if gains and (new := add_one_edge(recursion)) is not None:
        return work.plus(forward=new, insertions=new, iterations=1)
    while True:
        found = {p: _new(recursion, own, plans, work.iterations) for p, own in owns.items()}
        added = sum(part.rows for part in found.values() if part)
        if not added:
            return work
        if work.iterations == 0 and gains:
            slice_tables(recursion, found)
        work = work.plus(forward=added, insertions=added, iterations=1)
        if store.watch.bounds is not None:
            store.watch.bounds.iterated()
        if budget is not None and work.forward > budget:
            return Declined(f"more than {budget:,} facts are new")
        rounds += 1
        if can_cascade(recursion, rounds):
            whole = _at_once(recursion, found, _most(recursion, budget, work.forward - added))
            if isinstance(whole, Declined):
                return whole
            work, rounds = work.plus(forward=whole - added, insertions=whole - added), 0
            if not recursion.closures:
                return work
            add_fed(recursion, whole=True)
            plans = recursion.onwards()
            continue
        if budget is not None and (why := are_too_many(recursion, work.iterations)):
            return Declined(why)
        if recursion.instead.ends_after(work.iterations):
            return ManyRounds()
        for predicate, own in owns.items():
            hand_on(recursion.runner, own, found[predicate], add)
        add_fed(recursion)
        plans = recursion.onwards()


def _begun(recursion: Recursion, *, gained: bool, rederive: bool) -> list[Plan]:
    """Begin to grow: plans for what was taken out, and for what classes of nodes bring."""
    plans: list[Plan] = []
    for own in recursion.owns.values():
        own.is_checked_for(None)
        own.hands_on(None)
        if gained:
            own.narrows_to(None)  # what enters can be connected with anything
        if own.gone and rederive and not own.united:
            own.is_checked_for(replace(own.gone, ranked=False))
            plans += recursion.checks(own.predicate)
    return [*plans, *recursion.onwards()] if redo(recursion) else plans


def _at_once(
    recursion: Recursion, found: Mapping[str, Part | None], most: int | None
) -> int | Declined:
    """Add, in one statement, what was found and all that follows from it. Returns how many."""
    new = cascade_new(recursion, found, most)
    if most is not None and new > most:
        return Declined(f"more than {most:,} facts are new")
    for own in recursion.owns.values():
        own.hands_on(None)
    return new


def _most(recursion: Recursion, budget: int | None, added: int) -> int | None:
    """How many facts one statement may find, after rounds have `added` some.

    It takes no longer for all of them than to start over, unless the hypernode was evaluated in
    layers, which find facts sooner; or may be kept as components now, which are fewer than its
    facts. Then it stops at as many facts as there are, if components may pay for so many: so its
    work is never much more than that of starting over.
    """
    stored = [own.stored for own in recursion.owns.values() if own.stored]
    if budget is None or was_in_layers(recursion.store, recursion.forms, stored):
        return budget
    there = sum(part.rows for part in stored)
    too_few = closures.LEAST_PAIRS - there - added - 1
    return max(budget, there, too_few) if recursion.instead.reconsiders else None


def _new(
    recursion: Recursion, own: WorkingTable, plans: Iterable[Plan], iteration: int
) -> Part | None:
    """Create `new_*`: what the plans derive of a predicate and the hypernode did not know."""
    context = recursion.inside()
    mine = solvable(plans, context, own.predicate)
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
    return found_by(recursion.runner, mine, context, target)
