"""Strategy `support`: delete only what has lost its support by ranks, then rederive.

DRed explores all consequences of what was deleted, and B/F (paper 3) looks for proofs behind each
fact. Here each candidate is checked by one look at the facts that derive it directly: the ranks,
kept with the tables since their evaluation, say which derivations cannot be circular. Nothing that
depends on a fact that stays is explored. A fact that is taken out wrongly, because its other
derivations are from facts of higher ranks, is rederived, with a rank after theirs.
"""

from __future__ import annotations

from zodiac_sql.maintain.contract import Maintained, Task, Work
from zodiac_sql.maintain.steps.aggregate_groups import with_touched_groups
from zodiac_sql.maintain.steps.extend import extend
from zodiac_sql.maintain.steps.lost_edge import lose_one_edge
from zodiac_sql.maintain.steps.merge_tables import working_tables
from zodiac_sql.maintain.steps.overdelete import overdelete
from zodiac_sql.maintain.steps.working_table import WorkingTables, edits_of


def support(
    task: Task, budget: int | None = None, growth: int | None = None, rounds: int | None = None
) -> Maintained:
    """Maintain a recursive hypernode whose ranks are reliable.

    Raises TooMuch before more facts than `budget` would be checked, or in more than `rounds`, or
    when more than `growth` were added.
    """
    assert task.ranked
    task = with_touched_groups(task)
    owns = working_tables(task)
    work = overdelete(task, owns, supported=True, budget=budget, rounds=rounds)
    return _extended(task, owns, work, growth)


def support_without_an_edge(task: Task, growth: int) -> Maintained:
    """The same for a closure that loses one edge (steps/lost_edge.py)."""
    owns = working_tables(task)
    return _extended(task, owns, lose_one_edge(task, owns), growth)


def _extended(task: Task, owns: WorkingTables, work: Work, growth: int | None) -> Maintained:
    work = work.and_(extend(task, owns, budget=growth))
    edits, rederived = edits_of(task, owns)
    return Maintained(edits, work.plus(rederived=rederived), "support", task.ranked)
