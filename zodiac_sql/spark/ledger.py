"""What an update of a materialisation has changed so far, and what is still to be done."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.language.syntax import Column, Rule
from zodiac_sql.spark.left_to_duckdb import leaves
from zodiac_sql.spark.semi_naive import without
from zodiac_sql.spark.tables import Tables, after
from zodiac_sql.spark.versions import Table
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.plan import Plan, Version, gained_variants, lost_variants, whole
from zodiac_sql.sql.relations import Relation, relation_query, source

NOTHING = Table()


@dataclass(slots=True)
class Ledger:
    """The tables of predicates before the change and after it, and what they gained and lost.

    `columns` are those after the change.
    """

    tables: Tables
    columns: Mapping[str, tuple[Column, ...]]
    before: Mapping[str, Table]
    after: dict[str, Table] = field(default_factory=dict)
    gained: dict[str, Table] = field(default_factory=dict)
    lost: dict[str, Table] = field(default_factory=dict)

    def note(self, predicate: str, gained: Table, lost: Table) -> None:
        """Note how a table has changed."""
        self.after[predicate] = after(self.before.get(predicate, NOTHING), gained, lost)
        self.gained[predicate], self.lost[predicate] = gained, lost

    def note_whole(self, predicate: str, table: Table, gained: Table, lost: Table) -> None:
        """The same for a table that was written anew. If it has the same facts, the old one stays:
        who follows the tables shall see no change.
        """
        old = self.before.get(predicate, NOTHING)
        same = not gained.rows and not lost.rows and old.types == table.types
        self.after[predicate] = old if same else table
        self.gained[predicate], self.lost[predicate] = gained, lost

    def relation(self, predicate: str, version: Version) -> Relation:
        """What a scan of a predicate reads."""
        side = {
            Version.BEFORE: self.before, Version.INSERTED: self.gained,
            Version.DELETED: self.lost,
        }.get(version, self.after)  # fmt: skip
        return self.tables.relation(side.get(predicate, NOTHING), self.columns[predicate])

    @property
    def context(self) -> Context:
        types = {name: [c.meant for c in columns] for name, columns in self.columns.items()}
        return Context(self.relation, types, {}, {}, spelled=True, leaves=leaves)

    def changed(self, names: Iterable[str]) -> tuple[frozenset[str], frozenset[str]]:
        """Those of some predicates that gained facts, and those that lost some."""
        names = set(names)
        gained = frozenset(n for n in names if n in self.gained and self.gained[n].rows)
        return gained, frozenset(n for n in names if n in self.lost and self.lost[n].rows)


@dataclass(frozen=True, slots=True)
class DueHypernode:
    """A hypernode to be maintained; `came` and `gone` are rules, and `kept` those of its rules that
    have filled its tables. If they meant something else then, it is evaluated `anew`."""

    hypernode: Hypernode
    kept: Sequence[Rule]
    came: Sequence[Rule]
    gone: Sequence[Rule]
    anew: bool = False


def refuting(ledger: Ledger, task: DueHypernode) -> list[Plan]:
    """Plans for the facts that lose a derivation by the change, as far as one rule tells."""
    gained, lost = ledger.changed(task.hypernode.reads - {*task.hypernode.derives})
    plans = [plan for rule in task.kept for plan in lost_variants(rule, gained, lost)]
    return [*plans, *(whole(rule, Version.BEFORE) for rule in task.gone)]


def deriving(ledger: Ledger, task: DueHypernode) -> list[Plan]:
    """Plans for the facts that gain a derivation by the change, as far as one rule tells."""
    gained, lost = ledger.changed(task.hypernode.reads - {*task.hypernode.derives})
    plans = [plan for rule in task.kept for plan in gained_variants(rule, gained, lost)]
    return [*plans, *map(whole, task.came)]


def compared(ledger: Ledger, predicate: str, table: Table) -> tuple[Table, Table]:
    """What a new table has that the old one has not, and the other way round."""
    columns = ledger.columns[predicate]
    old = ledger.before.get(predicate, NOTHING)
    return minus(ledger.tables, table, old, columns), minus(ledger.tables, old, table, columns)


def minus(tables: Tables, facts: Table, others: Table, columns: tuple[Column, ...]) -> Table:
    """The facts that are not among others."""
    if not facts.rows or not others.rows:
        return facts
    query, known = (tables.relation(table, columns) for table in (facts, others))
    return tables.computed(without(relation_query(query), known, source(known, "x")), columns)
