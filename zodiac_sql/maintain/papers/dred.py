"""Strategy `dred`: delete and rederive (paper 3, section 3, steps DR1 to DR5), on sets of facts.

Everything that the deleted facts help to derive is taken out, whether or not it can be derived
otherwise; then all that can still be derived comes back. Ranks stay in order: a fact that is not
taken out keeps all of its derivations, and a fact that is added comes after the facts that it was
derived from.
"""

from __future__ import annotations

from dataclasses import replace

from zodiac_sql.cost.operator import Cost, Operator
from zodiac_sql.maintain.contract import Maintained, Stopped, Task, Work
from zodiac_sql.maintain.papers.marking import marked_among
from zodiac_sql.maintain.steps.aggregate_groups import with_touched_groups
from zodiac_sql.maintain.steps.extend import extend
from zodiac_sql.maintain.steps.merge_tables import working_tables
from zodiac_sql.maintain.steps.overdelete import overdelete
from zodiac_sql.maintain.steps.partitions import begin_closures, edits_of_closures
from zodiac_sql.maintain.steps.working_table import edits_of
from zodiac_sql.maintain.weighed import Maintains
from zodiac_sql.sql.relations import Part


def dred(task: Task, rounds: int | None = None) -> Maintained | Stopped:
    """Maintain a recursive hypernode by overdeletion and rederivation.

    Stops before facts are overdeleted in more than `rounds`.
    """
    if task.marking.implicit:  # marks take the place of ranks
        task = replace(task, ranked=False)
    task = with_touched_groups(task)
    owns = working_tables(task)
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
    marked: dict[str, Part] = {}
    for predicate, own in owns.items():
        marked |= marked_among(task, predicate, [own.added if own.plus else None])
    work = work.plus(rederived=rederived, marked=sum(part.rows for part in marked.values()))
    return Maintained(edits, work, "dred", task.ranked, marked)


DRED: Maintains = Operator(
    "dred",
    lambda weighed: weighed.is_plain and weighed.task.hypernode.recursive,
    lambda weighed: Cost(0, "as chosen"),
    lambda weighed, _: dred(weighed.task),
)
