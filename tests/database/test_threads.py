"""Who may call a knowledge base: one thread, and one task at a time. Nothing is ever lost."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support import budget
from support.every_call import CALLS, RULES

from zodiac_sql import connect
from zodiac_sql.errors import BusyError, LockedError, QueryError

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase
    from zodiac_sql.change.change import Change
    from zodiac_sql.change.update import Update

OpenKb = Callable[..., "KnowledgeBase"]


def in_a_thread(call: Callable[[], object]) -> object:
    """What a call gives, or the error that it raises, in another thread."""
    found: list[object] = []

    def run() -> None:
        try:
            found.append(call())
        except Exception as error:  # noqa: BLE001
            found.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(20)
    return found[0] if found else "it hangs"


HARMLESS = {"missing_functions", "prefixes", "reader", "serve", "trace"}
"""They look at, or set, what is in memory. (A reader or a server has connections of its own.)"""

UPDATE_CALLS: dict[str, Callable[[Update], object]] = {
    "add_rules": lambda u: u.add_rules("q(X) :- edge(X, _)."),
    "drop_rules": lambda u: u.drop_rules("r1"),
    "replace_rules": lambda u: u.replace_rules("q(X) :- edge(X, _).", set="s"),
    "insert": lambda u: u.insert("edge", [("x", "y")]),
    "delete": lambda u: u.delete("edge", [("a", "b")]),
    "replace": lambda u: u.replace("edge", [("x", "y")]),
    "load": lambda u: u.load("nowhere.nt"),
    "unload": lambda u: u.unload("nowhere.nt"),
    "record": lambda u: u.record("s", 7),
    "alter": lambda update: update.alter("edge", {"s": "symbol"}),
    "tick": lambda update: update.tick(0),
    "keep": lambda update: update.keep("edge"),
    "keep_feed": lambda update: update.keep_feed(["path"]),
    "note": lambda u: u.note("said"),
}


# --- another thread -------------------------------------------------------------------------------


def test_the_calls_are_all_there_are(kb: KnowledgeBase) -> None:
    from zodiac_sql import KnowledgeBase
    from zodiac_sql.change.update import Update

    assert {n for n in dir(KnowledgeBase) if n[0] != "_"} == {*CALLS, *HARMLESS}
    verbs = {n for n in dir(Update) if n[0] != "_" and callable(getattr(Update, n))}
    assert verbs == {*UPDATE_CALLS}


def test_another_thread_is_refused(kb: KnowledgeBase) -> None:
    for name, call in CALLS.items():
        error = in_a_thread(lambda call=call: call(kb))  # type: ignore[misc]
        assert isinstance(error, BusyError), name
        assert "belongs to the thread that opened it" in str(error)
        assert "open the file once more in this thread" in str(error)
    assert set(kb.table("edge")) == {("a", "b"), ("b", "c")} and kb.verify()


def test_verbs_of_an_update_are_refused_in_another_thread(kb: KnowledgeBase) -> None:
    with kb.update() as update:
        for call in UPDATE_CALLS.values():
            error = in_a_thread(lambda call=call: call(update))  # type: ignore[misc]
            assert isinstance(error, BusyError)
        update.insert("edge", [("c", "d")])
    assert update.change.inserted["edge"] == 1 and update.change.notes == ()
    for name, call in UPDATE_CALLS.items():
        with pytest.raises(QueryError, match="this update has ended"):
            call(update)
            pytest.fail(f"{name} is gone without a word")
    assert kb.position("s") is None


def test_a_change_can_be_handed_to_another_thread(kb: KnowledgeBase) -> None:
    """What it counts is in memory; its facts are in the database."""
    change = kb.delete("edge", [("a", "b")])
    assert in_a_thread(lambda: (change.inserted, change.deleted)) == (
        {}, {"edge": 1, "path": 2, "end": 1},
    )  # fmt: skip
    assert isinstance(in_a_thread(lambda: change.deleted_facts("path")), BusyError)
    assert change.deleted_facts("path").num_rows == 2


def test_what_is_not_counted_yet_is_counted_by_the_owner(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        kb.add_rules("r1: q(X) :- p(X). r2: q(X) :- s(X).")
        kb.insert("p", [("a",), ("b",)])
        kb.insert("s", [("a",)])
        change = kb.drop_rules("r1")
        assert isinstance(in_a_thread(lambda: change.deleted), BusyError)
        assert isinstance(in_a_thread(lambda: kb.insert("p", [("c",)])), BusyError)
        assert isinstance(in_a_thread(kb.close), BusyError)
        kb.insert("p", [("d",)])
        assert change.deleted == {"q": 1}


def test_a_stream_goes_on_in_its_own_thread_only(kb: KnowledgeBase) -> None:
    stream = kb.stream([{"insert": {"edge": [("c", "d")]}}])
    assert isinstance(in_a_thread(lambda: next(stream)), BusyError)
    assert len(kb.table("edge")) == 2


def test_memory_cannot_be_opened_once_more(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        error = in_a_thread(lambda: kb.sql("SELECT 1"))
        assert isinstance(error, BusyError) and "connect(" not in str(error)


def test_threads_with_connections_of_their_own(open_kb: OpenKb, kb: KnowledgeBase) -> None:
    """What the error tells to do."""
    path = kb._session.store.file.path

    def ask() -> list[tuple[Any, ...]]:
        with open_kb(path) as other:
            return other.query("path(a, X)").fetchall()

    assert sorted(in_a_thread(ask)) == [("b",), ("c",)]  # type: ignore[call-overload]


def test_four_threads(open_kb: OpenKb, tmp_path: Path) -> None:
    """Each call works or raises an error of ours, and what was acknowledged is there, and only
    that.
    """
    seed = budget.seed(13)
    kb = open_kb(tmp_path / "four.duckdb")
    kb.add_rules(RULES)
    done: set[tuple[str, str]] = set()
    strange: list[object] = []
    end = time.monotonic() + budget.either(3, 60)

    def work(number: int) -> None:
        rng = random.Random(seed * 4 + number)
        while time.monotonic() < end:
            row = (f"t{number}", f"x{rng.randrange(9)}")
            name = rng.choice(["insert", "delete", "sql", "query", "table", "verify", "stream"])
            try:
                if name == "insert":
                    kb.insert("edge", [row])
                    done.add(row)
                elif name == "delete":
                    kb.delete("edge", [row])
                    done.discard(row)
                elif name == "stream":
                    for _ in kb.stream([{"insert": {"edge": [row]}}], name=f"s{number}"):
                        done.add(row)
                else:
                    CALLS[name](kb)
                budget.tried("calls of four threads")
            except BusyError:
                if number == 0:  # it opened it
                    strange.append("the owner was refused")
                time.sleep(0.001)
            except BaseException as error:  # noqa: BLE001
                strange.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in (1, 2, 3)]
    for thread in threads:
        thread.start()
    work(0)
    for thread in threads:
        thread.join()
    kb.close()
    with open_kb(tmp_path / "four.duckdb") as kb:
        assert not strange and kb.verify()
        assert done and set(kb.table("edge")) == done


SWAPPED = (
    "r: p(X) :- b(X).",
    "r: p(X) :- a(X), b(X).",
    "r: p(X) :- q(X), a(X). base: p(X) :- a(X).",
    "r: p(X) :- a(X).",
)
"""Rules that derive the same, in other tables each time."""


def test_four_threads_with_connections_of_their_own(open_kb: OpenKb, tmp_path: Path) -> None:
    """Each answer is that of one state; a change that met another one is refused, and can be
    repeated.
    """
    path = tmp_path / "own.duckdb"
    there = {(i,) for i in range(20)}
    first = open_kb(path)
    first.insert("a", list(there))
    first.insert("b", list(there))
    first.add_rules("r: p(X) :- a(X). s: q(X) :- p(X).")
    end = time.monotonic() + budget.either(4, 60)
    strange: list[object] = []
    done: set[tuple[int, int]] = set()

    def swap(kb: KnowledgeBase, number: int) -> None:
        with kb.update() as update:
            if number % 4 == 3:
                update.drop_rules("base")
            update.add_rules(SWAPPED[number % 4], replace=True)

    def from_batches(kb: KnowledgeBase) -> set[tuple[Any, ...]]:
        with kb.batches("p") as reader:
            return {(x,) for batch in reader for x in batch.column(0).to_pylist()}

    reading: list[Callable[[KnowledgeBase], object]] = [
        lambda kb: set(kb.query("p(X)")) == there,
        lambda kb: set(kb.table("q")) == there,
        lambda kb: set(kb.sql("SELECT * FROM p")) == there,
        lambda kb: from_batches(kb) == there,
        lambda kb: {"p", "q"} < set(kb.predicates()["predicate"].to_pylist()),
        lambda kb: len(kb.hypernodes()) > 0,
        lambda kb: kb.verify(),
    ]

    def work(me: int) -> None:
        with open_kb(path) as kb:
            number = 0
            while time.monotonic() < end:
                try:
                    if me == 0:
                        swap(kb, number)
                    elif number % 8 == 7:
                        kb.insert("own", [(me, number)])
                        done.add((me, number))
                    elif not reading[number % 8](kb):
                        strange.append(f"a wrong answer of {number % 8}")
                    budget.tried("calls of four connections")
                except LockedError:
                    pass
                except BaseException as error:  # noqa: BLE001
                    strange.append(error)
                number += 1

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with first:
        assert not strange and first.verify()
        assert set(first.table("own") if done else ()) == done


# --- asynchronous streams -------------------------------------------------------------------------


class Held:
    """A registered function that holds up an update in its worker."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self.reached = threading.Event()
        self.go_on = threading.Event()
        kb.register_function("held", self, ["symbol"], "symbol")
        kb.add_rules("kept(Y) :- edge(X, _), Y = held(X).")

    def __call__(self, x: str) -> str:
        if x == "hold":
            self.reached.set()
            assert self.go_on.wait(20)
        return x


