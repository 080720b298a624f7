"""Functions and predicates as one line each."""

from __future__ import annotations

from collections.abc import Mapping

from zodiac_sql.language.functions import AGGREGATES, BUILTINS, Accepted, Builtin
from zodiac_sql.language.prefixed import prefixed
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.syntax import Type
from zodiac_sql.language.written import spelled_predicate

FUNCTIONS: Mapping[str, Builtin] = {
    name: builtin
    for name, builtin in BUILTINS.items()
    if name.isidentifier() and name not in ("and", "or", "not")
}
"""The functions that are written with their names and parentheses."""


def of_function(name: str) -> str | None:
    """The parameters of a function and what it returns; None if it is not built in."""
    builtin = FUNCTIONS.get(name) or AGGREGATES.get(name)
    if builtin is None:
        return None
    count, least = len(builtin.parameters), len(builtin.parameters) - builtin.optional
    parameters = [_types(accepted) for accepted in builtin.parameters]
    shown = ", ".join(parameters[:least])
    shown += "".join(f"[, {parameters[place]}]" for place in range(least, count))
    if builtin.variadic:
        shown += ", ..."
    result = builtin.returns or _types(builtin.parameters[builtin.of or builtin.alike or 0])
    return f"{name}({shown}) -> {result}"


def _types(accepted: Accepted) -> str:
    """The types that a parameter takes, in words."""
    left = set(accepted)
    if left == set(Type):
        return "any"
    numbers = {type_ for type_ in Type if type_.numeric}
    words = ["number"] if numbers <= left else []
    left -= numbers if words else set()
    return " or ".join([*words, *sorted(left)])


def of_predicate(known: Predicate, prefixes: Mapping[str, str]) -> str:
    """A predicate with its columns and their types, as far as these are known."""
    columns = (f"{c.name}: {c.meant}" if c.meant else c.name for c in known.columns)
    return f"{spelled(known.name, prefixes)}({', '.join(columns)})"


def spelled(predicate: str, prefixes: Mapping[str, str]) -> str:
    """A predicate as it is written in a text with such prefixes."""
    return prefixed(spelled_predicate(predicate), prefixes)
