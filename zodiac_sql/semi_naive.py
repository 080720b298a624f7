"""Semi-naive evaluation of one hypernode by a loop over delta tables.

Each iteration applies the rules to what the last one added, in a few statements; Python loops over
iterations and predicates, never over facts. Facts that are known from outside the hypernode take
part, but stay outside: its tables hold what its rules derive.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from zodiac_sql import dictionary
from zodiac_sql.hypernodes import Hypernode
from zodiac_sql.plan import Plan, Version, delta_variants, whole
from zodiac_sql.rules import Column
from zodiac_sql.schema import Schema
from zodiac_sql.sql import (
    RANK,
    SQL_TYPES,
    Context,
    Part,
    Relation,
    anti_join,
    columns_of,
    compile_rule,
    create_temp,
    drop,
    is_empty,
    parameter,
    relation_query,
    rename,
    temp_table,
    union_all,
)
from zodiac_sql.store import Store


@dataclass(frozen=True, slots=True)
class Fixpoint:
    """What a hypernode derives: for each predicate a temporary table, unless it has no rows.

    `iterations` counts rounds of rule application; `method` is "rule", "linear" or "loop".
    """

    parts: dict[str, Part]
    iterations: int
    method: str

    @property
    def rows(self) -> int:
        return sum(part.rows for part in self.parts.values())


def table_name(hypernode: Hypernode, predicate: str, schema: Schema) -> str:
    """The name of a hypernode's table for a predicate, in idb as among temporary tables."""
    return f"{hypernode.name}_{schema[predicate].sql_name}"


@dataclass(slots=True)
class _Own:
    """A predicate that the hypernode derives, while the loop runs.

    `table` holds what the rules derive, each row with the iteration that first derived it; rank -1
    marks facts that are known from outside too, so that no join sees them twice.
    """

    predicate: str
    columns: tuple[Column, ...]
    outside: Relation
    table: str
    rows: int = 0
    delta: Part | None = None

    def relation(self, version: Version) -> Relation:
        if version is Version.DELTA:
            return Relation(self.columns, (self.delta,) if self.delta else ())
        ranks = "old" if version is Version.OLD else "known"
        mine = Part("temp", self.table, self.rows, ranks=ranks)
        return Relation(self.columns, (*self.outside.parts, *((mine,) if self.rows else ())))


@dataclass(slots=True)
class _Loop:
    """The state of one run. `texts` keeps rendered statements from iteration to iteration."""

    store: Store
    context: Context
    owns: Mapping[str, _Own]
    texts: dict[object, _Statement] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Statement:
    """Rendered SQL that yields candidates; `encode` are its columns of text."""

    text: str
    encode: tuple[str, ...]
    ranked: bool
    """Whether it reads $i, the rank of the delta."""


def semi_naive(store: Store, hypernode: Hypernode, schema: Schema, context: Context) -> Fixpoint:
    """The least fixpoint of a recursive hypernode."""
    owns = {p: _begin(store, hypernode, p, schema, context) for p in hypernode.derives}
    inside = replace(
        context,
        relation=lambda p, v: owns[p].relation(v) if p in owns else context.relation(p, v),
    )
    loop = _Loop(store, inside, owns)
    variants = [v for rule in hypernode.rules for v in delta_variants(rule, owns)]
    plans = [plan for rule in hypernode.rules if not is_empty(plan := whole(rule), inside)]
    iteration = 0
    while plans:
        iteration += 1
        found = {p: _derive(loop, own, plans, iteration - 1) for p, own in owns.items()}
        for predicate, own in owns.items():
            _absorb(store, own, found[predicate], iteration)
        plans = [plan for plan in variants if not is_empty(plan, inside)]
    parts = {o.predicate: Part("temp", o.table, o.rows) for o in owns.values() if o.rows}
    return Fixpoint(parts, iteration, "loop")


