"""CSV, TSV, Parquet and JSON -> Staged facts of one predicate.

    CSV     -> zodiac_rows: texts -> a type for each column (cells.py) -> zodiac_cells: values
    JSON    -> the same, but for columns whose cells are all of one type: they are read as values
    Parquet -> Arrow, by pyarrow  -> zodiac_rows

The first line of CSV and TSV names the columns. The types are found by looking at all rows, except
where the predicate's are known; text that is no ISO date stays text. A cell that is empty, and not
quoted, is a missing value, and a fact has none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sqlglot import exp

from zodiac_sql.database.column_types import TEXT_TYPES
from zodiac_sql.database.other_connections import connect_outside
from zodiac_sql.database.statements import create_temp, create_temp_view, drop_view, temp_table
from zodiac_sql.database.store import Store
from zodiac_sql.errors import DataError
from zodiac_sql.facts.load import cells
from zodiac_sql.facts.load.bounds import check_decimals, check_decimals_of_lines, check_nesting
from zodiac_sql.facts.load.lines import READ_LINES, read_into, reading, true_lines
from zodiac_sql.facts.load.result import SHOWN, Loaded, Skipped, listed
from zodiac_sql.facts.load.source import SourceFile, check_lines
from zodiac_sql.facts.rows import as_arrow
from zodiac_sql.facts.stage import scratch, stage_table
from zodiac_sql.language.schema import Predicate, Staged, default_columns
from zodiac_sql.language.syntax import Type

_JSON_FORMATS = {".jsonl": "newline_delimited", ".ndjson": "newline_delimited", ".json": "auto"}

if TYPE_CHECKING:
    import pyarrow as pa

SUFFIXES = (".csv", ".tsv", ".parquet", *_JSON_FORMATS)

ROWS = "zodiac_rows"
CELLS = "zodiac_cells"

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
_DESCRIBE_JSON = """
SELECT * FROM read_json($path, format = $format, compression = 'uncompressed', sample_size = -1,
                        ignore_errors = $ignore, maximum_depth = 2, map_inference_threshold = -1)
LIMIT 0
"""
_READ_JSON = """
SELECT * FROM read_json($path, format = $format, compression = 'uncompressed', columns = $columns,
                        ignore_errors = $ignore)
