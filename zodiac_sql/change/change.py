"""What a change did: the answer of every verb that changes something."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from zodiac_sql.change.stats import Stats
from zodiac_sql.errors import Violation
from zodiac_sql.graph.hypergraph import Hypergraph
from zodiac_sql.names import is_filter
from zodiac_sql.program.clock import Ticked
from zodiac_sql.rewrite.hypertree.stored import StoredTree
from zodiac_sql.rewrite.rewritten_hypernode import ModuleRow

if TYPE_CHECKING:
    import pyarrow as pa

    from zodiac_sql.change.explained import ChangeExplanation
    from zodiac_sql.change.sides import Sides


AtWork = Mapping[int, tuple[ModuleRow | StoredTree, ...]]
"""The modules at work and the trees of decomposed rules, by the number of their hypernode."""


@dataclass(frozen=True, slots=True)
class HypernodeChange:
    """What a change did to hypernodes.

    `created` hypernodes have new rules only. `merged` maps a hypernode to the old ones that became
    it; `split` maps an old hypernode to those that it fell apart into. `dropped` hypernodes have no
    rule left. `updated` hypernodes had work because their rules or inputs changed; all others are
    `untouched`. A hypernode that changes keeps its number as long as most of its rules stay
    together.
    """

    created: tuple[str, ...] = ()
    merged: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    split: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    untouched: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Streamed:
    """Which updates of a stream a change applies: numbers from 1, `last` included.

    `arrived` is when the first of them arrived (seconds, time.perf_counter). `waiting` is how many
    later updates had arrived when this change began.
    """

    first: int
    last: int
    arrived: float
    waiting: int


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Change:
    """The outcome of one atomic change.

    `inserted` and `deleted` give, for each predicate concerned, how many facts entered or left its
    extension (explicit or derived). `hypernodes` tells which hypernodes came, went and had work.
    `stats` has times and counts of work (zodiac_sql.change.stats). `seconds` is the time of the
    whole change. `notes` are remarks for people, such as graph names ignored, or facts that stay
    because rules derive them. `updates` are the numbers, from 1, of the updates of a stream that
    the change applied; outside a stream it is empty. `violations` are those of constraints that the
    change has brought with `check=False`, or for which a preview would be refused.
    """

    inserted: Mapping[str, int]
    hypernodes: HypernodeChange
    stats: Stats
    seconds: float
    notes: tuple[str, ...] = ()
    updates: range = range(0)
    violations: tuple[Violation, ...] = ()
    _left_window: Callable[[str, tuple[object, ...]], bool] = field(
        default=lambda *_: False, repr=False, compare=False
    )
    """Whether an explicit fact that is gone fell out of a window, by its values as stored."""
    _ticked: Ticked | None = field(default=None, repr=False, compare=False)
    """How it has moved the clock."""
    _deleted: Callable[[], dict[str, int]] = field(default=dict, repr=False, compare=False)
    _facts: Callable[[str, str, int | None], pa.Table] | None = field(
        default=None, repr=False, compare=False
    )
    _sides: Callable[[], Sides] | None = field(default=None, repr=False, compare=False)
    _why: Callable[[Change, str], ChangeExplanation] | None = field(
        default=None, repr=False, compare=False
    )
    _graphs: tuple[Hypergraph, Hypergraph] = field(
        default=(Hypergraph(), Hypergraph()), repr=False, compare=False
    )
    _modules: Callable[[], tuple[AtWork, AtWork]] = field(
        default=lambda: ({}, {}), repr=False, compare=False
    )

    def __str__(self) -> str:
        """The change in ten lines."""
        from zodiac_sql.change.summary import summary

        return summary(self)

    def _repr_html_(self) -> str:
        """The change as a notebook shows it."""
        from zodiac_sql.change.summary import summary_html

        return summary_html(self)

    @property
    def deleted(self) -> dict[str, int]:
        """For each predicate concerned, how many facts left its extension.

        If a table vanished with its rule and other tables may hold the same facts, these are
        counted when first asked for, or before the next change. (Raises QueryError if another
        connection has changed the file by then.)
        """
        return {name: count for name, count in self._deleted().items() if not is_filter(name)}

    def inserted_facts(self, predicate: str, limit: int | None = None) -> pa.Table:
        """The facts of a predicate that entered its extension, at most `limit` of them.

        The table has the columns of the predicate, as `kb.table` has them: symbols as text, other
        values in their own types; `holds: bool` for a predicate without columns.

        Raises QueryError if there is no such predicate, and once the next change has begun, because
        the facts are kept only until then.
        """
        assert self._facts is not None
        return self._facts("inserted", predicate, limit)

    def deleted_facts(self, predicate: str, limit: int | None = None) -> pa.Table:
        """The facts of a predicate that left its extension, with the columns and errors of
        `inserted_facts`.
        """
        assert self._facts is not None
        return self._facts("deleted", predicate, limit)

    def marked_facts(self, predicate: str) -> pa.Table:
        """The facts of a predicate that are marked for the next update of a stream.

        Marked are the explicit facts that the next update deletes, and derived facts that follow
        from them, as far as this update noticed (paper 4, Algorithm 1). Strategies without marking
        mark none. Columns and errors are those of `inserted_facts`.
        """
        assert self._facts is not None
        return self._facts("marked", predicate, None)

    def why(self, goal: str) -> ChangeExplanation:
        """Why a fact entered or left its extension with this change.

        `goal` is a fact as in rules, "anomaly(wt2)". The answer goes down to the facts and rules
        that the change inserted, deleted, added or dropped. Raises ProgramError for a goal that
        cannot be read, and QueryError if the fact neither entered nor left, or once the next change
        has begun.
        """
        assert self._why is not None
        return self._why(self, goal)

    def sides(self) -> Sides:
        """The extensions before and after the change, for who explains it."""
        assert self._sides is not None
        return self._sides()

    @property
    def before(self) -> Hypergraph:
        """The HRDG before the change. `kb.graph(change)` draws the one before and the one after."""
        return self._graphs[0]

    @property
    def after(self) -> Hypergraph:
        """The HRDG after the change."""
        return self._graphs[1]

    @property
    def modules(self) -> tuple[AtWork, AtWork]:
        """The modules at work before and after the change, by the number of their hypernode."""
        return self._modules()

    def __bool__(self) -> bool:
        """Whether anything entered or left an extension."""
        return bool(self.inserted or self.deleted)
