"""Structured Streaming into a knowledge base: each micro-batch is one atomic change.

    micro-batch -> Arrow, by one job -> insertions and deletions -> published with its number

After a kill, Spark repeats a batch, with the same rows, unless it had noted that the batch was
done. The file holds the number of the last batch, written in the transaction that published the
batch, so a repeated batch is recognised and passed over. No batch is lost or applied twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from zodiac_sql.errors import DataError, SparkError
from zodiac_sql.spark.require import explained
from zodiac_sql.spark.types import quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from zodiac_sql.change.change import Change
    from zodiac_sql.change.update import Update
    from zodiac_sql.knowledge_base import KnowledgeBase

    Predicates = Callable[[DataFrame], Mapping[str, DataFrame]]
    """Makes a micro-batch into data frames by predicate."""

INSERT = "insert"
DELETE = "delete"


def into(
    kb: KnowledgeBase,
    predicate: str | Predicates,
    *,
    operation: str | None = None,
    on_change: Callable[[Change], None] | None = None,
) -> Callable[[DataFrame, int], None]:
    """A function for `foreachBatch` that applies a stream to a knowledge base, batch by batch.

        query = (stream.writeStream.foreachBatch(into(kb, "hasTemperature", operation="op"))
                 .option("checkpointLocation", directory).start())

    `operation` names the text column that says "insert" or "delete" for each row. Without it all
    rows are inserted. The other columns are the predicate's, matched and typed as by `kb.insert`.
    A fact that a batch both deletes and inserts is there afterwards, whatever the order of the
    rows. Inserting a fact that is there, or deleting one that is not, does nothing.

    For facts of several predicates in one stream, `predicate` is a function that splits a
    micro-batch into data frames by predicate, each with the column `operation`. Together they are
    one change:

        def facts(df):
            return {"runs": df.select("turbine", "op"), "at": df.select("turbine", "site", "op")}
        stream.writeStream.foreachBatch(into(kb, facts, operation="op"))

    `on_change` is called with the `Change` of each batch when it is published. If it raises, the
    query fails, and goes on with the next batch when it is started again. So no change is reported
    twice, and one that was published right before a kill may never be reported.

    `kb.position(query.id)` is the number of the last batch applied. A new checkpoint makes a new
    query, whose batches are all applied. Spark calls the function in a thread of its own: while a
    batch is applied, other calls of `kb` are refused (BusyError), and a batch fails if it comes
    during another call. To read meanwhile, `connect` to the same file once more in this process. A
    micro-batch passes through the memory of the driver: maxFilesPerTrigger, maxOffsetsPerTrigger
    and other options of sources limit its size.

    A batch that is refused changes nothing and fails the query; its StreamingQueryException has
    the reason. DataError: an operation is unknown or NULL, or rows cannot be facts of the
    predicate. SparkError: Spark fails, an earlier batch is missing in the file, or the caller is
    not a streaming query.
    """

    def apply(df: DataFrame, batch: int) -> None:
        with kb._guard.borrowed():
            change = _applied(kb, df, batch, predicate, operation)
            if change is not None and on_change is not None:
                on_change(change)

    return apply


def _applied(
    kb: KnowledgeBase, df: DataFrame, batch: int, predicate: str | Predicates, operation: str | None
) -> Change | None:
    """The change that a micro-batch makes; None if it is in the file already."""
    query = query_of(df)
    skip = (
        " To go on without the missing batches: with kb.update() as u: "
        f"u.record({query!r}, {batch - 1})"
    )
    if not is_new(repr(kb), kb.position(query), query, batch, skip):
        # Compute the batch anyway, because stateful operators need its state for the next one.
        df.write.format("noop").mode("overwrite").save()
        return None
    facts = _facts(df, predicate)
    with kb.update() as update:
        for name, rows in facts.items():
            _collect(update, name, rows, operation)
        update.record(query, batch)  # for an empty batch too, so that no number is ever missing
    return update.change


def query_of(df: DataFrame) -> str:
    """The id of the query of a micro-batch. It stays the same as long as the checkpoint does."""
    known: str | None = df.sparkSession.sparkContext.getLocalProperty("sql.streaming.queryId")
    if known is None:
        raise SparkError(
            "this data frame comes from no streaming query: what into(...) returns is for "
            "writeStream.foreachBatch. (Or the environment variable PYSPARK_PIN_THREAD is false: "
            "then leave it out, or Spark does not tell which query calls.)"
        )
    return known


def is_new(holder: str, position: int | None, query: str, batch: int, skip: str) -> bool:
    """Whether a batch is the next one; False if it was applied already.

    Spark numbers the batches of a query from 0 without gaps. Raises SparkError if there is a gap:
    `holder` is what lacks a batch, and `skip` tells how to go on without it.
    """
    wanted = 0 if position is None else position + 1
    if batch > wanted:
        raise SparkError(
            f"batch {batch} of query {query} cannot follow: {holder} lacks batch {wanted}, and "
            "Spark does not give it again. The checkpoint belongs to another one, or to a later "
            f"state of this one. With a new checkpointLocation the stream begins anew.{skip}"
        )
    return batch == wanted


def _facts(df: DataFrame, predicate: str | Predicates) -> dict[str, pa.Table]:
    """The rows of a micro-batch by predicate. Each data frame is computed once."""
    if isinstance(predicate, str):
        return {predicate: _read(df)}
    df.persist()
    try:
        return {name: _read(frame) for name, frame in predicate(df).items()}
    finally:
        df.unpersist()


def _read(df: DataFrame) -> pa.Table:
    """Collect all rows by one job.

    `kb.insert` of a data frame would run a job for each partition, and stateful streams have
    hundreds of partitions.
    """
    with explained():
        return df.toArrow()


def _collect(update: Update, predicate: str, rows: pa.Table, operation: str | None) -> None:
    """Pass the rows of a predicate to an update, to insert or delete. Raises DataError."""
    if operation is None:
        update.insert(predicate, rows)
        return
    operations = _operations(predicate, rows, operation)
    facts = rows.drop_columns([operation])
    update.insert(predicate, facts.filter(pc.equal(operations, INSERT)))
    update.delete(predicate, facts.filter(pc.equal(operations, DELETE)))


def split(predicate: str, df: DataFrame, operation: str | None) -> dict[str, DataFrame]:
    """The rows to insert and to delete. Raises DataError."""
    from pyspark.sql import functions as F

    if operation is None:
        return {INSERT: df}
    _require_column(predicate, df.columns, operation)
    told = F.col(quoted(operation))
    unknown = df.where(told.isNull() | ~told.isin(INSERT, DELETE)).select(told).head()
    if unknown is not None:
        raise _unknown(predicate, operation, unknown[0])
    return {kind: df.where(told == kind).drop(operation) for kind in (INSERT, DELETE)}


def _operations(predicate: str, rows: pa.Table, column: str) -> pa.ChunkedArray:
    """The operation of each row. Raises DataError."""
    _require_column(predicate, rows.column_names, column)
    operations = rows[column].cast(pa.string())
    for value in operations.unique().to_pylist():
        if value not in (INSERT, DELETE):
            raise _unknown(predicate, column, value)
    return operations


def _require_column(predicate: str, columns: Sequence[str], column: str) -> None:
    if column not in columns:
        raise DataError(
            f"{predicate}: there is no column {column} to tell insertions from deletions. The "
            f"columns are {', '.join(columns)}."
        )


def _unknown(predicate: str, column: str, value: object) -> DataError:
    found = "is empty (NULL)" if value is None else f"holds {value!r}"
    return DataError(
        f"{predicate}: column {column} {found}. It tells what becomes of a row: {INSERT!r} or "
        f"{DELETE!r}."
    )
