"""Whatever interrupts a change, it is known afterwards what is in the file, and what is not."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from zodiac_sql.database.store import Store
from zodiac_sql.errors import PublishedError, StoreError
from zodiac_sql.storage import catalog

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]


@pytest.fixture
def file(open_kb: OpenKb, tmp_path: Path) -> Path:
    path = tmp_path / "interrupted.duckdb"
    with open_kb(path) as kb:
        kb.add_rules("some(X) :- p(X, _).")
        kb.insert("p", [("a", "b")])
    return path


@pytest.mark.parametrize("error", [KeyboardInterrupt, StoreError], ids=["interrupted", "failed"])
@pytest.mark.parametrize("place", ["database.dictionary.published", "change.execution.report"])
@pytest.mark.parametrize("predicate", ["p", "free"])
@pytest.mark.parametrize("verb", ["insert", "swap"])
def test_what_fails_after_the_commit_is_known_to_be_there(
    file: Path,
    open_kb: OpenKb,
    monkeypatch: pytest.MonkeyPatch,
    error: type[BaseException],
    place: str,
    predicate: str,
    verb: str,
) -> None:
    """Nothing counted the change, and the state of before is not that of the file any more."""

    def fail(*_: Any) -> None:
        raise error("too late")

    with open_kb(file) as kb:
        kb.insert(predicate, [("a", "b"), ("b", "c")])
        kb.insert(predicate, [("c", "d")])
        with monkeypatch.context() as patched:
            patched.setattr(f"zodiac_sql.{place}", fail)
            expected = PublishedError if error is StoreError else error
            with pytest.raises(expected), kb.update() as update:
                update.insert(predicate, [("new", "too")])
                if verb == "swap":
                    update.delete(predicate, [("a", "b")])
                update.record("stream", 7)
        assert ("new", "too") in set(kb.table(predicate)) and kb.position("stream") == 7
        assert_known(kb)
        kb.insert(predicate, [("newer", "new")])
        assert_known(kb)


def test_interrupted_at_any_statement_it_knows_what_is_there(
    file: Path, open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Symbols of what is not there are forgotten everywhere: their ids are given to others."""
    run, left = Store.run, [0]

    def fail(self: Store, *call: Any) -> Any:
        done = run(self, *call)
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt
        return done

    with open_kb(file) as kb:
        kb.insert("p", [("b", "c")])
        for number in range(1, 100):
            left[0] = number
            with monkeypatch.context() as patched, suppress(KeyboardInterrupt):
                patched.setattr(Store, "run", fail)
                with kb.update() as update:
                    update.insert("p", [(f"new{number}", "a")])
                    update.insert("p", [(f"more{number}_{n}", "a") for n in range(120)])
            kb.insert("p", [(f"later{number}", f"new{number}")])
            assert_known(kb)
            if left[0] > 0:
                break
        assert number > 10


class _Struck:
    """A connection on which one statement, or none, is interrupted, and then the first ROLLBACK."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, number: int = 0) -> None:
        self.connection = connection
        self.left = number
        self.errors = [duckdb.InterruptException("INTERRUPT Error: Interrupted!")]

    def execute(self, *statement: Any) -> Any:
        self.left -= 1
        if self.left == 0:
            raise duckdb.InterruptException("INTERRUPT Error: Interrupted!")
        return self.connection.execute(*statement)

    def rollback(self) -> None:
        if self.errors:
            raise self.errors.pop()
        self.connection.rollback()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.connection, name)


def test_a_rollback_that_is_interrupted_is_done_again(
    file: Path, open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_kb(file) as kb:
        kb.insert("p", [("b", "c")])
        store = kb._session.store
        with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
            struck = _Struck(store.connection.duckdb)
            patched.setattr(store.connection, "duckdb", struck)
            patched.setattr("zodiac_sql.change.operators.directly.save", _interrupt)
            patched.setattr("zodiac_sql.storage.publish.save", _interrupt)
            kb.insert("p", [("d", "e")])
        assert kb.table("p").fetchall() == [("a", "b"), ("b", "c")]
        kb.insert("p", [("f", "g")])
        assert_known(kb)


ARC, OTHER = ("n1", "n2", 7), ("n0", "n1", 2)
BIG = "g1: big(X, D) :- v(X, T), D = T - 30, D > 0.\n"
FAR = "x3: far(X) :- dist(X, D), D > 1.\n"
RULES = (
    BIG
    + """
x1: dist(X, MIN(0)) :- m(X).
x2: dist(Y, MIN(D + N)) :- dist(X, D), w(X, Y, N).
a1: alarm(X) :- big(X, _), m(X).
"""
)
CHANGES: dict[str, tuple[Callable[[KnowledgeBase], object], Callable[[KnowledgeBase], object]]] = {
    "insert": (lambda kb: kb.insert("w", [ARC]), lambda kb: kb.delete("w", [ARC])),
    "delete": (lambda kb: kb.delete("w", [OTHER]), lambda kb: kb.insert("w", [OTHER])),
    "drop": (lambda kb: kb.drop_rules("g1"), lambda kb: kb.add_rules(BIG)),
    "add": (lambda kb: kb.add_rules(FAR), lambda kb: kb.drop_rules("x3")),
}
"""Changes, and how they are taken back."""


@pytest.mark.parametrize("verb", CHANGES)
@pytest.mark.parametrize("chosen", ["lookups", "support"])
def test_a_statement_and_its_rollback_are_interrupted(
    open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch, chosen: str, verb: str
) -> None:
    """Half of what the change writes was there once: the fact of w, and none of dist."""
    do, undo = CHANGES[verb]
    with open_kb(strategy=chosen) as kb:
        kb.add_rules(RULES)
        for predicate, row in (("m", ("n0",)), ("w", OTHER), ("v", ("n0", 40)), ("v", ("n1", 50))):
            kb.insert(predicate, [row])
        before, store = _all(kb), kb._session.store
        do(kb)
        after = _all(kb)
        undo(kb)
        for number in range(1, 100):
            with monkeypatch.context() as patched, suppress(KeyboardInterrupt):
                struck = _Struck(store.connection.duckdb, number)
                patched.setattr(store.connection, "duckdb", struck)
                do(kb)
            found = _all(kb)
            assert found in (before, after), number
            if struck.left > 0:
                break
            if found == after:
                undo(kb)
        assert number > 2 and found == after and kb.verify()


def _all(kb: KnowledgeBase) -> dict[str, set[tuple[object, ...]]]:
    names = [str(row[0]) for row in kb.predicates().fetchall()]
    return {name: set(kb.table(name).fetchall()) for name in names if len(kb.table(name))}


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def assert_known(kb: KnowledgeBase) -> None:
    """What is known is what the file has, and each symbol has one id."""
    known, there = kb._session.current(), catalog.load(kb._session.store)
    assert (known.rows, known.schema) == (there.rows, there.schema)
    assert (known.positions, known.generation) == (there.positions, there.generation)
    ((count, ids, texts),) = kb.sql(
        "SELECT count(*), count(DISTINCT id), count(DISTINCT text) FROM zodiac.symbol"
    ).fetchall()
    assert count == ids == texts and kb.verify()
