"""Streams of updates: `kb.stream`, synchronous and not, and the command `zodiac stream`."""

from __future__ import annotations

import asyncio
import datetime
import io
import json
import os
import queue
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from zodiac_sql import DataError, KnowledgeBase, StreamError, UpdateQueue
from zodiac_sql.change.change import Change
from zodiac_sql.change.streamed_update import StreamedUpdate
from zodiac_sql.cli.main import app
from zodiac_sql.graph.hypergraph import Hypergraph
from zodiac_sql.stream.coalesce import Net
from zodiac_sql.stream.updates import step_of

OpenKb = Callable[..., KnowledgeBase]
Given = dict[str, Any]

PATHS = "path(X, Y) :- edge(X, Y). path(X, Z) :- path(X, Y), edge(Y, Z)."


@pytest.fixture
def kb(open_kb: OpenKb) -> Iterator[KnowledgeBase]:
    """Edges a-b-c, and the paths along them."""
    with open_kb() as opened:
        start(opened)
        yield opened


def start(kb: KnowledgeBase) -> None:
    with kb.update() as update:
        update.add_rules(PATHS)
        update.insert("edge", [("a", "b"), ("b", "c")])


def facts(kb: KnowledgeBase, predicate: str) -> set[tuple[Any, ...]]:
    return set(kb.table(predicate))


def edge(*ends: str) -> Given:
    """An update that inserts edges: edge("ab", "bc")."""
    return {"insert": {"edge": [tuple(pair) for pair in ends]}}


def gone(*ends: str) -> Given:
    return {"delete": {"edge": [tuple(pair) for pair in ends]}}


def numbers(changes: Iterable[Change]) -> list[tuple[int, int]]:
    """The first and last update of each change."""
    return [(change.updates[0], change.updates[-1]) for change in changes]


def waiting(change: Change) -> object:
    return change.stats["stream"]["waiting"]


def soon(true: Callable[[], bool]) -> bool:
    """Whether something comes true in a few seconds."""
    deadline = time.monotonic() + 5
    while not true() and time.monotonic() < deadline:
        time.sleep(0.01)
    return true()


def readers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "zodiac-stream"]


# --- what an update is ----------------------------------------------------------------------------


def test_each_update_is_a_change(kb: KnowledgeBase) -> None:
    updates = [edge("cd"), {}, {**gone("ab", "cd"), **edge("cd")}]
    first, second, third = kb.stream(updates)
    assert [first.updates, second.updates, third.updates] == [range(n, n + 1) for n in (1, 2, 3)]
    assert first.inserted == {"edge": 1, "path": 3}
    assert not second
    assert third.deleted == {"edge": 1, "path": 3}  # what is deleted and inserted is there
    assert facts(kb, "edge") == {("b", "c"), ("c", "d")}


def test_rules_come_and_go(kb: KnowledgeBase) -> None:
    back = "back: back(X, Y) :- edge(Y, X)."
    updates: list[Given] = [
        {"add_rules": back},
        {
            "drop_rules": "back",
            "add_rules": ["back: back(Y) :- edge(X, Y).", "a(X) :- edge(X, _)."],
        },
        {"drop_rules": ["back"], **edge("cd")},
    ]
    sizes = [(len(kb.rules()), len(change.inserted)) for change in kb.stream(updates)]
    assert sizes == [(3, 1), (4, 2), (3, 3)]


def test_a_bad_update_says_what_would_be_right(kb: KnowledgeBase) -> None:
    bad: list[tuple[Any, str]] = [
        ({"inserts": {}}, "no 'inserts': its keys are delete, insert, drop_rules, add_rules"),
        ({"insert": [("a", "b")]}, "insert gives rows by predicate"),
        ({"delete": {"edge": "ab"}}, "delete: edge needs a list of rows"),
        ({"delete": {7: []}}, "a predicate is a text; not 7 (int)"),
        ({"add_rules": 7}, "add_rules is a text or a list of texts; not 7 (int)"),
        (["a", "b"], "an update is an object such as"),
        ({"insert": {"edge": [("a",)]}}, "edge: row 1 has 1 values"),
        ({"add_rules": "p(X) :- "}, "<rules>:1"),
    ]
    for update, said in bad:
        stream = kb.stream([{}, update, edge("de")])
        assert not next(stream)
        with pytest.raises(StreamError) as caught:
            next(stream)
        assert str(caught.value).startswith("update 2: ") and said in str(caught.value)
        assert caught.value.update == 2 and str(caught.value.__cause__) in str(caught.value)
        assert list(stream) == []  # it has ended
    assert len(facts(kb, "edge")) == 2


