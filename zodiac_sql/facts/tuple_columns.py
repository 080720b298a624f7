"""The columns of tuples -> Arrow arrays, each of one type, or of texts of terms of all kinds."""

from __future__ import annotations

import datetime
import decimal
import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zodiac_sql.errors import DataError
from zodiac_sql.facts.columns import way_out
from zodiac_sql.facts.decimal_rows import decimals
from zodiac_sql.facts.moment_texts import (
    READERS,
    reads_as,
    require_micros,
    timestamps,
    with_moments,
)
from zodiac_sql.facts.python_values import (
    beyond_64_bits,
    has_surrogate,
    in_64_bits,
    is_bool,
    rows_said,
    shown,
)
from zodiac_sql.facts.terms import term_of
from zodiac_sql.facts.tuple_options import EMPTY
from zodiac_sql.language.decimals import fits, is_widened, widest_number
from zodiac_sql.language.syntax import Column, Type

if TYPE_CHECKING:
    import pyarrow as pa

Kinds = Mapping[type, Type | None]
"""The classes of values, and the types of columns that hold them."""


@dataclass(frozen=True, slots=True)
class TupleColumn:
    """A column of tuples, the column of the predicate that it is for, and if that is `declared`.

    The rows may be `gone`, which are to be deleted.
    """

    predicate: str
    name: str
    known: Column | None
    declared: bool
    gone: bool

    @property
    def where(self) -> str:
        """What messages call it."""
        return f"{self.predicate}: column {self.known.name if self.known else self.name}"

    @property
    def type(self) -> Type | None:
        """The type that the predicate tells."""
        return self.known.meant if self.known else None

    @property
    def is_free(self) -> bool:
        """Whether its values may make the column wider."""
        return not self.declared and not self.gone


def column_of(column: TupleColumn, values: tuple[Any, ...]) -> tuple[pa.Array, bool]:
    """An array of values, and whether they are texts of terms of all kinds. Raises DataError."""
    type_ = column.type
    if type_ is Type.SYMBOL and not column.is_free:
        values = _as_text(values)
    elif type_ in READERS and any(issubclass(kind, str) for kind in set(map(type, values))):
        values = _with_moments(column, values)
    kinds = {kind: _type_of(kind) for kind in set(map(type, values))}
    if type_ is Type.FLOAT and not column.is_free:
        kinds = {k: type_ if found is Type.DECIMAL else found for k, found in kinds.items()}
    if type_ is Type.ANY or (column.is_free and _is_mixed(values, kinds)):
        return _terms(column, values, kinds), True
    if column.declared and type_ is not None:
        _require_type(column, values, kinds)
    return _array(column.where, values, kinds), False


