"""Statements that write, run as one: a WITH that has an INSERT, DELETE or UPDATE for each of them.

DuckDB takes a millisecond for each statement, whatever it writes. Together they take half of that.

Rule: they take effect in the order in which they were added, and each sees what those before it
have written, as if they were run one after the other. (DuckDB runs them so. It is not what the
standard or PostgreSQL say, and tests/database/test_together.py looks whether it stays so.)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zodiac_sql.database.render import render
from zodiac_sql.database.store import Parameters, Store

if TYPE_CHECKING:
    from sqlglot import exp

Check = Callable[[int], None]

MOST = 32
"""So many statements become one. Planning takes longer for each of them beyond: twice for 120."""

_NUMBERED = re.compile(r"\$(\d+)")


@dataclass(frozen=True, slots=True)
class _Write:
    text: str
    parameters: Parameters
    check: Check | None
    name: str | None


class Together:
    """Statements that wait, to be run as one. They are part of a transaction that others begin."""

    __slots__ = ("_waiting", "store")

    def __init__(self, store: Store) -> None:
        self.store = store
        self._waiting: list[_Write] = []

    def add(
        self,
        statement: str | exp.Expr,
        parameters: Parameters = None,
        check: Check | None = None,
        name: str | None = None,
    ) -> None:
        """Let a statement wait. Later, `check` is told how many rows it has written.

        It is an INSERT, DELETE or UPDATE that returns no rows. Parameters in a list belong to a
        statement that is a constant of this package. Parameters with a name have the same value in
        all statements that have them. The next statement can read the number of rows from `name`.
        """
        text = statement if isinstance(statement, str) else render(statement)
        self._waiting.append(_Write(text, parameters, check, name))

    def run(self) -> None:
        """Run what waits, and then the checks, in the order of the statements."""
        waiting, self._waiting = self._waiting, []
        for first in range(0, len(waiting), MOST):
            some = waiting[first : first + MOST]
            counts = _counts(self.store, some)
            for write, count in zip(some, counts, strict=True):
                if write.check:
                    write.check(count)


def _counts(store: Store, writes: Sequence[_Write]) -> list[int]:
    """Run statements as one. Returns how many rows each has written."""
    if len(writes) == 1:
        return [store.count(writes[0].text, writes[0].parameters)]
    parameters: dict[str, object] = {}
    parts, asked = [], []
    for place, write in enumerate(writes):
        text, given = _named(write, place)
        parameters |= given
        name = write.name or f"w{place}"
        parts.append(f"{name} AS ({text})")
        asked.append(f"SELECT {place}, * FROM {name}")
    # These are whole statements. Each is a constant, or was made of a tree.
    text = f"WITH {', '.join(parts)} {' UNION ALL '.join(asked)}"
    found = dict(store.rows(text, parameters or None))
    return [found[place] for place in range(len(writes))]


def _named(write: _Write, place: int) -> tuple[str, Mapping[str, object]]:
    """A statement with names for all of its parameters, and these: $1 of the third is $of2_1."""
    if write.parameters is None or isinstance(write.parameters, Mapping):
        return write.text, write.parameters or {}
    text = _NUMBERED.sub(rf"$of{place}_\1", write.text)
    return text, {f"of{place}_{n}": value for n, value in enumerate(write.parameters, 1)}
