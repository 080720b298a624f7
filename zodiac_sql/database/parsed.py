"""Statements that DuckDB has parsed, so that it need not parse the same text again.

Changes and questions of one kind run the same texts again and again. To parse one takes 0.1 to
0.3 ms, a tenth to a fifth of what a statement of few rows takes.
"""

from __future__ import annotations

import duckdb

MOST_CHARACTERS = 200_000
"""So long are the texts of the statements that are kept, all together. A statement takes some 25
bytes for each character."""

_KINDS = frozenset(
    {
        duckdb.StatementType.SELECT,
        duckdb.StatementType.INSERT,
        duckdb.StatementType.UPDATE,
        duckdb.StatementType.DELETE,
        duckdb.StatementType.CREATE,
        duckdb.StatementType.DROP,
        duckdb.StatementType.TRANSACTION,
    }
)
"""The kinds of statements that are kept. Others are few, and what some mean depends on settings."""


class Parsed:
    """The statements that were run last, by their texts."""

    __slots__ = ("_characters", "_known")

    def __init__(self) -> None:
        self._known: dict[str, duckdb.Statement] = {}
        self._characters = 0

    def of(self, connection: duckdb.DuckDBPyConnection, text: str) -> duckdb.Statement | str:
        """The statement that a text is, or the text, if it is of another kind, or several."""
        statement = self._known.pop(text, None)
        if statement is None:
            found = connection.extract_statements(text)
            if len(found) != 1 or found[0].type not in _KINDS:
                return text
            statement = found[0]
            self._characters += len(text)
        self._known[text] = statement  # now it is the last
        while self._characters > MOST_CHARACTERS and self._known:
            oldest = next(iter(self._known))
            del self._known[oldest]
            self._characters -= len(oldest)
        return statement
