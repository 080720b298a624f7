"""The tables that a recursive hypernode owns, while it is maintained.

Of each predicate: what is stored in the file; `gone`, what has been taken out of that; `plus`, what
has been added since. Facts that are known from outside the hypernode take part in its rules, but
are not its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from sqlglot import exp

from zodiac_sql.database.statements import create_temp, temp_table
from zodiac_sql.evaluate.make_tables import make_part
from zodiac_sql.evaluate.run_plans import tables
from zodiac_sql.language.syntax import Column
from zodiac_sql.maintain.contract import Task
from zodiac_sql.names import CHANGE_FACTS
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.plan import Version
from zodiac_sql.sql.relations import Part, Relation, columns_of, mark_of, part_query, rank_of
from zodiac_sql.sql.set_difference import absent, unknown
from zodiac_sql.storage.edits import Edit


class TooMuch(Exception):
    """The work goes beyond its budget: starting over will be cheaper. Says how, in words."""


@dataclass(slots=True)
class Own:
    """One predicate of the hypernode. The tables exist if they have rows."""

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
    plus: int = 0
    candidate: Part | None = None
    delta: Part | None = None
    united: Part | None = None
    """Rows from tables of other hypernodes that were merged with the one `stored` belongs to."""
    marks: Literal["some"] | None = None
    """Which facts of `plus` are marked, if it has marks."""
    passes_on: bool = False
    """Whether marks of these facts pass on to what is derived from them."""
    sliced: Part | None = None
    """As much of `stored` as the work at hand needs, where that is less than all (slices.py)."""

    @property
    def base(self) -> Part | None:
        return self.sliced or self.stored

    @property
    def gone_table(self) -> str:
        return f"gone_{self.stem}"

    @property
    def plus_table(self) -> str:
        return f"plus_{self.stem}"

    @property
    def known(self) -> Relation:
        """What the hypernode derives, as far as it is known to stay or to come."""
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


Owns = Mapping[str, Own]


def own_of(task: Task, predicate: str) -> Own:
    """The table of a recursive hypernode and a predicate, as it is in the file."""
    return Own(
        predicate,
        task.schema[predicate].columns,
        task.stem(predicate),
        task.stored(predicate),
        task.marked_inputs(predicate, Version.ALL),
        task.inputs(predicate, Version.BEFORE),
        task.marked_inputs(predicate, Version.INSERTED),
        task.inputs(predicate, Version.DELETED),
        task.ranked,
    )


def context_of(task: Task, owns: Owns, undeleted: bool = False) -> Context:
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


def put(task: Task, own: Own, part: Part, into: str, there: int) -> int:
    """Add the rows of a temporary table to another; the first ones make it. Returns its rows."""
    key = ("put", part.table, into, own.ranked, part.marks, bool(there))

    def statement() -> str:
        columns = [*own.names("t"), *([mark_of("t")] if part.marks else [])]
        query = exp.select(*columns).from_(temp_table(part.table).as_("t"))
        if not there:
            return task.store.render(create_temp(into, query))
        names = [exp.to_identifier(c.name, quoted=True) for c in columns]
        return task.store.render(exp.insert(query, temp_table(into), columns=names))

    task.store.run(task.cache.get(key, statement))
    return there + part.rows


def without_outside(task: Task, own: Own, part: Part, name: str) -> Part | None:
    """Of the facts of a temporary table, those that are not known from outside."""
    outside = own.outside
    if not outside.parts:
        return part
    marks = part.marks is not None
    key = ("inside", part.table, name, own.ranked, marks, tables(outside))

    def query() -> exp.Query:
        columns = [*own.names("t"), *([mark_of("t")] if marks else [])]
        rows = exp.select(*columns).from_(temp_table(part.table).as_("t"))
        return unknown(rows, outside, own.ranked, marked=marks)

    return make_part(task.store, task.cache, key, name, query, ranked=own.ranked, marks=part.marks)


def edits_of(task: Task, owns: Owns) -> tuple[dict[str, Edit], int]:
    """What became of the tables, and how many facts were taken out but came back."""
    edits = {own.predicate: _edit(task, own) for own in owns.values()}
    taken = sum(own.gone for own in owns.values() if not own.united)
    lost = sum(edit.deleted.rows for edit in edits.values() if edit.deleted)
    return {predicate: edit for predicate, edit in edits.items() if edit}, taken - lost


def _edit(task: Task, own: Own) -> Edit:
    gone = Part("temp", own.gone_table, own.gone, ranked=own.ranked) if own.gone else None
    plus = own.added if own.plus else None
    if own.united:  # what is gone has come back with another rank
        inserted = _difference(task, own, plus, None, f"{CHANGE_FACTS}plus_{own.stem}")
        return Edit(inserted, None, gone, plus, own.stored is None, own.united)
    deleted = _difference(task, own, gone, plus, f"{CHANGE_FACTS}minus_{own.stem}")
    inserted = _difference(task, own, plus, gone, f"{CHANGE_FACTS}plus_{own.stem}")
    if not own.ranked:
        return Edit(inserted, deleted, deleted, inserted)
    return Edit(inserted, deleted, gone, plus)


def _difference(
    task: Task, own: Own, these: Part | None, those: Part | None, name: str
) -> Part | None:
    """The facts of one temporary table that do not stand in another, under a name that lasts."""
    if these is None:
        return None
    key = ("difference", these.table, those and those.table, name, own.ranked, these.marks)

    def query() -> exp.Query:
        relation = Relation(own.columns, ())
        marks = [mark_of("c")] if these.marks else []
        rows = exp.select(*own.names("c"), *marks).from_(temp_table(these.table).as_("c"))
        return rows if those is None else absent(rows, relation, part_query(those, relation))

    return make_part(task.store, task.cache, key, name, query, ranked=own.ranked, marks=these.marks)
