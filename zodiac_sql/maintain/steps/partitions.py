"""Relations that are kept as partitions, in DRed^c with modules (paper 2, Algorithm 3).

Overdeletion takes apart nodes that lost facts had connected, unless facts known from outside still
connect them: these facts have a proof that no deletion can reach, so they need not be taken out.
Then rederivation and insertion connect nodes again. Between the steps of these relations, the other
rules of the hypernode are applied to what the relations lost or gained.
"""

from __future__ import annotations

from sqlglot import exp

from zodiac_sql.database.statements import anti_join
from zodiac_sql.evaluate.partition.closure import Closure, begin_closure, links
from zodiac_sql.evaluate.partition.partition import count_since_change, rows_changed
from zodiac_sql.maintain.contract import Task
from zodiac_sql.maintain.steps.working_table import WorkingTables
from zodiac_sql.names import CHANGE_FACTS, classes, external, given
from zodiac_sql.rewrite.rewritten_hypernode import ModuleRow
from zodiac_sql.sql.plan import Version
from zodiac_sql.sql.relations import Part, Relation, columns_of, relation_query
from zodiac_sql.storage.edits import Edit


def begin_closures(task: Task) -> dict[str, Closure]:
    """The relations of a hypernode that are kept as partitions, before anything is done."""
    return {row.predicate: _begin(task, row) for row in task.modules if row.parted}


def _begin(task: Task, row: ModuleRow) -> Closure:
    name = row.predicate
    stored = task.before.derived.get(name, {}).get(task.hypernode.id, ())
    return begin_closure(
        task.store,
        row,
        columns=task.schema[name].columns,
        stem=task.stem(name),
        given=task.inputs(given(name), Version.ALL),
        alone=not task.hypernode.rules,
        stored=stored[0] if stored else None,
    )


def lose_given(task: Task) -> bool:
    """Del for facts that no longer come from outside. Returns whether that takes anything away."""
    for name, closure in task.closures.items():
        delta = task.deltas.get(given(name))
        lost = delta.deleted if delta else None
        closure.delete(lost, None, _kept(task, closure) if lost and lost.rows else None)
    return _moved(task)


def lose_fed(task: Task, owns: WorkingTables) -> None:
    """Del for external facts that other rules have lost in the last round."""
    for name, closure in task.closures.items():
        own = owns.get(external(name))
        lost = own.relation(Version.DELTA) if own else None
        closure.delete(None, lost, _kept(task, closure) if lost and lost.rows else None)


def redo(task: Task, owns: WorkingTables) -> bool:
    """Red, with the facts that newly come from outside. Returns whether that brings anything."""
    for name, closure in task.closures.items():
        own, delta = owns.get(external(name)), task.deltas.get(given(name))
        closure.redo(delta.inserted if delta else None, own.known if own else None)
    return _moved(task)


def add_fed(task: Task, owns: WorkingTables) -> None:
    """Add for external facts that other rules have derived in the last round."""
    for name, closure in task.closures.items():
        own = owns.get(external(name))
        closure.add(None, own.relation(Version.DELTA) if own else None)


def add_all_fed(task: Task, owns: WorkingTables) -> None:
    """Add for all external facts that other rules have derived, as after many rounds at once."""
    for name, closure in task.closures.items():
        own = owns.get(external(name))
        new = own.added if own else None
        closure.add(None, Relation(closure.columns, (new,)) if new else None)


def _moved(task: Task) -> bool:
    return any(closure.delta for closure in task.closures.values())


def _kept(task: Task, closure: Closure) -> exp.Select:
    """What is known from outside before and after the change, as links."""
    name = given(closure.row.predicate)
    query = links(task.inputs(name, Version.ALL), closure.row.covers)
    inserted = task.inputs(name, Version.INSERTED)
    if not inserted.rows:
        return query
    nothing = Relation(closure.columns, ())
    first, second = columns_of(nothing, "i")
    new = exp.select(first.as_("a"), second.as_("b"))
    new = new.from_(relation_query(inserted).subquery("i"))
    ends = [exp.column(end, table="l") for end in "ab"]
    rows = exp.select(*ends, exp.column("looping", table="l")).from_(query.subquery("l"))
    return anti_join(rows, ends, new.subquery())


def edits_of_closures(task: Task) -> dict[str, Edit]:
    """What became of the relations, and of the tables of classes that they are made of."""
    edits: dict[str, Edit] = {}
    for name, closure in task.closures.items():
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
