"""The shapes of rules that modules know, whatever the names of variables and the order of atoms."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from zodiac_sql.language.binding import expressions_of, variables
from zodiac_sql.language.syntax import (
    Aggregate,
    Atom,
    Binding,
    Comparison,
    Literal,
    Negation,
    Rule,
    Variable,
)


def transitive(rule: Rule) -> bool | None:
    """Whether a rule R(x, z) :- R(x, y), R(y, z) also asks for x != z; None for any other rule."""
    ends = _ends(rule.head)
    if ends is None:
        return None
    atoms, unequal = _atoms(rule, ends)
    if len(atoms) != 2 or unequal is None:
        return None
    if any(atom.predicate != rule.head.predicate for atom in atoms):
        return None
    first, second = _ends(atoms[0]), _ends(atoms[1])
    if first is None or second is None:
        return None
    if first[1] != second[0]:
        first, second = second, first
    x, z = ends
    joined = first[0] == x and second[1] == z and first[1] == second[0]
    return unequal if joined and first[1] not in ends else None


def symmetric(rule: Rule) -> bool | None:
    """Whether a rule R(x, y) :- R(y, x) also asks for x != y; None for any other rule."""
    ends = _ends(rule.head)
    if ends is None:
        return None
    atoms, unequal = _atoms(rule, ends)
    if len(atoms) != 1 or unequal is None or atoms[0].predicate != rule.head.predicate:
        return None
    return unequal if _ends(atoms[0]) == (ends[1], ends[0]) else None


class Along(NamedTuple):
    """At which place a rule changes the facts of R, and which relation leads there."""

    place: int
    edges: str


def along(rule: Rule) -> Along | None:
    """How a rule takes the facts of R along another relation E, if that is all it does.

    R(x, z) :- R(x, y), E(y, z) changes place 1, and R(x, z) :- E(x, y), R(y, z) place 0.
    """
    ends = _ends(rule.head)
    if ends is None or len(rule.body) != 2:
        return None
    atoms = list(rule.positive_atoms())
    own = [atom for atom in atoms if atom.predicate == rule.head.predicate]
    if len(atoms) != 2 or len(own) != 1:
        return None
    (other,) = (atom for atom in atoms if atom is not own[0])
    taken, edge = _ends(own[0]), _ends(other)
    if taken is None or edge is None:
        return None
    for place in (0, 1):
        here, there = (taken[place], ends[place]) if place else (ends[place], taken[place])
        kept = taken[1 - place] == ends[1 - place]
        if kept and edge == (here, there) and len({*ends, taken[place]}) == 3:
            return Along(place, other.predicate)
    return None


def extends(rule: Rule, place: int) -> bool:
    """Whether a rule prolongs R at one end, whatever else its body says.

    With place 0 it is left-linear, R(x, z) :- R(x, y), ..., and nothing else mentions x; with
    place 1 right-linear, R(x, z) :- ..., R(y, z), and nothing else mentions z.
    """
    ends = _ends(rule.head)
    own = [a for a in rule.positive_atoms() if a.predicate == rule.head.predicate]
    if ends is None or len(own) != 1 or any(isinstance(part, Aggregate) for part in rule.body):
        return False
    terms = _ends(own[0])
    if terms is None or terms[place] != ends[place]:
        return False
    others = [literal for literal in rule.body if literal is not own[0]]
    return ends[place] not in {name for literal in others for name in _names(literal)}


def with_loops(rule: Rule) -> Rule:
    """A rule without the comparison that its ends differ, if it has that."""
    ends = _ends(rule.head)
    if ends is None:
        return rule
    return replace(rule, body=tuple(part for part in rule.body if not _is_unequal(part, ends)))


def _ends(atom: Atom) -> tuple[str, str] | None:
    """The variables of an atom whose terms are two different variables, else None."""
    if len(atom.terms) != 2:
        return None
    first, second = atom.terms
    if not isinstance(first, Variable) or not isinstance(second, Variable) or first == second:
        return None
    return first.name, second.name


def _atoms(rule: Rule, ends: tuple[str, str]) -> tuple[list[Atom], bool | None]:
    """The atoms of a body, and whether it asks for different ends; None if it asks for more."""
    atoms = list(rule.positive_atoms())
    others = [literal for literal in rule.body if not isinstance(literal, Atom)]
    if not all(_is_unequal(literal, ends) for literal in others):
        return atoms, None
    return atoms, bool(others)


def _is_unequal(literal: Literal, ends: tuple[str, str]) -> bool:
    if not isinstance(literal, Comparison) or literal.operator != "!=":
        return False
    sides = (literal.left, literal.right)
    return {side.name for side in sides if isinstance(side, Variable)} == set(ends)


def _names(literal: Literal) -> set[str]:
    """The variables of a literal that is no aggregate."""
    if isinstance(literal, Negation):
        literal = literal.atom
    if isinstance(literal, Atom):
        return {variable.name for variable in variables(*literal.terms)}
    assert isinstance(literal, Comparison | Binding)
    names = {variable.name for variable in variables(*expressions_of(literal))}
    return names | {literal.variable.name} if isinstance(literal, Binding) else names