def test_during_an_update_of_an_asynchronous_stream_others_are_refused(kb: KnowledgeBase) -> None:
    held = Held(kb)
    tried = []

    async def source() -> AsyncIterator[dict[str, object]]:
        yield {"insert": {"edge": [("c", "d")]}}
        yield {"insert": {"edge": [("hold", "x")]}}
        yield {"insert": {"edge": [("d", "e")]}}

    async def disturb() -> None:
        await asyncio.to_thread(held.reached.wait, 20)
        for name, call in CALLS.items():
            with pytest.raises(BusyError, match="asynchronous stream"):
                call(kb)
            tried.append(name)
        assert isinstance(in_a_thread(lambda: kb.sql("SELECT 1")), BusyError)
        held.go_on.set()

    async def main() -> list[Change]:
        disturbing = asyncio.create_task(disturb())
        changes = []
        async for change in kb.stream(source(), name="s"):
            changes.append(change)
            assert change.inserted_facts("edge").num_rows == 1  # between two updates: all is well
            kb.insert("seen", [(len(changes),)])
        await disturbing
        return changes

    assert len(asyncio.run(main())) == 3 and tried == list(CALLS)
    assert kb.position("s") == 3 and len(kb.table("edge")) == 5 and len(kb.table("seen")) == 3
    assert kb.verify()


