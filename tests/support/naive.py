"""The second independent engine: naive evaluation in plain Python, from the language's page alone.

It knows every type and function of the language, where clingo knows integers and names only. It is
slow and simple on purpose: each stratum is applied to itself until nothing new comes, each body by
trying every fact for every atom. It shares no code with zodiac_sql.

Values: a symbol is a `str` (its text as people see it), the rest are Python's int, float, bool, date
and datetime. There is one NaN, which equals itself, and no -0.0.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from generators.programs import Aggregate, Atom, Bind, Compare, Literal, Not, Rule, Var

Value = str | int | float | bool | datetime.date | datetime.datetime
Row = tuple[Value, ...]
Facts = Mapping[str, Iterable[Row]]
Types = Mapping[str, tuple[str, ...]]
"""For each predicate the types of its columns: symbol, int, float, bool, date or timestamp."""

NAN = float("nan")


@dataclass(frozen=True)
class Call:
    """A function of the language applied to expressions; `+` and the like by their sign."""

    function: str
    arguments: tuple[Expression, ...]


Expression = Var | Value | Call
Environment = dict[Var, Value]


class Overflow(Exception):
    """An integer left the 64 bits: the library has to refuse the change."""


class _NoValue(Exception):
    """An expression has no value: the body has no solution."""


def extensions(rules: Sequence[Rule], facts: Facts, types: Types) -> dict[str, set[Row]]:
    """All facts of every predicate that has types. Raises Overflow."""
    known: dict[str, set[Row]] = {name: set() for name in types}
    for name, rows in facts.items():
        known[name] |= {_stored(row, types[name]) for row in rows}
    for stratum in _strata(rules):
        changed = True
        while changed:
            changed = False
            for rule in stratum:
                new = set(_heads(rule, known, types)) - known[rule.head.predicate]
                known[rule.head.predicate] |= new
                changed |= bool(new)
    return known


def _stored(row: Sequence[Value], types: Sequence[str]) -> Row:
    """A row as its columns hold it: an int becomes a float in a column of floats."""
    return tuple(_as(value, type_) for value, type_ in zip(row, types, strict=True))


def _as(value: Value, type_: str) -> Value:
    return _float(float(value)) if type_ == "float" and not isinstance(value, str) else value  # type: ignore[arg-type]


def _float(value: float) -> float:
    """The one form of a float: -0.0 is 0.0, and there is one NaN."""
    return NAN if math.isnan(value) else value + 0.0


# --- strata --------------------------------------------------------------------------------------


def _strata(rules: Sequence[Rule]) -> list[list[Rule]]:
    """Rules by the number of non-monotonic steps below their heads."""
    number: dict[str, int] = {rule.head.predicate: 0 for rule in rules}
    changed = True
    while changed:
        changed = False
        for rule in rules:
            needed = max(
                [number.get(name, 0) + step for name, step in _reads(rule.body)], default=0
            )
            if needed > number[rule.head.predicate]:
                number[rule.head.predicate] = needed
                changed = True
            assert needed <= len(rules), "not stratified"
    highest = max(number.values(), default=0)
    return [[r for r in rules if number[r.head.predicate] == n] for n in range(highest + 1)]


def _reads(body: Iterable[Literal], step: int = 0) -> Iterator[tuple[str, int]]:
    for literal in body:
        if isinstance(literal, Atom):
            yield literal.predicate, step
        elif isinstance(literal, Not):
            yield literal.atom.predicate, 1
        elif isinstance(literal, Aggregate):
            yield from _reads(literal.body, 1)


# --- types of variables --------------------------------------------------------------------------


def variable_types(body: Sequence[Literal], types: Types) -> dict[Var, str]:
    """The type of each variable: float if an int meets a float anywhere in the body."""
    found: dict[Var, str] = {}

    def meet(variable: object, type_: str) -> None:
        if isinstance(variable, Var) and not variable.anonymous:
            known = found.get(variable, type_)
            found[variable] = "float" if "float" in (known, type_) else known

    for literal in body:
        atom = literal.atom if isinstance(literal, Not) else literal
        if isinstance(atom, Atom):
            for term, type_ in zip(atom.terms, types[atom.predicate], strict=True):
                meet(term, type_)
        elif isinstance(literal, Aggregate):
            inside = variable_types(literal.body, types)
            for variable in literal.group:
                meet(variable, inside[variable])
            meet(literal.result, _aggregate_type(literal.function, inside[literal.argument]))
    given = _given(body)
    pending = [literal for literal in body if isinstance(literal, Bind | Compare)]
    for _ in pending:
        for literal in pending:
            for target, value in _assignments(literal):
                if target not in given and _variables(value) <= given:
                    meet(target, expression_type(value, found))
                    given = given | {target}
    return found


def _given(body: Iterable[Literal]) -> set[Var]:
    """The variables that atoms and aggregates bind."""
    given: set[Var] = set()
    for literal in body:
        if isinstance(literal, Atom):
            given |= {t for t in literal.terms if isinstance(t, Var)}
        elif isinstance(literal, Aggregate):
            given |= {*literal.group, literal.result}
    return given


def _assignments(literal: Bind | Compare) -> list[tuple[Var, Expression]]:
    """What a literal could bind, and to what."""
    if isinstance(literal, Bind):
        return [(literal.variable, literal.expression)]
    if literal.operator != "=":
        return []
    pairs = ((literal.left, literal.right), (literal.right, literal.left))
    return [(a, b) for a, b in pairs if isinstance(a, Var)]


def _variables(expression: Expression) -> set[Var]:
    if isinstance(expression, Var):
        return {expression}
    if isinstance(expression, Call):
        return {v for argument in expression.arguments for v in _variables(argument)}
    return set()


_FIXED = {
    **dict.fromkeys(("/", "sqrt", "power", "exp", "ln"), "float"),
    **dict.fromkeys(("length", "year", "month", "day", "hour", "minute", "second"), "int"),
    **dict.fromkeys(("concat", "lower", "upper", "trim", "substr", "replace"), "symbol"),
    **dict.fromkeys(("contains", "starts_with", "ends_with"), "bool"),
}


def expression_type(expression: Expression, variables: Mapping[Var, str]) -> str:
    """The type of an expression's value."""
    if isinstance(expression, Var):
        return variables[expression]
    if isinstance(expression, Call):
        if expression.function in _FIXED:
            return _FIXED[expression.function]
        arguments = [expression_type(a, variables) for a in expression.arguments]
        return "float" if "float" in arguments else arguments[0]
    return value_type(expression)


