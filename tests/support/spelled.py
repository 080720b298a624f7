"""How literals of programs.py read with values put in, for comparison with what the library says.

Parentheses and spaces are left out where texts are compared, but for those in quotes.
"""

from __future__ import annotations

import re

from generators.programs import PLAIN, Arithmetic, Atom, Bind, Compare, Literal, Not, Var, atom_text
from support.naive_values import Call, Environment
from support.proof_world import Ground, shared


def spelled(fact: Ground) -> str:
    """A fact as a goal."""
    return atom_text(Atom(*fact), PLAIN, "")  # type: ignore[arg-type]


def with_values(literal: Literal, values: Environment) -> str:
    """A literal but an aggregate; in atoms, variables without a value are `_`.

    Those that a negated atom has in several places keep their names.
    """
    if isinstance(literal, Not):
        names = {variable: variable for variable in shared(literal.atom, values)}
        return f"not {with_values(literal.atom, {**values, **names})}"  # type: ignore[dict-item]
    if isinstance(literal, Compare):
        left, right = (expression(side, values) for side in (literal.left, literal.right))
        return f"{left} {literal.operator} {right}"
    if isinstance(literal, Bind):
        text = f"{literal.variable.name} = {expression(literal.expression, values)}"
        value = values.get(literal.variable)
        return text if value is None else f"{text} = {expression(literal.variable, values)}"
    assert isinstance(literal, Atom)
    terms = tuple(values.get(t, Var("_")) if isinstance(t, Var) else t for t in literal.terms)
    return atom_text(Atom(literal.predicate, terms), PLAIN, "")  # type: ignore[arg-type]


def readings(atom: Atom, values: Environment) -> set[str]:
    """The ways in which an atom may be written: with names for variables without a value, or with
    `_` for those that are there once.
    """
    unknown = [t for t in atom.terms if isinstance(t, Var) and t not in values]
    names = {t: t for t in unknown if not t.anonymous}
    twice = {t: t for t in shared(atom, values)}
    return {bare(with_values(atom, {**values, **kept})) for kept in (names, twice)}  # type: ignore[dict-item]


def expression(found: object, values: Environment) -> str:
    """An expression with the values of its variables."""
    if isinstance(found, Arithmetic):
        left, right = expression(found.left, values), expression(found.right, values)
        return f"({left} {found.operator} {right})"
    if isinstance(found, Call):
        return f" {found.function} ".join(expression(one, values) for one in found.arguments)
    if isinstance(found, Var):
        return expression(values[found], values) if found in values else found.name
    assert isinstance(found, int | str)
    return atom_text(Atom("", (found,)), PLAIN, "")[1:-1]


def bare(text: str) -> str:
    """A text without spaces and parentheses outside of quotes."""
    parts = text.split('"')
    parts[::2] = [re.sub(r"[() ]", "", part) for part in parts[::2]]
    return '"'.join(parts)
