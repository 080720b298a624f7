"""Shortest paths of facts, which show why a fact of a closed predicate holds.

If rules make a predicate transitive, or symmetric and transitive, a fact of it holds because facts
lead from its first value to its second (paper 2, section 6). Those that the closure adds itself are
no part of a path: it consists of facts from outside, and of those that other rules derive.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

from sqlglot import exp

from zodiac_sql.database.column_types import SQL_TYPES
from zodiac_sql.database.render import render
from zodiac_sql.database.statements import create_temp_view, parameter
from zodiac_sql.evaluate.cache_keys import relation_key
from zodiac_sql.language.syntax import Rule, Type
from zodiac_sql.names import external
from zodiac_sql.read.why.asked import Key, Known
from zodiac_sql.rewrite.closures.condensed import Condensed
from zodiac_sql.rewrite.closures.module import NODE, Module
from zodiac_sql.rewrite.rewritten_hypernode import ModuleRow
from zodiac_sql.sql.relations import Part, Relation, relation_query, table


@dataclass(frozen=True, slots=True)
class ClosedPredicate:
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

    def can_close(self, fact: Key) -> bool:
        """Whether a path can lead to a fact: rules with X != Z never lead back to a node."""
        start, end = fact[1]
        return not self.row.unequal or start != end

    @property
    def of_given(self) -> ClosedPredicate:
        """The same, with paths of facts from outside the hypernode alone."""
        return replace(self, row=replace(self.row, fed=False))


@dataclass(frozen=True, slots=True)
class Path:
    """Facts that lead from the first value of a fact to the second."""

    closure: ClosedPredicate
    facts: tuple[Key, ...]

    @property
    def uses(self) -> tuple[Key, ...]:
        """What it rests on. Linear rules prolong a fact by facts of another relation, of which the
        others are copies (rewrite/closures/condensed.py).
        """
        module = self.closure.module
        if not isinstance(module, Condensed) or module.edges is None or module.prolongs is None:
            return self.facts
        own = 0 if module.prolongs else len(self.facts) - 1
        return tuple(
            fact if place == own else (module.edges, fact[1])
            for place, fact in enumerate(self.facts)
        )


MOST_EDGES = 20_000
"""If at most so many edges can be on the way, they are searched in memory; else DuckDB does it."""

Edge = tuple[object, object, bool]
"""A node, the next one, and whether the fact leads from the second to the first."""

_Links = Mapping[object, Mapping[object, bool]]


@dataclass(frozen=True, slots=True)
class PathEdges:
    """Edges of a closure, by the node where they begin; the value tells whether one is turned."""

    closure: ClosedPredicate
    links: _Links

    def shortest(self, fact: Key) -> Path | None:
        """The facts of a shortest path other than the fact itself, if there is one.

        If several paths are, it is always the same one.
        """
        if not self.closure.can_close(fact):
            return None
        predicate, (start, end) = fact
        edges = _search(self.links, start, end, self.closure.symmetric)
        return Path(self.closure, tuple(_facts(predicate, edges))) if edges else None

    def near(self, fact: Key, most: int) -> tuple[Key, ...] | None:
        """The facts that can be in a path for a fact, without itself; None if they are too many."""
        if not self.closure.can_close(fact):
            return ()
        predicate, (start, end) = fact
        turned: dict[object, list[object]] = {}
        for left, others in self.links.items():
            for right in others:
                turned.setdefault(right, []).append(left)
        after, before = _reached(self.links, start), _reached(turned, end)
        edges = (
            (left, right, turn)
            for left in after
            for right, turn in self.links.get(left, {}).items()
            if right in before
        )
        found: dict[Key, None] = {}
        for one in _facts(predicate, edges):
            _, (a, b) = one
            found[one] = None
            if self.closure.symmetric and self.links.get(b, {}).get(a) is False:
                found[predicate, (b, a)] = None  # it can be passed both ways, and is two facts
            if len(found) > most + 1:
                return None
        return tuple(one for one in found if one != fact)


def graph_of(closure: ClosedPredicate, edges: Iterable[Edge]) -> PathEdges:
    """The edges of a closure as a graph; of two between the same nodes, one not turned is kept."""
    links: dict[object, dict[object, bool]] = {}
    for left, right, turned in edges:
        others = links.setdefault(left, {})
        others[right] = turned and others.get(right, True)
    return PathEdges(closure, links)


def path_among(closure: ClosedPredicate, fact: Key, facts: Iterable[Key]) -> Path | None:
    """A shortest path for a fact that consists of some of the given facts."""
    edges: list[Edge] = []
    for _, (left, right) in facts:
        edges.append((left, right, False))
        if closure.symmetric:
            edges.append((right, left, True))
    return graph_of(closure, edges).shortest(fact)


def _facts(predicate: str, edges: Iterable[Edge]) -> Iterator[Key]:
    for left, right, turned in edges:
        yield predicate, (right, left) if turned else (left, right)


def _reached(links: Mapping[object, Iterable[object]], start: object) -> dict[object, None]:
    """A node, and what links lead to from it."""
    found = {start: None}
    waiting = [start]
    while waiting:
        for other in links.get(waiting.pop(), ()):
            if other not in found:
                found[other] = None
                waiting.append(other)
    return found


def _search(links: _Links, start: object, end: object, symmetric: bool) -> list[Edge]:
    """The edges of a shortest path, without one from start to end that is not turned.

    None if there is no path. The end can be the start.
    """
    before: dict[object, Edge] = {}
    waiting = deque([start])
    while waiting and end not in before:
        node = waiting.popleft()
        for other, turned in links.get(node, {}).items():
            if other in before:
                continue
            if (node, other, turned) == (start, end, False):
                if not symmetric or links.get(end, {}).get(start) is not False:
                    continue
                turned = True
            before[other] = (node, other, turned)
            waiting.append(other)
    edges: list[Edge] = []
    while end in before and (not edges or edges[-1][0] != start):
        edges.append(before[edges[-1][0] if edges else end])
    return edges[::-1]


# --- the edges in the file ------------------------------------------------------------------------


def edges_near(known: Known, closure: ClosedPredicate, fact: Key) -> PathEdges | None:
    """The edges that can be on the way of a fact; None if they are too many."""
    _, (start, end) = fact
    edges = known.store.rows(*_between(known, closure, start, end))
    return graph_of(closure, edges) if len(edges) <= MOST_EDGES else None


def all_edges(known: Known, closure: ClosedPredicate, most: int) -> PathEdges | None:
    """All edges of a closure; None if they are more than some."""
    consists_of = _edge_facts(known, closure)
    if consists_of.rows > most:
        return None
    key = ("edges", most, closure.hypernode, relation_key(consists_of))
    query = partial(_edges_of, known, closure)
    text = known.cache.get(key, lambda: render(_limited(query(), most)))
    edges = known.store.rows(text)
    return graph_of(closure, edges) if len(edges) <= most else None


def path_in_database(known: Known, closure: ClosedPredicate, fact: Key) -> Path | None:
    """The facts of a shortest path, which DuckDB finds, however many edges there are."""
    if not closure.can_close(fact):
        return None
    predicate, (start, end) = fact
    known.store.run(create_temp_view(_EDGES, _all_edges(known, closure)))
    edges = known.store.rows(_SHORTEST, {"start": start, "end": end})
    found = tuple(_facts(predicate, edges))
    return Path(closure, found) if found and fact not in found else None


def tree_of_edges(known: Known, closure: ClosedPredicate, root: object) -> PathEdges:
    """The edges of shortest paths from a node to all others that it is related to.

    Of a symmetric closure these are enough for a path between any two.
    """
    known.store.run(create_temp_view(_EDGES, _all_edges(known, closure)))
    edges = known.store.rows(_TREE, {"start": root})
    return graph_of(closure, [*edges, *((b, a, not turned) for a, b, turned in edges)])


def _between(
    known: Known, closure: ClosedPredicate, start: object, end: object
) -> tuple[str, dict[str, object]]:
    """SELECT the edges that can be on the way, one more than MOST_EDGES at most.

    They begin at a node that the start is related to, and end at one that is related to the end:
    nodes of the same class, unless classes lead to others.
    """
    predicate = closure.row.predicate
    (part,) = known.sources.owners(predicate)[closure.hypernode]
    relation = known.sources.relation(predicate)
    kind = SQL_TYPES[relation.columns[0].type or Type.SYMBOL]
    query = partial(_edges_of, known, closure)
    if part.read.pairs is not None and part.read.pairs.between is None:
        make, given = partial(_in_class, query, part, kind), {"start": start}
    else:
        make, given = partial(_reaching, query, relation, kind), {"start": start, "end": end}
    consists_of = relation_key(_edge_facts(known, closure))
    key = ("between", closure.hypernode, relation_key(relation), consists_of)
    text = known.cache.get(key, lambda: render(_limited(make(), MOST_EDGES)))
    return text, given


def _limited(query: exp.Select, most: int) -> exp.Select:
    return query.distinct().order_by("1", "2", "3").limit(most + 1)


def _edges_of(known: Known, closure: ClosedPredicate) -> exp.Select:
    edges = _all_edges(known, closure).subquery("e", copy=False)
    return exp.select("e.a", "e.b", "e.turned").from_(edges)


def _in_class(edges: Callable[[], exp.Select], part: Part, kind: str) -> exp.Select:
    """The edges in the class of the start."""
    assert part.read.pairs is not None
    node, class_ = (exp.column(name, table="c", quoted=True) for name in (NODE, part.read.pairs.by))
    start = exp.cast(parameter("start"), kind)
    its = exp.select(class_.copy()).from_(table(part).as_("c")).where(node.copy().eq(start))
    same = exp.and_(node.eq(exp.column("a", table="e")), class_.eq(its.subquery()))
    return edges().join(table(part).as_("c"), on=same)


def _reaching(edges: Callable[[], exp.Select], relation: Relation, kind: str) -> exp.Select:
    """The edges from the start, or what it reaches, to the end, or what reaches that."""
    first, second = (exp.column(c.name, table="p", quoted=True) for c in relation.columns)
    query = edges()
    for end, given, found, known in (("a", "start", second, first), ("b", "end", first, second)):
        own = exp.cast(parameter(given), kind)
        facts = relation_query(relation).subquery("p", copy=False)
        nodes = exp.select(found.as_("n")).from_(facts).where(known.copy().eq(own))
        reached = exp.union(nodes, exp.select(own.copy().as_("n")), distinct=True).subquery()
        same = exp.column("n", table=f"r{end}").eq(exp.column(end, table="e"))
        query = query.join(exp.alias_(reached, f"r{end}", table=True), on=same)
    return query


def _all_edges(known: Known, closure: ClosedPredicate) -> exp.Query:
    """SELECT the edges that paths consist of: `a` leads to `b`.

    `turned` tells whether the fact that it comes from leads from `b` to `a`.
    """
    relation = _edge_facts(known, closure)
    first, second = (exp.column(c.name, table="e", quoted=True) for c in relation.columns)
    queries = [_edges(relation, first, second, turned=False)]
    if closure.symmetric:
        queries.append(_edges(relation, second, first, turned=True))
    return exp.union(*queries, distinct=False) if len(queries) > 1 else queries[0]


def _edge_facts(known: Known, closure: ClosedPredicate) -> Relation:
    """The facts that paths consist of: those from outside, and those that other rules derive."""
    predicate = closure.row.predicate
    outside = known.sources.relation(predicate, without=closure.hypernode)
    if not closure.row.fed:
        return outside
    fed = known.sources.owners(external(predicate)).get(closure.hypernode, ())
    return Relation(outside.columns, (*outside.parts, *(part for part in fed if part.rows)))


def _edges(relation: Relation, a: exp.Column, b: exp.Column, *, turned: bool) -> exp.Select:
    query = exp.select(a.as_("a"), b.as_("b"), exp.convert(turned).as_("turned"))
    return query.from_(relation_query(relation).subquery("e", copy=False), copy=False)


_EDGES = "zodiac$why_edges"

_SHORTEST = """
WITH RECURSIVE reached(node, before, turned, steps) USING KEY (node) AS (
    SELECT b, min(a), bool_and(turned), 1
    FROM temp.main."zodiac$why_edges" WHERE a = $start GROUP BY b
    UNION
    SELECT e.b, min(e.a), arg_min(e.turned, (e.a, e.turned)), any_value(r.steps) + 1
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

_TREE = """
WITH RECURSIVE reached(node, before, turned) USING KEY (node) AS (
    SELECT DISTINCT a, a, false FROM temp.main."zodiac$why_edges" WHERE a = $start
    UNION
    SELECT e.b, min(e.a), arg_min(e.turned, (e.a, e.turned))
    FROM reached AS r JOIN temp.main."zodiac$why_edges" AS e ON e.a = r.node
    LEFT JOIN recurring.reached AS known ON known.node = e.b
    WHERE known.node IS NULL GROUP BY e.b
)
SELECT before, node, turned FROM reached WHERE before <> node
"""
