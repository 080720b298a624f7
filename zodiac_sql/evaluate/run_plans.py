"""Running rules: what some plans derive of one predicate goes into a temporary table.

A statement is put together once for plans and the tables they read, and its text is put into a
cache, because rendering costs more than running it on few facts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from sqlglot import exp

from zodiac_sql.cost.products import pays
from zodiac_sql.database import dictionary
from zodiac_sql.database.duckdb_errors import OutOfMemoryError
from zodiac_sql.database.render import render
from zodiac_sql.database.runner import Runner
from zodiac_sql.database.statement_cache import StatementCache, T
from zodiac_sql.database.statements import (
    create_temp,
    distinct,
    drop,
    parameter,
    temp_table,
    union_all,
)
from zodiac_sql.database.store import Store
from zodiac_sql.evaluate.cache_keys import plan_key, relations_of
from zodiac_sql.evaluate.early_projection import in_steps
from zodiac_sql.evaluate.groups_in_shares import divisible, found_in_shares
from zodiac_sql.language.mixed import reads_values
from zodiac_sql.language.syntax import Column
from zodiac_sql.language.types import mixes
from zodiac_sql.names import RANK, is_node
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.plan import Plan
from zodiac_sql.sql.product import Bits, Product, multiply, product_of
from zodiac_sql.sql.reducer import JoinTree, is_worth_while, join_tree, needs_first_pass, reduce
from zodiac_sql.sql.relations import Part
from zodiac_sql.sql.select import Compiled, compile_rule

Shape = Callable[[exp.Query | None], exp.Query]
"""Makes a query of the heads that plans find, repetitions included; they are None without plans."""


@dataclass(frozen=True, slots=True)
class Target:
    """The temporary table that is made of the heads that plans find, brought into shape.

    `key` has what the statement depends on besides the table, the plans and what they read. If it
    is `ranked`, the heads have ranks. If it `grows`, its rows are facts that the rules derive, and
    count against the limits of the change (database/limits.py).
    """

    table: str
    columns: Sequence[Column]
    key: Hashable
    shape: Shape
    ranked: bool = False
    grows: bool = False


@dataclass(frozen=True, slots=True)
class Statement:
    """Rendered SQL, and the parameters that it has.

    `made` finds heads with text that a function made, which must become symbols before the
    statement can run.
    """

    text: str
    parameters: frozenset[str]
    made: Made | None = None


@dataclass(frozen=True, slots=True)
class Made:
    """Rendered SQL for heads some of whose columns are text."""

    text: str
    parameters: frozenset[str]
    columns: tuple[str, ...]


def apply_plans(
    runner: Runner,
    plans: Sequence[Plan],
    context: Context,
    target: Target,
    *,
    parameters: Mapping[str, object] | None = None,
    product: tuple[Product, Bits] | None = None,
) -> int:
    """Make a temporary table of the heads of plans. Returns its rows.

    Plans are evaluated in steps (early_projection.py), as products (sql/product.py) or over a join
    tree (sql/reducer.py) where that pays, but never if their heads have ranks. A single plan may be
    known to be a `product`.
    """
    started = time.perf_counter()
    read = sum(one.rows for plan in plans for one in relations_of(plan, context))
    rows = _apply(runner, plans, context, target, parameters or {}, product)
    names = [plan.rule.name for plan in plans]
    runner.rules.note(names, time.perf_counter() - started, read, rows)
    return rows


def _apply(
    runner: Runner,
    plans: Sequence[Plan],
    context: Context,
    target: Target,
    parameters: Mapping[str, object],
    product: tuple[Product, Bits] | None = None,
) -> int:
    """The same, for plans of which nothing is noted."""
    store, given = runner.store, parameters
    step_tables: Sequence[str] = ()
    ways = _Ways({0: product}) if product else _Ways()
    if not (product or target.ranked):
        make = partial(_make_step, runner, given)
        steps = in_steps(runner, plans, context, given, target.table, make)
        plans, context, step_tables = steps.plans, steps.context, steps.tables
        ways = _Ways(_products(runner, plans, context, given), _trees(runner.cache, plans, context))
    structures = tuple((id(p), plan_key(p, context)) for p in plans)
    key: tuple[Hashable, ...] = (target.key, target.table, target.ranked, structures, ways.key)
    bounds = store.watch.bounds if target.grows else None
    if bounds is not None and (most := store.watch.most_rows) is not None:
        key = (*key, "limited")
        target = replace(target, shape=partial(_limited, target.shape))
        given = {**given, "most": most + 1}
    statement = runner.cache.get(key, partial(_statement, store, plans, context, target, ways))
    rows = _fill(store, statement, plans, context, target, given, bool(parameters))
    if bounds is not None:
        bounds.found([plan.rule.name for plan in plans], rows)
    for name in step_tables:
        store.run(drop(name))
    return rows


def found_by(
    runner: Runner, plans: Sequence[Plan], context: Context, target: Target
) -> Part | None:
    """Make a temporary table of what plans find. None if that is nothing."""
    rows = apply_plans(runner, plans, context, target)
    return Part("temp", target.table, rows, ranked=target.ranked) if rows else None


def _fill(
    store: Store,
    statement: Statement,
    plans: Sequence[Plan],
    context: Context,
    target: Target,
    given: Mapping[str, object],
    is_round: bool,
) -> int:
    """Make the table, in shares if the memory does not suffice. Returns its rows."""
    if statement.made:
        _encode(store, statement.made, given)
    try:
        return store.count(statement.text, _used(given, statement.parameters))
    except OutOfMemoryError:
        special = is_round or statement.made or target.ranked
        if special or not divisible([plan.rule for plan in plans]):
            raise
        return _in_shares(store, plans, context, target, given)


def _make_step(
    runner: Runner,
    given: Mapping[str, object],
    plan: Plan,
    context: Context,
    columns: Sequence[Column],
    table: str,
) -> int:
    """Join the atoms of a plan, and put what is left of them into a table. Returns its rows."""
    target = Target(table, columns, "step", distinct)
    return _apply(runner, [plan], context, target, given)


def _encode(store: Store, made: Made, given: Mapping[str, object]) -> None:
    """Let text become symbols, before it can be compared with what is there."""
    store.run(made.text, _used(given, made.parameters))
    dictionary.encode(store, "raw", made.columns, "found", canonical=True)
    store.run(drop("raw"))


def _in_shares(
    store: Store,
    plans: Sequence[Plan],
    context: Context,
    target: Target,
    given: Mapping[str, object],
) -> int:
    """Make the table share by share. Returns its rows."""
    with found_in_shares(store, plans, target.columns, context) as heads:
        text, names = _rendered(store, create_temp(target.table, target.shape(heads)))
        return store.count(text, _used(given, names))


def _limited(shape: Shape, heads: exp.Query | None) -> exp.Query:
    """One row more than are allowed is enough, because then the change is refused."""
    return (
        exp.select(exp.Star())
        .from_(shape(heads).subquery("l", copy=False))
        .limit(parameter("most"))
    )


@dataclass(frozen=True, slots=True)
class _Ways:
    """The plans, by their place, that are not evaluated as a plain join.

    A product comes with how its sets are written, a tree with whether the delta first reduces all
    of its other nodes.
    """

    products: Mapping[int, tuple[Product, Bits]] = field(default_factory=dict)
    trees: Mapping[int, tuple[JoinTree, bool]] = field(default_factory=dict)

    @property
    def key(self) -> Hashable:
        """All that a statement depends on."""
        return (
            tuple((place, bits) for place, (_, bits) in self.products.items()),
            tuple((place, first_pass) for place, (_, first_pass) in self.trees.items()),
        )


def _used(given: Mapping[str, object], names: Collection[str]) -> dict[str, object] | None:
    return {name: value for name, value in given.items() if name in names} or None


def _products(
    runner: Runner, plans: Sequence[Plan], context: Context, given: Mapping[str, object]
) -> dict[int, tuple[Product, Bits]]:
    """The plans that are cheaper to evaluate as products."""
    found = {}
    for place, plan in enumerate(plans):
        product = product_in(runner.cache, plan, context)
        bits = pays(runner.store, product, context, given) if product else None
        if product and bits:
            found[place] = product, bits
    return found


def product_in(cache: StatementCache, plan: Plan, context: Context) -> Product | None:
    """A plan as a product, if it can be evaluated as one."""
    return cache.get(("product", id(plan)), partial(_unless_mixed, product_of, plan, context))


def _unless_mixed(form: Callable[[Plan], T | None], plan: Plan, context: Context) -> T | None:
    """A plan in another form; None if its body mixes ints and floats, or reads values of terms.

    These forms take atoms one by one, and one atom alone would take such a float for an int. They
    compare terms as they are stored.
    """
    told = context.columns, context.functions
    mixed = mixes(plan.rule.body, *told) or reads_values(plan.rule, *told)
    return None if mixed else form(plan)


def _trees(
    cache: StatementCache, plans: Sequence[Plan], context: Context
) -> dict[int, tuple[JoinTree, bool]]:
    """The plans that join a tree's nodes, and are cheaper if these are reduced first."""
    found = {}
    for place, plan in enumerate(plans):
        if any(is_node(scan.atom.predicate) for scan in plan.scans):
            tree = cache.get(("tree", id(plan)), partial(_unless_mixed, join_tree, plan, context))
            if tree and is_worth_while(tree, context):
                found[place] = tree, needs_first_pass(tree, context)
    return found


