"""The contract between a change and the strategies that maintain one hypernode.

A strategy gets a `Task`: a hypernode whose own tables, in the file, are the least fixpoint of its
rules over its inputs as they were; the inputs before and after the change; and exactly what entered
and left each of them. It returns a `Maintained`: edits, or new tables, that make the hypernode's
tables the least fixpoint over the inputs as they are. It writes temporary tables only.

If rules came or went, its tables are those of `heritage` (graph/restructuring.py): least fixpoints
of the rules without the new ones, and with those that were lost. maintain/steps/change_plans.py
accounts for that, so an operator that asks it what may be lost and gained need not know of it. A
hypernode that merges and may lose something is recomputed.

What the driver (change/materialise.py) relies upon:

* `inserted` of a table holds exactly the facts that it gains, `deleted` those that it loses; both
  are named with CHANGE_FACTS, so that they last until the next change.
* If the tables have ranks, these are in order afterwards, or `ranked` says that they are not. In
  order means: every fact of a table that does not also come from outside can be derived by a rule
  from facts whose ranks are lower (facts from outside count as 0).
* Facts that reach a recursive hypernode from outside are inputs. Its own tables hold what its rules
  derive, even if it is also known from outside.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace

from zodiac_sql.cost.operator import Decision, Declined
from zodiac_sql.database.statement_cache import StatementCache
from zodiac_sql.database.store import Store
from zodiac_sql.evaluate.partition.closure import Closure
from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.graph.restructuring import Heritage
from zodiac_sql.language.functions import Functions
from zodiac_sql.language.schema import Schema
from zodiac_sql.language.syntax import Rule, Type
from zodiac_sql.names import derived, stem
from zodiac_sql.rewrite.forms import Forms
from zodiac_sql.rewrite.rewritten_hypernode import ModuleRow
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.plan import Version
from zodiac_sql.sql.relations import Part, Relation
from zodiac_sql.storage.edits import Delta, Edit
from zodiac_sql.storage.sources import Sources


@dataclass(frozen=True, slots=True)
class Task:
    """One hypernode and a change of its inputs.

    `before` and `after` are the tables of all predicates; in both, the hypernode's own are as they
    were. `deltas` has every input that changed; for a predicate that the hypernode derives itself,
    it has the change of the facts from outside. `ranked` tells whether ranks are reliable.
    """

    store: Store
    cache: StatementCache
    forms: Forms
    schema: Schema
    types: Mapping[str, tuple[Type | None, ...]]
    functions: Functions
    ids: Mapping[str, int]
    before: Sources
    after: Sources
    deltas: Mapping[str, Delta]
    ranked: bool
    heritage: Heritage | None = None
    touched: Mapping[str, Relation] = field(default_factory=dict)
    """The groups of aggregates that the change reaches, by the name of their scan: a strategy finds
    them first (maintain/steps/aggregate_groups.py)."""
    modules: tuple[ModuleRow, ...] = ()
    """The modules at work: `hypernode` has the rules that they leave, and their own
    (rewrite/rewritten_hypernode.py)."""
    closures: Mapping[str, Closure] = field(default_factory=dict)
    """The relations that are kept as partitions, while they are maintained
    (maintain/steps/partitions.py)."""
    edges: str | None = None
    """The relation whose closure the hypernode is, if its one rule prolongs paths along it at one
    end, and what is known of its predicate from outside is this relation, before and after."""
    reconsiders: bool = False
    """Whether something else may be at work in the hypernode if it is evaluated anew."""
    most_rounds: int | None = None
    """After so many rounds of a loop the whole change is to be made by look-ups."""

    @property
    def hypernode(self) -> Hypernode:
        """The rules that are evaluated."""
        return self.forms.hypernode

    def ends_after(self, rounds: int) -> bool:
        """Whether a loop is to end after so many rounds, because look-ups take no longer."""
        return self.most_rounds is not None and rounds >= self.most_rounds

    def stored(self, predicate: str) -> Part | None:
        """The hypernode's table of a predicate as it is in the file, if it has rows.

        Where hypernodes have merged, that of the largest.
        """
        if self.heritage and self.heritage.base not in self.heritage.tables[predicate]:
            return None
        parts = self.before.derived.get(predicate, {}).get(self.hypernode.id, ())
        if self.heritage and len(self.heritage.origins) > 1:  # the largest may have no table of it
            name = derived(self.heritage.base, self.schema[predicate].sql_name)
            parts = tuple(part for part in parts if part.table == name)
        return parts[0] if parts and parts[0].rows else None

    def held(self, predicate: str) -> tuple[Part, ...]:
        """All tables of a predicate that the hypernode begins with, and that have rows."""
        parts = self.before.derived.get(predicate, {}).get(self.hypernode.id, ())
        return tuple(part for part in parts if part.rows)

    def stem(self, predicate: str) -> str:
        """The end of the names of the hypernode's tables of a predicate."""
        return stem(self.hypernode.id, predicate, self.schema[predicate].sql_name)

    def inputs(self, name: str, version: Version) -> Relation:
        """What a scan of an input reads."""
        if version is Version.TOUCHED:
            return self.touched[name]
        if version is Version.BEFORE and name not in self.before.schema:
            return Relation(self.schema[name].columns, ())
        if version is Version.BEFORE:
            # A rule that was lost may have read what is now the hypernode's own. Only a recursive
            # one keeps its tables apart from what is outside (maintain/steps/working_table.py).
            own = self.hypernode.id if self.hypernode.recursive else None
            return self.before.relation(name, without=own)
        if version in (Version.INSERTED, Version.DELETED):
            delta = self.deltas.get(name)
            if delta is None:
                return Relation(self.schema[name].columns, ())
            return delta.inserted if version is Version.INSERTED else delta.deleted
        own = self.hypernode.id if name in self.hypernode.derives else None
        return self.after.relation(name, without=own)

    def context(self, relation: Callable[[str, Version], Relation]) -> Context:
        return Context(relation, self.types, self.functions, self.ids)

    def changed(self) -> tuple[frozenset[str], frozenset[str]]:
        """The inputs that gained facts, and those that lost some."""
        inserted = frozenset(n for n, delta in self.deltas.items() if delta.inserted.rows)
        deleted = frozenset(n for n, delta in self.deltas.items() if delta.deleted.rows)
        return inserted, deleted

    @property
    def merges(self) -> bool:
        """Whether the hypernode takes over tables of several."""
        return self.heritage is not None and len(self.heritage.origins) > 1

    @property
    def lasting(self) -> tuple[Rule, ...]:
        """The rules that have filled the tables and are still there."""
        if self.heritage is None:
            return self.hypernode.rules
        new = {rule.name for rule in self.heritage.new}
        return tuple(rule for rule in self.hypernode.rules if rule.name not in new)


