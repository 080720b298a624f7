"""All rounds of a search in one recursive statement, where rules are linear and tables not large.

A round of the loop takes a few statements, and each costs milliseconds before it looks at a row. If
the hypernode's rules are linear, one statement finds all that follows from some facts instead. It
cannot check along the way: it finds all consequences that facts taken out may support, even those
that have another support. The latter come back when the hypernode is extended.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from sqlglot import exp

from zodiac_sql.database.statements import anti_join, temp_table, union_all
from zodiac_sql.evaluate.cache_keys import plan_key, relation_key
from zodiac_sql.evaluate.fixpoint import is_linear
from zodiac_sql.evaluate.make_tables import make_table
from zodiac_sql.maintain.contract import Task
from zodiac_sql.maintain.steps.working_table import WorkingTable, WorkingTables, context_of
from zodiac_sql.names import RANK
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.emptiness import is_empty
from zodiac_sql.sql.plan import Plan, Version, delta_variants
from zodiac_sql.sql.relations import Part, Relation, columns_of, mark_of, rank_of, table
from zodiac_sql.sql.select import compile_rule
from zodiac_sql.sql.set_difference import absent, unknown

LARGEST_CASCADED = 300_000
"""Cascade only if the hypernode's tables have at most this many rows: exploring too much at once is
then cheaper than checking round by round."""

_R = "r"


def can_cascade(task: Task, owns: WorkingTables) -> bool:
    """Whether one statement will do for what is left of the work."""
    if task.closures:
        return False
    base = sum(own.base.rows for own in owns.values() if own.base)
    if base > LARGEST_CASCADED:
        return False
    return task.cache.get(
        ("linear", task.hypernode.id), lambda: is_linear(task.hypernode, task.context(task.inputs))
    )


def cascade_lost(task: Task, own: WorkingTable, lost: Part, supported: bool) -> int:
    """Create `gone_*`: some facts and all that they may support, directly or not.

    Returns its rows.
    """
    context, plans = _steps(task, own, supported)

    def query() -> exp.Query:
        base = own.base
        assert base is not None
        seeds = exp.select(*own.names("t")).from_(temp_table(lost.table).as_("t"))
        if not plans:
            return seeds
        heads = union_all(_heads(plans, own, context, supported))
        there = columns_of(own.outside, "t")
        same: list[exp.Expr] = [
            a.eq(b) for a, b in zip(there, columns_of(own.outside, "h"), strict=True)
        ]
        if supported:
            same.append(rank_of("t") >= rank_of("h"))
        step = exp.select(*own.names("t")).from_(heads.subquery("h", copy=False))
        step = step.join(table(base).as_("t"), on=exp.and_(*same))
        return _recursive(own.names(_R), seeds, step)

    base = own.base and own.base.table
    structures = _structures(plans, context)
    key = ("cascade lost", lost.table, base, supported, own.ranked, *structures)
    return make_table(task.store, task.cache, key, own.gone_table, query)


def cascade_new(task: Task, own: WorkingTable, new: Part) -> int:
    """Create `plus_*`: some new facts and all that follows from them. Returns its rows."""
    context, plans = _steps(task, own, False, undeleted=False)
    known = own.known

    def query() -> exp.Query:
        columns = columns_of(known, "t")
        marks = [mark_of("t")] if own.marks else []
        seeds = exp.select(*columns, *marks).from_(temp_table(new.table).as_("t"))
        found: exp.Query = seeds
        if plans:
            names = columns_of(known, "c") + ([mark_of("c")] if own.marks else [])
            heads = union_all(_heads(plans, own, context, False, own.marks is not None))
            step = exp.select(*names).from_(heads.subquery("c", copy=False))
            for number, part in enumerate(known.parts):
                other = exp.select(*columns).from_(table(part).as_("t"))
                if part.minus:
                    other = anti_join(other, columns, temp_table(part.minus), "m")
                step = absent(step, known, other, f"x{number}")
            reached = columns_of(known, _R) + ([mark_of(_R)] if own.marks else [])
            found = _recursive(reached, seeds, step)
        if own.marks:  # one row for a fact that was found with a mark and without
            found = unknown(found, Relation(known.columns, ()), marked=True)
        if own.ranked:
            found = _numbered(own, found)
        return found

    key = (
        "cascade new",
        new.table,
        own.ranked,
        own.marks,
        own.passes_on,
        own.base and own.base.table,
        relation_key(known),
        *_structures(plans, context),
    )
    return make_table(task.store, task.cache, key, own.plus_table, query)


def _heads(
    plans: list[Plan], own: WorkingTable, context: Context, ranked: bool, marked: bool = False
) -> list[exp.Select]:
    return [
        compile_rule(plan, own.columns, context, ranked=ranked, marked=marked).query
        for plan in plans
    ]


def _steps(
    task: Task, own: WorkingTable, ranked: bool, undeleted: bool = True
) -> tuple[Context, list[Plan]]:
    """Plans in which the recursive atom reads what the statement has found, and their context."""
    part = Part("", _R, 1, ranked=ranked, marks=own.marks)
    found = Relation(own.columns, (part,), ranked, own.passes_on)
    inner = context_of(task, {own.predicate: own}, undeleted)

    def relation(name: str, version: Version) -> Relation:
        if name == own.predicate and version is Version.DELTA:
            return found
        return inner.relation(name, version)

    context = replace(inner, relation=relation)
    variants = [
        task.cache.get(("delta", rule.name), partial(delta_variants, rule, {own.predicate}))
        for rule in task.hypernode.rules
    ]
    plans = [plan for several in variants for plan in several]
    return context, [plan for plan in plans if not is_empty(plan, context)]


def _recursive(names: list[exp.Column], seeds: exp.Query, step: exp.Query) -> exp.Select:
    recursion = exp.union(seeds, step, distinct=True)
    query = exp.select(*(exp.column(n.name, quoted=True) for n in names)).from_(_R)
    return query.with_(_R, as_=recursion, recursive=True)


def _numbered(own: WorkingTable, query: exp.Query) -> exp.Select:
    """Rows in the order in which they are found, ranked after all that they can be derived from."""
    number: exp.Expr = exp.Window(this=exp.RowNumber())
    there = [part for part in (own.base, own.united) if part]
    if there:
        rank = exp.column(RANK, quoted=True)
        ranks = union_all([exp.select(rank).from_(table(part)) for part in there])
        highest = exp.select(exp.Max(this=rank.copy())).from_(ranks.subquery("r", copy=False))
        number = (
            exp.Coalesce(this=highest.subquery(copy=False), expressions=[exp.Literal.number(0)])
            + number
        )
    columns = [exp.column(c.name, quoted=True) for c in columns_of(own.outside)]
    return exp.select(*columns, number.as_(RANK, quoted=True)).from_(
        query.subquery("q", copy=False)
    )


def _structures(plans: list[Plan], context: Context) -> tuple[object, ...]:
    return tuple((id(plan), plan_key(plan, context)) for plan in plans)
