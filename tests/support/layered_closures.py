"""Small closures that are evaluated in layers as large ones are, and what they are by sets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import product
from random import Random

import pytest

from zodiac_sql.cost import closures

from .as_if_large import as_if_large
from .earnings import without_earnings

Pairs = set[tuple[int, int]]

LEFT = "r(X, Y) :- e(X, Y). r(X, Z) :- r(X, Y), e(Y, Z)."
RIGHT = "r(X, Y) :- e(X, Y). r(X, Z) :- e(X, Y), r(Y, Z)."
SQUARE = "r(X, Y) :- e(X, Y). r(X, Z) :- r(X, Y), r(Y, Z)."
SELF = "r(X, Z) :- r(X, Y), e(Y, Z)."
FED = "r(X, Z) :- r(X, Y), e(Y, Z). e(X, Y) :- f(X, Y)."
RULES = (LEFT, RIGHT, SQUARE, SELF, FED)


@contextmanager
def large_pairs(forced: Iterable[str] | None = None) -> Iterator[None]:
    """Treats tables as large ones, but keeps closures as pairs, and looks up nothing in copies:
    components and look-ups have their own tests.
    """
    with as_if_large(True, forced), pytest.MonkeyPatch.context() as patch:
        patch.setattr(closures, "LEAST_PAIRS", 10**15)
        without_earnings(patch)
        yield


def some_pairs(chance: Random, number: int, cyclic: bool, nodes: int) -> Pairs:
    """Random pairs of nodes; unless `cyclic`, from smaller to larger ones."""
    pairs = {(chance.randrange(nodes), chance.randrange(nodes)) for _ in range(number)}
    return pairs if cyclic else {(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]}


def closure(rules: str, facts: dict[str, Pairs]) -> Pairs:
    """The facts of r, by sets of Python."""
    edges = facts["e"] | (facts["f"] if rules == FED else set())
    found = facts["r"] | (set() if rules in (SELF, FED) else edges)
    while more := set(_joined(found, found if rules == SQUARE else edges, rules)) - found:
        found |= more
    return found


def _joined(found: Pairs, edges: Pairs, rules: str) -> Iterator[tuple[int, int]]:
    for (a, b), (c, d) in product(found, edges):
        if rules == RIGHT and d == a:
            yield c, b
        elif rules != RIGHT and b == c:
            yield a, d
