"""Algorithm 1 of paper 1, for those hypernodes that a change affects.

First, tables pass from the hypernodes there were to those there are (graph/restructuring.py); what passes
to none is lost as a whole, and nobody looks into it. Then hypernodes are visited in the order of
Algorithm 4. One that is new is evaluated; one whose rules or inputs have changed is maintained by a
strategy (maintain/); all others cost no statement. Changes travel between hypernodes as changes of
extensions, not of single tables: a fact that one table loses while another holds it has not changed
for anyone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict

from zodiac_sql.change.choose_rewrites import (
    expand,
    is_otherwise,
    types_of,
    with_decisions,
    with_modules,
    within_limits,
)
from zodiac_sql.change.stats import HypernodeStats
from zodiac_sql.change.workspace import Materialisation, save_classes
from zodiac_sql.database.statement_cache import StatementCache
from zodiac_sql.evaluate.rule_errors import evaluating
from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.graph.restructuring import Heritage, execution_plan
from zodiac_sql.language.binding import used_functions
from zodiac_sql.language.functions import require
from zodiac_sql.language.syntax import Column, Rule, Type
from zodiac_sql.maintain.choose import maintain
from zodiac_sql.maintain.contract import Maintained, Marking, Task
from zodiac_sql.maintain.recompute import recompute
from zodiac_sql.names import given, is_node
from zodiac_sql.rewrite.rewritten_hypernode import Inner
from zodiac_sql.sql.relations import Part
from zodiac_sql.storage.edits import Delta, Edit
from zodiac_sql.storage.sources import inside

Progress = Callable[[str, int, int], None]
"""Called with the name of a hypernode about to be evaluated, its number and how many there are."""


def materialise(work: Materialisation, progress: Progress | None = None) -> None:
    """Compute what a change does to every hypernode, in temporary tables."""
    planned = work.planned
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
        inner = with_decisions(work, hypernode, with_modules(work, hypernode), new)
        anew = hypernode.id in fresh or is_otherwise(work, hypernode, inner)
        _evaluate(work, hypernode, inner, deltas, heritage, anew)


def _is_impaired(heritage: Heritage | None) -> bool:
    """Whether the tables that a hypernode begins with are not yet those of its rules."""
    if heritage is None:
        return False
    return bool(heritage.lost or heritage.new or len(heritage.origins) > 1)


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
        save_classes(work.store, work.old, {hypernode.id})
        for name in filter(is_node, work.old.derived):  # those of other trees have other columns
            work.old.derived[name].pop(hypernode.id, None)
    task = _task(work, hypernode, inner, deltas, heritage)
    done, strategy, why = _maintained(work, task, hypernode, fresh)
    tried = 0
    while fresh and (trees := within_limits(work, hypernode, inner, task, done, tried)):
        tried += 1
        inner = expand(work, hypernode, with_modules(work, hypernode), trees)
        task = _task(work, hypernode, inner, deltas, heritage)
        done, strategy, why = _maintained(work, task, hypernode, fresh)
    _take(work, hypernode, inner, done)
    outer = _outer(inner, done)
    work.evaluated[hypernode.name] = HypernodeStats(
        strategy=strategy,
        why=why,
        method=done.method,
        modules=[str(row) for row in inner.rows],
        trees=[tree.told for tree in inner.trees],
        **asdict(done.work),
        inserted=sum(e.inserted.rows for e in outer if e.inserted),
        deleted=sum(e.deleted.rows for e in outer if e.deleted),
        seconds=time.perf_counter() - started,
    )


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
        StatementCache() if heritage else work.cache.of(hypernode.id),
        inner.hypernode,
        {**work.planned.schema, **inner.schema},
        {**_types(work, heritage), **types_of(inner.schema)},
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
    implicit = work.settings.strategy == "dred_marking"
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
        return maintain(task, work.settings.strategy)


def _types(
    work: Materialisation, heritage: Heritage | None
) -> Mapping[str, tuple[Type | None, ...]]:
    """The types of all columns; of predicates in rules that were lost, as they were."""
    lost = heritage.lost if heritage else ()
    names = {p for rule in lost for p in rule.positive() | rule.negative()}
    return {**work.types, **{n: tuple(c.type for c in _past(work, n)) for n in names}}


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
    work.inner |= inner.tables
    if done.marked is None:
        work.unmarked.add(hypernode.id)
    for name, part in (done.marked or {}).items():
        work.marked[name, hypernode.id] = part
    for name, edit in done.edits.items():
        if name in inner.tables:
            work.inside[name, hypernode.id] = edit
            continue
        work.edit(name, hypernode.id, edit)
