"""Python functions that rules use: their types, and their registration in DuckDB."""

from __future__ import annotations

import datetime
import decimal
import inspect
import typing
from collections.abc import Callable, Sequence
from typing import Any

from zodiac_sql.database import registered_functions
from zodiac_sql.database.column_types import TEXT_TYPES
from zodiac_sql.database.store import Store
from zodiac_sql.database.watch import Watch
from zodiac_sql.errors import FunctionError
from zodiac_sql.language.functions import AGGREGATES, BUILTINS, Function
from zodiac_sql.language.literals import TYPE_NAMES
from zodiac_sql.language.syntax import Type

_PYTHON_TYPES = {
    str: Type.SYMBOL,
    int: Type.INT,
    float: Type.FLOAT,
    decimal.Decimal: Type.DECIMAL,
    bool: Type.BOOL,
    datetime.date: Type.DATE,
    datetime.datetime: Type.TIMESTAMP,
}


def add_function(store: Store, function: Function) -> None:
    """Make a registered function callable from SQL."""
    from zodiac_sql.sql.functions import python_function

    types = [TEXT_TYPES[type_] for type_ in function.parameters]
    if function.aggregate:
        types = [f"{type_}[]" for type_ in types]
    assert function.call is not None
    registered_functions.add_function(
        store,
        python_function(function.name),
        _with_arity(function.call, len(types), store.watch),
        types,
        TEXT_TYPES[function.returns],
        function.arrow,
    )


def function_of(
    name: str,
    call: Callable[..., Any],
    parameters: Sequence[Any] | None,
    returns: Any,
    aggregate: bool,
    arrow: bool,
) -> Function:
    """A registered function with its types, given or read from annotations."""
    lowered = name.lower()
    if not lowered.isidentifier():
        raise FunctionError(f"{name} is no name for a function")
    hints = typing.get_type_hints(call) if inspect.isfunction(call) else {}
    if parameters is None:
        given = [hints.get(parameter) for parameter in inspect.signature(call).parameters]
        parameters = [_element(hint) if aggregate else hint for hint in given]
    result = hints.get("return") if returns is None else returns
    types = tuple(_type(name, parameter) for parameter in parameters)
    return Function(lowered, types, _type(name, result), aggregate, arrow, call)


def require_free(name: str) -> None:
    """Raise FunctionError if a function that no rule of the file uses has a name of ours.

    Rules that were written before we had one of that name go on with the registered function.
    """
    if name in BUILTINS or name in AGGREGATES:
        raise FunctionError(f"{name} is the name of a function that is built in")


def takes(call: Callable[..., Any], arguments: int) -> bool:
    """Whether a function can be called with this many arguments; True if it has no signature."""
    try:
        inspect.signature(call).bind(*range(arguments))
    except TypeError:
        return False
    except ValueError:  # some built-in functions have no signature
        return True
    return True


def _with_arity(call: Callable[..., Any], arguments: int, watch: Watch) -> Callable[..., Any]:
    """The function with exactly this many parameters in its signature, which DuckDB inspects."""
    names = [f"a{index}" for index in range(arguments)]
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD

    def called(*values: object) -> object:
        if watch.struck:
            raise InterruptedError("the statement was interrupted")
        return call(*values)

    called.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(name, kind) for name in names]
    )
    return called


def _element(hint: Any) -> Any:
    """The type of the elements of an annotated list: `list[float]` -> float."""
    inside = typing.get_args(hint)
    return inside[0] if inside else hint


def _type(name: str, given: object) -> Type:
    found = TYPE_NAMES.get(given.lower()) if isinstance(given, str) else None
    if found is None and isinstance(given, type):
        found = _PYTHON_TYPES.get(given)
    if found is None:
        known = ", ".join(type_.value for type_ in Type)
        raise FunctionError(
            f"the types of {name} must be given, or annotated, as one of {known}; not {given!r}"
        )
    return found


def signature(function: Function) -> Function:
    """A function without its Python code, as the catalog keeps it."""
    return Function(function.name, function.parameters, function.returns, function.aggregate)


def shown(function: Function) -> str:
    return f"{function.name}({', '.join(function.parameters)}) -> {function.returns}"
