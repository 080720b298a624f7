"""Constraints: `!- reading(X, T), T > 80.` says what must never hold.

A constraint is a rule for a predicate of its own, whose columns are the variables of the body that
get values. So it is evaluated, maintained and explained as rules are. The predicate's name is made
of the body, up to the names of variables, and the order as long as variables come in the same one:
two constraints that say the same are one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace

from zodiac_sql.errors import Span
from zodiac_sql.language.binding import arrange, expressions_of, variables
from zodiac_sql.language.syntax import (
    Aggregate,
    Atom,
    Binding,
    Comparison,
    Literal,
    Rule,
    Variable,
    atoms_of,
)
from zodiac_sql.names import constraint, is_constraint

NEVER = "!-"
"""What stands where a rule has its head and the arrow."""


def constraint_of(
    name: str, body: tuple[Literal, ...], text: str, start: Span | None, span: Span | None
) -> Rule:
    """The rule that finds what violates a constraint. `start` is the place of `!-`."""
    columns = tuple(Variable(variable) for variable in named_variables(body))
    head = Atom(constraint(_digest(body, columns)), columns, start)
    return Rule(name, head, body, text, span=span)


def with_body(rule: Rule, body: tuple[Literal, ...], text: str) -> Rule:
    """A constraint whose body is written otherwise."""
    made = constraint_of(rule.name, body, text, rule.head.span, rule.span)
    return replace(made, prefixes=rule.prefixes, part=rule.part)


def says_never(rule: Rule) -> bool:
    """Whether a rule is a constraint."""
    return rule.text.startswith(NEVER) and is_constraint(rule.head.predicate)


def named_variables(body: tuple[Literal, ...]) -> list[str]:
    """The variables with names that a body binds, in the order of the text."""
    bound = arrange(body).bound
    names = [variable.name for literal in body for variable in _occurring(literal)]
    return [n for n in dict.fromkeys(names) if n in bound and not n.startswith("_:")]


def _occurring(literal: Literal) -> Iterator[Variable]:
    if isinstance(literal, Aggregate):
        yield from (*literal.group, literal.result)
    elif isinstance(literal, Binding):
        yield from (*variables(literal.expression), literal.variable)
    elif isinstance(literal, Comparison):
        yield from variables(*expressions_of(literal))
    else:
        yield from (v for atom in atoms_of((literal,)) for v in variables(*atom.terms))


def _digest(body: tuple[Literal, ...], columns: tuple[Variable, ...]) -> str:
    """A few hexadecimal digits that tell a body and its columns from others."""
    names: dict[str, str] = {}
    ordered = sorted(body, key=lambda literal: repr(_form(literal, None)))
    form = repr((tuple(_form(literal, names) for literal in ordered), _form(columns, names)))
    return hashlib.sha256(form.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _form(thing: object, names: dict[str, str] | None) -> object:
    """A part of a body as plain tuples. Variables are numbered, or are all alike without names."""
    if isinstance(thing, Variable):
        kind = "_" if thing.anonymous else "?"
        if names is None:
            return kind
        return names.setdefault(thing.name, f"{kind}{len(names)}")
    if isinstance(thing, tuple):
        return tuple(_form(one, names) for one in thing)
    if is_dataclass(thing):
        values = [getattr(thing, one.name) for one in fields(thing) if one.name != "span"]
        if isinstance(thing, Aggregate) and not thing.distinct:
            values.pop()  # so it was before there was DISTINCT, and names are to stay
        return type(thing).__name__, *(_form(value, names) for value in values)
    return type(thing).__name__, str(thing)
