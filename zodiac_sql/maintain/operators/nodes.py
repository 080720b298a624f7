"""Maintains a decomposed rule that is not recursive: its nodes one by one, then their join.

Each is a rule like any other, and is maintained as if it were a hypernode. What a node gains and
loses is a change of an input for the join. So the join reads exactly the versions of equations 8
and 10 of paper 5, and a node costs no statement if none of its inputs changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from zodiac_sql.cost.operator import Cost, Operator
from zodiac_sql.language.syntax import Rule
from zodiac_sql.maintain.contract import Maintained, Outcome, Task, Work
from zodiac_sql.maintain.weighed import Maintains
from zodiac_sql.rewrite.forms import Forms
from zodiac_sql.sql.relations import Part, Relation
from zodiac_sql.storage.edits import Delta, Edit
from zodiac_sql.storage.owners import Owner
from zodiac_sql.storage.sources import Sources

One = Callable[[Task], Outcome]
"""How one rule is maintained."""


def by_nodes(task: Task, one: One) -> Outcome:
    """Maintain the rules of a hypernode in their order."""
    after = Sources(task.after.schema, task.after.explicit, dict(task.after.derived))
    deltas = dict(task.deltas)
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
            deltas[name] = _delta(task, name, edit)
            after.derived[name] = _edited(after.derived.get(name, {}), task.hypernode.id, edit)
    return Maintained(edits, work, "nodes", task.ranked)


def _alone(task: Task, rule: Rule, after: Sources, deltas: Mapping[str, Delta]) -> Task:
    def make() -> Forms:
        return Forms(replace(task.hypernode, rules=(rule,)), task.schema)

    forms = task.cache.get(("alone", rule.name), make)
    return replace(task, forms=forms, after=after, deltas=deltas)


def _delta(task: Task, name: str, edit: Edit) -> Delta:
    columns = task.schema[name].columns
    inserted, deleted = ((part,) if part else () for part in (edit.inserted, edit.deleted))
    return Delta(Relation(columns, inserted), Relation(columns, deleted))


def _edited(
    owners: Mapping[Owner, tuple[Part, ...]], owner: int, edit: Edit
) -> dict[Owner, tuple[Part, ...]]:
    return {**owners, owner: edit.applied(owners.get(owner, ()))}


def nodes(one: One) -> Maintains:
    """The operator, by how each rule is maintained."""
    return Operator(
        "nodes",
        lambda weighed: _has_nodes(weighed.task),
        lambda weighed: Cost(0, "its rule is decomposed"),
        lambda weighed, _: by_nodes(weighed.task, one),
    )


def _has_nodes(task: Task) -> bool:
    hypernode = task.hypernode
    return not (hypernode.bests or hypernode.recursive) and len(hypernode.rules) > 1
