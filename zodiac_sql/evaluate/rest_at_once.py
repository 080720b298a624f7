"""The rest of a loop over delta tables in one recursive statement.

A loop takes a few statements for each round, however little a round finds. After some rounds, one
statement does all others (cost/rounds.py). It begins with what the last round has added, and
finds the facts of all predicates, with tags.

Of linear rules, it ranks facts in the order in which it finds them. Rules with several recursive
atoms join what the last round has found with all that is known: with what the loop knew, which does
not change any more, and with what the statement has found, which it keeps by a key. A fact's rank
is its round then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from sqlglot import exp

from zodiac_sql.cost.rounds import is_narrow, pays
from zodiac_sql.database import dictionary
from zodiac_sql.database.statements import (
    anti_join,
    create_temp,
    drop,
    parameter,
    semi_join,
    temp_table,
    union_all,
)
from zodiac_sql.database.store import Store
from zodiac_sql.evaluate.limited import (
    MOST,
    Limited,
    parameters_of,
    within_limits,
)
from zodiac_sql.evaluate.spelled import Spelling, encoded
from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.language.syntax import Column
from zodiac_sql.names import RANK
from zodiac_sql.rewrite.forms import are_linear
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.counted_rounds import recursion_of
from zodiac_sql.sql.emptiness import is_empty
from zodiac_sql.sql.plan import Plan, Version
from zodiac_sql.sql.recursion import COLLECTED, with_recursion
from zodiac_sql.sql.relations import Part, Relation, columns_of, rank_of, source
from zodiac_sql.sql.select import compile_rule, makes_texts, spells_values
from zodiac_sql.sql.tagged import Layout, layout_by_key, layout_of, typed

_FOUND = "zodiac$rest"
_R = "r"


class LoopTable(Protocol):
    """What the loop knows of a predicate (semi_naive.py)."""

    @property
    def predicate(self) -> str: ...

    @property
    def columns(self) -> tuple[Column, ...]: ...

    @property
    def table(self) -> str: ...

    @property
    def delta(self) -> Part | None: ...

    @property
    def rows(self) -> int:
        """How many facts that are."""
        ...

    @property
    def seen(self) -> Relation:
        """What the rules have derived."""
        ...


@dataclass(frozen=True, slots=True)
class Rest:
    """What the statement has found of each predicate, with ranks, until its tables are dropped."""

    store: Store
    parts: Mapping[str, Part]
    rows: int
    tables: Sequence[str]

    def of(self, known: LoopTable) -> exp.Select:
        """The facts of a predicate, with their ranks."""
        relation = Relation(known.columns, (self.parts[known.predicate],), ranked=True)
        names = [*columns_of(relation, "c"), rank_of("c")]
        return exp.select(*names).from_(source(relation, "c"))

    def fresh(self, known: LoopTable) -> exp.Insert:
        """The statement that adds those that the loop did not know, with their ranks."""
        columns = columns_of(known.seen, "c")
        return exp.insert(
            anti_join(self.of(known), columns, temp_table(known.table)), temp_table(known.table)
        )

    def also(self, known: LoopTable, table: str) -> exp.Insert:
        """The statement that notes those that are known from outside, and derived as well."""
        columns = columns_of(known.seen, "c")
        outside = exp.select(*columns).from_(temp_table(known.table).as_("c"))
        outside = outside.where(rank_of("c").eq(exp.Literal.number(0)), copy=False)
        found = self.of(known).subquery("f", copy=False)
        return exp.insert(semi_join(outside, columns, found), temp_table(table))

    def drop(self) -> None:
        """Drop the tables."""
        for table in self.tables:
            self.store.run(drop(table))


def _found(store: Store, layout: Layout, rows: int) -> Rest:
    """What stands in the table with tags."""
    parts = {name: layout.part(name, _FOUND, ranked=True) for name in layout.picked}
    return Rest(store, parts, rows, (_FOUND,))


LONGER = 4
"""For rules with several recursive atoms, so many times as many rounds must have been."""

RestAtOnce = Callable[[Store, Sequence[Plan], Mapping[str, LoopTable], Context, int], Rest]
"""One statement for all rounds that are left."""


def way_of(
    store: Store,
    hypernode: Hypernode,
    owns: Mapping[str, LoopTable],
    context: Context,
    rounds: int,
    plans: int,
) -> RestAtOnce | None:
    """How one statement is to do all rounds that are left, if it is to.

    For rules with several recursive atoms it looks at all that it has found in each round. So
    rounds must find little, and have found little for longer.
    """
    read = sum(context.relation(name, Version.ALL).rows for name in hypernode.reads)
    if not pays(rounds, read, plans):
        return None
    texts = makes_texts(hypernode.rules, context)
    if texts and spells_values(hypernode.rules, context):
        return None
    if texts and not pays(rounds, read + dictionary.size(store), plans, spelled=True):
        return None
    if are_linear(hypernode.rules, hypernode.derives):
        return partial(_rest_spelled, rest_at_once) if texts else rest_at_once
    new = sum(own.delta.rows for own in owns.values() if own.delta)
    known = sum(own.rows for own in owns.values())
    if not (is_narrow(new) and pays(rounds // LONGER, read + known, plans, texts)):
        return None
    return partial(_rest_spelled, rest_by_key) if texts else rest_by_key


def rest_at_once(
    store: Store, plans: Sequence[Plan], owns: Mapping[str, LoopTable], context: Context, rank: int
) -> Rest:
    """Find what follows from the deltas, by the plans of a round. Ranks come after `rank`."""
    limited = Limited.begin(store)
    layout = layout_of(
        {p: typed(_shape(own).stored, spelled=context.spelled) for p, own in owns.items()},
        counts_rounds=limited is not None,
    )

    def relation(name: str, version: Version) -> Relation:
        if name not in owns or version is not Version.DELTA:
            return context.relation(name, version)
        return Relation(owns[name].columns, (layout.part(name, _R, ""),))

    inside = replace(context, relation=relation)
    seeds = [
        layout.put(p, exp.select(*columns_of(own.seen, "t")).from_(source(_delta(own), "t")))
        for p, own in owns.items()
        if own.delta
    ]
    steps = [_step(plan, owns, layout, inside) for plan in plans if not is_empty(plan, inside)]
    number = parameter("rank") + exp.Window(this=exp.RowNumber())
    names = [exp.column(name, quoted=True) for name in layout.columns]
    query = exp.select(*names, number.as_(RANK, quoted=True)).from_(COLLECTED)
    begun = {name: own.delta.rows for name, own in owns.items() if own.delta}
    given = {"rank": rank, **parameters_of(limited, begun)}
    limit = parameter(MOST) if MOST in given else None
    query = with_recursion(query, _R, recursion_of(_R, layout, seeds, steps), limit)
    rows = store.count(create_temp(_FOUND, query), given, as_written=True)
    if limited is not None:
        limited.counted(_FOUND, layout, begun, [plan.rule for plan in plans])
    return _found(store, layout, rows)


@dataclass(frozen=True, slots=True)
class _Spelled:
    """What the loop knows of a predicate, with texts in the place of ids."""

    predicate: str
    columns: tuple[Column, ...]
    table: str
    rows: int
    delta: Part | None
    seen: Relation


def _rest_spelled(
    way: RestAtOnce,
    store: Store,
    plans: Sequence[Plan],
    owns: Mapping[str, LoopTable],
    context: Context,
    rank: int,
) -> Rest:
    """The same for rules that make texts."""
    spelling = Spelling.begin(store, _FOUND)
    texts = {name: _spelled(spelling, own) for name, own in owns.items()}
    found = way(store, plans, texts, spelling.context(context), rank)
    parts = {}
    for name, own in owns.items():
        table = f"found_{own.table}"
        rows = encoded(store, found.of(own), _shape(own).stored, table)
        parts[name] = Part("temp", table, rows, ranked=True)
    found.drop()
    spelling.drop()
    return Rest(store, parts, found.rows, [part.table for part in parts.values()])


def _spelled(spelling: Spelling, own: LoopTable) -> _Spelled:
    known = spelling.of(Relation(own.columns, (Part("temp", own.table, own.rows),)))
    delta = spelling.of(_delta(own)).parts[0] if own.delta else None
    seen = spelling.of(own.seen)
    return _Spelled(own.predicate, own.columns, known.parts[0].table, own.rows, delta, seen)


def rest_by_key(
    store: Store, plans: Sequence[Plan], owns: Mapping[str, LoopTable], context: Context, rank: int
) -> Rest:
    """The same for plans with several recursive atoms."""
    layout = layout_by_key(
        {p: typed(_shape(own).stored, spelled=context.spelled) for p, own in owns.items()}
    )
    seeds = []
    for p, own in owns.items():
        if own.delta:
            facts = exp.select(*columns_of(own.seen, "t")).from_(source(_delta(own), "t"))
            number = exp.cast(parameter("rank"), "BIGINT").as_(RANK, quoted=True)
            seeds.append(layout.put(p, facts).select(number, copy=False))
    steps = []
    for plan in plans:
        inside = sum(scan.atom.predicate in owns for scan in plan.scans)
        for parts in (_KNOWN, _FOUND_NOW)[:inside] if inside < 3 else (_KNOWN + _FOUND_NOW,):
            around = replace(context, relation=_reading(context, owns, layout, parts))
            if not is_empty(plan, around):
                steps.append(_step_by_key(plan, owns, layout, around))
    limited = Limited.begin(store)
    begun = {name: own.delta.rows for name, own in owns.items() if own.delta}
    given = {"rank": rank, **(limited.by_key(rank, sum(begun.values())) if limited else {})}
    step = within_limits(_R, union_all(steps), given)
    names = [exp.to_identifier(name, quoted=True) for name in layout.columns]
    rank_name = exp.to_identifier(RANK, quoted=True)
    cte = exp.CTE(
        this=exp.union(union_all(seeds), step, distinct=True, copy=False),
        alias=exp.TableAlias(this=exp.to_identifier(_R), columns=[*names, rank_name]),
        key_expressions=[exp.to_identifier(name, quoted=True) for name in layout.key],
    )
    query = exp.select(exp.Star()).from_(_R)
    query.set("with_", exp.With(expressions=[cte], recursive=True))
    rows = store.count(create_temp(_FOUND, query), given, as_written=True)
    if limited is not None:
        limited.counted_by_rank(_FOUND, layout, begun, [plan.rule for plan in plans], rank)
    return _found(store, layout, rows)


def _reading(
    context: Context, owns: Mapping[str, LoopTable], layout: Layout, parts: Sequence[_PartOf]
) -> Callable[[str, Version], Relation]:
    """What scans read: the last round; and beside it some parts of what is known. Two atoms read
    one part at a time: so what the loop knew is put into a hash table once, not in each round.
    """

    def relation(name: str, version: Version) -> Relation:
        if name not in owns:
            return context.relation(name, version)
        own = owns[name]
        if version is Version.DELTA:
            return Relation(own.columns, (layout.part(name, _R, "", ranked=True),), ranked=True)
        return Relation(own.columns, tuple(part(layout, own) for part in parts))

    return relation


def _recurring(layout: Layout, own: LoopTable) -> Part:
    """All that the statement has found of a predicate."""
    return layout.part(own.predicate, _R, "recurring")


def _before(_: Layout, own: LoopTable) -> Part:
    """All that the loop knew of it."""
    return Part("temp", own.table, own.rows)


_PartOf = Callable[[Layout, LoopTable], Part]

_KNOWN: tuple[_PartOf, ...] = (_before,)
_FOUND_NOW: tuple[_PartOf, ...] = (_recurring,)


def _step_by_key(
    plan: Plan, owns: Mapping[str, LoopTable], layout: Layout, around: Context
) -> exp.Select:
    """What a plan finds that is not known, with the rank after the last round's."""
    own = owns[plan.rule.head.predicate]
    heads = compile_rule(plan, own.columns, around, ranked=True).query.subquery("c", copy=False)
    columns = columns_of(own.seen, "c")
    rows = exp.select(*columns, rank_of("c")).from_(heads, copy=False)
    rows = anti_join(rows, columns, source(own.seen, "x"))
    found = Relation(own.columns, (_recurring(layout, own),))
    rows = anti_join(rows, columns, source(found, "y"), "y")
    return layout.put(own.predicate, rows).select(rank_of("t"), copy=False)


def _step(plan: Plan, owns: Mapping[str, LoopTable], layout: Layout, inside: Context) -> exp.Select:
    """What a plan finds that no rule has derived."""
    own = owns[plan.rule.head.predicate]
    heads = compile_rule(plan, own.columns, inside).query.subquery("c", copy=False)
    columns = columns_of(own.seen, "c")
    rows = exp.select(*columns).from_(heads, copy=False)
    return layout.put(own.predicate, anti_join(rows, columns, source(own.seen, "x")))


def _delta(own: LoopTable) -> Relation:
    return Relation(own.columns, (own.delta,) if own.delta else ())


def _shape(own: LoopTable) -> Relation:
    return Relation(own.columns, ())
