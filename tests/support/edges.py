"""Closures of a few edges: their rules, and what follows by plain Python."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

Pairs = set[tuple[int, int]]

COPY = "tc(X, Y) :- edge(X, Y)."
LEFT = f"{COPY} tc(X, Z) :- tc(X, Y), edge(Y, Z)."
RIGHT = f"{COPY} tc(X, Z) :- edge(X, Y), tc(Y, Z)."
SEEDS = f"{LEFT} tc(X, Y) :- seed(X, Y)."
TRANSITIVE = f"{COPY} tc(X, Z) :- tc(X, Y), tc(Y, Z)."
UNEQUAL = f"{COPY} tc(X, Z) :- tc(X, Y), tc(Y, Z), X != Z."
RULES = {"left": LEFT, "right": RIGHT, "seeds": SEEDS, "module": TRANSITIVE, "unequal": UNEQUAL}


def closed(rules: str, edges: Pairs, seeds: Pairs) -> Pairs:
    """What the rules say, step by step."""
    found = edges | seeds
    while True:
        first, second = (edges, found) if rules == RIGHT else (found, edges)
        if rules in (TRANSITIVE, UNEQUAL):
            second = found
        new = {(a, d) for a, b in first for c, d in second if b == c} - found
        new -= {(a, b) for a, b in new if a == b and rules == UNEQUAL}
        if not new:
            return found
        found |= new


def pairs(chance: random.Random, nodes: int, count: int) -> Pairs:
    """Random edges, loops among them."""
    return {(chance.randrange(nodes), chance.randrange(nodes)) for _ in range(count)}


def begin(
    kb: KnowledgeBase, name: str, chance: random.Random, nodes: int, count: int
) -> tuple[Pairs, Pairs]:
    """Add rules by their name, random edges, and what else the rules begin with: returns both."""
    edges, seeds = pairs(chance, nodes, count), Pairs()
    kb.add_rules(RULES[name])
    kb.insert("edge", edges)
    if name == "seeds":
        kb.insert("seed", seeds := pairs(chance, nodes, 3))
    elif name == "module":
        kb.insert("tc", seeds := pairs(chance, nodes, 1))
    return edges, seeds
