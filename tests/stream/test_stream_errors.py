"""Updates of a stream that are refused: whose fault it is, what is told, and what comes after."""

from __future__ import annotations

import asyncio
import datetime
import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from zodiac_sql import (
    DataError,
    KnowledgeBase,
    MissingFunctionError,
    ProgramError,
    ResourceError,
    StreamError,
    UpdateQueue,
)
from zodiac_sql.change.change import Change

OpenKb = Callable[..., KnowledgeBase]
Given = dict[str, Any]

RULES = """
    .decl n(x: int)
    .decl day(x: date)
    .decl word(x: symbol)
    twice: twice(Y) :- n(X), Y = X * 2.
    total: total(S) :- AGGREGATE(n(X)) WITH SUM(X) AS S.
    path(X, Y) :- edge(X, Y). path(X, Z) :- path(X, Y), edge(Y, Z).
"""


@pytest.fixture
def kb(open_kb: OpenKb) -> Iterator[KnowledgeBase]:
    def picky(x: str) -> str:
        if x == "bad":
            raise RuntimeError("I do not take bad words")
        return x

    with open_kb() as opened:
        opened.add_rules(RULES)
        opened.register_function("picky", picky)
        opened.add_rules("took(Y) :- word(X), Y = picky(X).")
        opened.insert("edge", [("a", "b")])
        yield opened


def inserted(predicate: str, *rows: Any) -> Given:
    return {"insert": {predicate: list(rows)}}


def failing(*rows: Any) -> Iterator[Any]:
    yield from rows
    raise RuntimeError("the sensor is dead")


def batches(*columns: pa.Array) -> Iterator[pa.RecordBatch]:
    yield pa.record_batch(list(columns), names=["x"])
    raise pa.ArrowInvalid("the file is cut short")


class Torn:
    def __iter__(self) -> Iterator[Any]:
        raise ValueError("a torn page")


WORDS = pa.schema({"x": pa.string()})

BAD: dict[str, Callable[[], Any]] = {
    "what is no update": lambda: {"inserts": {}},
    "another arity": lambda: inserted("n", (1, 2)),
    "another type": lambda: inserted("n", ("x",)),
    "too large an integer": lambda: inserted("n", (2**70,)),
    "an overflow in a rule": lambda: inserted("n", (2**62,)),
    "an overflow in a sum": lambda: inserted("n", *((2**61 + i,) for i in range(9))),
    "nothing": lambda: inserted("n", (None,)),
    "a value of a strange class": lambda: inserted("day", (object(),)),
    "mixed classes": lambda: inserted("day", (datetime.date(2020, 1, 1),), ("x",)),
    "half a character": lambda: inserted("word", ("\ud800",)),
    "a predicate of half a character": lambda: inserted("w\ud800", ("x",)),
    "half a character in rules": lambda: {"add_rules": 'q("\ud800").'},
    "a function that raises": lambda: inserted("word", ("bad",)),
    "no rule": lambda: {"add_rules": "p(X) :- "},
    "an unsafe rule": lambda: {"add_rules": "p(X, Y) :- n(X)."},
    "rows that cannot be read": lambda: {"insert": {"word": Torn()}},
    "an Arrow stream that ends with an error": lambda: {
        "insert": {"word": pa.RecordBatchReader.from_batches(WORDS, batches(pa.array(["x"])))}
    },
    "an Arrow table of dates beyond the calendar": lambda: {
        "insert": {"day": pa.table({"x": pa.array([2**30], pa.date32())})}
    },
    "a column of Arrow that is no fact": lambda: {
        "insert": {"word": pa.table({"x": pa.array([[1]])})}
    },
    "rows of no length": lambda: {"insert": {"n": [1, 2]}},
    "to delete what is no fact": lambda: {"delete": {"n": [(1, 2)]}},
}


