"""Semi-naive evaluation of one hypernode by a loop over delta tables.

Each iteration applies the rules to what the last one added, in a few statements; Python loops over
iterations and predicates, never over facts. Facts that are known from outside the hypernode take
part, but stay outside: its tables hold what its rules derive.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from sqlglot import exp

from zodiac_sql.cost.sizes import are_told_apart_later
from zodiac_sql.database.runner import Runner
from zodiac_sql.database.statements import (
    anti_join,
    create_temp,
    distinct,
    drop,
    parameter,
    rename,
    temp_table,
    union_all,
)
from zodiac_sql.database.store import Store
from zodiac_sql.evaluate.cache_keys import relation_key
from zodiac_sql.evaluate.partition.closure import Closure
from zodiac_sql.evaluate.partition.condensation import Condensation
from zodiac_sql.evaluate.partition.partition import count_since_change
from zodiac_sql.evaluate.rest_at_once import RestAtOnce, way_of
from zodiac_sql.evaluate.run_plans import Target, apply_plans
from zodiac_sql.evaluate.stepping import Stepping, begin_stepping
from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.language.schema import Schema
from zodiac_sql.language.syntax import Column
from zodiac_sql.names import RANK, external, stem, steps
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.emptiness import solvable
from zodiac_sql.sql.plan import Plan, Version, candidate_check, whole
from zodiac_sql.sql.relations import (
    AS_IT_IS,
    Part,
    Reading,
    Relation,
    columns_of,
    relation_query,
    source,
)


@dataclass(frozen=True, slots=True)
class Fixpoint:
    """What a hypernode derives: for each predicate a temporary table, unless it has no rows.

    The tables of a recursive hypernode have ranks.

    `iterations` counts rounds of rule application; `method` is "rule", "linear", "copies"
    (copied.py), "loop", or "modules" where `closures` are relations kept as partitions,
    "components" where one is `condensed`, or "layers" (layers.py).
    """

    parts: dict[str, Part]
    iterations: int
    method: str
    closures: Mapping[str, Closure] = field(default_factory=dict)
    condensed: Mapping[str, Condensation] = field(default_factory=dict)

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
    found: dict[str, int] = field(default_factory=dict)
    """How many rows the last round put into tables of what is new."""

    def relation(self, version: Version) -> Relation:
        if version is Version.DELTA:
            return Relation(self.columns, (self.delta,) if self.delta else ())
        read = Reading(ranks="old") if version is Version.OLD else AS_IT_IS
        part = Part("temp", self.table, self.rows, read=read)
        return Relation(self.columns, (part,))

    @property
    def rows(self) -> int:
        return self.outside + self.derived

    @property
    def derived_part(self) -> Part:
        return Part("temp", self.table, self.derived, True, Reading(ranks="derived"))

    @property
    def seen(self) -> Relation:
        """What the rules have derived."""
        if self.also == self.outside:
            return Relation(self.columns, (Part("temp", self.table, self.rows),))
        also = Part("temp", _also(self), self.also)
        return Relation(self.columns, (self.derived_part, also))


def _also(own: _Own) -> str:
    return f"also_{own.table}"


@dataclass(frozen=True, slots=True)
class _Loop:
    """What one run works with."""

    runner: Runner
    context: Context

    @property
    def store(self) -> Store:
        return self.runner.store

    def text(self, key: tuple[Hashable, ...], make: Callable[[], exp.Expr]) -> str:
        """The text of a statement about tables of the loop."""
        return self.runner.text(("loop", *key), make)


def semi_naive(
    runner: Runner,
    hypernode: Hypernode,
    schema: Schema,
    context: Context,
    closures: Mapping[str, Closure],
) -> Fixpoint:
    """The least fixpoint of a recursive hypernode (paper 2, Algorithm 2: MAT-MOD).

    `closures` are relations that other rules feed and read. They are closed again after each
    iteration.
    """
    store, cache = runner.store, runner.cache
    owns = {p: _begin(store, hypernode, p, schema, context) for p in hypernode.derives}
    stepping = begin_stepping(store, hypernode, {p: own.table for p, own in owns.items()}, schema)

    def relation(name: str, version: Version) -> Relation:
        known = closures.get(name) or owns.get(name)
        if known:
            return known.relation(version)
        return stepping.relation(name, version) or context.relation(name, version)

    types = {steps(p): context.columns[p] for p in stepping.of}
    inside = replace(context, relation=relation, columns={**context.columns, **types})
    loop = _Loop(runner, inside)
    first = [cache.get(("whole", rule.name), partial(whole, rule)) for rule in hypernode.rules]
    plans = solvable(first, inside)
    iteration = rounds = rank = 0
    while plans:
        iteration, rounds, rank = iteration + 1, rounds + 1, rank + 1
        _round(loop, owns, stepping, plans, rank)
        _feed(closures, owns, rank)
        variants = stepping.variants(hypernode.rules, {*owns, *closures}, cache)
        plans = solvable(variants, inside)
        if plans and store.watch.bounds is not None:
            store.watch.bounds.iterated()
        if not plans or stepping.used or any(closure.delta for closure in closures.values()):
            continue
        if at_once := way_of(store, hypernode, owns, inside, rounds, len(variants)):
            rank = 1 + _rest(loop, owns, variants, rank, at_once)  # above those of all facts
            _feed_all(closures, owns, rank)
            plans, rounds = solvable(variants, inside), 0
    _complete(loop, hypernode, owns, stepping)
    stepping.finish(store)
    for own in owns.values():
        _finish(loop, own, rank)
    return _outcome(owns, closures, iteration)


def _outcome(owns: Mapping[str, _Own], closures: Mapping[str, Closure], iteration: int) -> Fixpoint:
    parts = {o.predicate: o.derived_part for o in owns.values() if o.derived}
    for closure in closures.values():
        count_since_change(closure.partition)
    parts |= {p: closure.now for p, closure in closures.items() if closure.now.rows}
    if closures:
        return Fixpoint(parts, max(iteration, 1), "modules", closures)
    return Fixpoint(parts, iteration, "loop")


def _feed(closures: Mapping[str, Closure], owns: Mapping[str, _Own], rank: int) -> None:
    """Close relations over what the last round has found for them."""
    for predicate, closure in closures.items():
        fed = owns.get(external(predicate))
        closure.add(None, fed.relation(Version.DELTA) if fed else None, rank)


def _feed_all(closures: Mapping[str, Closure], owns: Mapping[str, _Own], rank: int) -> None:
    """Close relations over all that has been found for them, as after many rounds at once."""
    for predicate, closure in closures.items():
        fed = owns.get(external(predicate))
        closure.add(None, fed.relation(Version.ALL) if fed else None, rank)


def _rest(
    loop: _Loop,
    owns: Mapping[str, _Own],
    plans: Sequence[Plan],
    iteration: int,
    at_once: RestAtOnce,
) -> int:
    """Find all that follows from the last round at once, as long as no relation that is closed
    gains anything. Returns the highest rank then.
    """
    started = time.perf_counter()
    rest = at_once(loop.store, plans, owns, loop.context, iteration)
    names = [plan.rule.name for plan in plans]
    loop.runner.rules.note(names, time.perf_counter() - started, None, rest.rows)
    for own in owns.values():
        if own.also < own.outside:
            own.also += loop.store.count(rest.also(own, _also(own)))
        own.derived += loop.store.count(rest.fresh(own))
        own.delta = None
    rest.drop()
    loop.store.watch.tell(sum(own.derived for own in owns.values()))
    return iteration + rest.rows


def _round(
    loop: _Loop,
    owns: Mapping[str, _Own],
    stepping: Stepping,
    plans: Sequence[Plan],
    iteration: int,
) -> None:
    """Apply plans to what the last round has added. What they find is the next delta."""
    feeding = [plan for plan in plans if stepping.feeds(plan)]
    others = [plan for plan in plans if not stepping.feeds(plan)]
    fed: dict[str, str] = {}
    for predicate, one in stepping.of.items():
        if _derive(loop, owns[predicate], feeding, iteration - 1, table=one.fed):
            fed[predicate] = one.fed
    found = {p: _derive(loop, own, others, iteration - 1, fed.get(p)) for p, own in owns.items()}
    for predicate, own in owns.items():
        _absorb(loop, own, found[predicate], iteration)
    for predicate, one in stepping.of.items():
        own = owns[predicate]
        one.add(loop.store, own.delta if predicate in fed else None, iteration)
        one.choose(loop.store, own.delta, own.rows)
    loop.store.watch.tell(sum(own.derived for own in owns.values()))


def _candidates(loop: _Loop, candidates: Relation, name: str, version: Version) -> Relation:
    return candidates if version is Version.CANDIDATE else loop.context.relation(name, version)


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
    for name in (f"new_{own.table}", f"delta_{own.table}", _also(own), _heads(own)):
        loop.store.run(drop(name))


def _derive(
    loop: _Loop,
    own: _Own,
    plans: Sequence[Plan],
    delta_rank: int,
    fed: str | None = None,
    table: str = "",
) -> int:
    """Create `new_*`: facts that plans derive and no rule had derived. Returns its rows.

    With `fed`, the rows of that table are among them.
    """
    mine = [plan for plan in plans if plan.rule.head.predicate == own.predicate]
    if not mine and not fed:
        return 0
    table = table or f"new_{own.table}"
    apart = are_told_apart_later(own.rows, own.found.get(table, own.rows))
    target = Target(
        table=_heads(own) if apart else table,
        columns=own.columns,
        key=("heads", fed) if apart else ("new", fed, relation_key(own.seen)),
        shape=lambda heads: _shaped(own, _with_fed(own, heads, fed), apart),
        grows=not apart,
    )
    given = {"i": delta_rank}
    rows = apply_plans(loop.runner, mine, loop.context, target, parameters=given)
    if apart:
        text = loop.text(("apart", table, relation_key(own.seen)), partial(_unseen, own, table))
        rows = loop.store.count(text)
        if loop.store.watch.bounds is not None:
            loop.store.watch.bounds.found([plan.rule.name for plan in mine], rows)
    own.found[table] = rows
    return rows


def _shaped(own: _Own, heads: exp.Query | None, apart: bool) -> exp.Query:
    return distinct(heads) if apart else _new(own, heads)


def _unseen(own: _Own, table: str) -> exp.Expr:
    """The statement that creates a table of the heads that no rule has derived yet."""
    columns = columns_of(own.seen, "c")
    query = exp.select(*columns).from_(temp_table(_heads(own)).as_("c"))
    return create_temp(table, anti_join(query, columns, source(own.seen, "x")))


def _heads(own: _Own) -> str:
    return f"heads_{own.table}"


def _with_fed(own: _Own, heads: exp.Query | None, fed: str | None) -> exp.Query | None:
    if not fed:
        return heads
    rows = exp.select(*columns_of(own.seen, "c")).from_(temp_table(fed).as_("c"))
    return union_all([heads, rows]) if heads else rows


def _complete(
    loop: _Loop, hypernode: Hypernode, owns: Mapping[str, _Own], stepping: Stepping
) -> None:
    """Find the facts from outside that rules derive, too, but not by reading steps."""
    for own in owns.values():
        rules = [r for r in hypernode.rules if r.name in stepping.used]
        mine = [rule for rule in rules if rule.head.predicate == own.predicate]
        if not mine or own.also == own.outside:
            continue
        left = f"left_{own.table}"
        rank = exp.column(RANK, table="c", quoted=True)
        rows = exp.select(*columns_of(own.seen, "c")).from_(temp_table(own.table).as_("c"))
        rows = anti_join(rows, columns_of(own.seen, "c"), temp_table(_also(own)))
        rows = rows.where(rank.eq(exp.Literal.number(0)))
        count = loop.store.count(create_temp(left, rows))
        candidates = Relation(own.columns, (Part("temp", left, count),))
        context = replace(loop.context, relation=partial(_candidates, loop, candidates))
        plans = [
            loop.runner.cache.get(("check", r.name), partial(candidate_check, r)) for r in mine
        ]
        table = f"new_{own.table}"
        target = Target(table, own.columns, "complete", distinct)
        found = apply_plans(loop.runner, plans, context, target)
        loop.store.run(exp.insert(_without(own, table, _also(own)), temp_table(_also(own))))
        own.also += found
        loop.store.run(drop(left))


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
