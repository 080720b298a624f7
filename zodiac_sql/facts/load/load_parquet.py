"""Parquet -> zodiac_rows -> staged facts, by way of Arrow."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from zodiac_sql.database.statements import create_temp
from zodiac_sql.database.store import Store
from zodiac_sql.errors import DataError
from zodiac_sql.facts.chosen_rows import chosen_schema, notes_on
from zodiac_sql.facts.load import cells
from zodiac_sql.facts.load.options import Options
from zodiac_sql.facts.load.pruned import of_predicate, pruned
from zodiac_sql.facts.load.result import Loaded
from zodiac_sql.facts.load.source import SourceFile
from zodiac_sql.facts.load.table_file import ROWS, TableFile, count_facts, is_empty
from zodiac_sql.facts.nested_names import tops
from zodiac_sql.facts.rows import Offered, as_arrow
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
    options: Options,
) -> Loaded:
    """Stage Parquet as an Arrow table. pyarrow compares checksums if the file has them."""
    import pyarrow as pa

    try:
        source = _opened(file)
        told = (pruned if options.prunes else of_predicate)(
            options, file.path, options.names_in(source.schema_arrow.names), known
        )
        reader = _reader(file, source, told.options)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise DataError(f"{file.path} cannot be read: {error}") from None
    offered = _copied(store, file, name, reader, known, told.options)
    syntaxes = dict.fromkeys(offered.names, cells.CSV)
    table = TableFile(store, file, ".parquet", syntaxes, numbered=offered.numbered)
    empty, gaps = table.gaps() if options.skip_bad and not options.skips_rows else (0, [])
    if empty:
        table.drop(list(map(is_empty, table.names)), whole=True)
    place = replace(table, numbered=False).place  # who asks has the row of the file
    rows = SourceTable(
        ROWS, True, offered.untyped, place, numbered=offered.numbered, terms=offered.terms
    )
    staged = stage_table(store, name, rows, known, gone=not options.enters, of_file=True)
    if offered.absent:
        staged = replace(staged, absent=staged.absent + offered.absent)
    facts = count_facts(store, staged)
    notes = (*told.notes, *notes_on(file.path, offered.left_out.rows))
    return Loaded((staged,), facts, tuple(gaps), empty, notes)


def _reader(file: SourceFile, source: pq.ParquetFile, options: Options) -> pa.RecordBatchReader:
    """The rows of a file with all columns that its options name. Raises DataError."""
    import pyarrow as pa

    schema, some = source.schema_arrow, None
    chosen_schema(str(file.path), schema, options)
    if options.columns:
        some = tops(schema.names, [*options.columns, *options.explode])
        schema = pa.schema([schema.field(name) for name in some])
    batches = (
        _validated(batch).select(schema.names)
        for batch in source.iter_batches(_BATCH_ROWS, columns=some)
    )
    return pa.RecordBatchReader.from_batches(schema, batches)


def _opened(file: SourceFile) -> pq.ParquetFile:
    import pyarrow.parquet as pq

    return pq.ParquetFile(
        file.data,
        page_checksum_verification=True,
        coerce_int96_timestamp_unit="us",
        pre_buffer=False,  # else Arrow keeps what it has read to the end: 660 MB of 10 GB
    )


def _copied(
    store: Store,
    file: SourceFile,
    name: str,
    reader: pa.RecordBatchReader,
    known: Predicate | None,
    options: Options,
) -> Offered:
    """Copy rows into a temporary table, and return what they were."""
    gone = not options.enters
    offered = as_arrow(name, reader, known, options, str(file.path), gone)
    assert offered is not None  # only an empty list would give None
    with store.offered(ROWS + "_offered", offered.data):
        store.run(create_temp(ROWS, exp.select(exp.Star()).from_(exp.to_table(ROWS + "_offered"))))
    return offered


_BATCH_ROWS = 122_880
"""The number of rows in a row group of DuckDB."""


def _validated(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A batch whose texts are checked to be UTF-8: those of a damaged file may not be."""
    batch.validate(full=True)
    return batch
