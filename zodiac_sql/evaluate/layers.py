"""A closure along a relation without cycles, node by node, with sets as bit strings.

A rule such as tc(X, Z) :- tc(X, Y), edge(Y, Z) takes facts along a relation. If that has no cycle,
its nodes are in layers: each edge leads to a higher one. So the X of a node are all known once
those of the nodes before it are: their union, one bit for each X. A recursive statement derives
each pair once for every edge that leads to it, and looks each of these up: on a random DAG of
10,000 nodes and 100,000 edges 110 million heads for 22 million pairs, 14 s of CPU; here it is 3.

The layers are ranks: whatever a fact is derived from has a node in a lower layer. So all of its
derivations count as supports when facts are deleted.

Where the relation has a cycle, is deep, or the closure is so sparse that bits are wasted on it, the
recursive statement remains. Exact numbers of rows decide that, and a sample of some X.

Tables that only this file reads have fixed names, so that most statements are constants.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from sqlglot import exp

from zodiac_sql.cost.operator import Declined
from zodiac_sql.database.statements import create_temp, drop, joining, temp_table
from zodiac_sql.database.store import Store
from zodiac_sql.evaluate.evaluation import Evaluation
from zodiac_sql.language.syntax import Type
from zodiac_sql.names import RANK
from zodiac_sql.rewrite.forms import Forms
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.plan import Version
from zodiac_sql.sql.relations import Part, Relation, relation_query

FEWEST_ROWS = 5_000
"""The fewest facts and edges for which it is worth looking at layers."""

LEAST_EDGES_TO_A_NODE = 3
"""The least number of edges that must lead to a node on average: with fewer, facts are mostly
derived once, and there is little to gain."""

MOST_BITS = 800_000_000
"""The most bits that the sets may need: 100 MB."""

MOST_LAYERS = 300
"""The most layers there may be: each takes a statement."""

LEAST_HEADS_TO_AN_EDGE = 4
"""Look for so many layers only that the recursive statement finds at least this many heads for each
edge and layer. In a cycle the search goes on as long as it may: a tenth of that statement's time.
"""

SAMPLE = 32
"""The recursive statement follows at most this many X, evenly spread, to see how many heads there
are."""

CHEAPER_BY = 2
"""Work in layers only if the recursive statement is expected to cost this many times as much."""

HEAD, WORD, CELL, LAYER = 100, 13, 10, 2_000_000
"""What costs how many nanoseconds: a head of the recursive statement, the union of 64 bits, looking
at one bit, and the statement for a layer."""

STARTS, EDGES, SETS, VALUES = "zodiac$starts", "zodiac$steps", "zodiac$sets", "zodiac$values"
_TABLES = (STARTS, EDGES, SETS, VALUES, "zodiac$layers", "zodiac$layered")

NUMBER_VALUES = """
CREATE OR REPLACE TEMP TABLE "zodiac$values" AS
SELECT value, (row_number() OVER (ORDER BY value) - 1)::INTEGER AS number
FROM (SELECT DISTINCT value FROM "zodiac$starts")
"""

COUNT_NODES = 'SELECT count(DISTINCT target) FROM "zodiac$steps"'

_COUNT_SAMPLE = """
WITH RECURSIVE r AS (
  SELECT s.value, s.node
  FROM "zodiac$starts" AS s JOIN "zodiac$values" AS v ON v.value = s.value
  WHERE v.number % $each = 0
  UNION
  SELECT r.value, e.target FROM r JOIN "zodiac$steps" AS e ON e.source = r.node
)
SELECT count(*) FROM r JOIN "zodiac$steps" AS e ON e.source = r.node
"""

FIND_LAYERS = """
CREATE OR REPLACE TEMP TABLE "zodiac$layers" AS
WITH RECURSIVE r AS (
  SELECT DISTINCT target AS node, 1::BIGINT AS layer FROM "zodiac$steps"
  UNION
  SELECT e.target, r.layer + 1
  FROM r JOIN "zodiac$steps" AS e ON e.source = r.node
  WHERE r.layer <= $most
)
SELECT node, max(layer) AS layer FROM r GROUP BY node
"""

COUNT_LAYERS = 'SELECT max(layer) FROM "zodiac$layers"'

_IN_LAYERS = """
CREATE OR REPLACE TEMP TABLE "zodiac$layered" AS
SELECT e.source, e.target, l.layer
FROM "zodiac$steps" AS e JOIN "zodiac$layers" AS l ON l.node = e.target
"""

_UNITE = """
INSERT INTO "zodiac$sets"
SELECT e.target, $layer, bit_or(s.bits)
FROM "zodiac$layered" AS e JOIN "zodiac$sets" AS s ON s.node = e.source
WHERE e.layer = $layer
GROUP BY e.target
"""


@dataclass(frozen=True, slots=True)
class Layered:
    """A closure as sets, in so many layers."""

    form: Form
    depth: int

    def make(self, store: Store, name: str) -> Part | None:
        """Temporary table `name` with the facts that the sets stand for, if any."""
        rows = store.count(create_temp(name, derived_facts(self.form, "layer")))
        return Part("temp", name, rows, ranked=True) if rows else None


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
    """What is known of a closure of many edges before it is evaluated, in milliseconds."""

    form: Form
    edges: int
    width: int
    heads: int
    """How many heads a recursive statement is expected to find."""
    in_statement: float
    """What it takes for them."""
    in_layers: float
    """What sets take, but for the statements of the layers; infinite if they cannot be used."""

    @property
    def most_layers(self) -> int:
        """How many layers there may be."""
        return min(MOST_LAYERS, self.heads // max(self.edges * LEAST_HEADS_TO_AN_EDGE, 1))


def sampled(work: Evaluation) -> Sampled | None:
    """What a sample of a large closure tells; None if it is none, or a small one. Makes tables that
    `forget` drops.
    """
    return work.once("sampled closure", lambda: _sampled(work))


def _sampled(work: Evaluation) -> Sampled | None:
    if not work.may_be_one_statement:
        return None
    form = form_of(work.forms, work.context)
    if form is None or min(form.facts.rows, form.edges.rows) < max(FEWEST_ROWS, 1):
        return None
    found = _looked_at(work.store, form)
    if found is None:
        forget(work.store)
    return found


def _looked_at(store: Store, form: Form) -> Sampled | None:
    """The same for a large one, whose tables stay also if that is nothing."""
    edges = store.count(create_temp(EDGES, form.steps()))
    nodes = store.count(COUNT_NODES)
    if edges < LEAST_EDGES_TO_A_NODE * nodes:
        return None
    store.run(create_temp(STARTS, form.starts()))
    width = store.count(NUMBER_VALUES)
    if not width:
        return None
    each = -(-width // SAMPLE)
    heads = store.count(_COUNT_SAMPLE, {"each": each}) * each
    sets = (edges * (width / 64) * WORD + nodes * width * CELL) / 1e6
    if width * nodes > MOST_BITS:
        sets = inf
    return Sampled(form, edges, width, heads, heads * HEAD / 1e6, sets)


def in_layers(store: Store, found: Sampled) -> Layered | Declined:
    """Find the sets of a closure. Call `forget` when they are not needed any more."""
    store.run(FIND_LAYERS, {"most": found.most_layers}, as_written=True)
    depth = store.count(COUNT_LAYERS)
    if depth > found.most_layers:
        return Declined("the relation has a cycle, or is deep")
    if CHEAPER_BY * (found.in_layers + depth * LAYER / 1e6) > found.in_statement:
        return Declined(f"it has {depth} layers")
    store.run(_IN_LAYERS)
    zero = exp.cast(exp.Literal.number(0), "BIGINT").as_("layer")
    bits = set_of_numbers(found.width).as_("bits")
    store.run(create_temp(SETS, of_starts([zero, bits])))
    for layer in range(1, depth + 1):
        store.run(_UNITE, {"layer": layer})
    return Layered(found.form, depth)


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
        return _named(self.edges, ("source", "target") if self.node else ("target", "source"))


def form_of(forms: Forms, context: Context) -> Form | None:
    """The form of a hypernode that takes facts along a relation of nodes of one type."""
    if forms.along is None:
        return None
    place, edge = forms.along
    facts = context.relation(forms.hypernode.derives[0], Version.ALL)
    edges = context.relation(edge, Version.ALL)
    nodes = {column.type for column in (*edges.columns, facts.columns[place])}
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
