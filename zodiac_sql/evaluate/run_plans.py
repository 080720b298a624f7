"""Applying rules: what some plans derive of one predicate, into a temporary table.

A statement is put together once for plans and the tables they read, and its text kept: rendering
costs more than running it on few facts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from sqlglot import exp

from zodiac_sql.database import dictionary
from zodiac_sql.database.statement_cache import StatementCache, T
from zodiac_sql.database.statements import create_temp, drop, temp_table, union_all
from zodiac_sql.database.store import Store
from zodiac_sql.errors import EvaluationError, StoreError
from zodiac_sql.language.binding import functions_in
from zodiac_sql.language.syntax import Column, Rule, atoms_of
from zodiac_sql.language.types import mixes
from zodiac_sql.names import MARK, RANK, is_node
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.plan import Plan
from zodiac_sql.sql.product import Product, multiply, pays, product_of
from zodiac_sql.sql.reducer import JoinTree, is_worth_while, join_tree, needs_first_pass, reduce
from zodiac_sql.sql.relations import Relation
from zodiac_sql.sql.select import Compiled, compile_rule

Shape = Callable[[exp.Query | None], exp.Query]
"""What becomes of the heads that plans find, repetitions included; None where there is no plan."""


@dataclass(frozen=True, slots=True)
class Statement:
    """Rendered SQL, and the parameters that it has.

    `made` finds heads with text that a function made: it is to be encoded before the statement can run.
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


@contextmanager
def evaluating(rules: Sequence[Rule]) -> Iterator[None]:
    """An error inside names the rules it comes from: those that compute, if a value is the reason."""
    try:
        yield
    except EvaluationError as error:
        computing = [rule for rule in rules if any(functions_in(rule.body))]
        raise EvaluationError(_cannot(computing or rules, error)) from error
    except StoreError as error:
        if type(error) is not StoreError:
            raise
        raise StoreError(_cannot(rules, error)) from error


def _cannot(rules: Sequence[Rule], error: Exception) -> str:
    named = ", ".join(f"{rule.name}: {rule.text}" for rule in rules[:_NAMED])
    more = f" (or one of {len(rules) - _NAMED} more)" if len(rules) > _NAMED else ""
    return f"rule {named}{more} cannot be evaluated. Nothing was changed. {error}"


_NAMED = 3
"""So many rules are named where any of them may be the one."""


def apply_plans(
    store: Store,
    cache: StatementCache,
    key: Hashable,
    plans: Sequence[Plan],
    columns: Sequence[Column],
    context: Context,
    table: str,
    shape: Shape,
    *,
    ranked: bool = False,
    marked: bool = False,
    parameters: Mapping[str, object] | None = None,
) -> int:
    """Create temporary table `table` from the heads of plans, brought into shape. Returns its rows.

    `key` names, together with the plans and the tables they read, what the statement depends on.
    Plans that are worth it are evaluated as products (sql/product.py) or over a join tree (sql/reducer.py),
    but for those with ranks or marks.
    """
    plain = not (ranked or marked)
    products = _products(store, cache, plans, context, parameters or {}) if plain else {}
    trees = _trees(cache, plans, context) if plain else {}
    ways = (
        tuple((place, width) for place, (_, width) in products.items()),
        tuple((place, first) for place, (_, first) in trees.items()),
    )
    structures = tuple((id(p), structure(p, context)) for p in plans)
    statement = cache.get(
        (key, table, ranked, marked, structures, ways),
        partial(
            _statement, store, plans, columns, context, table, shape, ranked, marked, products,
            trees,
        ),
    )  # fmt: skip
    given = parameters or {}
    if statement.made:
        # Text must become symbols before it can be compared with what is there.
        store.run(statement.made.text, _used(given, statement.made.parameters))
        dictionary.encode(store, "raw", statement.made.columns, "found")
        store.run(drop("raw"))
    return store.count(statement.text, _used(given, statement.parameters))


def _used(given: Mapping[str, object], names: Collection[str]) -> dict[str, object] | None:
    return {name: value for name, value in given.items() if name in names} or None


