"""Statements that DuckDB has parsed, so that it need not parse the same text again.

Changes and questions of one kind run the same texts again and again, and so do all databases that a
process opens. To parse one takes 0.1 to 0.3 ms, a tenth to a fifth of what a statement of few rows
takes. What a name in a statement means is found when it is run.
"""

from __future__ import annotations

import duckdb

MOST_CHARACTERS = 100_000
"""So long are the texts of the statements that were run lately, all together, and as long those of
the ones before. A statement takes some 25 bytes for each character."""

_KINDS = frozenset(
    {
        duckdb.StatementType.SELECT,
        duckdb.StatementType.INSERT,
        duckdb.StatementType.UPDATE,
        duckdb.StatementType.DELETE,
        duckdb.StatementType.CREATE,
        duckdb.StatementType.ALTER,
        duckdb.StatementType.DROP,
        duckdb.StatementType.TRANSACTION,
    }
)
"""The kinds of statements that are kept. Others are few, and what some mean depends on settings."""

Statements = tuple[duckdb.Statement, ...]


class Parsed:
    """The statements that were run lately, by their texts, and those of the time before.

    Several threads may use it: each reads or writes a dict in one step, and one that loses what
    another has kept only lets a text be parsed once more.
    """

    __slots__ = ("_before", "_characters", "_lately")

    def __init__(self) -> None:
        self._lately: dict[str, Statements] = {}
        self._before: dict[str, Statements] = {}
        self._characters = 0

    def of(self, connection: duckdb.DuckDBPyConnection, text: str) -> Statements | tuple[str]:
        """The statements that a text consists of, or the text, if one is of another kind."""
        statements = self._lately.get(text)
        if statements is None:
            statements = self._before.get(text) or tuple(connection.extract_statements(text))
            if not statements or any(one.type not in _KINDS for one in statements):
                return (text,)
            self._keep(text, statements)
        return statements

    def _keep(self, text: str, statements: Statements) -> None:
        if self._characters + len(text) > MOST_CHARACTERS:
            self._before, self._lately, self._characters = self._lately, {}, 0
        if len(text) <= MOST_CHARACTERS:
            self._lately[text] = statements
            self._characters += len(text)


SHARED = Parsed()
"""Those of all connections of this process."""
