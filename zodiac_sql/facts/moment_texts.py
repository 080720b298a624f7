"""Dates and timestamps in rows: ISO texts become them where a predicate's column holds them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from zodiac_sql.errors import DataError, shortened
from zodiac_sql.facts.python_values import rows_said, shown
from zodiac_sql.language.moments import FinerError, date_of, moment_of
from zodiac_sql.language.syntax import Type

if TYPE_CHECKING:
    import pyarrow as pa

READERS: Mapping[Type, Callable[[str], object]] = {
    Type.DATE: date_of,
    Type.TIMESTAMP: moment_of,
}
"""What reads a text, in a column of a type."""

_EXAMPLES = {Type.DATE: "2026-01-02", Type.TIMESTAMP: "2026-01-02T00:00:00"}


def with_moments(
    where: str, values: Iterable[object], type_: Type, before: int = 0
) -> tuple[Any, ...]:
    """The values of a column of dates or timestamps, with texts read. Raises DataError.

    There are `before` rows before these.
    """
    read = READERS[type_]
    found: list[Any] = []
    wrong: list[tuple[int, str]] = []
    for at, value in enumerate(values, before):
        if not isinstance(value, str):
            found.append(value)
            continue
        try:
            found.append(read(value))
        except FinerError:
            raise DataError(_finer(where, value, at + 1)) from None
        except ValueError:
            wrong.append((at, value))
    if wrong:
        places = [at for at, _ in wrong]
        raise DataError(
            f'{where} has the type {type_}, and "{shortened(wrong[0][1])}" is none '
            f"({rows_said(places)}). Write it like {_EXAMPLES[type_]}."
        )
    return tuple(found)


def reads_as(where: str, type_: Type) -> Callable[[str | None], bool]:
    """What tells whether a text is a date or timestamp. Raises DataError for a finer one."""

    def reads(text: str | None) -> bool:
        try:
            return text is None or READERS[type_](text) is not None
        except FinerError:
            raise DataError(_finer(where, text)) from None
        except ValueError:
            return False

    return reads


def read_array(where: str, column: pa.Array, type_: Type, before: int) -> pa.Array:
    """A column of texts as one of dates, or of timestamps in UTC if they have a time zone."""
    import pyarrow as pa

    values = with_moments(where, column.to_pylist(), type_, before)
    if type_ is Type.DATE:
        return pa.array(values, type=pa.date32())
    there = tuple(value for value in values if value is not None)
    zoned = bool(there) and timestamps(where, there).type.tz is not None
    found = pa.array(values, type=pa.timestamp("us", "UTC" if zoned else None))
    return found.cast(pa.timestamp("us"))


def _finer(where: str, value: object, row: int | None = None) -> str:
    place = "" if row is None else f" (row {row})"
    return (
        f'{where}: "{shortened(str(value))}" is finer than microseconds, which a timestamp has'
        f"{place}. Round it first, or make the column a symbol."
    )


def require_micros(where: str, column: Sequence[Any]) -> None:
    """Raise DataError for a moment of pandas with nanoseconds."""
    of_pandas = any(hasattr(kind, "nanosecond") for kind in set(map(type, column)))
    for at, value in enumerate(column if of_pandas else ()):
        if getattr(value, "nanosecond", 0) > 0:  # for NaT it is NaN
            raise DataError(
                f"{where} holds {shown(value)} in row {at + 1}: timestamps have microseconds. "
                "Round it first."
            )


def timestamps(where: str, column: Sequence[Any]) -> pa.Array:
    """Datetimes, all with a time zone (then in UTC) or all without."""
    import pyarrow as pa

    require_micros(where, column)
    zones = set(map(operator.attrgetter("tzinfo"), column))
    if zones == {None}:
        return pa.array(column, type=pa.timestamp("us"))
    if None in zones:
        zoned = column[0].tzinfo is not None
        at = next(i for i, value in enumerate(column) if (value.tzinfo is not None) != zoned)
        raise DataError(
            f"{where} holds {shown(column[at])} in row {at + 1} and {shown(column[0])} in row 1: "
            "give all of them a time zone, or none."
        )
    return pa.array(column, type=pa.timestamp("us", tz="UTC"))
