"""Streams into a knowledge base: each micro-batch is one change, whatever happens in between."""

from __future__ import annotations

import datetime as dt
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark")

from pyspark.errors import StreamingQueryException
from support import stream_child

from zodiac_sql import KnowledgeBase, SparkError
from zodiac_sql.change.change import Change
from zodiac_sql.spark.streaming import into

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

OpenKb = Callable[..., KnowledgeBase]
Row = dict[str, object]
Sink = Callable[["DataFrame", int], None]

RULES = """
    .decl reading(turbine: symbol, celsius: float)
    hot(X) :- reading(X, T), T > 30.
    pair(X, Y) :- hot(X), hot(Y), X < Y.
"""


@pytest.fixture
def kb(open_kb: OpenKb) -> Iterator[KnowledgeBase]:
    with open_kb() as opened:
        opened.add_rules(RULES)
        yield opened


@dataclass
class Feed:
    """A directory of files, which a stream reads one by one, and a checkpoint."""

    spark: SparkSession
    directory: Path
    schema: str = stream_child.SCHEMA
    files: int = 0
    ids: list[str] = field(default_factory=list)
    checkpoint: str = "checkpoint"

    def add(self, *rows: Row) -> None:
        """One more file: one more micro-batch."""
        write(self.directory / "facts", self.files, *rows)
        self.files += 1

    def read(self) -> DataFrame:
        stream = self.spark.readStream.schema(self.schema).option("maxFilesPerTrigger", 1)
        return stream.json(str(self.directory / "facts"))

    def run(self, sink: Sink, stream: DataFrame | None = None) -> None:
        """Start the query, and let it read all there is."""
        writer = (self.read() if stream is None else stream).writeStream.foreachBatch(sink)
        writer = writer.option("checkpointLocation", str(self.directory / self.checkpoint))
        query = writer.trigger(availableNow=True).start()
        self.ids.append(query.id)
        query.awaitTermination()

    def forget(self, batch: int) -> None:
        """As if Spark had been killed before it noted that its last batch is done."""
        commits = self.directory / self.checkpoint / "commits"
        (commits / str(batch)).unlink()
        (commits / f".{batch}.crc").unlink()


@pytest.fixture
def feed(spark: SparkSession, tmp_path: Path) -> Feed:
    return Feed(spark, tmp_path)


def write(directory: Path, number: int, *rows: Row) -> None:
    """A file of rows; Spark reads files in the order of their times."""
    directory.mkdir(exist_ok=True)
    file = directory / f"{number}.json"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    os.utime(file, (1_700_000_000 + number,) * 2)


def reading(turbine: str, celsius: float, op: str | None = "insert") -> Row:
    return {"turbine": turbine, "celsius": celsius, "op": op}


def facts(kb: KnowledgeBase, predicate: str) -> set[tuple[Any, ...]]:
    return set(kb.table(predicate))


def test_each_batch_is_one_change(kb: KnowledgeBase, feed: Feed) -> None:
    changes: list[Change] = []
    feed.add(reading("a", 31), reading("b", 20))
    feed.add(reading("b", 20, "delete"), reading("b", 32), reading("z", 1, "delete"))
    feed.add(reading("a", 31, "delete"), reading("a", 31), reading("b", 32, "delete"))
    feed.run(into(kb, "reading", operation="op", on_change=changes.append))
    assert [(dict(c.inserted), c.deleted) for c in changes] == [
        ({"reading": 2, "hot": 1}, {}),
        ({"reading": 1, "hot": 1, "pair": 1}, {"reading": 1}),
        ({}, {"reading": 1, "hot": 1, "pair": 1}),
    ]
    assert facts(kb, "reading") == {("a", 31.0)}
    assert kb.position(feed.ids[0]) == 2
    feed.add(reading("c", 40))
    feed.run(into(kb, "reading", operation="op", on_change=changes.append))
    assert dict(changes[-1].inserted) == {"reading": 1, "hot": 1, "pair": 1}
    assert (len(changes), len(set(feed.ids)), kb.position(feed.ids[0])) == (4, 1, 3)
    assert kb.verify()


def test_without_operations_all_rows_are_inserted(kb: KnowledgeBase, feed: Feed) -> None:
    feed.schema = "celsius long, turbine string, at timestamp"
    at = "2024-02-29T12:00:00+02:00"
    feed.add({"turbine": "a", "celsius": 31, "at": at}, {"turbine": "b", "celsius": 2, "at": at})
    kb.add_rules(".decl reads(turbine: symbol, celsius: float, at: timestamp)")
    feed.run(into(kb, "reads"))
    utc = dt.datetime(2024, 2, 29, 10)
    assert facts(kb, "reads") == {("a", 31.0, utc), ("b", 2.0, utc)}


