"""Statements that are run again are not parsed again, and mean the same as their texts."""

from __future__ import annotations

from collections.abc import Iterator

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
    first = known.of(connection, "SELECT $1::INT + 1")
    assert known.of(connection, "SELECT $1::INT + 1") is first
    for number in (1, 5):
        assert connection.execute(first, [number]).fetchall() == [(number + 1,)]


def test_a_statement_follows_what_its_table_becomes(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    known = Parsed()
    for type_, value in (("INT", 1), ("VARCHAR", "1")):
        connection.execute(known.of(connection, f"CREATE TEMP TABLE t AS SELECT 1::{type_} AS a"))
        assert connection.execute(known.of(connection, "SELECT a FROM t")).fetchall() == [(value,)]
        connection.execute(known.of(connection, "DROP TABLE t"))


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
        counts = connection.execute(known.of(connection, write), {"a": number}).fetchall()
        assert sorted(counts) == [(0, 1), (1, int(number > 1))]
        assert connection.execute(known.of(connection, keyed)).fetchall() == [(number, 3)]


@pytest.mark.parametrize("text", ["SELECT 1; SELECT 2", "SET threads = 2", "PRAGMA version", ""])
def test_other_statements_stay_texts(connection: duckdb.DuckDBPyConnection, text: str) -> None:
    assert Parsed().of(connection, text) is text


def test_an_error_shows_the_text(connection: duckdb.DuckDBPyConnection) -> None:
    known = Parsed()
    for _ in range(2):
        with pytest.raises(duckdb.CatalogException, match="LINE 1: SELECT a FROM nowhere"):
            connection.execute(known.of(connection, "SELECT a FROM nowhere"))
    with pytest.raises(duckdb.ParserException):
        known.of(connection, "SELEC 1")


def test_what_was_run_last_is_kept(
    connection: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parsed, "MOST_CHARACTERS", 20)
    known = Parsed()
    one, two = (known.of(connection, f"SELECT {number}") for number in (1, 2))
    assert known.of(connection, "SELECT 1") is one
    known.of(connection, "SELECT 3")
    assert known.of(connection, "SELECT 1") is one
    assert known.of(connection, "SELECT 2") is not two
    assert known.of(connection, "SELECT 12345678901234567890").query  # too long to be kept
    assert known.of(connection, "SELECT 4") is known.of(connection, "SELECT 4")
