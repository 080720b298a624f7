"""The tables that a recursive hypernode owns, while it is maintained.

Each predicate has the table in the file (`stored`), a temporary table of the rows taken out of it
(`gone_table`), and one of the rows added since (`plus_table`). Facts that are known from outside
the hypernode take part in its rules, but are not its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from sqlglot import exp

from zodiac_sql.database.render import render
from zodiac_sql.database.statements import create_temp, temp_table
from zodiac_sql.evaluate.cache_keys import relation_key
from zodiac_sql.evaluate.make_tables import make_part
from zodiac_sql.language.syntax import Column
from zodiac_sql.maintain.contract import Task
from zodiac_sql.names import CHANGE_FACTS
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.plan import Version
from zodiac_sql.sql.relations import Part, Relation, columns_of, mark_of, part_query, rank_of
from zodiac_sql.sql.set_difference import absent, unknown
from zodiac_sql.storage.edits import Edit


@dataclass(slots=True)
class WorkingTable:
    """One predicate of the hypernode, while facts of it are taken out and added.

    The steps change it by its methods only. A temporary table exists if it has rows.
    """

    predicate: str
    columns: tuple[Column, ...]
    stem: str
    stored: Part | None
    outside: Relation
    """The extension after the change without the hypernode's own table."""
    outside_before: Relation
    inserted: Relation
    deleted: Relation
    ranked: bool
    gone: int = 0
    """How many rows `gone_table` has."""
    plus: int = 0
    """How many rows `plus_table` has."""
    candidate: Part | None = None
    """The facts that the next check is about."""
    delta: Part | None = None
    """What the last round has taken out, or added: the next one looks for what follows from it."""
    united: Part | None = None
    """Rows from tables of other hypernodes that were merged with the one `stored` belongs to."""
    marks: Literal["some"] | None = None
    """Which facts of `plus_table` are marked, if it has marks."""
    passes_on: bool = False
    """Whether marks of these facts pass on to what is derived from them."""
    sliced: Part | None = None
    """The part of `stored` that the work at hand needs, if that is less than all (slices.py)."""
    gone_table: str = field(init=False)
    plus_table: str = field(init=False)

    def __post_init__(self) -> None:
        # Mostly these rows are just what the table has lost and gained, so the names last.
        self.gone_table = f"{CHANGE_FACTS}gone_{self.stem}"
        self.plus_table = f"{CHANGE_FACTS}added_{self.stem}"

    # What happens to it

    def begins_as(self, stored: Part) -> None:
        """Read a view with ranks in place of the table in the file."""
        self.stored = stored

    def takes_over(self, united: Part | None) -> None:
        """Take over rows of other hypernodes."""
        self.united = united

    def loses(self, rows: int) -> None:
        """Note how many rows `gone_table` has now."""
        self.gone = rows

    def gains(self, rows: int) -> None:
        """Note how many rows `plus_table` has now."""
        self.plus = rows

    def is_checked_for(self, candidate: Part | None) -> None:
        """Let the next check be about these facts."""
        self.candidate = candidate

    def hands_on(self, delta: Part | None) -> None:
        """Let the next round look for what follows from these facts."""
        self.delta = delta

    def narrows_to(self, sliced: Part | None) -> None:
        """Read only these rows of the stored table from now on; None for all of them again."""
        self.sliced = sliced

    def begins_to_grow(self, marked: bool, passes_on: bool) -> None:
        """End taking facts out. Facts that are added from now on are marked, if there are marks."""
        self.candidate = self.delta = None
        self.marks = "some" if marked else None
        self.passes_on = passes_on and marked

    def keeps_ranks(self, kept: bool) -> None:
        """Set whether added facts get ranks, in order with those that are there."""
        self.ranked = kept

    # What it is

    @property
    def base(self) -> Part | None:
        """The stored table, or the slice of it that is needed."""
        return self.sliced or self.stored

    @property
    def known(self) -> Relation:
        """What the hypernode derives as far as known: what is not taken out, and what is added."""
        parts = []
        base = self.base
        if base and base.rows:
            parts.append(replace(base, minus=self.gone_table if self.gone else None))
        if self.united:
            parts.append(self.united)
        if self.plus:
            parts.append(self.added)
        return Relation(self.columns, tuple(parts), self.ranked)

    @property
    def added(self) -> Part:
        """What has been added."""
        return Part("temp", self.plus_table, self.plus, ranked=self.ranked, marks=self.marks)

    @property
    def undeleted(self) -> Relation:
        """The extension as if nothing had been taken out."""
        return self._with(*self.outside.parts, *((self.base,) if self.base else ()))

    def relation(self, version: Version) -> Relation:
        """What a scan of the predicate reads."""
        if version is Version.BEFORE:
            stored = (self.stored,) if self.stored else ()
            return self._with(*self.outside_before.parts, *stored)
        if version is Version.INSERTED:
            return self._with(*self.inserted.parts)
        if version is Version.DELETED:
            return self._with(*self.deleted.parts)
        if version is Version.CANDIDATE:
            return self._of(self.candidate)
        if version is Version.DELTA:
            return self._of(self.delta)
        return self._with(*self.outside.parts, *self.known.parts)

    def _with(self, *parts: Part) -> Relation:
        return Relation(self.columns, parts, self.ranked, self.passes_on)

    def _of(self, part: Part | None) -> Relation:
        parts = (part,) if part else ()
        return Relation(self.columns, parts, part is not None and part.ranked, self.passes_on)

    def names(self, alias: str) -> list[exp.Column]:
        """The columns, and the rank if there is one."""
        columns = columns_of(self._with(), alias)
        return [*columns, rank_of(alias)] if self.ranked else columns


