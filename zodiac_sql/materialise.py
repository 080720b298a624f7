"""Algorithm 1 of paper 1, for those hypernodes that a change affects.

First, tables pass from the hypernodes there were to those there are (restructuring.py); what passes
to none is lost as a whole, and nobody looks into it. Then hypernodes are visited in the order of
Algorithm 4. One that is new is evaluated; one whose rules or inputs have changed is maintained by a
strategy (maintain/); all others cost no statement. Changes travel between hypernodes as changes of
extensions, not of single tables: a fact that one table loses while another holds it has not changed
for anyone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from sqlglot import exp

from zodiac_sql.apply import Kept, tables
from zodiac_sql.catalog import State
from zodiac_sql.decomposing import (
    Decomposing,
    Question,
    at_work,
    decision,
    may_decompose,
    shape,
    within,
)
from zodiac_sql.errors import StoreError
from zodiac_sql.extension import EXPLICIT, Sources, comparable, difference, inside, sources_of
from zodiac_sql.functions import Functions, require
from zodiac_sql.hypernodes import Hypernode
from zodiac_sql.hypertree.stored import StoredTree, is_node
from zodiac_sql.maintain import maintain
from zodiac_sql.maintain.contract import KEPT, Delta, Edit, Maintained, Task
from zodiac_sql.maintain.recompute import recompute
from zodiac_sql.modules import modules_of
from zodiac_sql.modules.contract import given, is_external
from zodiac_sql.modules.inner import Inner, ModuleRow, inner_of, with_trees
from zodiac_sql.plan import Version
from zodiac_sql.program import Planned
from zodiac_sql.relations import Part, Relation, relation_query, table
from zodiac_sql.restructuring import Heritage, Restructuring, execution_plan, table_heirs
from zodiac_sql.rules import Column, Rule, Type
from zodiac_sql.safety import used_functions
from zodiac_sql.schema import Predicate
from zodiac_sql.sql import Context
from zodiac_sql.store import Store
from zodiac_sql.trees import create_temp
from zodiac_sql.unknown import unknown

Progress = Callable[[str, int, int], None]
"""Called with the name of a hypernode about to be evaluated, its number and how many there are."""


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
    _deltas: dict[tuple[str, int | None], Delta] = field(default_factory=dict)

    @property
    def touched(self) -> set[str]:
        """Predicates some table of which has changed."""
        return {predicate for predicate, _ in self.edits}

    def has_delta(self, predicate: str) -> bool:
        """Whether somebody has asked already how an extension has changed."""
        return (predicate, None) in self._deltas

    def delta(self, predicate: str, without: int | None = None) -> Delta:
        """How an extension has changed, leaving out one hypernode's table.

        To be asked once all that derives the predicate is evaluated.
        """
        key = (predicate, without)
        if key not in self._deltas:
            self._deltas[key] = _delta(self, predicate, without)
        return self._deltas[key]


def materialise(
    store: Store,
    state: State,
    planned: Planned,
    net: Net,
    functions: Functions,
    ids: Mapping[str, int],
    kept: Kept,
    strategy: str,
    modular: bool = True,
    hypertree: Decomposing = "auto",
    progress: Progress | None = None,
) -> Materialisation:
    """Compute what a change does to every hypernode, in temporary tables."""
    work = _begin(store, state, planned, net, functions, ids, kept, strategy, modular, hypertree)
    fresh = _fresh(work)
    changed = {h.id for h in planned.graph.hypernodes if not h.reads.isdisjoint(work.touched)}
    direct = planned.restructuring.direct | fresh | changed
    hypernodes = list(execution_plan(planned.graph, direct))
    for number, hypernode in enumerate(hypernodes):
        deltas = {} if hypernode.id in fresh else _deltas_for(work, hypernode)
        heritage = planned.restructuring.heritages.get(hypernode.id)
        if hypernode.id not in fresh and not deltas and not _is_impaired(heritage):
            continue
        if progress:
            progress(hypernode.name, number, len(hypernodes))
        new = hypernode.id in fresh or heritage is not None
        inner = _with_trees(work, hypernode, _inner(work, hypernode), new)
        anew = hypernode.id in fresh or _is_otherwise(work, hypernode, inner)
        _evaluate(work, hypernode, inner, deltas, heritage, anew)
    return work


def _is_otherwise(work: Materialisation, hypernode: Hypernode, inner: Inner) -> bool:
    """Whether other modules and trees are at work in a hypernode than before."""
    trees = work.trees.get(hypernode.id, ())
    return inner.rows != work.modules.get(hypernode.id, ()) or shape(inner.trees) != shape(trees)


def _inner(work: Materialisation, hypernode: Hypernode) -> Inner:
    """A hypernode with its modules at work."""
    schema = work.planned.schema

    def make() -> Inner:
        modules = modules_of(hypernode, schema) if work.modular else ()
        return inner_of(hypernode, modules, schema)

    return work.kept.of(hypernode.id).get(("inner", hypernode.rules), make)


def _with_trees(work: Materialisation, hypernode: Hypernode, inner: Inner, new: bool) -> Inner:
    """A hypernode with its cyclic rules decomposed as was decided, or is decided now."""
    cyclic = _cyclic(work, hypernode, inner)
    if not cyclic or work.hypertree is False:
        return inner
    before = {} if new else {t.rule: t for t in work.trees.get(hypernode.id, ())}
    trees = _decided(work, inner, cyclic, before, {})
    return _expanded(work, hypernode, inner, trees)


def _expanded(
    work: Materialisation, hypernode: Hypernode, inner: Inner, trees: tuple[StoredTree, ...]
) -> Inner:
    """A hypernode with some trees. What is kept of it is about the rules that they make."""
    kept = work.kept.of(hypernode.id)
    if kept.get("shape", lambda: shape(trees)) != shape(trees):
        del work.kept.parts[hypernode.id]
        kept = work.kept.of(hypernode.id)
        kept.get("shape", lambda: shape(trees))
    expanded = kept.get(("trees", shape(trees)), lambda: with_trees(inner, trees))
    return replace(expanded, trees=trees)


def _cyclic(work: Materialisation, hypernode: Hypernode, inner: Inner) -> tuple[Rule, ...]:
    """The rules of a hypernode that may be decomposed; modules' own are not among them."""
    names = {rule.name for rule in hypernode.rules}
    return work.kept.of(hypernode.id).get(
        ("cyclic", hypernode.rules),
        lambda: tuple(r for r in inner.hypernode.rules if r.name in names and may_decompose(r)),
    )