def _with_moments(column: TupleColumn, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Values of a column of dates or timestamps, with texts read; raises DataError for others.

    Where the column may widen, other texts stay texts.
    """
    assert column.known and column.known.type
    type_, where = column.known.type, f"{column.predicate}: column {column.known.name}"
    if column.is_free:
        read = reads_as(where, type_)
        return tuple([
            with_moments(where, (value,), type_)[0] if isinstance(value, str) and read(value)
            else value
            for value in values
        ])  # fmt: skip
    return with_moments(where, values, type_)


def _is_mixed(values: tuple[Any, ...], kinds: Kinds) -> bool:
    """Whether values have no type in common that holds each of them as it is."""
    types = set(kinds.values())
    if None in types:
        return False  # it is refused
    if all(type_ and type_.numeric for type_ in types):
        return not _are_numbers(values, kinds, types)
    if len(types) > 1:
        return True
    if types == {Type.TIMESTAMP}:
        zones = {value.tzinfo is None for value in values}
        return len(zones) > 1
    return False


def _are_numbers(values: tuple[Any, ...], kinds: Kinds, types: set[Type | None]) -> bool:
    """Whether numbers are all ints of 64 bits, all decimals, or all floats; ints may be the others.

    A decimal and a float are terms of different datatypes.
    """
    ints = tuple(kind for kind, type_ in kinds.items() if type_ is Type.INT)
    if types == {Type.INT}:
        return in_64_bits(max(values)) and in_64_bits(min(values))
    if types == {Type.FLOAT}:
        return True
    if Type.FLOAT not in types:
        return all(in_64_bits(value) if type(value) in ints else fits(value) for value in values)
    return Type.DECIMAL not in types and all(
        is_exact(value) for value in values if type(value) in ints
    )


def is_exact(value: Any) -> bool:
    """Whether an int is equal to a float, and has 64 bits."""
    return in_64_bits(value) and int(float(value)) == value


def _terms(column: TupleColumn, values: tuple[Any, ...], kinds: Kinds) -> pa.Array:
    """The texts of the terms that values are. Raises DataError for those that are none."""
    import pyarrow as pa

    for kind, type_ in kinds.items():
        if type_ is None:
            raise DataError(_no_value(column.where, values, kind))
        if type_ is Type.FLOAT and not issubclass(kind, (float, decimal.Decimal)):
            _check_exact(column.where, values, {kind: Type.FLOAT})
        if issubclass(kind, decimal.Decimal):
            _require_finite(column.where, values)
        if type_ is Type.TIMESTAMP and kind is not datetime.datetime:
            require_micros(column.where, values)
    texts = [term_of(value, column.declared) for value in values]
    try:
        return pa.array(texts, type=pa.large_string())
    except UnicodeEncodeError:
        raise DataError(_half_of_a_pair(column.where, texts)) from None


def _require_finite(where: str, values: Sequence[Any]) -> None:
    """Raise DataError for a decimal that is no number."""
    for at, value in enumerate(values):
        if isinstance(value, decimal.Decimal) and not value.is_finite():
            raise DataError(
                f"{where} holds {shown(value)} in row {at + 1}, and no decimal of RDF is so: make "
                "it a float."
            )


def fitting(rows: Sequence[Any], columns: Sequence[Column | None]) -> list[Any]:
    """Only those rows whose values columns of these types can hold."""
    wanted = [
        (place, column.type)
        for place, column in enumerate(columns)
        if column and column.meant not in (None, Type.ANY)
    ]
    return [row for row in rows if all(_fits(row[place], type_) for place, type_ in wanted)]


def _fits(value: Any, type_: Type | None) -> bool:
    """Whether a value can be one of a column, or is refused as none of any column."""
    found = _type_of(type(value))
    if found is None or found is type_:
        return found is not Type.INT or in_64_bits(value)
    if isinstance(value, str) and type_ and type_ in READERS:
        return reads_as("", type_)(value)
    if type_ is Type.INT and found in (Type.FLOAT, Type.DECIMAL):
        return bool(value == value // 1) and in_64_bits(value)
    if type_ is Type.DECIMAL and found is Type.FLOAT:
        return math.isfinite(value) and fits(decimal.Decimal(repr(float(value))))
    if type_ is Type.FLOAT and found is Type.DECIMAL:
        return _is_double(value)
    return found is Type.INT and type_ in (Type.FLOAT, Type.DECIMAL) and is_exact(value)


def _require_type(column: TupleColumn, values: tuple[Any, ...], kinds: Kinds) -> None:
    """Raise DataError naming the rows with values that a declared column cannot hold."""
    type_ = column.type
    others = {
        kind
        for kind, found in kinds.items()
        if found not in (type_, None) and not is_widened(found, type_)
    }
    if not others:
        return
    places = [at for at, value in enumerate(values) if type(value) in others]
    at = places[0]
    found = kinds[type(values[at])]
    assert column.known and found
    more = "" if len(places) == 1 else f" (such values are in {rows_said(places)})"
    raise DataError(
        f"{column.where} has the type {type_}, and holds {shown(values[at])} in row {at + 1}, "
        f"of type {found}{more}. {way_out(column.predicate, column.known, found)}"
    )


def _as_text(column: tuple[Any, ...]) -> tuple[Any, ...]:
    """A column of symbols, with texts of numbers if some are only kept exactly so."""
    kinds = set(map(type, column))
    if not all(issubclass(kind, (int, decimal.Decimal)) and kind is not bool for kind in kinds):
        return column
    if decimal.Decimal in kinds or not all(map(in_64_bits, column)):
        return tuple(map(str, column))
    return column


def _array(where: str, column: tuple[Any, ...], kinds: Kinds) -> pa.Array:
    """One column of tuples. Raises DataError naming the first row that does not fit."""
    import pyarrow as pa

    type_ = _one_type(where, column, kinds)
    try:
        match type_:
            case Type.FLOAT:
                _check_exact(where, column, kinds)
                return pa.array([float(value) for value in column], type=pa.float64())
            case Type.DECIMAL:
                return decimals(where, column)
            case Type.INT:
                return pa.array(column, type=pa.int64())
            case Type.TIMESTAMP:
                return timestamps(where, column)
            case Type.SYMBOL:
                return pa.array([str(value) for value in column], type=pa.large_string())
            case _:
                return pa.array(column)
    except OverflowError:
        at = next(i for i, value in enumerate(column) if not in_64_bits(value))
        raise DataError(beyond_64_bits(where, column[at], at)) from None
    except UnicodeEncodeError:
        raise DataError(_half_of_a_pair(where, column)) from None
    except pa.ArrowInvalid as error:
        raise DataError(f"{where} cannot be read: {error}") from None


def _half_of_a_pair(where: str, column: Sequence[object]) -> str:
    at = next(i for i, value in enumerate(column) if has_surrogate(str(value)))
    return (
        f"{where} cannot be read: {shown(column[at])} in row {at + 1} holds half of a "
        "surrogate pair, which is no character."
    )


def _one_type(where: str, column: tuple[Any, ...], kinds: Kinds) -> Type:
    """The type of all values of a column; that of numbers together is the widest."""
    types: set[Type] = set()
    for kind, type_ in kinds.items():
        if type_ is None:
            raise DataError(_no_value(where, column, kind))
        types.add(type_)
    if wide := widest_number(types):
        return wide
    if len(types) > 1:
        raise DataError(_several_types(where, column, kinds))
    (one,) = types
    return one


def _no_value(where: str, column: tuple[Any, ...], kind: type) -> str:
    """The message about a value that no column of a fact can hold."""
    at = _first(column, kind)
    if kind.__name__ in EMPTY:
        places = [at for at, value in enumerate(column) if type(value) is kind]
        return (
            f"{where} is empty ({column[at]}) in {rows_said(places)}. Every column of a fact has a "
            "value: fill it, or leave the row out, by hand or by `nulls`."
        )
    return (
        f"{where} holds {shown(column[at])} in row {at + 1}, a {kind.__name__}. A fact's column "
        "holds text, numbers, booleans, dates or timestamps."
    )


def _several_types(where: str, column: tuple[Any, ...], kinds: Kinds) -> str:
    """The message about values of several types: it names the first that does not fit row 1."""
    first = kinds[type(column[0])]
    at = min(_first(column, kind) for kind, type_ in kinds.items() if type_ is not first)
    if widest_number({first, kinds[type(column[at])]}):
        others = (k for k, type_ in kinds.items() if type_ and not type_.numeric)
        at = min(_first(column, k) for k in others)
    return (
        f"{where} holds {shown(column[at])} in row {at + 1}, of type "
        f"{kinds[type(column[at])]}, and {shown(column[0])} in row 1, of type {first}. "
        "A column holds values of one type: convert them first."
    )


def _check_exact(where: str, column: tuple[Any, ...], kinds: Kinds) -> None:
    """Refuse numbers that a double would change: decimals, long doubles, integers beyond 64 bits.

    Integers of up to 64 bits become the nearest double, as everywhere. A decimal must be the
    shortest way to write its double, so that two decimals never become one number.
    """
    large = tuple(kind for kind, type_ in kinds.items() if type_ is Type.INT)
    floats = (kind for kind, type_ in kinds.items() if type_ is Type.FLOAT)
    others = tuple(kind for kind in floats if not issubclass(kind, float))
    if not large and not others:
        return
    for at, value in enumerate(column):
        kind = type(value)
        if kind in large and not in_64_bits(value):
            raise DataError(beyond_64_bits(where, value, at))
        if kind in others and not _is_double(value):
            raise DataError(
                f"{where} holds {shown(value)} in row {at + 1}, which would be rounded: floats "
                "have 64 bits. Round it first, or make it text."
            )


def _is_double(value: Any) -> bool:
    if not isinstance(value, decimal.Decimal):
        return math.isnan(value) or bool(float(value) == value)
    if not value.is_finite():
        return not value.is_snan()
    return decimal.Decimal(repr(float(value))) == value


def _type_of(kind: type) -> Type | None:
    """The type of a fact's column that holds values of a Python class. Order matters: a bool is
    an int, a datetime is a date, and pandas makes NaT a datetime."""
    if kind.__name__ in EMPTY:
        return None
    if is_bool(kind):
        return Type.BOOL
    if issubclass(kind, str):
        return Type.SYMBOL
    if issubclass(kind, numbers.Integral):
        return Type.INT
    if issubclass(kind, decimal.Decimal):
        return Type.DECIMAL
    if issubclass(kind, numbers.Real) and kind.__name__ != "Fraction":
        return Type.FLOAT
    if issubclass(kind, datetime.datetime):
        return Type.TIMESTAMP
    return Type.DATE if issubclass(kind, datetime.date) else None


def _first(column: tuple[Any, ...], kind: type) -> int:
    return next(i for i, value in enumerate(column) if type(value) is kind)
