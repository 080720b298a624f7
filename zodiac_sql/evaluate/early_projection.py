"""Joins of three atoms and more, two atoms at a time, where little is left of two.

alias(X, Y) :- flows(Z, X), memory(Z, W), flows(W, Y). needs W for nothing else: memory and flows
are joined and projected onto Z and Y first, each pair once, and then flows is joined with that.
Where relations are dense, the join of all three has hundreds of times as many rows. Either step may
then be a product (sql/product.py). This is elimination of variables (Dechter, "Bucket elimination:
a unifying framework for reasoning", Artificial Intelligence 1999). Numbers of different values tell
where it pays (cost/join_steps.py); they are counted only where relations are large enough.
(Measured on CSPA: 1.3 s of CPU for all of it, not 22.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from sqlglot import exp

from zodiac_sql.cost.join_steps import Factor, first_pair
from zodiac_sql.cost.products import is_worth_counting
from zodiac_sql.cost.statistics import values_query
from zodiac_sql.database.render import render
from zodiac_sql.database.runner import Runner
from zodiac_sql.evaluate.cache_keys import plan_key
from zodiac_sql.language.binding import arrange, variables, variables_needed
from zodiac_sql.language.syntax import Atom, Column, Rule, Variable
from zodiac_sql.language.types import body_types, mixes
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.plan import Plan, Scan, Version
from zodiac_sql.sql.product import with_all
from zodiac_sql.sql.relations import Part, Relation
from zodiac_sql.sql.scans import column_name, column_names, quoted, side

MOST_ATOMS = 6
"""Bodies with more atoms are joined at once: there are too many orders to compare."""

_OF_THE_HEAD = (Version.CANDIDATE, Version.TOUCHED)
"""What is no atom of the body, even if its atom is the same: p(X, Y) :- p(X, Y), q(Y, Z)."""

Make = Callable[[Plan, Context, tuple[Column, ...], str], int]
"""Makes a temporary table, with some columns and a name, of the heads of a plan, each once.
Returns how many there are."""


@dataclass(frozen=True, slots=True)
class InSteps:
    """Plans to evaluate in place of others, the context with the tables that they read, and the
    names of these tables.
    """

    plans: tuple[Plan, ...]
    context: Context
    tables: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Split:
    """A plan as two: what is joined `first`, a predicate with some columns, and the `rest`."""

    first: Plan
    columns: tuple[Column, ...]
    rest: Plan

    @property
    def predicate(self) -> str:
        return self.first.rule.head.predicate


def in_steps(
    runner: Runner,
    plans: Sequence[Plan],
    context: Context,
    given: Mapping[str, object],
    table: str,
    make: Make,
) -> InSteps:
    """Join some atoms of plans before the others, where that is much cheaper.

    The tables of what is joined are named after the `table` that the plans fill.
    """
    found: list[Plan] = []
    tables: list[str] = []
    for plan in plans:
        while split := _split(runner, plan, context, given, _name(table, len(tables))):
            name = _name(table, len(tables))
            rows = make(split.first, context, split.columns, name)
            context = _with(context, split, Part("temp", name, rows))
            tables.append(name)
            plan = split.rest
        found.append(plan)
    return InSteps(tuple(found), context, tuple(tables))


def _name(table: str, number: int) -> str:
    return f"step_{number}_{table}"


def _with(context: Context, split: _Split, part: Part) -> Context:
    """A context in which what is joined first is in a table."""
    joined = Relation(split.columns, (part,))

    def relation(name: str, version: Version) -> Relation:
        return joined if name == split.predicate else context.relation(name, version)

    types = {split.predicate: tuple(column.meant for column in split.columns)}
    return replace(context, relation=relation, columns={**context.columns, **types})


def _split(
    runner: Runner,
    plan: Plan,
    context: Context,
    given: Mapping[str, object],
    name: str,
) -> _Split | None:
    """A plan as two, if that is much cheaper."""
    if not _may_pay(plan, context):
        return None
    factors = _factors(runner, plan, context, given)
    pair = first_pair(
        factors, {variable.name for variable in variables_needed(plan.rule.head, plan.body)}
    )
    if pair is None:
        return None
    return runner.cache.get(("split", id(plan), pair, name), lambda: _at(plan, pair, name, context))


def _may_pay(plan: Plan, context: Context) -> bool:
    """Whether a plan is worth a closer look: by its form, and by how many rows its atoms have.

    Where facts have ranks, those of a body are compared with that of a candidate.
    """
    if not 3 <= len(plan.scans) <= MOST_ATOMS or plan.body.aggregates:
        return False
    if not any(_variables(scan) for scan in plan.scans):
        return False
    if any(s.version in _OF_THE_HEAD or s.atom not in plan.body.atoms for s in plan.scans):
        return False
    relations = [context.relation(s.atom.predicate, s.version) for s in plan.scans]
    if any(relation.ranked for relation in relations):
        return False
    second, first = sorted(relation.rows for relation in relations)[-2:]
    return is_worth_counting(first, second)


def _at(plan: Plan, pair: tuple[int, int], name: str, context: Context) -> _Split | None:
    """A plan as two, of which the first joins a pair of scans; None if types stand against it."""
    body = plan.rule.body
    if mixes(body, context.columns, context.functions):
        return None  # an atom by itself would take a float for an int
    scans = tuple(plan.scans[place] for place in pair)
    others = tuple(scan for place, scan in enumerate(plan.scans) if place not in pair)
    wanted = {v.name for v in variables_needed(plan.rule.head, plan.body)}
    wanted |= {v.name for s in others for v in _variables(s)}
    joined = {v.name: v for scan in scans for v in _variables(scan)}
    kept = tuple(variable for name, variable in joined.items() if name in wanted)
    types = [body_types(body, context.columns, context.functions).types.get(v.name) for v in kept]
    if not kept or None in types:
        return None
    head = Atom(f"##{name}", kept)
    rule = Rule(plan.rule.name, head, tuple(scan.atom for scan in scans))
    atoms = (head, *(scan.atom for scan in others))
    rest = tuple(literal for literal in body if not isinstance(literal, Atom))
    return _Split(
        Plan(rule, scans, arrange(rule.body)),
        tuple(Column(column_name(v.name), t) for v, t in zip(kept, types, strict=True)),
        replace(
            plan,
            rule=replace(plan.rule, body=(*atoms, *rest)),
            scans=(Scan(head, Version.ALL), *others),
            body=replace(plan.body, atoms=atoms),
        ),
    )


def _factors(
    runner: Runner,
    plan: Plan,
    context: Context,
    given: Mapping[str, object],
) -> list[Factor]:
    """The scans of a plan, with how many rows and different values they have."""
    key = ("different values", id(plan), plan_key(plan, context))
    text, names = runner.cache.get(key, partial(_counting, plan, context))
    ((*counts,),) = runner.store.rows(text, {n: v for n, v in given.items() if n in names} or None)
    numbers = iter(counts)
    factors = []
    for scan in plan.scans:
        rows = context.relation(scan.atom.predicate, scan.version).rows
        values = {v.name: max(int(next(numbers)), 1) for v in _variables(scan)}
        factors.append(Factor(rows, values))
    return factors


def _counting(plan: Plan, context: Context) -> tuple[str, frozenset[str]]:
    """The statement that counts different values, about, and the names of its parameters."""
    everything = with_all(context)
    counts = values_query(
        (side(scan, _variables(scan), everything), quoted(name))
        for scan in plan.scans
        for name in column_names(_variables(scan))
    )
    return render(counts), frozenset(p.name for p in counts.find_all(exp.Parameter))


def _variables(scan: Scan) -> tuple[Variable, ...]:
    """The variables of a scan, each once."""
    return tuple({v.name: v for v in variables(*scan.atom.terms)}.values())
