"""The extensions before a change, and with its explicit facts but before any hypernode's work."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from zodiac_sql.change.baseline import Baseline
from zodiac_sql.change.changed_extensions import ChangedExtensions
from zodiac_sql.change.choose_rewrites import types_of
from zodiac_sql.change.net_facts import NetFacts
from zodiac_sql.change.prepared import Prepared
from zodiac_sql.change.workspace import Basis, MarkedFacts, Outcomes, Workspace
from zodiac_sql.database.statements import create_temp
from zodiac_sql.database.store import Store
from zodiac_sql.graph.restructuring import Restructuring, table_heirs
from zodiac_sql.names import CHANGE_FACTS, is_external, is_node
from zodiac_sql.program.clock import Ticked
from zodiac_sql.program.state import State
from zodiac_sql.rewrite.hypertree.stored import StoredTree
from zodiac_sql.rewrite.rewritten_hypernode import ModuleRow
from zodiac_sql.sql.class_pairs import Between
from zodiac_sql.sql.relations import Part, table
from zodiac_sql.storage.edits import Edit
from zodiac_sql.storage.owners import EXPLICIT, Discarded, Owner
from zodiac_sql.storage.sources import Sources, own, sources_of


def begin(
    before: Baseline,
    prepared: Prepared,
    net: NetFacts,
    ids: Mapping[str, int],
    most_rounds: int | None = None,
    ticked: Ticked | None = None,
) -> Workspace:
    """The old extensions, and the new ones as they are before any hypernode is evaluated.

    The tables already belong to the hypernodes of the new program (graph/restructuring.py).
    """
    store, state, planned = before.store, before.state, prepared.planned
    old = own(sources_of(state))
    new = Sources(planned.schema, dict(old.explicit))
    edits: dict[tuple[str, Owner], Edit] = {}
    for name in {**net.inserts, **net.deletes, **net.retyped}:
        inserted, deleted = net.inserts.get(name), net.deletes.get(name)
        edits[name, EXPLICIT] = Edit(inserted, deleted, deleted, inserted)
        if (retyped := net.retyped.get(name)) is not None:
            if not retyped.same:
                inserted, deleted = retyped.now, next(iter(old.explicit.get(name, ())), None)
            edits[name, EXPLICIT] = Edit(inserted, deleted, None, retyped.now, rewritten=True)
        new.explicit[name] = edits[name, EXPLICIT].applied(old.explicit.get(name, ()))
    if planned.restructuring.before is planned.restructuring.after:
        new.derived.update(old.derived)
        rows = state.once("begun", lambda: _rows(state, planned.restructuring))
    else:
        _restructure(store, old, new, edits, planned.restructuring)
        rows = _rows(state, planned.restructuring)
    basis = Basis(
        store=store,
        state=state,
        planned=planned,
        types=prepared.cache.get("types", lambda: types_of(planned.schema)),
        datatypes=prepared.datatypes,
        functions=before.functions,
        ids=ids,
        settings=before.settings,
        cache=prepared.cache,
        most_rounds=most_rounds,
        ticked=ticked,
    )
    extensions = ChangedExtensions(store, prepared.cache, old, new, edits)
    outcomes = Outcomes(dict(rows.ranked), dict(rows.modules), dict(rows.trees))
    return Workspace(basis, extensions, outcomes, MarkedFacts())


def _is_inner(name: str) -> bool:
    """Whether a table belongs to a module or a tree, and so to one hypernode only."""
    return is_external(name) or is_node(name)


def _restructure(
    store: Store,
    old: Sources,
    new: Sources,
    edits: dict[tuple[str, Owner], Edit],
    restructuring: Restructuring,
) -> None:
    """Give the tables to the hypernodes of the new program, and discard those of no hypernode."""
    _pass_on(old, restructuring)
    discarded = {o for owned in old.derived.values() for o in owned if isinstance(o, Discarded)}
    save_classes(store, old, discarded, old.derived)
    for name, owned in old.derived.items():
        if name in new.schema or _is_inner(name):
            new.derived[name] = {o: parts for o, parts in owned.items() if o not in discarded}
        for owner, parts in owned.items():
            if owner in discarded and parts[0].rows:
                edits[name, owner] = Edit(None, parts[0], None, None, rewritten=True)


def _pass_on(old: Sources, restructuring: Restructuring) -> None:
    """Give each table to the hypernode that takes it over, those of the base first.

    Tables that no hypernode takes over are discarded. Tables inside a hypernode
    (rewrite/rewritten_hypernode.py) stay only if the hypernode is unchanged.
    """
    heirs = table_heirs(restructuring)
    bases = {heritage.base for heritage in restructuring.heritages.values()}
    unchanged = restructuring.unchanged()
    for name, owned in list(old.derived.items()):
        if _is_inner(name):
            old.derived[name] = {h: parts for h, parts in owned.items() if h in unchanged}
            continue
        passed: dict[Owner, tuple[Part, ...]] = {}
        numbers = [owner for owner in owned if not isinstance(owner, Discarded)]
        for number in sorted(numbers, key=lambda number: number not in bases):
            heir = heirs.get((number, name), Discarded(number))
            passed[heir] = (*passed.get(heir, ()), *owned[number])
        old.derived[name] = passed


def save_classes(
    store: Store, old: Sources, owners: Collection[Owner], names: Iterable[str]
) -> None:
    """Copy the tables of classes that this change drops, because their old facts are still read."""
    for name in list(names):
        for owner, parts in old.derived.get(name, {}).items():
            if owner in owners and any(part.read.pairs for part in parts):
                old.put(name, owner, tuple(_saved(store, part) for part in parts))


def _saved(store: Store, part: Part) -> Part:
    """A copy of a table of classes; any other table itself."""
    if part.read.pairs is None or part.schema == "temp":
        return part
    copied = f"{CHANGE_FACTS}former_{part.table}"
    store.run(create_temp(copied, exp.select(exp.Star()).from_(table(part))))
    if there := part.read.pairs.between:
        pairs = f"{CHANGE_FACTS}former_{there.table}"
        store.run(create_temp(pairs, exp.select(exp.Star()).from_(there.named("c"))))
        kept = replace(part.read.pairs, between=Between("temp", pairs))
        part = replace(part, read=replace(part.read, pairs=kept))
    return replace(part, schema="temp", table=copied)


@dataclass(frozen=True, slots=True)
class _Rows:
    """What the catalog has for each hypernode, by its number."""

    ranked: dict[int, bool]
    """Which hypernodes begin with reliable ranks."""
    modules: dict[int, tuple[ModuleRow, ...]]
    trees: dict[int, tuple[StoredTree, ...]]


def _rows(state: State, restructuring: Restructuring) -> _Rows:
    rows = {row.id: row for row in state.hypernodes}
    reliable = {row.id: row.ranked or not row.recursive for row in state.hypernodes}
    sources = restructuring.sources.items()
    same = {number: rows[source] for number, (source, *others) in sources if not others}
    return _Rows(
        {number: all(reliable[source] for source in olds) for number, olds in sources},
        {number: row.modules for number, row in same.items()},
        {number: row.trees for number, row in same.items()},
    )
