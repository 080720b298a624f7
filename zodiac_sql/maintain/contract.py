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

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace

from zodiac_sql.cost.operator import Decision, Declined
from zodiac_sql.database.runner import Runner
from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.graph.restructuring import Heritage
from zodiac_sql.language.syntax import Column, Rule
from zodiac_sql.names import derived, stem
from zodiac_sql.program.clock import Ticked
from zodiac_sql.rewrite.rewritten_hypernode import Inner
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.plan import Version
from zodiac_sql.sql.relations import Part, Relation
from zodiac_sql.storage.edits import Delta, Edit
from zodiac_sql.storage.sources import Sources


@dataclass(frozen=True, slots=True)
class Former:
    """What a hypernode has derived until now."""

    tables: Mapping[str, tuple[Part, ...]]
    """Its own tables by predicate, as they are in the file."""
    ranked: bool
    """Whether their ranks are reliable."""
    heritage: Heritage | None = None
    """Whose tables these are, and which rules have come and gone, if any have."""

    @property
    def merges(self) -> bool:
        """Whether the tables are those of several hypernodes."""
        return self.heritage is not None and len(self.heritage.origins) > 1

    def held(self, predicate: str) -> tuple[Part, ...]:
        """All tables of a predicate that have rows."""
        return tuple(part for part in self.tables.get(predicate, ()) if part.rows)

    def stored(self, predicate: str) -> Part | None:
        """The table of a predicate, if it has rows; of merged hypernodes that of the largest."""
        if self.heritage and self.merges:
            return self.brought(predicate, self.heritage.base)
        if self.heritage and self.heritage.base not in self.heritage.tables[predicate]:
            return None
        return next(iter(self.held(predicate)), None)

    def brought(self, predicate: str, origin: int) -> Part | None:
        """The table of a predicate that one of merged hypernodes brings along, if it has rows."""
        mine = derived(origin, "")
        tables = (p for p in self.held(predicate) if p.table.startswith(mine) and not p.read.pairs)
        return next(tables, None)

    def lasting(self, rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
        """Those of some rules that have filled the tables."""
        new = {rule.name for rule in self.heritage.new} if self.heritage else ()
        return tuple(rule for rule in rules if rule.name not in new) if new else rules


@dataclass(frozen=True, slots=True)
class ChangedInputs:
    """What has changed of what a hypernode reads.

    `before` and `after` have the tables of all predicates; in both, the hypernode's own are as they
    were. `deltas` has every input that changed; for a predicate that the hypernode derives itself,
    it has the change of the facts from outside.
    """

    hypernode: Hypernode
    before: Sources
    after: Sources
    deltas: Mapping[str, Delta]
    edges: str | None = None
    """The relation whose closure the hypernode is, if its one rule prolongs paths along it at one
    end, and what is known of its predicate from outside is this relation, before and after."""

    ticked: Ticked | None = None
    """How the clock has moved, if the rules say now()."""

    @property
    def changed(self) -> tuple[frozenset[str], frozenset[str]]:
        """Those that gained facts, and those that lost some."""
        inserted = frozenset(n for n, delta in self.deltas.items() if delta.inserted.rows)
        deleted = frozenset(n for n, delta in self.deltas.items() if delta.deleted.rows)
        return inserted, deleted

    def relation(self, name: str, version: Version) -> Relation:
        """What a scan of an input reads."""
        if version in (Version.INSERTED, Version.DELETED) and (delta := self.deltas.get(name)):
            return delta.inserted if version is Version.INSERTED else delta.deleted
        if version is Version.BEFORE and name in self.before.schema:
            # A rule that was lost may have read what is now the hypernode's own. Only a recursive
            # one keeps its tables apart from what is outside (maintain/steps/working_table.py).
            own = self.hypernode.id if self.hypernode.recursive else None
            return self.before.relation(name, without=own)
        if version in (Version.INSERTED, Version.DELETED, Version.BEFORE):
            return Relation(self.after.schema[name].columns, ())
        own = self.hypernode.id if name in self.hypernode.derives else None
        return self.after.relation(name, without=own)


@dataclass(frozen=True, slots=True)
class Instead:
    """What else may be done than to maintain the hypernode."""

    reconsiders: bool = False
    """Whether something else may be at work in it if it is evaluated anew."""
    most_rounds: int | None = None
    """After so many rounds of a loop the whole change is to be made by look-ups."""

    def ends_after(self, rounds: int) -> bool:
        """Whether a loop is to end after so many rounds, because look-ups take no longer."""
        return self.most_rounds is not None and rounds >= self.most_rounds


@dataclass(frozen=True, slots=True)
class Task:
    """One hypernode and a change of its inputs.

    `inner` has the rules that are evaluated, with modules and trees at work, and `context` has what
    they read: `inputs`, and what operators have found out (maintain/steps/aggregate_groups.py).
    """

    runner: Runner
    inner: Inner
    former: Former
    inputs: ChangedInputs
    context: Context
    instead: Instead

    @property
    def hypernode(self) -> Hypernode:
        """The rules that are evaluated."""
        return self.inner.hypernode

    def columns(self, predicate: str) -> tuple[Column, ...]:
        """The columns of a predicate after the change."""
        return self.inputs.after.schema[predicate].columns

    def stem(self, predicate: str) -> str:
        """The end of the names of the hypernode's tables of a predicate."""
        return stem(self.hypernode.id, predicate, self.inputs.after.schema[predicate].sql_name)


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
