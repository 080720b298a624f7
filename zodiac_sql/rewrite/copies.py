"""Rules that only copy facts, perhaps with columns in another order.

    p(X, Y) :- q(Y, X).        q(X, Y) :- p(Y, X).

All that such rules derive of a predicate are facts that reach one of them from outside, each in
some order of its columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.language.schema import Schema
from zodiac_sql.language.syntax import Atom, Rule, Variable

MOST_SOURCES = 16
"""Where a predicate has more sources than this, rounds do it: a statement would unite them all."""

Order = tuple[int, ...]
"""For each column of a copy, the place of that column in what is copied."""

Sources = Mapping[tuple[str, Order], int]
"""From which predicates the facts come, in which order, and by how many rules at least."""


def sources_in(hypernode: Hypernode, schema: Schema) -> dict[str, Sources] | None:
    """The sources of each predicate, or None if rules do anything else than copy."""
    if hypernode.bests:
        return None
    orders = [order for rule in hypernode.rules if (order := order_of(rule, schema)) is not None]
    if len(orders) < len(hypernode.rules):
        return None
    steps = [
        _Step(rule.head.predicate, next(rule.positive_atoms()).predicate, order)
        for rule, order in zip(hypernode.rules, orders, strict=True)
    ]
    sources = {name: _sources(name, steps) for name in hypernode.derives}
    return None if any(len(s) > MOST_SOURCES for s in sources.values()) else sources


@dataclass(frozen=True, slots=True)
class _Step:
    """A rule: what it derives, of what, and in which order of columns."""

    head: str
    body: str
    order: Order


def order_of(rule: Rule, schema: Schema) -> Order | None:
    """The order in which a rule copies columns; None if that is not all that it does."""
    order = _order(rule)
    if order is None:
        return None
    (body,) = rule.positive_atoms()
    there, here = (schema[name].columns for name in (body.predicate, rule.head.predicate))
    same = all(there[place].type == column.type for place, column in zip(order, here, strict=True))
    return order if same else None


def copied(rule: Rule) -> str | None:
    """What a rule R(x, y) :- E(x, y) copies; None for any other rule."""
    order = _order(rule)
    if not order or order != tuple(range(len(order))):
        return None
    return next(rule.positive_atoms()).predicate


def _order(rule: Rule) -> Order | None:
    """The same as `order_of`, whatever the types of columns."""
    if len(rule.body) != 1 or not isinstance(rule.body[0], Atom):
        return None
    body, head = rule.body[0].terms, rule.head.terms
    if len(set(body)) < len(body) or not all(isinstance(term, Variable) for term in body):
        return None
    if len(head) != len(body) or set(head) != set(body):
        return None
    return tuple(body.index(term) for term in head)


def _sources(predicate: str, steps: list[_Step]) -> Sources:
    """Where the facts of a predicate come from."""
    found: dict[tuple[str, Order], int] = {}
    last = [(step.body, step.order) for step in steps if step.head == predicate]
    while last and len(found) <= MOST_SOURCES:
        number = max(found.values(), default=0) + 1
        found.update({source: number for source in last if source not in found})
        last = [
            source
            for name, order in [key for key, after in found.items() if after == number]
            for step in steps
            if step.head == name
            if (source := (step.body, tuple(step.order[place] for place in order))) not in found
        ]
    return found
