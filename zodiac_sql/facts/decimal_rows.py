"""Numbers of Python and Arrow as columns of decimals, or of terms where a column has no room."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from zodiac_sql.errors import DataError
from zodiac_sql.facts.arrow_types import arrow_type
from zodiac_sql.facts.python_values import shown
from zodiac_sql.facts.terms import term_of
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


def is_wide_decimal(type_: pa.DataType) -> bool:
    """Whether a type of Arrow has decimals of more than 38 digits, which DuckDB lacks."""
    import pyarrow as pa

    if pa.types.is_dictionary(type_) or pa.types.is_run_end_encoded(type_):
        return is_wide_decimal(type_.value_type)
    return bool(pa.types.is_decimal256(type_))


def with_wide_decimals(
    data: pa.Table, types: Mapping[str, Type | None], is_declared: bool, gone: bool
) -> tuple[pa.Table, tuple[str, ...]]:
    """A table with texts of terms for wide decimals that are none of ours, and these columns.

    `types` are those of the predicate's columns. A row that is to be deleted (`gone`) is left out
    if such a decimal can be no value of its column.
    """
    import pyarrow as pa

    terms = []
    for place, field in enumerate(data.schema):
        type_ = types.get(field.name)
        if not is_wide_decimal(field.type) or (is_declared and type_ is not Type.ANY):
            continue
        values = data.column(place).to_pylist()
        fit = [value is None or fits(value) for value in values]
        if all(fit) and type_ is not Type.ANY:
            continue
        if gone and type_ is not Type.ANY:
            data = data.filter(pa.array(fit))
            continue
        texts = [None if value is None else term_of(value, is_declared) for value in values]
        data = data.set_column(place, field.name, pa.array(texts, pa.large_string()))
        terms.append(field.name)
    return data, tuple(terms)


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
