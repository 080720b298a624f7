"""Applying rules: what some plans derive of one predicate, into a temporary table.

A statement is put together once for plans and the tables they read, and its text kept: rendering
costs more than running it on few facts.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from sqlglot import exp

from zodiac_sql import dictionary
from zodiac_sql.hypertree.stored import is_node
from zodiac_sql.plan import Plan
from zodiac_sql.product import Product, multiply, pays, product_of
from zodiac_sql.reducer import JoinTree, is_worth_while, join_tree, needs_first_pass, reduce
from zodiac_sql.relations import MARK, RANK, Relation
from zodiac_sql.rules import Column, atoms_of
from zodiac_sql.sql import Context, compile_rule
from zodiac_sql.store import Store
from zodiac_sql.trees import create_temp, drop, temp_table, union_all

Shape = Callable[[exp.Query | None], exp.Query]
"""What becomes of the heads that plans find, repetitions included; None where there is no plan."""

T = TypeVar("T")

MANY = 1_000
"""So many texts of one hypernode are a sign that old ones are of no use."""


@dataclass(frozen=True, slots=True)
class Statement:
    """Rendered SQL. `texts` are columns of text, to be encoded before `after` can run."""

    text: str
    texts: tuple[str, ...] = ()
    after: str = ""
    parameters: frozenset[str] = frozenset()


@dataclass(slots=True)
class Kept:
    """What is worked out once for a program: plans, and the text of statements.

    What belongs to one hypernode (by number) or predicate (by name) stands apart: it lasts while
    other rules come and go.
    """

    things: dict[Hashable, object] = field(default_factory=dict)
    parts: dict[int | str, Kept] = field(default_factory=dict)

    def of(self, owner: int | str) -> Kept:
        """What belongs to a hypernode or a predicate."""
        return self.parts.setdefault(owner, Kept())

    def carried(self, lasts: Callable[[int | str], bool]) -> Kept:
        """What lasts, but for what has grown large: other tables may never be read again."""
        return Kept(
            parts={o: k for o, k in self.parts.items() if len(k.things) < MANY and lasts(o)}
        )

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` returned when this key was first asked for."""
        if key not in self.things:
            self.things[key] = make()
        return self.things[key]  # type: ignore[return-value]


def apply_plans(
    store: Store,
    kept: Kept,
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
    Plans that are worth it are evaluated as products (product.py) or over a join tree (reducer.py),
    but for those with ranks or marks.
    """
    plain = not (ranked or marked)
    products = _products(store, kept, plans, context, parameters or {}) if plain else {}
    trees = _trees(kept, plans, context) if plain else {}
    ways = (
        tuple((place, width) for place, (_, width) in products.items()),
        tuple((place, first) for place, (_, first) in trees.items()),
    )
    structures = tuple((id(p), structure(p, context)) for p in plans)
    statement = kept.get(
        (key, table, ranked, marked, structures, ways),
        partial(
            _statement, store, plans, columns, context, table, shape, ranked, marked, products,
            trees,
        ),
    )  # fmt: skip
    given = {k: v for k, v in (parameters or {}).items() if k in statement.parameters} or None
    if not statement.texts:
        return store.count(statement.text, given)
    # Text must become symbols before it can be compared with what is there.
    store.run(statement.text, given)
    dictionary.encode(store, "raw", statement.texts, "found")
    store.run(drop("raw"))
    return store.count(statement.after)


def _products(
    store: Store,
    kept: Kept,
    plans: Sequence[Plan],
    context: Context,
    given: Mapping[str, object],
) -> dict[int, tuple[Product, int]]:
    """The plans that are products and better evaluated so, by their place."""
    found = {}
    for place, plan in enumerate(plans):
        product = kept.get(("product", id(plan)), partial(product_of, plan))
        width = pays(store, product, context, given) if product else None
        if product and width:
            found[place] = product, width
    return found


def _trees(kept: Kept, plans: Sequence[Plan], context: Context) -> dict[int, tuple[JoinTree, bool]]:
    """The plans that join the nodes of a decomposition, and are better reduced first, by their place.

    The flag tells whether by the delta before all else.
    """
    found = {}
    for place, plan in enumerate(plans):
        if any(is_node(scan.atom.predicate) for scan in plan.scans):
            tree = kept.get(("tree", id(plan)), partial(join_tree, plan))
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
    compiled = [
        compile_rule(plan, columns, context, ranked=ranked, marked=marked) for plan in plans
    ]
    texts = tuple(sorted({text for one in compiled for text in one.texts}))
    queries: list[exp.Query] = [one.query for one in compiled]
    for place, (product, width) in products.items():
        queries[place] = multiply(product, width, columns, context)
    for place, (tree, first_pass) in trees.items():
        queries[place] = reduce(tree, columns, context, first_pass)
    heads = union_all(queries) if queries else None
    used = frozenset(p.name for p in heads.find_all(exp.Parameter)) if heads else frozenset()
    if heads is None or not texts:
        return Statement(store.render(create_temp(table, shape(heads))), parameters=used)
    names = [c.name for c in columns] + ([RANK] if ranked else []) + ([MARK] if marked else [])
    found = exp.select(*(exp.column(n, quoted=True) for n in names)).from_(temp_table("found"))
    after = store.render(create_temp(table, shape(found)))
    return Statement(store.render(create_temp("raw", heads)), texts, after, used)


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
