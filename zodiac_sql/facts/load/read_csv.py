"""CSV and TSV -> zodiac_rows, whose columns are texts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from zodiac_sql.database.other_connections import connect_outside
from zodiac_sql.database.statements import temp_table
from zodiac_sql.database.store import Store
from zodiac_sql.errors import DataError, shortened
from zodiac_sql.facts.load import cells
from zodiac_sql.facts.load.buffers import BUFFERS, sized
from zodiac_sql.facts.load.lines import read_into
from zodiac_sql.facts.load.no_rows import without_rows
from zodiac_sql.facts.load.options import Options
from zodiac_sql.facts.load.result import Skipped
from zodiac_sql.facts.load.source import SourceFile
from zodiac_sql.facts.load.table_file import ROWS, TableFile
from zodiac_sql.language.schema import Predicate, default_columns

_SNIFF = f"""
SELECT Delimiter, Quote, SkipRows, list_transform(Columns, lambda c: c.name)
FROM sniff_csv($path, compression = 'none', header = $header, ignore_errors = true,
               comment = '', {BUFFERS}, auto_type_candidates = ['VARCHAR'])
"""
"""How cells are separated, how many lines stand before the header, and the names in it. No line is
taken for a comment: read_csv, which takes the first line for the header, would not know of it."""

_SNIFF_DELIMITED = _SNIFF.replace("header = $header", "header = $header, delim = $delimiter")

_READ_CSV = f"""
SELECT * FROM read_csv($path, compression = 'none', columns = $columns, delim = $delimiter,
                       quote = $quote, escape = $quote, header = $header, auto_detect = false,
                       {BUFFERS}, nullstr = $nulls,
                       allow_quoted_nulls = false, store_rejects = true,
                       rejects_table = 'zodiac_rejected', rejects_scan = 'zodiac_rejected_scan')
"""

_SINGLE = (
    "cells like 'x' were read without their single quotation marks. If these belong to the values, "
    "put double ones around them"
)


def read_csv(
    store: Store, file: SourceFile, suffix: str, options: Options, known: Predicate | None
) -> TableFile:
    """Create zodiac_rows. DuckDB detects how the cells are separated and quoted.

    Raises DataError if the file is empty, and nothing tells its columns, or if other lines stand
    before the one that names them.
    """
    if not file.data.stat().st_size:
        names = without_rows(store, file, options, known)
        return _table(store, file, suffix, replace(options, header=False), names)
    delimiter = options.delimiter or ("\t" if suffix == ".tsv" else None)
    given: dict[str, object] = {"path": file.unglobbed, "header": options.header}
    sniff = _SNIFF
    if delimiter is not None:
        sniff, given["delimiter"] = _SNIFF_DELIMITED, delimiter
    with connect_outside(store) as outside:
        ((delimiter, quote, before, names),) = outside.rows(sized(outside, sniff), given)
        if options.header:
            _require_first(file, before, names)
        else:
            names = _names(file, len(names), options, known)
        read = {
            "path": file.unglobbed,
            "delimiter": delimiter,
            "quote": "'" if quote == "'" else '"',
            "columns": dict.fromkeys(names, "VARCHAR"),
            "header": options.header,
            "nulls": options.null_string or "",
        }
        rows = _read_rows(store, outside, read)
    if options.header:
        _require_width(store, file, names, [message for _, _, message in rows])
    rejected = tuple(
        Skipped(line, text.strip("\r\n"), message.splitlines()[0]) for line, text, message in rows
    )
    table = _table(store, file, suffix, options, names, rejected)
    return replace(table, notes=(f"{file.path}: {_SINGLE}",)) if quote == "'" else table


def _table(
    store: Store,
    file: SourceFile,
    suffix: str,
    options: Options,
    names: Sequence[str],
    rejected: tuple[Skipped, ...] = (),
) -> TableFile:
    return TableFile(
        store,
        file,
        suffix,
        dict.fromkeys(names, cells.CSV),
        rejected,
        named=options.header or bool(options.columns),
        header=options.header,
    )


def _require_first(file: SourceFile, before: int, names: Sequence[str]) -> None:
    """Refuse a file whose names of columns are not in its first line, where read_csv takes them."""
    if before:
        stand = "a line stands" if before == 1 else f"{before} lines stand"
        raise DataError(
            f"{file.path}: line {before + 1} seems to name the columns ({', '.join(names)}), but "
            f"{stand} before it, empty, a comment or of another width. The first line must name "
            "them: take out what is before it. Nothing was loaded."
        )


def _require_width(
    store: Store, file: SourceFile, names: Sequence[str], refused: Sequence[str]
) -> None:
    """Refuse a file whose first line has fewer cells than most others: a title, no header."""
    widths = [found.groups() for message in refused if (found := _WIDTH.search(message))]
    wider = sum(int(found) > int(expected) for expected, found in widths)
    if not wider:
        return
    if wider > store.count(exp.select(exp.Count(this=exp.Star())).from_(temp_table(ROWS))):
        raise DataError(
            f"{file.path}: line 1 ({shortened(', '.join(names))}) does not name the columns: it "
            f"has {len(names)} of them, and most lines have more. The first line must name them: "
            "take out what is before it, or if none does, say header=False, or --no-header. "
            "Nothing was loaded."
        )


_WIDTH = re.compile(r"Expected Number of Columns: ([0-9]+) Found: ([0-9]+)")


def _names(
    file: SourceFile, width: int, options: Options, known: Predicate | None
) -> Sequence[str]:
    """The names of columns that no line names: those given, or of the predicate, or the usual."""
    if options.columns:
        if len(options.columns) != width:
            raise DataError(
                f"{file.path} has {width} columns, and {len(options.columns)} are named. Without "
                "a header, `columns` names all of them in order."
            )
        return [*options.columns.values()]
    if known is not None and known.arity == width:
        return [column.name for column in known.columns]
    return default_columns(width)


def _read_rows(
    store: Store, outside: Store, options: Mapping[str, object]
) -> list[tuple[int, str, str]]:
    """Create zodiac_rows, and return the lines that read_csv refused, each with a reason."""
    read_into(store, outside, ROWS, _READ_CSV, options)
    return outside.rows(
        "SELECT line, any_value(csv_line), any_value(error_message) FROM temp.zodiac_rejected"
        " GROUP BY line ORDER BY line"
    )