def _statement(
    store: Store, plans: Sequence[Plan], context: Context, target: Target, ways: _Ways
) -> Statement:
    """The statement that makes a table from what plans derive."""
    columns, ranked = target.columns, target.ranked

    def compiled(place: int, as_text: Collection[str] = ()) -> Compiled:
        if place in ways.products:
            return multiply(*ways.products[place], columns, context, as_text)
        if place in ways.trees:
            tree, first_pass = ways.trees[place]
            return reduce(tree, columns, context, first_pass, as_text)
        return compile_rule(plans[place], columns, context, ranked=ranked, as_text=as_text)

    found = [compiled(place) for place in range(len(plans))]
    texts = {text for one in found for text in one.texts}
    heads = [one.query for one in found if not one.texts]
    made = None
    if texts:
        # In a union, a column is text in all queries or in none: an id is not a symbol's text.
        raw = [
            (one if texts == {*one.texts} else compiled(place, texts)).query
            for place, one in enumerate(found)
            if one.texts
        ]
        made = Made(*_rendered(store, create_temp("raw", union_all(raw))), tuple(sorted(texts)))
        names = [column.name for column in columns] + [RANK] * ranked
        encoded = exp.select(*(exp.column(name, quoted=True) for name in names))
        heads.append(encoded.from_(temp_table("found")))
    query = target.shape(union_all(heads) if heads else None)
    return Statement(*_rendered(store, create_temp(target.table, query)), made)


def _rendered(store: Store, statement: exp.Expr) -> tuple[str, frozenset[str]]:
    """A statement's text, and the names of its parameters."""
    names = frozenset(parameter.name for parameter in statement.find_all(exp.Parameter))
    return render(statement), names
