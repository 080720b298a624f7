"""Parquet -> zodiac_rows -> staged facts, by way of Arrow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from zodiac_sql.database.statements import create_temp
from zodiac_sql.database.store import Store
from zodiac_sql.errors import DataError
from zodiac_sql.facts.arrow_types import without_row_numbers
from zodiac_sql.facts.load import cells
from zodiac_sql.facts.load.options import Options
from zodiac_sql.facts.load.prepare import notes_on, require_columns
from zodiac_sql.facts.load.pruned import of_predicate, pruned
from zodiac_sql.facts.load.result import Loaded
from zodiac_sql.facts.load.source import SourceFile
from zodiac_sql.facts.load.table_file import ROWS, TableFile, count_facts, is_empty
from zodiac_sql.facts.rows import as_arrow
from zodiac_sql.facts.stage import SourceTable, stage_table
from zodiac_sql.language.schema import Predicate

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq


def load_parquet(
    store: Store,
    file: SourceFile,
    name: str,
    known: Predicate | None,
    skip_bad: bool,
    options: Options,
) -> Loaded:
    """Stage Parquet as an Arrow table. pyarrow compares checksums if the file has them."""
    import pyarrow as pa

    try:
        source = _opened(file)
        names = source.schema_arrow.names
        _require_different(file, names)
        told = (pruned if options.prunes else of_predicate)(options, file.path, names, known)
        options = told.options
        taken = options.columns or {
            column: column for column in without_row_numbers(name, source.schema_arrow, known)
        }
        require_columns(file.path, names, [*taken])
        some = None if len(taken) == len(names) else [*taken]
        read = source.iter_batches(_BATCH_ROWS, columns=some)
        fields = [source.schema_arrow.field(old).with_name(new) for old, new in taken.items()]
        schema = pa.schema(fields)
        fills = _fills(file, schema, options.fills or {})
        batches = (_filled(_validated(batch), [*taken], schema, fills) for batch in read)
        reader = pa.RecordBatchReader.from_batches(schema, batches)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise DataError(f"{file.path} cannot be read: {error}") from None
    untyped = _copied(store, name, reader, known)
    table = TableFile(store, file, ".parquet", dict.fromkeys(schema.names, cells.CSV))
    empty, gaps = table.gaps() if skip_bad or options.skips_rows else (0, [])
    if empty:
        table.drop(list(map(is_empty, table.names)))
    rows = SourceTable(ROWS, True, untyped, table.place)
    staged = stage_table(store, name, rows, known, widens=options.widens)
    facts = count_facts(store, staged)
    if options.skips_rows:
        return Loaded((staged,), facts, notes=(*told.notes, *notes_on(file.path, empty)))
    return Loaded((staged,), facts, tuple(gaps), empty, told.notes)


def _require_different(file: SourceFile, names: Sequence[str]) -> None:
    twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if twice is not None:
        raise DataError(
            f"{file.path} has two columns called {twice}. Give them different names. Nothing was "
            "loaded."
        )


def _opened(file: SourceFile) -> pq.ParquetFile:
    import pyarrow.parquet as pq

    return pq.ParquetFile(
        file.data,
        page_checksum_verification=True,
        coerce_int96_timestamp_unit="us",
        pre_buffer=False,  # else Arrow keeps what it has read to the end: 660 MB of 10 GB
    )


def _copied(
    store: Store, name: str, reader: pa.RecordBatchReader, known: Predicate | None
) -> tuple[str, ...]:
    """Copy rows into a temporary table, and return the columns without a type."""
    offered = as_arrow(name, reader, known)
    assert offered is not None  # only an empty list would give None
    with store.offered(ROWS + "_offered", offered.data):
        store.run(create_temp(ROWS, exp.select(exp.Star()).from_(exp.to_table(ROWS + "_offered"))))
    return offered.untyped


def _fills(file: SourceFile, schema: pa.Schema, given: Mapping[str, object]) -> dict[str, object]:
    """The values of empty cells, in the types of their columns. Raises DataError."""
    import pyarrow as pa

    require_columns(file.path, schema.names, [*given])
    found: dict[str, object] = {}
    for name, value in given.items():
        type_ = schema.field(name).type
        try:
            found[name] = made = pa.scalar(value, type_)
            if made.as_py() != value or isinstance(value, bool) != pa.types.is_boolean(type_):
                raise ValueError  # it rounds fractions to integers
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            raise DataError(
                f"{file.path}: column {name} has the type {type_}, and {value!r} is none of its "
                "values. Nothing was loaded."
            ) from None
    return found


def _filled(
    batch: pa.RecordBatch, names: Sequence[str], schema: pa.Schema, fills: Mapping[str, object]
) -> pa.RecordBatch:
    """The columns of a batch in another order and by other names, with values in empty cells."""
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = [
        pc.fill_null(batch.column(old), fills[field.name])
        if field.name in fills
        else batch.column(old)
        for old, field in zip(names, schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


_BATCH_ROWS = 122_880
"""The number of rows in a row group of DuckDB."""


def _validated(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A batch whose texts are checked to be UTF-8: those of a damaged file may not be."""
    batch.validate(full=True)
    return batch
