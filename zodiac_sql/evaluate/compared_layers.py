"""A closure in layers before and after a change, as sets: facts are made of what differs only.

Evaluation in layers (layers.py) finds sets in a moment, but making facts of them and writing these
takes four fifths of its time. Here each node has two sets, of what led to it and of what leads to
it now. Nodes that the change does not reach have one.

Each node gets a rank, too, over those of the nodes before it, and what enters gets the rank of its
node. If facts only enter, all others are still derived as they were; so ranks are chosen over the
highest that the nodes before have. If facts leave, what others were derived from may be gone: then
every fact must have the rank of its node, and those that earlier changes brought may have another.
Where stored ranks rise along every edge, whatever facts are at its ends, they tell the layers, too,
and are as good for all facts that are left, but for those of nodes that come after one that had no
facts before.

Tables that only this file and layers.py read have fixed names, so that statements are constants.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from zodiac_sql.cost.calibration import HEAD, MARGIN, STATEMENT
from zodiac_sql.cost.closures import layers_of
from zodiac_sql.cost.components import LINKS, components_of_links
from zodiac_sql.database.statements import anti_join, create_temp, drop, temp_table, union_all
from zodiac_sql.database.store import Store
from zodiac_sql.evaluate import layers
from zodiac_sql.evaluate.layers import (
    NUMBER_VALUES,
    SETS,
    STARTS,
    Form,
    derived_facts,
    facts_of,
    of_starts,
    set_of_numbers,
)
from zodiac_sql.names import RANK
from zodiac_sql.sql.product import MOST_BITS
from zodiac_sql.sql.relations import OUTSIDE, Part, rank_of, table

_COUNT_NODES = 'SELECT count(DISTINCT b) FROM "zodiac$links"'

_COUNT_LAYERS = 'SELECT max(layer) FROM "zodiac$layers"'

_RANKS, _DIFFER, _DISORDERED = "zodiac$ranks", "zodiac$differ", "zodiac$disordered"

_RANKS_AS_LAYERS = """
CREATE OR REPLACE TEMP TABLE "zodiac$layers" AS
SELECT n.node, dense_rank() OVER (ORDER BY coalesce(r.least, $outside)) AS layer,
  coalesce(r.least, $outside) AS least, coalesce(r.most, $outside) AS most
FROM (SELECT DISTINCT b AS node FROM "zodiac$links") AS n
LEFT JOIN "zodiac$ranks" AS r ON r.node = n.node
"""

_COUNT_FALLING = """
SELECT count(*)
FROM "zodiac$links" AS e
JOIN "zodiac$layers" AS a ON a.node = e.a
JOIN "zodiac$layers" AS b ON b.node = e.b
WHERE a.most >= b.least
"""

_WITH_RANKS = """
CREATE OR REPLACE TEMP TABLE "zodiac$layers" AS
SELECT l.node, l.layer, coalesce(r.least, $outside) AS least, coalesce(r.most, $outside) AS most
FROM "zodiac$layers" AS l LEFT JOIN "zodiac$ranks" AS r ON r.node = l.node
"""

_IN_LAYERS = """
CREATE OR REPLACE TEMP TABLE "zodiac$layered" AS
WITH RECURSIVE moved AS (
  SELECT node FROM (
    SELECT b AS node FROM "zodiac$links" WHERE before <> after
    UNION ALL
    SELECT e.b
    FROM "zodiac$starts" AS s JOIN "zodiac$links" AS e ON e.a = s.node
    WHERE s.before <> s.after
  ) AS first
  UNION
  SELECT e.b FROM moved AS m JOIN "zodiac$links" AS e ON e.a = m.node
)
SELECT e.a, e.b, e.before, e.after, l.layer,
  CASE WHEN $leaves THEN l.least ELSE l.most END AS rank, m.node IS NOT NULL AS moved
FROM "zodiac$links" AS e
JOIN "zodiac$layers" AS l ON l.node = e.b
LEFT JOIN moved AS m ON m.node = e.b
"""

_UNITE = """
INSERT INTO "zodiac$sets"
SELECT e.b, $layer, greatest(max(s.rank) FILTER (e.after) + 1, any_value(e.rank)),
  any_value(e.moved), bit_or(s.bits) FILTER (e.after),
  bit_or(CASE WHEN s.moved THEN s.old ELSE s.bits END) FILTER (e.before AND e.moved)
FROM "zodiac$layered" AS e JOIN "zodiac$sets" AS s ON s.node = e.a
WHERE e.layer = $layer
GROUP BY e.b
"""

_COMPARE = """
CREATE OR REPLACE TEMP TABLE "zodiac$differ" AS
SELECT node, rank, CASE WHEN old IS NULL THEN bits ELSE bits & ~old END AS more,
  CASE WHEN bits IS NULL THEN old ELSE old & ~bits END AS fewer
FROM "zodiac$sets"
WHERE layer > 0 AND moved AND bits IS DISTINCT FROM old
"""

_FIND_DISORDERED = """
CREATE OR REPLACE TEMP TABLE "zodiac$disordered" AS
SELECT s.node, s.rank
FROM "zodiac$sets" AS s JOIN "zodiac$layers" AS l ON l.node = s.node
WHERE s.layer > 0 AND l.most > $outside
  AND (l.least <> s.rank OR l.most <> s.rank AND NOT $in_order)
