"""All instances of a program's rules, by brute force, and how high a proof must be at least."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from math import prod

from generators.programs import Atom, Literal, Rule, Var
from support import naive
from support.naive_values import Value
from support.proof_world import Ground, World, positive

Heights = dict[Ground, int]


@dataclass(frozen=True)
class Instance:
    """A rule with values for its variables: the fact that it derives, and its body's facts."""

    rule: str
    head: Ground
    uses: tuple[Ground, ...]
    values: tuple[tuple[str, Value], ...]
    """The named variables by their names, with their values."""


MOST_TRIED = 20_000
"""Brute force is for programs whose rules have at most so many combinations of facts to try."""


def is_small(world: World) -> bool:
    """Whether brute force takes a short time."""
    tried = 0
    for rule in world.rules.values():
        sizes = (max(1, len(world.known[atom.predicate])) for atom in positive(rule.body))
        tried += prod(sizes)
    return tried <= MOST_TRIED


def all_instances(world: World) -> list[Instance]:
    """Every instance of every rule, each once."""
    found = (one for rule in world.rules.values() for one in instances(world, rule))
    return list(dict.fromkeys(found))


def instances(world: World, rule: Rule) -> Iterator[Instance]:
    """Those of one rule; the same one may come more than once.

    Each fact gets its number as one more column, so that a solution tells which facts it used.
    """
    atoms = positive(rule.body)
    numbered = {name: sorted(rows, key=repr) for name, rows in world.known.items()}
    known, types = dict(world.known), dict(world.types)
    tagged: list[Atom] = []
    for at, atom in enumerate(atoms):
        name = f"{atom.predicate}, numbered"
        known[name] = {(*row, number) for number, row in enumerate(numbered[atom.predicate])}
        types[name] = (*world.types[atom.predicate], "int")
        tagged.append(Atom(name, (*atom.terms, Var(f"_{at}"))))
    others = [literal for literal in rule.body if not isinstance(literal, Atom)]
    for solution in naive.solutions([*_easy_first(tagged), *others], known, types):
        uses = tuple(
            (atom.predicate, numbered[atom.predicate][solution[Var(f"_{at}")]])  # type: ignore[index]
            for at, atom in enumerate(atoms)
        )
        values = sorted((v.name, value) for v, value in solution.items() if v.name[0] != "_")
        head = (rule.head.predicate, world.head(rule, solution))
        yield Instance(rule.name, head, uses, tuple(values))


def _easy_first(atoms: Sequence[Atom]) -> list[Literal]:
    """The atoms so that each has as many known values as possible: naive joins in this order."""
    left, bound = list(atoms), set[Var]()
    ordered: list[Literal] = []
    while left:
        best = max(left, key=lambda atom: _known(atom, bound))
        left.remove(best)
        ordered.append(best)
        bound |= {term for term in best.terms if isinstance(term, Var)}
    return ordered


def _known(atom: Atom, bound: Collection[Var]) -> int:
    return sum(not isinstance(term, Var) or term in bound for term in atom.terms)


def minimum_heights(every: Sequence[Instance], world: World) -> Heights:
    """How high the lowest proof of each fact is: 0 if it is explicit, else 1 more than the highest
    of the facts in the body of the best instance. A body without facts counts as explicit.
    """
    heights: Heights = {fact: 0 for fact in world.facts() if world.is_explicit(fact)}
    changed = True
    while changed:
        changed = False
        for one in every:
            if all(use in heights for use in one.uses):
                height = 1 + max((heights[use] for use in one.uses), default=0)
                if height < heights.get(one.head, height + 1):
                    heights[one.head] = height
                    changed = True
    return heights
