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
from zodiac_sql.evaluate.improve import improve
from zodiac_sql.evaluate.improving import Improving, Loop, is_guarded
from zodiac_sql.evaluate.never_better import never_better
from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.maintain.contract import Maintained, Stopped, Task, Work
from zodiac_sql.maintain.steps.change_plans import gains, losses
from zodiac_sql.maintain.steps.merge_tables import begun
from zodiac_sql.maintain.steps.overdelete import overdelete
from zodiac_sql.maintain.steps.working_table import WorkingTable, WorkingTables, edits_of
from zodiac_sql.maintain.weighed import PATIENCE, Maintains
from zodiac_sql.sql.plan import Plan, Version, group_check


def best(task: Task, budget: int | None) -> Maintained | Stopped:
    """Maintain best values. Declines before more facts than `budget` would be checked."""
    recursion, work = begun(task, ranked=False), Work()
    owns, runner, plans = recursion.owns, task.runner, losses(task)
    if plans:
        read = task.context.relation
        if not never_better(runner.store, _as_it_was(task), lambda p: read(p, Version.BEFORE)):
            return Declined("its rules may make better values of best ones")
        lost = overdelete(recursion, plans, supported=False, budget=budget)
        if not isinstance(lost, Work):
            return lost
        work = lost
    improvings = {name: _improving(task.hypernode, own) for name, own in owns.items()}
    loop = Loop(runner, task.hypernode, task.context, improvings)
    rounds = improve(loop, [*gains(task), *_checks(task, owns)])
    for name, own in improvings.items():
        owns[name].loses(own.gone)
        owns[name].gains(own.rows)
    edits, _ = edits_of(runner, owns, grows=True)
    added = sum(own.rows for own in improvings.values())
    work = work.plus(forward=added, insertions=added, iterations=rounds)
    return Maintained(edits, work, "best", ranked=False)


def _as_it_was(task: Task) -> Hypernode:
    """The hypernode with the rules that have filled its tables."""
    hypernode, heritage = task.hypernode, task.former.heritage
    if heritage is None:
        return hypernode
    return replace(hypernode, rules=(*task.former.lasting(hypernode.rules), *heritage.lost))


def _improving(hypernode: Hypernode, own: WorkingTable) -> Improving:
    best = hypernode.bests[own.predicate]
    guarded = is_guarded(hypernode, own.columns[best.place])
    return Improving(
        own.predicate, own.columns, best, own.added_table, own.gone_table, own.stored,
        own.gone.rows if own.gone else 0,
        guarded=guarded,
    )  # fmt: skip


def _checks(task: Task, owns: WorkingTables) -> list[Plan]:
    """Plans for the best values of groups that have lost theirs."""
    return [
        task.runner.cache.get(("group", rule.name), partial(group_check, rule))
        for rule in task.hypernode.rules
        if owns[rule.head.predicate].gone
    ]


BEST: Maintains = Operator(
    "best",
    lambda weighed: bool(weighed.task.hypernode.bests) and not weighed.task.former.merges,
    lambda weighed: Cost(0, "best values of groups"),
    lambda weighed, next_ms: best(weighed.task, weighed.facts_within(PATIENCE * next_ms)),
)