def _decided(
    work: Materialisation,
    inner: Inner,
    cyclic: Sequence[Rule],
    before: Mapping[str, StoredTree],
    found: Mapping[str, int],
) -> tuple[StoredTree, ...]:
    """What is decided for the cyclic rules of a hypernode: mostly what was before.

    `found` are numbers of derived facts, where these are known already.
    """
    hypernode = inner.hypernode
    sources = inside(work.new, inner, hypernode.id)
    types = {**work.types, **_types_of(inner.schema)}

    def relation(name: str, version: Version) -> Relation:
        return sources.relation(name)

    context = Context(relation, types, work.functions, work.ids)
    assumed = {**_assumed(inner, sources), **found}
    tables = {
        name: sum(p.rows for p in owned.get(hypernode.id, ()))
        for name, owned in work.old.derived.items()
        if is_node(name)
    }
    trees: list[StoredTree] = []
    for rule in cyclic:
        question = Question(work.store, context, rule, assumed)
        tree = decision(question, before.get(rule.name), tables, work.hypertree is True)
        trees.append(tree.apart({t.table for tree in trees for t in tree.nodes}))
    return tuple(trees)


def _assumed(inner: Inner, sources: Sources) -> dict[str, int]:
    """How many facts there may be of what a recursive hypernode derives: at least as many as it has
    to read.
    """
    hypernode = inner.hypernode
    if not hypernode.recursive:
        return {}
    given = hypernode.reads - set(hypernode.derives)
    most = max((sources.relation(name).rows for name in given), default=0)
    return {name: max(most, sources.relation(name).rows) for name in hypernode.derives}


def _is_impaired(heritage: Heritage | None) -> bool:
    """Whether the tables that a hypernode begins with are not yet those of its rules."""
    if heritage is None:
        return False
    return bool(heritage.lost or heritage.new or len(heritage.origins) > 1)


