"""The best value of each group, improved round by round until nothing improves.

Each round applies the rules to the groups that the last one has improved. So the first value of a
group need not be its best: a shorter path may have more edges. Many rounds are one statement
(improve_at_once.py).

Maintenance continues in the same way: from what is stored, without the groups that are gone, and
with what a change brings.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from sqlglot import exp

from zodiac_sql.database.runner import Runner
from zodiac_sql.evaluate.cache_keys import relation_key
from zodiac_sql.evaluate.improve_at_once import improve_at_once, pays_at_once
from zodiac_sql.evaluate.improving import (
    MOST_IDLE_ROUNDS,
    Improving,
    Loop,
    endless,
    is_guarded,
)
from zodiac_sql.evaluate.run_plans import Target, apply_plans
from zodiac_sql.evaluate.semi_naive import Fixpoint, table_name
from zodiac_sql.evaluate.take_better import take_better
from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.language.schema import Schema
from zodiac_sql.sql.best_values import unbeaten
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.plan import Plan, whole
from zodiac_sql.sql.relations import Part, Relation, source


def best_values(runner: Runner, hypernode: Hypernode, schema: Schema, context: Context) -> Fixpoint:
    """What a hypernode derives whose predicates keep the best value of each group."""
    loop = beginning(runner, hypernode, schema, context)
    rounds = improve(loop, first_plans(loop))
    parts = {own.predicate: own.better for own in loop.owns.values() if own.better}
    return Fixpoint(parts, rounds, "best" if hypernode.recursive else "rule")


def beginning(
    runner: Runner,
    hypernode: Hypernode,
    schema: Schema,
    context: Context,
    prefix: str = "",
) -> Loop:
    """A loop that knows no value yet. `prefix` tells its temporary tables from others."""
    owns = {}
    for predicate, best in hypernode.bests.items():
        name = prefix + table_name(hypernode, predicate, schema)
        columns = schema[predicate].columns
        guarded = is_guarded(hypernode, columns[best.place])
        gone = f"{prefix}gone_{table_name(hypernode, predicate, schema)}"
        owns[predicate] = Improving(predicate, columns, best, name, gone, guarded=guarded)
    return Loop(runner, hypernode, context, owns)


def first_plans(loop: Loop) -> list[Plan]:
    """Each rule as a whole."""
    rules = loop.hypernode.rules
    return [loop.runner.cache.get(("whole", rule.name), partial(whole, rule)) for rule in rules]


def improve(loop: Loop, plans: Sequence[Plan]) -> int:
    """Apply plans, and then the rules to what is better, until nothing is. Returns the rounds."""
    rounds = 0
    for rounds in each_round(loop, plans):
        if pays_at_once(loop, rounds):
            return rounds + improve_at_once(loop, rounds)
    return rounds


def each_round(loop: Loop, plans: Sequence[Plan]) -> Iterator[int]:
    """The same, round by round: yields how many there were. What is better is the next delta."""
    rounds = _round(loop, plans)
    if not rounds:
        return
    idle, groups = 0, loop.groups
    yield rounds
    while _round(loop, loop.onwards()):
        rounds, before, groups = rounds + 1, groups, loop.groups
        idle = idle + 1 if groups == before else 0
        if loop.store.watch.bounds is not None:
            loop.store.watch.bounds.iterated()
        if idle > groups + MOST_IDLE_ROUNDS:
            raise endless(loop, rounds)
        yield rounds


def _round(loop: Loop, plans: Sequence[Plan]) -> int:
    """Apply plans. What they find better is the next delta. Returns 1, or 0 without plans."""
    plans = loop.plans(plans)
    inside = loop.inside()
    found = {p: _find(loop, own, plans, inside) for p, own in loop.owns.items()}
    for predicate, own in loop.owns.items():
        own.delta = None
        if found[predicate]:
            new = Part("temp", _new(own), found[predicate])
            own.turn += 1
            take_better(loop, own, new)
    return min(len(plans), 1)


def _find(loop: Loop, own: Improving, plans: Sequence[Plan], inside: Context) -> int:
    """Create `new_*`: the groups that are better now, or new. Returns how many there are."""
    mine = [plan for plan in plans if plan.rule.head.predicate == own.predicate]
    if not mine:
        return 0
    known = own.known

    def shape(heads: exp.Query | None) -> exp.Query:
        assert heads is not None
        items = [
            source(Relation(own.columns, (part,)), f"s{n}") for n, part in enumerate(known.parts)
        ]
        return unbeaten(heads, known, own.best, items, inside, guarded=own.guarded)

    target = Target(_new(own), own.columns, ("better", relation_key(known)), shape, grows=True)
    return apply_plans(loop.runner, mine, inside, target)


def _new(own: Improving) -> str:
    # Two names in turn: a statement cannot read the table that it replaces.
    return f"new_{own.turn % 2}_{own.table}"
