"""The functions that rules may use: built in, and registered from Python.

A function receives a symbol as its text (without quotes, language or datatype), and text that it
returns becomes a plain symbol.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from zodiac_sql.errors import MissingFunctionError
from zodiac_sql.language.decimals import widest
from zodiac_sql.language.escapes import unquoted
from zodiac_sql.language.syntax import Call, Constant, Type

_NUMBER = frozenset({Type.INT, Type.DECIMAL, Type.FLOAT})
_TEXT = frozenset({Type.SYMBOL})
_MOMENT = frozenset({Type.DATE, Type.TIMESTAMP})
_BOOL = frozenset({Type.BOOL})
_CLOCK = frozenset({Type.TIMESTAMP})
_INT = frozenset({Type.INT})
_ORDERED = _NUMBER | _MOMENT
_ANY = frozenset(Type)

Accepted = frozenset[Type]


@dataclass(frozen=True, slots=True)
class Builtin:
    """A function that DuckDB and Spark have, too.

    If `returns` is None, the result has the widest type of the arguments, or that of argument `of`.
    The last parameter of a `variadic` function may be given any number of times; the last
    `optional` ones may be left out. The arguments from number `alike` on must be of types that
    compare with each other. The last parameter of a `zoned` function is a time zone. The arguments
    in `texts` are constants, which are read before the rule runs.
    """

    parameters: tuple[Accepted, ...]
    returns: Type | None
    variadic: bool = False
    optional: int = 0
    alike: int | None = None
    of: int | None = None
    zoned: bool = False
    texts: tuple[int, ...] = ()

    def accepts(self, count: int) -> bool:
        most = len(self.parameters)
        return count >= most - self.optional and (self.variadic or count <= most)

    def counts(self) -> str:
        """How many arguments it takes, in words."""
        most = len(self.parameters)
        least = most - self.optional
        if self.variadic:
            return f"{least} or more"
        return f"{most}" if least == most else f"{least} or {most}"

    def parameter(self, index: int, count: int) -> Accepted:
        """The types that a function takes for one of `count` arguments."""
        found = self.parameters[min(index, len(self.parameters) - 1)]
        if self.zoned and count == len(self.parameters) and Type.TIMESTAMP in found:
            return found & _CLOCK  # a day has no time zone
        return found


BUILTINS: Mapping[str, Builtin] = {
    "+": Builtin((_NUMBER, _NUMBER), None),
    "-": Builtin((_NUMBER, _NUMBER), None),
    "*": Builtin((_NUMBER, _NUMBER), None),
    "/": Builtin((_NUMBER, _NUMBER), Type.FLOAT),
    "%": Builtin((_NUMBER, _NUMBER), None),
    "abs": Builtin((_NUMBER,), None),
    "round": Builtin((_NUMBER, _INT), None, optional=1),
    "floor": Builtin((_NUMBER,), None),
    "ceil": Builtin((_NUMBER,), None),
    "sqrt": Builtin((_NUMBER,), Type.FLOAT),
    "power": Builtin((_NUMBER, _NUMBER), Type.FLOAT),
    "exp": Builtin((_NUMBER,), Type.FLOAT),
    "ln": Builtin((_NUMBER,), Type.FLOAT),
    "least": Builtin((_ORDERED, _ORDERED), None, variadic=True, alike=0),
    "greatest": Builtin((_ORDERED, _ORDERED), None, variadic=True, alike=0),
    "length": Builtin((_TEXT,), Type.INT),
    "concat": Builtin((_ANY, _ANY), Type.SYMBOL, variadic=True),
    "lower": Builtin((_TEXT,), Type.SYMBOL),
    "upper": Builtin((_TEXT,), Type.SYMBOL),
    "trim": Builtin((_TEXT,), Type.SYMBOL),
    "substr": Builtin((_TEXT, _INT, _INT), Type.SYMBOL, optional=1),
    "replace": Builtin((_TEXT, _TEXT, _TEXT), Type.SYMBOL),
    "contains": Builtin((_TEXT, _TEXT), Type.BOOL),
    "starts_with": Builtin((_TEXT, _TEXT), Type.BOOL),
    "ends_with": Builtin((_TEXT, _TEXT), Type.BOOL),
    "now": Builtin((), Type.TIMESTAMP),
    "year": Builtin((_MOMENT,), Type.INT),
    "month": Builtin((_MOMENT,), Type.INT),
    "day": Builtin((_MOMENT,), Type.INT),
    "hour": Builtin((_CLOCK,), Type.INT),
    "minute": Builtin((_CLOCK,), Type.INT),
    "second": Builtin((_CLOCK,), Type.INT),
    "int": Builtin((_NUMBER | _TEXT,), Type.INT),
    "float": Builtin((_NUMBER | _TEXT,), Type.FLOAT),
    "decimal": Builtin((_NUMBER | _TEXT,), Type.DECIMAL),
    "text": Builtin((_ANY,), Type.SYMBOL),
    "matches": Builtin((_TEXT, _TEXT), Type.BOOL),
    "regex_replace": Builtin((_TEXT, _TEXT, _TEXT), Type.SYMBOL),
    "regex_extract": Builtin((_TEXT, _TEXT, _INT), Type.SYMBOL, optional=1),
    "add_days": Builtin((_MOMENT, _INT), None),
    "add_seconds": Builtin((_CLOCK, _NUMBER), Type.TIMESTAMP),
    "days_between": Builtin((_MOMENT, _MOMENT), Type.INT),
    "seconds_between": Builtin((_MOMENT, _MOMENT), Type.FLOAT),
    "epoch": Builtin((_MOMENT,), Type.FLOAT),
    "date": Builtin((_MOMENT, _TEXT), Type.DATE, optional=1, zoned=True, texts=(1,)),
    "time_bucket": Builtin(
        (_TEXT, _MOMENT, _TEXT), None, optional=1, of=1, zoned=True, texts=(0, 2)
    ),
    "format_time": Builtin(
        (_MOMENT, _TEXT, _TEXT), Type.SYMBOL, optional=1, zoned=True, texts=(1, 2)
    ),
    "if": Builtin((_BOOL, _ANY, _ANY), None, alike=1),
    "and": Builtin((_BOOL, _BOOL), Type.BOOL),
    "or": Builtin((_BOOL, _BOOL), Type.BOOL),
    "not": Builtin((_BOOL,), Type.BOOL),
    **{
        operator: Builtin((_ANY, _ANY), Type.BOOL, alike=0)
        for operator in ("=", "!=", "<", "<=", ">", ">=")
    },
}

COMPARISONS = frozenset(("=", "!=", "<", "<=", ">", ">="))
"""The functions of a condition that compare."""

AGGREGATES: Mapping[str, Builtin] = {
    "count": Builtin((_ANY,), Type.INT),
    "sum": Builtin((_NUMBER,), None),
    "min": Builtin((_ANY,), None),
    "max": Builtin((_ANY,), None),
    "avg": Builtin((_NUMBER,), Type.FLOAT),
    "med": Builtin((_NUMBER,), Type.FLOAT),
}


@dataclass(frozen=True, slots=True)
class Function:
    """A function registered from Python, or known from the file but not registered now.

    A scalar is called as `call(*values)`; an aggregate as `call(list_of_values)`. With `arrow`, the
    arguments are pyarrow arrays of many rows, and so must be the result. A result of None (null)
    means no value, and the rule derives nothing from it.
    """

    name: str
    parameters: tuple[Type, ...]
    returns: Type
    aggregate: bool = False
    arrow: bool = False
    call: Callable[..., object] | None = field(default=None, compare=False)

    def builtin(self) -> Builtin:
        """Its signature in the form that built-in functions have."""
        return Builtin(
            tuple(_WIDENED.get(p, frozenset({p})) for p in self.parameters), self.returns
        )


_WIDENED: Mapping[Type, Accepted] = {
    Type.FLOAT: _NUMBER, Type.DECIMAL: frozenset({Type.INT, Type.DECIMAL}),
}  # fmt: skip
"""The types that become another one."""

Functions = Mapping[str, Function]


def require(names: Iterable[str], functions: Functions, who: str) -> None:
    """Raise MissingFunctionError if one of the functions is known, but not registered now."""
    for name in sorted(set(names)):
        known = functions.get(name)
        if known is not None and known.call is None:
            verb = "register_aggregate" if known.aggregate else "register_function"
            raise MissingFunctionError(
                f"{who} needs the function {name}, which is not registered. Nothing was changed. "
                f"Register it first: kb.{verb}({name!r}, ...)."
            )


def signature(name: str, aggregate: bool, functions: Functions) -> Builtin | None:
    """The signature of a function by name, or None if there is no such function."""
    registered = functions.get(name)
    if registered is not None and registered.aggregate == aggregate:
        return registered.builtin()
    return (AGGREGATES if aggregate else BUILTINS).get(name)


def fixed_texts(call: Call, functions: Functions) -> Mapping[int, str]:
    """The texts among the arguments of a call that are read before the rule runs, by place."""
    builtin = None if call.function in functions else BUILTINS.get(call.function)
    if builtin is None or not builtin.texts:
        return {}
    pairs = [
        (place, call.arguments[place]) for place in builtin.texts if place < len(call.arguments)
    ]
    return {place: meant(given) for place, given in pairs if isinstance(given, Constant)}


def meant(constant: Constant) -> str:
    """The text that a constant stands for, without the quotes of what would be an IRI otherwise."""
    text = str(constant.value)
    return unquoted(text)[0] if text.startswith('"') else text


def result_type(builtin: Builtin, arguments: Sequence[Type | None]) -> Type | None:
    """The type of a call's value; None while an argument's type is open."""
    if builtin.returns is not None:
        return builtin.returns
    if builtin.of is not None:
        found = arguments[builtin.of] if builtin.of < len(arguments) else None
        return Type.TIMESTAMP if found is Type.ANY else found
    arguments = arguments[builtin.alike or 0 :]
    if any(argument is None for argument in arguments):
        return None
    if Type.ANY in arguments:
        return _of_terms(builtin, arguments)
    return widest(arguments)


def _of_terms(builtin: Builtin, arguments: Sequence[Type | None]) -> Type:
    """The type of a call with terms of any kind: a float beside a number makes a float of it."""
    first = builtin.parameters[0]
    if first <= _MOMENT:
        return Type.TIMESTAMP if arguments[0] in (None, Type.ANY) else arguments[0]
    return Type.FLOAT if Type.FLOAT in arguments and first <= _NUMBER else Type.ANY