@pytest.mark.parametrize("coalesce", [1, 4])
def test_what_is_wrong_with_an_update_has_its_number(kb: KnowledgeBase, coalesce: int) -> None:
    for index, (what, bad) in enumerate(BAD.items()):
        updates = [
            inserted("edge", ("c", f"{index}a")),
            bad(),
            inserted("edge", ("c", f"{index}b")),
        ]
        with pytest.raises(StreamError, match="^update 2: ") as caught:
            list(kb.stream(updates, name=what, coalesce=coalesce))
        assert caught.value.update == 2 and kb.position(what) == 1, what
        updates[1] = bad()
        first, second = kb.stream(updates, name=what, coalesce=coalesce, skip_bad=True)
        assert first.updates == range(2, 3) and first.notes[0].startswith(
            "update 2 was passed over: "
        )
        assert second.updates == range(3, 4) and second.inserted["edge"] == 1, what
        assert kb.position(what) == 3, what
    assert len(kb.table("edge")) == 1 + 2 * len(BAD) and not kb.table("n") and kb.verify()


@pytest.mark.parametrize("coalesce", [1, 3])
def test_the_same_of_an_asynchronous_stream(kb: KnowledgeBase, coalesce: int) -> None:
    async def source() -> AsyncIterator[Any]:
        for bad in BAD.values():
            yield bad()
            yield inserted("word", ("good",))

    async def main() -> list[Change]:
        stream = kb.stream(source(), name="s", coalesce=coalesce, skip_bad=True)
        return [change async for change in stream]

    changes = asyncio.run(main())
    assert sum(bool(change.notes) for change in changes) == len(BAD)
    assert kb.position("s") == 2 * len(BAD) and set(kb.table("took")) == {("good",)}


def test_one_bad_update_takes_no_other_with_it(kb: KnowledgeBase) -> None:
    updates = [inserted("n", (i,)) for i in range(6)]
    updates[3] = inserted("n", (2**62,))
    *_, last = kb.stream(updates, name="s", coalesce=6, skip_bad=True)
    assert last.updates.stop == 7 and set(kb.table("n")) == {(i,) for i in (0, 1, 2, 4, 5)}


@pytest.mark.parametrize("marking", ["bf_marking", "dred_marking"])
def test_what_cannot_be_looked_at_ahead_waits_for_its_turn(open_kb: OpenKb, marking: str) -> None:
    with open_kb(strategy=marking) as kb:
        kb.add_rules(RULES)
        kb.insert("n", [(1,)])
        bad = [("\ud800",), (object(),), (datetime.date.max, 1), (None,)]
        for row in bad:
            updates = [inserted("n", (2,)), {"delete": {"n": [row]}}]
            assert next(kb.stream(updates)) is not None
            with pytest.raises(StreamError, match="^update 2: "):
                list(kb.stream(updates))


# --- what is not the update's fault ---------------------------------------------------------------


def full(statement: str, parameters: object) -> None:
    if "edge" in statement:
        raise ResourceError("The disk is full.")


@pytest.mark.parametrize("coalesce", [1, 4])
def test_a_full_disk_is_nothing_to_pass_over(kb: KnowledgeBase, coalesce: int) -> None:
    updates = [inserted("n", (1,)), inserted("edge", ("b", "c")), inserted("n", (2,))]
    stream = kb.stream(updates, name="s", coalesce=coalesce, skip_bad=True)
    kb.trace(full)
    with pytest.raises(ResourceError):
        list(stream)
    kb.trace(None)
    assert kb.position("s") == (1 if coalesce == 1 else None)
    assert list(kb.stream(updates, name="s", skip_bad=True))[-1].updates == range(3, 4)
    assert ("b", "c") in set(kb.table("edge")) and len(kb.table("n")) == 2


