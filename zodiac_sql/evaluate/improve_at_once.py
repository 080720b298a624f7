"""All rounds of improvement in one statement, by DuckDB's recursion with a key.

It can hold one predicate, and rules with one atom of it. Measured on a grid of 40,000 nodes (409
rounds, 2 cores): 1.2 s, where a loop of statements takes 3.8 s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from zodiac_sql.database.render import render
from zodiac_sql.database.statements import create_temp, parameter, temp_table, union_all
from zodiac_sql.evaluate.cache_keys import relation_key
from zodiac_sql.evaluate.improving import (
    MOST_IDLE_ROUNDS,
    Improving,
    Loop,
    endless,
    take_out_of_stored,
)
from zodiac_sql.evaluate.make_tables import in_one_table
from zodiac_sql.evaluate.never_better import never_better
from zodiac_sql.language.binding import used_functions
from zodiac_sql.names import RANK
from zodiac_sql.sql.best_values import group_of, unbeaten
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.plan import Plan, Version
from zodiac_sql.sql.relations import Part, Relation, columns_of, rank_of, source
from zodiac_sql.sql.select import compile_rule, makes_text

_NAME = "r"
"""What the recursion is called inside its statement."""


def fits_in_one(loop: Loop) -> bool:
    """Whether one statement can go through all rounds."""
    if len(loop.owns) != 1 or any(len(own.columns) == 1 for own in loop.owns.values()):
        return False
    return all(
        sum(atom.predicate in loop.owns for atom in rule.positive_atoms()) <= 1
        and not makes_text(rule, loop.context)
        and not used_functions([rule]).intersection(loop.context.functions)
        for rule in loop.hypernode.rules
    )


def improve_at_once(loop: Loop, own: Improving) -> int:
    """Continue from what the first round found. Returns how many rounds it took, if they counted.

    They are counted only if values might get better for ever, because that takes a fifth longer.
    """
    plans = loop.plans(loop.onwards()) if own.rows else []
    if not plans:
        return 0
    context = in_one_table(loop.store, loop.context, f"read_{own.table}", _is_in_parts)
    loop = replace(loop, context=context)
    if never_better(loop.store, loop.hypernode, lambda p: loop.context.relation(p, Version.ALL)):
        _continued(loop, own, plans, None)
        return 1
    most = MOST_IDLE_ROUNDS
    while (rounds := _continued(loop, own, plans, most)) == most:
        if most > own.groups + MOST_IDLE_ROUNDS:
            raise endless(loop, most)
        most *= 2
    return rounds


def _is_in_parts(_: str, relation: Relation) -> bool:
    """Whether what a scan reads is put together from tables, which would be done in each round."""
    return len(relation.parts) > 1 or any(part.minus or part.pairs for part in relation.parts)


def _continued(loop: Loop, own: Improving, plans: Sequence[Plan], most: int | None) -> int:
    """Go on, for at most so many rounds if that is given. Returns how many it took then."""
    table = f"all_{own.table}"
    base = Relation(own.columns, (own.base,) if own.base else ())
    key = ("at once", own.table, loop.reads(plans), relation_key(base), most is None)

    def text() -> str:
        return render(create_temp(table, _recursion(loop, own, plans, base, most is not None)))

    given = None if most is None else {"most": most}
    rows, rounds = loop.store.count(loop.cache.get(key, text), given), 0
    if most is not None:
        highest = exp.select(exp.Max(this=rank_of("t"))).from_(temp_table(table).as_("t"))
        rounds = loop.store.count(loop.text(("rounds", table), lambda: highest))
    found = Part("temp", table, rows)
    take_out_of_stored(loop, own, found)
    columns = columns_of(own.shape, "t")
    copy = exp.select(*columns).from_(temp_table(table).as_("t"))
    loop.store.run(loop.text(("all", table), lambda: create_temp(own.table, copy)))
    own.rows, own.delta = rows, found
    return rounds


def _recursion(
    loop: Loop, own: Improving, plans: Sequence[Plan], base: Relation, counted: bool
) -> exp.Query:
    """What the better values so far lead to; if counted, each with the round that found it."""
    delta = Relation(own.columns, (Part("", _NAME, 1, ranked=counted),), ranked=counted)

    def relation(name: str, version: Version) -> Relation:
        return delta if name == own.predicate else loop.context.relation(name, version)

    inside: Context = replace(loop.context, relation=relation)
    heads = [compile_rule(p, own.columns, inside, ranked=counted).query for p in plans]
    known: list[exp.Expr] = [exp.table_(_NAME, db="recurring")]
    if base.rows:
        known.append(source(base, "s"))
    steps = unbeaten(
        union_all(heads), own.shape, own.best, known, ranked=counted, guarded=own.guarded
    )
    seeds = exp.select(*columns_of(own.shape, "t")).from_(temp_table(own.table).as_("t"))
    names = [column.name for column in own.shape.stored]
    if counted:
        zero = exp.cast(exp.Literal.number(0), "BIGINT").as_(RANK, quoted=True)
        seeds, names = seeds.select(zero, copy=False), [*names, RANK]
        steps = steps.where(exp.LTE(this=rank_of("c"), expression=parameter("most")), copy=False)
    cte = exp.CTE(
        this=exp.union(seeds, steps, distinct=True, copy=False),
        alias=exp.TableAlias(
            this=exp.to_identifier(_NAME),
            columns=[exp.to_identifier(name, quoted=True) for name in names],
        ),
        key_expressions=[
            exp.to_identifier(column.name, quoted=True)
            for column in group_of(own.shape, own.best, "t")
        ],
    )
    query = exp.select(exp.Star()).from_(_NAME)
    query.set("with_", exp.With(expressions=[cte], recursive=True))
    return query
