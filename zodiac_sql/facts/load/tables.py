"""CSV, TSV, Parquet and JSON -> staged facts of one predicate.

    CSV, TSV  read_csv.py      -> zodiac_rows: texts
    JSON      read_json.py     -> zodiac_rows: values if a column's are all of one type, else texts
    Parquet   load_parquet.py  -> zodiac_rows: values, by way of Arrow

    texts in zodiac_rows -> a type for each column (infer_types.py) -> zodiac_cells: values

The first line of CSV and TSV names the columns. If the predicate's types are known, the cells must
fit them; otherwise all rows are read to find the types. Text that is no ISO date stays text. A cell
that is empty and not quoted is a missing value, and is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from zodiac_sql.database.statements import create_temp_view, drop_view
from zodiac_sql.database.store import Store
from zodiac_sql.errors import DataError
from zodiac_sql.facts.load import cells, mixed_cells
from zodiac_sql.facts.load.infer_types import misfits, typed
from zodiac_sql.facts.load.lines import reading
from zodiac_sql.facts.load.load_parquet import load_parquet
from zodiac_sql.facts.load.missing_options import missing_options, notes_on_texts
from zodiac_sql.facts.load.options import Options
from zodiac_sql.facts.load.prepare import prepared
from zodiac_sql.facts.load.pruned import LackingError, pruned
from zodiac_sql.facts.load.read_csv import read_csv
from zodiac_sql.facts.load.read_json import JSON_FORMATS, read_json
from zodiac_sql.facts.load.result import MOST_LISTED, Loaded, Skipped, listed
from zodiac_sql.facts.load.source import SourceFile, check_lines
from zodiac_sql.facts.load.table_file import ROWS, TableFile, count_facts, is_empty
from zodiac_sql.facts.load.table_lines import only_table
from zodiac_sql.facts.stage import SourceTable, scratch, stage_table
from zodiac_sql.language.schema import Predicate, default_columns
from zodiac_sql.language.syntax import Type

SUFFIXES = (".csv", ".tsv", ".parquet", *JSON_FORMATS)

CELLS = "zodiac_cells"
"""The temporary view of zodiac_rows as values."""


def load_table(
    store: Store,
    file: SourceFile,
    suffix: str,
    name: str | None,
    known: Mapping[str, Predicate],
    options: Options,
) -> Loaded:
    """Stage the rows of a file as facts of the predicate `name`, by default the file's name.

    Raises DataError.
    """
    name = name or name_of(file.path)
    predicate = known.get(name)
    with scratch(store, ROWS), reading(str(file.path)):
        if suffix == ".parquet":
            return load_parquet(store, file, name, predicate, options)
        store.run(cells.MACROS)
        if suffix in JSON_FORMATS:
            if suffix != ".json":
                check_lines(file)
            table, told = read_json(store, file, suffix, predicate, options)
            table, notes = prepared(table, told.options, predicate)
            loaded = _load_rows(table, name, predicate, options)
            return replace(loaded, notes=(*told.notes, *notes, *loaded.notes))
        with only_table(file, options) as lines, _hinting(lines, options):
            return _load_csv(store, lines, suffix, name, predicate, options)


@contextmanager
def _hinting(file: SourceFile, options: Options) -> Iterator[None]:
    """Say which options a file may need if it cannot be read."""
    try:
        with reading(str(file.path)):
            yield
    except LackingError:
        raise
    except DataError as error:
        hints = "\n".join(missing_options(file, options))
        if not hints:
            raise
        raise DataError(f"{error}\n{hints}") from error


def _load_csv(
    store: Store,
    file: SourceFile,
    suffix: str,
    name: str,
    predicate: Predicate | None,
    options: Options,
) -> Loaded:
    check_lines(file)
    table = read_csv(store, file, suffix, options, predicate)
    # Its cells are read whole: read_csv finds bad lines only if it is asked for all columns.
    told = pruned(options, file.path, table.names, predicate)
    options = told.options
    table, notes = prepared(table, options, predicate)
    loaded = _load_rows(table, name, predicate, options)
    types = [column.type for column in loaded.staged[0].columns]
    if options.header and not options.columns:
        notes += _on_header(file.path, table.names, types, predicate)
    if not (predicate and predicate.declared) and not {Type.SYMBOL, Type.ANY}.isdisjoint(types):
        notes += tuple(notes_on_texts(file, options, len(table.names)))
    return replace(loaded, notes=(*told.notes, *table.notes, *notes, *loaded.notes))


def _load_rows(
    table: TableFile, name: str, predicate: Predicate | None, options: Options
) -> Loaded:
    """Stage the cells in zodiac_rows, except the rows that are refused.

    Rows to be deleted with cells that the predicate's columns cannot hold are not there.
    """
    store, enters = table.store, options.enters
    typing = typed(table, predicate, enters)
    told = tuple(mixed_cells.notes(table, typing))
    wrong, shown = misfits(table, typing) if typing.doubtful else (0, [])
    absent = 0
    if wrong and not enters and not typing.declared:
        absent, wrong, shown = wrong, 0, []
        table.drop([*map(typing.misfit, typing.doubtful)], whole=True)
    bad = _by_line([*table.rejected_in_file(), *table.uneven, *shown])
    count = len(table.rejected) + table.uneven_count + wrong
    if bad and not options.skip_bad:
        lines = "line" if count == 1 else "lines"
        raise DataError(
            f"{table.file.path}: {count} bad {lines}.\n{listed(bad, count)}\n"
            f"{typing.hint(name)}Nothing was loaded; skip_bad loads the rest."
        )
    if options.skip_bad:
        empty, gaps = table.gaps()
        bad, count = _by_line([*bad, *gaps]), count + empty
        faults = [*map(typing.misfit, typing.doubtful), *map(is_empty, table.names)]
        table.drop(faults, whole=True)
    store.run(create_temp_view(CELLS, typing.values()))
    try:
        source = SourceTable(
            CELLS,
            table.named,
            typing.untyped,
            table.place,
            good=not table.has_gaps(),
            terms=typing.terms,
            zoned=typing.zoned,
        )
        staged = stage_table(store, name, source, predicate, gone=not enters, of_file=True)
    finally:
        store.run(drop_view(CELLS))
    staged = replace(staged, absent=staged.absent + absent) if absent else staged
    return Loaded((staged,), count_facts(store, staged), bad[:MOST_LISTED], count, told)


def _by_line(bad: Sequence[Skipped]) -> tuple[Skipped, ...]:
    return tuple(sorted(bad, key=lambda skipped: skipped.line or 0))


def name_of(path: Path) -> str:
    """The predicate that the rows of a file are facts of. Raises DataError."""
    stem = path.name.split(".")[0]
    if not re.fullmatch(r"[^\W\d]\w*", stem):
        raise DataError(
            f"{path}: the name of the file cannot name a predicate. Give the predicate's name, or "
            "rename the file with letters, digits and _ only."
        )
    return stem


def _on_header(
    path: Path, names: Sequence[str], types: Sequence[Type | None], known: Predicate | None
) -> tuple[str, ...]:
    """A note that the first line was read as names, if it may also be a fact."""
    given = default_columns(len(names)) if known is None else [c.name for c in known.columns]
    values = any(re.match(r"[-+.]?[0-9]|(true|false)$", name, re.IGNORECASE) for name in names)
    if sorted(names) == sorted(given) or not (values or set(types) <= {None, Type.SYMBOL}):
        return ()
    shown = ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
    said = f"{path}: the first line names the columns ({shown}) and is no fact"
    return (f"{said}. If it is one: header=False, or --no-header",)
