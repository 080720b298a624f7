"""Strategy `recompute`: evaluate a hypernode from scratch and compare with what was there.

The oracle of the other strategies: its cost follows the data, not the change.
"""

from __future__ import annotations

from zodiac_sql.apply import tables
from zodiac_sql.extension import comparable
from zodiac_sql.fixpoint import evaluate
from zodiac_sql.maintain.contract import KEPT, Edit, Maintained, Task, Work
from zodiac_sql.plan import Version
from zodiac_sql.relations import Part, Relation, relation_query
from zodiac_sql.trees import create_temp, minus


def recompute(task: Task) -> Maintained:
    """Evaluate a hypernode; tables that are as they were have no edit."""
    context = task.context(lambda name, _: task.inputs(name, Version.ALL))
    fixpoint = evaluate(task.store, task.hypernode, task.schema, context, task.kept)
    edits = {}
    for predicate in task.hypernode.derives:
        edit = _edit(task, predicate, fixpoint.parts.get(predicate))
        if edit is not None:
            edits[predicate] = edit
    work = Work(forward=fixpoint.rows, iterations=fixpoint.iterations)
    return Maintained(edits, work, fixpoint.method, task.hypernode.recursive)


def _edit(task: Task, predicate: str, after: Part | None) -> Edit | None:
    """What makes a table that of the new fixpoint; None if it is that already.

    It is also rewritten where only its columns have changed, and always if it has ranks: the old
    ones may rest on facts that are no more, and those of several predicates belong together.
    """
    columns = task.schema[predicate].columns
    if predicate not in task.before.schema or not task.before.derived.get(predicate, {}).get(
        task.hypernode.id
    ):
        return Edit(after, None, None, after, rewritten=True)
    old = Relation(task.before.schema[predicate].columns, task.held(predicate))
    new = Relation(columns, (after,) if after else ())
    if not old.rows or not new.rows or not comparable(new, old):
        inserted, deleted = after, _one(task, predicate, old)
    elif len(old.parts) > 1:
        inserted = _minus(task, f"{KEPT}plus_{task.stem(predicate)}", new, old)
        deleted = _minus(task, f"{KEPT}minus_{task.stem(predicate)}", old, new)
    else:
        grows, shrinks = directions(task)
        inserted = _minus(task, f"{KEPT}plus_{task.stem(predicate)}", new, old) if grows else None
        gone = old.rows + (inserted.rows if inserted else 0) - new.rows
        shrinks = shrinks and gone > 0
        deleted = _minus(task, f"{KEPT}minus_{task.stem(predicate)}", old, new) if shrinks else None
    if inserted or deleted or task.hypernode.recursive or old.columns != columns:
        return Edit(inserted, deleted, None, after, rewritten=True)
    return None


def directions(task: Task) -> tuple[bool, bool]:
    """Whether the tables can gain facts by the change of the inputs, and whether they can lose some."""
    inserted, deleted = task.changed()
    if task.heritage or not inserted | deleted:
        return True, True  # the rules themselves are new
    negative = frozenset(p for rule in task.hypernode.rules for p in rule.negative())
    refuted = bool(negative & (inserted | deleted))
    return bool(inserted) or refuted, bool(deleted) or refuted


def _one(task: Task, predicate: str, relation: Relation) -> Part | None:
    """The facts of a relation in one table."""
    if len(relation.parts) < 2:
        return relation.parts[0] if relation.parts else None
    name = f"{KEPT}minus_{task.stem(predicate)}"
    rows = task.store.count(create_temp(name, relation_query(relation, distinct=True)))
    return Part("temp", name, rows)


def _minus(task: Task, name: str, these: Relation, those: Relation) -> Part | None:
    """Temporary table `name` with the rows of one table that another does not have, if any."""

    def statement() -> str:
        query = minus(relation_query(these), relation_query(those))
        return task.store.render(create_temp(name, query))

    rows = task.store.count(task.kept.get((name, tables(these), tables(those)), statement))
    return Part("temp", name, rows) if rows else None
