"""Strategy `dred`: delete and rederive (paper 3, section 3, steps DR1 to DR5), on sets of facts.

Everything that the deleted facts help to derive is taken out, whether or not it can be derived
otherwise; then all that can still be derived comes back. Ranks stay in order: a fact that is not
taken out keeps all of its derivations, and a fact that is added comes after the facts that it was
derived from.

With marking (paper 4), the facts that the previous update has marked are candidates from the start.
Facts that are added or come back are marked if a fact of the body is.
"""

from __future__ import annotations

from dataclasses import replace

from zodiac_sql.cost.operator import Cost, Operator
from zodiac_sql.maintain.contract import Maintained, Stopped, Task, Work
from zodiac_sql.maintain.papers.marking import NO_MARKS, Marking, with_marks
from zodiac_sql.maintain.steps.aggregate_groups import with_touched_groups
from zodiac_sql.maintain.steps.extend import extend
from zodiac_sql.maintain.steps.merge_tables import working_tables
from zodiac_sql.maintain.steps.overdelete import overdelete
from zodiac_sql.maintain.steps.partitions import begin_closures, edits_of_closures
from zodiac_sql.maintain.steps.working_table import context_of, edits_of
from zodiac_sql.maintain.weighed import Maintains
from zodiac_sql.sql.relations import Relation


def dred(
    task: Task, rounds: int | None = None, marking: Marking = NO_MARKS
) -> Maintained | Stopped:
    """Maintain a recursive hypernode by overdeletion and rederivation.

    Stops before facts are overdeleted in more than `rounds`.
    """
    task = with_touched_groups(task)
    owns = working_tables(task)
    for predicate, part in marking.given.items():
        owns[predicate].is_checked_for(part)
    task = replace(task, closures=begin_closures(task))
    lost = overdelete(task, owns, supported=False, rounds=rounds)
    if not isinstance(lost, Work):
        return lost
    gained = extend(task, owns)
    if not isinstance(gained, Work):
        return gained
    work = lost.and_(gained)
    edits, rederived = edits_of(task, owns)
    edits |= edits_of_closures(task)
    done = Maintained(edits, work.plus(rederived=rederived), "dred", task.ranked)
    added = {p: Relation(own.columns, (own.added,)) for p, own in owns.items() if own.added}
    return with_marks(done, task, marking, context_of(task, owns), added)


def dred_with(marking: Marking) -> Maintains:
    """The operator, by what is marked."""
    return Operator(
        "dred",
        lambda weighed: weighed.is_plain and weighed.task.hypernode.recursive,
        lambda weighed: Cost(0, "as chosen"),
        lambda weighed, _: dred(weighed.task, marking=marking),
    )
