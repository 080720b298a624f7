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

from collections.abc import Mapping, Sequence

from zodiac_sql.cost.calibration import DERIVED, SCANNED
from zodiac_sql.cost.operator import Declined
from zodiac_sql.cost.sizes import is_read_long
from zodiac_sql.maintain.contract import ManyRounds, Stopped, Work
from zodiac_sql.maintain.steps.cascade import can_cascade, cascade_lost
from zodiac_sql.maintain.steps.closure_form import was_in_layers
from zodiac_sql.maintain.steps.find_candidates import find_candidates, find_unsupported
from zodiac_sql.maintain.steps.many_rounds import are_too_many
from zodiac_sql.maintain.steps.partitions import lose_fed, lose_given
from zodiac_sql.maintain.steps.recursion import Recursion
from zodiac_sql.maintain.steps.slices import slice_tables
from zodiac_sql.maintain.steps.working_table import hand_on, take_out
from zodiac_sql.maintain.weighed import PATIENCE
from zodiac_sql.sql.plan import Plan
from zodiac_sql.sql.relations import Part


def overdelete(
    recursion: Recursion,
    losses: Sequence[Plan],
    supported: bool,
    budget: int | None = None,
    rounds: int | None = None,
) -> Work | Stopped:
    """Take out what may be lost, beginning with what the plans of `losses` find. With `supported`,
    facts that have a support by ranks stay.

    Stops before more facts than `budget` would be checked, or in more than `rounds`.
    """
    work, owns = Work(), recursion.owns
    plans = [*losses, *(recursion.onwards() if lose_given(recursion) else ())]
    while True:
        for own in owns.values():
            own.is_checked_for(
                find_candidates(
                    recursion, own, plans, iteration=work.iterations, supported=supported
                )
            )
        checked = sum(own.candidate.rows for own in owns.values() if own.candidate)
        if not checked:
            return work
        if why := _goes_beyond(work.plus(checked=checked), budget, rounds):
            return Declined(why)
        lost = {own.predicate: own.candidate for own in owns.values()}
        if supported:
            lost = {own.predicate: find_unsupported(recursion, own) for own in owns.values()}
        if work.iterations == 0:
            slice_tables(recursion, lost)
        taken = sum(part.rows for part in lost.values() if part)
        work = work.plus(
            checked=checked, forward=checked, overdeleted=taken, iterations=1,
            backward=checked - taken if supported else 0, deletions=checked,
        )  # fmt: skip
        if taken and budget is not None and (why := _is_slow(recursion, work.iterations)):
            return Declined(why)
        if taken and _is_left(recursion, rounds) and can_cascade(recursion, work.iterations):
            return _at_once(recursion, lost, supported, budget, work.plus(overdeleted=-taken))
        if recursion.instead.ends_after(work.iterations):
            return ManyRounds()
        for own in owns.values():
            hand_on(recursion.runner, own, lost[own.predicate], take_out)
        lose_fed(recursion)
        plans = recursion.onwards()


def _goes_beyond(work: Work, budget: int | None, rounds: int | None) -> str:
    """Says what would be more than there may be, if it is."""
    if budget is not None and work.checked > budget:
        return f"more than {budget:,} facts may have lost their support"
    if rounds is not None and work.iterations == rounds:
        return f"facts may lose their support in more than {rounds} rounds"
    return ""


def _is_left(recursion: Recursion, rounds: int | None) -> bool:
    """Whether one statement may do what is left: not where rounds are few, or part classes."""
    return rounds is None and not recursion.closures


def _at_once(
    recursion: Recursion,
    lost: Mapping[str, Part | None],
    supported: bool,
    budget: int | None,
    work: Work,
) -> Work | Declined:
    """Take out, in one statement, what was lost and all that follows from it."""
    most = _most(recursion, budget)
    taken = cascade_lost(recursion, lost, supported, most)
    if most is not None and taken > most:
        return Declined(f"more than {most:,} facts may have lost their support")
    return work.plus(overdeleted=taken)


def _most(recursion: Recursion, budget: int | None) -> int | None:
    """How many facts one statement may take out. It takes no longer for each than an evaluation,
    but a closure may be evaluated in quicker ways than by paths.
    """
    if budget is None or not recursion.forms.along:
        return None
    return int(budget / PATIENCE)


def _is_slow(recursion: Recursion, rounds: int) -> str:
    """Says why starting over is quicker, if it is: as when further rounds would read whole tables.

    A round over the closure of 22 million facts takes 0.9 s of CPU, and there are ten to twenty.
    Evaluating it takes 6, and 3 if it is in layers (steps/closure_sets.py). Where many nodes are on
    a cycle, there may be a hundred rounds: one edge of 7,800, and 6 million pairs, took 13 s to
    delete, and 1.9 to start over.
    """
    if why := are_too_many(recursion, rounds):
        return why
    if any(own.sliced for own in recursion.owns.values()):
        return ""
    stored = [own.stored for own in recursion.owns.values() if own.stored]
    whole = sum(part.rows for part in stored)
    if not is_read_long(whole):
        return ""
    layered = rounds == 1 and was_in_layers(recursion.store, recursion.forms, stored)
    if layered or rounds * SCANNED >= DERIVED:
        return f"each round would read {whole:,} facts"
    return ""
