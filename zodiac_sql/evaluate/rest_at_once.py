"""The rest of a loop over delta tables in one recursive statement, where rules are linear.

A loop takes a few statements for each round, however little a round finds. After some rounds, one
statement does all others (one_statement.py). It begins with what the last round has added, finds
the facts of all predicates, with tags, and ranks them in the order in which it finds them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from sqlglot import exp

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
from zodiac_sql.language.syntax import Column
from zodiac_sql.names import RANK
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.emptiness import is_empty
from zodiac_sql.sql.plan import Plan, Version
from zodiac_sql.sql.relations import Part, Relation, columns_of, rank_of, source
from zodiac_sql.sql.select import compile_rule
from zodiac_sql.sql.tagged import Layout, layout_of, typed

_FOUND = "zodiac$rest"
_R = "r"


class Known(Protocol):
    """What the loop knows of a predicate (semi_naive.py)."""

    predicate: str
    columns: tuple[Column, ...]
    table: str
    delta: Part | None

    @property
    def seen(self) -> Relation:
        """What the rules have derived."""
        ...


@dataclass(frozen=True, slots=True)
class Rest:
    """What the statement has found, in a table with tags, until it is dropped."""

    store: Store
    layout: Layout
    rows: int

    def of(self, known: Known) -> exp.Select:
        """The facts of a predicate, with their ranks."""
        picked = self.layout.picked[known.predicate]
        picked = replace(picked, columns=(*picked.columns, (RANK, RANK)))
        part = Part("temp", _FOUND, 1, ranked=True, picked=picked)
        relation = Relation(known.columns, (part,), ranked=True)
        names = [*columns_of(relation, "c"), rank_of("c")]
        return exp.select(*names).from_(source(relation, "c"))

    def fresh(self, known: Known) -> exp.Insert:
        """The statement that adds those that the loop did not know, with their ranks."""
        columns = columns_of(known.seen, "c")
        return exp.insert(
            anti_join(self.of(known), columns, temp_table(known.table)), temp_table(known.table)
        )

    def also(self, known: Known, table: str) -> exp.Insert:
        """The statement that notes those that are known from outside, and derived as well."""
        columns = columns_of(known.seen, "c")
        outside = exp.select(*columns).from_(temp_table(known.table).as_("c"))
        outside = outside.where(rank_of("c").eq(exp.Literal.number(0)), copy=False)
        found = self.of(known).subquery("f", copy=False)
        return exp.insert(semi_join(outside, columns, found), temp_table(table))

    def drop(self) -> None:
        """Drop the table."""
        self.store.run(drop(_FOUND))


def rest_at_once(
    store: Store, plans: Sequence[Plan], owns: Mapping[str, Known], context: Context, rank: int
) -> Rest:
    """Find what follows from the deltas, by the plans of a round. Ranks come after `rank`."""
    layout = layout_of({p: typed(_shape(own).stored, False) for p, own in owns.items()})

    def relation(name: str, version: Version) -> Relation:
        if name not in owns or version is not Version.DELTA:
            return context.relation(name, version)
        return Relation(owns[name].columns, (Part("", _R, 1, picked=layout.picked[name]),))

    inside = replace(context, relation=relation)
    seeds = [
        layout.put(p, exp.select(*columns_of(own.seen, "t")).from_(source(_delta(own), "t")))
        for p, own in owns.items()
        if own.delta
    ]
    steps = [_step(plan, owns, layout, inside) for plan in plans if not is_empty(plan, inside)]
    recursion = exp.union(union_all(seeds), union_all(steps), distinct=True, copy=False)
    number = parameter("rank") + exp.Window(this=exp.RowNumber())
    names = [exp.column(name, quoted=True) for name in layout.columns]
    query = exp.select(*names, number.as_(RANK, quoted=True)).from_(_R)
    query = query.with_(_R, as_=recursion, recursive=True, copy=False)
    rows = store.count(create_temp(_FOUND, query), {"rank": rank}, as_written=True)
    return Rest(store, layout, rows)


def _step(plan: Plan, owns: Mapping[str, Known], layout: Layout, inside: Context) -> exp.Select:
    """What a plan finds that no rule has derived."""
    own = owns[plan.rule.head.predicate]
    heads = compile_rule(plan, own.columns, inside).query.subquery("c", copy=False)
    columns = columns_of(own.seen, "c")
    rows = exp.select(*columns).from_(heads, copy=False)
    return layout.put(own.predicate, anti_join(rows, columns, source(own.seen, "x")))


def _delta(own: Known) -> Relation:
    return Relation(own.columns, (own.delta,) if own.delta else ())


def _shape(own: Known) -> Relation:
    return Relation(own.columns, ())
