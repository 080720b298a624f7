"""JSON and JSON lines -> zodiac_rows, whose columns are values or texts in JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from sqlglot import exp

from zodiac_sql.database.column_types import TEXT_TYPES
from zodiac_sql.database.duckdb_errors import BrokenStreamError
from zodiac_sql.database.other_connections import connect_outside
from zodiac_sql.database.store import Store
from zodiac_sql.errors import DataError, EvaluationError, StoreError, shortened
from zodiac_sql.facts.chosen_rows import require_columns, require_unnumbered
from zodiac_sql.facts.load import cells
from zodiac_sql.facts.load.bounds import check_decimals, check_decimals_of_lines, check_nesting
from zodiac_sql.facts.load.buffers import sized
from zodiac_sql.facts.load.infer_types import known_types
from zodiac_sql.facts.load.lines import READ_LINES, read_into, true_lines
from zodiac_sql.facts.load.nested_json import is_nested, reached_into, unnested
from zodiac_sql.facts.load.no_rows import without_rows
from zodiac_sql.facts.load.options import Options
from zodiac_sql.facts.load.pruned import Pruned, pruned
from zodiac_sql.facts.load.source import SourceFile
from zodiac_sql.facts.load.table_file import ROWS, TableFile, count_where
from zodiac_sql.facts.nested_names import tops
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.syntax import Type

JSON_FORMATS = {".jsonl": "newline_delimited", ".ndjson": "newline_delimited", ".json": "auto"}
"""DuckDB's name for the format of a file, by its suffix."""

_DESCRIBE_JSON = """
SELECT * FROM read_json($path, format = $format, compression = 'uncompressed', sample_size = -1,
                        ignore_errors = $ignore, maximum_depth = 2, map_inference_threshold = -1)
LIMIT 0
"""

_ANY_ROW = """
SELECT 1 FROM read_json($path, format = $format, compression = 'uncompressed',
                        ignore_errors = $ignore) LIMIT 1
"""

_NOTHING = ["json"]
"""The columns that DuckDB finds where there is no row."""

_READ_JSON = """
SELECT * FROM read_json($path, format = $format, compression = 'uncompressed', columns = $columns,
                        ignore_errors = $ignore)
"""


def read_json(
    store: Store,
    file: SourceFile,
    suffix: str,
    known: Predicate | None,
    options: Options,
) -> tuple[TableFile, Pruned]:
    """Create zodiac_rows with the columns that are wanted, and say which these are.

    A column is read as values if all of them have one type. DuckDB finds that type by reading all
    values. Other columns are read as their texts in JSON. Raises DataError if there are no rows,
    and nothing tells its columns.
    """
    check_nesting(file)
    format_ = JSON_FORMATS[suffix]
    ignore = options.skip_bad and format_ == "newline_delimited"
    source = {"path": file.unglobbed, "format": format_, "ignore": ignore}
    with connect_outside(store) as outside, _naming_lines(outside, file, format_):
        described = outside.run(_DESCRIBE_JSON, source).description or []
        found = {name: _JSON_TYPES.get(str(code), cells.JSON) for name, code, *_ in described}
        if [*found] == _NOTHING and not outside.rows(_ANY_ROW, source):
            names = without_rows(store, file, options, known)
            empty = TableFile(store, file, suffix, dict.fromkeys(names, cells.JSON))
            return empty, Pruned(options)
        told = pruned(options, file.path, options.names_in([*found]), known)
        syntaxes = _syntaxes(file, found, told.options, known)
        floats = [name for name, syntax in syntaxes.items() if syntax.type is Type.FLOAT]
        if floats or cells.JSON in syntaxes.values():
            if format_ == "newline_delimited":
                check_decimals_of_lines(outside, file)
            else:
                check_decimals(file)
        _read_cells(store, outside, source, syntaxes)
        if floats and store.count(count_where(exp.or_(*map(_large, floats)))):
            syntaxes.update(dict.fromkeys(floats, cells.JSON))
            _read_cells(store, outside, source, syntaxes)
    table = TableFile(store, file, suffix, syntaxes)
    if not is_nested([*found], told.options):
        return table, told
    return unnested(table, told.options), replace(told, options=replace(told.options, columns=None))


