"""How the tables of one hypernode follow a change, on Spark.

Deletions by delete and rederive (paper 3, steps DR1 to DR5), insertions semi-naively; or from
scratch, where that is less work: if nothing is there yet, most of what a hypernode reads has
changed, half of it would be taken out, an aggregate has other facts to range over, or predicates
keep the best value of each group. The plans are those of the embedded engine (sql/plan.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.language.syntax import Aggregate, Column, Rule, atoms_of
from zodiac_sql.spark.improve import from_scratch
from zodiac_sql.spark.semi_naive import Own, close, grow, heads, within, without
from zodiac_sql.spark.tables import Tables, after
from zodiac_sql.spark.versions import Table
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.plan import (
    Plan,
    Version,
    candidate_check,
    gained_variants,
    lost_variants,
    whole,
)
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
        """The same for a table that was written anew."""
        self.after[predicate] = table
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
        types = {name: [c.type for c in columns] for name, columns in self.columns.items()}
        return Context(self.relation, types, {}, {}, spelled=True)

    def changed(self, names: Iterable[str]) -> tuple[frozenset[str], frozenset[str]]:
        """Those of some predicates that gained facts, and those that lost some."""
        names = set(names)
        gained = frozenset(n for n in names if n in self.gained and self.gained[n].rows)
        return gained, frozenset(n for n in names if n in self.lost and self.lost[n].rows)


@dataclass(frozen=True, slots=True)
class Task:
    """A hypernode to be maintained; `came` and `gone` are rules, and `kept` those of its rules that
    have filled its tables."""

    hypernode: Hypernode
    kept: Sequence[Rule]
    came: Sequence[Rule]
    gone: Sequence[Rule]


def maintain(ledger: Ledger, task: Task) -> str:
    """Maintain the tables of a hypernode. Returns how: "dred", "semi-naive" or "from scratch"."""
    if not _starts_over(ledger, task):
        taken = _overdeleted(ledger, task)
        if taken is not None:
            _rederive_and_insert(ledger, task, taken)
            return "dred" if any(table.rows for table in taken.values()) else "semi-naive"
    tables = ledger.tables
    owns, rounds = from_scratch(tables.frames, task.hypernode, ledger.columns, ledger.context)
    for _ in rounds:
        pass
    for predicate, own in owns.items():
        table = ledger.tables.taken(own.known, own.columns)
        gained, lost = compared(ledger, predicate, table)
        ledger.note_whole(predicate, table, gained, lost)
    return "from scratch"


def _starts_over(ledger: Ledger, task: Task) -> bool:
    """Whether the hypernode is evaluated from scratch right away."""
    if task.hypernode.bests:
        return True
    reads = task.hypernode.reads - {*task.hypernode.derives}
    gained, lost = ledger.changed(reads)
    ranged = (a for r in task.kept for a in r.body if isinstance(a, Aggregate))
    if any(atom.predicate in gained | lost for one in ranged for atom in atoms_of(one.body)):
        return True
    there = sum(ledger.before[p].rows for p in task.hypernode.derives if p in ledger.before)
    rows = sum(ledger.after[p].rows for p in reads if p in ledger.after)
    moved = sum(ledger.gained[p].rows for p in gained) + sum(ledger.lost[p].rows for p in lost)
    return not there or 2 * moved > rows or other_types(ledger, task.hypernode)


def other_types(ledger: Ledger, hypernode: Hypernode) -> bool:
    """Whether a column that the hypernode reads or derives has another type than before."""
    tables = ((p, ledger.before.get(p, NOTHING)) for p in {*hypernode.reads, *hypernode.derives})
    return any(
        table.rows and table.types != tuple(c.type for c in ledger.columns[p])
        for p, table in tables
    )


def _overdeleted(ledger: Ledger, task: Task) -> dict[str, Table] | None:
    """The facts that may have lost a derivation; None if they are half of all."""
    reads = task.hypernode.reads - {*task.hypernode.derives}
    gained, lost = ledger.changed(reads)
    plans = [plan for rule in task.kept for plan in lost_variants(rule, gained, lost)]
    plans += [whole(rule, Version.BEFORE) for rule in task.gone]
    owns = {p: Own(ledger.columns[p]) for p in task.hypernode.derives}
    most = sum(ledger.before.get(p, NOTHING).rows for p in owns) // 2
    context = ledger.context

    def relation(predicate: str, version: Version) -> Relation:
        if predicate in owns and version is Version.DELTA:
            return owns[predicate].relation(version)
        kinds = (Version.INSERTED, Version.DELETED)
        return context.relation(predicate, version if version in kinds else Version.BEFORE)

    inside = Context(relation, context.columns, {}, {}, spelled=True)
    frames = ledger.tables.frames
    for predicate, own in owns.items():
        if query := heads(predicate, own.columns, plans, inside):
            own.advance(frames, frames.computed(query))
    rounds = close(frames, task.kept, owns, inside)
    while sum(part.rows for own in owns.values() for part in own.known) <= most:
        if next(rounds, None) is None:
            return {p: ledger.tables.taken(own.known, own.columns) for p, own in owns.items()}
    return None


def _rederive_and_insert(ledger: Ledger, task: Task, taken: Mapping[str, Table]) -> None:
    """Bring back what can still be derived, and derive what is new."""
    tables = ledger.tables
    gained, lost = ledger.changed(task.hypernode.reads - {*task.hypernode.derives})
    plans = [plan for rule in task.kept for plan in gained_variants(rule, gained, lost)]
    plans += [whole(rule) for rule in task.came]
    plans += [candidate_check(rule) for rule in task.hypernode.rules]
    owns = {}
    for predicate, table in taken.items():
        columns = ledger.columns[predicate]
        left = after(ledger.before.get(predicate, NOTHING), NOTHING, table)
        parts = tables.relation(left, columns).parts
        owns[predicate] = Own(columns, parts[0] if parts else None)
    _grow(ledger, task, owns, plans, taken)
    for predicate, own in owns.items():
        found = tables.taken(own.new, own.columns)
        if taken[predicate].rows:
            more = minus(tables, found, taken[predicate], own.columns)
            ledger.note(predicate, more, minus(tables, taken[predicate], found, own.columns))
        else:
            ledger.note(predicate, found, NOTHING)


def _grow(
    ledger: Ledger,
    task: Task,
    owns: Mapping[str, Own],
    plans: Sequence[Plan],
    taken: Mapping[str, Table] | None = None,
) -> None:
    """Add what plans find, and what follows from it. Candidates are the facts that were `taken`."""
    outer = within(ledger.context, owns)

    def relation(predicate: str, version: Version) -> Relation:
        if version is Version.CANDIDATE:
            assert taken is not None
            return ledger.tables.relation(taken[predicate], ledger.columns[predicate])
        return outer.relation(predicate, version)

    inside = Context(relation, outer.columns, {}, {}, spelled=True)
    for _ in grow(ledger.tables.frames, task.hypernode.rules, owns, plans, inside):
        pass


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
