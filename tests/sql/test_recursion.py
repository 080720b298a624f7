"""The rows of a recursive statement, collected."""

from __future__ import annotations

import duckdb
import pytest
from sqlglot import exp, parse_one

from zodiac_sql.database.render import render
from zodiac_sql.sql.recursion import COLLECTED, with_recursion


def _counting(end: int | None, most: int | None = None) -> str:
    """The numbers from 0, as a recursion finds them, each with its place."""
    there = "" if end is None else f" WHERE n < {end}"
    recursion = parse_one(f"SELECT 0 AS n UNION SELECT n + 1 FROM r{there}", dialect="duckdb")
    assert isinstance(recursion, exp.Query)
    query = exp.select("n", exp.Window(this=exp.RowNumber()).as_("place")).from_(COLLECTED)
    limit = None if most is None else exp.Literal.number(most)
    return render(with_recursion(query, "r", recursion, limit))


@pytest.fixture
def connection() -> duckdb.DuckDBPyConnection:
    return duckdb.connect(config={"threads": 1})


def test_rows_keep_the_order_in_which_they_are_found(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    rows = connection.execute(_counting(5_000)).fetchall()
    assert rows == [(n, n + 1) for n in range(5_001)]


def test_a_recursion_without_end_ends_with_the_last_row_that_is_asked_for(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    assert len(connection.execute(_counting(None, most=100)).fetchall()) == 100
