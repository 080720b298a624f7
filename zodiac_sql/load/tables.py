"""CSV, TSV, Parquet and JSON -> Staged facts of one predicate.

The first line of CSV and TSV names the columns. DuckDB finds the types by reading all rows, except
where the predicate's are known; text that is no ISO date stays text. A cell that is empty, and not
quoted, is a missing value, and a fact has none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlglot import exp

from zodiac_sql.errors import DataError
from zodiac_sql.facts import SQL_TYPES, scratch, stage_table
from zodiac_sql.load.lines import LINES, REJECTED, parameters, reading, true_lines, unglobbed
from zodiac_sql.load.result import SHOWN, Loaded, Skipped, listed
from zodiac_sql.rules import Type
from zodiac_sql.schema import Predicate
from zodiac_sql.store import Store
from zodiac_sql.trees import temp_table

_JSON_FORMATS = {".jsonl": "newline_delimited", ".ndjson": "newline_delimited", ".json": "auto"}

SUFFIXES = (".csv", ".tsv", ".parquet", *_JSON_FORMATS)

ROWS = "zodiac_rows"

_SNIFF = """
SELECT Delimiter, Quote, list_transform(Columns, lambda c: c.name),
       list_transform(Columns, lambda c: c.type)
FROM sniff_csv($path, compression = $compression, header = true, sample_size = -1,
               ignore_errors = true, dateformat = '%Y-%m-%d', auto_type_candidates =
               ['BOOLEAN', 'BIGINT', 'DOUBLE', 'DATE', 'TIMESTAMP', 'TIMESTAMPTZ', 'VARCHAR'])
"""
_SNIFF_TSV = _SNIFF.replace("header = true", "header = true, delim = chr(9)")

_READ_CSV = """
CREATE OR REPLACE TEMP TABLE zodiac_rows AS
SELECT * FROM read_csv($path, compression = $compression, columns = $columns, delim = $delimiter,
                       quote = $quote, escape = $quote, header = true, auto_detect = false,
                       allow_quoted_nulls = false, store_rejects = true,
                       rejects_table = 'zodiac_rejected', rejects_scan = 'zodiac_rejected_scan')
