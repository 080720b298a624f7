"""Steps of transitive predicates, while the loop over deltas runs.

rewrite/closures/steps.py tells what steps are. Reading them, rules find far fewer heads, but need
more rounds: a path grows by a step each round, where joining all facts doubles it. Steps are among
all facts, so each round may choose anew: it joins all of them where that finds few heads.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from sqlglot import exp

from zodiac_sql.cost.sizes import is_read_long, joins_all
from zodiac_sql.database.statement_cache import StatementCache
from zodiac_sql.database.statements import create_temp, drop, parameter, semi_join, temp_table
from zodiac_sql.database.store import Store
from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.language.schema import Schema
from zodiac_sql.language.syntax import Column, Rule
from zodiac_sql.names import RANK, steps
from zodiac_sql.rewrite.closures.shapes import transitive
from zodiac_sql.rewrite.closures.steps import stepped, with_steps
from zodiac_sql.sql.plan import Plan, Version, delta_plans, delta_variants
from zodiac_sql.sql.relations import AS_IT_IS, Part, Reading, Relation, columns_of


@dataclass(slots=True)
class Steps:
    """The steps of one predicate, in a table with ranks. `whole` is the table of the predicate.

    `last` is the table with the rows that the last round has added.
    """

    columns: tuple[Column, ...]
    whole: str
    rows: int = 0
    last: int = 0
    all_joined: bool = True

    @property
    def table(self) -> str:
        return f"steps_{self.whole}"

    @property
    def fed(self) -> str:
        """The table of what rules have found in this round that are not about transitivity."""
        return f"fed_{self.whole}"

    @property
    def delta(self) -> str:
        return f"step_{self.whole}"

    def relation(self, version: Version) -> Relation:
        if version is Version.DELTA:
            parts = (Part("temp", self.delta, self.last),) if self.last else ()
            return Relation(self.columns, parts)
        read = Reading(ranks="old") if version is Version.OLD else AS_IT_IS
        part = Part("temp", self.table, self.rows, read=read)
        return Relation(self.columns, (part,))

    def _query(self, table: str, rank: exp.Expr | None = None) -> exp.Select:
        """The facts in a table that relate two different values."""
        names = columns_of(Relation(self.columns, ()), "c")
        query = exp.select(*names).from_(temp_table(table).as_("c"))
        query = query.where(exp.NEQ(this=names[0].copy(), expression=names[1].copy()))
        return query.select(rank.as_(RANK, quoted=True), copy=False) if rank else query

    def begin(self, store: Store) -> None:
        """The facts from outside."""
        rank = exp.cast(exp.Literal.number(0), "BIGINT")
        self.rows = store.count(create_temp(self.table, self._query(self.whole, rank)))

    def add(self, store: Store, gained: Part | None, rank: int) -> None:
        """Add what rules have fed in a round, as far as the extension has gained it."""
        self.last = 0
        if not gained:
            return
        names = columns_of(Relation(self.columns, ()), "c")
        query = semi_join(self._query(self.fed), names, temp_table(gained.table))
        self.last = store.count(create_temp(self.delta, query))
        if self.last:
            given = parameter("rank")
            store.run(exp.insert(self._query(self.delta, given), temp_table(self.table)),
                      {"rank": rank})  # fmt: skip
            self.rows += self.last

    def choose(self, store: Store, delta: Part | None, rows: int) -> None:
        """Decide whether the next round joins all facts."""
        self.all_joined = True
        if delta and is_read_long(rows):
            self.all_joined = joins_all(self._heads(store, delta), rows)

    def _heads(self, store: Store, delta: Part) -> int:
        """How many heads it finds to join the last facts with all facts.

        That is, for each fact, how many of the last ones end where it begins.
        """
        first, second = columns_of(Relation(self.columns, ()))
        count = exp.Count(this=exp.Star()).as_("n")
        ends = exp.select(second.as_("v"), count).from_(temp_table(delta.table))
        query = exp.select(
            exp.func("coalesce", exp.Sum(this=exp.column("n")), exp.Literal.number(0))
        )
        query = query.from_(temp_table(self.whole).as_("b"))
        query = query.join(ends.group_by(second.copy()).subquery("a"), on=exp.column("v").eq(first))
        ((found,),) = store.rows(query)
        return int(found)


@dataclass(slots=True)
class Stepping:
    """The rules of a hypernode that may read steps, and the steps of its predicates."""

    of: Mapping[str, Steps]
    written: Mapping[str, Rule]
    """The rules that may read steps, as they read them."""
    along: Mapping[str, str]
    """The predicate whose steps a rule reads."""
    used: set[str] = field(default_factory=set)
    """The rules that have read steps."""

    def feeds(self, plan: Plan) -> bool:
        """Whether what a plan finds may be steps."""
        return plan.rule.head.predicate in self.of and transitive(plan.rule) is None

    def relation(self, name: str, version: Version) -> Relation | None:
        return next((s.relation(version) for p, s in self.of.items() if steps(p) == name), None)

    def finish(self, store: Store) -> None:
        """Drop the tables."""
        for one in self.of.values():
            for name in (one.table, one.fed, one.delta):
                store.run(drop(name))

    def variants(
        self, rules: Sequence[Rule], recursive: Collection[str], cache: StatementCache
    ) -> list[Plan]:
        """The plans of the next round."""
        found: list[Plan] = []
        names = {*recursive, *map(steps, self.of)}
        for rule in rules:
            if rule.name in self.written and not self.of[self.along[rule.name]].all_joined:
                self.used.add(rule.name)
                make = partial(delta_variants, self.written[rule.name], names)
                found += cache.get(("steps", rule.name), make)
            else:
                found += delta_plans(cache, rule, names)
        return found


def begin_stepping(
    store: Store, hypernode: Hypernode, tables: Mapping[str, str], schema: Schema
) -> Stepping:
    """What may be read by steps; `tables` are those of the predicates."""
    rules = hypernode.rules
    closed = [name for name in with_steps(rules, schema) if name in tables]
    written = {r.name: w for r in rules if closed and (w := stepped(r, closed, schema))}
    along = {
        name: next(p for p in closed if any(a.predicate == steps(p) for a in w.positive_atoms()))
        for name, w in written.items()
    }
    of = {p: Steps(schema[p].columns, tables[p]) for p in closed}
    for one in of.values():
        one.begin(store)
    return Stepping(of, written, along)
