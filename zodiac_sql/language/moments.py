"""Dates and moments as texts write them: one reading for streams, rules and queries.

It is the reading of cells in files (facts/load/cells.py): YYYY-MM-DD, and for moments a time of day
after T or a space, HH:MM[:SS[.ffffff]], perhaps with Z or an offset. Python's own reading takes
more forms, and drops digits beyond microseconds.
"""

from __future__ import annotations

import datetime
import re

from zodiac_sql.language.syntax import Type

_DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_DATE = re.compile(_DAY)
_MOMENT = re.compile(
    rf"({_DAY})[ T]((?:[01][0-9]|2[0-3]):[0-9]{{2}}(?::[0-9]{{2}})?)(?:(?<=:..:..)\.([0-9]+))?"
    r"(Z|[+-][0-9]{2}(?::?[0-9]{2})?)?"
)


class FinerError(ValueError):
    """A moment has digits beyond microseconds, which a timestamp cannot keep."""


def date_of(text: str) -> datetime.date:
    """The date that a text writes. Raises ValueError if it writes none."""
    if _DATE.fullmatch(text) is None:
        raise ValueError(text)
    return datetime.date.fromisoformat(text)


def moment_of(text: str) -> datetime.datetime:
    """The moment that a text writes, with its time zone if it has one.

    Raises ValueError if it writes none, and FinerError if a timestamp cannot keep it.
    """
    found = _MOMENT.fullmatch(text)
    if found is None:
        raise ValueError(text)
    day, time, fraction, zone = found.groups()
    if fraction and fraction[6:].strip("0"):
        raise FinerError(text)
    micros = f".{fraction[:6].ljust(6, '0')}" if fraction else ""
    return datetime.datetime.fromisoformat(f"{day} {time}{micros}{zone or ''}")


def said_of(type_: Type, text: str) -> str:
    """What is wrong with a text as a date or a moment, in words; empty if nothing is."""
    try:
        (date_of if type_ is Type.DATE else moment_of)(text)
    except FinerError:
        return "is finer than microseconds"
    except ValueError:
        form = "2024-01-31" if type_ is Type.DATE else "2024-01-31T12:00:00"
        return f"is not written as a {type_} is: {form}"
    return ""
