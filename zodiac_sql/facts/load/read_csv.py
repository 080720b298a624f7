"""CSV and TSV -> zodiac_rows, whose columns are texts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

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
    if delimiter is None and options.decimal == ",":
        delimiter = _beside_commas(file, options.header)
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
        read: dict[str, Any] = {
            "path": file.unglobbed,
            "delimiter": delimiter,
            "quote": "'" if quote == "'" != options.thousands else '"',
            "columns": dict.fromkeys(names, "VARCHAR"),
            "header": options.header,
            "nulls": options.null_string or "",
        }
        rows = _read_rows(store, outside, read)
    if options.header:
        wider = [text for _, text, message in rows if _is_wider(message)]
        widths = [_width(text, read["delimiter"], read["quote"]) for text in wider]
        _require_width(store, file, names, widths)
    rejected = tuple(
        Skipped(line, text.strip("\r\n"), message.splitlines()[0]) for line, text, message in rows
    )
    table = _table(store, file, suffix, options, names, rejected)
    is_single = read["quote"] == "'"
    return replace(table, notes=(f"{file.path}: {_SINGLE}",)) if is_single else table


def _table(
    store: Store,
    file: SourceFile,
    suffix: str,
    options: Options,
    names: Sequence[str],
    rejected: tuple[Skipped, ...] = (),
) -> TableFile:
    syntax = replace(cells.CSV, marks=cells.Marks(options.decimal, options.thousands))
    return TableFile(
        store,
        file,
        suffix,
        dict.fromkeys(names, syntax),
        rejected,
        named=options.header or bool(options.columns),
        header=options.header,
    )


def _require_first(file: SourceFile, before: int, names: Sequence[str]) -> None:
    """Refuse a file whose names of columns are not in its first line, where read_csv takes them."""
    if before:
        stand = "a line stands" if before == 1 else f"{before} lines stand"
        raise DataError(
            f"{file.path}: line {file.line(before + 1)} seems to name the columns "
            f"({', '.join(names)}), but {stand} before it, empty, a comment or of another width. "
            "The first line must name them: take out what is before it, or say "
            f"skip={file.line(before + 1) - 1}. Nothing was loaded."
        )


def _require_width(
    store: Store, file: SourceFile, names: Sequence[str], wider: Sequence[int]
) -> None:
    """Refuse a file whose first line has fewer cells than most others: a title, no header.

    `wider` has the width of each line that has more cells. If these differ, or lines fit a first
    line of several cells, it is a header, and the wider lines are bad: texts in them hold
    separators without quotation marks.
    """
    if len({*wider}) != 1:
        return
    fit = store.count(exp.select(exp.Count(this=exp.Star())).from_(temp_table(ROWS)))
    if not fit or (len(names) == 1 and len(wider) > fit):
        raise DataError(
            f"{file.path}: line {file.line(1)} ({shortened(', '.join(names))}) does not name the "
            f"columns: it has {len(names)} of them, and most lines have more. The first line must "
            "name them: take out what is before it, or say how many lines these are, such as "
            "skip=1; if none names them, say header=False, or --no-header. If their decimals have "
            'a comma, and ; separates cells, say decimal="," and delimiter=";". Nothing was loaded.'
        )


def _is_wider(message: str) -> bool:
    """Whether a line was refused because it has more cells than the first."""
    found = _WIDTH.search(message)
    return found is not None and int(found[2]) > int(found[1])


_WIDTH = re.compile(r"Expected Number of Columns: ([0-9]+) Found: ([0-9]+)")
"""DuckDB stops at the first cell too many, so this does not tell how many there are."""


def _width(line: str, delimiter: str, quote: str) -> int:
    """How many cells a line has. Those in quotation marks may hold separators."""
    return re.sub(f"{quote}[^{quote}]*{quote}", "", line).count(delimiter) + 1


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


def _beside_commas(file: SourceFile, header: bool) -> str:
    """What separates cells whose decimals have commas, by the first line."""
    with file.data.open("rb") as data:
        line = data.readline(_LONGEST_FIRST_LINE).decode(errors="replace")
    bare = re.sub('"[^"]*"', "", line)
    found = max(";\t|", key=bare.count)
    if found not in bare and "," in bare and (header or '"' in line):
        return ","
    return found


_LONGEST_FIRST_LINE = 1 << 20


def _read_rows(
    store: Store, outside: Store, options: Mapping[str, object]
) -> list[tuple[int, str, str]]:
    """Create zodiac_rows, and return the lines that read_csv refused, each with a reason."""
    read_into(store, outside, ROWS, _READ_CSV, options)
    return outside.rows(
        "SELECT line, any_value(csv_line), any_value(error_message) FROM temp.zodiac_rejected"
        " GROUP BY line ORDER BY line"
    )
