"""The extensions while a change is computed: as they were, and as they will be.

Changes travel between hypernodes as changes of extensions, not of single tables: a fact that one table
loses while another holds it has not changed for anyone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from zodiac_sql.apply import Kept, tables
from zodiac_sql.catalog import State
from zodiac_sql.decomposing import (
    Decomposing,
)
from zodiac_sql.extension import Sources, comparable, difference
from zodiac_sql.functions import Functions
from zodiac_sql.hypertree.stored import StoredTree
from zodiac_sql.maintain.contract import Delta, Edit
from zodiac_sql.maintain.marking import Marks
from zodiac_sql.modules.inner import ModuleRow
from zodiac_sql.names import KEPT, whole
from zodiac_sql.program import Planned
from zodiac_sql.relations import Part, Relation, relation_query
from zodiac_sql.rules import Type
from zodiac_sql.schema import Predicate
from zodiac_sql.store import Store
from zodiac_sql.trees import create_temp
from zodiac_sql.unknown import unknown


@dataclass(frozen=True, slots=True)
class Net:
    """Net changes of explicit facts: temporary tables by predicate, none of them empty."""

    inserts: Mapping[str, Part] = field(default_factory=dict)
    deletes: Mapping[str, Part] = field(default_factory=dict)


@dataclass(slots=True)
class Materialisation:
    """The extensions while a change is computed: as they were, and as they will be."""

    store: Store
    state: State
    planned: Planned
    functions: Functions
    ids: Mapping[str, int]
    kept: Kept
    strategy: str
    old: Sources
    new: Sources
    edits: dict[tuple[str, int], Edit]
    """What becomes of tables, by predicate and owner."""
    ranked: dict[int, bool]
    """Which hypernodes have ranks that may be relied upon."""
    evaluated: dict[str, dict[str, object]] = field(default_factory=dict)
    """Work by hypernode, as in Change.stats."""
    types: dict[str, tuple[Type | None, ...]] = field(default_factory=dict)
    modular: bool = True
    """Whether modules may be at work."""
    modules: dict[int, tuple[ModuleRow, ...]] = field(default_factory=dict)
    """The modules at work in each hypernode."""
    hypertree: Decomposing = "auto"
    """Which cyclic rules are decomposed."""
    trees: dict[int, tuple[StoredTree, ...]] = field(default_factory=dict)
    """What was decided for the cyclic rules of each hypernode."""
    inside: dict[tuple[str, int], Edit] = field(default_factory=dict)
    """What becomes of tables of modules and trees, by their names inside a hypernode, and its number."""
    tables: dict[str, Predicate] = field(default_factory=dict)
    """The tables of modules and trees by these names."""
    next: dict[str, Part] = field(default_factory=dict)
    """Explicit facts that the next update of a stream deletes: those marked, by predicate."""
    marks: Marks | None = None
    """What the update before has found out about this one, if it came as it was seen."""
    marked: dict[tuple[str, int], Part] = field(default_factory=dict)
    """Derived facts that this one has marked, by predicate and hypernode."""
    unmarked: set[int] = field(default_factory=set)
    """The hypernodes that it has evaluated without marking."""
    touched: dict[str, dict[int, Edit]] = field(init=False)
    """The edits of each predicate some table of which has changed, by owner."""
    _deltas: dict[str, dict[int | None, Delta]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.touched = {}
        for (predicate, owner), edit in self.edits.items():
            self.touched.setdefault(predicate, {})[owner] = edit

    def edit(self, predicate: str, owner: int, edit: Edit) -> None:
        """Note what becomes of a table."""
        self.edits[predicate, owner] = edit
        self.touched.setdefault(predicate, {})[owner] = edit
        self._deltas.pop(predicate, None)

    def all_marked(self) -> dict[str, Relation]:
        """The facts that are marked for the next update, by predicate."""
        marked = [*self.next.items(), *((p, part) for (p, _), part in self.marked.items())]
        found: dict[str, Relation] = {}
        for name, part in marked:
            others = found[name].parts if name in found else ()
            found[name] = Relation(self.planned.schema[name].columns, (*others, part))
        return found

    def has_delta(self, predicate: str) -> bool:
        """Whether somebody has asked already how an extension has changed."""
        return None in self._deltas.get(predicate, ())

    def delta(self, predicate: str, without: int | None = None) -> Delta:
        """How an extension has changed, leaving out one hypernode's table.

        To be asked once all that derives the predicate is evaluated.
        """
        known = self._deltas.setdefault(predicate, {})
        if without not in known:
            known[without] = _delta(self, predicate, without)
        return known[without]


# --- changes of extensions ------------------------------------------------------------------------


def _delta(work: Materialisation, predicate: str, without: int | None) -> Delta:
    known = work.planned.schema.get(predicate) or work.state.schema[predicate]
    nothing = Relation(known.columns, ())
    new = work.new.relation(predicate, without) if predicate in work.new.schema else nothing
    old = work.old.relation(predicate, without) if predicate in work.old.schema else nothing
    if not old.rows or not new.rows or not comparable(new, old):
        return Delta(new, old)
    if any(len(side.parts) == 1 and side.parts[0].pairs for side in (old, new)):
        return _delta_of_pairs(work, predicate, without, new, old)
    end = whole(known.sql_name, without)
    if _names(new) != _names(old):
        return _compared(work, end, new, old)
    edits = {o: e for o, e in work.touched.get(predicate, {}).items() if o != without}
    entered = _really(work, f"{KEPT}entered_{end}", edits, "inserted", predicate, without, new)
    left = _really(work, f"{KEPT}left_{end}", edits, "deleted", predicate, without, old)
    return Delta(entered, left)


def _delta_of_pairs(
    work: Materialisation, predicate: str, without: int | None, new: Relation, old: Relation
) -> Delta:
    """How an extension has changed that is pairs of nodes of a class, before the change or after.

    If one hypernode's pairs cover it before and after, what these have gained and lost is all.
    """
    sides = (work.old, work.new)
    owners = [_covering(side.owners(predicate), without) for side in sides]
    edit = work.edits.get((predicate, owners[0])) if owners[0] is not None else None
    if owners[0] is not None and owners[0] == owners[1]:
        gained, lost = (edit.inserted, edit.deleted) if edit else (None, None)
        return Delta(
            Relation(new.columns, (gained,) if gained else ()),
            Relation(old.columns, (lost,) if lost else ()),
        )
    sql_name = work.state.schema[predicate].sql_name
    return _compared(work, whole(sql_name, without), new, old)


def _covering(owners: Mapping[int, tuple[Part, ...]], without: int | None) -> int | None:
    """The owner whose facts cover a predicate's extension, if there is one."""
    covering = (o for o, parts in owners.items() if parts and parts[0].covers and parts[0].rows)
    return next((owner for owner in covering if owner != without), None)


