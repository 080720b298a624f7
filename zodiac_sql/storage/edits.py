"""What a change does to a table, and to an extension."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from zodiac_sql.sql.relations import Part, Relation
from zodiac_sql.storage.owners import Owner


@dataclass(frozen=True, slots=True)
class Delta:
    """How an extension changed: the facts that entered and left it. Parts may overlap."""

    inserted: Relation
    deleted: Relation

    def __bool__(self) -> bool:
        return bool(self.inserted.rows or self.deleted.rows)


@dataclass(frozen=True, slots=True)
class Edit:
    """What becomes of one table.

    `inserted` are the facts that it gains, `deleted` those that it loses. Publishing takes the rows
    of `removed` out and puts those of `added` in; these also hold facts whose rank has changed. If
    it is `rewritten`, `added` replaces the table. `united` are further rows to be put in, from
    tables of hypernodes that were merged.

    A relation that is kept as classes of nodes has no rows of its own: its table of classes has an
    edit, and `now` are the facts that the classes stand for. If the table `covers` its extension,
    with all facts that others hold, the extension gains and loses what the table does.
    """

    inserted: Part | None
    deleted: Part | None
    removed: Part | None
    added: Part | None
    rewritten: bool = False
    united: Part | None = None
    now: Part | None = None
    covers: bool = False

    def __bool__(self) -> bool:
        return bool(self.rewritten or self.removed or self.added or self.united or self.now)

    @property
    def incoming(self) -> tuple[Part, ...]:
        """What is to be put in."""
        return tuple(part for part in (self.united, self.added) if part)

    def applied(self, parts: tuple[Part, ...]) -> tuple[Part, ...]:
        """The parts of the table after the edit."""
        if self.now:
            return (self.now,)
        if self.rewritten or not parts:
            return self.incoming
        stored = parts[0]  # all others come as `united`
        if self.removed:
            left = stored.rows - self.removed.rows
            stored = replace(stored.without(self.removed.table), rows=left)
        return (stored, *(replace(part, enters=stored.place) for part in self.incoming))


Edits = Mapping[tuple[str, Owner], Edit]
"""What becomes of tables, by predicate and owner."""
