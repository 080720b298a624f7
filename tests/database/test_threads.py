"""Who may call a knowledge base: one thread, one call at a time, and no fork. Nothing is ever lost."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from support import budget

from zodiac_sql.errors import BusyError, FunctionError, LockedError, QueryError, ZodiacError

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase
    from zodiac_sql.change.change import Change
    from zodiac_sql.change.update import Update

OpenKb = Callable[..., "KnowledgeBase"]
Call = Callable[["KnowledgeBase"], object]

RULES = "path(X, Y) :- edge(X, Y). path(X, Z) :- path(X, Y), edge(Y, Z). end(X) :- path(_, X)."


@pytest.fixture
def kb(open_kb: OpenKb, tmp_path: Path) -> Iterator[KnowledgeBase]:
    with open_kb(tmp_path / "e.duckdb") as opened:
        opened.add_rules(RULES)
        opened.insert("edge", [("a", "b"), ("b", "c")])
        yield opened


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


def unused(*_: object) -> None:
    raise AssertionError("never called")


def read_batches(kb: KnowledgeBase) -> int:
    with kb.batches("edge") as reader:
        return sum(batch.num_rows for batch in reader)


def entered(kb: KnowledgeBase, name: str) -> None:
    with getattr(kb, name)():
        pass


CALLS: dict[str, Call] = {
    "add_rules": lambda kb: kb.add_rules("q(X) :- edge(X, _)."),
    "drop_rules": lambda kb: kb.drop_rules("r1"),
    "insert": lambda kb: kb.insert("edge", [("x", "y")]),
    "delete": lambda kb: kb.delete("edge", [("a", "b")]),
    "replace": lambda kb: kb.replace("edge", [("x", "y")]),
    "load": lambda kb: kb.load("nowhere.nt"),
    "unload": lambda kb: kb.unload("nowhere.nt"),
    "update": lambda kb: entered(kb, "update"),
    "preview": lambda kb: entered(kb, "preview"),
    "stream": lambda kb: kb.stream([{"insert": {"edge": [("x", "y")]}}]),
    "sql": lambda kb: kb.sql("SELECT 1"),
    "query": lambda kb: kb.query("path(X, Y)"),
    "table": lambda kb: kb.table("path"),
    "batches": read_batches,
    "rules": lambda kb: kb.rules(),
    "predicates": lambda kb: kb.predicates(),
    "position": lambda kb: kb.position("s"),
    "hypernodes": lambda kb: kb.hypernodes(),
    "graph": lambda kb: kb.graph(),
    "export": lambda kb: kb.export("nowhere"),
    "verify": lambda kb: kb.verify(),
    "register_function": lambda kb: kb.register_function("f", unused, ["int"], "int"),
    "register_aggregate": lambda kb: kb.register_aggregate("f", unused, "int", "int"),
    "close": lambda kb: kb.close(),
}
HARMLESS = {"missing_functions", "trace"}
"""They look at, or set, what is in memory."""

UPDATE_CALLS: dict[str, Callable[[Update], object]] = {
    "add_rules": lambda u: u.add_rules("q(X) :- edge(X, _)."),
    "drop_rules": lambda u: u.drop_rules("r1"),
    "insert": lambda u: u.insert("edge", [("x", "y")]),
    "delete": lambda u: u.delete("edge", [("a", "b")]),
    "replace": lambda u: u.replace("edge", [("x", "y")]),
    "load": lambda u: u.load("nowhere.nt"),
    "unload": lambda u: u.unload("nowhere.nt"),
    "record": lambda u: u.record("s", 7),
    "note": lambda u: u.note("said"),
}


def refused(call: Call, kb: KnowledgeBase, what: str) -> None:
    with pytest.raises(BusyError, match=what):
        call(kb)


# --- another thread -------------------------------------------------------------------------------


def test_the_calls_are_all_there_are(kb: KnowledgeBase) -> None:
    from zodiac_sql import KnowledgeBase
    from zodiac_sql.change.update import Update

    assert {n for n in vars(KnowledgeBase) if n[0] != "_"} == {*CALLS, *HARMLESS}
    verbs = {n for n, value in vars(Update).items() if n[0] != "_" and callable(value)}
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
    path = kb._session.store.path

    def ask() -> list[tuple[Any, ...]]:
        with open_kb(path) as other:
            return other.query("path(a, X)").fetchall()

    assert sorted(in_a_thread(ask)) == [("b",), ("c",)]  # type: ignore[call-overload]


def test_four_threads(open_kb: OpenKb, tmp_path: Path) -> None:
    """Each call works or raises an error of ours, and what was acknowledged is there, and only that."""
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
    """Each answer is that of one state; a change that met another one is refused, and can be repeated."""
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


# --- a call within a call -------------------------------------------------------------------------


def test_a_registered_function_is_refused(kb: KnowledgeBase) -> None:
    """A query would wait for the statement that waits for it."""
    calls = list(CALLS.values())

    def ask(x: str) -> str:
        calls.pop()(kb)
        return x

    kb.register_function("ask", ask)
    while calls:
        with pytest.raises(FunctionError, match="called within a call of itself: by a registered"):
            kb.query("edge(X, _), Y = ask(X)")
    calls.append(CALLS["sql"])
    with pytest.raises(FunctionError, match="called within a call of itself: by a registered"):
        kb.add_rules("q(Y) :- edge(X, _), Y = ask(X).")
    assert len(kb.rules()) == 3 and set(kb.table("edge")) == {("a", "b"), ("b", "c")}
    assert kb.verify()


def test_a_function_cannot_ask_an_earlier_change_either(kb: KnowledgeBase) -> None:
    change = kb.insert("edge", [("c", "d")])

    def ask(x: str) -> str:
        return str(change.inserted_facts("edge"))

    kb.register_function("ask", ask)
    with pytest.raises(FunctionError, match="within a call of itself"):
        kb.query("edge(X, _), Y = ask(X)")
    assert change.inserted_facts("edge").num_rows == 1


def test_tracers_reports_and_what_gives_rows_are_refused(kb: KnowledgeBase) -> None:
    def see(statement: str, parameters: object) -> None:
        kb.sql("SELECT 1")

    def report(hypernode: str, number: int, total: int) -> None:
        kb.query("path(X, Y)")

    def rows() -> Iterator[tuple[str, str]]:
        yield "x", "y"
        kb.insert("edge", [("p", "q")])

    def batches() -> Iterator[pa.RecordBatch]:
        kb.table("path")
        yield from pa.table({"s": ["x"], "o": ["y"]}).to_batches()

    schema = pa.schema({"s": pa.string(), "o": pa.string()})
    within = "within a call of itself"
    kb.trace(see)
    refused(lambda kb: kb.query("path(X, Y)"), kb, within)
    refused(lambda kb: kb.insert("edge", [("x", "y")]), kb, within)
    kb.trace(None)
    refused(lambda kb: kb.add_rules("q(X) :- edge(X, _).", progress=report), kb, within)
    refused(lambda kb: kb.verify(progress=report), kb, within)
    refused(lambda kb: kb.insert("edge", rows()), kb, within)
    with pytest.raises(ZodiacError, match=within):
        kb.insert("edge", pa.RecordBatchReader.from_batches(schema, batches()))
    assert len(kb.table("edge")) == 2 and kb.insert("edge", [("x", "y")]) and kb.verify()


def test_a_signal_handler_is_refused(kb: KnowledgeBase) -> None:
    """It runs in the owner's thread, in the middle of whatever that does."""
    kb.register_function(
        "slow", lambda x: os.kill(os.getpid(), signal.SIGUSR1) or x, ["symbol"], "symbol"
    )
    said: list[str] = []

    def handle(number: int, frame: object) -> None:
        try:
            kb.sql("SELECT 1")
        except BusyError as error:
            said.append(str(error))

    before = signal.signal(signal.SIGUSR1, handle)
    try:
        assert len(kb.query("edge(X, _), Y = slow(X)")) == 2
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert said