@pytest.mark.parametrize("coalesce", [1, 4])
def test_an_update_that_overflows_is_refused_by_number(kb: KnowledgeBase, coalesce: int) -> None:
    kb.add_rules("twice: twice(Y) :- n(X), Y = X * 2.")
    updates = [{"insert": {"n": [(number,)]}} for number in (1, 2**62, 3)]
    with pytest.raises(StreamError, match="update 2: rule twice: .* more than 64 bits") as caught:
        list(kb.stream(updates, coalesce=coalesce))
    assert caught.value.update == 2
    last = list(kb.stream(updates, coalesce=coalesce, skip_bad=True))[-1]
    assert last.updates.stop == 4 and facts(kb, "twice") == {(2,), (6,)}


def test_what_is_no_source_is_refused_at_once(kb: KnowledgeBase, tmp_path: Path) -> None:
    for source in ({"insert": {}}, 7, b"{}", tmp_path / "missing.jsonl", tmp_path):
        with pytest.raises(DataError):
            kb.stream(source)  # type: ignore[call-overload]
    for options in ({"coalesce": 0}, {"queue": 0}):
        with pytest.raises(ValueError, match="is at least 1"):
            kb.stream([], **options)
    with pytest.raises(ValueError, match="size of its own"):
        kb.stream(UpdateQueue(), queue=3)


def test_other_errors_pass_as_they_are(kb: KnowledgeBase) -> None:
    def rows() -> Iterator[tuple[str, str]]:
        yield "c", "d"
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        list(kb.stream([{"insert": {"edge": rows()}}]))
    assert len(facts(kb, "edge")) == 2


# --- arrival --------------------------------------------------------------------------------------


def test_a_generator_is_asked_only_when_needed(kb: KnowledgeBase) -> None:
    asked = 0

    def source() -> Iterator[Given]:
        nonlocal asked
        for ends in ("cd", "de", "ef"):
            asked += 1
            yield edge(ends)

    seen = [(asked, waiting(change)) for change in kb.stream(source(), coalesce=5)]
    assert seen == [(1, 0), (2, 0), (3, 0)]


def test_all_of_a_list_has_arrived(kb: KnowledgeBase) -> None:
    changes = list(kb.stream([edge("cd"), edge("de"), edge("ef")]))
    assert [waiting(change) for change in changes] == [2, 1, 0]
    lags = [change.stats["stream"]["lag"] for change in changes]
    assert lags == sorted(lags)  # the last has waited for the others


def test_a_file_of_json_lines(kb: KnowledgeBase, tmp_path: Path) -> None:
    path = tmp_path / "u.jsonl"
    path.write_text('{"insert": {"edge": [["c", "d"]]}}\n\n  \n{"delete": {"edge": [["a", "b"]]}}')
    changes = list(kb.stream(path))
    assert (numbers(changes), [waiting(c) for c in changes]) == ([(1, 1), (2, 2)], [1, 0])
    assert facts(kb, "edge") == {("b", "c"), ("c", "d")}
    with path.open() as file:
        assert len(list(kb.stream(file))) == 2
    assert len(list(kb.stream(io.StringIO(path.read_text())))) == 2