def _begin(
    store: Store,
    state: State,
    planned: Planned,
    net: Net,
    functions: Functions,
    ids: Mapping[str, int],
    kept: Kept,
    strategy: str,
    modular: bool,
    hypertree: Decomposing,
) -> Materialisation:
    old = sources_of(state)
    new = Sources(planned.schema, dict(old.explicit))
    edits: dict[tuple[str, int], Edit] = {}
    for name in {**net.inserts, **net.deletes}:
        inserted, deleted = net.inserts.get(name), net.deletes.get(name)
        edits[name, EXPLICIT] = Edit(inserted, deleted, deleted, inserted)
        new.explicit[name] = edits[name, EXPLICIT].applied(old.explicit.get(name, ()))
    _pass_on(old, planned.restructuring)
    _save_classes(store, old, {h for owned in old.derived.values() for h in owned if h < 0})
    for name, owned in old.derived.items():
        if name in planned.schema or _is_inner(name):
            new.derived[name] = {h: parts for h, parts in owned.items() if h >= 0}
        for h, parts in owned.items():
            if h < 0 and parts[0].rows:
                edits[name, h] = Edit(None, parts[0], None, None, rewritten=True)
    ranked = _ranked(state, planned.restructuring)
    types = {n: tuple(c.type for c in p.columns) for n, p in planned.schema.items()}
    rows = {row.id: row for row in state.hypernodes}
    same = {n: rows[s] for n, (s, *others) in planned.restructuring.sources.items() if not others}
    return Materialisation(
        store, state, planned, functions, ids, kept, strategy, old, new, edits, ranked,
        types=types, modular=modular, modules={n: row.modules for n, row in same.items()},
        hypertree=hypertree, trees={n: row.trees for n, row in same.items()},
    )  # fmt: skip


def _is_inner(name: str) -> bool:
    """Whether a table belongs to a module or a tree, and so to one hypernode only."""
    return is_external(name) or is_node(name)


def _pass_on(old: Sources, restructuring: Restructuring) -> None:
    """Give each table to the hypernode that takes it over, the base's first.

    What nobody takes over belongs to the old hypernode's number below 0. Tables inside a hypernode
    (modules/inner.py) stay with it, or are gone.
    """
    if restructuring.before is restructuring.after:
        return
    heirs = table_heirs(restructuring)
    bases = {heritage.base for heritage in restructuring.heritages.values()}
    unchanged = restructuring.unchanged()
    for name, owned in list(old.derived.items()):
        if _is_inner(name):
            old.derived[name] = {h: parts for h, parts in owned.items() if h in unchanged}
            continue
        passed: dict[int, tuple[Part, ...]] = {}
        for number in sorted(owned, key=lambda number: number not in bases):
            heir = heirs.get((number, name), -number)
            passed[heir] = (*passed.get(heir, ()), *owned[number])
        old.derived[name] = passed


def _save_classes(store: Store, old: Sources, numbers: Collection[int]) -> None:
    """Copy the tables of classes that this change drops, for those who ask what was there."""
    for owned in old.derived.values():
        for number, parts in owned.items():
            if number in numbers and parts[0].pairs:
                copied = f"{KEPT}former_{parts[0].table}"
                store.run(create_temp(copied, exp.select("*").from_(table(parts[0]))))
                owned[number] = (replace(parts[0], schema="temp", table=copied), *parts[1:])


def _ranked(state: State, restructuring: Restructuring) -> dict[int, bool]:
    """Which hypernodes begin with ranks that may be relied upon."""
    before = {row.id: row.ranked or not row.recursive for row in state.hypernodes}
    return {
        number: all(before[source] for source in sources)
        for number, sources in restructuring.sources.items()
    }


def _fresh(work: Materialisation) -> set[int]:
    """The hypernodes that have to be evaluated."""
    restructuring, planned = work.planned.restructuring, work.planned
    if restructuring.before is restructuring.after and planned.schema == work.state.schema:
        return set()
    return {h.id for h in planned.graph.hypernodes if _is_fresh(work, h)}


def _is_fresh(work: Materialisation, hypernode: Hypernode) -> bool:
    """Whether a hypernode has to be evaluated: there are no tables that it could begin with.

    Modules and trees neither take tables over nor leave them to others.
    """
    restructuring = work.planned.restructuring
    heritage = restructuring.heritages.get(hypernode.id)
    if heritage and (_inner(work, hypernode).rows or _had_inner_tables(work, heritage)):
        return True
    if hypernode.id not in restructuring.sources or (heritage and not heritage.origins):
        return True
    lost, new = (heritage.lost, heritage.new) if heritage else ((), ())
    if used_functions(lost) & work.state.functions.keys() - work.functions.keys():
        return True  # a rule may go because its function is no more
    lasting = [rule for rule in hypernode.rules if rule not in new]
    return _retyped(work, lasting) or _retyped(work, lost, gone=True)