def test_several_predicates_in_one_change(kb: KnowledgeBase, feed: Feed) -> None:
    def parts(df: DataFrame) -> dict[str, DataFrame]:
        return {"reading": df, "runs": df.select("op", "turbine").where("celsius > 0")}

    changes: list[Change] = []
    held = set(feed.spark.sparkContext._jsc.getPersistentRDDs())  # by what ran before
    feed.add(reading("a", 31), reading("b", -1))
    feed.add(reading("a", 31, "delete"))
    feed.run(into(kb, parts, operation="op", on_change=changes.append))
    assert [(dict(c.inserted), c.deleted) for c in changes] == [
        ({"reading": 2, "hot": 1, "runs": 1}, {}),
        ({}, {"reading": 1, "hot": 1, "runs": 1}),
    ]
    assert set(feed.spark.sparkContext._jsc.getPersistentRDDs()) <= held


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ([reading("c", 1), reading("c", 2, "upsert")], "column op holds 'upsert'"),
        ([reading("c", 1), reading("c", 2, None)], "column op is empty (NULL)"),
        ([reading("c", 1), {"op": "insert", "turbine": "d"}], "column celsius is empty (NULL)"),
    ],
)
def test_a_bad_batch_fails_the_query_and_changes_nothing(
    kb: KnowledgeBase, feed: Feed, bad: list[Row], said: str
) -> None:
    feed.add(reading("a", 31))
    feed.add(*bad)
    feed.add(reading("b", 32))
    sink = into(kb, "reading", operation="op")
    with pytest.raises(StreamingQueryException) as caught:
        feed.run(sink)
    assert f"zodiac_sql.errors.DataError: reading: {said}" in str(caught.value)
    assert facts(kb, "reading") == {("a", 31.0)}
    (query,) = kb.sql("SELECT name FROM zodiac.stream").fetchall()[0]
    assert kb.position(query) == 0
    write(feed.directory / "facts", 1, reading("c", 33))  # mended
    feed.run(sink)
    assert facts(kb, "hot") == {("a",), ("b",), ("c",)}
    assert kb.position(query) == 2


def test_a_column_that_is_not_there(kb: KnowledgeBase, feed: Feed) -> None:
    feed.add(reading("a", 31))
    with pytest.raises(StreamingQueryException, match="there is no column kind to tell"):
        feed.run(into(kb, "reading", operation="kind"))
    assert not kb.table("reading")


def test_what_fails_in_spark(kb: KnowledgeBase, feed: Feed) -> None:
    feed.add(reading("a", 31))
    stream = feed.read().selectExpr("turbine", "raise_error('no such turbine') AS celsius")
    with pytest.raises(StreamingQueryException, match=r"SparkError: .*no such turbine"):
        feed.run(into(kb, "reading"), stream)
    assert not kb.table("reading")


def test_a_batch_that_comes_again_is_passed_over(kb: KnowledgeBase, feed: Feed) -> None:
    """It is computed all the same: else the stream could not go on without duplicates."""
    changes: list[Change] = []
    sink = into(kb, "reading", operation="op", on_change=changes.append)

    def run() -> None:
        feed.run(sink, feed.read().dropDuplicates(["turbine"]))

    feed.add(reading("a", 31))
    feed.add(reading("b", 32))
    run()
    feed.forget(1)
    feed.add(reading("a", 50), reading("b", 51), reading("c", 33))
    run()
    assert [dict(change.inserted)["reading"] for change in changes] == [1, 1, 1]
    assert facts(kb, "reading") == {("a", 31.0), ("b", 32.0), ("c", 33.0)}


def test_a_batch_without_rows_is_recorded(kb: KnowledgeBase, feed: Feed) -> None:
    changes: list[Change] = []
    feed.add(reading("a", 1))
    feed.add(reading("b", 31))
    feed.run(
        into(kb, "reading", operation="op", on_change=changes.append),
        feed.read().where("celsius > 30"),
    )
    assert [bool(change) for change in changes] == [False, True]
    assert kb.position(feed.ids[0]) == 1


def test_a_new_checkpoint_begins_anew(kb: KnowledgeBase, feed: Feed) -> None:
    changes: list[Change] = []
    sink = into(kb, "reading", operation="op", on_change=changes.append)
    feed.add(reading("a", 31))
    feed.run(sink)
    feed.add(reading("b", 32))
    feed.checkpoint = "another"
    feed.run(sink)
    assert [dict(change.inserted).get("reading", 0) for change in changes] == [1, 0, 1]
    assert [kb.position(query) for query in feed.ids] == [0, 1]


