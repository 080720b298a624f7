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

from zodiac_sql.database.connection import Parameters
from zodiac_sql.database.render import render
from zodiac_sql.database.store import Store

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
            for place, write in enumerate(some):
                if write.check:
                    write.check(counts[place])


def _counts(store: Store, writes: Sequence[_Write]) -> dict[int, int]:
    """Run statements as one. Returns how many rows those have written that have a check.

    To ask one for its count costs DuckDB a tenth of a millisecond.
    """
    if len(writes) == 1:
        return {0: store.count(writes[0].text, writes[0].parameters)}
    parameters: dict[str, object] = {}
    parts, asked = [], []
    for place, write in enumerate(writes):
        text, given = _named(write, place)
        parameters |= given
        parts.append((write.name or f"w{place}", text))
        asked += [place] if write.check else []
    # These are whole statements. Each is a constant, or was made of a tree.
    last = len(writes) - 1
    if asked in ([], [last]):  # then it tells its own count
        before = ", ".join(f"{name} AS ({text})" for name, text in parts[:last])
        return {last: store.count(f"WITH {before} {parts[last][1]}", parameters or None)}
    all_ = ", ".join(f"{name} AS ({text})" for name, text in parts)
    counts = " UNION ALL ".join(f"SELECT {place}, * FROM {parts[place][0]}" for place in asked)
    return dict(store.rows(f"WITH {all_} {counts}", parameters or None))


def _named(write: _Write, place: int) -> tuple[str, Mapping[str, object]]:
    """A statement with names for all of its parameters, and these: $1 of the third is $of2_1."""
    if write.parameters is None or isinstance(write.parameters, Mapping):
        return write.text, write.parameters or {}
    text = _NUMBERED.sub(rf"$of{place}_\1", write.text)
    return text, {f"of{place}_{n}": value for n, value in enumerate(write.parameters, 1)}
