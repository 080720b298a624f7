"""Random goals over the predicates of a program, and which of its rules ask them.

Goals join up to three atoms. Some columns have constants, which are often values that are there,
and some atoms are negated: so some columns of a predicate are known, and others are not.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from random import Random
from typing import Any, TypeVar

from generators.programs import Atom, Literal, Not, Var, variables_in
from generators.random_rules import chance

Columns = Mapping[str, Sequence[str]]
"""What the columns of each predicate hold. Variables stand in columns that hold the same."""

R = TypeVar("R")


def random_goals(
    rng: Random,
    columns: Columns,
    constant: Callable[[str, str, int], Any],
    favourites: Collection[str] = (),
) -> tuple[Literal, ...]:
    """Goals over some predicates, of which those that are `favourites` come first.

    `constant` gives one for a column, by what it holds, its predicate and its place.
    """
    kinds: dict[Var, str] = {}
    names = sorted(columns)
    known = rng.choice((15, 40, 70))
    body: list[Literal] = []
    for number in range(rng.choice((1, 1, 2, 2, 3))):
        some = [name for name in names if name in favourites] if number == 0 else []
        name = rng.choice(some or names)
        terms = [
            constant(kind, name, place) if chance(rng, known) else _variable(rng, kinds, kind)
            for place, kind in enumerate(columns[name])
        ]
        body.append(Atom(name, tuple(terms)))
    if chance(rng, 30):
        name = rng.choice(names)
        terms = [
            rng.choice(own)
            if (own := [v for v, one in kinds.items() if one == kind]) and chance(rng, 70)
            else Var("_")
            if chance(rng, 40)
            else constant(kind, name, place)
            for place, kind in enumerate(columns[name])
        ]
        body.append(Not(Atom(name, tuple(terms))))
    return tuple(body)


def _variable(rng: Random, kinds: dict[Var, str], kind: str) -> Var:
    known = [variable for variable, one in kinds.items() if one == kind]
    if known and chance(rng, 50):
        return rng.choice(known)
    if chance(rng, 10):
        return Var("_")
    variable = Var(f"G{len(kinds)}")
    kinds[variable] = kind
    return variable


def named_variables(body: Sequence[Literal]) -> list[Var]:
    """The variables of goals, in the order of the answer."""
    return [v for v in dict.fromkeys(variables_in(tuple(body))) if not v.anonymous]


def shared_out(rng: Random, rules: Sequence[R]) -> tuple[list[R], list[R]]:
    """The rules of a knowledge base, and those of a question; mostly all are the question's."""
    whole = chance(rng, 50)
    share = rng.choice((30, 60, 90))
    own = [whole or chance(rng, share) for _ in rules]
    kept = [rule for rule, asked in zip(rules, own, strict=True) if not asked]
    return kept, [rule for rule, asked in zip(rules, own, strict=True) if asked]
