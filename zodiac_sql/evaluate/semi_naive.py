"""Semi-naive evaluation of one hypernode by a loop over delta tables.

Each iteration applies the rules to what the last one added, in a few statements; Python loops over
iterations and predicates, never over facts. Facts that are known from outside the hypernode take
part, but stay outside: its tables hold what its rules derive.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from sqlglot import exp

from zodiac_sql.database.render import render
from zodiac_sql.database.statement_cache import StatementCache
from zodiac_sql.database.statements import (
    anti_join,
    create_temp,
    drop,
    parameter,
    rename,
    temp_table,
)
from zodiac_sql.database.store import Store
from zodiac_sql.evaluate.cache_keys import relation_key
from zodiac_sql.evaluate.partition.closure import Closure
from zodiac_sql.evaluate.partition.partition import count_since_change
from zodiac_sql.evaluate.run_plans import apply_plans
from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.language.schema import Schema
from zodiac_sql.language.syntax import Column
from zodiac_sql.names import RANK, external, stem
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.emptiness import is_empty
from zodiac_sql.sql.plan import Plan, Version, delta_variants, whole
from zodiac_sql.sql.relations import Part, Relation, columns_of, relation_query, source


@dataclass(frozen=True, slots=True)
class Fixpoint:
    """What a hypernode derives: for each predicate a temporary table, unless it has no rows.

    The tables of a recursive hypernode have ranks.

    `iterations` counts rounds of rule application; `method` is "rule", "linear", "loop", or
    "modules" where `closures` are relations kept as partitions.
    """

    parts: dict[str, Part]
    iterations: int
    method: str
    closures: Mapping[str, Closure] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        return sum(part.rows for part in self.parts.values())


def table_name(hypernode: Hypernode, predicate: str, schema: Schema) -> str:
    """The name of a hypernode's table for a predicate, in idb as among temporary tables."""
    return stem(hypernode.id, predicate, schema[predicate].sql_name)


@dataclass(slots=True)
class _Own:
    """A predicate that the hypernode derives, while the loop runs.

    `table` holds what is known of it, with ranks: 0 for facts from outside, otherwise the iteration
    that first derived them. `also` counts the facts from outside that rules derive, too. One table
    for both makes joins 1.6 times faster than a union of two tables (measured on RS2's p11).
    """

    predicate: str
    columns: tuple[Column, ...]
    table: str
    outside: int
    derived: int = 0
    also: int = 0
    delta: Part | None = None

    def relation(self, version: Version) -> Relation:
        if version is Version.DELTA:
            return Relation(self.columns, (self.delta,) if self.delta else ())
        ranks = "old" if version is Version.OLD else None
        return Relation(self.columns, (Part("temp", self.table, self.rows, ranks=ranks),))

    @property
    def rows(self) -> int:
        return self.outside + self.derived

    @property
    def derived_part(self) -> Part:
        return Part("temp", self.table, self.derived, ranks="derived", ranked=True)

    @property
    def seen(self) -> Relation:
        """What the rules have derived."""
        if not self.outside:
            return Relation(self.columns, (Part("temp", self.table, self.rows),))
        also = Part("temp", _also(self), self.also)
        return Relation(self.columns, (self.derived_part, also))


def _also(own: _Own) -> str:
    return f"also_{own.table}"


@dataclass(frozen=True, slots=True)
class _Loop:
    """What one run works with. `cache` has plans and rendered statements, even of earlier runs."""

    store: Store
    context: Context
    cache: StatementCache

    def text(self, key: tuple[str, str], make: Callable[[], exp.Expr]) -> str:
        """The text of a statement about tables of the loop."""
        return self.cache.get(("loop", *key), lambda: render(make()))


def semi_naive(
    store: Store,
    hypernode: Hypernode,
    schema: Schema,
    context: Context,
    cache: StatementCache,
    closures: Mapping[str, Closure],
) -> Fixpoint:
    """The least fixpoint of a recursive hypernode (paper 2, Algorithm 2: MAT-MOD).

    `closures` are relations that other rules feed and read. They are closed again after each
    iteration.
    """
    owns = {p: _begin(store, hypernode, p, schema, context) for p in hypernode.derives}
    inside = replace(
        context,
        relation=lambda p, v: (
            (closures.get(p) or owns[p]).relation(v)
            if p in owns or p in closures
            else context.relation(p, v)
        ),
    )
    loop = _Loop(store, inside, cache)
    recursive = {*owns, *closures}
    variants = [
        plan
        for rule in hypernode.rules
        for plan in cache.get(("delta", rule.name), partial(delta_variants, rule, recursive))
    ]
    first = [cache.get(("whole", rule.name), partial(whole, rule)) for rule in hypernode.rules]
    plans = [plan for plan in first if not is_empty(plan, inside)]
    iteration = 0
    while plans:
        iteration += 1
        found = {p: _derive(loop, own, plans, iteration - 1) for p, own in owns.items()}
        for predicate, own in owns.items():
            _absorb(loop, own, found[predicate], iteration)
        for predicate, closure in closures.items():
            fed = owns.get(external(predicate))
            closure.add(None, fed.relation(Version.DELTA) if fed else None)
        plans = [plan for plan in variants if not is_empty(plan, inside)]
    for own in owns.values():
        _finish(loop, own, iteration)
    parts = {o.predicate: o.derived_part for o in owns.values() if o.derived}
    for closure in closures.values():
        count_since_change(closure.partition)
    parts |= {p: closure.now for p, closure in closures.items() if closure.now.rows}
    if closures:
        return Fixpoint(parts, max(iteration, 1), "modules", closures)
    return Fixpoint(parts, iteration, "loop")


