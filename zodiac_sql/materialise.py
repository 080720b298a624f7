"""Algorithm 1 of paper 1, for those hypernodes that a change affects.

Hypernodes are visited in the topological order of the HRDG. One whose rules are new, or whose
inputs have changed, is evaluated by its maintenance strategy; all others cost no statement.
Changes travel between hypernodes as changes of extensions, not of single tables: a fact that one
table loses while another holds it has not changed for anyone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from zodiac_sql.catalog import State
from zodiac_sql.errors import StoreError
from zodiac_sql.extension import Sources, comparable, count, difference, distinct_query, sources_of
from zodiac_sql.functions import Functions, require
from zodiac_sql.hypernodes import Hypernode
from zodiac_sql.maintain.recompute import recompute
from zodiac_sql.program import Planned
from zodiac_sql.relations import Part, Relation
from zodiac_sql.safety import used_functions
from zodiac_sql.sql import Context
from zodiac_sql.store import Store
from zodiac_sql.trees import create_temp

KEPT = "zodiac$change_"
"""How the temporary tables begin that a Change reads its facts from."""

Progress = Callable[[str, int, int], None]
"""Called with the name of a hypernode about to be evaluated, its number and how many there are."""


@dataclass(frozen=True, slots=True)
class Net:
    """Net changes of explicit facts: temporary tables by predicate, none of them empty."""

    inserts: Mapping[str, Part] = field(default_factory=dict)
    deletes: Mapping[str, Part] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Difference:
    """How an extension changed. `inserted` None with a number means: all of it is new."""

    inserted_count: int
    inserted: Part | None
    deleted: Part | None

    def __bool__(self) -> bool:
        return bool(self.inserted_count or self.deleted)


@dataclass(slots=True)
class Materialisation:
    """The extensions while a change is computed: as they were, and as they will be."""

    store: Store
    state: State
    planned: Planned
    functions: Functions
    ids: Mapping[str, int]
    old: Sources
    new: Sources
    touched: set[str]
    """Predicates some table of which has changed."""
    tables: dict[tuple[str, int], Part | None] = field(default_factory=dict)
    """Tables to write, by predicate and hypernode."""
    differences: dict[str, Difference] = field(default_factory=dict)
    evaluated: dict[str, dict[str, object]] = field(default_factory=dict)
    """Work by hypernode: method, iterations, rows and seconds."""


def materialise(
    store: Store,
    state: State,
    planned: Planned,
    net: Net,
    functions: Functions,
    ids: Mapping[str, int],
    progress: Progress | None = None,
) -> Materialisation:
    """Compute what a change does to every hypernode, in temporary tables."""
    work = _begin(store, state, planned, net, functions, ids)
    hypernodes = planned.graph.hypernodes
    for number, hypernode in enumerate(hypernodes):
        if not _is_affected(work, hypernode):
            continue
        if progress:
            progress(hypernode.name, number, len(hypernodes))
        _evaluate(work, hypernode)
    return work


def compare(work: Materialisation) -> dict[str, Difference]:
    """How every touched extension has changed; unchanged ones are left out."""
    differences = {name: extension_difference(work, name) for name in sorted(work.touched)}
    return {name: difference for name, difference in differences.items() if difference}


def _begin(
    store: Store,
    state: State,
    planned: Planned,
    net: Net,
    functions: Functions,
    ids: Mapping[str, int],
) -> Materialisation:
    old = sources_of(state)
    new = Sources(planned.schema)
    for name in planned.schema:
        new.explicit[name] = _explicit(old, net, name)
    kept = {hypernode.id for hypernode in planned.graph.hypernodes}
    touched = {*net.inserts, *net.deletes}
    for name, tables in old.derived.items():
        if name in planned.schema:
            new.derived[name] = {h: part for h, part in tables.items() if h in kept}
        if any(h not in kept and part.rows for h, part in tables.items()):
            touched.add(name)
    return Materialisation(store, state, planned, functions, ids, old, new, touched)


def _explicit(old: Sources, net: Net, predicate: str) -> tuple[Part, ...]:
    """The explicit facts of a predicate after the change."""
    parts = []
    deleted = net.deletes.get(predicate)
    for part in old.explicit.get(predicate, ()):
        minus = deleted.table if deleted else None
        left = part.rows - (deleted.rows if deleted else 0)
        parts.append(Part(part.schema, part.table, left, minus))
    if predicate in net.inserts:
        parts.append(net.inserts[predicate])
    return tuple(parts)


def _is_affected(work: Materialisation, hypernode: Hypernode) -> bool:
    """Whether a hypernode's result may differ from what is in the file."""
    if hypernode.id not in {row.id for row in work.state.hypernodes}:
        return True
    concerned = hypernode.reads.union(hypernode.derives)
    for name in concerned:
        before, after = work.state.schema.get(name), work.planned.schema[name]
        if before is None or before.columns != after.columns:
            return True
    changed = work.touched & hypernode.reads
    if changed.intersection(hypernode.derives):
        return True  # facts from outside reach a recursive hypernode: its own table is no witness
    return any(extension_difference(work, name) for name in changed)


def _evaluate(work: Materialisation, hypernode: Hypernode) -> None:
    """Evaluate a hypernode anew, and keep those of its tables that have changed."""
    for rule in hypernode.rules:
        require(used_functions([rule]), work.planned.functions, f"rule {rule.name}")
    started = time.perf_counter()
    context = Context(
        relation=lambda name, version: work.new.relation(name, without=hypernode.id),
        columns={n: [c.type for c in p.columns] for n, p in work.planned.schema.items()},
        functions=work.functions,
        ids=work.ids,
    )
    try:
        fixpoint = recompute(work.store, hypernode, work.planned.schema, context, work.old)
    except StoreError as error:
        if type(error) is not StoreError:
            raise
        names = ", ".join(rule.name for rule in hypernode.rules)
        raise StoreError(
            f"rule {names} cannot be evaluated. Nothing was changed. {error}"
        ) from error
    for name, part in fixpoint.changed.items():
        tables = work.new.derived.setdefault(name, {})
        tables.pop(hypernode.id, None)
        if part is not None:
            tables[hypernode.id] = part
        work.tables[name, hypernode.id] = part
        if fixpoint.differs[name]:
            work.touched.add(name)
    work.evaluated[hypernode.name] = {
        "method": fixpoint.method,
        "iterations": fixpoint.iterations,
        "rows": fixpoint.rows,
        "seconds": time.perf_counter() - started,
    }


def extension_difference(work: Materialisation, predicate: str) -> Difference:
    """How the extension of a predicate has changed, once all that derives it is evaluated."""
    if predicate not in work.differences:
        work.differences[predicate] = _difference(work, predicate)
    return work.differences[predicate]


def _difference(work: Materialisation, predicate: str) -> Difference:
    store = work.store
    known = work.planned.schema.get(predicate) or work.state.schema[predicate]
    nothing = Relation(known.columns, ())
    new = work.new.relation(predicate) if predicate in work.new.schema else nothing
    old = work.old.relation(predicate) if predicate in work.old.schema else nothing
    name = known.sql_name
    if not old.rows:
        return Difference(count(store, new), None, None)
    if not new.rows or not comparable(new, old):
        rows = store.count(create_temp(f"{KEPT}minus_{name}", distinct_query(old)))
        gone = Part("temp", f"{KEPT}minus_{name}", rows)
        return Difference(count(store, new), None, gone)
    inserted = difference(store, f"{KEPT}plus_{name}", new, old)
    deleted = difference(store, f"{KEPT}minus_{name}", old, new)
    return Difference(inserted.rows if inserted else 0, inserted, deleted)
