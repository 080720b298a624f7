"""The graphs before and after a change as one: signs and colours tell what is new, gone, changed.

A hypernode that is there before and after stands where it stands afterwards. Those that went stay
in the picture, and so do their edges, unless one would lead upwards in it: what depends on what may
have turned round.
"""

from __future__ import annotations

from collections import defaultdict

from zodiac_sql.graph.digraph import topological_order
from zodiac_sql.graph.hypergraph import Hypergraph, Hypernode
from zodiac_sql.read.drawing.contents import Contents
from zodiac_sql.read.drawing.panel import GONE, NEGATIVE, NEW, POSITIVE, SAME, Fates, Panel

_Edges = dict[tuple[int, int, str], str]
"""What became of edges, by their ends and kind."""


def merged(old: Panel, new: Panel, contents: Contents) -> Panel:
    """One panel of two."""
    before, after = old.graph, new.graph
    gone = [h for h in before.hypernodes if h.id not in after.by_id]
    nodes = [*after.hypernodes, *gone]
    edges = _edges(before, after, {h.id: h.stratum for h in nodes})
    graph = Hypergraph(
        tuple(_with_lost_predicates(h, before, after) for h in _in_order(nodes, edges)),
        frozenset((a, b) for a, b, kind in edges if kind == POSITIVE),
        frozenset((a, b) for a, b, kind in edges if kind == NEGATIVE),
    )
    went = {h.id: old.mark(h) for h in gone}
    edges |= _inputs(graph, before, after, contents)
    fates = Fates(edges, _predicates(before, after))
    modules = {**{h.id: old.modules.get(h.id, ()) for h in gone}, **new.modules}
    return Panel(
        graph, marks={**new.marks, **went}, modules=modules, contents=contents, fates=fates
    )


def _in_order(nodes: list[Hypernode], edges: _Edges) -> list[Hypernode]:
    """Each hypernode after those that edges come from."""
    places = {h.id: place for place, h in enumerate(nodes)}
    pairs = {(places[source], places[target]) for source, target, _ in edges}
    order = topological_order(len(nodes), pairs, lambda place: (nodes[place].stratum, place))
    return [nodes[place] for place in order]


def _edges(before: Hypergraph, after: Hypergraph, strata: dict[int, int]) -> _Edges:
    """All edges that can be drawn downwards: those after the change, and those that went."""
    there, here = _kinds(before), _kinds(after)
    found: _Edges = {edge: SAME if edge in there else NEW for edge in here}
    below = defaultdict(set)
    for source, target, _ in here:
        below[source].add(target)
    for source, target, kind in sorted(there - here):
        if strata[source] <= strata[target] and not _leads(below, target, source):
            found[source, target, kind] = GONE
            below[source].add(target)
    return found


def _kinds(graph: Hypergraph) -> set[tuple[int, int, str]]:
    return {(a, b, POSITIVE) for a, b in graph.positive} | {
        (a, b, NEGATIVE) for a, b in graph.negative
    }


def _leads(below: dict[int, set[int]], start: int, end: int) -> bool:
    """Whether edges lead from one hypernode to another."""
    seen, waiting = {start}, [start]
    while waiting:
        here = waiting.pop()
        if here == end:
            return True
        waiting += below[here] - seen
        seen |= below[here]
    return False


def _with_lost_predicates(h: Hypernode, before: Hypergraph, after: Hypergraph) -> Hypernode:
    """A hypernode with the rules of predicates that nothing derives any more, to show these."""
    former = before.by_id.get(h.id)
    if former is None or h.id not in after.by_id:
        return h
    lost = [rule for rule in former.rules if rule.head.predicate not in after.derivers]
    return Hypernode(h.id, (*h.rules, *lost), h.recursive, h.stratum)


def _predicates(before: Hypergraph, after: Hypergraph) -> dict[tuple[int, str], str]:
    """What became of the predicates of hypernodes: those that rules derive since, or no longer."""
    fates = {}
    for graph, other, sign in ((before, after, GONE), (after, before, NEW)):
        for h in graph.hypernodes:
            fates.update({(h.id, name): sign for name in h.derives if name not in other.derivers})
    return fates


def _inputs(graph: Hypergraph, before: Hypergraph, after: Hypergraph, contents: Contents) -> _Edges:
    """What became of the edges from explicit facts."""
    fates: _Edges = {}
    for box in contents.inputs(graph):
        for number, kind in (
            *((number, POSITIVE) for number in box.positive),
            *((number, NEGATIVE) for number in box.negative),
        ):
            there, here = (
                any(h.id == number for name in box.predicates for h in one.readers.get(name, ()))
                for one in (before, after)
            )
            fates[box.id, number, kind] = SAME if there and here else GONE if there else NEW
    return fates
