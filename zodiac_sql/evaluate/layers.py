"""A closure along a relation without cycles, node by node, with sets as bit strings.

A rule such as tc(X, Z) :- tc(X, Y), edge(Y, Z) takes facts along a relation. If that has no cycle,
its nodes are in layers: each edge leads to a higher one. So the X of a node are all known once
those of the nodes before it are: their union, one bit for each X. A recursive statement derives
each pair once for every edge that leads to it, and looks each of these up: on a random DAG of
10,000 nodes and 100,000 edges 110 million heads for 22 million pairs, 14 s of CPU; here it is 3.

The layers are ranks: whatever a fact is derived from has a node in a lower layer. So all of its
derivations count as supports when facts are deleted.

Where the relation has a cycle, is deep, or the closure is so sparse that bits are wasted on it, the
recursive statement remains. What is known of closures decides that (cost/closures.py).

Tables that only this file reads have fixed names, so that most statements are constants.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from zodiac_sql.cost.calibration import CELL, HEAD, MARGIN, STATEMENT, WORD_UNITED
from zodiac_sql.cost.closures import follows, layers_of
from zodiac_sql.cost.components import LINKS, NODES, components_of_links, numbered
from zodiac_sql.cost.statistics import values_query
from zodiac_sql.database.statements import create_temp, drop, joining, temp_table
from zodiac_sql.database.store import Store
from zodiac_sql.evaluate.evaluation import Evaluation
from zodiac_sql.language.syntax import Type
from zodiac_sql.names import RANK
from zodiac_sql.rewrite.forms import Forms
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.plan import Version
from zodiac_sql.sql.product import MOST_BITS
from zodiac_sql.sql.relations import Part, Relation, relation_query

FEWEST_ROWS = 5_000
"""The fewest facts and edges for which it is worth looking at layers."""

LEAST_EDGES_TO_A_NODE = 3
"""The least number of edges that must lead to a node on average: with fewer, facts are mostly
derived once, and there is little to gain."""

STARTS, SETS, VALUES = "zodiac$starts", "zodiac$sets", "zodiac$values"
_TABLES = (STARTS, LINKS, NODES, SETS, VALUES, "zodiac$layers", "zodiac$layered")

NUMBER_VALUES = """
CREATE OR REPLACE TEMP TABLE "zodiac$values" AS
SELECT value, (row_number() OVER (ORDER BY value) - 1)::INTEGER AS number
FROM (SELECT DISTINCT value FROM "zodiac$starts")
"""

_NUMBERED = """
CREATE OR REPLACE TEMP TABLE "zodiac$layers" AS
SELECT n.node, CAST(f.layer AS BIGINT) AS layer
FROM "zodiac$nodes" AS n JOIN "zodiac$found" AS f ON f.number = n.number WHERE f.layer > 0
"""

_IN_LAYERS = """
CREATE OR REPLACE TEMP TABLE "zodiac$layered" AS
SELECT e.a, e.b, l.layer
FROM "zodiac$links" AS e JOIN "zodiac$layers" AS l ON l.node = e.b
"""

_UNITE = """
INSERT INTO "zodiac$sets"
SELECT e.b, $layer, bit_or(s.bits)
FROM "zodiac$layered" AS e JOIN "zodiac$sets" AS s ON s.node = e.a
WHERE e.layer = $layer
GROUP BY e.b
"""


def facts_of(form: Form, sets: exp.Table, rank: str, bits: str) -> exp.Select:
    """The facts that a column of sets stands for, with another column as their rank."""
    row: list[exp.Expr] = [exp.column("value", table="v"), exp.column("value", table="v")]
    row[form.node] = exp.column("node", table="x")
    named = [
        value.as_(column.name, quoted=True)
        for value, column in zip(row, form.facts.columns, strict=True)
    ]
    number = exp.column("number", table="v")
    bit = exp.Anonymous(this="get_bit", expressions=[exp.column(bits, table="x"), number])
    query = exp.select(*named, exp.column(rank, table="x").as_(RANK, quoted=True))
    query = query.from_(exp.alias_(sets, "x", table=True))
    query = query.join(joining(temp_table(VALUES).as_("v"), "CROSS"))
    return query.where(bit.eq(exp.Literal.number(1)))


def derived_facts(form: Form, rank: str) -> exp.Select:
    """The facts that all sets stand for, but those that are there to begin with."""
    derived = exp.column("layer", table="x") > exp.Literal.number(0)
    return facts_of(form, temp_table(SETS), rank, "bits").where(derived)


@dataclass(frozen=True, slots=True)
class Sampled:
    """What is known of a closure along a large relation without cycles before it is evaluated."""

    form: Form
    layers: array[int]
    """That of each node."""
    depth: int
    in_statement: float
    """What a recursive statement is expected to take, in milliseconds."""
    in_sets: float
    """The same for sets, some times as much: a sample may err."""


def sampled(work: Evaluation) -> Sampled | None:
    """What is known of a large closure; None if it is none, if it cannot be in layers, or is small.
    Makes tables that `forget` drops.
    """
    return work.once("sampled closure", lambda: _sampled(work))


def _sampled(work: Evaluation) -> Sampled | None:
    if not work.may_be_one_statement:
        return None
    form = form_of(work.forms, work.context)
    if form is None or min(form.facts.rows, form.edges.rows) < max(FEWEST_ROWS, 1):
        return None
    store = work.store
    ((width, nodes),) = store.rows(_counts(form))
    if form.edges.rows < LEAST_EDGES_TO_A_NODE * nodes or width * nodes > MOST_BITS:
        return None
    edges = store.count(create_temp(LINKS, form.steps()))
    components = components_of_links(store)
    found = layers_of(components)
    if found is None:
        forget(store)
        return None
    heads = follows(store, components, form.starts(), form.facts.rows).heads
    in_sets = MARGIN * (sets_cost(edges, nodes, width) + STATEMENT * found[1])
    return Sampled(form, *found, HEAD * heads, in_sets)


def _counts(form: Form) -> exp.Select:
    """About how many values facts have that stay, and how many nodes the edges lead to."""
    value, node = exp.column("value", table="s"), exp.column("b", table="s")
    return values_query([(form.starts(), value), (form.steps(), node)])


def sets_cost(edges: int, nodes: int, width: int) -> float:
    """What it takes to unite the sets of so many values along edges, and to make facts of those
    that so many nodes have, in milliseconds, beside a statement for each layer.
    """
    return WORD_UNITED * edges * width / 64 + CELL * nodes * width


def in_layers(store: Store, found: Sampled, name: str) -> Part | None:
    """Find the sets of a closure, and make temporary table `name` of the facts that they stand for,
    if any.
    """
    number_layers(store, found.layers)
    store.run(create_temp(STARTS, found.form.starts()))
    width = store.count(NUMBER_VALUES)
    store.run(_IN_LAYERS)
    zero = exp.cast(exp.Literal.number(0), "BIGINT").as_("layer")
    bits = set_of_numbers(width).as_("bits")
    store.run(create_temp(SETS, of_starts([zero, bits])))
    for layer in range(1, found.depth + 1):
        store.run(_UNITE, {"layer": layer})
    rows = store.count(create_temp(name, derived_facts(found.form, "layer")))
    return Part("temp", name, rows, ranked=True) if rows else None


def number_layers(store: Store, layers: array[int]) -> None:
    """Make a table of the nodes that edges lead to, with their layers."""
    with store.offered("zodiac$found", numbered("layer", layers)):
        store.run(_NUMBERED)


def forget(store: Store) -> None:
    """Drop all tables but that of the facts."""
    for name in _TABLES:
        store.run(drop(name))


@dataclass(frozen=True, slots=True)
class Form:
    """How a hypernode takes facts along edges; `node` is the place of the nodes in the facts."""

    facts: Relation
    edges: Relation
    node: int

    def starts(self) -> exp.Select:
        """The facts from outside, each once."""
        return _named(self.facts, ("value", "node") if self.node else ("node", "value"))

    def steps(self) -> exp.Select:
        """The edges, each once, in the direction in which facts are taken."""
        return _named(self.edges, ("a", "b") if self.node else ("b", "a"))


def form_of(forms: Forms, context: Context) -> Form | None:
    """The form of a hypernode that takes facts along a relation of nodes of one type."""
    if forms.along is None:
        return None
    place, edge = forms.along.place, forms.along.edges
    facts = context.relation(forms.hypernode.derives[0], Version.ALL)
    edges = context.relation(edge, Version.ALL)
    nodes = {column.meant for column in (*edges.columns, facts.columns[place])}
    value = facts.columns[1 - place].type
    if len(nodes) > 1 or value in (None, Type.FLOAT) or nodes & {None, Type.FLOAT}:
        return None
    return Form(facts, edges, place)


def _named(relation: Relation, names: Sequence[str]) -> exp.Select:
    """The facts of a relation, each once, under other names."""
    columns = [
        exp.column(column.name, table="c", quoted=True).as_(name)
        for column, name in zip(relation.columns, names, strict=True)
    ]
    rows = relation_query(relation, distinct=True).subquery("c", copy=False)
    return exp.select(*columns).distinct().from_(rows)


def of_starts(columns: Sequence[exp.Expr]) -> exp.Select:
    """For each node that facts begin with, columns that are made of their values."""
    node = exp.column("node", table="s")
    query = exp.select(node, *columns).from_(temp_table(STARTS).as_("s"))
    same = exp.column("value", table="v").eq(exp.column("value", table="s"))
    return query.join(temp_table(VALUES).as_("v"), on=same).group_by(node.copy())


def set_of_numbers(width: int) -> exp.Expr:
    """The values of a group as a set."""
    ends = [exp.Literal.number(0), exp.Literal.number(width - 1)]
    number = exp.column("number", table="v")
    return exp.Anonymous(this="bitstring_agg", expressions=[number, *ends])