"""


def load_table(
    store: Store,
    file: SourceFile,
    suffix: str,
    name: str | None,
    known: Mapping[str, Predicate],
    skip_bad: bool,
) -> Loaded:
    """Stage the rows of a file as facts of the predicate `name`, by default the file's name.

    Raises DataError.
    """
    name = name or _name_of(file.path)
    predicate = known.get(name)
    with scratch(store, ROWS), reading(str(file.path)):
        if suffix == ".parquet":
            return _load_parquet(store, file, name, predicate, skip_bad)
        store.run(cells.MACROS)
        if suffix != ".json":
            check_lines(file)
        if suffix in _JSON_FORMATS:
            table = _read_json(store, file, suffix, predicate, skip_bad)
            return _load_rows(table, name, predicate, skip_bad)
        table = _read_csv(store, file, suffix)
        loaded = _load_rows(table, name, predicate, skip_bad)
        types = [column.type for column in loaded.staged[0].columns]
        return replace(loaded, notes=_on_header(file.path, table.names, types, predicate))


def _load_rows(table: _TableFile, name: str, predicate: Predicate | None, skip_bad: bool) -> Loaded:
    """Stage the cells in zodiac_rows, but for the rows that are refused."""
    store = table.store
    typing = _typed(table, predicate)
    misfits, shown = table.misfits(typing) if typing.doubtful else (0, [])
    bad = _by_line([*table.rejected, *shown])
    count = len(table.rejected) + misfits
    if bad and not skip_bad:
        lines = "line" if count == 1 else "lines"
        raise DataError(
            f"{table.file.path}: {count} bad {lines}.\n{listed(bad, count)}\n"
            f"{typing.hint(name)}Nothing was loaded; skip_bad loads the rest."
        )
    if skip_bad:
        empty, gaps = table.gaps()
        bad, count = _by_line([*bad, *gaps]), count + empty
        table.drop([*map(typing.misfit, typing.doubtful), *map(_empty, table.names)])
    store.run(create_temp_view(CELLS, typing.values()))
    try:
        staged = stage_table(
            store, name, CELLS, predicate, named=True, untyped=typing.untyped, place=table.place,
            whole=not table.has_gaps(),
        )  # fmt: skip
    finally:
        store.run(drop_view(CELLS))
    return Loaded((staged,), _count(store, staged), bad[:SHOWN], count)


def _by_line(bad: Sequence[Skipped]) -> tuple[Skipped, ...]:
    return tuple(sorted(bad, key=lambda skipped: skipped.line or 0))


def _count(store: Store, staged: Staged) -> int:
    return store.count(exp.select(exp.Count(this=exp.Star())).from_(temp_table(staged.table)))


def _name_of(path: Path) -> str:
    stem = path.name.split(".")[0]
    if not re.fullmatch(r"[^\W\d]\w*", stem):
        raise DataError(
            f"{path}: the name of the file cannot name a predicate. Give the predicate's name, or "
            "rename the file with letters, digits and _ only."
        )
    return stem


# --- reading ------------------------------------------------------------------------------------


def _read_csv(store: Store, file: SourceFile, suffix: str) -> _TableFile:
    """Create zodiac_rows."""
    sniff = _SNIFF_TSV if suffix == ".tsv" else _SNIFF
    with connect_outside(store) as outside:
        ((delimiter, quote, names),) = outside.rows(sniff, {"path": file.unglobbed})
        rows = _read_rows(store, outside, file, delimiter, quote, names)
    rejected = tuple(
        Skipped(line, text.strip("\r\n"), message.splitlines()[0]) for line, text, message in rows
    )
    return _TableFile(store, file, suffix, dict.fromkeys(names, cells.CSV), rejected)


def _read_rows(
    store: Store, outside: Store, file: SourceFile, delimiter: str, quote: str, names: list[str]
) -> list[tuple[int, str, str]]:
    """Create zodiac_rows; the lines that read_csv refused come back, each with a reason."""
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


def _read_json(
    store: Store, file: SourceFile, suffix: str, known: Predicate | None, skip_bad: bool
) -> _TableFile:
    """Create zodiac_rows: a column is read as values if these are all of one type.

    DuckDB tells so after it has looked at all of them; else each is its text in JSON.
    """
    check_nesting(file)
    format_ = _JSON_FORMATS[suffix]
    ignore = skip_bad and format_ == "newline_delimited"
    source = {"path": file.unglobbed, "format": format_, "ignore": ignore}
    with connect_outside(store) as outside:
        described = outside.run(_DESCRIBE_JSON, source).description or []
        found = {name: _JSON_TYPES.get(str(code), cells.JSON) for name, code, *_ in described}
        settled = _settled(tuple(found), known)
        syntaxes = {name: _suited(syntax, settled.get(name)) for name, syntax in found.items()}
        floats = [name for name, syntax in syntaxes.items() if syntax.type is Type.FLOAT]
        if floats or cells.JSON in syntaxes.values():
            if format_ == "newline_delimited":
                check_decimals_of_lines(outside, file)
            else:
                check_decimals(file)
        _read_cells(store, outside, source, syntaxes)
        if floats and store.count(_count_where(exp.or_(*map(_large, floats)))):
            syntaxes.update(dict.fromkeys(floats, cells.JSON))
            _read_cells(store, outside, source, syntaxes)
    return _TableFile(store, file, suffix, syntaxes)


_JSON_TYPES = {
    "BIGINT": cells.Syntax("", json=False, type=Type.INT),
    "DOUBLE": cells.Syntax("", json=False, type=Type.FLOAT),
    "BOOLEAN": cells.Syntax("", json=False, type=Type.BOOL),
    **dict.fromkeys(("VARCHAR", "DATE", "TIME", "TIMESTAMP"), cells.STRING),
}
"""What DuckDB calls a column of JSON -> how all of its cells are written."""


def _suited(syntax: cells.Syntax, settled: Type | None) -> cells.Syntax:
    """How a column is read: as texts in JSON if its cells are not of the predicate's type."""
    fits: tuple[Type | None, ...] = (None, syntax.type)
    if syntax is cells.STRING:
        fits = (None, Type.SYMBOL, Type.DATE, Type.TIMESTAMP)
    elif syntax.type is Type.INT:
        fits = (None, Type.INT, Type.FLOAT)
    return syntax if settled in fits else cells.JSON


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
    """Whether a double may be an integer that was rounded, which only its text tells; or is NaN."""
    size = exp.func("abs", exp.column(column, quoted=True), dialect="duckdb")
    return exp.not_(size < exp.cast(exp.Literal.number(1 << 53), "DOUBLE"))


