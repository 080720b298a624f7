"""Strategy of hypernodes whose predicates keep the best value of each group (MIN, MAX in heads).

A fact may be lost if a derivation of just its value is lost, so these are taken out, with all that
follows from them. Groups without a value get the best that rules derive from what is left; then
values improve by that and by what the change brings, until nothing improves.

That is right if no rule makes a better value than those that it reads (evaluate/never_better.py):
then a fact that stays has a derivation from facts that stay. Otherwise all is evaluated again.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from zodiac_sql.cost.operator import Cost, Declined, Operator
from zodiac_sql.evaluate.cache_keys import relation_key
from zodiac_sql.evaluate.improve import improve
from zodiac_sql.evaluate.improving import Improving, Loop, is_guarded
from zodiac_sql.evaluate.make_tables import make_part
from zodiac_sql.evaluate.never_better import never_better
from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.maintain.contract import Maintained, Stopped, Task, Work
from zodiac_sql.maintain.steps.change_plans import gains, losses
from zodiac_sql.maintain.steps.merge_tables import working_tables
from zodiac_sql.maintain.steps.overdelete import overdelete
from zodiac_sql.maintain.steps.working_table import WorkingTable, WorkingTables
from zodiac_sql.maintain.weighed import PATIENCE, Maintains
from zodiac_sql.names import CHANGE_FACTS
from zodiac_sql.sql.plan import Plan, Version, group_check
from zodiac_sql.sql.relations import Part, Relation, relation_query
from zodiac_sql.storage.edits import Edit
from zodiac_sql.storage.extensions import lacking


def best(task: Task, budget: int | None) -> Maintained | Stopped:
    """Maintain best values. Declines before more facts than `budget` would be checked."""
    task = replace(task, ranked=False)
    owns, work = working_tables(task), Work()
    if losses(task):
        if not never_better(task.store, _as_it_was(task), partial(_before, task)):
            return Declined("its rules may make better values of best ones")
        lost = overdelete(task, owns, supported=False, budget=budget)
        if not isinstance(lost, Work):
            return lost
        work = lost
    improvings = {name: _improving(task, own) for name, own in owns.items()}
    context = task.context(task.inputs)
    loop = Loop(task.store, task.cache, task.hypernode, context, improvings)
    rounds = improve(loop, [*gains(task), *_checks(task, owns)])
    edits = {name: _edit(task, own) for name, own in improvings.items()}
    added = sum(own.rows for own in improvings.values())
    work = work.plus(forward=added, insertions=added, iterations=rounds)
    return Maintained({n: e for n, e in edits.items() if e}, work, "best", False)


def _as_it_was(task: Task) -> Hypernode:
    """The hypernode with the rules that have filled its tables."""
    if task.heritage is None:
        return task.hypernode
    return replace(task.hypernode, rules=(*task.lasting, *task.heritage.lost))


def _before(task: Task, predicate: str) -> Relation:
    return task.inputs(predicate, Version.BEFORE)


def _improving(task: Task, own: WorkingTable) -> Improving:
    best = task.hypernode.bests[own.predicate]
    guarded = is_guarded(task.hypernode, own.columns[best.place])
    return Improving(
        own.predicate, own.columns, best, own.added_table, own.gone_table, own.stored,
        own.gone.rows if own.gone else 0,
        guarded=guarded,
    )  # fmt: skip


def _checks(task: Task, owns: WorkingTables) -> list[Plan]:
    """Plans for the best values of groups that have lost theirs."""
    return [
        task.cache.get(("group", rule.name), partial(group_check, rule))
        for rule in task.hypernode.rules
        if owns[rule.head.predicate].gone
    ]


def _edit(task: Task, own: Improving) -> Edit:
    """What became of a table."""
    gone = Part("temp", own.gone_table, own.gone) if own.gone else None
    stem = task.stem(own.predicate)
    deleted = _without(task, own, gone, own.better, f"{CHANGE_FACTS}minus_{stem}")
    inserted = _without(task, own, own.better, gone, f"{CHANGE_FACTS}plus_{stem}")
    return Edit(inserted, deleted, deleted, inserted)


def _without(
    task: Task, own: Improving, these: Part | None, those: Part | None, name: str
) -> Part | None:
    """The facts of one temporary table that are not in another, under a name that lasts."""
    if these is None or those is None:
        return these
    rows, others = (Relation(own.columns, (part,)) for part in (these, those))
    key = ("best", relation_key(rows), relation_key(others))
    return make_part(
        task.store, task.cache, key, name, lambda: lacking(relation_query(rows), others)
    )


BEST: Maintains = Operator(
    "best",
    lambda weighed: bool(weighed.task.hypernode.bests) and not weighed.task.merges,
    lambda weighed: Cost(0, "best values of groups"),
    lambda weighed, next_ms: best(weighed.task, weighed.facts_within(PATIENCE * next_ms)),
)