"""


@dataclass(frozen=True, slots=True)
class Compared:
    """What a closure was and is, in so many layers; `stored` is the table of what it was.

    Its ranks are `in_order` if they rise along all edges.
    """

    store: Store
    form: Form
    stored: Part
    depth: int
    in_order: bool

    def entering(self, name: str) -> Part | None:
        """Temporary table `name` with the facts that enter, and their ranks, if any."""
        return self._made(name, facts_of(self.form, temp_table(_DIFFER), "rank", "more"))

    def leaving(self, name: str) -> Part | None:
        """Temporary table `name` with the facts that leave, if any."""
        return self._made(name, facts_of(self.form, temp_table(_DIFFER), "rank", "fewer"))

    def whole(self, name: str) -> Part | None:
        """Temporary table `name` with all facts that there are now, if any."""
        return self._made(name, derived_facts(self.form, "rank"))

    def misplaced(self, name: str, gone: Part | None) -> Part | None:
        """Temporary table `name` with facts that stay, but get another rank, which it has."""
        given = {"outside": OUTSIDE, "in_order": self.in_order}
        if not self.store.count(_FIND_DISORDERED, given):
            return None
        columns = [exp.column(c.name, table="o", quoted=True) for c in self.form.facts.columns]
        rank, own = exp.column("rank", table="d"), rank_of("o")
        query = exp.select(*columns, rank.as_(RANK, quoted=True)).from_(table(self.stored).as_("o"))
        same = exp.column("node", table="d").eq(columns[self.form.node].copy())
        query = query.join(temp_table(_DISORDERED).as_("d"), on=same).where(own.neq(rank.copy()))
        if gone:
            query = anti_join(query, columns, temp_table(gone.table), "m")
        return self._made(name, query)

    def _made(self, name: str, query: exp.Query) -> Part | None:
        rows = self.store.count(create_temp(name, query))
        return Part("temp", name, rows, ranked=True) if rows else None


def compared(
    store: Store, before: Form, after: Form, stored: Part, leaves: bool
) -> Compared | None:
    """Find the sets of a closure before and after a change; None if that would not be cheaper.

    `leaves` tells whether the change can take facts. Call `forget` when what differs is not needed
    any more.
    """
    prepared = _prepared(store, before, after, stored, leaves)
    if prepared is None:
        return None
    depth, in_order = prepared
    for layer in range(1, depth + 1):
        store.run(_UNITE, {"layer": layer})
    store.run(_COMPARE)
    return Compared(store, after, stored, depth, in_order)


def forget(store: Store) -> None:
    """Drop all tables but those of facts."""
    layers.forget(store)
    for name in (_RANKS, _DIFFER, _DISORDERED):
        store.run(drop(name))


def _prepared(
    store: Store, before: Form, after: Form, stored: Part, leaves: bool
) -> tuple[int, bool] | None:
    """Make the tables that layers are united from.

    Returns how many layers there are, and whether the ranks tell them.
    """
    many = store.count(create_temp(LINKS, _both(before.steps(), after.steps(), ("a", "b"))))
    nodes = store.count(_COUNT_NODES)
    if not nodes or many < layers.LEAST_EDGES_TO_A_NODE * nodes:
        return None
    starts = _both(before.starts(), after.starts(), ("value", "node"))
    store.run(create_temp(STARTS, starts))
    width = store.count(NUMBER_VALUES)
    found = _layers(store, after, stored) if 2 * width * nodes <= MOST_BITS else None
    if found is None:
        return None
    cost = layers.sets_cost(2 * many, nodes, width) + STATEMENT * found[0]
    if MARGIN * cost > HEAD * stored.rows * many / nodes:
        return None
    store.run(_IN_LAYERS, {"leaves": leaves})
    store.run(create_temp(SETS, _first_sets(width)))
    return found


def _both(before: exp.Select, after: exp.Select, names: tuple[str, str]) -> exp.Select:
    """The rows of two queries, and which of these they are from."""
    columns = [exp.column(name) for name in names]
    marked = [
        exp.select(*(c.copy() for c in columns), exp.convert(now).as_("now"))
        .from_(query.subquery("q", copy=False))
        for query, now in ((before, False), (after, True))
    ]  # fmt: skip
    now = exp.column("now")
    query = exp.select(
        *(c.copy() for c in columns),
        exp.LogicalOr(this=exp.not_(now)).as_("before"),
        exp.LogicalOr(this=now.copy()).as_("after"),
    )
    return query.from_(union_all(marked).subquery("u", copy=False)).group_by(*columns)


def _layers(store: Store, after: Form, stored: Part) -> tuple[int, bool] | None:
    """Number the layers of nodes, by their ranks if these rise along all edges.

    Returns how many there are, and whether these are the ranks; None if there is a cycle.
    """
    node = exp.column(after.facts.columns[after.node].name, table="o", quoted=True)
    query = exp.select(node.as_("node"), exp.Min(this=rank_of("o")).as_("least"))
    query = query.select(exp.Max(this=rank_of("o")).as_("most")).from_(table(stored).as_("o"))
    store.run(create_temp(_RANKS, query.group_by(node.copy())))
    store.run(_RANKS_AS_LAYERS, {"outside": OUTSIDE})
    if not store.count(_COUNT_FALLING):
        return store.count(_COUNT_LAYERS), True
    found = layers_of(components_of_links(store))
    if found is None:
        return None
    layers.number_layers(store, found[0])
    store.run(_WITH_RANKS, {"outside": OUTSIDE})
    return found[1], False


def _first_sets(width: int) -> exp.Select:
    """The facts that are there to begin with, as sets in layer 0."""
    zeros = [exp.cast(exp.Literal.number(0), "BIGINT").as_(name) for name in ("layer", "rank")]
    sets = [
        exp.Filter(
            this=set_of_numbers(width), expression=exp.Where(this=exp.column(when, "s"))
        ).as_(name)
        for when, name in (("after", "bits"), ("before", "old"))
    ]
    return of_starts([*zeros, exp.true().as_("moved"), *sets])
