"""The types of DuckDB's columns for the types of the language."""

from __future__ import annotations

from zodiac_sql.language.syntax import Type

SQL_TYPES = {
    Type.SYMBOL: "INTEGER",
    Type.INT: "BIGINT",
    Type.DECIMAL: "DECIMAL(38,18)",
    Type.FLOAT: "DOUBLE",
    Type.BOOL: "BOOLEAN",
    Type.DATE: "DATE",
    Type.TIMESTAMP: "TIMESTAMP",
    Type.ANY: "INTEGER",
}
"""In the tables of predicates: a symbol, or a term of any kind, is its id in the dictionary."""

TEXT_TYPES = {**SQL_TYPES, Type.SYMBOL: "VARCHAR", Type.ANY: "VARCHAR"}
"""In rows that come from outside: a symbol is still its text."""
