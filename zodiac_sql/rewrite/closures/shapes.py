"""The shapes of rules that modules know, whatever the names of variables and the order of atoms."""

from __future__ import annotations

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


class Paths(NamedTuple):
    """How a rule makes longer paths of R: at which end, along which relation, whether the ends must
    differ, and whether the relation is R itself.
    """

    place: int
    edges: str
    unequal: bool = False
    own: bool = False


def paths(rule: Rule) -> Paths | None:
    """How a rule prolongs the paths R along a relation E, if that is all it does.

    R(x, z) :- R(x, y), E(y, z) changes place 1, and R(x, z) :- E(x, y), R(y, z) place 0. If E is R,
    the rule makes R transitive, and either place is as good. All of them may ask for x != z, too.
    """
    ends = _ends(rule.head)
    if ends is None:
        return None
    atoms, unequal = _atoms(rule, ends)
    if len(atoms) != 2 or unequal is None:
        return None
    first, second = sorted(atoms, key=lambda atom: ends[0] not in _names(atom))
    one, other, predicates = _ends(first), _ends(second), (first.predicate, second.predicate)
    if one is None or other is None or rule.head.predicate not in predicates:
        return None
    if one[0] != ends[0] or other[1] != ends[1] or one[1] != other[0] or one[1] in ends:
        return None
    place = int(first.predicate == rule.head.predicate)
    return Paths(place, predicates[place], unequal, predicates[0] == predicates[1])


def transitive(rule: Rule) -> bool | None:
    """Whether a rule R(x, z) :- R(x, y), R(y, z) also asks for x != z; None for any other rule."""
    found = paths(rule)
    return found.unequal if found and found.own else None


def symmetric(rule: Rule) -> bool | None:
    """Whether a rule R(x, y) :- R(y, x) also asks for x != y; None for any other rule."""
    ends = _ends(rule.head)
    if ends is None:
        return None
    atoms, unequal = _atoms(rule, ends)
    if len(atoms) != 1 or unequal is None or atoms[0].predicate != rule.head.predicate:
        return None
    return unequal if _ends(atoms[0]) == (ends[1], ends[0]) else None


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