"""
_DESCRIBE_JSON = """
SELECT * FROM read_json($path, format = $format, sample_size = -1, ignore_errors = $ignore) LIMIT 0
"""
_READ_JSON = """
CREATE OR REPLACE TEMP TABLE zodiac_rows AS
SELECT * FROM read_json($path, format = $format, columns = $columns, ignore_errors = $ignore)
"""
_READ_PARQUET = "CREATE OR REPLACE TEMP TABLE zodiac_rows AS SELECT * FROM read_parquet($path)"


_ZONED = "TIMESTAMP WITH TIME ZONE"
"""How a column of moments with zones is read: they become UTC when they are staged."""


def load_table(
    store: Store,
    path: Path,
    suffix: str,
    name: str | None,
    known: Mapping[str, Predicate],
    skip_bad: bool,
) -> Loaded:
    """Stage the rows of a file as facts of the predicate `name`, by default the file's name.

    Raises DataError.
    """
    name = name or _name_of(path)
    predicate = known.get(name)
    rejected: tuple[Skipped, ...] = ()
    with scratch(store, ROWS, REJECTED, f"{REJECTED}_scan"), reading(str(path)):
        if suffix in (".csv", ".tsv"):
            rejected = _read_csv(store, path, suffix, predicate)
        elif suffix == ".parquet":
            store.run(_READ_PARQUET, {"path": unglobbed(path)})
        else:
            _read_json(store, path, suffix, predicate, skip_bad)
        file = _TableFile(store, path, suffix, tuple(bad.line or 0 for bad in rejected))
        if rejected and not skip_bad:
            lines = "line" if len(rejected) == 1 else "lines"
            raise DataError(
                f"{path}: {len(rejected)} bad {lines}.\n{listed(rejected, len(rejected))}\n"
                "Nothing was loaded; skip_bad loads the rest."
            )
        count = len(rejected)
        if skip_bad:
            empty, shown = file.drop_empty()
            count += empty
            rejected = tuple(sorted((*rejected, *shown), key=lambda bad: bad.line or 0))
        staged = stage_table(store, name, ROWS, predicate, named=True, place=file.place)
        facts = store.count(exp.select(exp.Count(this=exp.Star())).from_(temp_table(staged.table)))
    return Loaded((staged,), facts, rejected[:SHOWN], count)


def _name_of(path: Path) -> str:
    stem = path.name.split(".")[0]
    if not re.fullmatch(r"[^\W\d]\w*", stem):
        raise DataError(
            f"{path}: the name of the file cannot name a predicate. Give the predicate's name, or "
            "rename the file with letters, digits and _ only."
        )
    return stem


# --- reading ------------------------------------------------------------------------------------


def _read_csv(
    store: Store, path: Path, suffix: str, known: Predicate | None
) -> tuple[Skipped, ...]:
    """Create zodiac_rows; the lines that read_csv refused come back."""
    source = parameters(path)
    sniffed = store.rows(_SNIFF_TSV if suffix == ".tsv" else _SNIFF, source)[0]
    delimiter, quote, names, types = sniffed
    columns = _with_known_types(dict(zip(names, types, strict=True)), known)
    options = {"delimiter": delimiter, "quote": "'" if quote == "'" else '"', "columns": columns}
    store.run(_READ_CSV, {**source, **options})
    rows = store.rows(
        "SELECT line, any_value(csv_line), any_value(error_message) FROM temp.zodiac_rejected"
        " GROUP BY line ORDER BY line"
    )
    return tuple(
        Skipped(line, text.strip("\r\n"), message.splitlines()[0]) for line, text, message in rows
    )


def _read_json(
    store: Store, path: Path, suffix: str, known: Predicate | None, skip_bad: bool
) -> None:
    format_ = _JSON_FORMATS[suffix]
    ignore = skip_bad and format_ == "newline_delimited"
    source = {"path": unglobbed(path), "format": format_, "ignore": ignore}
    described = store.run(_DESCRIBE_JSON, source).description or []
    columns = _with_known_types({name: str(code) for name, code, *_ in described}, known)
    # Read as TIMESTAMP, a moment would lose its zone; one without a zone is read as UTC here.
    columns = {n: _ZONED if t == "TIMESTAMP" else t for n, t in columns.items()}
    store.run(_READ_JSON, {**source, "columns": columns})


def _with_known_types(columns: dict[str, str], known: Predicate | None) -> dict[str, str]:
    """The SQL type to read each column with: that of the predicate, where it has one."""
    if known is None or len(columns) != known.arity:
        return columns
    names = [column.name for column in known.columns]
    by_name = sorted(names) == sorted(columns)
    types = dict(zip(names if by_name else columns, known.columns, strict=True))
    read = dict(columns)
    for name, given in columns.items():
        type_ = types[name].type
        zoned = type_ is Type.TIMESTAMP and given == _ZONED
        if type_ is not None and not zoned:
            read[name] = SQL_TYPES[type_]
    return read


# --- rows and lines -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _TableFile:
    """A file read into zodiac_rows, and the lines of it that are not there."""

    store: Store
    path: Path
    suffix: str
    rejected: tuple[int, ...]

    def place(self, row: int) -> str:
        """What a person calls a row of zodiac_rows."""
        line = self.lines([row]).get(row)
        return f"row {row} of {self.path}" if line is None else f"line {line} of {self.path}"

    def lines(self, rows: Sequence[int]) -> dict[int, int]:
        """The lines on which rows stand; none if rows of this file may have several lines each.

        For errors: it reads the file again.
        """
        if self.suffix in (".parquet", ".json") or self._multiline():
            return {}
        header = 0 if self.suffix in _JSON_FORMATS else 1
        gone = list(self.rejected)
        found = dict(
            self.store.rows(
                "SELECT place, number FROM ("
                "SELECT row_number() OVER (ORDER BY number) - $header AS place, number"
                f" FROM (SELECT row_number() OVER () AS number, line FROM ({LINES}))"
                " WHERE line IS NOT NULL AND number NOT IN (SELECT unnest($gone::BIGINT[])))"
                " WHERE place IN (SELECT unnest($rows::BIGINT[]))",
                {**parameters(self.path), "gone": gone, "header": header, "rows": list(rows)},
            )
        )
        true = true_lines(self.path, found.values())
        return {row: true[number] for row, number in found.items()}

    def _multiline(self) -> bool:
        """Whether some text holds a line break."""
        texts = [name for name, code in self._columns() if str(code) == "VARCHAR"]
        pattern = exp.Literal.string("%\n%")
        breaks = [exp.column(name, quoted=True).like(pattern) for name in texts]
        return bool(breaks) and self.store.count(_count_where(exp.or_(*breaks))) > 0

    def _columns(self) -> list[tuple[str, object]]:
        described = (
            self.store.run(exp.select("*").from_(temp_table(ROWS)).limit(0)).description or []
        )
        return [(name, code) for name, code, *_ in described]

    def drop_empty(self) -> tuple[int, list[Skipped]]:
        """Delete the rows that lack a value: how many they were, and the first of them."""
        names = [name for name, _ in self._columns()]
        empty = exp.or_(*(exp.column(name, quoted=True).is_(exp.null()) for name in names))
        count = self.store.count(_count_where(empty))
        if not count:
            return 0, []
        missing = exp.func(
            "coalesce",
            *(
                exp.case().when(
                    exp.column(name, quoted=True).is_(exp.null()), exp.Literal.string(name)
                )
                for name in names
            ),
        )
        texts = [exp.cast(exp.column(name, quoted=True), "VARCHAR") for name in names]
        shown = exp.func("concat_ws", exp.Literal.string(","), *texts, dialect="duckdb")
        query = (
            exp.select(exp.column("rowid") + 1, missing, shown).from_(temp_table(ROWS)).where(empty)
        )
        found = self.store.rows(query.order_by("rowid").limit(SHOWN))
        lines = self.lines([row for row, _, _ in found])
        self.store.run(exp.delete(temp_table(ROWS)).where(empty))
        return count, [
            Skipped(lines.get(row), text, f"column {name} is empty") for row, name, text in found
        ]


def _count_where(condition: exp.Expr) -> exp.Select:
    return exp.select(exp.Count(this=exp.Star())).from_(temp_table(ROWS)).where(condition)
