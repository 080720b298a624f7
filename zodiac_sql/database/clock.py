"""The time that rules and queries call now(): a variable of the connection.

DuckDB puts its value in when it plans a statement, so zone maps are of use, and texts of statements
can be kept from one tick to the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from zodiac_sql.database.statements import text

if TYPE_CHECKING:
    from zodiac_sql.database.store import Store

_NOW = "zodiac_now"


def let_now_be(store: Store, micros: int) -> None:
    """Let now() be a time from here on, in microseconds since 1970."""
    connection = store.connection
    if connection.clock != micros:
        connection.clock = None  # an interruption may come before it is set
        store.run("SET VARIABLE zodiac_now = make_timestamp($1)", [micros])
        connection.clock = micros


def now() -> exp.Expr:
    """What now() is in SQL."""
    return exp.cast(exp.Anonymous(this="getvariable", expressions=[text(_NOW)]), "TIMESTAMP")


def is_now(node: exp.Expr) -> bool:
    """Whether a part of a statement is what now() is in SQL."""
    return (
        isinstance(node, exp.Cast)
        and isinstance(node.this, exp.Anonymous)
        and (str(node.this.this).lower() == "getvariable")
    )


def at(micros: exp.Expr) -> exp.Expr:
    """The moment so many microseconds after 1970."""
    return exp.Anonymous(this="make_timestamp", expressions=[exp.cast(micros, "BIGINT")])
