"""Taking out of a recursive hypernode what may have lost its support.

Facts that lose a derivation by the change are candidates, and so are, round by round, the facts
that those taken out help to derive. Without ranks all candidates are taken out (DRed, paper 3,
DR2).

With ranks, most stay. A derivation from facts of lower ranks is a support, and a fact is safe as
long as it has one: following supports downwards, ranks fall, so they end in facts that came from
outside, and no circle of facts can hold itself up. Hence only a fact that loses a support is a
candidate, and only one that has no other is taken out. It may still have a derivation from facts
of higher ranks; then it comes back when the hypernode is extended again (DR4 and DR5).
"""

from __future__ import annotations

from collections.abc import Mapping

from zodiac_sql.cost.calibration import DERIVED, SCANNED
from zodiac_sql.cost.operator import Declined
from zodiac_sql.cost.sizes import is_read_long
from zodiac_sql.maintain.contract import ManyRounds, Stopped, Task, Work
from zodiac_sql.maintain.steps.cascade import can_cascade, cascade_lost
from zodiac_sql.maintain.steps.change_plans import losses
from zodiac_sql.maintain.steps.closure_form import was_in_layers
from zodiac_sql.maintain.steps.find_candidates import find_candidates, find_unsupported
from zodiac_sql.maintain.steps.many_rounds import are_too_many
from zodiac_sql.maintain.steps.partitions import lose_fed, lose_given
from zodiac_sql.maintain.steps.plans import all_onwards
from zodiac_sql.maintain.steps.slices import slice_tables
from zodiac_sql.maintain.steps.working_table import (
    WorkingTable,
    WorkingTables,
    take_out,
    without_outside,
)
from zodiac_sql.maintain.weighed import PATIENCE
from zodiac_sql.sql.relations import Part


def overdelete(
    task: Task,
    owns: WorkingTables,
    supported: bool,
    budget: int | None = None,
    rounds: int | None = None,
) -> Work | Stopped:
    """Take out what may be lost. With `supported`, facts that have a support by ranks stay.

    Stops before more facts than `budget` would be checked, or in more than `rounds`.
    """
    work = Work()
    plans = losses(task)
    if lose_given(task):
        plans += all_onwards(task, owns)
    while True:
        for own in owns.values():
            own.is_checked_for(
                find_candidates(
                    task, owns, own, plans, iteration=work.iterations, supported=supported
                )
            )
        checked = sum(own.candidate.rows for own in owns.values() if own.candidate)
        if not checked:
            return work
        if why := _goes_beyond(work.plus(checked=checked), budget, rounds):
            return Declined(why)
        lost = {own.predicate: own.candidate for own in owns.values()}
        if supported:
            lost = {own.predicate: find_unsupported(task, owns, own) for own in owns.values()}
        if work.iterations == 0:
            slice_tables(task, owns, lost)
        taken = sum(part.rows for part in lost.values() if part)
        work = work.plus(
            checked=checked, forward=checked, overdeleted=taken, iterations=1,
            backward=checked - taken if supported else 0, deletions=checked,
        )  # fmt: skip
        if taken and budget is not None and (why := _is_slow(task, owns, work.iterations)):
            return Declined(why)
        if taken and _is_left(task, rounds) and can_cascade(task, owns, work.iterations):
            return _at_once(task, owns, lost, supported, budget, work.plus(overdeleted=-taken))
        if task.ends_after(work.iterations):
            return ManyRounds()
        for own in owns.values():
            _take_out(task, own, lost[own.predicate])
        lose_fed(task, owns)
        plans = all_onwards(task, owns)


def _goes_beyond(work: Work, budget: int | None, rounds: int | None) -> str:
    """Says what would be more than there may be, if it is."""
    if budget is not None and work.checked > budget:
        return f"more than {budget:,} facts may have lost their support"
    if rounds is not None and work.iterations == rounds:
        return f"facts may lose their support in more than {rounds} rounds"
    return ""


def _is_left(task: Task, rounds: int | None) -> bool:
    """Whether one statement may do what is left: not where rounds are few, or part classes."""
    return rounds is None and not task.closures


def _at_once(
    task: Task,
    owns: WorkingTables,
    lost: Mapping[str, Part | None],
    supported: bool,
    budget: int | None,
    work: Work,
) -> Work | Declined:
    """Take out, in one statement, what was lost and all that follows from it."""
    most = _most(task, budget)
    taken = cascade_lost(task, owns, lost, supported, most)
    if most is not None and taken > most:
        return Declined(f"more than {most:,} facts may have lost their support")
    return work.plus(overdeleted=taken)


def _most(task: Task, budget: int | None) -> int | None:
    """How many facts one statement may take out. It takes no longer for each than an evaluation,
    but a closure may be evaluated in quicker ways than by paths.
    """
    if budget is None or not task.forms.along:
        return None
    return int(budget / PATIENCE)


def _is_slow(task: Task, owns: WorkingTables, rounds: int) -> str:
    """Says why starting over is quicker, if it is: as when further rounds would read whole tables.

    A round over the closure of 22 million facts takes 0.9 s of CPU, and there are ten to twenty.
    Evaluating it takes 6, and 3 if it is in layers (steps/closure_sets.py). Where many nodes are on
    a cycle, there may be a hundred rounds: one edge of 7,800, and 6 million pairs, took 13 s to
    delete, and 1.9 to start over.
    """
    if why := are_too_many(task, owns, rounds):
        return why
    if any(own.sliced for own in owns.values()):
        return ""
    whole = sum(own.base.rows for own in owns.values() if own.base)
    if not is_read_long(whole):
        return ""
    if rounds * SCANNED >= DERIVED or (rounds == 1 and was_in_layers(task)):
        return f"each round would read {whole:,} facts"
    return ""


def _take_out(task: Task, own: WorkingTable, lost: Part | None) -> None:
    """Take out what was lost; what the extension loses by it is the next delta."""
    own.hands_on(None)
    if lost is not None:
        own.hands_on(without_outside(task, own, lost, f"delta_{own.stem}"))
        take_out(task, own, lost)