def _load_parquet(
    store: Store, file: SourceFile, name: str, known: Predicate | None, skip_bad: bool
) -> Loaded:
    """Parquet goes the way of Arrow tables; pyarrow compares checksums where a file has them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        source = pq.ParquetFile(
            file.data, page_checksum_verification=True, coerce_int96_timestamp_unit="us"
        )
        batches = (_validated(batch) for batch in source.iter_batches(_BATCH))
        reader = pa.RecordBatchReader.from_batches(source.schema_arrow, batches)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise DataError(f"{file.path} cannot be read: {error}") from None
    offered = as_arrow(name, reader, None)
    assert offered is not None  # only an empty list is nothing
    with store.offered(ROWS + "_offered", offered.data):
        store.run(create_temp(ROWS, exp.select("*").from_(exp.to_table(ROWS + "_offered"))))
    names = source.schema_arrow.names
    table = _TableFile(store, file, ".parquet", dict.fromkeys(names, cells.CSV))
    empty, gaps = table.gaps() if skip_bad else (0, [])
    if empty:
        table.drop(list(map(_empty, table.names)))
    staged = stage_table(
        store, name, ROWS, known, named=True, untyped=offered.untyped, place=table.place
    )
    return Loaded((staged,), _count(store, staged), tuple(gaps), empty)


_BATCH = 122_880
"""As many rows as DuckDB keeps together."""


def _validated(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A batch whose texts are UTF-8: a damaged file may hold others."""
    batch.validate(full=True)
    return batch


def _on_header(
    path: Path, names: Sequence[str], types: Sequence[Type | None], known: Predicate | None
) -> tuple[str, ...]:
    """Says that the first line was taken for names, where it may as well be a fact."""
    given = default_columns(len(names)) if known is None else [c.name for c in known.columns]
    values = any(re.match(r"[-+.]?[0-9]|(true|false)$", name, re.IGNORECASE) for name in names)
    if sorted(names) == sorted(given) or not (values or set(types) <= {None, Type.SYMBOL}):
        return ()
    shown = ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
    return (f"{path}: the first line names the columns ({shown}) and is no fact",)


# --- types --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Typing:
    """The columns of zodiac_rows: their types, the kinds of their cells, and those accepted."""

    syntaxes: Mapping[str, cells.Syntax]
    types: Mapping[str, Type | None]
    kinds: Mapping[str, int]
    known: Collection[str]

    @property
    def untyped(self) -> tuple[str, ...]:
        return tuple(name for name, type_ in self.types.items() if type_ is None)

    @property
    def doubtful(self) -> list[str]:
        """The columns with cells that their types do not accept."""
        return [name for name in self.types if self.refused(name)]

    def refused(self, column: str) -> int:
        """The kinds of cells in a column that its type does not accept."""
        kinds = self.kinds[column]
        type_, known = self.types[column], column in self.known
        return kinds & ~self.syntaxes[column].accepted(type_, kinds, known)

    def kind(self, column: str) -> exp.Expr:
        return self.syntaxes[column].kind_of(exp.column(column, quoted=True))

    def misfit(self, column: str) -> exp.Expr:
        """Whether a cell is of a kind that its column does not accept."""
        refused = [bit for bit in range(13) if self.refused(column) >> bit & 1]
        there = exp.column(column, quoted=True).is_(exp.null()).not_()
        return exp.and_(there, self.kind(column).isin(*(1 << bit for bit in refused)))

    def values(self) -> exp.Select:
        """The rows as values."""
        picked = (
            self.syntaxes[name].value(exp.column(name, quoted=True), type_).as_(name, quoted=True)
            for name, type_ in self.types.items()
        )
        return exp.select(*picked).from_(temp_table(ROWS))

    def hint(self, predicate: str) -> str:
        """What would be right, for the columns with cells that are refused."""
        said = []
        for name in self.doubtful:
            type_ = self.types[name]
            why = "of the predicate" if name in self.known else "of the other cells"
            text = f": .decl {predicate}(... {name}: symbol ...) keeps all text as it is"
            said.append(
                f"Column {name} has the type {type_}, {why}. Correct these cells, or declare another "
                f"type before the first facts{'' if type_ is Type.SYMBOL else text}.\n"
            )
        return "".join(said)


