"""Leaves out arcs of a graph that are on no cycle: nothing leads to them, or on from them.

What is left of a hierarchy of few levels is nothing, and that takes a tenth of the time in which
its components could be found.
"""

from __future__ import annotations

from zodiac_sql.database.statements import create_temp, drop, rename, temp_table
from zodiac_sql.database.store import Store
from zodiac_sql.evaluate.partition.closure import links
from zodiac_sql.sql.relations import Relation

FEWEST_OUTER = 0.1
"""Go on as long as so large a share of the arcs can be left out: a path has two in each round."""

_FIRST = """
CREATE OR REPLACE TEMP TABLE "zodiac$inner" AS SELECT a, b FROM "zodiac$links" WHERE a <> b
"""

_FEWER = """
CREATE OR REPLACE TEMP TABLE "zodiac$fewer" AS SELECT a, b FROM "zodiac$inner"
WHERE a IN (SELECT b FROM "zodiac$inner") AND b IN (SELECT a FROM "zodiac$inner")
"""


def has_inner_arcs(store: Store, given: Relation) -> bool:
    """Whether some arcs, which are facts of a relation, may be on a cycle of several nodes."""
    store.run(create_temp("zodiac$links", links(given, True)))
    arcs = store.count(_FIRST)
    goes_on = True
    while arcs and goes_on:
        before, arcs = arcs, store.count(_FEWER)
        store.run(drop("zodiac$inner"))
        store.run(rename(temp_table("zodiac$fewer"), "zodiac$inner"))
        goes_on = arcs <= before * (1 - FEWEST_OUTER)
    return arcs > 0