def test_a_function_that_is_not_registered_is_nothing_to_pass_over(
    open_kb: OpenKb, tmp_path: Any
) -> None:
    """Else all updates that need it would be gone."""
    with open_kb(tmp_path / "f.duckdb") as kb:
        kb.register_function("up", str.upper, ["symbol"], "symbol")
        kb.add_rules(".decl n(x: int)  up(Y) :- word(X), Y = up(X).")
    with pytest.warns(UserWarning, match="not registered"):
        kb = open_kb(tmp_path / "f.duckdb")
    with kb:
        updates = [inserted("n", (1,)), inserted("word", ("x",)), inserted("n", (2,))]
        with pytest.raises(StreamError, match="^update 2: .* not registered") as caught:
            list(kb.stream(updates, name="s", coalesce=3, skip_bad=True))
        assert isinstance(caught.value.__cause__, MissingFunctionError) and kb.position("s") == 1
        kb.register_function("up", str.upper, ["symbol"], "symbol")
        list(kb.stream(updates, name="s", coalesce=3, skip_bad=True))
        assert set(kb.table("up")) == {("X",)} and len(kb.table("n")) == 2


def test_what_gives_the_rows_may_lack_something(kb: KnowledgeBase) -> None:
    def rows() -> Iterator[tuple[str]]:
        yield ("x",)
        raise OSError("the line is dead")

    with pytest.raises(OSError, match="the line is dead"):
        list(kb.stream([{"insert": {"word": rows()}}], skip_bad=True))
    assert not kb.table("word")


def test_rows_that_can_be_read_once_are_not_lost(kb: KnowledgeBase) -> None:
    """An update that was not applied stays in its queue, and may be tried again."""

    def tried(rows: Iterable[object]) -> UpdateQueue:
        updates = UpdateQueue()
        updates.put({"insert": {"edge": rows}})
        updates.close()
        kb.trace(full)
        with pytest.raises(ResourceError):
            list(kb.stream(updates))
        kb.trace(None)
        return updates

    (change,) = kb.stream(tried(iter([("x", "y")])))
    assert change.inserted["edge"] == 1
    table = pa.table({"s": ["p"], "o": ["q"]})
    with pytest.raises(StreamError, match="read only once"):
        list(kb.stream(tried(table.to_reader())))
    with pytest.raises(RuntimeError, match="the sensor is dead"):  # its own
        updates = UpdateQueue()
        updates.put({"insert": {"edge": failing(("u", "v"))}})
        updates.close()
        list(kb.stream(updates))
    with pytest.raises(StreamError, match="read only once"):
        list(kb.stream(updates))
    assert set(kb.table("edge")) == {("a", "b"), ("x", "y")}


@pytest.mark.parametrize(
    "number", ["1e400", "-1e-400", "1e-99999999999999999999", "9007199254740993.0"]
)
def test_a_number_in_a_file_is_not_rounded(open_kb: OpenKb, tmp_path: Path, number: str) -> None:
    """As in all other files. A float with all digits that it needs, or more of them, is none."""
    lines = tmp_path / "updates.jsonl"
    fine = ["0.1", "0.10000000000000001", "5e-324", "1E5", "0e5"]
    lines.write_text(
        "".join(f'{{"insert": {{"p": [["a", {n}]]}}}}\n' for n in (*fine, number, "2.5"))
    )
    with open_kb() as kb:
        with pytest.raises(StreamError, match="would be rounded") as error:
            list(kb.stream(lines))
        assert "updates.jsonl:6" in str(error.value) and number in str(error.value)
        assert set(kb.table("p")) == {("a", n) for n in (0.1, 5e-324, 1e5, 0.0)}
    with open_kb() as kb:
        *_, passed, last = kb.stream(lines, skip_bad=True)
        assert any("would be rounded" in note for note in passed.notes) and not last.notes
        assert ("a", 2.5) in set(kb.table("p"))


MOMENTS = ".decl seen(t: timestamp) .decl day(d: date)"


