"""What one recursive statement finds, where it does all rounds that are left (cascade.py)."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from sqlglot import exp

from zodiac_sql.database.statements import parameter, union_all
from zodiac_sql.evaluate.cache_keys import plan_key
from zodiac_sql.evaluate.limited import MOST, Limited
from zodiac_sql.evaluate.make_tables import make_table
from zodiac_sql.evaluate.spelled import Spelling
from zodiac_sql.maintain.steps.recursion import Recursion
from zodiac_sql.maintain.steps.working_table import WorkingTable, WorkingTables
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.counted_rounds import recursion_of
from zodiac_sql.sql.emptiness import solvable
from zodiac_sql.sql.plan import Plan, Version, delta_plans
from zodiac_sql.sql.recursion import COLLECTED, with_recursion
from zodiac_sql.sql.relations import Part, Relation, columns_of, part_query
from zodiac_sql.sql.select import compile_rule
from zodiac_sql.sql.tagged import Layout, layout_of, typed

R = "r"
"""What the recursive statement has found."""

NO_TABLES: Mapping[str, exp.Query] = {}
NOTHING: Mapping[str, int] = {}


@dataclass(frozen=True, slots=True)
class HeadPlans:
    """The plans for one head, in which the recursive atom reads what the statement has found."""

    own: WorkingTable
    context: Context
    plans: Sequence[Plan]

    @property
    def key(self) -> Hashable:
        """All that their SQL depends on."""
        return tuple((id(plan), plan_key(plan, self.context)) for plan in self.plans)

    def heads(self, ranked: bool) -> exp.Query:
        """What the plans find, with repetitions. A text that no symbol has becomes NULL."""
        as_ids = not self.context.spelled
        compiled = [
            compile_rule(plan, self.own.columns, self.context, ranked=ranked, as_ids=as_ids)
            for plan in self.plans
        ]
        return union_all([one.query for one in compiled])


@dataclass(frozen=True, slots=True)
class FoundRows:
    """The rows that a recursive statement finds: of one predicate as they are, of several tagged,
    and so if rounds are counted.

    If they are `ranked`, the rank of a fact limits what it can support. With a `spelling`, symbols
    are texts.
    """

    recursion: Recursion
    layout: Layout | None
    ranked: bool = False
    spelling: Spelling | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of new rows, which get their ranks only in the end."""
        if self.layout:
            return self.layout.columns
        (own,) = self.recursion.owns.values()
        return tuple(column.name for column in columns_of(own.outside))

    def put(self, own: WorkingTable, rows: exp.Query) -> exp.Query:
        """Rows of a predicate, as the statement has them."""
        return self.layout.put(own.predicate, rows) if self.layout else rows

    def applied(self, undeleted: bool) -> list[HeadPlans]:
        """The plans of all rules, by their heads."""
        owns = self.recursion.owns
        inner = self.recursion.inside(undeleted)
        if self.spelling:
            inner = self.spelling.context(inner)

        def relation(name: str, version: Version) -> Relation:
            if name in owns and version is Version.DELTA:
                return self._read(owns[name])
            return inner.relation(name, version)

        context = replace(inner, relation=relation)
        cache, rules = self.recursion.runner.cache, self.recursion.hypernode.rules
        plans = [plan for rule in rules for plan in delta_plans(cache, rule, owns)]
        by_head = {p: solvable(plans, context, p) for p in owns}
        return [HeadPlans(owns[p], context, mine) for p, mine in by_head.items() if mine]

    def _read(self, own: WorkingTable) -> Relation:
        part = Part("", R, 1, ranked=self.ranked)
        if self.layout:
            part = self.layout.part(own.predicate, R, "", self.ranked)
        return Relation(own.columns, (part,), self.ranked)

    def query(
        self,
        seeds: Sequence[exp.Query],
        steps: Sequence[exp.Query],
        limited: bool,
        tables: Mapping[str, exp.Query] = NO_TABLES,
    ) -> exp.Query:
        """All that follows from the seeds, or as many rows as parameter `most` tells. Steps may
        read `tables`, each of which is made once.
        """
        most = parameter(MOST) if limited else None
        if not steps:
            rows = exp.select(exp.Star()).from_(union_all(seeds).subquery("s", copy=False))
            return rows.limit(most, copy=False) if most is not None else rows
        recursion = recursion_of(R, self.layout, seeds, steps)
        rows = exp.select(exp.Star()).from_(COLLECTED)
        for name, table_ in tables.items():
            rows = rows.with_(name, as_=table_, materialized=True, copy=False)
        return with_recursion(rows, R, recursion, most)

    def split(
        self,
        key: Hashable,
        query: Callable[[], exp.Query],
        kind: str,
        given: Mapping[str, int],
        limited: Limited | None = None,
        begun: Mapping[str, int] = NOTHING,
    ) -> Iterator[tuple[WorkingTable, Part]]:
        """Make the table of each predicate for what is "gone" or "added". Yields those with rows.

        What is found beside the facts that it has begun with counts against limits.
        """
        runner, hypernode = self.recursion.runner, self.recursion.hypernode
        owns = list(self.recursion.owns.values())
        whole = f"{kind}_{hypernode.name}" if self.layout else table_for(owns[0], kind)
        started = time.perf_counter()
        rows = make_table(runner, (key, *given), whole, query, given, as_written=True)
        names = [rule.name for rule in hypernode.rules]
        runner.rules.note(names, time.perf_counter() - started, None, rows)
        if self.layout and limited is not None:
            limited.counted(whole, self.layout, begun, hypernode.rules)
        for own in owns:
            table = table_for(own, kind)
            if self.layout:
                part = self.layout.part(own.predicate, whole, ranked=own.ranked)
                mine = partial(part_query, part, Relation(own.columns, (part,), own.ranked))
                rows = make_table(runner, (whole, part.read), table, mine)
            if rows:
                yield own, Part("temp", table, rows, ranked=own.ranked)


def table_for(own: WorkingTable, kind: str) -> str:
    """The name of a table for more that is "gone" or "added": the first is that of all."""
    if kind == "gone":
        return f"fallen_{own.stem}" if own.gone else own.gone_table
    return f"more_{own.stem}" if own.added else own.added_table


def layout_for(
    owns: WorkingTables, *, with_ranks: bool, counts_rounds: bool = False
) -> Layout | None:
    """The layout of what a statement finds, if it needs one; `with_ranks` tells whether it reads
    ranks of facts that have some.
    """
    if len(owns) == 1 and not counts_rounds:
        return None
    columns = {
        p: typed(own.outside.stored, ranked=own.ranked and with_ranks) for p, own in owns.items()
    }
    return layout_of(columns, counts_rounds)
