"""Strategy `dred`: delete and rederive (paper 3, section 3, steps DR1 to DR5), on sets of facts.

Everything that the deleted facts help to derive is taken out, whether or not it can be derived
otherwise; then all that can still be derived comes back. Ranks stay in order: a fact that is not
taken out keeps all of its derivations, and a fact that is added comes after the facts that it was
derived from.

With marking (paper 4), the facts that the previous update has marked are candidates from the start.
Facts that are added or come back are marked if a fact of the body is.
"""

from __future__ import annotations

from zodiac_sql.cost.operator import certain
from zodiac_sql.maintain.contract import Maintained, Stopped, Task, Work
from zodiac_sql.maintain.papers.marking import NO_MARKS, Marking, with_marks
from zodiac_sql.maintain.steps.aggregate_groups import with_touched_groups
from zodiac_sql.maintain.steps.change_plans import gains, losses
from zodiac_sql.maintain.steps.extend import extend
from zodiac_sql.maintain.steps.merge_tables import begun
from zodiac_sql.maintain.steps.overdelete import overdelete
from zodiac_sql.maintain.steps.partitions import edits_of_closures, with_closures
from zodiac_sql.maintain.steps.working_table import edits_of
from zodiac_sql.maintain.weighed import Maintains, is_plain_recursion
from zodiac_sql.sql.relations import Relation


def dred(
    task: Task, rounds: int | None = None, marking: Marking = NO_MARKS
) -> Maintained | Stopped:
    """Maintain a recursive hypernode by overdeletion and rederivation.

    Stops before facts are overdeleted in more than `rounds`.
    """
    task = with_touched_groups(task)
    recursion, new = with_closures(task, begun(task, ranked=task.former.ranked)), gains(task)
    owns, closures = recursion.owns, recursion.closures
    for predicate, part in marking.given.items():
        owns[predicate].is_checked_for(part)
    lost = overdelete(recursion, losses(task), supported=False, rounds=rounds)
    if not isinstance(lost, Work):
        return lost
    gained = extend(recursion, new)
    if not isinstance(gained, Work):
        return gained
    work = lost.and_(gained)
    edits, rederived = edits_of(task.runner, owns, grows=bool(closures or new))
    edits |= edits_of_closures(closures)
    done = Maintained(edits, work.plus(rederived=rederived), "dred", task.former.ranked)
    added = {p: Relation(own.columns, (own.added,)) for p, own in owns.items() if own.added}
    return with_marks(done, task, marking, recursion.inside(), added)


def dred_with(marking: Marking) -> Maintains:
    """The operator, by what is marked."""
    return certain(
        "dred",
        "as chosen",
        is_plain_recursion,
        lambda weighed: dred(weighed.task, marking=marking),
    )
