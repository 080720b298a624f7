"""Reads the texts of facts and negated atoms that the library shows, with its own parser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from support.naive_values import Value
from support.proof_world import Ground, typed

Types = Mapping[str, Sequence[str]]


def read_fact(text: str, types: Types) -> Ground | None:
    """A fact; None if there is no such predicate, or it is no single fact."""
    from zodiac_sql.language.parse import parse_goals
    from zodiac_sql.language.syntax import Atom, Constant

    literals = parse_goals(text, {})
    if len(literals) != 1 or not isinstance(literals[0], Atom):
        return None
    (atom,) = literals
    if atom.predicate not in types or len(types[atom.predicate]) != len(atom.terms):
        return None
    values = [term.value for term in atom.terms if isinstance(term, Constant)]
    if len(values) < len(atom.terms):
        return None
    return atom.predicate, typed(values, types[atom.predicate])


def read_absent(text: str) -> tuple[str, list[Value | None], list[str | None]] | None:
    """A negated atom: its predicate, its values, and the names of variables; each can be None."""
    from zodiac_sql.language.parse import parse_goals
    from zodiac_sql.language.syntax import Constant, Negation

    # Alone, a negated atom is no goal.
    literals = parse_goals(f"{text}, zodiac()", {})
    if not isinstance(literals[0], Negation):
        return None
    atom = literals[0].atom
    values = [term.value if isinstance(term, Constant) else None for term in atom.terms]
    names = [
        None if isinstance(term, Constant) or term.anonymous else term.name.lstrip("?")
        for term in atom.terms
    ]
    return atom.predicate, values, names
