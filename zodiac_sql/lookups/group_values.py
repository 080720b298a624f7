"""The values of aggregates in SQLite, which are those that DuckDB has for the same group.

SQLite rounds its own sums and averages of floats in other ways, so these are computed in Python.
They add in ascending order, as sql/aggregates.py lets DuckDB do it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from zodiac_sql.language.syntax import Type
from zodiac_sql.lookups.values import MOST_EXACT, Unknown, UnknownValueError

MOST_AVERAGED = 512
"""DuckDB divides ints in a wider format on some machines, and rounds what comes of it to a float.
That it rounds twice makes no difference as long as there are fewer ints than these, and their sum
is a float: two quotients that differ are too far apart then."""

_Number = int | float
_Compute = Callable[[Sequence[Any]], _Number]


def _float_sum(values: Sequence[float]) -> float:
    total = 0.0
    for value in values:  # sum() is more exact in newer versions of Python
        total += value
    return total


def _int_average(values: Sequence[int]) -> float:
    total = sum(values)
    if abs(total) >= MOST_EXACT or len(values) >= MOST_AVERAGED:
        raise UnknownValueError
    return total / len(values)


def _float_average(values: Sequence[float]) -> float:
    return _float_sum(values) / len(values)


def _median(values: Sequence[_Number]) -> float:
    """The value in the middle, or what lies between the two that are."""
    count = len(values)
    low, high = float(values[(count - 1) // 2]), float(values[count // 2])
    return high if count % 2 else low * 0.5 + high * 0.5


_COMPUTED: Mapping[str, _Compute] = {
    "int_sum": sum, "float_sum": _float_sum,
    "int_average": _int_average, "float_average": _float_average, "median": _median,
}  # fmt: skip

_COMPARED = [type_ for type_ in Type if type_ not in (Type.SYMBOL, Type.DECIMAL)]
"""Symbols are compared by their text, which is not copied. Texts of decimals have another order."""

FUNCTIONS: Mapping[tuple[str, Type], str] = {
    **{("count", type_): "count" for type_ in Type},
    **{("min", type_): "min" for type_ in _COMPARED},
    **{("max", type_): "max" for type_ in _COMPARED},
    ("sum", Type.INT): "int_sum", ("sum", Type.FLOAT): "float_sum",
    ("avg", Type.INT): "int_average", ("avg", Type.FLOAT): "float_average",
    ("med", Type.INT): "median", ("med", Type.FLOAT): "median",
}  # fmt: skip
"""The functions of SQLite, by those of rules and the types of their arguments."""


@dataclass(slots=True)
class _Group:
    """The values of a group, as SQLite hands them over one by one. None is no value."""

    compute: _Compute
    unknown: Unknown
    values: list[_Number] = field(default_factory=list)

    def step(self, value: Any) -> None:
        if value is not None:
            self.values.append(value)

    def finalize(self) -> Any:
        """The aggregate."""
        return self.unknown.value(self.compute, sorted(self.values)) if self.values else None


def make_aggregates(connection: sqlite3.Connection, unknown: Unknown) -> None:
    """Let SQLite compute these aggregates."""
    for name, compute in _COMPUTED.items():
        connection.create_aggregate(name, 1, _making(compute, unknown))


def _making(compute: _Compute, unknown: Unknown) -> Callable[[], _Group]:
    return lambda: _Group(compute, unknown)
