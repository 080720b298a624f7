"""Functions, tracers and signal handlers may not call the knowledge base that calls them."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from support import budget
from support.every_call import CALLS
from support.struck import Struck, struck_at

from zodiac_sql.errors import BusyError, FunctionError, ZodiacError

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

Call = Callable[["KnowledgeBase"], object]


def refused(call: Call, kb: KnowledgeBase, what: str) -> None:
    with pytest.raises(BusyError, match=what):
        call(kb)


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
            except KeyboardInterrupt:
                struck += 1
            assert kb.position("s") is None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert struck and kb.verify()


LOCKING = ("guard.py", "watch.py", "signals.py", "limits.py", "contextlib.py")
"""The files of the functions that lock a knowledge base, and that unlock it: and Python's own, from
whose managers blocks are entered and left."""


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", ["insert", "query"])
def test_an_interruption_at_each_place_where_calls_begin_and_end(
    kb: KnowledgeBase, name: str
) -> None:
    """Each place of some files, from the first to the last. None leaves a transaction open."""
    struck = 0
    for number in range(10_000):
        try:
            with struck_at(number, lambda file: file.name in LOCKING) as where:
                CALLS[name](kb)
        except KeyboardInterrupt:  # what strikes in a destructor is swallowed
            struck += 1
        assert kb.position("s") is None
        if not where:
            break
    assert struck > 10 and kb.verify()
