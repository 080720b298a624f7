"""Shortest paths of facts, which show why a fact of a closed predicate holds.

If rules make a predicate transitive, or symmetric and transitive, a fact of it holds because facts
lead from its first value to its second (paper 2, section 6). Those that the closure adds itself are
no part of a path: it consists of facts from outside, and of those that other rules derive.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from zodiac_sql.database.statements import create_temp_view
from zodiac_sql.language.syntax import Rule
from zodiac_sql.names import DERIVED_SCHEMA, derived, external_table
from zodiac_sql.read.why.asked import Key, Known
from zodiac_sql.rewrite.closures.module import Module
from zodiac_sql.rewrite.rewritten_hypernode import ModuleRow
from zodiac_sql.sql.relations import Part, Relation, relation_query


@dataclass(frozen=True, slots=True)
class Closure:
    """A predicate that rules of a hypernode close, as its module row in the catalog tells."""

    hypernode: int
    row: ModuleRow
    module: Module

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules that close it."""
        return self.module.taken

    @property
    def symmetric(self) -> bool:
        """Whether facts may be passed backwards."""
        return self.row.kind == "stc"


@dataclass(frozen=True, slots=True)
class Path:
    """Facts that lead from the first value of a fact to the second."""

    closure: Closure
    facts: tuple[Key, ...]


def shortest_path(known: Known, closure: Closure, fact: Key) -> Path | None:
    """The facts of a shortest path, if there is one; if several are, always the same one.

    The closure's edges have been made (make_edges).
    """
    predicate, (start, end) = fact
    rows = known.store.rows(_SHORTEST, {"start": start, "end": end})
    facts = []
    for left, right, turned in rows:
        facts.append((predicate, (right, left) if turned else (left, right)))
    return Path(closure, tuple(facts)) if facts else None


def make_edges(known: Known, closure: Closure) -> None:
    """Make the view of edges that paths consist of: `a` leads to `b`.

    `turned` tells whether the fact that it comes from leads from `b` to `a`.
    """
    predicate = known.schema[closure.row.predicate]
    outside = known.sources.relation(predicate.name, without=closure.hypernode)
    parts = list(outside.parts)
    if closure.row.fed:
        table = derived(closure.hypernode, external_table(predicate.sql_name))
        parts.append(Part(DERIVED_SCHEMA, table, 1))
    relation = Relation(predicate.columns, tuple(parts))
    first, second = (exp.column(c.name, table="e", quoted=True) for c in predicate.columns)
    queries = [_edges(relation, first, second, turned=False)]
    if closure.symmetric:
        queries.append(_edges(relation, second, first, turned=True))
    view = exp.union(*queries, distinct=False) if len(queries) > 1 else queries[0]
    known.store.run(create_temp_view(_EDGES, view))


def _edges(relation: Relation, a: exp.Column, b: exp.Column, *, turned: bool) -> exp.Select:
    query = exp.select(a.as_("a"), b.as_("b"), exp.convert(turned).as_("turned"))
    return query.from_(relation_query(relation).subquery("e", copy=False), copy=False)


_EDGES = "zodiac$why_edges"

_SHORTEST = """
WITH RECURSIVE reached(node, before, turned, steps) USING KEY (node) AS (
    SELECT b, min(a), bool_and(turned), 1
    FROM temp.main."zodiac$why_edges" WHERE a = $start GROUP BY b
    UNION
    SELECT e.b, min(e.a), bool_and(e.turned), any_value(r.steps) + 1
    FROM reached AS r JOIN temp.main."zodiac$why_edges" AS e ON e.a = r.node
    LEFT JOIN recurring.reached AS known ON known.node = e.b
    WHERE known.node IS NULL
    AND NOT EXISTS (SELECT 1 FROM recurring.reached AS done WHERE done.node = $end)
    GROUP BY e.b
), path(node, steps) AS (
    SELECT node, steps FROM reached WHERE node = $end
    UNION ALL
    SELECT r.before, p.steps - 1
    FROM path AS p JOIN reached AS r ON r.node = p.node WHERE p.steps > 1
)
SELECT r.before, r.node, r.turned
FROM path AS p JOIN reached AS r ON r.node = p.node ORDER BY p.steps
"""
