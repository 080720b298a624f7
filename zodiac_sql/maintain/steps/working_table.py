"""The tables that a recursive hypernode owns, while it is maintained.

Each predicate has the table in the file (`stored`), a temporary table of the rows taken out of it
(`gone`), and one of the rows added since (`added`). Facts that are known from outside
the hypernode take part in its rules, but are not its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from sqlglot import exp

from zodiac_sql.database.runner import Runner
from zodiac_sql.database.statements import create_temp, temp_table
from zodiac_sql.evaluate.cache_keys import relation_key
from zodiac_sql.evaluate.make_tables import make_part
from zodiac_sql.language.syntax import Column
from zodiac_sql.maintain.contract import Task
from zodiac_sql.names import CHANGE_FACTS
from zodiac_sql.sql.plan import Version
from zodiac_sql.sql.relations import Part, Relation, columns_of, part_query, rank_of
from zodiac_sql.sql.set_difference import absent, unknown
from zodiac_sql.storage.edits import Delta, Edit


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
    outside_delta: Delta
    """What has entered and left the facts from outside."""
    ranked: bool
    gone: Part | None = None
    """What has been taken out of `stored`."""
    added: Part | None = None
    """What has been added."""
    candidate: Part | None = None
    """The facts that the next check is about."""
    delta: Part | None = None
    """What the last round has taken out, or added: the next one looks for what follows from it."""
    united: Part | None = None
    """Rows from tables of other hypernodes that were merged with the one `stored` belongs to."""
    sliced: Part | None = None
    """The part of `stored` that the work at hand needs, if that is less than all (slices.py)."""

    # What happens to it

    def begins_as(self, stored: Part) -> None:
        """Read a view with ranks in place of the table in the file."""
        self.stored = stored

    def takes_over(self, united: Part | None) -> None:
        """Take over rows of other hypernodes."""
        self.united = united

    def loses(self, rows: int) -> None:
        """Note how many rows `gone_table` has now."""
        self.gone = Part("temp", self.gone_table, rows, self.ranked) if rows else None

    def gains(self, rows: int) -> None:
        """Note how many rows `added_table` has now."""
        self.added = Part("temp", self.added_table, rows, self.ranked) if rows else None

    def is_checked_for(self, candidate: Part | None) -> None:
        """Let the next check be about these facts."""
        self.candidate = candidate

    def hands_on(self, delta: Part | None) -> None:
        """Let the next round look for what follows from these facts."""
        self.delta = delta

    def narrows_to(self, sliced: Part | None) -> None:
        """Read only these rows of the stored table from now on; None for all of them again."""
        self.sliced = sliced

    def keeps_ranks(self, kept: bool) -> None:
        """Set whether added facts get ranks, in order with those that are there."""
        self.ranked = kept

    # What it is

    @property
    def gone_table(self) -> str:
        """The name of the table of what is gone. Mostly these rows are just what the stored table
        has lost, so it lasts.
        """
        return f"{CHANGE_FACTS}gone_{self.stem}"

    @property
    def added_table(self) -> str:
        """The name of the table of what is added, which lasts, too."""
        return f"{CHANGE_FACTS}added_{self.stem}"

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
            parts.append(base.without(self.gone.table if self.gone else None))
        parts += [part for part in (self.united, self.added) if part]
        return Relation(self.columns, tuple(parts), self.ranked)

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
            return self._with(*self.outside_delta.inserted.parts)
        if version is Version.DELETED:
            return self._with(*self.outside_delta.deleted.parts)
        if version is Version.CANDIDATE:
            return self._of(self.candidate)
        if version is Version.DELTA:
            return self._of(self.delta)
        return self._with(*self.outside.parts, *self.known.parts)

    def _with(self, *parts: Part) -> Relation:
        return Relation(self.columns, parts, self.ranked)

    def _of(self, part: Part | None) -> Relation:
        parts = (part,) if part else ()
        return Relation(self.columns, parts, part is not None and part.ranked)

    def names(self, alias: str) -> list[exp.Column]:
        """The columns, and the rank if there is one."""
        columns = columns_of(self._with(), alias)
        return [*columns, rank_of(alias)] if self.ranked else columns


WorkingTables = Mapping[str, WorkingTable]
"""The tables of a hypernode, by predicate."""


def working_table(task: Task, predicate: str, ranked: bool) -> WorkingTable:
    """The table of a recursive hypernode and a predicate, as it is in the file."""
    read = partial(task.context.relation, predicate)
    return WorkingTable(
        predicate=predicate,
        columns=task.columns(predicate),
        stem=task.stem(predicate),
        stored=task.former.stored(predicate),
        outside=read(Version.ALL),
        outside_before=read(Version.BEFORE),
        outside_delta=Delta(read(Version.INSERTED), read(Version.DELETED)),
        ranked=ranked,
    )


def take_out(runner: Runner, own: WorkingTable, lost: Part) -> None:
    """Take stored facts out."""
    own.loses(_rows_of(runner, own, lost, own.gone_table, own.gone))


def add(runner: Runner, own: WorkingTable, new: Part) -> None:
    """Add new facts."""
    own.gains(_rows_of(runner, own, new, own.added_table, own.added))


def _rows_of(runner: Runner, own: WorkingTable, part: Part, into: str, there: Part | None) -> int:
    """How many rows table `into` has with those of a part, which may be in it already."""
    return part.rows if part.table == into else put(runner, own, part, into, there)


def hand_on(runner: Runner, own: WorkingTable, moved: Part | None, put_: Put) -> None:
    """Take facts out, or add them; what the extension loses or gains by it is the next delta."""
    own.hands_on(_without_outside(runner, own, moved) if moved else None)
    if moved:
        put_(runner, own, moved)


Put = Callable[[Runner, WorkingTable, Part], None]
"""Takes out facts, or adds them."""


def put(runner: Runner, own: WorkingTable, part: Part, into: str, there: Part | None) -> int:
    """Add the rows of a temporary table to table `into`, or create that, if nothing is `there`.

    Returns how many rows `into` has then.
    """
    key = ("put", part.table, into, own.ranked, bool(there))

    def statement() -> exp.Expr:
        columns = own.names("t")
        query = exp.select(*columns).from_(temp_table(part.table).as_("t"))
        if there is None:
            return create_temp(into, query)
        names = [exp.to_identifier(c.name, quoted=True) for c in columns]
        return exp.insert(query, temp_table(into), columns=names)

    runner.store.run(runner.text(key, statement))
    return part.rows + (there.rows if there else 0)


def _without_outside(runner: Runner, own: WorkingTable, part: Part) -> Part | None:
    """The facts of a temporary table that are not known from outside."""
    outside, name = own.outside, f"delta_{own.stem}"
    if not outside.parts:
        return part
    key = ("inside", part.table, name, own.ranked, relation_key(outside))

    def query() -> exp.Query:
        rows = exp.select(*own.names("t")).from_(temp_table(part.table).as_("t"))
        return unknown(rows, outside, ranked=own.ranked, once=True)

    return make_part(runner, key, name, query, ranked=own.ranked)


def edits_of(runner: Runner, owns: WorkingTables, grows: bool) -> tuple[dict[str, Edit], int]:
    """What became of the tables, and how many facts were taken out but came back.

    Unless the hypernode `grows`, all that was added had been taken out before.
    """
    edits = {own.predicate: _edit(runner, own, grows) for own in owns.values()}
    taken = sum(own.gone.rows for own in owns.values() if own.gone and not own.united)
    lost = sum(edit.deleted.rows for edit in edits.values() if edit.deleted)
    return {predicate: edit for predicate, edit in edits.items() if edit}, taken - lost


def _edit(runner: Runner, own: WorkingTable, grows: bool) -> Edit:
    gone, added = own.gone, own.added
    if own.united:  # what is gone has come back with another rank
        is_new = own.stored is None
        return Edit(added, None, gone, added, rewritten=is_new, united=own.united)
    apart = partial(_difference, runner, own)
    deleted = apart(gone, added, f"{CHANGE_FACTS}minus_{own.stem}")
    inserted = None
    if grows:
        inserted = apart(added, gone, f"{CHANGE_FACTS}plus_{own.stem}")
    if not own.ranked:
        return Edit(inserted, deleted, deleted, inserted)
    return Edit(inserted, deleted, gone, added)


def _difference(
    runner: Runner, own: WorkingTable, these: Part | None, those: Part | None, name: str
) -> Part | None:
    """The facts of one temporary table that do not stand in another, under a name that lasts."""
    if these is None or those is None:
        return these
    key = ("difference", these.table, those.table, name, own.ranked)

    def query() -> exp.Query:
        relation = Relation(own.columns, ())
        rows = exp.select(*own.names("c")).from_(temp_table(these.table).as_("c"))
        return absent(rows, relation, part_query(those, relation))

    return make_part(runner, key, name, query, ranked=own.ranked)