def _begin(
    store: Store, hypernode: Hypernode, predicate: str, schema: Schema, context: Context
) -> _Own:
    """Outside facts in one table without repetitions, and an empty table of derived ones."""
    table = table_name(hypernode, predicate, schema)
    outside = context.relation(predicate, Version.ALL)
    if len(outside.parts) > 1 or any(part.minus for part in outside.parts):
        name = f"{table}_outside"
        rows = store.count(create_temp(name, relation_query(outside, distinct=True)))
        outside = Relation(outside.columns, (Part("temp", name, rows),))
    types = [
        exp.cast(exp.null(), SQL_TYPES[column.type]).as_(column.name, quoted=True)
        for column in outside.stored
        if column.type is not None
    ]
    rank = exp.cast(exp.null(), "INTEGER").as_(RANK, quoted=True)
    store.run(create_temp(table, exp.select(*types, rank).where(exp.false())))
    return _Own(predicate, outside.columns, outside, table)


def _derive(loop: _Loop, own: _Own, plans: Sequence[Plan], delta_rank: int) -> int:
    """Create `new_*`: what the plans derive of a predicate and no rule had derived. Its rows."""
    mine = tuple(plan for plan in plans if plan.rule.head.predicate == own.predicate)
    if not mine:
        return 0
    present = tuple(o.rows > 0 for o in loop.owns.values())
    key = (own.predicate, tuple(map(id, mine)), present)
    if key not in loop.texts:
        loop.texts[key] = _statement(loop, own, mine)
    statement = loop.texts[key]
    parameters = {"i": delta_rank} if statement.ranked else None
    if not statement.encode:
        return loop.store.count(statement.text, parameters)
    # Text must become symbols before it can be compared with what is there.
    loop.store.run(statement.text, parameters)
    dictionary.encode(loop.store, "raw", statement.encode, "candidate")
    loop.store.run(drop("raw"))
    return loop.store.count(_new(own, exp.select("*").from_(temp_table("candidate"))))


def _statement(loop: _Loop, own: _Own, plans: Sequence[Plan]) -> _Statement:
    compiled = [compile_rule(plan, own.columns, loop.context) for plan in plans]
    texts = tuple(sorted({text for one in compiled for text in one.texts}))
    candidates = union_all([one.query for one in compiled])
    ranked = candidates.find(exp.Parameter) is not None
    tree = create_temp("raw", candidates) if texts else _new(own, candidates)
    return _Statement(loop.store.render(tree), texts, ranked)


def _new(own: _Own, candidates: exp.Query) -> exp.Create:
    """CREATE new_* AS the candidates, each once, that are not in the table."""
    columns = columns_of(own.outside, "c")
    query = exp.select(*columns).distinct(copy=False).from_(candidates.subquery("c"), copy=False)
    return create_temp(f"new_{own.table}", anti_join(query, columns, temp_table(own.table)))


def _absorb(store: Store, own: _Own, found: int, rank: int) -> None:
    """Add `new_*` to the table; what the extension gains by it becomes the next delta."""
    if own.delta is not None:
        store.run(drop(own.delta.table))
        own.delta = None
    if not found:
        return
    new, delta = f"new_{own.table}", f"delta_{own.table}"
    columns = columns_of(own.outside, "c")
    gained = found
    if own.outside.rows:
        fresh = exp.select(*columns).from_(temp_table(new).as_("c"))
        outside = relation_query(own.outside).subquery()
        gained = store.count(create_temp(delta, anti_join(fresh, columns, outside)))
        if gained < found:
            known = exp.select(*columns).from_(temp_table(new).as_("c"))
            _insert(store, own, anti_join(known, columns, temp_table(delta)), -1)
        store.run(drop(new))
    else:
        store.run(rename(new, delta))
    _insert(store, own, exp.select(*columns).from_(temp_table(delta).as_("c")), rank)
    own.rows += found
    own.delta = Part("temp", delta, gained) if gained else None
    if not gained:
        store.run(drop(delta))


def _insert(store: Store, own: _Own, rows: exp.Select, rank: int) -> None:
    ranked = rows.select(parameter("rank").as_(RANK, quoted=True), copy=False)
    store.run(exp.insert(ranked, temp_table(own.table)), {"rank": rank})