@dataclass(frozen=True, slots=True)
class Work:
    """What a strategy did, counted in facts, to be compared with the tables of paper 3.

    A set-oriented statement finds all heads of many rule instances at once, each head counted once
    per statement; so `forward` and `backward` are lower bounds of the paper's derivations.

    * checked: facts whose provability was examined (paper 3: |C|).
    * overdeleted: facts taken out for the time being (DRed: |D|).
    * rederived: facts of these that came back.
    * forward: heads found by propagating deletions, saturating and inserting (paper 3: "Sat", "Del
      Prop", DR2 and DR5).
    * backward: instances looked at to find another derivation of a fact ("Bwd", DR4): facts found
      in bodies by `bf`, heads found by all others.
    * iterations: rounds of rule application.

    And to be compared with those of paper 4:

    * deletions: heads found by propagating deletions, except those that were marked (line 23);
      part of `forward`.
    * insertions: heads found by inserting (line 28); part of `forward`, too.
    * marked: derived facts that were marked for the next update ("im.").
    """

    checked: int = 0
    overdeleted: int = 0
    rederived: int = 0
    forward: int = 0
    backward: int = 0
    iterations: int = 0
    deletions: int = 0
    insertions: int = 0
    marked: int = 0

    def plus(self, **counts: int) -> Work:
        """The work with some counts increased."""
        return replace(self, **{name: getattr(self, name) + n for name, n in counts.items()})

    def and_(self, other: Work) -> Work:
        """The sum of two."""
        return self.plus(**asdict(other))


@dataclass(frozen=True, slots=True)
class Maintained:
    """What a strategy found out. Tables that stay as they are have no edit."""

    edits: Mapping[str, Edit]
    work: Work
    method: str
    """How: the strategy, or for a recomputation how the fixpoint was reached."""
    ranked: bool
    """Whether the tables have reliable ranks."""
    marked: Mapping[str, Part] = field(default_factory=dict)
    """Facts of the hypernode that are marked for the next update of a stream
    (maintain/papers/marking.py)."""
    evaluation: Decision | None = None
    """How it was evaluated, if that was done from scratch."""


@dataclass(frozen=True, slots=True)
class Anew:
    """The hypernode is to be evaluated anew, perhaps with something else at work in it."""


@dataclass(frozen=True, slots=True)
class ManyRounds:
    """A loop has taken so many rounds that look-ups, with copies made for them, take no longer."""


Outcome = Maintained | Anew | ManyRounds
"""What comes of a task."""

Stopped = Declined | ManyRounds
"""Why steps have stopped before their end."""
