"""The extensions while a change is computed: before the change, and after it.

A hypernode hands on the changes of whole extensions, not of single tables: if one table loses a
fact that another table still holds, nothing changes for the hypernodes that read it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from zodiac_sql.database.runner import Runner
from zodiac_sql.database.statement_cache import StatementCache
from zodiac_sql.database.statements import all_of, union_all
from zodiac_sql.database.store import Store
from zodiac_sql.evaluate.cache_keys import relation_key
from zodiac_sql.evaluate.make_tables import make_part
from zodiac_sql.language.schema import Predicate
from zodiac_sql.names import CHANGE_FACTS, whole
from zodiac_sql.sql.relations import Part, Relation, relation_query
from zodiac_sql.sql.set_difference import unknown
from zodiac_sql.storage.edits import Delta, Edit
from zodiac_sql.storage.extensions import comparable, difference
from zodiac_sql.storage.owners import Owner
from zodiac_sql.storage.same_values import have_same_types, in_types_of
from zodiac_sql.storage.sources import Sources


@dataclass(slots=True)
class ChangedExtensions:
    """The extensions before (`old`) and after a change (`new`), as far as it is computed."""

    store: Store
    cache: StatementCache
    old: Sources
    new: Sources
    edits: dict[tuple[str, Owner], Edit]
    """The edits of tables, by predicate and owner."""
    touched: dict[str, dict[Owner, Edit]] = field(init=False)
    """For each predicate with a changed table, its edits by owner."""
    _deltas: dict[str, dict[int | None, Delta]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.touched = {}
        for (predicate, owner), edit in self.edits.items():
            self.touched.setdefault(predicate, {})[owner] = edit

    def known(self, predicate: str) -> Predicate:
        """A predicate after the change, or before it if it vanishes."""
        return self.new.schema.get(predicate) or self.old.schema[predicate]

    def edit(self, predicate: str, hypernode: int, edit: Edit) -> None:
        """Note the edit of a hypernode's table; the extension's known deltas become invalid."""
        self.edits[predicate, hypernode] = edit
        self.touched.setdefault(predicate, {})[hypernode] = edit
        parts = self.new.derived.get(predicate, {}).get(hypernode, ())
        self.new.put(predicate, hypernode, edit.applied(parts))
        self._deltas.pop(predicate, None)

    def has_delta(self, predicate: str) -> bool:
        """Whether the delta of an extension has been computed already."""
        return None in self._deltas.get(predicate, ())

    def delta(self, predicate: str, without: int | None = None) -> Delta:
        """How an extension has changed, leaving out one hypernode's table.

        Call this only when all hypernodes that derive the predicate have been evaluated.
        """
        known = self._deltas.setdefault(predicate, {})
        if without not in known:
            known[without] = _delta(self, predicate, without)
        return known[without]


def _delta(extensions: ChangedExtensions, predicate: str, without: int | None) -> Delta:
    known = extensions.known(predicate)
    new, old = (
        side.relation(predicate, without)
        if predicate in side.schema
        else Relation(known.columns, ())
        for side in (extensions.new, extensions.old)
    )
    if not old.rows or not new.rows or not comparable(new, old):
        return Delta(new, old)
    end = whole(known.sql_name, without)
    if not have_same_types(new.columns, old.columns):
        return _compared(extensions.store, end, new, old)
    if any(len(side.parts) == 1 and side.parts[0].read.pairs for side in (old, new)):
        return _delta_of_pairs(extensions, predicate, without, new, old)
    if _names(new) != _names(old):
        return _compared(extensions.store, end, new, old)
    return Delta(
        _really(extensions, predicate, without, new, f"{CHANGE_FACTS}entered_{end}"),
        _really(extensions, predicate, without, old, f"{CHANGE_FACTS}left_{end}", gained=False),
    )


def _delta_of_pairs(
    extensions: ChangedExtensions, predicate: str, without: int | None, new: Relation, old: Relation
) -> Delta:
    """The delta of an extension that is stored as classes of nodes, before or after the change.

    If one hypernode's pairs cover the extension before and after, the delta is what these pairs
    have gained and lost.
    """
    sides = (extensions.old, extensions.new)
    owners = [_covering(side.owners(predicate), without) for side in sides]
    edit = extensions.edits.get((predicate, owners[0])) if owners[0] is not None else None
    if owners[0] is not None and owners[0] == owners[1]:
        gained, lost = (edit.inserted, edit.deleted) if edit else (None, None)
        return Delta(
            Relation(new.columns, (gained,) if gained else ()),
            Relation(old.columns, (lost,) if lost else ()),
        )
    sql_name = extensions.old.schema[predicate].sql_name
    return _compared(extensions.store, whole(sql_name, without), new, old)


def _covering(owners: Mapping[Owner, tuple[Part, ...]], without: int | None) -> Owner | None:
    """The owner whose facts are the whole extension of a predicate, if there is one."""
    covering = (o for o, parts in owners.items() if parts and parts[0].covers and parts[0].rows)
    return next((owner for owner in covering if owner != without), None)


def _names(relation: Relation) -> list[str]:
    return [column.name for column in relation.columns]


def _compared(store: Store, end: str, new: Relation, old: Relation) -> Delta:
    """The delta of two extensions, found by comparing all of their facts: no edit tells it."""
    before, after = in_types_of(store, old, new.columns), in_types_of(store, new, old.columns)
    entered = difference(store, f"{CHANGE_FACTS}entered_{end}", new, before)
    left = difference(store, f"{CHANGE_FACTS}left_{end}", old, after)
    return Delta(
        Relation(new.columns, (entered,) if entered else ()),
        Relation(old.columns, (left,) if left else ()),
    )


def _really(
    extensions: ChangedExtensions,
    predicate: str,
    without: int | None,
    relation: Relation,
    name: str,
    gained: bool = True,
) -> Relation:
    """The facts that tables gained and no table had before, or lost and no table has now."""
    edits = {o: e for o, e in extensions.touched.get(predicate, {}).items() if o != without}
    covering = [edit for edit in edits.values() if edit.covers]
    each = ((o, edit.inserted if gained else edit.deleted) for o, edit in edits.items())
    moved = {o: part for o, part in each if part and (edits[o].covers or not covering)}
    if not moved or covering:
        return Relation(relation.columns, tuple(moved.values()))
    side = extensions.old if gained else extensions.new
    owners = {o: parts for o, parts in side.owners(predicate).items() if o != without}
    compared = [
        (Relation(relation.columns, facts), Relation(side.schema[predicate].columns, others))
        for facts, others in _with_others(moved, owners)
    ]
    if len(compared) == len(moved) == 1 and not compared[0][1].parts:
        return compared[0][0]

    def query() -> exp.Query:
        rows = [
            unknown(relation_query(facts), against, once=len(facts.parts) == 1)
            for facts, against in compared
        ]
        return rows[0] if len(rows) == 1 else union_all([all_of(one) for one in rows])

    key = tuple((relation_key(facts), relation_key(against)) for facts, against in compared)
    runner = Runner(extensions.store, extensions.cache.of(predicate))
    part = make_part(runner, key, name, query)
    return Relation(relation.columns, (part,) if part else ())


Parts = tuple[Part, ...]


def _with_others(
    moved: Mapping[Owner, Part], owners: Mapping[Owner, Parts]
) -> list[tuple[Parts, Parts]]:
    """What has moved, and what it has to be compared with, so that no fact is found twice.

    A table had no fact that it gains, and has none that it lost. So what moved in it is compared
    with other tables only. If there are just two, what moved in one of them is left out of what
    moved in the other; if there are more, what moved in any of them is compared with all.
    """
    there = {owner: tuple(p for p in parts if p.rows) for owner, parts in owners.items()}
    if len(moved) == 1:
        ((owner, part),) = moved.items()
        return [((part,), tuple(p for o, parts in there.items() if o != owner for p in parts))]
    if len(moved) == 2 and not any(parts for o, parts in there.items() if o not in moved):
        (first, one), (second, two) = moved.items()
        known = _with(there.get(first, ()), one)
        return [((one,), there.get(second, ())), ((two,), known)]
    return [(tuple(moved.values()), tuple(p for parts in there.values() for p in parts))]


def _with(parts: Parts, moved: Part) -> Parts:
    """The parts of a table with what entered it, or with what is left out of one of them."""
    if not moved.read.minus and any(part.read.minus == moved.table for part in parts):
        return tuple(p.without(None) if p.read.minus == moved.table else p for p in parts)
    return (*parts, moved)
