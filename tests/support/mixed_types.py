"""Which types columns and variables have where some columns are mixed: the oracle's own reading.

A type is symbol, int, float, bool, date, timestamp, any, or None while it is open. What a type
does not allow is a Clash: the change is to be refused.
"""

from __future__ import annotations

import datetime
from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal

from generators.programs import Aggregate, Atom, Bind, Compare, Literal, Not, Rule, Var
from support.mixed_terms import Term, Written
from support.naive_types import assignments, given_variables, variables_of
from support.naive_values import Call, is_decimal

Types = Mapping[str, tuple[str | None, ...]]

NUMBERS = ("int", "decimal", "float")
"""From the narrowest to the widest."""
MOMENTS = ("date", "timestamp")
COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")


class Clash(Exception):
    """A rule or a fact is ill-typed."""


# --- columns -------------------------------------------------------------------------------------


def column_types(rules: Sequence[Rule], settled: Types, strict: Collection[str]) -> Types:
    """The types of all columns; those of predicates that are not `strict` widen."""
    types = dict(settled)
    changed = True
    while changed:
        changed = False
        for rule in rules:
            name = rule.head.predicate
            if name in strict:
                continue
            variables = variable_types(rule.body, types)
            given = [expression_type(term, variables) for term in rule.head.terms]
            found = tuple(map(joined, types[name], given))
            changed |= found != types[name]
            types[name] = found
    return types


def is_ill_typed(rule: Rule, types: Types) -> bool:
    try:
        check(rule, types)
    except Clash:
        return True
    return False


def joined(first: str | None, second: str | None) -> str | None:
    """The least type that holds the values of both."""
    if first is None or second is None or first == second:
        return first or second
    return _widest(first, second) or "any"


def _widest(*types: str | None) -> str | None:
    """The widest of several types of numbers; None if one is of no numbers."""
    if not all(type_ in NUMBERS for type_ in types):
        return None
    return max(types, key=NUMBERS.index)  # type: ignore[arg-type]


def value_type(value: object) -> str:
    """The type of a constant, or of a value that somebody inserts."""
    if isinstance(value, Written):
        return value_type(value.value)
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, datetime.datetime):
        return "any" if value.tzinfo else "timestamp"
    if isinstance(value, datetime.date):
        return "date"
    if isinstance(value, Term):
        return "any"
    if isinstance(value, Decimal):
        return "decimal" if is_decimal(value) else "any"
    return {int: "int", float: "float", str: "symbol"}[type(value)]


# --- variables -----------------------------------------------------------------------------------


def variable_types(body: Sequence[Literal], types: Types) -> dict[Var, str | None]:
    """The type of each variable: a native one if it stands in a native column, too."""
    found: dict[Var, str | None] = {}

    def meet(variable: object, type_: str | None) -> None:
        if isinstance(variable, Var) and not variable.anonymous:
            found[variable] = met(found.get(variable), type_)

    for literal in body:
        if isinstance(literal, Atom):
            for term, type_ in zip(literal.terms, types[literal.predicate], strict=True):
                meet(term, type_)
    for literal in body:
        if isinstance(literal, Aggregate):
            inside = variable_types(literal.body, types)
            for variable in literal.group:
                meet(variable, inside.get(variable))
            meet(literal.result, aggregate_type(literal, inside.get(literal.argument)))
    given = given_variables(body)
    pending = [literal for literal in body if isinstance(literal, Bind | Compare)]
    for _ in pending:
        for literal in pending:
            for target, value in assignments(literal):
                if target not in given and variables_of(value) <= given:
                    meet(target, expression_type(value, found))
                    given = given | {target}
    for literal in body:
        if isinstance(literal, Not):
            for term, type_ in zip(literal.atom.terms, types[literal.atom.predicate], strict=True):
                if isinstance(term, Var) and found.get(term) != "any":
                    meet(term, type_)
    return found


def met(first: str | None, second: str | None) -> str | None:
    """The type of a variable that stands in two places."""
    if first in (None, "any"):
        return second or first
    return _widest(first, second) or first