def _typed(table: _TableFile, known: Predicate | None) -> _Typing:
    """A type for each column: that of the predicate, or the one that all cells look like."""
    settled = _settled(table.names, known)
    texts = {name: syntax for name, syntax in table.syntaxes.items() if syntax.type is None}
    likely = _kinds(table, dict.fromkeys(texts, 0), some=True)
    open_ = {
        name: likely[name]
        for name, syntax in texts.items()
        if not syntax.all_text(likely[name] if name not in settled else 0)
        and (settled.get(name) is not Type.SYMBOL or syntax is cells.JSON)
    }
    kinds = {
        **{name: 0 if syntax.type else cells.TEXT for name, syntax in table.syntaxes.items()},
        **_kinds(table, open_, some=False),
    }
    types = {
        name: syntax.type or settled.get(name) or syntax.found(kinds[name])
        for name, syntax in table.syntaxes.items()
    }
    return _Typing(table.syntaxes, types, kinds, settled)


def _kinds(table: _TableFile, likely: Mapping[str, int], *, some: bool) -> dict[str, int]:
    """The kinds of cells in columns: in `some` of the rows, or in all."""
    if not likely:
        return {}
    masks = []
    for name, kinds in likely.items():
        cell = exp.column(name, quoted=True)
        kind_of = table.syntaxes[name].kind_of(cell.copy(), kinds)
        kind = exp.case().when(cell.is_(exp.null()).not_(), kind_of)
        masks.append(exp.func("bit_or", kind, dialect="duckdb"))
    rows: exp.Expr = temp_table(ROWS)
    if some:
        rows = exp.select("*").from_(rows).limit(_SOME).subquery("r", copy=False)
    (found,) = table.store.rows(exp.select(*masks).from_(rows))
    return {name: mask or 0 for name, mask in zip(likely, found, strict=True)}


_SOME = 1000
"""The cells of so many rows tell what those of all rows are likely to be."""


def _settled(names: Sequence[str], known: Predicate | None) -> dict[str, Type]:
    """The types that columns have already, by their names in the file."""
    if known is None or len(names) != known.arity:
        return {}
    wanted = [column.name for column in known.columns]
    given = wanted if sorted(wanted) == sorted(names) else names
    return {
        name: column.type
        for name, column in zip(given, known.columns, strict=True)
        if column.type is not None
    }


