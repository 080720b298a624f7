"""Parquet -> zodiac_rows -> staged facts, by way of Arrow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from zodiac_sql.database.statements import create_temp
from zodiac_sql.database.store import Store
from zodiac_sql.errors import DataError
from zodiac_sql.facts.load import cells
from zodiac_sql.facts.load.result import Loaded
from zodiac_sql.facts.load.source import SourceFile
from zodiac_sql.facts.load.table_file import ROWS, TableFile, count_facts, is_empty
from zodiac_sql.facts.rows import as_arrow
from zodiac_sql.facts.stage import stage_table
from zodiac_sql.language.schema import Predicate

if TYPE_CHECKING:
    import pyarrow as pa


def load_parquet(
    store: Store, file: SourceFile, name: str, known: Predicate | None, skip_bad: bool
) -> Loaded:
    """Stage Parquet as an Arrow table. pyarrow compares checksums if the file has them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        source = pq.ParquetFile(
            file.data, page_checksum_verification=True, coerce_int96_timestamp_unit="us"
        )
        batches = (_validated(batch) for batch in source.iter_batches(_BATCH_ROWS))
        reader = pa.RecordBatchReader.from_batches(source.schema_arrow, batches)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise DataError(f"{file.path} cannot be read: {error}") from None
    offered = as_arrow(name, reader, None)
    assert offered is not None  # only an empty list would give None
    with store.offered(ROWS + "_offered", offered.data):
        store.run(create_temp(ROWS, exp.select("*").from_(exp.to_table(ROWS + "_offered"))))
    names = source.schema_arrow.names
    table = TableFile(store, file, ".parquet", dict.fromkeys(names, cells.CSV))
    empty, gaps = table.gaps() if skip_bad else (0, [])
    if empty:
        table.drop(list(map(is_empty, table.names)))
    staged = stage_table(
        store, name, ROWS, known, named=True, untyped=offered.untyped, place=table.place
    )
    return Loaded((staged,), count_facts(store, staged), tuple(gaps), empty)


_BATCH_ROWS = 122_880
"""The number of rows in a row group of DuckDB."""


def _validated(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A batch whose texts are checked to be UTF-8: those of a damaged file may not be."""
    batch.validate(full=True)
    return batch
