"""Maintains a decomposed rule that is not recursive: its nodes one by one, then their join.

Each is a rule like any other, and is maintained as if it were a hypernode. What a node gains and
loses is a change of an input for the join. So the join reads exactly the versions of equations 8
and 10 of paper 5, and a node costs no statement if none of its inputs changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from zodiac_sql.cost.operator import certain
from zodiac_sql.language.syntax import Column, Rule
from zodiac_sql.maintain.contract import Maintained, Outcome, Task, Work
from zodiac_sql.maintain.weighed import Maintains, Weighed
from zodiac_sql.rewrite.forms import Forms
from zodiac_sql.sql.relations import Relation
from zodiac_sql.storage.edits import Delta, Edit
from zodiac_sql.storage.sources import Sources, own

One = Callable[[Task], Outcome]
"""How one rule is maintained."""


def by_nodes(task: Task, one: One) -> Outcome:
    """Maintain the rules of a hypernode in their order."""
    after = own(task.inputs.after)
    deltas = dict(task.inputs.deltas)
    edits: dict[str, Edit] = {}
    work = Work()
    for rule in task.hypernode.rules:
        reads = {name: deltas[name] for name in rule.positive() | rule.negative() if name in deltas}
        if not reads:
            continue
        done = one(_alone(task, rule, after, reads))
        if not isinstance(done, Maintained):
            return done
        work = work.and_(done.work)
        for name, edit in done.edits.items():
            edits[name] = edit
            deltas[name] = _delta(task.columns(name), edit)
            parts = after.derived.get(name, {}).get(task.hypernode.id, ())
            after.put(name, task.hypernode.id, edit.applied(parts))
    return Maintained(edits, work, "nodes", task.former.ranked)


def _alone(task: Task, rule: Rule, after: Sources, deltas: Mapping[str, Delta]) -> Task:
    def make() -> Forms:
        return Forms(replace(task.hypernode, rules=(rule,)), after.schema)

    forms = task.runner.cache.get(("alone", rule.name), make)
    inputs = replace(task.inputs, hypernode=forms.hypernode, after=after, deltas=deltas)
    context = replace(task.context, relation=inputs.relation)
    return replace(task, inner=replace(task.inner, forms=forms), inputs=inputs, context=context)


def _delta(columns: tuple[Column, ...], edit: Edit) -> Delta:
    inserted, deleted = ((part,) if part else () for part in (edit.inserted, edit.deleted))
    return Delta(Relation(columns, inserted), Relation(columns, deleted))


def nodes(one: One) -> Maintains:
    """The operator, by how each rule is maintained."""
    why = "its rule is decomposed"
    return certain("nodes", why, _has_nodes, lambda weighed: by_nodes(weighed.task, one))


def _has_nodes(weighed: Weighed) -> bool:
    hypernode = weighed.task.hypernode
    return not (hypernode.bests or hypernode.recursive) and len(hypernode.rules) > 1
