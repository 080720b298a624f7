"""Which class expressions are below others because of their parts.

`p some A` is below `p some B` if A is below B; the other rules are alike.

These are the rules for `wider` in schema.rules, with the same result. They are here once more
because every translation needs them: a new version of an ontology takes milliseconds in Python, and
a third of a second in a database in memory.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from itertools import product

from zodiac_sql.ontology import vocabulary as v
from zodiac_sql.ontology.graph import Graph
from zodiac_sql.ontology.schema import Facts, facts_of
from zodiac_sql.ontology.triples import Node

Wider = tuple[Node, Node, str]
"""An expression, one that contains it, and the rule of the W3C that says so."""


def wider_expressions(graph: Graph) -> list[Wider]:
    """The pairs of expressions of which the first is below the second because of their parts."""
    facts = facts_of(graph)
    if not any(facts.get(kind) for kind in ("some", "only", "value")):
        return []
    properties = _Order(facts.get("under", ()))
    below = [*facts.get("below", ()), *facts.get("intersection", ())]
    below += [(member, whole) for whole, member in facts.get("union", ())]
    found: set[Wider] = set()
    while True:
        classes = _Order([*below, *((sub, sup) for sub, sup, _ in found)], v.THING, v.NOTHING)
        more = set(_wider(facts, classes, properties)) - found
        if not more:
            return sorted(found)
        found |= more


class _Order:
    """What is within what: the reflexive and transitive closure of some edges."""

    def __init__(self, edges: Iterable[tuple[str, ...]], top: str = "", bottom: str = "") -> None:
        self._above: dict[str, set[str]] = defaultdict(set)
        for sub, sup in edges:
            self._above[sub].add(sup)
        self._top, self._bottom = top, bottom

    def pairs(self, things: Collection[str]) -> Iterator[tuple[str, str]]:
        """The pairs of these things of which the first is within the second."""
        for one in things:
            if one == self._bottom:
                yield from ((one, other) for other in things)
                continue
            reached, waiting = {one}, [one]
            while waiting and len(things) > 1:
                following = self._above.get(waiting.pop(), set()) - reached
                reached |= following
                waiting += following
            yield from ((one, other) for other in things if other in reached or other == self._top)


def _wider(facts: Facts, classes: _Order, properties: _Order) -> Iterator[Wider]:
    """The pairs that follow from what is within what so far."""
    for kind, of_fillers, of_properties in (
        ("some", "scm-svf1", "scm-svf2"),
        ("only", "scm-avf1", "scm-avf2"),
        ("value", "", "scm-hv"),
    ):
        by_property: dict[str, dict[str, list[Node]]] = defaultdict(lambda: defaultdict(list))
        by_filler: dict[str, dict[str, list[Node]]] = defaultdict(lambda: defaultdict(list))
        for node, on, filler in facts.get(kind, ()):
            by_property[on][filler].append(node)
            by_filler[filler][on].append(node)
        if of_fillers:
            for fillers in by_property.values():
                for sub, sup in _expressions(fillers, classes):
                    yield sub, sup, of_fillers
        for names in by_filler.values():
            for sub, sup in _expressions(names, properties):
                yield (sup, sub, of_properties) if kind == "only" else (sub, sup, of_properties)


def _expressions(parts: dict[str, list[Node]], order: _Order) -> Iterator[tuple[Node, Node]]:
    """The pairs of different expressions of whose parts the first is within the second."""
    for small, large in order.pairs(parts):
        for sub, sup in product(parts[small], parts[large]):
            if sub != sup:
                yield sub, sup