def test_dates_in_json(kb: KnowledgeBase, tmp_path: Path) -> None:
    """They are text there, and read where a column is known to hold them."""
    day, moment = datetime.date(2024, 1, 2), datetime.datetime(2024, 1, 2, 3, 4)
    kb.insert("seen", [("a", day, moment)])
    file = tmp_path / "seen.jsonl"
    lines = [
        {"insert": {"seen": [["b", "2025-02-03", "2025-02-03T04:05:06"]]}},
        {"delete": {"seen": [["a", "2024-01-02", "2024-01-02 03:04:00"]]}},
        {"insert": {"seen": [["c", "2025", "2025-02-03"]]}},
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    stream = kb.stream(file)
    assert [(dict(c.inserted), c.deleted) for c in (next(stream), next(stream))] == [
        ({"seen": 1}, {}),
        ({}, {"seen": 1}),
    ]
    with pytest.raises(StreamError, match="column c1 has the type date"):
        next(stream)
    assert facts(kb, "seen") == {
        ("b", datetime.date(2025, 2, 3), datetime.datetime(2025, 2, 3, 4, 5, 6))
    }


@pytest.mark.parametrize("queue", [None, 1])
def test_a_bad_line_has_a_place(kb: KnowledgeBase, tmp_path: Path, queue: int | None) -> None:
    path = tmp_path / "u.jsonl"
    bad = (b"{", b"[1]", b'{"insert": {"edge": [["a"]]}}', b'{"\xff": 1}')
    for line in bad:
        path.write_bytes(b"{}\n\n" + line + b"\n")
        with pytest.raises(StreamError) as caught:
            list(kb.stream(str(path), queue=queue))
        assert str(caught.value).startswith(f"update 2 ({path}:3): ")
    path.write_bytes(b"\n".join([*bad, b"", b'{"insert": {"edge": [["c", "d"]]}}\n']))
    *refused, good = kb.stream(path, skip_bad=True, queue=queue)
    for number, change in enumerate(refused, 1):
        assert change.updates == range(number, number + 1) and not change
        assert change.notes[0].startswith(f"update {number} ({path}:{number}) was passed over: ")
    assert good.inserted["edge"] == 1 and good.updates == range(5, 6)


def test_a_pipe_is_read_by_a_thread(kb: KnowledgeBase) -> None:
    out, into = os.pipe()
    with open(out) as reader, open(into, "w", buffering=1) as writer:
        writer.write(json.dumps(edge("cd")) + "\n")
        stream = kb.stream(reader)
        assert next(stream).inserted["edge"] == 1  # although the pipe is open
        writer.write(json.dumps(edge("de")) + "\n")
        assert next(stream).inserted["edge"] == 1
        writer.close()
        assert list(stream) == []
        assert soon(lambda: not readers())


def test_a_queue_is_filled_by_other_threads(kb: KnowledgeBase) -> None:
    updates = UpdateQueue(size=2)

    def produce() -> None:
        for ends in ("cd", "de", "ef", "fg"):
            updates.put(edge(ends))
        updates.close()

    producer = threading.Thread(target=produce)
    producer.start()
    assert numbers(kb.stream(updates)) == [(n, n) for n in range(1, 5)]
    producer.join()
    assert len(facts(kb, "edge")) == 6
    with pytest.raises(ValueError, match="is closed"):
        updates.put({})


def test_a_full_queue_holds_its_producer_back(kb: KnowledgeBase) -> None:
    updates = UpdateQueue(size=2)
    updates.put(edge("cd"))
    updates.put(edge("de"))
    with pytest.raises(queue.Full):
        updates.put(edge("ef"), timeout=0.01)
    stream = kb.stream(updates)
    assert waiting(next(stream)) == 1
    updates.put(edge("ef"), timeout=1)
    assert len(updates) == 2
    updates.close()
    assert len(list(stream)) == 2


def test_what_was_not_applied_stays_in_a_queue(kb: KnowledgeBase) -> None:
    updates = UpdateQueue()
    for update in (edge("cd"), edge("de"), {"insert": 7}, edge("ef")):
        updates.put(update)
    updates.close()
    next(kb.stream(updates))
    with pytest.raises(StreamError, match="^update 2: "):
        list(kb.stream(updates, coalesce=3))
    assert len(updates) == 2
    assert len(list(kb.stream(updates, skip_bad=True))) == 2
    assert len(facts(kb, "edge")) == 5


def test_a_thread_reads_ahead_so_far_and_no_further(kb: KnowledgeBase) -> None:
    made = 0

    def source() -> Iterator[Given]:
        nonlocal made
        while True:
            made += 1
            yield edge("cd") if made % 2 else gone("cd")

    stream: Any = kb.stream(source(), queue=3)
    assert next(stream).inserted["edge"] == 1
    assert soon(lambda: made == 4)  # one applied, three ahead
    time.sleep(0.05)
    assert made == 4
    assert waiting(next(stream)) in (2, 3)  # the thread may have filled the place already
    assert readers()
    stream.close()
    assert soon(lambda: not readers())


@pytest.mark.parametrize("queue", [None, 2])
def test_errors_of_the_source_come_after_what_came_before(
    kb: KnowledgeBase, queue: int | None
) -> None:
    def source() -> Iterator[Given]:
        yield edge("cd")
        yield edge("de")
        raise OSError("the line is dead")

    seen = []
    with pytest.raises(OSError, match="the line is dead"):
        seen.extend(change.updates[0] for change in kb.stream(source(), queue=queue, coalesce=1))
    assert len(facts(kb, "edge")) == 4


def test_the_kb_is_free_between_changes(kb: KnowledgeBase) -> None:
    for change in kb.stream([edge("cd"), edge("de")]):
        assert len(kb.query("edge(X, Y)")) == 2 + 2 * change.updates[0] - 1
        kb.insert("edge", [("x", str(change.updates[0]))])
        kb.add_rules(f"q{change.updates[0]}(X) :- edge(X, _).")
    assert len(facts(kb, "edge")) == 6
    assert not list(kb.stream([]))
    assert kb.verify()


def test_a_stream_may_be_left_in_the_middle(kb: KnowledgeBase, tmp_path: Path) -> None:
    path = tmp_path / "u.jsonl"
    path.write_text("".join(json.dumps(edge(ends)) + "\n" for ends in ("cd", "de", "ef")))
    for source in (path, iter([edge("cd"), edge("de"), edge("ef")])):
        stream: Any = kb.stream(source)
        next(stream)
        stream.close()
        assert facts(kb, "edge") == {("a", "b"), ("b", "c"), ("c", "d")}
    assert kb.insert("edge", [("d", "e")]).inserted["edge"] == 1


# --- looking ahead --------------------------------------------------------------------------------


def test_looking_ahead_at_what_has_arrived(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[object] = []
    monkeypatch.setattr(StreamedUpdate, "look_ahead", lambda update, deletes: seen.append(deletes))
    updates: list[Any] = [
        edge("cd"), gone("cd"), edge("de"), {**gone("de"), "add_rules": "q(X) :- edge(X, _)."},
        gone("ab"), {"delete": {"edge": iter([("b", "c")])}},
    ]  # fmt: skip
    list(kb.stream(updates))
    assert [id(deletes) for deletes in seen] == [id(updates[at]["delete"]) for at in (1, 4)]
    assert facts(kb, "edge") == set()
    seen.clear()
    list(kb.stream(iter([edge("cd"), gone("cd")])))  # nothing has arrived
    list(kb.stream([edge("cd"), gone("cd")], coalesce=2))
    list(kb.stream([edge("cd"), 7], skip_bad=True))  # type: ignore[list-item]
    assert seen == []


# --- names ----------------------------------------------------------------------------------------


def test_a_named_stream_goes_on(open_kb: OpenKb, tmp_path: Path) -> None:
    updates = [edge("cd"), edge("de"), gone("cd"), edge("ef")]
    with open_kb(tmp_path / "kb.duckdb") as kb:
        start(kb)
        stream: Any = kb.stream(updates, name="s")
        next(stream), next(stream)
        stream.close()
        assert kb.position("s") == 2
    with open_kb(tmp_path / "kb.duckdb") as kb:
        assert numbers(kb.stream(iter(updates), name="s")) == [(3, 3), (4, 4)]
        assert kb.position("s") == 4
        assert not list(kb.stream(updates, name="s"))
        assert len(list(kb.stream(updates, name="t", queue=1))) == 4
        with pytest.raises(StreamError) as caught:
            list(kb.stream(updates[:3], name="s"))
        assert str(caught.value) == (
            "stream s has come to update 4, but this source has only 3: is it another one?"
        )


def test_positions_of_what_is_passed_over_and_coalesced(kb: KnowledgeBase) -> None:
    updates: list[Any] = [edge("cd"), edge("de"), {"insert": 7}, edge("ef"), edge("fg")]
    changes = []
    for change in kb.stream(updates, name="s", skip_bad=True, coalesce=2):
        changes.append(change)
        assert kb.position("s") == change.updates[-1]
    assert numbers(changes) == [(1, 2), (3, 3), (4, 5)]
    with pytest.raises(StreamError, match="^update 6: "):
        list(kb.stream([*updates, {"insert": 7}], name="s"))
    assert kb.position("s") == 5


# --- coalescing -----------------------------------------------------------------------------------


def test_the_net_of_what_has_arrived(kb: KnowledgeBase) -> None:
    updates = [edge("cd"), gone("cd", "ab"), edge("ab", "xy"), gone("bc"), edge("zz")]
    (change,) = kb.stream(updates, coalesce=10)
    assert change.updates == range(1, 6) and waiting(change) == 0
    assert (change.inserted["edge"], change.deleted["edge"]) == (2, 1)
    assert facts(kb, "edge") == {("a", "b"), ("x", "y"), ("z", "z")}
    assert numbers(kb.stream(updates, coalesce=2)) == [(1, 2), (3, 4), (5, 5)]


def test_rules_and_new_predicates_stand_alone(kb: KnowledgeBase) -> None:
    updates: list[Given] = [
        edge("cd"), edge("de"), {"add_rules": "q(X) :- edge(X, _)."}, edge("ef"), edge("fg"),
        {"insert": {"new": [(1,)]}}, {"insert": {"new": [(2,)]}}, {"delete": {"new": [(1,)]}},
        {"insert": {"edge": iter([("g", "h")])}}, edge("hi"),
    ]  # fmt: skip
    expected = [(1, 2), (3, 3), (4, 5), (6, 6), (7, 8), (9, 10)]
    assert numbers(kb.stream(updates, coalesce=10)) == expected
    assert facts(kb, "new") == {(2,)}


def test_a_predicate_that_vanishes_is_another_one_afterwards(kb: KnowledgeBase) -> None:
    kb.insert("n", [(1.5,)])
    updates = [{"delete": {"n": [(1.5,)]}}, {"insert": {"n": [(1,)]}}]
    assert numbers(kb.stream(updates, coalesce=2)) == [(1, 1), (2, 2)]
    assert [type(value) for (value,) in kb.table("n")] == [int]


def test_an_error_in_a_batch_has_its_own_number(kb: KnowledgeBase) -> None:
    kb.insert("n", [(1,)])
    updates = [edge("cd"), edge("de"), {"insert": {"n": [(2**70,)]}}, edge("ef")]
    with pytest.raises(StreamError, match="^update 3: n: .* beyond 64 bits"):
        list(kb.stream(updates, coalesce=4))
    assert len(facts(kb, "edge")) == 4
    changes = list(kb.stream(updates, coalesce=4, skip_bad=True))
    assert numbers(changes) == [(1, 1), (2, 2), (3, 3), (4, 4)]
    assert "was passed over" in changes[2].notes[0]


TYPED = ".decl f(x: float)\n.decl n(x: int)\n.decl b(x: bool)\n.decl s(x: symbol)\n"
WAYS = ("a", '"a"', "<a>", "urn:a", "<urn:a>", '"urn:a"', '"a"@de', '"a"@DE', "_:a", '"_:a"', "",
        '"a"^^<http://www.w3.org/2001/XMLSchema#string>', '"a\\n"', '"', "<", '"<a>"',
        "é", "e\u0301")  # fmt: skip
FLOATS = (1, 1.0, 0.0, -0.0, 0, 0.5, float("nan"), 2**53 + 1, float(2**53), 2**53)


def test_the_net_is_that_of_one_after_the_other(open_kb: OpenKb) -> None:
    """Also where facts can be written in several ways, and where types are free again: `v` is not
    declared, so that its type is another one after it was empty."""
    choose = random.Random(5)
    among = {"f": FLOATS, "n": range(3), "b": (True, False), "s": WAYS, "v": (1, 2, 1.5, 2.0, "a")}

    def some() -> dict[str, Any]:
        names = choose.choices("fnbsssvv", k=choose.randint(0, 2))
        return {n: choose.choices([(v,) for v in among[n]], k=choose.randint(1, 2)) for n in names}

    updates = [{"delete": some(), "insert": some()} for _ in range(60)]
    with open_kb() as one, open_kb() as other:
        for opened in (one, other):
            opened.add_rules(TYPED)
        alone = list(one.stream(updates, skip_bad=True))
        together = list(other.stream(updates, skip_bad=True, coalesce=8))
        assert len(alone) == 60 and len(together) < 50
        notes = [
            [note for change in changes for note in change.notes] for changes in (alone, together)
        ]
        assert notes[0] == notes[1] and len(notes[0]) > 3
        for name in among:
            there = [sorted(map(repr, facts(opened, name))) for opened in (one, other)]
            assert there[0] == there[1], name


def test_the_same_fact_in_other_words_is_seen(kb: KnowledgeBase) -> None:
    def nets(first: str, second: str) -> bool:
        with kb.update():
            net = Net(kb._session.state, Hypergraph)
            inserted = net.add(step_of({"insert": {"edge": [(first, "x")]}}))
            return inserted and net.add(step_of({"delete": {"edge": [(second, "x")]}}))

    assert nets("a", "b") and nets("a", "a") and nets("<urn:a>", "<urn:a>") and nets("<a>", "b")
    assert not nets("a", '"a"') and not nets("<urn:a>", "urn:a") and not nets('"a"@de', '"a"@DE')
    assert not nets("a", '"a\\t"')


# --- asynchronous ---------------------------------------------------------------------------------


async def slowly(updates: Iterable[Any], seconds: float = 0.0) -> AsyncIterator[Any]:
    for update in updates:
        await asyncio.sleep(seconds)
        yield update


def test_an_asynchronous_source(kb: KnowledgeBase) -> None:
    async def consume() -> tuple[list[tuple[int, int]], int]:
        beats = 0

        async def beat() -> None:
            nonlocal beats
            while True:
                beats += 1
                await asyncio.sleep(0.001)

        beating = asyncio.create_task(beat())
        changes = []
        async for change in kb.stream(slowly([edge("cd"), edge("de"), gone("cd")], 0.02), name="s"):
            changes.append(change)
            assert len(kb.query("edge(X, Y)")) in (3, 4)  # the kb is free meanwhile
        beating.cancel()
        return numbers(changes), beats

    seen, beats = asyncio.run(consume())
    assert seen == [(1, 1), (2, 2), (3, 3)] and beats > 10
    assert kb.position("s") == 3 and not readers()


def test_an_asynchronous_source_is_held_back(kb: KnowledgeBase) -> None:
    made = 0

    async def source() -> AsyncIterator[Given]:
        nonlocal made
        for _ in range(20):
            made += 1
            yield edge("cd") if made % 2 else gone("cd")

    async def consume() -> list[tuple[int, int]]:
        seen = []
        async for change in kb.stream(source(), queue=4, coalesce=3):
            await asyncio.sleep(0.01)
            seen.append(change)
            assert made <= change.updates[-1] + 4
        return numbers(seen)

    seen = asyncio.run(consume())
    assert seen[-1][1] == 20 and any(first < last for first, last in seen)


def test_asynchronous_errors_and_names(kb: KnowledgeBase) -> None:
    async def consume(updates: list[Any], **options: Any) -> list[tuple[int, int]]:
        return numbers([change async for change in kb.stream(slowly(updates), **options)])

    async def broken() -> AsyncIterator[Given]:
        yield edge("cd")
        raise OSError("the line is dead")

    async def consume_broken() -> None:
        async for _ in kb.stream(broken()):
            pass

    with pytest.raises(OSError, match="the line is dead"):
        asyncio.run(consume_broken())
    assert len(facts(kb, "edge")) == 3
    updates = [edge("de"), {"insert": 7}, edge("ef")]
    with pytest.raises(StreamError, match="^update 2: "):
        asyncio.run(consume(updates, name="s"))
    assert asyncio.run(consume(updates, name="s", skip_bad=True)) == [(2, 2), (3, 3)]
    with pytest.raises(StreamError, match="this source has only 1"):
        asyncio.run(consume([edge("de")], name="s"))


def test_a_cancelled_consumer_leaves_whole_updates(kb: KnowledgeBase) -> None:
    async def endless() -> AsyncIterator[Given]:
        number = 0
        while True:
            number += 1
            yield edge(f"{number % 2}x") if number % 3 else gone("1x")

    async def consume() -> None:
        async for _ in kb.stream(endless(), name="s"):
            pass

    async def cancelled() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(consume(), 0.3)
        async for _ in kb.stream(endless()):
            break

    asyncio.run(cancelled())
    assert (kb.position("s") or 0) > 0
    assert kb.insert("edge", [("p", "q")]) and kb.verify()


# --- the command ----------------------------------------------------------------------------------

ZODIAC = Path(sys.executable).with_name("zodiac")


def called(*arguments: object, given: str | bytes | None = None) -> Result:
    return CliRunner().invoke(app, ["stream", *map(str, arguments)], input=given)


@pytest.fixture
def db(open_kb: OpenKb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A database in the current directory."""
    monkeypatch.chdir(tmp_path)
    with open_kb("e.duckdb") as kb:
        start(kb)
    return "e.duckdb"


def lines(*updates: object) -> str:
    return "".join(json.dumps(update) + "\n" for update in updates)


def test_the_command_sums_up(db: str) -> None:
    Path("u.jsonl").write_text(lines(edge("cd"), gone("ab")))
    result = called(db, "u.jsonl", "--name", "u")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("2 updates, 4 facts in, 4 out, ")
    assert result.stdout.endswith(" updates/s\n")
    Path("u.jsonl").write_text(lines(edge("cd"), gone("ab"), edge("de"), 7))
    result = called(db, "u.jsonl", "--name", "u", "--skip-bad")
    assert result.stdout.startswith("2 updates, 4 facts in, 0 out, ")
    going_on, note = result.stderr.splitlines()
    assert going_on == "going on after update 2"
    assert note.startswith("note: update 4 (u.jsonl:4) was passed over: an update is an object")


def test_the_command_prints_json_lines(db: str) -> None:
    result = called(db, "-", "--json", "--coalesce", 5, "--queue", 7, given=lines(edge("cd")))
    (told,) = map(json.loads, result.stdout.splitlines())
    assert told["updates"] == [1, 1] and told["inserted"] == {"edge": 1, "path": 3}
    assert told["deleted"] == {} and told["notes"] == [] and told["waiting"] == 0
    assert 0 < told["seconds"] < 60 and 0 < told["lag"] < 60


def test_the_command_tells_what_was_applied(db: str) -> None:
    result = called(db, "-", given=lines(edge("cd"), edge("de")).encode() + b'{"insert": 7, "\xff')
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("update 3 (<stdin>:3): not JSON: ")
    assert result.stderr.endswith("\n2 updates are in e.duckdb\n")
    assert called("new.duckdb", "-", given="7").stderr.endswith("\nno update is in new.duckdb\n")
    assert not Path("new.duckdb").exists()
    for arguments in (("missing.jsonl",), ("-", "--strategy", "x"), ("-", "--coalesce", 0)):
        assert called(db, *arguments, given="").exit_code in (1, 2)
    assert called(":memory:", "-", given="").exit_code == 1


def test_a_database_is_made(db: str) -> None:
    updates = lines({"add_rules": PATHS}, edge("ab", "bc"))
    assert called("new.duckdb", "-", "--strategy", "dred", given=updates).exit_code == 0
    assert Path("new.duckdb").exists()


def test_control_c_keeps_what_is_in_the_file(db: str, open_kb: OpenKb) -> None:
    """The real program, which gives each line at once and then waits for more in its pipe."""
    command = [str(ZODIAC), "stream", db, "-", "--json", "--name", "s"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as process:  # type: ignore[call-overload]
        for ends in ("cd", "de"):
            process.stdin.write(lines(edge(ends)))
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["inserted"]["edge"] == 1
        process.send_signal(signal.SIGINT)
        said = process.stderr.read()
        assert (process.wait(10), said) == (130, "interrupted; 2 updates are in e.duckdb\n")
    with open_kb(db) as kb:
        assert kb.position("s") == 2 and kb.verify()