def _begin(
    store: Store, hypernode: Hypernode, predicate: str, schema: Schema, context: Context
) -> _Own:
    """The facts from outside, each once, with rank 0."""
    table = table_name(hypernode, predicate, schema)
    relation = context.relation(predicate, Version.ALL)
    facts = relation_query(relation, distinct=True).subquery("c", copy=False)
    rank = exp.cast(exp.Literal.number(0), "BIGINT").as_(RANK, quoted=True)
    rows = store.count(
        create_temp(table, exp.select(*columns_of(relation, "c"), rank).from_(facts))
    )
    own = _Own(predicate, relation.columns, table, rows)
    if rows:
        nothing = exp.select(*columns_of(relation, "c")).from_(temp_table(table).as_("c"))
        store.run(create_temp(_also(own), nothing.where(exp.false())))
    return own


def _finish(loop: _Loop, own: _Own, rank: int) -> None:
    """Add the facts from outside that were derived, too, to the derived ones; drop the rest."""
    if own.also:
        _insert(loop, own, _also(own), rank)
        own.derived += own.also
    for name in (f"new_{own.table}", f"delta_{own.table}", _also(own)):
        loop.store.run(drop(name))


def _derive(loop: _Loop, own: _Own, plans: Sequence[Plan], delta_rank: int) -> int:
    """Create `new_*`: facts that plans derive and no rule had derived. Returns its rows."""
    mine = [plan for plan in plans if plan.rule.head.predicate == own.predicate]
    if not mine:
        return 0
    return apply_plans(
        loop.store,
        loop.cache,
        mine,
        loop.context,
        key=("new", relation_key(own.seen)),
        columns=own.columns,
        table=f"new_{own.table}",
        shape=lambda heads: _new(own, heads),
        parameters={"i": delta_rank},
    )


def _new(own: _Own, heads: exp.Query | None) -> exp.Query:
    """The heads, each once, that no rule has derived yet."""
    assert heads is not None
    columns = columns_of(own.seen, "c")
    query = (
        exp.select(*columns).distinct(copy=False).from_(heads.subquery("c", copy=False), copy=False)
    )
    return anti_join(query, columns, source(own.seen, "x"))


def _absorb(loop: _Loop, own: _Own, found: int, rank: int) -> None:
    """Add `new_*` to the table; what the extension gains by it becomes the next delta."""
    own.delta = None
    if not found:
        return
    new, delta = f"new_{own.table}", f"delta_{own.table}"
    if own.also < own.outside:
        gained = _split(loop, own, new, delta, found)
    else:
        loop.store.run(loop.text(("drop", delta), lambda: drop(delta)))
        loop.store.run(loop.text(("rename", delta), lambda: rename(temp_table(new), delta)))
        gained = found
    _insert(loop, own, delta, rank)
    own.derived += gained
    own.also += found - gained
    own.delta = Part("temp", delta, gained)


def _split(loop: _Loop, own: _Own, new: str, delta: str, found: int) -> int:
    """Create the delta: rows of `new` not known from outside. The others go into `also_*`."""

    def fresh() -> exp.Expr:
        return create_temp(delta, _without(own, new, own.table))

    def known() -> exp.Expr:
        return exp.insert(_without(own, new, delta), temp_table(_also(own)))

    gained = loop.store.count(loop.text(("fresh", delta), fresh))
    if gained < found:
        loop.store.run(loop.text(("known", delta), known))
    return gained


def _without(own: _Own, table: str, other: str) -> exp.Select:
    """The rows of a temporary table that do not stand in another."""
    columns = columns_of(own.seen, "c")
    rows = exp.select(*columns).from_(temp_table(table).as_("c"))
    return anti_join(rows, columns, temp_table(other))


def _insert(loop: _Loop, own: _Own, table: str, rank: int) -> None:
    """Add the rows of a temporary table to that of the predicate, with a rank."""

    def statement() -> exp.Expr:
        rows = exp.select(*columns_of(own.seen, "c")).from_(temp_table(table).as_("c"))
        ranked = rows.select(parameter("rank").as_(RANK, quoted=True), copy=False)
        return exp.insert(ranked, temp_table(own.table))

    loop.store.run(loop.text(("insert", table), statement), {"rank": rank})