def _had_inner_tables(work: Materialisation, heritage: Heritage) -> bool:
    origins = {origin.id for origin in heritage.origins}
    return any(
        row.modules or any(tree.nodes for tree in row.trees)
        for row in work.state.hypernodes
        if row.id in origins
    )


def _retyped(work: Materialisation, rules: Iterable[Rule], gone: bool = False) -> bool:
    """Whether a predicate in some rules has other columns than before.

    Of rules that are gone only the past is asked: nothing may be left that gives a column a type.
    """
    for name in {
        p for rule in rules for p in (rule.head.predicate, *rule.positive(), *rule.negative())
    }:
        before, after = work.state.schema.get(name), work.planned.schema[name]
        if before is after:
            continue
        if before is None or before.columns != (_past(work, name) if gone else after.columns):
            return True
    return False


def _past(work: Materialisation, name: str) -> tuple[Column, ...]:
    """The columns of a predicate, those that are open as they were before the change."""
    after, before = work.planned.schema[name], work.state.schema.get(name)
    if before is None or before.arity != after.arity:
        return after.columns
    pairs = zip(after.columns, before.columns, strict=True)
    return tuple(Column(new.name, new.type or old.type) for new, old in pairs)


def _deltas_for(work: Materialisation, hypernode: Hypernode) -> dict[str, Delta]:
    """How a hypernode's inputs have changed; those that have not are left out."""
    deltas = {}
    for name in sorted(work.touched & hypernode.reads):
        own = hypernode.id if name in hypernode.derives else None
        delta = work.delta(name, own)
        if delta:
            deltas[name] = delta
    return deltas


def _evaluate(
    work: Materialisation,
    hypernode: Hypernode,
    inner: Inner,
    deltas: dict[str, Delta],
    heritage: Heritage | None,
    fresh: bool,
) -> None:
    """Bring one hypernode up to date."""
    for rule in hypernode.rules:
        require(used_functions([rule]), work.planned.functions, f"rule {rule.name}")
    started = time.perf_counter()
    if fresh:
        _save_classes(work.store, work.old, {hypernode.id})
        for name in filter(is_node, work.old.derived):  # those of other trees have other columns
            work.old.derived[name].pop(hypernode.id, None)
    task = _task(work, hypernode, inner, deltas, heritage)
    done, strategy, why = _maintained(work, task, hypernode, fresh)
    tried = 0
    while fresh and (trees := _within_limits(work, hypernode, inner, task, done, tried)):
        tried += 1
        inner = _expanded(work, hypernode, _inner(work, hypernode), trees)
        task = _task(work, hypernode, inner, deltas, heritage)
        done, strategy, why = _maintained(work, task, hypernode, fresh)
    _take(work, hypernode, inner, done)
    work.evaluated[hypernode.name] = {
        "strategy": strategy,
        "why": why,
        "method": done.method,
        "modules": [str(row) for row in inner.rows],
        "trees": [tree.told for tree in inner.trees],
        **asdict(done.work),
        "inserted": sum(e.inserted.rows for e in _outer(inner, done) if e.inserted),
        "deleted": sum(e.deleted.rows for e in _outer(inner, done) if e.deleted),
        "seconds": time.perf_counter() - started,
    }


def _task(
    work: Materialisation,
    hypernode: Hypernode,
    inner: Inner,
    deltas: Mapping[str, Delta],
    heritage: Heritage | None,
) -> Task:
    before, after = (inside(sources, inner, hypernode.id) for sources in (work.old, work.new))
    return Task(
        work.store,
        # If rules of its own change, its tables have other names the next time.
        Kept() if heritage else work.kept.of(hypernode.id),
        inner.hypernode,
        {**work.planned.schema, **inner.schema},
        {**_types(work, heritage), **_types_of(inner.schema)},
        work.functions,
        work.ids,
        before,
        after,
        _deltas_inside(deltas, inner),
        work.ranked.get(hypernode.id, False),
        heritage,
        modules=inner.rows,
    )


