"""zodiac_rows with only the columns and rows that the user wants, before cells become values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

from sqlglot import exp

from zodiac_sql.database.statements import create_temp, parameter, rename, temp_table
from zodiac_sql.errors import DataError
from zodiac_sql.facts.chosen_rows import notes_on, require_columns
from zodiac_sql.facts.load import cells
from zodiac_sql.facts.load.infer_types import known_types
from zodiac_sql.facts.load.options import Options
from zodiac_sql.facts.load.table_file import ROWS, TableFile, count_where, is_empty
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.syntax import Type

_CHOSEN = "zodiac_chosen"


def prepared(
    table: TableFile, options: Options, known: Predicate | None
) -> tuple[TableFile, tuple[str, ...]]:
    """The table as the options say, and notes on rows that were left out. Raises DataError."""
    as_they_are = dict(zip(table.names, table.names, strict=True))
    if options.columns and options.header and options.columns != as_they_are:
        table = _chosen(table, options.columns)
    for format_, type_ in (
        (options.date_format, Type.DATE),
        (options.timestamp_format, Type.TIMESTAMP),
    ):
        if format_:
            _read_moments(table, format_, type_, known_types(table.names, known))
    for column, value in (options.fills or {}).items():
        _fill(table, column, value)
    return table, (_skip_rows(table) if options.skips_rows else ())


def _chosen(table: TableFile, columns: Mapping[str, str]) -> TableFile:
    """Only some columns, by other names."""
    require_columns(table.file.path, table.names, [*columns])
    is_multiline = table.multiline()
    picked = (exp.column(old, quoted=True).as_(new, quoted=True) for old, new in columns.items())
    table.store.run(create_temp(_CHOSEN, exp.select(*picked).from_(temp_table(ROWS))))
    table.store.run(exp.Drop(tables=[temp_table(ROWS)], kind="TABLE"))
    table.store.run(rename(temp_table(_CHOSEN), ROWS))
    syntaxes = {new: table.syntaxes[old] for old, new in columns.items()}
    return replace(table, syntaxes=syntaxes, is_multiline=is_multiline)


def _read_moments(table: TableFile, format_: str, type_: Type, known: Mapping[str, Type]) -> None:
    """Write the cells of columns of dates in a format as ISO texts.

    Such a column is one whose cells are all in that format, or which the predicate has as dates.
    """
    for name in table.names:
        cell = exp.column(name, quoted=True)
        found = exp.func("try_strptime", cell, parameter("format"), dialect="duckdb")
        iso = exp.cast(exp.cast(found, "DATE"), "VARCHAR") if type_ is Type.DATE else None
        iso = iso or exp.cast(exp.cast(found, "TIMESTAMP"), "VARCHAR")
        given = {"format": format_}
        others = exp.and_(cell.is_(exp.null()).not_(), found.is_(exp.null()))
        some = exp.Count(this=cell)
        wrong = exp.Count(this=exp.case().when(others, exp.true()))
        counts = exp.select(some, wrong).from_(temp_table(ROWS))
        ((filled, unlike),) = table.store.rows(counts, given)
        if known.get(name) is type_ or (filled and not unlike and name not in known):
            where = found.is_(exp.null()).not_()
            table.store.run(_update(name, iso, where), given)


def _fill(table: TableFile, column: str, value: object) -> None:
    """Put a value into the empty cells of a column. Raises DataError."""
    require_columns(table.file.path, table.names, [column])
    written = _written(table, column, value)
    changed = _update(column, parameter("value"), is_empty(column))
    table.store.run(changed, {"value": written})


def _update(column: str, value: exp.Expr, where: exp.Expr) -> exp.Update:
    """Give the cells of a column another value, where a condition holds."""
    set_ = exp.EQ(this=exp.to_identifier(column, quoted=True), expression=value)
    return exp.Update(this=temp_table(ROWS), expressions=[set_], where=exp.Where(this=where))


def _written(table: TableFile, column: str, value: object) -> object:
    """A value as cells of a column are written."""
    syntax = table.syntaxes[column]
    if syntax.type is None:
        text = str(value).lower() if isinstance(value, bool) else str(value)
        if isinstance(value, float):
            text = syntax.marks.written(value)
        return json.dumps(value, default=str) if syntax is cells.JSON else text
    if type(value) not in _FITTING.get(syntax.type, ()):
        raise DataError(
            f"{table.file.path}: column {column} has the type {syntax.type}, and {value!r} is none "
            "of its values. Nothing was loaded."
        )
    return value


_FITTING = {Type.INT: (int,), Type.FLOAT: (int, float), Type.BOOL: (bool,)}


def _skip_rows(table: TableFile) -> tuple[str, ...]:
    """Leave out the rows that lack a value, and say how many."""
    gaps = [is_empty(name) for name in table.names]
    count = table.store.count(count_where(exp.or_(*gaps)))
    if count:
        table.drop(gaps)
    return tuple(notes_on(table.file.path, count))
