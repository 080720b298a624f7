"""The texts that functions of dates and times take: intervals, formats, and time zones.

They are constants, and looked at when a rule comes: a wrong one would fail while facts are derived.
"""

from __future__ import annotations

import difflib
import re
import zoneinfo
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from zodiac_sql.errors import Problem
from zodiac_sql.language.functions import meant
from zodiac_sql.language.intervals import MOST_YEARS, interval_of
from zodiac_sql.language.syntax import Call, Constant, Type


@dataclass(frozen=True, slots=True)
class Kind:
    """What a text is to be, what is right, and what says why one is none ("" of one that is)."""

    name: str
    right: str
    wrong: Callable[[str, Call], str]


def wrong_moment_argument(call: Call) -> Problem | None:
    """What is wrong with the first text of a call that is no interval, format or time zone."""
    for place, kind in _TEXTS.get(call.function, {}).items():
        if place >= len(call.arguments):
            continue
        given = call.arguments[place]
        if not isinstance(given, Constant) or given.type is not Type.SYMBOL:
            said = f"{call.function} takes {kind.name} as its {_ORDINALS[place]} argument: {given} "
            said += "is no text in quotes"
        else:
            said = kind.wrong(meant(given), call)
        if said:
            return Problem(said, given.span or call.span, kind.right)
    return None


_ORDINALS = ("first", "second", "third")


def _no_interval(text: str, _: Call) -> str:
    try:
        interval_of(text)
    except ValueError:
        return f'"{text}" is no interval'
    return ""


_DIRECTIVE = re.compile(r"%(-?[a-zA-Z%]|.?)", re.DOTALL)
_KNOWN = frozenset((*"YymdHIMSfpjaAbBuVGUWwz%", "-m", "-d", "-H", "-I", "-M", "-S", "-j"))
"""What DuckDB and everybody else read alike."""


def _no_format(text: str, call: Call) -> str:
    if not text:
        return "the format is empty"
    for directive in _DIRECTIVE.findall(text):
        if directive not in _KNOWN:
            return f"format_time knows no %{directive}"
        if directive == "z" and len(call.arguments) < 3:
            return "%z is the distance of a time zone from UTC, and format_time is given no zone"
    return ""


def _no_zone(text: str, _: Call) -> str:
    near = _close_zones(text)
    if near is None:
        return ""
    meant_ = f". Did you mean {' or '.join(near)}?" if near else ""
    return f'there is no time zone "{text}"{meant_}'


@lru_cache(maxsize=1000)
def _close_zones(name: str) -> tuple[str, ...] | None:
    """The names of zones that are like a name that is none; None if it is one.

    A system may have no list of zones (Windows). Then DuckDB refuses a name when it is used.
    """
    if name not in _NO_PLACE:
        try:
            zoneinfo.ZoneInfo(name)
        except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
            pass
        else:
            return None
    names = {known.lower(): known for known in zoneinfo.available_timezones() - _NO_PLACE}
    close = difflib.get_close_matches(name.lower(), names, n=2)
    return tuple(names[one] for one in close) if names else None


_NO_PLACE = frozenset(("localtime", "Factory", "posixrules"))

_INTERVAL = Kind(
    "an interval",
    'An interval is a whole number and a unit: "30 seconds" (or sec, s), "15 minutes" (or min), '
    '"1 hour" (or hr, h), "1 day", "1 week", "1 month", "1 year", '
    f'up to "{MOST_YEARS} years".',
    _no_interval,
)
_FORMAT = Kind(
    "a format",
    'A format is such as "%Y-%m-%d %H:%M:%S": it may have %Y %y %m %d %H %I %p %M %S %f %j %a %A '
    '%b %B %u %w %G %V %U %W, %z as in format_time(T, "%H:%M%z", "Europe/Berlin"), and %% for '
    "a percent sign; %-d leaves out zeros.",
    _no_format,
)
_ZONE = Kind(
    "a time zone", 'A zone is named as in the list of IANA: "Europe/Berlin", "UTC".', _no_zone
)
_TEXTS: Mapping[str, Mapping[int, Kind]] = {
    "time_bucket": {0: _INTERVAL, 2: _ZONE}, "format_time": {1: _FORMAT, 2: _ZONE},
    "date": {1: _ZONE},
}  # fmt: skip
