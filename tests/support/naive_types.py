"""Which types columns and variables have, as the language's page says: for naive evaluation.

A column has the type that a declaration or facts have settled; else that of what rules derive in
it: of numbers the widest that some derive. It has none (None) before there is any of these.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

from generators.programs import Aggregate, Atom, Bind, Compare, Literal, Not, Rule, Var
from support.naive_values import Call, Expression, Value

Types = Mapping[str, tuple[str | None, ...]]
"""For each predicate the types of its columns: symbol, int, decimal, float, bool, date or the
like."""


def column_types(rules: Sequence[Rule], settled: Types) -> Types:
    """The types of all columns, of which some are settled. All predicates are in `settled`."""
    types = dict(settled)
    changed = True
    while changed:
        changed = False
        for rule in rules:
            name = rule.head.predicate
            variables = variable_types(rule.body, types)
            found = tuple(
                kept if kept is not None else joined(old, expression_type(term, variables))
                for kept, old, term in zip(settled[name], types[name], rule.head.terms, strict=True)
            )
            changed |= found != types[name]
            types[name] = found
    return types


def joined(first: str | None, second: str | None) -> str | None:
    """The type of what has both types, one of which may be open."""
    return next((one for one in ("float", "decimal") if one in (first, second)), first or second)


def variable_types(body: Sequence[Literal], types: Types) -> dict[Var, str | None]:
    """The type of each variable: of numbers the widest that it meets anywhere in the body."""
    found: dict[Var, str | None] = {}

    def meet(variable: object, type_: str | None) -> None:
        if isinstance(variable, Var) and not variable.anonymous:
            found[variable] = joined(found.get(variable), type_)

    for literal in body:
        atom = literal.atom if isinstance(literal, Not) else literal
        if isinstance(atom, Atom):
            for term, type_ in zip(atom.terms, types[atom.predicate], strict=True):
                meet(term, type_)
        elif isinstance(literal, Aggregate):
            inside = variable_types(literal.body, types)
            for variable in literal.group:
                meet(variable, inside[variable])
            meet(literal.result, _aggregate_type(literal, inside[literal.argument]))
    given = given_variables(body)
    pending = [literal for literal in body if isinstance(literal, Bind | Compare)]
    for _ in pending:
        for literal in pending:
            for target, value in assignments(literal):
                if target not in given and variables_of(value) <= given:
                    meet(target, expression_type(value, found))
                    given = given | {target}
    return found


def given_variables(body: Iterable[Literal]) -> set[Var]:
    """The variables that atoms and aggregates bind."""
    given: set[Var] = set()
    for literal in body:
        if isinstance(literal, Atom):
            given |= {t for t in literal.terms if isinstance(t, Var)}
        elif isinstance(literal, Aggregate):
            given |= {*literal.group, literal.result}
    return given


def assignments(literal: Bind | Compare) -> list[tuple[Var, Expression]]:
    """What a literal could bind, and to what."""
    if isinstance(literal, Bind):
        return [(literal.variable, literal.expression)]
    if literal.operator != "=":
        return []
    pairs = ((literal.left, literal.right), (literal.right, literal.left))
    return [(a, b) for a, b in pairs if isinstance(a, Var)]


def variables_of(expression: Expression) -> set[Var]:
    if isinstance(expression, Var):
        return {expression}
    if isinstance(expression, Call):
        return {v for argument in expression.arguments for v in variables_of(argument)}
    return set()


_FIXED = {
    **dict.fromkeys(("/", "sqrt", "power", "exp", "ln"), "float"),
    **dict.fromkeys(("float", "seconds_between", "epoch"), "float"),
    **dict.fromkeys(("int", "days_between"), "int"),
    "decimal": "decimal",
    **dict.fromkeys(("text", "regex_replace", "regex_extract", "format_time"), "symbol"),
    **dict.fromkeys(("matches", "=", "!=", "<", "<=", ">", ">=", "and", "or", "not"), "bool"),
    "add_seconds": "timestamp",
    "date": "date",
    **dict.fromkeys(("length", "year", "month", "day", "hour", "minute", "second"), "int"),
    **dict.fromkeys(("concat", "lower", "upper", "trim", "substr", "replace"), "symbol"),
    **dict.fromkeys(("contains", "starts_with", "ends_with"), "bool"),
}


def expression_type(expression: Expression, variables: Mapping[Var, str | None]) -> str | None:
    """The type of an expression's value; None if that of an argument is open."""
    if isinstance(expression, Var):
        return variables[expression]
    if isinstance(expression, Call):
        if expression.function in _FIXED:
            return _FIXED[expression.function]
        arguments = [expression_type(a, variables) for a in expression.arguments]
        if expression.function == "time_bucket":
            return arguments[1]
        if expression.function == "if":
            del arguments[0]
        if None in arguments:
            return None
        return next((one for one in ("float", "decimal") if one in arguments), arguments[0])
    return value_type(expression)


def value_type(value: Value) -> str:
    """The type of a constant."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, datetime.datetime):
        return "timestamp"
    if isinstance(value, datetime.date):
        return "date"
    return {int: "int", Decimal: "decimal", float: "float", str: "symbol"}[type(value)]


def _aggregate_type(literal: Aggregate, argument: str | None) -> str | None:
    if literal.function == "COUNT":
        return "int"
    if literal.function in ("AVG", "MED"):
        return "float"
    if argument is None and literal.otherwise is not None:
        return value_type(literal.otherwise)
    return argument
