"""owl:sameAs between classes or between properties: it makes them equivalent, too.

By the rules eq-rep-p and eq-rep-o, what is said of one holds for the other. For things of which
only members and pairs count, this is what owl:equivalentClass and owl:equivalentProperty say. Names
of classes and properties may also be individuals. So the statement itself stays what it is, and the
equivalence stands beside it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from zodiac_sql.ontology import vocabulary as v
from zodiac_sql.ontology.graph import Graph
from zodiac_sql.ontology.triples import Node, Triple, is_blank

_EQUIVALENT = {1: f"{v.OWL}equivalentClass", 2: f"{v.OWL}equivalentProperty"}


def equivalences(graph: Graph) -> dict[Triple, Triple]:
    """The statements with owl:sameAs that are about classes or properties, and what they mean."""
    same = [t for t in graph.uses(v.SAME_AS) if isinstance(t.object, str)]
    kinds = _kinds(graph, same) if same else {}
    return {
        triple: replace(triple, predicate=_EQUIVALENT[kind], written=triple.predicate)
        for triple in same
        if (kind := _kind(graph, kinds, triple.subject, str(triple.object)))
    }


def with_equivalences(graph: Graph, equal: Mapping[Triple, Triple]) -> Graph:
    """All statements; beside those with owl:sameAs stand the equivalences."""
    if not equal:
        return graph
    both = ((t, equal[t]) if t in equal else (t,) for t in graph.triples)
    return Graph([triple for each in both for triple in each])


def _kind(graph: Graph, kinds: Mapping[Node, int], one: Node, other: Node) -> int | None:
    """The arity of two names that are the same, if both are classes or properties."""
    found = kinds.get(one) or kinds.get(other)
    known = (node in kinds or _is_expression(graph, node) for node in (one, other))
    return found if all(known) else None


def _is_expression(graph: Graph, node: Node) -> bool:
    return is_blank(node) and any(t.predicate in v.SCHEMA_PROPERTIES for t in graph.about(node))


def _kinds(graph: Graph, same: Iterable[Triple]) -> dict[Node, int]:
    """The arities of names, also of those that are only said to be the same as others.

    A name alone has the arity of one that it is said to be the same as. Several names that are the
    same have it only if nothing is said of any as an individual: else they are equal individuals.
    """
    known = graph.arities
    near: dict[Node, list[Node]] = defaultdict(list)
    for triple in same:
        near[triple.subject].append(str(triple.object))
        near[str(triple.object)].append(triple.subject)
    found, individuals = dict(known), _individuals(graph)
    for group in _groups(near, known):
        arity = next((known[o] for name in group for o in near[name] if o in known), None)
        if arity and (len(group) == 1 or individuals.isdisjoint(group)):
            found |= dict.fromkeys(group, arity)
    return found


def _groups(near: Mapping[Node, Sequence[Node]], known: Container[Node]) -> Iterator[list[Node]]:
    """The names without a known arity, in groups that statements among themselves join."""
    left = dict.fromkeys(name for name in near if name not in known and not is_blank(name))
    while left:
        group = [left.popitem()[0]]
        for name in group:  # it grows meanwhile
            for other in near[name]:
                if other in left:
                    del left[other]
                    group.append(other)
        yield group


def _individuals(graph: Graph) -> set[Node]:
    """The names of which something is said that is not about classes, properties or equality."""
    found: set[Node] = set()
    for triple in graph.triples:
        if triple.predicate == v.TYPE:
            if not str(triple.object).startswith((v.RDF, v.RDFS, v.OWL)):
                found.add(triple.subject)
        elif triple.predicate not in _ABOUT_NAMES:
            found |= {triple.subject, str(triple.object)}
    return found


_ABOUT_NAMES = v.SCHEMA_PROPERTIES | v.ANNOTATIONS | {v.SAME_AS}
