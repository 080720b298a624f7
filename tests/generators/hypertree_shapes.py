"""Bodies of cyclic rules as graphs of their variables: cycles, cliques, petals and flowers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import combinations, pairwise
from random import Random

from generators.programs import (
    Atom,
    Literal,
    Rule,
    Term,
    Var,
)

X, Y, Z, N, L = map(Var, "XYZNL")
VARIABLES = tuple(map(Var, "XYZUVWSTR"))  # of a shape; what is added to it is F, L, D

Edges = list[tuple[int, int]]
"""Between the numbers of variables."""


def cycle(length: int) -> Edges:
    return [(i, (i + 1) % length) for i in range(length)]


def _petal(rng: Random) -> Edges:
    """Two or three paths of two steps from 0 to 1."""
    return [edge for middle in range(2, rng.choice((4, 5))) for edge in ((0, middle), (middle, 1))]


def _flower(rng: Random) -> Edges:
    """Two cycles that share 0, and a tail that begins there."""
    found: Edges = []
    last = 0
    for length in rng.choice(((3, 3), (3, 3), (3, 4))):
        nodes = [0, *range(last + 1, last + length)]
        found += list(zip(nodes, [*nodes[1:], 0], strict=True))
        last += length - 1
    tail = [0, *range(last + 1, last + 1 + rng.choice((1, 1, 2)))]
    return found + list(pairwise(tail))


SHAPES: dict[str, Callable[[Random], Edges]] = {
    "triangle": lambda _: cycle(3),
    "square": lambda _: cycle(4),
    "pentagon": lambda _: cycle(5),
    "hexagon": lambda _: cycle(6),
    "clique": lambda _: list(combinations(range(4), 2)),
    "petal": _petal,
    "flower": _flower,
}


def shape_of(rule: Rule) -> str | None:
    """What a rule was made from, by its name; None is no cycle."""
    shape = rule.name.rstrip("0123456789")
    return shape if shape in SHAPES else None


def is_cyclic(body: Iterable[Literal]) -> bool:
    """Whether variables that stand alone, and atoms within others, can be taken away to the end."""
    edges = [_named(literal.terms) for literal in body if isinstance(literal, Atom)]
    while True:
        count = Counter(variable for edge in edges for variable in edge)
        lonely = [frozenset(v for v in edge if count[v] > 1) for edge in edges]
        kept = [e for i, e in enumerate(lonely) if not _within(e, lonely[:i], lonely[i + 1 :])]
        if kept == edges:
            return bool(edges)
        edges = kept


def _within(
    edge: frozenset[Var], before: list[frozenset[Var]], after: list[frozenset[Var]]
) -> bool:
    """Of equal ones, the last stays; what has no variables left goes."""
    return not edge or any(edge < other for other in before) or any(edge <= e for e in after)


def _named(terms: Iterable[Term]) -> frozenset[Var]:
    return frozenset(t for t in terms if isinstance(t, Var) and not t.anonymous)


def outline(rule: Rule) -> object:
    """The same for rules that differ only in variable names and the order of the body.

    Some others may have it in common, too; `programs.canonical` is exact, but tries all orders.
    """
    parts = [rule.head, *rule.body]
    colours: dict[str, int] = {}
    for _ in range(2):
        seen: dict[str, list[int]] = {}
        for index, part in enumerate(parts):
            kind = ("head" if index == 0 else "") + _outline(part, colours)
            for place, variable in enumerate(variables_of(part)):
                seen.setdefault(variable, []).append(hash((kind, place)))
        colours = {variable: hash(tuple(sorted(found))) for variable, found in seen.items()}
    return _outline(rule.head, colours), tuple(sorted(_outline(p, colours) for p in rule.body))


def _outline(part: object, colours: dict[str, int]) -> str:
    if isinstance(part, Var):
        return part.name if part.anonymous else f"V{colours.get(part.name, '')}"
    if isinstance(part, tuple):
        return ",".join(_outline(each, colours) for each in part)
    fields = getattr(part, "__dataclass_fields__", None)
    if fields is None:
        return repr(part)
    inner = ",".join(_outline(getattr(part, name), colours) for name in fields)
    return f"{type(part).__name__}({inner})"


def variables_of(part: object) -> list[str]:
    """The names of all variables of a part of a rule, in order."""
    if isinstance(part, Var):
        return [] if part.anonymous else [part.name]
    if isinstance(part, tuple):
        return [name for each in part for name in variables_of(each)]
    fields = getattr(part, "__dataclass_fields__", ())
    return [name for field_ in fields for name in variables_of(getattr(part, field_))]


def distinct(rules: Iterable[Rule]) -> bool:
    """Whether surely no two rules say the same: the second would be taken for the first one."""
    outlines = [outline(rule) for rule in rules]
    return len(set(outlines)) == len(outlines)
