"""The HRDG after a change of few rules, made of the one before.

Finding all components, strata and an order anew takes a fifth of a second for the five thousand
rules of an ontology. Mostly that is not needed: a rule that joins no cycle is a hypernode of its
own, which can be put in anywhere after those that it reads and before those that read it; and what
is left after such a hypernode goes is still in order.
"""

from __future__ import annotations

from collections.abc import Sequence

from zodiac_sql.graph.hypergraph import Hypergraph, Hypernode, hypergraph
from zodiac_sql.graph.restructuring import kept_rules
from zodiac_sql.language.syntax import Rule

MOST_RULES = 20
"""More rules than this are no small change."""


def following(
    before: Hypergraph,
    rules: Sequence[Rule],
    came: Sequence[Rule],
    gone: Sequence[Rule],
    fresh: int,
) -> Hypergraph:
    """The HRDG of rules, of which some came and others are gone since the one before."""
    graph = with_few_others(before, came, gone, fresh)
    return graph or hypergraph(rules, kept_rules(before, rules), fresh)


def with_few_others(
    before: Hypergraph, came: Sequence[Rule], gone: Sequence[Rule], fresh: int
) -> Hypergraph | None:
    """The HRDG after some rules came and went; None if it must be made anew.

    It must where a hypernode of several rules is concerned, where a rule might join a cycle (of
    rules with MIN or MAX for one predicate, too), and where something derived is negated, because
    hypernodes would be in other strata, and edges may go by constants. New hypernodes are numbered
    from `fresh`.
    """
    if not before.hypernodes or len(came) + len(gone) > MOST_RULES:
        return None
    derived = before.derivers.keys() | {rule.head.predicate for rule in came}
    if not all(derived.isdisjoint(rule.negative()) for rule in (*before.rules(), *came)):
        return None
    names = {rule.name for rule in gone}
    going = [h for h in before.hypernodes if not names.isdisjoint(rule.name for rule in h.rules)]
    if any(len(h.rules) > 1 for h in going):
        return None
    numbers = {h.id for h in going}
    left = [h for h in before.hypernodes if h.id not in numbers]
    edges = before.positive
    if numbers:
        edges = frozenset((a, b) for a, b in edges if a not in numbers and b not in numbers)
    graph = Hypergraph(tuple(left), edges)
    for number, rule in enumerate(came, start=fresh):
        following = _with_one(graph, rule, number)
        if following is None:
            return None
        graph = following
    return graph


def _with_one(graph: Hypergraph, rule: Rule, number: int) -> Hypergraph | None:
    """An HRDG with one more rule, as a hypernode of its own; None if it might join a cycle."""
    head, body = rule.head.predicate, rule.positive()
    nodes = graph.hypernodes
    if head in body or (rule.best and head in graph.derivers):
        return None
    read = [i for i, h in enumerate(nodes) if not body.isdisjoint(h.derives)]
    reading = [i for i, h in enumerate(nodes) if head in h.reads]
    place = min(reading, default=len(nodes))
    if read and read[-1] >= place:
        return None
    new = Hypernode(number, (rule,), False, 0)
    edges = {(nodes[i].id, number) for i in read} | {(number, nodes[i].id) for i in reading}
    return Hypergraph((*nodes[:place], new, *nodes[place:]), graph.positive | edges)