def aggregate_type(literal: Aggregate, argument: str | None) -> str | None:
    if literal.function == "COUNT":
        return "int"
    if literal.function in ("AVG", "MED"):
        return "float"
    if argument is None and literal.otherwise is not None:
        return value_type(literal.otherwise)
    return argument


_FIXED = {
    **dict.fromkeys(("/", "float", "sqrt", "power", "seconds_between", "epoch"), "float"),
    **dict.fromkeys(("int", "length", "days_between", "year", "month", "day", "hour", "minute"),
                    "int"),
    **dict.fromkeys(("text", "concat", "upper", "lower", "trim", "substr", "replace",
                     "regex_replace", "regex_extract", "format_time"), "symbol"),
    **dict.fromkeys((*COMPARISONS, "and", "or", "not", "contains", "starts_with", "ends_with",
                     "matches"), "bool"),
    "decimal": "decimal", "date": "date", "add_seconds": "timestamp",
}  # fmt: skip


def expression_type(expression: object, variables: Mapping[Var, str | None]) -> str | None:
    """The type of an expression's value; None if that of an argument is open."""
    if isinstance(expression, Var):
        return variables.get(expression)
    if not isinstance(expression, Call):
        return value_type(expression)
    if expression.function in _FIXED:
        return _FIXED[expression.function]
    arguments = [expression_type(a, variables) for a in expression.arguments]
    if expression.function in ("add_days", "time_bucket"):
        moment = arguments[expression.function == "time_bucket"]
        return "timestamp" if moment == "any" else moment
    if expression.function == "if":
        del arguments[0]
    if None in arguments:
        return None
    if "any" in arguments:
        computed = expression.function not in ("if", "least", "greatest")
        return "float" if computed and "float" in arguments else "any"
    return _widest(*arguments) or arguments[0]


# --- what is refused -----------------------------------------------------------------------------


def comparable(first: str | None, second: str | None) -> bool:
    if None in (first, second) or "any" in (first, second) or first == second:
        return True
    return first in NUMBERS and second in NUMBERS


def check(rule: Rule, types: Types) -> None:
    """Raise Clash if a rule is ill-typed."""
    variables = variable_types(rule.body, types)
    check_body(rule.body, types, variables)
    if rule.never:
        return
    for term in rule.head.terms:
        _check_expression(term, variables)
    for term, wanted in zip(rule.head.terms, types[rule.head.predicate], strict=True):
        given = expression_type(term, variables)
        if given and wanted and joined(given, wanted) != wanted:
            raise Clash(f"{rule.name} gives {given} to a column of {wanted}")
        if best_of(term) and wanted == "symbol":
            raise Clash(f"{rule.name} has the best of {wanted}")
        if best_of(term) and wanted == "any":
            _check_best_term(rule, term.arguments[0])


def _check_best_term(rule: Rule, value: object) -> None:
    """Raise Clash if a best term that depends on itself is not just passed on, by `if` at most."""
    own = {
        one.terms[-1]
        for one in rule.body
        if isinstance(one, Atom) and one.predicate == rule.head.predicate
    }

    def passes(expression: object) -> bool:
        if isinstance(expression, Call) and expression.function == "if":
            condition, *both = expression.arguments
            return not own & variables_of(condition) and all(map(passes, both))
        return isinstance(expression, Var) or not own & variables_of(expression)

    tests = [one for one in rule.body if isinstance(one, Bind | Compare)]
    sides = [one.expression if isinstance(one, Bind) else (one.left, one.right) for one in tests]
    computed = [x for side in sides for x in (side if isinstance(side, tuple) else (side,))]
    if not passes(value) or any(own & variables_of(one) for one in computed):
        raise Clash(f"{rule.name} computes with the best of all terms")


def check_body(body: Sequence[Literal], types: Types, variables: Mapping[Var, str | None]) -> None:
    positive = variable_types([one for one in body if not isinstance(one, Not)], types)
    for literal in body:
        if isinstance(literal, Atom | Not):
            atom = literal.atom if isinstance(literal, Not) else literal
            for term, column in zip(atom.terms, types[atom.predicate], strict=True):
                _alike(expression_type(term, variables) if not _anonymous(term) else None, column)
        elif isinstance(literal, Aggregate):
            _check_aggregate(literal, types, variables)
        elif isinstance(literal, Bind):
            _check_expression(literal.expression, positive)
            _alike(positive.get(literal.variable), expression_type(literal.expression, positive))
        else:
            _check_expression(Call(literal.operator, (literal.left, literal.right)), variables)