@pytest.mark.parametrize(
    ("predicate", "text", "said"),
    [
        ("seen", "2024-01-01T00:00:00.1234567", "is finer than microseconds"),
        ("seen", "2024-01-01T00:00:00.123456789Z", "is finer than microseconds"),
        ("seen", "2024-W01-1", "has the type timestamp, the data have symbol"),
        ("seen", "2024-W01-1T10:00:00", "has the type timestamp, the data have symbol"),
        ("seen", "20240101", "has the type timestamp, the data have symbol"),
        ("seen", "2024-01-01", "has the type timestamp, the data have symbol"),
        ("seen", "2024-01-01T24:00:00", "has the type timestamp, the data have symbol"),
        ("day", "2024-W01-1", "has the type date, the data have symbol"),
        ("day", "20240101", "has the type date, the data have symbol"),
        ("day", "2024-02-30", "has the type date, the data have symbol"),
    ],
)
def test_a_stream_reads_moments_as_files_do(
    predicate: str, text: str, said: str, open_kb: OpenKb, tmp_path: Path
) -> None:
    lines, rows = tmp_path / "updates.jsonl", tmp_path / f"{predicate}.jsonl"
    lines.write_text(json.dumps(inserted(predicate, [text])))
    rows.write_text(json.dumps({"x": text}))
    with open_kb() as kb:
        kb.add_rules(MOMENTS)
        with pytest.raises(StreamError, match=said):
            list(kb.stream(lines))
        with pytest.raises(DataError):
            kb.load(rows)
        name = "dateTime" if predicate == "seen" else "date"
        constant = f'"{text}"^^<http://www.w3.org/2001/XMLSchema#{name}>'
        with pytest.raises(ProgramError):
            kb.query(f"{predicate}(X), X = {constant}")
        assert not kb.table(predicate).num_rows


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2024-01-01T10:20", datetime.datetime(2024, 1, 1, 10, 20)),
        ("2024-01-01 10:20:30.5", datetime.datetime(2024, 1, 1, 10, 20, 30, 500_000)),
        ("2024-01-01T10:20:30.123456000", datetime.datetime(2024, 1, 1, 10, 20, 30, 123_456)),
        ("2024-01-01T10:20:30Z", datetime.datetime(2024, 1, 1, 10, 20, 30)),
        ("2024-01-01T10:20:30+02:00", datetime.datetime(2024, 1, 1, 8, 20, 30)),
        ("2024-01-01T10:20:30-0130", datetime.datetime(2024, 1, 1, 11, 50, 30)),
        ("2024-01-01T10:20:30+02", datetime.datetime(2024, 1, 1, 8, 20, 30)),
    ],
)
def test_moments_that_streams_files_and_rules_read_alike(
    text: str, moment: datetime.datetime, open_kb: OpenKb, tmp_path: Path
) -> None:
    lines, rows = tmp_path / "updates.jsonl", tmp_path / "seen.jsonl"
    lines.write_text(json.dumps(inserted("seen", [text])))
    rows.write_text(json.dumps({"t": text}))
    with open_kb() as kb:
        kb.add_rules(MOMENTS)
        assert [dict(change.inserted) for change in kb.stream(lines)] == [{"seen": 1}]
        assert list(kb.table("seen")) == [(moment,)]
        assert kb.load(rows).inserted == {}
        kb.add_rules(f'seen("{text}"^^<http://www.w3.org/2001/XMLSchema#dateTime>).')
        assert list(kb.table("seen")) == [(moment,)]


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ('{"insert": {"n": [[1]]}, "insert": {"n": [[2]]}}', "insert"),
        ('{"insert": {"n": [[1]], "n": [[2]]}}', "n"),
        ('{"delete": {}, "insert": {"n": [[1]], "day": [], "\\u006e": []}}', "n"),
    ],
)
def test_a_key_that_stands_twice_is_refused(
    line: str, key: str, open_kb: OpenKb, tmp_path: Path
) -> None:
    file = tmp_path / "updates.jsonl"
    file.write_text('{"insert": {"n": [[0]]}}\n' + line)
    with open_kb() as kb:
        with pytest.raises(StreamError, match=f'update 2 .*the key "{key}" stands twice'):
            list(kb.stream(file))
        assert list(kb.table("n")) == [(0,)]
