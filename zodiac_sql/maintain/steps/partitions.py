"""Relations that are kept as partitions, in DRed^c with modules (paper 2, Algorithm 3).

Overdeletion takes apart nodes that lost facts had connected, unless facts known from outside still
connect them: these facts have a proof that no deletion can reach, so they need not be taken out.
Then rederivation and insertion connect nodes again. Between the steps of these relations, the other
rules of the hypernode are applied to what the relations lost or gained.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlglot import exp

from zodiac_sql.database.statements import anti_join
from zodiac_sql.evaluate.partition.closure import Closure, begin_closure, links
from zodiac_sql.evaluate.partition.partition import count_since_change, rows_changed
from zodiac_sql.maintain.contract import Task
from zodiac_sql.maintain.steps.recursion import Recursion
from zodiac_sql.names import CHANGE_FACTS, classes, external, given
from zodiac_sql.rewrite.rewritten_hypernode import ModuleRow
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.plan import Version
from zodiac_sql.sql.relations import Part, Relation, columns_of, relation_query
from zodiac_sql.storage.edits import Edit


def with_closures(task: Task, recursion: Recursion) -> Recursion:
    """With the relations of a hypernode that are kept as partitions, before anything is done."""
    closures = {row.predicate: _begin(task, row) for row in task.inner.rows if row.parted}
    return replace(recursion, closures=closures)


def _begin(task: Task, row: ModuleRow) -> Closure:
    name = row.predicate
    return begin_closure(
        task.runner.store,
        row,
        columns=task.columns(name),
        stem=task.stem(name),
        given=task.context.relation(given(name), Version.ALL),
        alone=not task.hypernode.rules,
        stored=next(iter(task.former.tables.get(name, ())), None),
    )


def lose_given(recursion: Recursion) -> bool:
    """Del for facts that no longer come from outside. Returns whether that takes anything away."""
    for name, closure in recursion.closures.items():
        lost = recursion.context.relation(given(name), Version.DELETED)
        closure.delete(lost, None, _kept(recursion.context, closure, lost))
    return _moved(recursion.closures)


def lose_fed(recursion: Recursion) -> None:
    """Del for external facts that other rules have lost in the last round."""
    for name, closure in recursion.closures.items():
        own = recursion.owns.get(external(name))
        lost = Relation(closure.columns, (own.delta,) if own and own.delta else ())
        closure.delete(None, lost, _kept(recursion.context, closure, lost))


def redo(recursion: Recursion) -> bool:
    """Red, with the facts that newly come from outside. Returns whether that brings anything."""
    for name, closure in recursion.closures.items():
        own = recursion.owns.get(external(name))
        new = recursion.context.relation(given(name), Version.INSERTED)
        closure.redo(new, own.known if own else None)
    return _moved(recursion.closures)


def add_fed(recursion: Recursion, whole: bool = False) -> None:
    """Add for external facts that other rules have derived in the last round, or in `whole`."""
    for name, closure in recursion.closures.items():
        own = recursion.owns.get(external(name))
        new = (own.added if whole else own.delta) if own else None
        closure.add(None, Relation(closure.columns, (new,)) if new else None)


def _moved(closures: Mapping[str, Closure]) -> bool:
    return any(closure.delta for closure in closures.values())


def _kept(context: Context, closure: Closure, lost: Relation) -> exp.Select | None:
    """What is known from outside before and after the change, as links, if anything was lost."""
    if not lost.rows:
        return None
    name = given(closure.row.predicate)
    query = links(context.relation(name, Version.ALL), closure.row.covers)
    inserted = context.relation(name, Version.INSERTED)
    if not inserted.rows:
        return query
    nothing = Relation(closure.columns, ())
    first, second = columns_of(nothing, "i")
    new = exp.select(first.as_("a"), second.as_("b"))
    new = new.from_(relation_query(inserted).subquery("i"))
    ends = [exp.column(end, table="l") for end in "ab"]
    rows = exp.select(*ends, exp.column("looping", table="l")).from_(query.subquery("l"))
    return anti_join(rows, ends, new.subquery())


def edits_of_closures(closures: Mapping[str, Closure]) -> dict[str, Edit]:
    """What became of the relations, and of the tables of classes that they are made of."""
    edits: dict[str, Edit] = {}
    for name, closure in closures.items():
        partition = closure.partition
        count_since_change(partition)
        inserted, deleted = partition.part("class", "before"), partition.part("before", "class")
        names = f"{CHANGE_FACTS}left_{closure.stem}", f"{CHANGE_FACTS}came_{closure.stem}"
        counts = rows_changed(partition, *names)
        gone, come = (
            Part("temp", table, rows) if rows else None
            for table, rows in zip(names, counts, strict=True)
        )
        if gone or come:
            edits[classes(name)] = Edit(come, gone, gone, come)
            edits[name] = Edit(inserted, deleted, None, None, now=closure.now)
    return edits