def best_of(term: object) -> str | None:
    """Whether a term of a head is MIN or MAX, and which."""
    return term.function if isinstance(term, Call) and term.function in ("MIN", "MAX") else None


def _anonymous(term: object) -> bool:
    return isinstance(term, Var) and term.anonymous


def _alike(first: str | None, second: str | None) -> None:
    if not comparable(first, second):
        raise Clash(f"{first} meets {second}")


def _check_aggregate(literal: Aggregate, types: Types, outside: Mapping[Var, str | None]) -> None:
    inside = variable_types(literal.body, types)
    check_body(literal.body, types, inside)
    for variable in literal.group:
        _alike(outside.get(variable), inside.get(variable))
    argument = inside.get(literal.argument)
    if literal.function in ("SUM", "AVG", "MED") and argument not in (None, "any", *NUMBERS):
        raise Clash(f"{literal.function} of {argument}")
    value = aggregate_type(literal, argument)
    if literal.otherwise is not None and value not in (None, "any"):
        other = value_type(literal.otherwise)
        if joined(value, other) != value:
            raise Clash(f"ELSE gives {other} where the value is {value}")


def _check_expression(expression: object, variables: Mapping[Var, str | None]) -> None:
    if not isinstance(expression, Call):
        return
    for argument in expression.arguments:
        _check_expression(argument, variables)
    given = [expression_type(argument, variables) for argument in expression.arguments]
    function = expression.function
    if function in COMPARISONS and set(given) != set(MOMENTS):
        _alike(*given)
    elif function in EXTREMES:
        for other in given[1:]:
            _alike(given[0], other)
    elif function == "if":
        _alike(*given[1:])
        given = given[:1]
    for place, type_ in enumerate(given):
        wanted = parameter(function, place, len(given))
        if wanted and type_ not in (None, "any", *wanted):
            raise Clash(f"{function} takes no {type_}")


EXTREMES = ("least", "greatest")

_TEXT, _INT, _CLOCK, _BOOL = ("symbol",), ("int",), ("timestamp",), ("bool",)

PARAMETERS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    **dict.fromkeys(("+", "-", "*", "/", "%", "abs", "floor", "ceil", "sqrt", "power"), (NUMBERS,)),
    "round": (NUMBERS, _INT),
    **dict.fromkeys(("if", "and", "or", "not"), (_BOOL,)),
    **dict.fromkeys(EXTREMES, ((*NUMBERS, *MOMENTS),)),
    **dict.fromkeys(("int", "float", "decimal"), ((*NUMBERS, "symbol"),)),
    **dict.fromkeys(("length", "lower", "upper", "trim", "replace", "contains", "starts_with",
                     "ends_with", "matches", "regex_replace"), (_TEXT,)),
    "substr": (_TEXT, _INT), "regex_extract": (_TEXT, _TEXT, _INT),
    **dict.fromkeys(("year", "month", "day", "days_between", "seconds_between", "epoch"),
                    (MOMENTS,)),
    **dict.fromkeys(("hour", "minute"), (_CLOCK,)),
    "add_days": (MOMENTS, _INT), "add_seconds": (_CLOCK, NUMBERS),
    "date": (MOMENTS, _TEXT), "time_bucket": (_TEXT, MOMENTS, _TEXT),
    "format_time": (MOMENTS, _TEXT, _TEXT),
}  # fmt: skip
"""The types that functions take, by place; the last one may be repeated. Others take all types."""


def parameter(function: str, place: int, count: int) -> tuple[str, ...]:
    """The types that a function takes for one of its arguments; () if it takes all."""
    found = PARAMETERS.get(function)
    if found is None:
        return ()
    wanted = found[min(place, len(found) - 1)]
    zoned = function in ("date", "time_bucket", "format_time") and count == len(found)
    return _CLOCK if zoned and wanted == MOMENTS else wanted  # a day has no time zone
