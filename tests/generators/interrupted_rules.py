"""Rules of many forms, each with what it derives, written once more in plain Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

Row = tuple[object, ...]
Facts = Mapping[str, set[tuple]]  # type: ignore[type-arg]  # pairs, triples, all that rules join

EXPLICIT = {"edge": "ss", "road": "ssi", "value": "sf", "mark": "s", "alone": "si"}
"""The predicates with explicit facts: symbols, ints and floats in their columns."""

DECLARATIONS = """
.decl edge(x: symbol, y: symbol)
.decl road(x: symbol, y: symbol, n: int)
.decl value(x: symbol, v: float)
.decl mark(x: symbol)
.decl alone(x: symbol, n: int)
"""

BEST = "dist"
"""The predicate with MIN in its heads: of each group the least value is a fact."""


@dataclass(frozen=True)
class Written:
    """A rule: its text, its head's predicate, and what it derives of facts.

    Rules of a lower level come first; those of one level are applied until nothing new comes.
    """

    text: str
    head: str
    level: int
    derived: Callable[[Facts], Iterable[Row]]


def _groups(facts: Iterable[tuple[object, object]]) -> dict[object, set[object]]:
    """The last values by the first ones."""
    found: dict[object, set[object]] = {}
    for key, value in facts:
        found.setdefault(key, set()).add(value)
    return found


def _sums(facts: Facts) -> Iterable[Row]:
    nodes = {x for x, _, _ in facts["road"]}
    return ((x, sum(n for a, _, n in facts["road"] if a == x)) for x in nodes)


RULES = {
    "p1": Written("path(X, Y) :- edge(X, Y).", "path", 0, lambda f: f["edge"]),
    "p2": Written(
        "path(X, Z) :- path(X, Y), edge(Y, Z).", "path", 0,
        lambda f: ((x, z) for x, y in f["path"] for a, z in f["edge"] if a == y),
    ),
    "n1": Written(
        "near(X, Y) :- edge(X, Y), mark(X).", "near", 0,
        lambda f: ((x, y) for x, y in f["edge"] if (x,) in f["mark"]),
    ),
    "n2": Written("near(X, Y) :- near(Y, X).", "near", 0, lambda f: ((y, x) for x, y in f["near"])),
    "n3": Written(
        "near(X, Z) :- near(X, Y), near(Y, Z), X != Z.", "near", 0,
        lambda f: ((x, z) for x, y in f["near"] for a, z in f["near"] if a == y and x != z),
    ),
    "d1": Written("dist(X, MIN(0)) :- mark(X).", BEST, 0, lambda f: ((x, 0) for (x,) in f["mark"])),
    "d2": Written(
        "dist(Y, MIN(D + N)) :- dist(X, D), road(X, Y, N).", BEST, 0,
        lambda f: ((y, d + n) for x, d in f[BEST] for a, y, n in f["road"] if a == x),
    ),
    "c1": Written(
        "count(X, N) :- AGGREGATE(path(X, Y)) ON X WITH COUNT(Y) AS N.", "count", 1,
        lambda f: ((x, len(ys)) for x, ys in _groups(f["path"]).items()),
    ),
    "s1": Written(
        "total(X, S) :- AGGREGATE(road(X, Y, N)) ON X WITH SUM(N) AS S.", "total", 1, _sums
    ),
    "l1": Written(
        "lonely(X) :- mark(X), not path(X, _).", "lonely", 1,
        lambda f: ((x,) for (x,) in f["mark"] if all(x != a for a, _ in f["path"])),
    ),
    "b1": Written(
        "big(X, D) :- value(X, V), D = V - 30, D > 0.", "big", 1,
        lambda f: ((x, v - 30) for x, v in f["value"] if v - 30 > 0),
    ),
    "a1": Written(
        "alarm(X) :- big(X, _), count(X, N), N > 2.", "alarm", 2,
        lambda f: ((x,) for x, _ in f["big"] for a, n in f["count"] if a == x and n > 2),
    ),
    "a2": Written(
        "alarm(X) :- mark(X), alone(X, 5).", "alarm", 2,
        lambda f: ((x,) for (x,) in f["mark"] if (x, 5) in f["alone"]),
    ),
    "t1": Written(
        "three(X, Y, Z) :- edge(X, Y), edge(Y, Z), edge(Z, X).", "three", 2,
        lambda f: (
            (x, y, z)
            for x, y in f["edge"] for a, z in f["edge"] if a == y and (z, x) in f["edge"]
        ),
    ),
    "m1": Written(
        "made(X, Z, S) :- edge(X, Y), road(Y, Z, N), S = N * 2 + 1.", "made", 2,
        lambda f: ((x, z, n * 2 + 1) for x, y in f["edge"] for a, z, n in f["road"] if a == y),
    ),
    "f1": Written(
        "far(X) :- dist(X, D), D > 9, not lonely(X).", "far", 2,
        lambda f: ((x,) for x, d in f[BEST] if d > 9 and (x,) not in f["lonely"]),
    ),
}  # fmt: skip
"""Recursion, closures, MIN in heads, aggregates, negation, computed values, joins."""

PREDICATES = (*EXPLICIT, *sorted({rule.head for rule in RULES.values()}))