def _maintained(
    work: Materialisation, task: Task, hypernode: Hypernode, fresh: bool
) -> tuple[Maintained, str, str]:
    """What comes of a task, by which strategy, and why that one."""
    try:
        if fresh:
            return recompute(task), "recompute", "its rules, columns, modules or trees are new"
        return maintain(task, work.strategy)
    except StoreError as error:
        if type(error) is not StoreError:
            raise
        names = ", ".join(rule.name for rule in hypernode.rules)
        raise StoreError(
            f"rule {names} cannot be evaluated. Nothing was changed. {error}"
        ) from error


def _within_limits(
    work: Materialisation,
    hypernode: Hypernode,
    inner: Inner,
    task: Task,
    done: Maintained,
    tried: int,
) -> tuple[StoredTree, ...]:
    """Other trees, if the nodes of some have turned out to be too large; nothing if they have not.

    First it is decided again, as now the sizes of what the hypernode derives are known.
    """
    if work.hypertree != "auto" or not any(at_work(inner.trees)):
        return ()
    rows = {name: sum(p.rows for p in edit.incoming) for name, edit in done.edits.items()}

    def facts(rule: str) -> int:
        names = _read(work, rule)
        return sum(task.inputs(name, Version.ALL).rows + rows.get(name, 0) for name in names)

    fitting = tuple(within(tree, rows, facts(tree.rule)) for tree in inner.trees)
    if shape(fitting) == shape(inner.trees):
        return ()
    if tried == 0 and hypernode.recursive:
        outer = _inner(work, hypernode)
        found = {name: rows.get(name, 0) for name in hypernode.derives}
        again = _decided(work, outer, _cyclic(work, hypernode, outer), {}, found)
        if shape(again) != shape(inner.trees):
            return again
    return fitting


def _read(work: Materialisation, rule: str) -> set[str]:
    """The predicates of a rule and its head, as it was written."""
    written = next(r for r in work.planned.rules if r.name == rule)
    return {written.head.predicate, *written.positive()}


def _types(
    work: Materialisation, heritage: Heritage | None
) -> Mapping[str, tuple[Type | None, ...]]:
    """The types of all columns; of predicates in rules that were lost, as they were."""
    lost = heritage.lost if heritage else ()
    names = {p for rule in lost for p in rule.positive() | rule.negative()}
    return {**work.types, **{n: tuple(c.type for c in _past(work, n)) for n in names}}


def _types_of(schema: Mapping[str, Predicate]) -> dict[str, tuple[Type | None, ...]]:
    return {name: tuple(c.type for c in known.columns) for name, known in schema.items()}


def _deltas_inside(deltas: Mapping[str, Delta], inner: Inner) -> dict[str, Delta]:
    """How inputs have changed, where modules read what is given of their predicates from outside."""
    inside = dict(deltas)
    for row in inner.rows:
        if row.predicate in deltas:
            inside[given(row.predicate)] = deltas[row.predicate]
            if row.parted and row.covers:
                del inside[row.predicate]  # all of it is the module's
    return inside


def _outer(inner: Inner, done: Maintained) -> list[Edit]:
    """The edits of tables that do not belong to modules."""
    return [edit for name, edit in done.edits.items() if name not in inner.tables]


def _take(work: Materialisation, hypernode: Hypernode, inner: Inner, done: Maintained) -> None:
    """Remember what became of a hypernode's tables."""
    work.ranked[hypernode.id] = done.ranked
    work.modules[hypernode.id] = inner.rows
    work.trees[hypernode.id] = inner.trees
    work.tables |= inner.tables
    for name, edit in done.edits.items():
        if name in inner.tables:
            work.inside[name, hypernode.id] = edit
            continue
        work.edits[name, hypernode.id] = edit
        tables = work.new.derived.setdefault(name, {})
        tables[hypernode.id] = edit.applied(tables.get(hypernode.id, ()))
        for key in [key for key in work._deltas if key[0] == name]:
            del work._deltas[key]


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
    end = known.sql_name if without is None else f"{known.sql_name}_outside_h{without}"
    if _names(new) != _names(old):
        return _compared(work, end, new, old)
    edits = {o: e for (p, o), e in work.edits.items() if p == predicate and o != without}
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
    end = sql_name if without is None else f"{sql_name}_outside_h{without}"
    return _compared(work, end, new, old)


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
