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
from zodiac_sql.graph.handed_on import Positions
from zodiac_sql.maintain.steps.recursion import Recursion
from zodiac_sql.maintain.steps.working_table import WorkingTable
from zodiac_sql.sql.relations import Part, Relation, columns_of, table


def slice_tables(recursion: Recursion, found: Mapping[str, Part | None]) -> None:
    """Narrow each stored table to what the facts found so far can be connected with.

    With many values of the argument, the slice could be as large as the whole.
    """
    owns = recursion.owns
    rows = sum(own.stored.rows for own in owns.values() if own.stored)
    if recursion.closures or not is_large(rows):
        return
    positions = recursion.forms.handed_on
    if positions is None:
        return
    keys = [(owns[p], part) for p, part in found.items() if part is not None]
    if not keys or _collect_keys(recursion, keys, positions) > values_in(rows):
        return
    for own in owns.values():
        if own.stored is not None:
            own.narrows_to(_slice(recursion, own, own.stored, positions[own.predicate]))


def _collect_keys(
    recursion: Recursion, found: Sequence[tuple[WorkingTable, Part]], positions: Positions
) -> int:
    name = _keys_table(recursion)
    key = ("keys", name, tuple(part.table for _, part in found))

    def query() -> exp.Query:
        values = [
            exp.select(_column(own, positions[own.predicate], "t").as_("key")).from_(
                temp_table(part.table).as_("t")
            )
            for own, part in found
        ]
        return exp.select("key").distinct().from_(union_all(values).subquery("k", copy=False))

    return make_table(recursion.runner, key, name, query)


def _slice(recursion: Recursion, own: WorkingTable, stored: Part, position: int) -> Part:
    name = f"slice_{own.stem}"

    def query() -> exp.Query:
        rows = exp.select(*own.names("t")).from_(table(stored).as_("t"))
        same = _column(own, position, "t").eq(exp.column("key", table="k"))
        keys = temp_table(_keys_table(recursion)).as_("k")
        return rows.join(joining(keys, "SEMI"), on=same)

    rows = make_table(recursion.runner, ("slice", own.ranked), name, query)
    return Part("temp", name, rows, ranked=own.ranked)


def _keys_table(recursion: Recursion) -> str:
    return f"keys_{recursion.hypernode.name}"


def _column(own: WorkingTable, position: int, alias: str) -> exp.Column:
    return columns_of(Relation(own.columns, ()), alias)[position]