def test_an_asynchronous_source_that_asks_during_an_update(kb: KnowledgeBase) -> None:
    """It runs in the event loop, beside the update."""
    held = Held(kb)

    async def source() -> AsyncIterator[dict[str, object]]:
        yield {"insert": {"edge": [("hold", "x")]}}
        await asyncio.to_thread(held.reached.wait, 20)
        try:
            kb.query("path(X, Y)")
        finally:
            held.go_on.set()

    async def main() -> None:
        async for _ in kb.stream(source(), name="s"):
            pass

    with pytest.raises(BusyError, match="asynchronous stream"):
        asyncio.run(main())
    assert kb.position("s") == 1 and kb.verify()


def test_an_asynchronous_stream_in_another_thread_is_refused(kb: KnowledgeBase) -> None:
    async def source() -> AsyncIterator[dict[str, object]]:
        yield {"insert": {"edge": [("c", "d")]}}

    stream: Any = kb.stream(source())

    async def main() -> None:
        async for _ in stream:
            pass

    assert isinstance(in_a_thread(lambda: asyncio.run(main())), BusyError)
    assert len(kb.table("edge")) == 2


def test_threads_open_and_close_the_same_file(tmp_path: Path) -> None:
    """DuckDB cannot open a file while the last connection of its process is closing it."""
    file = tmp_path / "a.duckdb"
    with connect(file) as kb:
        kb.add_rules("q(X) :- p(X).")

    def come_and_go(thread: int) -> list[str]:
        inserted = []
        for i in range(8):
            with connect(file, threads=1) as kb, suppress(LockedError):
                kb.insert("p", [(f"{thread}.{i}",)])
                inserted.append(f"{thread}.{i}")
        return inserted

    with ThreadPoolExecutor(3) as pool:
        inserted = {text for some in pool.map(come_and_go, range(3)) for text in some}
    with connect(file) as kb:
        assert {text for (text,) in kb.table("q").fetchall()} == inserted
