"""CSV and TSV -> zodiac_rows, whose columns are texts."""

from __future__ import annotations

from zodiac_sql.database.other_connections import connect_outside
from zodiac_sql.database.store import Store
from zodiac_sql.facts.load import cells
from zodiac_sql.facts.load.lines import read_into
from zodiac_sql.facts.load.result import Skipped
from zodiac_sql.facts.load.source import SourceFile
from zodiac_sql.facts.load.table_file import ROWS, TableFile

_SNIFF = """
SELECT Delimiter, Quote, list_transform(Columns, lambda c: c.name)
FROM sniff_csv($path, compression = 'none', header = true, ignore_errors = true,
               max_line_size = 16777216, buffer_size = 33554432, auto_type_candidates = ['VARCHAR'])
"""
_SNIFF_TSV = _SNIFF.replace("header = true", "header = true, delim = chr(9)")

_READ_CSV = """
SELECT * FROM read_csv($path, compression = 'none', columns = $columns, delim = $delimiter,
                       quote = $quote, escape = $quote, header = true, auto_detect = false,
                       max_line_size = 16777216, buffer_size = 33554432,
                       allow_quoted_nulls = false, store_rejects = true,
                       rejects_table = 'zodiac_rejected', rejects_scan = 'zodiac_rejected_scan')
"""


def read_csv(store: Store, file: SourceFile, suffix: str) -> TableFile:
    """Create zodiac_rows. DuckDB detects how the cells are separated and quoted."""
    sniff = _SNIFF_TSV if suffix == ".tsv" else _SNIFF
    with connect_outside(store) as outside:
        ((delimiter, quote, names),) = outside.rows(sniff, {"path": file.unglobbed})
        rows = _read_rows(store, outside, file, delimiter, quote, names)
    rejected = tuple(
        Skipped(line, text.strip("\r\n"), message.splitlines()[0]) for line, text, message in rows
    )
    return TableFile(store, file, suffix, dict.fromkeys(names, cells.CSV), rejected)


def _read_rows(
    store: Store, outside: Store, file: SourceFile, delimiter: str, quote: str, names: list[str]
) -> list[tuple[int, str, str]]:
    """Create zodiac_rows, and return the lines that read_csv refused, each with a reason."""
    options = {
        "path": file.unglobbed,
        "delimiter": delimiter,
        "quote": "'" if quote == "'" else '"',
        "columns": dict.fromkeys(names, "VARCHAR"),
    }
    read_into(store, outside, ROWS, _READ_CSV, options)
    return outside.rows(
        "SELECT line, any_value(csv_line), any_value(error_message) FROM temp.zodiac_rejected"
        " GROUP BY line ORDER BY line"
    )