def _syntaxes(
    file: SourceFile,
    found: Mapping[str, cells.Syntax],
    options: Options,
    known: Predicate | None,
) -> dict[str, cells.Syntax]:
    """How the cells of the columns that are read are written."""
    taken = options.columns or {name: name for name in found}
    wanted, names = [*taken, *options.explode], [*found]
    if is_nested(names, options):
        read = tops(names, wanted)
        wanted = [name for name in wanted if not tops(names, [name])]
    else:
        read = [*taken]
    require_columns(file.path, names, wanted)
    require_unnumbered(file.path, names, options)
    reached = reached_into([*found], options)
    types = {
        name: type_
        for name, type_ in known_types([*taken.values()], known).items()
        if type_ is Type.ANY or not options.enters or (known and known.declared)
    }
    return {
        name: cells.JSON
        if name in reached
        else _suited(found[name], types.get(taken.get(name, "")))
        for name in read
    }


@contextmanager
def _naming_lines(outside: Store, file: SourceFile, format_: str) -> Iterator[None]:
    """Name the first line that is no JSON: DuckDB's message has another number, and our SQL."""
    try:
        yield
    except (EvaluationError, StoreError, BrokenStreamError) as error:
        malformed = _MALFORMED.search(str(error))
        if malformed is None or format_ != "newline_delimited":
            raise
        bad = outside.rows(sized(outside, _FIRST_BAD), {"path": file.unglobbed})
        if not bad:
            raise
        (number, text), *_ = bad
        raise DataError(
            f"{file.path}: line {true_lines(file.data, [number])[number]} is no JSON: "
            f"{shortened(text)}  ({malformed[1]}). Nothing was loaded; skip_bad leaves such lines "
            "out."
        ) from None


_MALFORMED = re.compile(r"Malformed JSON in file .*at byte [0-9]+ in [a-z/]+ [0-9]+: ([^.]*)")

_FIRST_BAD = (
    f"SELECT number, line FROM (SELECT row_number() OVER () AS number, line FROM ({READ_LINES}))"
    " WHERE line IS NOT NULL AND NOT json_valid(line) ORDER BY number LIMIT 1"
)

_JSON_TYPES = {
    "BIGINT": cells.Syntax("", json=False, type=Type.INT),
    "DOUBLE": cells.Syntax("", json=False, type=Type.FLOAT),
    "BOOLEAN": cells.Syntax("", json=False, type=Type.BOOL),
    **dict.fromkeys(("VARCHAR", "DATE", "TIME", "TIMESTAMP"), cells.STRING),
}
"""DuckDB's type for a column of JSON -> the syntax of its cells."""


def _suited(syntax: cells.Syntax, known: Type | None) -> cells.Syntax:
    """The syntax of a column: texts in JSON if its cells do not have the predicate's type."""
    fits: tuple[Type | None, ...] = (None, syntax.type)
    if syntax is cells.STRING:
        fits = (None, Type.SYMBOL, Type.DATE, Type.TIMESTAMP)
        fits = (*fits, Type.ANY)
    elif syntax.type is Type.INT:
        fits = (None, Type.INT, Type.DECIMAL, Type.FLOAT, Type.ANY)
    elif syntax.type is Type.BOOL:
        fits = (None, Type.BOOL, Type.ANY)
    return syntax if known in fits else cells.JSON


def _read_cells(
    store: Store,
    outside: Store,
    source: Mapping[str, object],
    syntaxes: Mapping[str, cells.Syntax],
) -> None:
    columns = {
        name: TEXT_TYPES[syntax.type or Type.SYMBOL] if syntax is not cells.JSON else "JSON"
        for name, syntax in syntaxes.items()
    }
    read_into(store, outside, ROWS, _READ_JSON, {**source, "columns": columns})


def _large(column: str) -> exp.Expr:
    """Whether a double is NaN, or may be a rounded integer, which only its text would show."""
    size = exp.func("abs", exp.column(column, quoted=True), dialect="duckdb")
    return exp.not_(size < exp.cast(exp.Literal.number(1 << 53), "DOUBLE"))
