"""One update of a materialisation: from the last version's tables to those of the next.

explicit facts: what really comes and goes  ->  hypernodes that the change reaches, in order
(on the driver if they are small, else on Spark)  ->  what extensions gained and lost
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa

from zodiac_sql.database.statements import distinct
from zodiac_sql.errors import DataError
from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.language.decimals import is_widened
from zodiac_sql.language.former_aggregates import meant_otherwise
from zodiac_sql.language.syntax import Column, Rule
from zodiac_sql.names import given, written
from zodiac_sql.spark.evaluated_program import EvaluatedProgram, copying, moved
from zodiac_sql.spark.explicit import facts_table, normal
from zodiac_sql.spark.frames import frames_of
from zodiac_sql.spark.here import DERIVED, Here, minus
from zodiac_sql.spark.ledger import NOTHING, DueHypernode, Ledger, compared
from zodiac_sql.spark.ledger import minus as minus_on_spark
from zodiac_sql.spark.maintenance import maintain, other_types
from zodiac_sql.spark.require import deriving
from zodiac_sql.spark.tables import Tables, types_of
from zodiac_sql.spark.versions import Manifest, Table
from zodiac_sql.spark.violations import require_none
from zodiac_sql.sql.relations import HOLDS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

LOGGER = logging.getLogger("zodiac_sql.spark")


@dataclass(slots=True)
class Updating:
    """An update: the last version and its program, the program after it, and the tables so far."""

    last: Manifest
    old: EvaluatedProgram
    new: EvaluatedProgram
    tables: Tables
    ledger: Ledger
    here: Here | None
    methods: dict[str, str]
    """How each hypernode was maintained that had something to do."""

    @classmethod
    def begin(
        cls,
        last: Manifest,
        old: EvaluatedProgram,
        new: EvaluatedProgram,
        tables: Tables,
        here: Here | None,
    ) -> Updating:
        before = {
            name: table
            for name in {*old.columns, *new.columns}
            if (table := extension(last, old, name)) is not None
        }
        for name, table in before.items():
            had, has = last.columns.get(name.partition("\0")[0]), new.columns.get(name)
            if (had, has) != ((HOLDS,), ()):  # a rule says now that it has no columns
                _require_comparable(name, table, has)
        ledger = Ledger(tables, {**old.columns, **new.columns}, before)
        return cls(last, old, new, tables, ledger, here, {})

    # --- explicit facts ---------------------------------------------------------------------------

    def change_explicit(
        self, inserts: Mapping[str, DataFrame], deletes: Mapping[str, DataFrame]
    ) -> None:
        """Find which explicit facts really come and go. A fact that does both is there in the end.

        Both are by full name of predicate.
        """
        for name in self.new.columns:
            if name in self.ledger.before:
                self.ledger.after[name] = self.ledger.before[name]
        for predicate in {*self.last.columns, *inserts}:
            columns = self.new.columns[predicate]
            there = self.last.tables.get(given(predicate), NOTHING)
            other = there.rows and there.types != types_of(columns)
            if predicate in inserts or predicate in deletes or other:
                if other:
                    there = self._retyped(there, columns)
                come, go = (self._distinct(predicate, some) for some in (inserts, deletes))
                go = self._both(self._minus(go, come, columns), there, columns)
                come = self._minus(come, there, columns)
                self._note(given(predicate), there, come, go)
        for predicate in {**self.old.planned.facts, **self.new.planned.facts}:
            self._change_written(predicate)

    def _retyped(self, there: Table, columns: tuple[Column, ...]) -> Table:
        """Facts with the types that their columns have now.

        As long as no rule had said that a predicate has no columns, `holds` was taken for one.
        """
        if columns:
            return self.tables.rewritten(there, columns)
        return self.tables.put(facts_table((), [()]), ())

    def _distinct(self, predicate: str, frames: Mapping[str, DataFrame]) -> Table:
        """Facts as they are given: each once, and written down.

        The data frame may be of another session than the materialisation: that of a micro-batch is.
        """
        if predicate not in frames:
            return NOTHING
        df, known = frames[predicate], self.new.planned.schema[predicate]
        with frames_of(df.sparkSession, self.tables.frames.place) as own:
            part = own.computed(distinct(normal(own, known, df)))
            return replace(self.tables, frames=own).taken([part], known.columns)

    def _change_written(self, predicate: str) -> None:
        """Compare the facts in texts of rules before and after."""
        if predicate not in self.new.columns:
            return
        columns = self.new.columns[predicate]
        rows = self.new.planned.facts.get(predicate, ())
        facts = self.tables.put(facts_table(columns, rows), columns)
        there = self.last.tables.get(written(predicate), NOTHING)
        come, go = self._minus(facts, there, columns), self._minus(there, facts, columns)
        self._note(written(predicate), there, come, go)

    def _note(self, name: str, there: Table, come: Table, go: Table) -> None:
        """Note how a table of facts has changed; it is an extension if no rule derives it."""
        self.ledger.before = {**self.ledger.before, name: there}
        self.ledger.columns = {**self.ledger.columns, name: self._columns(name)}
        self.ledger.note(name, come, go)
        predicate = name.partition("\0")[0]
        if name == given(predicate) and predicate not in self.new.derived:
            self.ledger.note(predicate, come, go)

    def _columns(self, name: str) -> tuple[Column, ...]:
        return self.new.columns[name.partition("\0")[0]]

    # --- hypernodes -------------------------------------------------------------------------------

    def visit_all(self) -> None:
        """Maintain the hypernodes that the change reaches."""
        for name, table in self.ledger.before.items():
            if name in self.old.derived and name not in self.new.derived:
                now = self.ledger.after[name] = self._given_after(name)
                columns = self.ledger.columns.get(name) or self.old.columns[name]
                gone, come = self._minus(table, now, columns), self._minus(now, table, columns)
                self.ledger.note_whole(name, now, come, gone)
        for hypernode in self.new.hypernodes:
            method = self._visit(hypernode)
            if method:
                LOGGER.debug("%s: %s", hypernode.name, method)
                require_none(hypernode, self._violations)
            shown = [p for p in hypernode.derives if p in self.new.planned.shown]
            if method and shown:
                self.methods[", ".join(shown)] = method

    def _violations(self, constraint: str) -> tuple[DataFrame, int] | None:
        """What violates a constraint, and how often."""
        table, columns = self.ledger.after.get(constraint, NOTHING), self._columns(constraint)
        return (self.tables.frame(table, columns), table.rows) if table.rows else None

    def _given_after(self, predicate: str) -> Table:
        name = given(predicate)
        return self.ledger.after.get(name) or self.last.tables.get(name, NOTHING)

    def _visit(self, hypernode: Hypernode) -> str | None:
        """Maintain a hypernode. Returns how, or None if there was nothing to do."""
        came, gone = moved(list(self._rules_before(hypernode)), hypernode.rules)
        new = {id(rule) for rule in came}
        kept = [rule for rule in hypernode.rules if id(rule) not in new]
        reached = any(self.ledger.changed(hypernode.reads - {*hypernode.derives}))
        former = self.last.former and any(map(meant_otherwise, kept))
        if not (reached or came or gone or former or other_types(self.ledger, hypernode)):
            return None
        if self._fits(hypernode) and self._maintain_here(hypernode):
            return "on the driver"
        with deriving(hypernode.rules):
            return maintain(self.ledger, DueHypernode(hypernode, kept, came, gone, former))

    def _rules_before(self, hypernode: Hypernode) -> list[Rule]:
        """The rules that have filled the tables of what a hypernode derives."""
        rules = [rule for rule in self.old.rules if rule.head.predicate in hypernode.derives]
        for predicate in hypernode.derives:
            if predicate not in self.old.derived and predicate in self.last.columns:
                rules.append(copying(predicate, given(predicate), self.new.columns[predicate]))
        return rules

    def _fits(self, hypernode: Hypernode) -> bool:
        """Whether a hypernode reads and has so few facts that the driver may evaluate it."""
        if self.here is None:
            return False
        reads = hypernode.reads - {*hypernode.derives}
        read = (self.ledger.after.get(p, NOTHING) for p in reads)
        had = (self.ledger.before.get(p, NOTHING) for p in hypernode.derives)
        few = sum(table.rows for table in read) <= self.here.limit
        return few and sum(table.rows for table in had) <= DERIVED * self.here.limit

    def _maintain_here(self, hypernode: Hypernode) -> bool:
        """Evaluate a hypernode on the driver. Returns False if it would take too long."""
        assert self.here is not None

        def facts(name: str) -> pa.Table:
            return self.tables.arrow(self.ledger.after.get(name, NOTHING), self._columns(name))

        found = self.here.derive(hypernode.rules, facts)
        if found is None:
            return False
        for predicate, rows in found.items():
            self._note_found(predicate, rows)
        return True

    def _note_found(self, predicate: str, rows: int) -> None:
        """Note what the driver has derived of a predicate."""
        assert self.here is not None
        columns = self.new.columns[predicate]
        before = self.ledger.before.get(predicate, NOTHING)
        if not rows:
            self.ledger.note_whole(predicate, NOTHING, NOTHING, before)
        elif max(before.rows, rows) > DERIVED * self.here.limit:
            with self.here.kb.batches(predicate) as reader:
                table = self.tables.put(reader, columns)
            self.ledger.note_whole(predicate, table, *compared(self.ledger, predicate, table))
        else:
            new, old = self.here.read(predicate), self.tables.arrow(before, columns)
            come, go = (self.tables.put(t, columns) for t in (minus(new, old), minus(old, new)))
            if before.types == types_of(columns) or not before.rows:
                self.ledger.note(predicate, come, go)
            else:
                self.ledger.note_whole(predicate, self.tables.put(new, columns), come, go)

    # --- the next version -------------------------------------------------------------------------

    def version(self, last: Manifest) -> Manifest:
        """The next version, with the texts, columns and positions of the one that is given."""
        tables: dict[str, Table] = {}
        names = {given(p) for p in last.columns} | {written(p) for p in self.new.planned.facts}
        for name in sorted(names | self.new.derived):
            table = self.ledger.after.get(name) or self.last.tables.get(name, NOTHING)
            if table is not self.last.tables.get(name):
                table = self.tables.compact(table, self._columns(name))
            tables[name] = table
        number, changes = self.last.number + 1, self._changes()
        return replace(last, number=number, tables=tables, changes=changes, former=False)

    def _changes(self) -> dict[str, tuple[Table, Table]]:
        """What extensions gained and lost."""
        found = {}
        for name in sorted({*self.old.planned.schema, *self.new.planned.schema}):
            gained = self.ledger.gained.get(name, NOTHING)
            lost = self.ledger.lost.get(name, NOTHING)
            if name not in self.new.planned.schema:
                lost = self.ledger.before.get(name, NOTHING)
            if gained.rows or lost.rows:
                found[name] = (gained, lost)
        return found

    # --- sets of facts ----------------------------------------------------------------------------

    def _minus(self, facts: Table, others: Table, columns: tuple[Column, ...]) -> Table:
        if not facts.rows or not others.rows:
            return facts
        if self.here is None or facts.rows + others.rows > self.here.limit:
            return minus_on_spark(self.tables, facts, others, columns)
        left = minus(self.tables.arrow(facts, columns), self.tables.arrow(others, columns))
        return facts if left.num_rows == facts.rows else self.tables.put(left, columns)

    def _both(self, facts: Table, others: Table, columns: tuple[Column, ...]) -> Table:
        if not facts.rows or not others.rows:
            return NOTHING
        return self._minus(facts, self._minus(facts, others, columns), columns)


def extension(version: Manifest, program: EvaluatedProgram, name: str) -> Table | None:
    """The table of a predicate, or of facts of one; None if there is none."""
    if name in version.tables:
        return version.tables[name]
    return None if name in program.derived else version.tables.get(given(name))


def _require_comparable(name: str, table: Table, columns: tuple[Column, ...] | None) -> None:
    """Raise DataError if a predicate with facts gets columns that cannot hold them.

    If nothing settles the type of a column any more, the predicate has no facts any more.
    """
    if columns is None or not table.rows or table.types == types_of(columns):
        return
    fits = len(table.types) == len(columns) and all(
        c.meant in (old, None) or is_widened(old, c.meant)
        for old, c in zip(table.types, columns, strict=True)
    )
    if not fits:
        told, wanted = (", ".join(map(str, t)) for t in (table.types, types_of(columns)))
        raise DataError(
            f"{name.partition(chr(0))[0]} has facts with the columns ({told}), and would get "
            f"({wanted}): leave out the rules for it in one update, and give the others in the "
            "next."
        )
