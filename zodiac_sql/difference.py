"""What a change did to each extension, in numbers and as facts that outlast its publication."""

from __future__ import annotations

from dataclasses import dataclass, replace

from zodiac_sql.catalog import State
from zodiac_sql.extension import comparable, count, distinct_query, sources_of
from zodiac_sql.materialisation import Materialisation
from zodiac_sql.names import KEPT, set_aside, whole
from zodiac_sql.relations import Part, Relation, relation_query
from zodiac_sql.store import Store
from zodiac_sql.trees import create_temp
from zodiac_sql.unknown import unknown


@dataclass(frozen=True, slots=True)
class Difference:
    """How an extension changed.

    Where it was empty, `all_new` tells so; then `inserted` reads tables that publication takes away,
    and the facts are those of the extension in the file. `deleted` may read tables of the file that
    publication takes away: see `discarded`. While it `waits`, `deleted` is all that was in tables
    that vanished, and nobody has looked yet what of it other tables still hold.
    """

    inserted_count: int
    deleted_count: int
    inserted: Relation
    deleted: Relation
    all_new: bool = False
    waits: bool = False

    @property
    def discarded(self) -> frozenset[str]:
        """Tables in idb that are read for what is deleted, and not needed for anything else."""
        return frozenset(part.table for part in self.deleted.parts if part.schema == "idb")

    def published(self) -> Difference:
        """As it is to be read after publication: discarded tables have another name then."""
        parts = (
            replace(part, table=set_aside(part.table)) if part.schema == "idb" else part
            for part in self.deleted.parts
        )
        return replace(self, deleted=replace(self.deleted, parts=tuple(parts)))

    def apart(self, store: Store, sql_name: str) -> Difference:
        """With the facts that entered in a table of their own, for a change that is not published."""
        if not self.all_new:
            return self
        entered = _copied(store, self.inserted, f"entered_{whole(sql_name)}")
        return replace(self, inserted=entered, all_new=False)


def differences_of(work: Materialisation, wait: bool) -> dict[str, Difference]:
    """How every touched extension has changed; unchanged ones are left out.

    With `wait`, tables that vanish are not looked into: their differences wait.
    """
    differences = {
        name: _waiting(work, name) if wait and _can_wait(work, name) else _difference(work, name)
        for name in sorted(work.touched)
    }
    return {
        name: d for name, d in differences.items() if d.inserted_count or d.deleted_count or d.waits
    }


def settled(store: Store, state: State, name: str, difference: Difference) -> Difference:
    """A difference that waited, after its publication: what has really left an extension."""
    deleted = difference.deleted
    if name in state.schema:
        known = sources_of(state).relation(name)
        if known.rows and comparable(known, deleted):
            query = unknown(relation_query(deleted), known)
            table = f"{KEPT}left_{whole(state.schema[name].sql_name)}"
            rows = store.count(create_temp(table, query))
            deleted = replace(deleted, parts=(Part("temp", table, rows),) if rows else ())
    return replace(difference, deleted_count=_count(store, deleted), deleted=deleted, waits=False)


def _can_wait(work: Materialisation, predicate: str) -> bool:
    """Whether an extension only lost whole tables, of which others may hold the same facts.

    If a hypernode reads it, somebody has asked already what has left.
    """
    owners = work.touched[predicate]
    others = predicate in work.new.schema and work.new.relation(predicate).rows
    return max(owners) < 0 and bool(others or len(owners) > 1) and not work.has_delta(predicate)


def _waiting(work: Materialisation, predicate: str) -> Difference:
    columns = work.state.schema[predicate].columns
    gone = (edit.deleted for edit in work.touched[predicate].values() if edit.deleted is not None)
    nothing = Relation(columns, ())
    return Difference(0, 0, nothing, Relation(columns, tuple(gone)), waits=True)


def _difference(work: Materialisation, predicate: str) -> Difference:
    delta = work.delta(predicate)
    known = work.planned.schema.get(predicate) or work.state.schema[predicate]
    deleted = delta.deleted
    if not all(_lasting(part) or _is_discarded(work, predicate, part) for part in deleted.parts):
        # Some rows of the tables that it reads are about to be deleted.
        deleted = _copied(work.store, deleted, f"left_{whole(known.sql_name)}")
    lasting = all(_lasting(part) for part in delta.inserted.parts)
    return Difference(
        _count(work.store, delta.inserted),
        _count(work.store, deleted),
        delta.inserted,
        deleted,
        all_new=not lasting,
    )


def _lasting(part: Part) -> bool:
    kept = part.schema == "temp" and part.table.startswith(KEPT)
    return kept and (part.minus or KEPT).startswith(KEPT)


def _is_discarded(work: Materialisation, predicate: str, part: Part) -> bool:
    """Whether a table of the file is dropped as a whole, or replaced by another."""
    for owner, parts in work.old.derived.get(predicate, {}).items():
        if part in parts:
            return owner < 0 or work.edits[predicate, owner].rewritten
    return False


def _count(store: Store, relation: Relation) -> int:
    if len(relation.parts) == 1 and (relation.parts[0].minus is None or relation.parts[0].pairs):
        return relation.parts[0].rows
    return count(store, relation)


def _copied(store: Store, relation: Relation, end: str) -> Relation:
    """A relation in a temporary table that lasts until the next change."""
    name = f"{KEPT}{end}"
    rows = store.count(create_temp(name, distinct_query(relation)))
    return Relation(relation.columns, (Part("temp", name, rows),) if rows else ())
