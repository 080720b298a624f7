"""Numbers of Python as columns of decimals."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from zodiac_sql.errors import DataError
from zodiac_sql.facts.arrow_types import arrow_type
from zodiac_sql.facts.python_values import shown
from zodiac_sql.language.decimals import ROOM, decimal_of, fits, fitting
from zodiac_sql.language.syntax import Type

if TYPE_CHECKING:
    import pyarrow as pa


def decimals(where: str, column: Sequence[Decimal | int]) -> pa.Array:
    """A column of decimals. Raises DataError naming the first row without room."""
    import pyarrow as pa

    values = [Decimal(value) for value in column]
    try:
        return pa.array(list(map(fitting, values)), arrow_type(Type.DECIMAL))
    except OverflowError:
        at = next(i for i, value in enumerate(values) if not fits(value))
        raise DataError(
            f"{where} holds {shown(column[at])} in row {at + 1}, which has no room: {ROOM}. "
            "Round it first, or make it text."
        ) from None


def with_decimals(where: str, values: Sequence[Any]) -> list[Any]:
    """Values of a column of decimals, in which texts, and numbers with a point, are decimals.

    Raises DataError for a text that is none.
    """
    return [_read(where, value, at) for at, value in enumerate(values)]


def _read(where: str, value: Any, at: int) -> Any:
    if isinstance(value, bool) or not isinstance(value, str | float):
        return value
    try:
        return decimal_of(value if isinstance(value, str) else repr(value))
    except (OverflowError, ValueError):
        raise DataError(
            f"{where} holds {shown(value)} in row {at + 1}, which is no decimal: {ROOM}."
        ) from None