def value_type(value: Value) -> str:
    """The type of a constant."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, datetime.datetime):
        return "timestamp"
    if isinstance(value, datetime.date):
        return "date"
    return {int: "int", float: "float", str: "symbol"}[type(value)]


def _aggregate_type(function: str, argument: str) -> str:
    if function == "COUNT":
        return "int"
    return "float" if function in ("AVG", "MED") else argument


# --- bodies --------------------------------------------------------------------------------------


def _heads(rule: Rule, known: Mapping[str, set[Row]], types: Types) -> Iterator[Row]:
    for solution in solutions(rule.body, known, types):
        row = [solution[t] if isinstance(t, Var) else t for t in rule.head.terms]
        yield _stored(row, types[rule.head.predicate])


def solutions(
    body: Sequence[Literal], known: Mapping[str, set[Row]], types: Types
) -> list[Environment]:
    """The environments in which a body holds; the same one may come more than once."""
    kinds = variable_types(body, types)
    found: list[Environment] = [{}]
    for literal in body:
        if isinstance(literal, Atom):
            found = [e for old in found for e in _matches(literal, known, types, kinds, old)]
        elif isinstance(literal, Aggregate):
            rows = _aggregated(literal, known, types)
            terms = (*literal.group, literal.result)
            found = [e for old in found for row in rows if (e := _unified(terms, row, kinds, old))]
    waiting = [literal for literal in body if isinstance(literal, Bind | Compare)]
    given = _given(body)
    while waiting:
        literal = next(w for w in waiting if _ready(w, given))
        waiting.remove(literal)
        found = [e for old in found if (e := _stepped(literal, old, kinds)) is not None]
        given |= {target for target, _ in _assignments(literal)}
    for literal in body:
        if isinstance(literal, Not):
            found = [e for e in found if not _holds(literal.atom, known, types, kinds, e)]
    return found


def _ready(literal: Bind | Compare, given: set[Var]) -> bool:
    if (
        isinstance(literal, Compare)
        and _variables(literal.left) | _variables(literal.right) <= given
    ):
        return True
    return any(_variables(value) <= given for _, value in _assignments(literal))


def _matches(
    atom: Atom, known: Mapping[str, set[Row]], types: Types, kinds: Mapping[Var, str],
    environment: Environment,
) -> Iterator[Environment]:  # fmt: skip
    for row in known[atom.predicate]:
        found = _unified(atom.terms, row, kinds, environment)
        if found is not None:
            yield found


def _holds(
    atom: Atom, known: Mapping[str, set[Row]], types: Types, kinds: Mapping[Var, str],
    environment: Environment,
) -> bool:  # fmt: skip
    """Whether an atom has a match: one without any variable is an empty environment."""
    return next(_matches(atom, known, types, kinds, environment), None) is not None


def _unified(
    terms: Sequence[object], row: Row, kinds: Mapping[Var, str], environment: Environment
) -> Environment | None:
    """The environment in which terms stand for a row, if there is one."""
    found = dict(environment)
    for term, value in zip(terms, row, strict=True):
        if not isinstance(term, Var):
            if not _equal(term, value):  # type: ignore[arg-type]
                return None
        elif not term.anonymous:
            here = _as(value, kinds[term])
            if not _equal(found.setdefault(term, here), here):
                return None
    return found


def _stepped(
    literal: Bind | Compare, environment: Environment, kinds: Mapping[Var, str]
) -> Environment | None:
    """The environment after a binding or a test; None where it fails."""
    try:
        for target, expression in _assignments(literal):
            if target not in environment and _variables(expression) <= environment.keys():
                value = _as(evaluate(expression, environment), kinds[target])
                return {**environment, target: value}
        if isinstance(literal, Bind):
            value = evaluate(literal.expression, environment)
            return environment if _equal(environment[literal.variable], value) else None
        left, right = (evaluate(e, environment) for e in (literal.left, literal.right))
    except _NoValue:
        return None
    return environment if _compared(left, literal.operator, right) else None


# --- comparison ----------------------------------------------------------------------------------


def _equal(left: Value, right: Value) -> bool:
    return _compared(left, "=", right)


def _compared(left: Value, operator: str, right: Value) -> bool:
    """An int is compared with a float as a float; NaN is the greatest; symbols by their meaning."""
    if isinstance(left, float) or isinstance(right, float):
        left, right = _as(left, "float"), _as(right, "float")
    if operator in ("=", "!="):
        return (left is right or left == right) == (operator == "=")
    a, b = _order(left), _order(right)
    return {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[operator]


def _order(value: Value) -> tuple[object, ...]:
    if isinstance(value, str):
        return (lexical(value),)
    if isinstance(value, float):
        return (math.isnan(value), 0.0 if math.isnan(value) else value)
    return (value,)


def lexical(symbol: str) -> str:
    """What a symbol means as text: without quotes, language, datatype or angle brackets."""
    if symbol.startswith("<"):
        return symbol[1:-1]
    if not symbol.startswith('"'):
        return symbol
    text, escapes = "", {"n": "\n", "r": "\r", "t": "\t"}
    inside = iter(symbol[1 : symbol.rindex('"')])
    for letter in inside:
        if letter == "\\":
            letter = next(inside)
            letter = escapes.get(letter, letter)
        text += letter
    return text


def plain(text: str) -> str:
    """The symbol of some text that a function made."""
    head, _, rest = text.partition(":")
    scheme = head[:1].isalpha() and head.isascii() and all(c.isalnum() or c in "+.-" for c in head)
    iri = (scheme and rest.startswith("//")) or (head == "urn" and ":" in text)
    iri = iri and not any(c in ' \t\n\r\f\v<>"{}|\\^`' for c in text)
    if not (iri or text[:1] in ("<", '"') or text[:2] == "_:"):
        return text
    for letter, escape in (
        ("\\", "\\\\"),
        ('"', '\\"'),
        ("\n", "\\n"),
        ("\r", "\\r"),
        ("\t", "\\t"),
    ):
        text = text.replace(letter, escape)
    return f'"{text}"'


# --- functions -----------------------------------------------------------------------------------


def evaluate(expression: Expression, environment: Mapping[Var, Value]) -> Value:
    """The value of an expression. Raises _NoValue or Overflow."""
    if isinstance(expression, Var):
        return environment[expression]
    if not isinstance(expression, Call):
        return _float(expression) if isinstance(expression, float) else expression
    arguments = [evaluate(argument, environment) for argument in expression.arguments]
    if expression.function in ("concat", *_TEXT):
        arguments = [lexical(a) if isinstance(a, str) else a for a in arguments]
    elif any(isinstance(a, float) for a in arguments) and expression.function != "round":
        arguments = [_as(a, "float") for a in arguments]
    return _finished(_FUNCTIONS[expression.function](*arguments))


def _finished(value: Value) -> Value:
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, float):
        return _float(value)
    if type(value) is int and not -(2**63) <= value < 2**63:
        raise Overflow
    return value


def _divided(a: float, b: float) -> float:
    if b == 0:
        raise _NoValue
    return float(a) / float(b)


def _remainder(a: float, b: float) -> float:
    """What is left of a division that is cut off towards zero."""
    if b == 0:
        raise _NoValue
    if isinstance(a, int) and isinstance(b, int):
        return abs(a) % abs(b) * (1 if a >= 0 else -1)
    return _or_nan(math.fmod, a, b)


def _rounded(value: float, places: int = 0) -> float:
    """Half goes away from zero."""
    if isinstance(value, int) or not math.isfinite(value):
        return value
    moved = value * 10.0**places if places else value
    if not math.isfinite(moved):
        return value
    whole = (
        float(Decimal(moved).quantize(Decimal(1), ROUND_HALF_UP)) if abs(moved) < 2**52 else moved
    )
    return whole / 10.0**places if places else whole


def _whole(function: Callable[[float], int]) -> Callable[[float], float]:
    def apply(value: float) -> float:
        if isinstance(value, int) or not math.isfinite(value):
            return value
        return float(function(value))

    return apply


def _or_nan(function: Callable[..., float], *values: float) -> float:
    try:
        return function(*map(float, values))
    except ValueError:
        return NAN


def _power(base: float, exponent: float) -> float:
    base, exponent = float(base), float(exponent)
    if base == 0 and exponent < 0:
        return math.inf
    try:
        return _or_nan(math.pow, base, exponent)
    except OverflowError:
        return -math.inf if base < 0 and exponent % 2 == 1 else math.inf


def _exponential(value: float) -> float:
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf


def _root(value: float) -> float:
    if value < 0:
        raise _NoValue
    return math.sqrt(value)


def _logarithm(value: float) -> float:
    if value <= 0:
        raise _NoValue
    return math.log(value)


def _written(value: Value) -> str:
    """A value within a text."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime.datetime):
        text = value.isoformat(" ")
        return text.rstrip("0") if value.microsecond else text
    return value.isoformat() if isinstance(value, datetime.date) else str(value)