def test_batches_that_never_came(open_kb: OpenKb, kb: KnowledgeBase, feed: Feed) -> None:
    """Somebody begins a new file, and forgets the checkpoint."""
    feed.add(reading("a", 31))
    feed.run(into(kb, "reading", operation="op"))
    feed.add(reading("b", 32))
    with open_kb() as new:
        new.add_rules(RULES)
        sink = into(new, "reading", operation="op")
        with pytest.raises(StreamingQueryException, match="lacks batch 0"):
            feed.run(sink)
        assert not new.position(feed.ids[0])
        with new.update() as update:
            update.record(feed.ids[0], 0)
        feed.run(sink)
        assert facts(new, "reading") == {("b", 32.0)}


def test_if_on_change_raises_the_change_stays(kb: KnowledgeBase, feed: Feed) -> None:
    told: list[object] = []

    def tell(change: Change) -> None:
        told.append(change.inserted_facts("reading").to_pylist()[0]["turbine"])
        if told == ["a"]:
            raise OSError("the pager is not plugged in")

    feed.add(reading("a", 31))
    feed.add(reading("b", 32))
    with pytest.raises(StreamingQueryException, match="the pager is not plugged in"):
        feed.run(into(kb, "reading", operation="op", on_change=tell))
    feed.run(into(kb, "reading", operation="op", on_change=tell))
    assert told == ["a", "b"]
    assert facts(kb, "pair") == {("a", "b")}


def test_reading_while_the_stream_runs(open_kb: OpenKb, feed: Feed) -> None:
    for number in range(6):
        feed.add(reading(f"t{number}", 31), reading(f"u{number}", 31))
    file = feed.directory / "kb.duckdb"
    with open_kb(file) as kb, open_kb(file) as reader:
        kb.add_rules(RULES)
        writer = feed.read().writeStream.foreachBatch(into(kb, "reading", operation="op"))
        writer = writer.option("checkpointLocation", str(feed.directory / "checkpoint"))
        query = writer.trigger(availableNow=True).start()
        seen = [0]
        while query.isActive or seen[-1] < 12:
            seen.append(len(reader.table("hot")))
        query.awaitTermination()
        assert {n % 2 for n in seen} == {0} and len(set(seen)) > 2
        assert kb.verify()


def test_only_for_streams(kb: KnowledgeBase, spark: SparkSession) -> None:
    with pytest.raises(SparkError, match="comes from no streaming query"):
        into(kb, "p")(spark.range(3), 0)


# --- kills ----------------------------------------------------------------------------------------


def batches() -> list[list[Row]]:
    """Each batch takes back something that the one before it has brought."""
    rows = [[reading(f"t{n}", 31 + n), reading("all", 40 + n)] for n in range(5)]
    for n in range(1, 5):
        rows[n] += [reading("all", 40 + n - 1, "delete"), reading("none", 99, "delete")]
    return rows


def test_a_kill_neither_loses_nor_repeats_a_batch(
    java: None, open_kb: OpenKb, tmp_path: Path
) -> None:
    for number, rows in enumerate(batches()):
        write(tmp_path / "facts", number, *rows)
    with open_kb(tmp_path / "kb.duckdb") as kb:
        kb.add_rules(RULES)
    for moment, batch, published in (("publishing", 1, 0), ("published", 2, 2), ("", 0, 4)):
        assert ended(tmp_path, moment, batch) == (-signal.SIGKILL if moment else 0)
        with open_kb(tmp_path / "kb.duckdb") as kb:
            assert_applied(kb, published)
    told = [json.loads(line) for line in (tmp_path / "changes").read_text().splitlines()]
    assert [number for number, *_ in told] == [0, 1, 2, 3, 4]
    assert [inserted["reading"] for _, inserted, _ in told] == [2] * 5
    assert [deleted.get("reading", 0) for *_, deleted in told] == [0, 1, 1, 1, 1]


def assert_applied(kb: KnowledgeBase, last: int) -> None:
    """The file shows these batches, each applied once, and nothing else."""
    assert kb.sql("SELECT position FROM zodiac.stream").fetchall() == [(last,)]
    turbines = {f"t{n}" for n in range(last + 1)}
    wanted = {(f"t{n}", 31.0 + n) for n in range(last + 1)} | {("all", 40.0 + last)}
    assert facts(kb, "reading") == wanted
    assert facts(kb, "hot") == {(t,) for t in turbines | {"all"}}
    assert kb.verify()


def ended(directory: Path, moment: str, batch: int) -> int:
    """Let a process stream until it is killed, or has come to the end. Returns its status."""
    command = [sys.executable, stream_child.__file__, str(directory), moment, str(batch)]
    with subprocess.Popen(
        command, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as child:
        try:
            told, _ = child.communicate(timeout=400)
        finally:
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)
    print(told.decode()[-3000:])
    return child.returncode
