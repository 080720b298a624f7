"""Working on a slice of a recursive hypernode's tables, where its rules allow it.

In tc(X, Z) :- tc(X, Y), edge(Y, Z) all facts that lead to a fact, and all that follow from it, have
its X: the rules hand that argument on. So once it is known for which values of X something is lost
or gained, the rest of the search needs only the facts with these values. They are copied once, and
each further round looks into thousands of rows instead of millions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from zodiac_sql.cost.sizes import is_large, values_in
from zodiac_sql.database.statements import joining, temp_table, union_all
from zodiac_sql.evaluate.make_tables import make_table
from zodiac_sql.graph.handed_on import Positions, handed_on
from zodiac_sql.maintain.contract import Task
from zodiac_sql.maintain.steps.working_table import WorkingTable, WorkingTables
from zodiac_sql.sql.relations import Part, Relation, columns_of, table


def slice_tables(task: Task, owns: WorkingTables, found: Mapping[str, Part | None]) -> None:
    """Narrow each stored table to what the facts found so far can be connected with.

    With many values of the argument, the slice could be as large as the whole.
    """
    rows = sum(own.stored.rows for own in owns.values() if own.stored)
    if task.closures or not is_large(rows):
        return
    positions = positions_of(task)
    if positions is None:
        return
    keys = [(owns[p], part) for p, part in found.items() if part is not None]
    if not keys or _collect_keys(task, keys, positions) > values_in(rows):
        return
    for own in owns.values():
        if own.stored is not None:
            own.narrows_to(_slice(task, own, own.stored, positions[own.predicate]))


def positions_of(task: Task) -> Positions | None:
    """The argument of each predicate that the hypernode's rules hand on, if there is one."""
    rules = task.hypernode.rules
    return task.cache.get(("handed on", task.hypernode.id), lambda: handed_on(rules))


def _collect_keys(
    task: Task, found: Sequence[tuple[WorkingTable, Part]], positions: Positions
) -> int:
    name = _keys_table(task)
    key = ("keys", name, tuple(part.table for _, part in found))

    def query() -> exp.Query:
        values = [
            exp.select(_column(own, positions[own.predicate], "t").as_("key")).from_(
                temp_table(part.table).as_("t")
            )
            for own, part in found
        ]
        return exp.select("key").distinct().from_(union_all(values).subquery("k", copy=False))

    return make_table(task.store, task.cache, key, name, query)


def _slice(task: Task, own: WorkingTable, stored: Part, position: int) -> Part:
    name = f"slice_{own.stem}"

    def query() -> exp.Query:
        rows = exp.select(*own.names("t")).from_(table(stored).as_("t"))
        same = _column(own, position, "t").eq(exp.column("key", table="k"))
        keys = temp_table(_keys_table(task)).as_("k")
        return rows.join(joining(keys, "SEMI"), on=same)

    rows = make_table(task.store, task.cache, ("slice", own.ranked), name, query)
    return Part("temp", name, rows, ranked=own.ranked)


def _keys_table(task: Task) -> str:
    return f"keys_{task.hypernode.name}"


def _column(own: WorkingTable, position: int, alias: str) -> exp.Column:
    return columns_of(Relation(own.columns, ()), alias)[position]
