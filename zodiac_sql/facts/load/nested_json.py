"""Lists and objects in zodiac_rows, as JSON -> the columns that are wanted, and lists as rows.

The rules are those of nested_arrow.py. A part that an object lacks is an empty cell, and so is each
part of a value that is no object. Rows with lists that are to be read side by side, and differ in
length, are bad.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from zodiac_sql.database.statements import create_temp, rename, temp_table
from zodiac_sql.facts.load import cells
from zodiac_sql.facts.load.options import Options
from zodiac_sql.facts.load.table_file import ROWS, TableFile
from zodiac_sql.facts.nested_names import Spot, levels, spot_of
from zodiac_sql.names import NUMBER

MACROS = """
-- A value of JSON, or NULL for null.
CREATE OR REPLACE TEMP MACRO zodiac_json(v) AS nullif(CAST(v AS VARCHAR), 'null');

CREATE OR REPLACE TEMP MACRO zodiac_length(v) AS
    CASE WHEN v IS NULL THEN NULL WHEN json_type(v) = 'ARRAY' THEN json_array_length(v) ELSE 1 END;

-- The elements of a list. If it is missing, there is an empty one if no list beside it is there.
CREATE OR REPLACE TEMP MACRO zodiac_elements(v, alone) AS
    CASE WHEN v IS NULL THEN CASE WHEN alone THEN [NULL::JSON] ELSE []::JSON[] END
         WHEN json_type(v) = 'ARRAY' THEN json_extract(v, '$[*]') ELSE [CAST(v AS JSON)] END;
"""

_REMADE = "zodiac_remade"


def is_nested(columns: Collection[str], options: Options) -> bool:
    """Whether options name lists to explode, or what is inside columns."""
    return bool(options.explode) or any(name not in columns for name in options.columns or ())


def reached_into(columns: Sequence[str], options: Options) -> set[str]:
    """The columns that are exploded, or that names may reach into."""
    inside = [*(options.columns or ()), *options.explode]
    return {
        column
        for column in columns
        if column in options.explode or any(name.startswith(f"{column}.") for name in inside)
    }


def unnested(table: TableFile, options: Options) -> TableFile:
    """The table with the columns that are wanted, by the names that they get, and lists as rows.

    Raises DataError if there is no such column.
    """
    table.store.run(MACROS)
    for lists in levels(options.explode):
        table = _with_spots(table, lists)
        table = _exploded(_without_uneven(table, lists), lists)
    taken = options.columns or {name: name for name in table.names}
    return _remade(
        table,
        {new: _at(_spot(table, old)) for old, new in taken.items()},
        {new: table.syntaxes.get(old, cells.JSON) for old, new in taken.items()},
    )


def _with_spots(table: TableFile, names: Sequence[str]) -> TableFile:
    """The table with what is inside its columns as columns of their own."""
    new = {name: _at(_spot(table, name)) for name in names if name not in table.names}
    if not new:
        return table
    kept = {name: _column(name) for name in table.names}
    return _remade(table, kept | new, {**table.syntaxes, **dict.fromkeys(new, cells.JSON)})


def _exploded(table: TableFile, lists: Sequence[str]) -> TableFile:
    """The table with a row for each element of the lists in some columns, side by side."""
    alone = exp.func("coalesce", *map(_column, lists)).is_(exp.null())
    made = {name: _column(name) for name in table.names}
    for name in lists:
        elements = _func("zodiac_elements", _column(name), alone)
        made[name] = _func("zodiac_json", _func("unnest", elements))
    return _remade(table, made, table.syntaxes)


def _without_uneven(table: TableFile, lists: Sequence[str]) -> TableFile:
    """The table without the rows in which lists differ in length; it knows which these were."""
    if len(lists) == 1:
        return table
    lengths = [_func("zodiac_length", _column(name)) for name in lists]
    known = exp.func("coalesce", *lengths)
    fault = exp.or_(*(exp.func("coalesce", own.neq(known), exp.false()) for own in lengths))
    said = f"the lists in {' and '.join(lists)} are not of the same length"
    count, found = table.refused({lists[0]: fault}, lambda *_: said)
    if not count:
        return table
    table.drop([fault], whole=True)
    uneven = (*table.uneven, *found)
    return replace(table, uneven=uneven, uneven_count=table.uneven_count + count)


def _spot(table: TableFile, name: str) -> Spot:
    """The spot that a name means. Raises DataError."""

    def inside(spot: Spot) -> Collection[str]:
        keys = _func("unnest", _func("json_keys", _at(spot))).as_("key")
        found = exp.select(keys).distinct().from_(temp_table(ROWS))
        names = sorted(key for (key,) in table.store.rows(found))
        some = exp.select(exp.Count(this=_at(spot))).from_(temp_table(ROWS))
        return names if names or table.store.count(some) else _Any()

    return spot_of(table.file.path, name, table.names, inside)


class _Any(frozenset[str]):
    """The parts of objects of which there are none at all: any may come."""

    def __contains__(self, name: object) -> bool:
        return True


def _at(spot: Spot) -> exp.Expr:
    """The value at a spot."""
    value = _column(spot.column)
    for part in spot.parts:
        escaped = part.replace("\\", "\\\\").replace('"', '\\"')
        path = f'$."{escaped}"' if part else "/"
        value = _func("json_extract", value, exp.Literal.string(path))
    return _func("zodiac_json", value) if spot.parts else value


def _column(name: str) -> exp.Expr:
    return exp.column(name, quoted=True)


def _func(name: str, *given: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=[one.copy() for one in given])


def _remade(
    table: TableFile, columns: Mapping[str, exp.Expr], syntaxes: Mapping[str, cells.Syntax]
) -> TableFile:
    """The table with other columns. They have the numbers of rows in the file beside them."""
    number = exp.column(NUMBER, quoted=True) if table.numbered else exp.column("rowid") + 1
    picked = [value.as_(name, quoted=True) for name, value in columns.items()]
    rows = exp.select(*picked, number.as_(NUMBER, quoted=True)).from_(temp_table(ROWS))
    table.store.run(create_temp(_REMADE, rows))
    table.store.run(exp.Drop(tables=[temp_table(ROWS)], kind="TABLE"))
    table.store.run(rename(temp_table(_REMADE), ROWS))
    return replace(table, syntaxes=syntaxes, numbered=True)
