"""Schemas of small programs with modules."""

from __future__ import annotations

from zodiac_sql.language.infer import infer
from zodiac_sql.language.schema import Predicate, default_columns
from zodiac_sql.language.syntax import Column, Program, atoms_of

SYMBOLS = ".decl p(a: symbol, b: symbol) .decl q(a: symbol, b: symbol) "


T, S = "t: p(X, Z) :- p(X, Y), p(Y, Z). ", "s: p(X, Y) :- p(Y, X). "


def schema_of(program: Program) -> dict[str, Predicate]:
    """Predicates of types as declared, as facts have them, or as rules give them."""
    columns = {d.predicate: d.columns for d in program.declarations}
    for fact in program.facts:
        types = (getattr(term, "type", None) for term in fact.terms)
        names = default_columns(len(fact.terms))
        given = tuple(Column(name, type_) for name, type_ in zip(names, types, strict=True))
        columns.setdefault(fact.predicate, given)
    for one in program.rules:
        for atom in (one.head, *atoms_of(one.body)):
            names = default_columns(len(atom.terms))
            columns.setdefault(atom.predicate, tuple(Column(name, None) for name in names))
    settled = {name: tuple(c.type for c in given) for name, given in columns.items()}
    types, problems = infer(program.rules, settled, {})
    assert not problems
    return {
        name: Predicate(
            name, name,
            tuple(Column(c.name, t) for c, t in zip(given, types[name], strict=True)),
            settled[name], (None,) * len(given),
        )
        for name, given in columns.items()
    }  # fmt: skip
