"""Statements that write, run as one: they take effect in their order, or not at all."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import duckdb
import pytest

from zodiac_sql.database import together
from zodiac_sql.database.open_store import open_store
from zodiac_sql.database.store import Store
from zodiac_sql.database.together import Together
from zodiac_sql.errors import EvaluationError, StoreError

ROWS = 200_000


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.duckdb", read_only=False) as opened:
        opened.run("CREATE TABLE edb.p (s INTEGER, rank BIGINT)")
        opened.run("CREATE TABLE edb.q (s INTEGER, rank BIGINT)")
        yield opened


def seen(store: Store, writes: Together) -> list[str]:
    """The statements that are run."""
    texts: list[str] = []
    store.connection.tracer = lambda text, _: texts.append(text)
    writes.run()
    store.connection.tracer = None
    return texts


def test_counts_are_those_of_each(store: Store) -> None:
    writes, counts = Together(store), list[int]()
    writes.add("INSERT INTO edb.p SELECT unnest($1), $2", [[1, 2, 3], 0], counts.append)
    writes.add("INSERT INTO edb.q SELECT unnest($1), $2", [[7], 1], counts.append)
    writes.add("DELETE FROM edb.p WHERE s > $least", {"least": 1}, counts.append)
    writes.add("UPDATE edb.q SET rank = 5 WHERE s = $least", {"least": 1}, counts.append)
    assert len(seen(store, writes)) == 1
    assert counts == [3, 1, 2, 0]
    assert store.rows("FROM edb.p UNION ALL FROM edb.q") == [(1, 0), (7, 1)]
    assert seen(store, writes) == []


@pytest.mark.parametrize("checked", [(), (0,), (1,), (2,), (0, 2), (1, 2)])
def test_only_those_tell_their_counts_that_have_a_check(
    store: Store, checked: tuple[int, ...]
) -> None:
    writes, counts = Together(store), dict[int, int]()
    for place, rows in enumerate(([1], [2, 3], [4, 5, 6])):
        check = partial(counts.__setitem__, place) if place in checked else None
        writes.add("INSERT INTO edb.p SELECT unnest($1), 0", [rows], check)
    assert len(seen(store, writes)) == 1
    assert counts == {place: place + 1 for place in checked}
    assert store.rows("SELECT s FROM edb.p ORDER BY s") == [(n,) for n in range(1, 7)]


def test_one_is_run_as_it_is(store: Store) -> None:
    writes = Together(store)
    writes.add("INSERT INTO edb.p VALUES ($1, 2)", [1])
    assert seen(store, writes) == ["INSERT INTO edb.p VALUES ($1, 2)"]


def test_many_are_several_statements(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(together, "MOST", 3)
    writes, counts = Together(store), list[int]()
    for number in range(8):
        writes.add("INSERT INTO edb.p SELECT unnest($1), 0", [[*range(number)]], counts.append)
    assert len(seen(store, writes)) == 3
    assert counts == [*range(8)]


def test_one_can_ask_how_many_rows_the_one_before_has_written(store: Store) -> None:
    for fact, there in [(1, 1), (1, 1), (2, 2)]:
        writes = Together(store)
        writes.add(
            "INSERT INTO edb.p SELECT $s, 0 WHERE NOT EXISTS (FROM edb.p WHERE s = $s)",
            {"s": fact}, name="written",
        )  # fmt: skip
        writes.add("INSERT INTO edb.q SELECT $s, 0 FROM written AS w(rows) WHERE rows > 0")
        writes.run()
        assert store.count("SELECT count(*) FROM edb.q") == there


@pytest.mark.parametrize("checked", [True, False])
def test_all_or_nothing(store: Store, checked: bool) -> None:
    def refuse(count: int) -> None:
        raise StoreError(f"{count} rows")

    writes = Together(store)
    writes.add("INSERT INTO edb.p VALUES (1, 1)", None, refuse if checked else None)
    writes.add("INSERT INTO edb.q SELECT $1::INTEGER, 1", [1 if checked else 2**40])
    with pytest.raises(StoreError if checked else EvaluationError), store.transaction():
        writes.run()
    assert store.count("SELECT count(*) FROM (FROM edb.p UNION ALL FROM edb.q)") == 0


@pytest.mark.parametrize("moved", [1, 5_000, 150_000])
def test_each_sees_what_those_before_it_have_written(store: Store, moved: int) -> None:
    """With several threads, and with tables of several row groups. What is deleted comes back
    with another rank, which neither the deletion nor what reads the table before it may meet.
    """
    store.run("SET threads = 4")
    store.run(f"INSERT INTO edb.p SELECT range, 0 FROM range({ROWS})")
    store.run(f"INSERT INTO edb.q SELECT range, 0 FROM range({ROWS})")
    store.run("CREATE TEMP TABLE moved (s INTEGER)")
    for turn in range(1, 4):
        store.run("DELETE FROM temp.moved")
        there = "SELECT s FROM edb.p WHERE s >= 0 ORDER BY hash(s, rank)"
        store.run(f"INSERT INTO temp.moved {there} LIMIT {moved}")
        writes, counts = Together(store), list[int]()
        for name, other in ("pq", "qp"):
            for text in (
                f"INSERT INTO edb.{other} SELECT -1, rank FROM edb.{name} WHERE s IN (FROM moved)",
                f"DELETE FROM edb.{name} AS t USING temp.moved AS m WHERE t.s = m.s",
                f"INSERT INTO edb.{name} SELECT s, {turn} FROM temp.moved",
            ):
                writes.add(text, None, counts.append)
        with store.transaction():
            writes.run()
        assert counts == 6 * [moved]
        for name in "pq":
            asked = f"SELECT count(DISTINCT s), count(*), count_if(rank = {turn} AND s >= 0)"
            assert store.rows(f"{asked} FROM edb.{name} WHERE s >= 0") == [(ROWS, ROWS, moved)]
            early = f"SELECT count(*) FROM edb.{name} WHERE s = -1 AND rank = {turn}"
            assert store.count(early) == 0


def test_an_interruption_leaves_nothing(store: Store) -> None:
    store.run("SET threads = 2")
    store.run(f"INSERT INTO edb.p SELECT range, 0 FROM range({ROWS})")
    connection: duckdb.DuckDBPyConnection = store.connection.duckdb
    for turn in range(20):
        writes = Together(store)
        for _ in range(6):
            writes.add("INSERT INTO edb.q SELECT a.s, 1 FROM edb.p AS a JOIN edb.p AS b USING (s)")
            writes.add("DELETE FROM edb.q WHERE rank = 1")
        ended = threading.Event()
        strike = threading.Thread(target=partial(_strike, connection, ended, turn / 200))
        strike.start()
        try:
            with pytest.raises(KeyboardInterrupt), store.transaction():
                writes.run()
                raise KeyboardInterrupt
        finally:
            ended.set()
            strike.join()
        assert store.count("SELECT count(*) FROM edb.q") == 0


def _strike(connection: duckdb.DuckDBPyConnection, ended: threading.Event, wait: float) -> None:
    """Interrupt what runs, after a while."""
    if not ended.wait(wait):
        connection.interrupt()
