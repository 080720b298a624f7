"""The rule dependency graph (RDG) and its strongly connected components.

Paper 1, section 2.1: vertices are rules; (r, r') is a positive edge when the predicate of r's head
occurs positively in the body of r', and a negative edge when it occurs under a negation. An
aggregate needs its body complete, as a negation does, so its edges are negative too.

Rules with MIN or MAX for one predicate depend on each other: which value is the best is known only
when all of them have been applied. So positive edges lead in a circle through them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from zodiac_sql.graph.digraph import shortest_path, strong_components
from zodiac_sql.graph.matching import may_match
from zodiac_sql.language.syntax import Atom, Rule


@dataclass(frozen=True, slots=True)
class RuleGraph:
    """RDG = (V, Ep, En); edges are pairs of rule names."""

    rules: tuple[Rule, ...]
    positive: frozenset[tuple[str, str]]
    negative: frozenset[tuple[str, str]]
    by_constants: bool = False
    """Whether a rule depends only on those rules for a predicate whose heads can match what it
    reads (graph/matching.py)."""


def rule_graph(rules: Sequence[Rule]) -> RuleGraph:
    """The RDG of a set of rules.

    As in paper 1, edges go by predicates. Only if the rules are not stratified so, they go by atoms
    that can match, as in SHACL rules: `status(X, good) :- part(X), not status(X, bad)`.
    """
    graph = dependencies(rules, by_constants=False)
    return dependencies(rules, by_constants=True) if negative_cycles(graph) else graph


def dependencies(rules: Sequence[Rule], by_constants: bool) -> RuleGraph:
    """The RDG by predicates, or by atoms that can match."""
    deriving: dict[str, list[Rule]] = defaultdict(list)
    for rule in rules:
        deriving[rule.head.predicate].append(rule)

    def edges(rule: Rule, atoms: Iterable[Atom]) -> Iterator[tuple[str, str]]:
        for atom in atoms:
            for source in deriving.get(atom.predicate, ()):
                if not by_constants or source.best or may_match(source.head, atom):
                    yield source.name, rule.name

    positive = {edge for rule in rules for edge in edges(rule, rule.positive_atoms())}
    positive |= _circles(rules, deriving)
    negative = {edge for rule in rules for edge in edges(rule, rule.negative_atoms())}
    return RuleGraph(tuple(rules), frozenset(positive), frozenset(negative), by_constants)


def _circles(rules: Sequence[Rule], deriving: Mapping[str, Sequence[Rule]]) -> set[tuple[str, str]]:
    """Edges in a circle through the rules of each predicate that has MIN or MAX."""
    circles = (
        [r.name for r in deriving[p]] for p in {rule.head.predicate for rule in rules if rule.best}
    )
    return {
        edge
        for names in circles
        if len(names) > 1
        for edge in zip(names, (*names[1:], names[0]), strict=True)
    }


def components(graph: RuleGraph) -> list[tuple[str, ...]]:
    """Strongly connected components over all edges, each in the order of the rules."""
    position = {rule.name: index for index, rule in enumerate(graph.rules)}
    found = strong_components(position, graph.positive | graph.negative)
    return sorted(
        (tuple(sorted(part, key=position.__getitem__)) for part in found),
        key=lambda part: position[part[0]],
    )


def negative_cycles(graph: RuleGraph) -> list[tuple[str, ...]]:
    """For each component that holds a negative edge, one cycle of rule names through it."""
    if not graph.negative:
        return []
    edges = sorted(graph.positive | graph.negative)
    cycles = []
    for part in components(graph):
        inside = set(part)
        for source, target in sorted(graph.negative):
            if source in inside and target in inside:
                # The way back lies in the component: else its ends would not be in it.
                cycles.append(tuple(shortest_path(edges, target, source)))
                break
    return cycles
