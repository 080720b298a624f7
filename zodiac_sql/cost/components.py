"""The graph whose arcs are some facts, and its strongly connected components, found exactly.

The arcs are in a table that has their ends as `a` and `b`; the nodes get numbers in another one.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass

from sqlglot import exp

from zodiac_sql.cost.strong import ArcLists, graph_of, strong_components
from zodiac_sql.database.statements import create_temp, drop, rename, temp_table
from zodiac_sql.database.store import Store
from zodiac_sql.sql.relations import Relation, columns_of, relation_query

LINKS, NODES = "zodiac$links", "zodiac$nodes"

FEWEST_OUTER = 0.1
"""Go on as long as so large a share of the arcs can be left out: a path has two in each round."""

_NODES = """
CREATE OR REPLACE TEMP TABLE "zodiac$nodes" AS
SELECT node, CAST(row_number() OVER () - 1 AS INTEGER) AS number
FROM (SELECT a AS node FROM "zodiac$links" UNION SELECT b FROM "zodiac$links")
"""

_ARCS = """
SELECT x.number AS a, y.number AS b FROM "zodiac$links" AS l
JOIN "zodiac$nodes" AS x ON x.node = l.a JOIN "zodiac$nodes" AS y ON y.node = l.b ORDER BY 1
"""

_FIRST = """
CREATE OR REPLACE TEMP TABLE "zodiac$inner" AS SELECT a, b FROM "zodiac$links" WHERE a <> b
"""

_FEWER = """
CREATE OR REPLACE TEMP TABLE "zodiac$fewer" AS SELECT a, b FROM "zodiac$inner"
WHERE a IN (SELECT b FROM "zodiac$inner") AND b IN (SELECT a FROM "zodiac$inner")
"""


@dataclass(frozen=True, slots=True)
class Components:
    """The strongly connected components of a graph, and its arcs.

    An arc leads to a component with a lower number, or stays in one.
    """

    graph: ArcLists
    component: array[int]
    """That of each node."""
    number: int
    """How many there are."""


def components_of(store: Store, given: Relation) -> Components:
    """The components of the graph whose arcs are some facts."""
    store.run(create_temp(LINKS, _arcs(given)))
    return components_of_links(store)


def components_of_links(store: Store) -> Components:
    """The same where the arcs are in the table of links."""
    nodes = store.count(_NODES)
    arcs = store.arrow(_ARCS)
    graph = graph_of(nodes, numbers_in(arcs.column("a")), numbers_in(arcs.column("b")))
    return Components(graph, *strong_components(graph))


def numbers_in(column: object) -> array[int]:
    """The numbers of a column of an Arrow table, which has no NULL."""
    found = array("i")
    for chunk in column.chunks:  # type: ignore[attr-defined]
        values = memoryview(chunk.buffers()[1]).cast("i") if len(chunk) else ()
        found.extend(values[chunk.offset : chunk.offset + len(chunk)])
    return found


def numbered(name: str, values: array[int]) -> object:
    """An Arrow table with a number for each node."""
    import pyarrow as pa  # late: most hypernodes have no graph

    columns = {
        title: pa.Array.from_buffers(pa.int32(), len(each), [None, pa.py_buffer(each)])
        for title, each in (("number", array("i", range(len(values)))), (name, values))
    }
    return pa.table(columns)


def has_inner_arcs(store: Store, given: Relation) -> bool:
    """Whether some arcs may be on a cycle of several nodes.

    Those that nothing leads to, or on from, are left out, round by round. What is left of a
    hierarchy of few levels is nothing, and that takes a tenth of the time in which its components
    could be found.
    """
    store.run(create_temp(LINKS, _arcs(given)))
    arcs = store.count(_FIRST)
    goes_on = True
    while arcs and goes_on:
        before, arcs = arcs, store.count(_FEWER)
        store.run(drop("zodiac$inner"))
        store.run(rename(temp_table("zodiac$fewer"), "zodiac$inner"))
        goes_on = arcs <= before * (1 - FEWEST_OUTER)
    return arcs > 0


def _arcs(relation: Relation) -> exp.Select:
    first, second = columns_of(relation, "f")
    query = exp.select(first.as_("a"), second.as_("b"))
    return query.from_(relation_query(relation).subquery("f", copy=False))