def _products(
    store: Store,
    cache: StatementCache,
    plans: Sequence[Plan],
    context: Context,
    given: Mapping[str, object],
) -> dict[int, tuple[Product, int]]:
    """The plans that are products and better evaluated so, by their place."""
    found = {}
    for place, plan in enumerate(plans):
        product = cache.get(
            ("product", id(plan)), partial(_unless_mixed, product_of, plan, context)
        )
        width = pays(store, product, context, given) if product else None
        if product and width:
            found[place] = product, width
    return found


def _unless_mixed(form: Callable[[Plan], T | None], plan: Plan, context: Context) -> T | None:
    """A plan in some form that takes its atoms one by one: each must know the types of variables."""
    mixed = mixes(plan.rule.body, context.columns, context.functions)
    return None if mixed else form(plan)


def _trees(
    cache: StatementCache, plans: Sequence[Plan], context: Context
) -> dict[int, tuple[JoinTree, bool]]:
    """The plans that join the nodes of a decomposition, and are better reduced first, by their place.

    The flag tells whether by the delta before all else.
    """
    found = {}
    for place, plan in enumerate(plans):
        if any(is_node(scan.atom.predicate) for scan in plan.scans):
            tree = cache.get(("tree", id(plan)), partial(_unless_mixed, join_tree, plan, context))
            if tree and is_worth_while(tree, context):
                found[place] = tree, needs_first_pass(tree, context)
    return found


def _statement(
    store: Store,
    plans: Sequence[Plan],
    columns: Sequence[Column],
    context: Context,
    table: str,
    shape: Shape,
    ranked: bool,
    marked: bool,
    products: Mapping[int, tuple[Product, int]],
    trees: Mapping[int, tuple[JoinTree, bool]],
) -> Statement:
    def compiled(place: int, as_text: Collection[str] = ()) -> Compiled:
        if place in products:
            return multiply(*products[place], columns, context, as_text)
        if place in trees:
            tree, first_pass = trees[place]
            return reduce(tree, columns, context, first_pass, as_text)
        return compile_rule(
            plans[place], columns, context, ranked=ranked, marked=marked, as_text=as_text
        )

    found = [compiled(place) for place in range(len(plans))]
    texts = {text for one in found for text in one.texts}
    heads = [one.query for one in found if not one.texts]
    made = None
    if texts:
        # A column is text in all that are united here, or in none: an id is not a symbol's text.
        raw = [
            (one if texts == {*one.texts} else compiled(place, texts)).query
            for place, one in enumerate(found)
            if one.texts
        ]
        made = Made(*_rendered(store, create_temp("raw", union_all(raw))), tuple(sorted(texts)))
        names = [column.name for column in columns] + [RANK] * ranked + [MARK] * marked
        encoded = exp.select(*(exp.column(name, quoted=True) for name in names))
        heads.append(encoded.from_(temp_table("found")))
    query = shape(union_all(heads) if heads else None)
    return Statement(*_rendered(store, create_temp(table, query)), made)


def _rendered(store: Store, statement: exp.Expr) -> tuple[str, frozenset[str]]:
    """A statement's text, and the names of its parameters."""
    names = frozenset(parameter.name for parameter in statement.find_all(exp.Parameter))
    return store.render(statement), names


def structure(plan: Plan, context: Context) -> Hashable:
    """The tables that a plan reads: all that its SQL depends on besides the plan itself."""
    read = [(scan.atom.predicate, scan.version) for scan in (*plan.scans, *plan.groups) if scan]
    read += [(negation.atom.predicate, plan.state) for negation in plan.body.negations]
    for aggregate in plan.body.aggregates:
        read += [(atom.predicate, plan.state) for atom in atoms_of(aggregate.body)]
    return tuple(tables(context.relation(name, version)) for name, version in read)


def tables(relation: Relation) -> Hashable:
    """A relation without its sizes."""
    return (
        relation.ranked,
        relation.marked,
        tuple(
            (part.schema, part.table, part.minus, part.ranks, part.ranked, part.pairs, part.marks)
            for part in relation.parts
        ),
    )