def _names(relation: Relation) -> list[str]:
    return [column.name for column in relation.columns]


def _compared(work: Materialisation, end: str, new: Relation, old: Relation) -> Delta:
    """The difference of two extensions whose columns have other names: tables were written anew."""
    entered = difference(work.store, f"{KEPT}entered_{end}", new, old)
    left = difference(work.store, f"{KEPT}left_{end}", old, new)
    return Delta(
        Relation(new.columns, (entered,) if entered else ()),
        Relation(old.columns, (left,) if left else ()),
    )


def _really(
    work: Materialisation,
    name: str,
    edits: Mapping[int, Edit],
    which: str,
    predicate: str,
    without: int | None,
    relation: Relation,
) -> Relation:
    """The facts that tables gained (or lost) and that no other table had (or has)."""
    moved = {owner: getattr(edit, which) for owner, edit in edits.items()}
    moved = {owner: part for owner, part in moved.items() if part is not None}
    if not moved:
        return Relation(relation.columns, ())
    side = work.old if which == "inserted" else work.new
    owners = {o: parts for o, parts in side.owners(predicate).items() if o != without}
    if len(moved) == 1:  # what one table gained, it did not have
        owners.pop(next(iter(moved)), None)
    others = tuple(part for parts in owners.values() for part in parts if part.rows)
    if not others and len(moved) == 1:
        return Relation(relation.columns, tuple(moved.values()))
    facts = Relation(relation.columns, tuple(moved.values()))
    against = Relation(side.schema[predicate].columns, others)

    kept = work.kept.of(predicate)

    def statement() -> str:
        return work.store.render(create_temp(name, unknown(relation_query(facts), against)))

    rows = work.store.count(kept.get((name, tables(facts), tables(against)), statement))
    return Relation(relation.columns, (Part("temp", name, rows),) if rows else ())
