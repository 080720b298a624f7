"""What a change of few facts is given, and what comes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from zodiac_sql.database.rule_work import RuleWork
from zodiac_sql.lookups.values import Fact


@dataclass(frozen=True, slots=True)
class Given:
    """Explicit facts of a predicate that a change deletes and inserts. No fact is both."""

    deleted: Sequence[Fact]
    inserted: Sequence[Fact]


@dataclass(frozen=True, slots=True)
class TableEdit:
    """The rows that go out of a table and come in. Ranks, if it has any, stand last in `added`."""

    removed: Sequence[Fact]
    added: Sequence[Fact]
    ranked: bool

    @property
    def moved(self) -> tuple[int, int]:
        """How many facts the table gains, and how many it loses."""
        facts = {row[:-1] if self.ranked else row for row in self.added}
        kept = sum(row in facts for row in self.removed)
        return len(self.added) - kept, len(self.removed) - kept


@dataclass(frozen=True, slots=True)
class Moved:
    """What left and entered the extension of a predicate, and the edits of tables by owner."""

    left: Sequence[Fact]
    entered: Sequence[Fact]
    edits: Mapping[int, TableEdit]


@dataclass(frozen=True, slots=True)
class Visited:
    """What a hypernode had to do, counted in facts as maintain/contract.py counts them."""

    checked: int
    overdeleted: int
    rederived: int
    backward: int
    forward: int
    iterations: int
    seconds: float
    rules: RuleWork | None = None
    """What its rules took, if it has several."""
