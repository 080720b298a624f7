"""Why a best value moved that rests on itself, so that no cause of its move is a fact beside it.

If p(a) is the least of p(b) and 5, and p(b) is the least of 100 and p(a), then p(a, 5) enters
because p(b, 5) does, and p(b, 5) because p(a, 5) does. What really made p(a, 5) enter is what its
proof rests on: values that were the best for a time (best_ranks.py), and below them facts of other
predicates, some of which have moved.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from zodiac_sql.database.statement_cache import StatementCache
from zodiac_sql.evaluate.rule_errors import evaluating_all
from zodiac_sql.read.why.asked import Instance, Key, Known, uses
from zodiac_sql.read.why.best_ranks import every_best
from zodiac_sql.read.why.evaluated_again import Order
from zodiac_sql.storage.sources import own


def with_all_values(known: Known, number: int) -> Order:
    """A hypernode evaluated again, with all values that were the best of their group for a time."""
    hypernode = known.graph[number]
    context = known.context(lambda name, version: known.sources.relation(name))
    with evaluating_all(known.store, hypernode, known.sources):
        found = every_best(known.store, hypernode, known.schema, context)
    sources = own(known.sources)
    for name in hypernode.bests:
        part = found.parts.get(name)
        sources.explicit[name] = ()
        sources.put(name, number, (part,) if part else ())
    return Order(number, replace(known, sources=sources, cache=StatementCache()), {}, {})


def steps_below(order: Order, fact: Key) -> Mapping[Key, Instance] | None:
    """A rule instance for a fact of the hypernode, and for each of its facts below that."""
    derives = order.known.graph[order.hypernode].bests
    found: dict[Key, Instance] = {}
    frontier = [fact]
    while frontier:
        for predicate in dict.fromkeys(name for name, _ in frontier):
            if not order.take(predicate, [f for f in frontier if f[0] == predicate]):
                return None
        steps = order.next()
        if steps is None:
            return None
        new = {key: by for key, by in steps.items() if isinstance(by, Instance)}
        found |= new
        below = (use for by in new.values() for use in uses(order.known, by))
        frontier = [use for use in dict.fromkeys(below) if use[0] in derives and use not in found]
    return found
