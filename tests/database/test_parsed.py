"""Statements that are run again are not parsed again, and mean the same as their texts."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import duckdb
import pytest

from zodiac_sql.database import parsed
from zodiac_sql.database.parsed import Parsed


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as opened:
        yield opened


def test_a_text_is_parsed_once(connection: duckdb.DuckDBPyConnection) -> None:
    known = Parsed()
    (first,) = known.of(connection, "SELECT $1::INT + 1")
    assert known.of(connection, "SELECT $1::INT + 1") == (first,)
    for number in (1, 5):
        assert connection.execute(first, [number]).fetchall() == [(number + 1,)]


def test_a_statement_follows_what_its_table_becomes(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    known = Parsed()
    for type_, value in (("INT", 1), ("VARCHAR", "1")):
        _run(known, connection, f"CREATE TEMP TABLE t AS SELECT 1::{type_} AS a")
        assert _run(known, connection, "SELECT a FROM t") == [(value,)]
        _run(known, connection, "DROP TABLE t")


def test_connections_to_other_databases_share_it() -> None:
    known = Parsed()
    for value in (1, "1"):
        with duckdb.connect() as other:  # those before are closed
            other.execute("CREATE TABLE t AS SELECT $1 AS a", [value])
            assert _run(known, other, "SELECT a FROM t") == [(value,)]


def test_several_threads_share_it() -> None:
    known = Parsed()

    def work(number: int) -> list[tuple[int]]:
        with duckdb.connect(config={"threads": 1}) as other:
            _run(known, other, "CREATE TABLE t (a INT)")
            for _ in range(50):
                other.execute(*known.of(other, "INSERT INTO t VALUES ($1)"), [number])
            return _run(known, other, "SELECT DISTINCT a FROM t")

    with ThreadPoolExecutor(4) as threads:
        assert [*threads.map(work, range(8))] == [[(number,)] for number in range(8)]


def test_a_recursion_and_writes_in_with_are_parsed_once(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    known = Parsed()
    connection.execute("CREATE TABLE t (a INT)")
    write = (
        "WITH w AS (INSERT INTO t SELECT $a), v AS (DELETE FROM t WHERE a = $a - 1)"
        " SELECT 0, * FROM w UNION ALL SELECT 1, * FROM v"
    )
    keyed = (
        "WITH RECURSIVE r(a, b) USING KEY (a) AS"
        " (SELECT a, 0 FROM t UNION SELECT a, b + 1 FROM r WHERE b < 3) SELECT * FROM r"
    )
    for number in (1, 2, 3):
        counts = connection.execute(*known.of(connection, write), {"a": number}).fetchall()
        assert sorted(counts) == [(0, 1), (1, int(number > 1))]
        assert _run(known, connection, keyed) == [(number, 3)]


def test_several_statements_are_parsed_once(connection: duckdb.DuckDBPyConnection) -> None:
    known = Parsed()
    text = "CREATE TABLE t (a INT); COMMENT ON TABLE t IS 'some'; INSERT INTO t VALUES (1)"
    assert len(known.of(connection, text)) == 3
    assert known.of(connection, text) is known.of(connection, text)


@pytest.mark.parametrize(
    "text", ["SELECT 1; SET threads = 2", "SET threads = 2", "PRAGMA version", "", "-- nothing"]
)
def test_other_statements_stay_texts(connection: duckdb.DuckDBPyConnection, text: str) -> None:
    assert Parsed().of(connection, text) == (text,)


def test_an_error_shows_the_text(connection: duckdb.DuckDBPyConnection) -> None:
    known = Parsed()
    for _ in range(2):
        with pytest.raises(duckdb.CatalogException, match="LINE 1: SELECT a FROM nowhere"):
            _run(known, connection, "SELECT a FROM nowhere")
    with pytest.raises(duckdb.ParserException):
        known.of(connection, "SELEC 1")


def test_what_was_run_last_is_kept(
    connection: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parsed, "MOST_CHARACTERS", 20)  # two of these
    known = Parsed()
    one, two = (known.of(connection, f"SELECT {number}") for number in (1, 2))
    assert known.of(connection, "SELECT 2") is two
    known.of(connection, "SELECT 3")
    assert known.of(connection, "SELECT 1") is one  # and it is one of the last again
    known.of(connection, "SELECT 4")
    assert known.of(connection, "SELECT 1") is one
    assert known.of(connection, "SELECT 2") is not two
    long = "SELECT 12345678901234567890"  # too long to be kept
    assert known.of(connection, long) is not known.of(connection, long)
    assert known.of(connection, "SELECT 5") is known.of(connection, "SELECT 5")


def _run(known: Parsed, connection: duckdb.DuckDBPyConnection, text: str) -> list[Any]:
    (statement,) = known.of(connection, text)
    return connection.execute(statement).fetchall()