def test_between_the_verbs_of_an_update_it_can_be_asked(kb: KnowledgeBase) -> None:
    with kb.update() as update:
        update.insert("edge", [("c", "d")])
        assert len(kb.query("edge(X, Y)")) == 2
        refused(lambda kb: kb.insert("edge", [("x", "y")]), kb, "an update is under way")
    with kb.batches("path") as reader:
        kb.insert("copy", reader)
    assert len(kb.table("copy")) == len(kb.table("path")) == 6


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interruption_leaves_it_usable(kb: KnowledgeBase) -> None:
    """Wherever it strikes: nobody stays locked out. (In a destructor Python only prints it.)"""

    class Struck(BaseException):
        pass

    def strike(number: int, frame: object) -> None:
        raise Struck

    rng = random.Random(budget.seed(7))
    struck = 0
    kb.insert("edge", [(f"n{i}", f"n{i + 1}") for i in range(40)])
    before = signal.signal(signal.SIGALRM, strike)
    try:
        for number in range(budget.either(60, 2_000)):
            try:
                signal.setitimer(signal.ITIMER_REAL, rng.uniform(0.0002, 0.1))
                try:
                    for _ in range(10):  # what strikes in a destructor is swallowed
                        kb.sql("SELECT 1")
                        if number % 3:
                            kb.insert("edge", [("n40", "n41")])
                            kb.delete("edge", [("n40", "n41")])
                finally:
                    signal.setitimer(signal.ITIMER_REAL, 0)
            except (Struck, KeyboardInterrupt):
                struck += 1
            assert kb.position("s") is None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert struck and kb.verify()


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


