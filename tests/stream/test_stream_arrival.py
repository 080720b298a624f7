"""Where updates come from: lists, files, pipes, queues and threads."""

from __future__ import annotations

import datetime
import io
import json
import os
import queue
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.edge_streams import edge, facts, gone, numbers, readers, waiting

from zodiac_sql import KnowledgeBase, StreamError, UpdateQueue

Given = dict[str, Any]


def soon(true: Callable[[], bool]) -> bool:
    """Whether something comes true in a few seconds."""
    deadline = time.monotonic() + 5
    while not true() and time.monotonic() < deadline:
        time.sleep(0.01)
    return true()


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
    kb.add_rules(".decl seen(c0: symbol, c1: date, c2: timestamp)")
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
