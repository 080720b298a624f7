"""What a change did to each extension: how many facts moved, and which, also once published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from zodiac_sql.change.changed_extensions import ChangedExtensions
from zodiac_sql.database.statements import create_temp
from zodiac_sql.database.store import Store
from zodiac_sql.names import CHANGE_FACTS, DERIVED_SCHEMA, set_aside, whole
from zodiac_sql.program.feed import Feed
from zodiac_sql.program.state import State
from zodiac_sql.sql.relations import Part, Relation, relation_query
from zodiac_sql.sql.set_difference import unknown
from zodiac_sql.storage.extensions import comparable, counts, distinct_query
from zodiac_sql.storage.owners import Discarded
from zodiac_sql.storage.same_values import in_types_of
from zodiac_sql.storage.sources import sources_of


@dataclass(frozen=True, slots=True)
class Difference:
    """How an extension changed.

    `all_new` means that `inserted` reads tables that publication removes, because the whole
    extension is new; after publication its facts are those of the extension in the file. `deleted`
    may read tables of the file that publication removes: see `put_aside`. While the difference
    `waits`, `deleted` has all facts of the tables that vanished, including those that other tables
    still hold.
    """

    inserted_count: int
    deleted_count: int
    inserted: Relation
    deleted: Relation
    all_new: bool = False
    waits: bool = False

    @property
    def put_aside(self) -> frozenset[str]:
        """Tables in idb that publication removes, although `deleted` still reads them."""
        return frozenset(part.table for part in self.deleted.parts if part.schema == DERIVED_SCHEMA)

    def published(self) -> Difference:
        """The difference to read after publication, when tables put aside have another name."""
        parts = (
            replace(part, table=set_aside(part.table)) if part.schema == DERIVED_SCHEMA else part
            for part in self.deleted.parts
        )
        return replace(self, deleted=replace(self.deleted, parts=tuple(parts)))

    def apart(self, store: Store, sql_name: str) -> Difference:
        """The difference with entered facts copied to their own table: a preview publishes none."""
        if not self.all_new:
            return self
        entered = _copied(store, self.inserted, f"entered_{whole(sql_name)}")
        return replace(self, inserted=entered, all_new=False)


def differences_of(extensions: ChangedExtensions, feed: Feed, wait: bool) -> dict[str, Difference]:
    """How every touched extension has changed; unchanged ones are left out.

    With `wait`, tables that vanish are not read: their differences wait until they are asked for,
    unless the change feed gets them.
    """
    waiting = {
        name: _waiting(extensions, name)
        for name in extensions.touched
        if wait and not feed.has(name) and _can_wait(extensions, name)
    }
    touched = (name for name in sorted(extensions.touched) if name not in waiting)
    others = {name: _moved(extensions, name) for name in touched}
    moved = [rows for d in others.values() for rows in (d.inserted, d.deleted)]
    numbers = iter(_counts(extensions.store, moved))
    counted = {
        name: replace(d, inserted_count=next(numbers), deleted_count=next(numbers))
        for name, d in others.items()
    }
    differences = {name: d for name, d in counted.items() if d.inserted_count or d.deleted_count}
    return dict(sorted({**differences, **waiting}.items()))


def looked_into(store: Store, state: State, name: str, difference: Difference) -> Difference:
    """A waiting difference, completed after publication: only what really left the extension."""
    deleted = difference.deleted
    if name in state.schema:
        known = sources_of(state).relation(name)
        if known.rows and comparable(known, deleted):
            query = unknown(relation_query(deleted), in_types_of(store, known, deleted.columns))
            table = f"{CHANGE_FACTS}left_{whole(state.schema[name].sql_name)}"
            rows = store.count(create_temp(table, query))
            deleted = replace(deleted, parts=(Part("temp", table, rows),) if rows else ())
    return replace(
        difference, deleted_count=_counts(store, [deleted])[0], deleted=deleted, waits=False
    )


def _can_wait(extensions: ChangedExtensions, predicate: str) -> bool:
    """Whether an extension lost only whole tables, and other tables may hold the same facts.

    If a hypernode reads the predicate, what left is known already: then there is nothing to wait
    for.
    """
    owners = extensions.touched[predicate]
    if extensions.has_delta(predicate) or not all(isinstance(o, Discarded) for o in owners):
        return False
    others = predicate in extensions.new.schema and extensions.new.relation(predicate).rows
    return bool(others or len(owners) > 1)


def _waiting(extensions: ChangedExtensions, predicate: str) -> Difference:
    columns = extensions.old.schema[predicate].columns
    edits = extensions.touched[predicate].values()
    gone = tuple(edit.deleted for edit in edits if edit.deleted is not None)
    return Difference(0, 0, Relation(columns, ()), Relation(columns, gone), waits=True)


def _moved(extensions: ChangedExtensions, predicate: str) -> Difference:
    """How an extension has changed, not counted yet."""
    delta = extensions.delta(predicate)
    known = extensions.known(predicate)
    deleted = delta.deleted
    stays = (_lasting(p) or _is_discarded(extensions, predicate, p) for p in deleted.parts)
    if not all(stays):
        # `deleted` reads tables from which publication deletes some of these rows: copy them.
        deleted = _copied(extensions.store, deleted, f"left_{whole(known.sql_name)}")
    lasting = all(_lasting(part) for part in delta.inserted.parts)
    return Difference(0, 0, delta.inserted, deleted, all_new=not lasting)


def _lasting(part: Part) -> bool:
    kept = part.schema == "temp" and part.table.startswith(CHANGE_FACTS)
    return kept and (part.read.minus or CHANGE_FACTS).startswith(CHANGE_FACTS)


def _is_discarded(extensions: ChangedExtensions, predicate: str, part: Part) -> bool:
    """Whether a table of the file is dropped as a whole, or replaced by another."""
    for owner, parts in extensions.old.derived.get(predicate, {}).items():
        if part in parts:
            return isinstance(owner, Discarded) or extensions.edits[predicate, owner].rewritten
    return False


def _counts(store: Store, relations: Sequence[Relation]) -> list[int]:
    """How many facts some relations have. What a table tells by itself is not counted."""
    told = [
        len(one.parts) == 1 and bool(one.parts[0].read.minus is None or one.parts[0].read.pairs)
        for one in relations
    ]
    counted = iter(
        counts(store, [r for r, known in zip(relations, told, strict=True) if not known])
    )
    return [r.rows if known else next(counted) for r, known in zip(relations, told, strict=True)]


def _copied(store: Store, relation: Relation, end: str) -> Relation:
    """A relation in a temporary table that lasts until the next change."""
    name = f"{CHANGE_FACTS}{end}"
    rows = store.count(create_temp(name, distinct_query(relation)))
    return Relation(relation.columns, (Part("temp", name, rows),) if rows else ())
