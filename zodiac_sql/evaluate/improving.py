"""What is known of predicates that keep the best value of each group, while values improve."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from zodiac_sql.database.dictionary import KNOWN
from zodiac_sql.database.runner import Runner
from zodiac_sql.database.store import Store
from zodiac_sql.errors import EvaluationError
from zodiac_sql.evaluate.cache_keys import plan_key
from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.language.binding import functions_in
from zodiac_sql.language.syntax import Best, Column, Type
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.emptiness import solvable
from zodiac_sql.sql.plan import Plan, Version, delta_plans
from zodiac_sql.sql.relations import Part, Relation, part_query
from zodiac_sql.storage.extensions import decoded

MOST_IDLE_ROUNDS = 1_000
"""Values that get better for as many rounds more than there are groups get better for ever."""


@dataclass(slots=True)
class Improving:
    """One predicate while its values improve.

    What is known is `stored` without the facts in `gone_table`, and `table` with what is better or
    new. A temporary table exists if it has rows.
    """

    predicate: str
    columns: tuple[Column, ...]
    best: Best
    table: str
    gone_table: str
    stored: Part | None = None
    gone: int = 0
    rows: int = 0
    delta: Part | None = None
    guarded: bool = False
    """Whether minus infinity is an error."""
    turn: int = field(default=0)

    @property
    def shape(self) -> Relation:
        """A relation with its columns."""
        return Relation(self.columns, ())

    @property
    def base(self) -> Part | None:
        """What is left of the stored facts."""
        if self.stored is None:
            return None
        return replace(self.stored.without(self.gone_table if self.gone else None), ranked=False)

    @property
    def better(self) -> Part | None:
        """What is better than before, or new."""
        return Part("temp", self.table, self.rows) if self.rows else None

    @property
    def known(self) -> Relation:
        """The best values so far."""
        parts = (self.base, self.better)
        return Relation(self.columns, tuple(part for part in parts if part and part.rows))

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return sum(part.rows for part in self.known.parts) - self.gone

    def relation(self, version: Version) -> Relation:
        """What a scan of the predicate reads."""
        if version is Version.DELTA:
            return replace(self.shape, parts=(self.delta,) if self.delta else ())
        if version is Version.CANDIDATE:
            gone = Part("temp", self.gone_table, self.gone)
            return replace(self.shape, parts=(gone,) if self.gone else ())
        return self.known


Improvings = Mapping[str, Improving]


@dataclass(frozen=True, slots=True)
class Loop:
    """What one run works with. `context` reads all but the hypernode's own predicates."""

    runner: Runner
    hypernode: Hypernode
    context: Context
    owns: Improvings

    @property
    def store(self) -> Store:
        return self.runner.store

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return sum(own.groups for own in self.owns.values())

    def inside(self) -> Context:
        """What the hypernode's rules read."""

        def relation(name: str, version: Version) -> Relation:
            own = self.owns.get(name)
            return own.relation(version) if own else self.context.relation(name, version)

        return replace(self.context, relation=relation)

    def text(self, key: Hashable, make: Callable[[], exp.Expr]) -> str:
        """The text of a statement about tables of the loop."""
        return self.runner.text(("improve", key), make)

    def onwards(self) -> list[Plan]:
        """The delta variants of all rules."""
        return [
            plan
            for rule in self.hypernode.rules
            for plan in delta_plans(self.runner.cache, rule, self.owns)
        ]

    def plans(self, plans: Sequence[Plan]) -> list[Plan]:
        """Those of some plans that may find something."""
        return solvable(plans, self.inside())

    def reads(self, plans: Sequence[Plan]) -> Hashable:
        """The tables that plans read."""
        inside = self.inside()
        return tuple((id(plan), plan_key(plan, inside)) for plan in plans)


def is_guarded(hypernode: Hypernode, column: Column) -> bool:
    """Whether rules compute with the floats of a column that depend on it."""
    own = {*hypernode.derives}
    return column.type is Type.FLOAT and any(
        own & rule.positive() and not {*"+-*/"}.isdisjoint(functions_in(rule.body))
        for rule in hypernode.rules
    )


def endless(loop: Loop, rounds: int) -> EvaluationError:
    """The error for values that get better for ever. It names a fact of the last round."""
    own = next(own for own in loop.owns.values() if own.delta)
    assert own.delta is not None
    rows = part_query(own.delta, own.shape).limit(1)
    (last,) = loop.store.rows(decoded(own.shape, rows, KNOWN))
    return EvaluationError(
        f"Its values get better for ever: {own.predicate}({', '.join(map(str, last))}) came in "
        f"round {rounds:,}, though there are only {loop.groups:,} groups. Look for a cycle that "
        "makes values better each time, such as one of negative length."
    )
