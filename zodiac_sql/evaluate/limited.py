"""What the limits of a change leave to one recursive statement that does many rounds.

The statement ends as soon as it has passed a limit, and is told to be above it when what it has
found is counted (database/limits.py). A statement whose rows have tags counts its rounds by a row
(sql/counted_rounds.py), one with a key by the ranks of what it finds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from sqlglot import exp

from zodiac_sql.database.limits import Bounds
from zodiac_sql.database.statements import parameter, temp_table
from zodiac_sql.database.store import Store
from zodiac_sql.language.syntax import Rule
from zodiac_sql.names import RANK, ROUND, TAG
from zodiac_sql.sql.counted_rounds import COUNTER, MOST_ROUNDS
from zodiac_sql.sql.tagged import Layout

_ANY_NUMBER = 2**62

MOST = "most"
"""The parameter that tells how many rows of a statement are enough."""

MOST_ROWS = "rows"
"""The parameter that tells how many rows a statement with a key may have found before a round."""


@dataclass(frozen=True, slots=True)
class Limited:
    """The limits of the change that is in progress, if rows or rounds are limited."""

    store: Store
    bounds: Bounds

    @classmethod
    def begin(cls, store: Store) -> Limited | None:
        """None if nothing needs to be counted."""
        bounds = store.watch.bounds
        return cls(store, bounds) if bounds is not None and store.watch.counts else None

    @property
    def rounds(self) -> int:
        """How many rounds there may be."""
        left = self.bounds.iterations_left
        return _ANY_NUMBER if left is None else left

    def most(self, begun: int, budget: int | None) -> int | None:
        """So many rows of a statement that begins with some are enough to tell that it finds more
        than it may, or more than a budget with these. None: as many as there are.

        In each round, the counter is one of them.
        """
        within = None if budget is None else max(budget - begun, 0)
        left = [some for some in (self.bounds.rows_left, within) if some is not None]
        return begun + 2 * min(left) + 3 if left else None

    def by_key(self, first: int, begun: int) -> dict[str, int]:
        """The parameters of `within_limits` for a statement with a key, whose ranks are rounds
        after the `first`, and which begins with so many rows.
        """
        last = first + min(self.rounds, _ANY_NUMBER - first)
        return {MOST_ROUNDS: last, **most_rows(self.bounds, begun)}

    def counted(
        self, table: str, layout: Layout, begun: Mapping[str, int], rules: Iterable[Rule]
    ) -> int:
        """Count what a statement with a counter has found of each predicate, besides what it has
        begun with. Returns how many rows that are with these. Raises LimitError.
        """
        numbers = by_tag(self.store, table, ROUND)
        _, rounds = numbers.pop(COUNTER, (0, 0))
        found = {tag: rows for tag, (rows, _) in numbers.items()}
        self._found(found, layout, begun, rules, max(rounds - 1, 0))
        return sum(found.values())

    def counted_by_rank(
        self,
        table: str,
        layout: Layout,
        begun: Mapping[str, int],
        rules: Iterable[Rule],
        first: int,
    ) -> None:
        """The same for a statement with a key, in which ranks are rounds after the `first`."""
        numbers = by_tag(self.store, table, RANK)
        found = {tag: rows for tag, (rows, _) in numbers.items()}
        rounds = max(rank for _, rank in numbers.values()) - first
        left = self.bounds.rows_left
        if left is not None and sum(found.values()) - sum(begun.values()) > left:
            rounds -= 1  # the last one has not ended
        self._found(found, layout, begun, rules, rounds)

    def _found(
        self,
        found: Mapping[int, int],
        layout: Layout,
        begun: Mapping[str, int],
        rules: Iterable[Rule],
        rounds: int,
    ) -> None:
        names: dict[str, list[str]] = {name: [] for name in layout.picked}
        for rule in rules:
            names[rule.head.predicate].append(rule.name)
        derived = {
            tuple(names[name]): found.get(picked.tag, 0) - begun.get(name, 0)
            for name, picked in layout.picked.items()
        }
        self.bounds.found_at_once(derived, rounds)


def parameters_of(
    limited: Limited | None, begun: Mapping[str, int], budget: int | None = None
) -> dict[str, int]:
    """The parameters of a statement that begins with so many facts, and may be within limits and a
    budget. It has parameter `most` if its rows are to be no more than needed.
    """
    if limited is None:
        return {} if budget is None else {MOST: budget + 1}
    most = limited.most(sum(begun.values()), budget)
    return {MOST_ROUNDS: limited.rounds} | ({} if most is None else {MOST: most})


def most_rows(bounds: Bounds | None, begun: int) -> dict[str, int]:
    """The parameter of a statement that begins with so many rows, if rows are limited."""
    left = None if bounds is None else bounds.rows_left
    return {} if left is None else {MOST_ROWS: begun + left}


def by_tag(store: Store, table: str, number: str) -> dict[int, tuple[int, int]]:
    """How many rows of a temporary table have each tag, and the highest number of these."""
    tag, highest = exp.column(TAG, quoted=True), exp.Max(this=exp.column(number, quoted=True))
    query = exp.select(tag, exp.Count(this=exp.Star()), highest).from_(temp_table(table))
    query = query.group_by(tag.copy(), copy=False)
    return {tag: (rows, number or 0) for tag, rows, number in store.rows(query)}


def within_limits(name: str, step: exp.Query, given: Collection[str]) -> exp.Query:
    """What a round of a recursion with a key of this name finds, within limits that are given."""
    limits = []
    if MOST_ROUNDS in given:
        rank = exp.column(RANK, table="s", quoted=True)
        limits.append(exp.LTE(this=rank, expression=parameter(MOST_ROUNDS)))
    if MOST_ROWS in given:
        found = exp.select(exp.Count(this=exp.Star())).from_(exp.table_(name, db="recurring"))
        limits.append(exp.LTE(this=found.subquery(copy=False), expression=parameter(MOST_ROWS)))
    if not limits:
        return step
    rows = exp.select(exp.Star()).from_(step.subquery("s", copy=False), copy=False)
    return rows.where(*limits, copy=False)