def _piece(text: str, start: int, length: int | None = None) -> str:
    """A piece of a text; the first letter has number 1."""
    return text[start - 1 :] if length is None else text[start - 1 : start - 1 + length]


_TEXT: Mapping[str, Callable[..., Value]] = {
    "length": len,
    "lower": str.lower,
    "upper": str.upper,
    "trim": lambda text: text.strip(" "),
    "substr": _piece,
    "replace": lambda text, old, new: text.replace(old, new) if old else text,
    "contains": lambda text, part: part in text,
    "starts_with": str.startswith,
    "ends_with": str.endswith,
}

_FUNCTIONS: Mapping[str, Callable[..., Value]] = {
    **_TEXT,
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _divided,
    "%": _remainder,
    "abs": abs,
    "round": _rounded,
    "floor": _whole(math.floor),
    "ceil": _whole(math.ceil),
    "sqrt": _root,
    "power": _power,
    "exp": _exponential,
    "ln": _logarithm,
    "least": lambda *values: min(values, key=_order),
    "greatest": lambda *values: max(values, key=_order),
    "concat": lambda *values: "".join(map(_written, values)),
    "year": lambda moment: moment.year,
    "month": lambda moment: moment.month,
    "day": lambda moment: moment.day,
    "hour": lambda moment: moment.hour,
    "minute": lambda moment: moment.minute,
    "second": lambda moment: moment.second,
}


