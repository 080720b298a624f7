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
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict, replace

from sqlglot import exp

from zodiac_sql.apply import Kept, evaluating
from zodiac_sql.catalog import State
from zodiac_sql.decomposing import (
    Decomposing,
)
from zodiac_sql.expanding import (
    expand,
    is_otherwise,
    types_of,
    with_all,
    with_decisions,
    with_modules,
    within_limits,
)
from zodiac_sql.extension import EXPLICIT, Sources, inside, sources_of
from zodiac_sql.functions import Functions, require
from zodiac_sql.hypernodes import Hypernode
from zodiac_sql.hypertree.stored import tables_of_trees
from zodiac_sql.maintain import maintain
from zodiac_sql.maintain.contract import Delta, Edit, Maintained, Marking, Task
from zodiac_sql.maintain.recompute import recompute
from zodiac_sql.materialisation import Materialisation, Net
from zodiac_sql.modules.inner import Inner
from zodiac_sql.names import KEPT, given, is_external, is_node
from zodiac_sql.program import Planned
from zodiac_sql.relations import Part, table
from zodiac_sql.restructuring import Heritage, Restructuring, execution_plan, table_heirs
from zodiac_sql.rules import Column, Rule, Type
from zodiac_sql.safety import used_functions
from zodiac_sql.store import Store
from zodiac_sql.trees import create_temp

Progress = Callable[[str, int, int], None]
"""Called with the name of a hypernode about to be evaluated, its number and how many there are."""


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
    mark: Callable[[Materialisation], None] | None = None,
) -> Materialisation:
    """Compute what a change does to every hypernode, in temporary tables.

    `mark` tells what is known of the next update, before any hypernode is looked at.
    """
    work = _begin(store, state, planned, net, functions, ids, kept, strategy, modular, hypertree)
    if mark:
        mark(work)
    fresh = _fresh(work)
    changed = {h.id for h in planned.graph.hypernodes if any(p in work.touched for p in h.reads)}
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
        inner = with_decisions(work, hypernode, with_modules(work, hypernode), new)
        anew = hypernode.id in fresh or is_otherwise(work, hypernode, inner)
        _evaluate(work, hypernode, inner, deltas, heritage, anew)
    return work


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
    gone = {h for owned in old.derived.values() for h in owned if h < 0}
    _save_classes(store, old, gone, old.derived)
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


def _save_classes(
    store: Store, old: Sources, numbers: Collection[int], names: Iterable[str]
) -> None:
    """Copy the tables of classes that this change drops, for those who ask what was there."""
    for owned in (old.derived.get(name, {}) for name in names):
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
    if heritage and (with_modules(work, hypernode).rows or _had_inner_tables(work, heritage)):
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
    for name in sorted(name for name in hypernode.reads if name in work.touched):
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
        _save_classes(work.store, work.old, {hypernode.id}, hypernode.derives)
        for name in tables_of_trees(work.trees.get(hypernode.id, ())):
            # those of other trees have other columns
            work.old.derived.get(name, {}).pop(hypernode.id, None)
    task = _task(work, hypernode, inner, deltas, heritage)
    done, strategy, why = _maintained(work, task, hypernode, fresh)
    tried = 0
    while fresh and (trees := within_limits(work, hypernode, inner, task, done, tried)):
        tried += 1
        inner = expand(work, hypernode, with_modules(work, hypernode), trees)
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
        with_all(work.planned.schema, inner.schema),
        with_all(_types(work, heritage), types_of(inner.schema)),
        work.functions,
        work.ids,
        before,
        after,
        _deltas_inside(deltas, inner),
        work.ranked.get(hypernode.id, False),
        heritage,
        modules=inner.rows,
        marking=_marking(work, hypernode, inner, heritage),
    )


def _marking(
    work: Materialisation, hypernode: Hypernode, inner: Inner, heritage: Heritage | None
) -> Marking:
    """What of marks concerns a hypernode. One with tables of modules or trees has none."""
    implicit = work.strategy == "dred_marking"
    if heritage or inner.tables:
        return Marking(implicit=implicit)
    known = [(name, part) for name, part in work.next.items()]
    if implicit:
        known += [(p, part) for (p, owner), part in work.marked.items() if owner != hypernode.id]
    next_: dict[str, tuple[Part, ...]] = {}
    for name, part in known:
        if name in hypernode.reads:
            next_[name] = (*next_.get(name, ()), part)
    if work.marks is None or hypernode.id in work.marks.unmarked:
        return Marking(next_, {}, implicit)
    found = work.marks.found.items()
    given = {name: part for (name, owner), part in found if owner == hypernode.id}
    return Marking(next_, given, implicit, known=True)


def _maintained(
    work: Materialisation, task: Task, hypernode: Hypernode, fresh: bool
) -> tuple[Maintained, str, str]:
    """What comes of a task, by which strategy, and why that one."""
    with evaluating(hypernode.rules):
        if fresh:
            return recompute(task), "recompute", "its rules, columns, modules or trees are new"
        return maintain(task, work.strategy)


def _types(
    work: Materialisation, heritage: Heritage | None
) -> Mapping[str, tuple[Type | None, ...]]:
    """The types of all columns; of predicates in rules that were lost, as they were."""
    lost = heritage.lost if heritage else ()
    names = {p for rule in lost for p in rule.positive() | rule.negative()}
    return with_all(work.types, {n: tuple(c.type for c in _past(work, n)) for n in names})


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
    if done.marked is None:
        work.unmarked.add(hypernode.id)
    for name, part in (done.marked or {}).items():
        work.marked[name, hypernode.id] = part
    for name, edit in done.edits.items():
        if name in inner.tables:
            work.inside[name, hypernode.id] = edit
            continue
        work.edit(name, hypernode.id, edit)
        tables = work.new.derived.setdefault(name, {})
        tables[hypernode.id] = edit.applied(tables.get(hypernode.id, ()))