# --- forks ----------------------------------------------------------------------------------------

FORKING = """
    import gc, os, sys, warnings
    import zodiac_sql
    from zodiac_sql.errors import BusyError, LockedError
    warnings.simplefilter("ignore", DeprecationWarning)
    kb = zodiac_sql.connect("e.duckdb")
    kb.add_rules("path(X, Y) :- edge(X, Y). path(X, Z) :- path(X, Y), edge(Y, Z).")
    kb.insert("edge", [("a", "b")])
    queue = zodiac_sql.UpdateQueue()
    change = kb.insert("edge", [("b", "c")])

    def refused(call, error=BusyError):
        try:
            call()
        except error as raised:
            assert "fork" in str(raised), raised
        else:
            raise AssertionError("not refused")

    def child():
        global kb
        CHILD

    number = os.fork()
    if number == 0:
        child()
        sys.exit()
    assert os.waitpid(number, 0)[1] == 0, "the child has failed"
    kb.insert("edge", [("c", "d")])
    os.kill(os.getpid(), 9)
"""


def assert_killed(program: str, directory: Path) -> None:
    """It came to its last line, where it kills itself."""
    command = [sys.executable, "-c", program]
    ran = subprocess.run(
        command, cwd=directory, timeout=60, capture_output=True, text=True, check=False
    )
    assert ran.returncode == -9, ran.stderr


CHILDREN = {
    "calls": """
        refused(lambda: kb.insert("edge", [("x", "y")]))
        refused(lambda: kb.sql("SELECT 1"))
        refused(lambda: change.inserted_facts("edge"))
        refused(lambda: queue.put({"insert": {"edge": [("x", "y")]}}))
        refused(lambda: next(kb.stream([{}])))
        refused(kb.close)
    """,
    "opens the file": """
        refused(lambda: zodiac_sql.connect("e.duckdb"), LockedError)
        refused(lambda: zodiac_sql.connect("e.duckdb", read_only=True), LockedError)
        with zodiac_sql.connect("other.duckdb") as other:
            other.insert("p", [(1,)])
    """,
    "just ends": "",
    "lets it go": """
        kb = None
        gc.collect()
    """,
    "leaves a block": """
        with kb:
            pass
    """,
    "has children": """
        if os.fork() == 0:
            refused(lambda: kb.sql("SELECT 1"))
            sys.exit()
        assert os.wait()[1] == 0
    """,
}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
@pytest.mark.parametrize("child", CHILDREN)
def test_a_fork_leaves_the_file_alone(open_kb: OpenKb, tmp_path: Path, child: str) -> None:
    """At its end DuckDB would write a checkpoint, and take away the log that the other one writes."""
    body = textwrap.dedent(CHILDREN[child]).strip() or "pass"
    text = textwrap.dedent(FORKING).replace("    CHILD", textwrap.indent(body, "    "))
    assert_killed(text, tmp_path)
    with open_kb(tmp_path / "e.duckdb") as kb:
        assert set(kb.table("edge")) == {("a", "b"), ("b", "c"), ("c", "d")} and kb.verify()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_fork_within_an_update(open_kb: OpenKb, tmp_path: Path) -> None:
    text = textwrap.dedent(FORKING).replace("CHILD", "pass").partition("number =")[0]
    text += textwrap.dedent("""
        number = None
        try:
            with kb.update() as update:
                update.insert("edge", [("c", "d")])
                number = os.fork()
                if number:
                    assert os.waitpid(number, 0)[1] == 0, "the child has failed"
        except BusyError:
            sys.exit(number)
        os.kill(os.getpid(), 9)
    """)
    assert_killed(text, tmp_path)
    with open_kb(tmp_path / "e.duckdb") as kb:
        assert len(kb.table("edge")) == 3 and kb.verify()