# --- aggregates ----------------------------------------------------------------------------------


def _aggregated(literal: Aggregate, known: Mapping[str, set[Row]], types: Types) -> list[Row]:
    """One row for each group: its variables' values and the result."""
    distinct = {
        tuple(sorted(((v.name, value) for v, value in solution.items()), key=lambda item: item[0]))
        for solution in solutions(literal.body, known, types)
    }
    groups: dict[Row, list[Value]] = {}
    for solution in distinct:
        values = dict(solution)
        group = tuple(values[variable.name] for variable in literal.group)
        groups.setdefault(group, []).append(values[literal.argument.name])
    function = _AGGREGATES[literal.function]
    return [(*group, _finished_result(function(values))) for group, values in groups.items()]


def _finished_result(value: Value) -> Value:
    return value if isinstance(value, str) else _finished(value)


def _meaning(value: Value) -> tuple[object, ...]:
    """Symbols of the same meaning are ordered by their text."""
    return (*_order(value), value) if isinstance(value, str) else _order(value)


def _sum(values: Sequence[float]) -> float:
    """Floats from the least to the greatest: their sum depends on the order."""
    total: float = 0.0 if isinstance(values[0], float) else 0
    for value in sorted(values, key=_order):
        total += value
    return total


def _median(values: Sequence[float]) -> float:
    ordered = [float(value) for value in sorted(values, key=_order)]
    low, high = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    return low if len(ordered) % 2 else low * 0.5 + high * 0.5


_AGGREGATES: Mapping[str, Callable[[Sequence], Value]] = {  # type: ignore[type-arg]
    "COUNT": len,
    "SUM": _sum,
    "MIN": lambda values: min(values, key=_meaning),
    "MAX": lambda values: max(values, key=_meaning),
    "AVG": lambda values: float(_sum(values)) / len(values),
    "MED": _median,
}