WorkingTables = Mapping[str, WorkingTable]
"""The tables of a hypernode, by predicate."""


def working_table(task: Task, predicate: str) -> WorkingTable:
    """The table of a recursive hypernode and a predicate, as it is in the file."""
    return WorkingTable(
        predicate=predicate,
        columns=task.schema[predicate].columns,
        stem=task.stem(predicate),
        stored=task.stored(predicate),
        outside=task.marked_inputs(predicate, Version.ALL),
        outside_before=task.inputs(predicate, Version.BEFORE),
        inserted=task.marked_inputs(predicate, Version.INSERTED),
        deleted=task.inputs(predicate, Version.DELETED),
        ranked=task.ranked,
    )


def context_of(task: Task, owns: WorkingTables, undeleted: bool = False) -> Context:
    """What the hypernode's rules read: its own predicates here, the others as inputs.

    With `undeleted`, what was taken out is still there.
    """

    def relation(name: str, version: Version) -> Relation:
        closure = task.closures.get(name)
        if closure and version not in (Version.INSERTED, Version.DELETED):
            before = undeleted and version is not Version.DELTA
            return closure.undeleted if before else closure.relation(version)
        own = owns.get(name)
        if own is None:
            return task.inputs(name, version) if undeleted else task.marked_inputs(name, version)
        if undeleted and version in (Version.ALL, Version.OLD):
            return own.undeleted
        return own.relation(version)

    return task.context(relation)


def take_out(task: Task, own: WorkingTable, lost: Part) -> None:
    """Take stored facts out."""
    own.loses(put(task, own, lost, into=own.gone_table, there=own.gone))


def add(task: Task, own: WorkingTable, new: Part) -> None:
    """Add new facts."""
    own.gains(put(task, own, new, into=own.plus_table, there=own.plus))


def put(task: Task, own: WorkingTable, part: Part, *, into: str, there: int) -> int:
    """Add the rows of a temporary table to table `into`, which has `there` rows; 0 creates it.

    Returns how many rows `into` has then.
    """
    key = ("put", part.table, into, own.ranked, part.marks, bool(there))

    def statement() -> str:
        columns = [*own.names("t"), *([mark_of("t")] if part.marks else [])]
        query = exp.select(*columns).from_(temp_table(part.table).as_("t"))
        if not there:
            return render(create_temp(into, query))
        names = [exp.to_identifier(c.name, quoted=True) for c in columns]
        return render(exp.insert(query, temp_table(into), columns=names))

    task.store.run(task.cache.get(key, statement))
    return there + part.rows


def without_outside(task: Task, own: WorkingTable, part: Part, name: str) -> Part | None:
    """The facts of a temporary table that are not known from outside."""
    outside = own.outside
    if not outside.parts:
        return part
    marks = part.marks is not None
    key = ("inside", part.table, name, own.ranked, marks, relation_key(outside))

    def query() -> exp.Query:
        columns = [*own.names("t"), *([mark_of("t")] if marks else [])]
        rows = exp.select(*columns).from_(temp_table(part.table).as_("t"))
        return unknown(rows, outside, own.ranked, marked=marks, once=True)

    return make_part(task.store, task.cache, key, name, query, ranked=own.ranked, marks=part.marks)


def edits_of(task: Task, owns: WorkingTables) -> tuple[dict[str, Edit], int]:
    """What became of the tables, and how many facts were taken out but came back."""
    # Without gains and modules, all that was added had been taken out before.
    grows = bool(task.closures or task.gains())
    edits = {own.predicate: _edit(task, own, grows) for own in owns.values()}
    taken = sum(own.gone for own in owns.values() if not own.united)
    lost = sum(edit.deleted.rows for edit in edits.values() if edit.deleted)
    return {predicate: edit for predicate, edit in edits.items() if edit}, taken - lost


def _edit(task: Task, own: WorkingTable, grows: bool) -> Edit:
    gone = Part("temp", own.gone_table, own.gone, ranked=own.ranked) if own.gone else None
    plus = own.added if own.plus else None
    if own.united:  # what is gone has come back with another rank
        return Edit(
            plus,
            None,
            removed=gone,
            added=plus,
            rewritten=own.stored is None,
            united=own.united,
        )
    deleted = _difference(task, own, gone, plus, f"{CHANGE_FACTS}minus_{own.stem}")
    inserted = (
        _difference(task, own, plus, gone, f"{CHANGE_FACTS}plus_{own.stem}") if grows else None
    )
    if not own.ranked:
        return Edit(inserted, deleted, deleted, inserted)
    return Edit(inserted, deleted, gone, plus)


def _difference(
    task: Task, own: WorkingTable, these: Part | None, those: Part | None, name: str
) -> Part | None:
    """The facts of one temporary table that do not stand in another, under a name that lasts."""
    if these is None or those is None:
        return these
    key = ("difference", these.table, those.table, name, own.ranked, these.marks)

    def query() -> exp.Query:
        relation = Relation(own.columns, ())
        marks = [mark_of("c")] if these.marks else []
        rows = exp.select(*own.names("c"), *marks).from_(temp_table(these.table).as_("c"))
        return absent(rows, relation, part_query(those, relation))

    return make_part(task.store, task.cache, key, name, query, ranked=own.ranked, marks=these.marks)