# --- rows and lines -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _TableFile:
    """A file read into zodiac_rows, and the lines of it that are not there."""

    store: Store
    file: SourceFile
    suffix: str
    syntaxes: Mapping[str, cells.Syntax]
    """How the cells of each column are written, by its name."""
    rejected: tuple[Skipped, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.syntaxes)

    def place(self, row: int) -> str:
        """What a person calls a row of zodiac_rows."""
        line, path = self.lines([row]).get(row), self.file.path
        return f"row {row} of {path}" if line is None else f"line {line} of {path}"

    def lines(self, rows: Sequence[int]) -> dict[int, int]:
        """The lines on which rows stand; none if rows of this file may have several lines each.

        For errors: it reads the file again.
        """
        if self.suffix in (".parquet", ".json") or self._multiline():
            return {}
        header = 0 if self.suffix in _JSON_FORMATS else 1
        gone = [bad.line for bad in self.rejected]
        options = {"path": self.file.unglobbed, "gone": gone, "header": header, "rows": list(rows)}
        with connect_outside(self.store) as outside:
            found = dict(
                outside.rows(
                    "SELECT place, number FROM ("
                    "SELECT row_number() OVER (ORDER BY number) - $header AS place, number"
                    f" FROM (SELECT row_number() OVER () AS number, line FROM ({READ_LINES}))"
                    " WHERE line IS NOT NULL AND number NOT IN (SELECT unnest($gone::BIGINT[])))"
                    " WHERE place IN (SELECT unnest($rows::BIGINT[]))",
                    options,
                )
            )
        true = true_lines(self.file.data, found.values())
        return {row: true[number] for row, number in found.items()}

    def _multiline(self) -> bool:
        """Whether some text holds a line break; in JSON lines none does."""
        if self.suffix in _JSON_FORMATS:
            return False
        pattern = exp.Literal.string("%\n%")
        breaks = [exp.column(name, quoted=True).like(pattern) for name in self.names]
        return bool(breaks) and self.store.count(_count_where(exp.or_(*breaks))) > 0

    def has_gaps(self) -> bool:
        """Whether some row lacks a value."""
        counts = [exp.Count(this=exp.column(name, quoted=True)) for name in self.names]
        (found,) = self.store.rows(
            exp.select(exp.Count(this=exp.Star()), *counts).from_(temp_table(ROWS))
        )
        return len(set(found)) > 1

    def gaps(self) -> tuple[int, list[Skipped]]:
        """How many rows lack a value, and the first of them."""
        return self._refused(
            {name: _empty(name) for name in self.names}, lambda name, *_: f"column {name} is empty"
        )

    def misfits(self, typing: _Typing) -> tuple[int, list[Skipped]]:
        """How many rows hold a cell that its column does not accept, and the first of them."""

        def reason(name: str, text: str, row: int) -> str:
            kind = typing.kind(name)
            one = (
                exp.select(kind)
                .from_(temp_table(ROWS))
                .where(exp.column("rowid").eq(exp.Literal.number(row - 1)))
            )
            why = cells.reason(self.store.count(one), typing.types[name])
            return f"column {name} holds {text}, which {why}"

        return self._refused({name: typing.misfit(name) for name in typing.doubtful}, reason)

    def _refused(
        self, faults: Mapping[str, exp.Expr], reason: Callable[[str, str, int], str]
    ) -> tuple[int, list[Skipped]]:
        """How many rows have one of the faults, which go by columns, and the first of them."""
        condition = exp.or_(*faults.values())
        count = self.store.count(_count_where(condition))
        if not count:
            return 0, []
        first, held = exp.case(), exp.case()
        for name, fault in faults.items():
            first = first.when(fault, exp.Literal.string(name))
            held = held.when(fault, self.written(name))
        texts = [self.written(name) for name in self.names]
        shown = exp.func("concat_ws", exp.Literal.string(","), *texts, dialect="duckdb")
        row = exp.column("rowid") + 1
        query = exp.select(row, first, held, shown).from_(temp_table(ROWS)).where(condition)
        found = self.store.rows(query.order_by("rowid").limit(SHOWN))
        lines = self.lines([row for row, *_ in found])
        return count, [
            Skipped(lines.get(row), text, reason(name, value, row))
            for row, name, value, text in found
        ]

    def written(self, column: str) -> exp.Expr:
        """The cells of a column as the file has them."""
        cell: exp.Expr = exp.column(column, quoted=True)
        if self.syntaxes[column] is cells.STRING:
            cell = exp.func("to_json", cell, dialect="duckdb")
        return exp.cast(cell, "VARCHAR")

    def drop(self, faults: Sequence[exp.Expr]) -> None:
        """Delete the rows with a fault."""
        self.store.run(exp.delete(temp_table(ROWS)).where(exp.or_(*faults)))


def _empty(column: str) -> exp.Expr:
    return exp.column(column, quoted=True).is_(exp.null())


def _count_where(condition: exp.Expr) -> exp.Select:
    return exp.select(exp.Count(this=exp.Star())).from_(temp_table(ROWS)).where(condition)
