"""Windows: what `.window p(...)` says, and how it is written.

    .window reading(at: 1 hour).                               for an hour after the time in `at`
    .window reading(at: 1 hour, by events, late 1 minute).     by the times of the facts themselves
    .window reading(at: 1 hour, else refuse).                  what comes too late is an error
    .window reading(at: last 100 by turbine).                  the last hundred of each turbine

The words are names like any others: only their places tell them apart from columns.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from zodiac_sql.language.syntax import Window
from zodiac_sql.language.written import spelled_predicate

if TYPE_CHECKING:
    from lark import Token  # opening a file needs no parser

    Wrong = tuple[Token | None, str, str]
    """What is wrong: where (None: the whole), the message, and what would be right."""

_SECOND = 1_000_000
_UNITS = {
    "week": 7 * 24 * 3600 * _SECOND,
    "day": 24 * 3600 * _SECOND,
    "hour": 3600 * _SECOND,
    "minute": 60 * _SECOND,
    "second": _SECOND,
}
_LONGEST = 10_000 * 366 * _UNITS["day"]
"""No two moments that a column can have are farther apart."""

FORMS = "Write .window p(at: 1 hour), or .window p(at: last 100 by turbine)."
_OPTIONS = "After a comma there may be: by events; late 1 minute; else refuse."


class _WrongError(Exception):
    """A part of a window cannot be read."""


def read_window(predicate: str, parts: Sequence[Sequence[Any]]) -> Window | Wrong:
    """A window, from the tokens of its parts: first a column or None, then the words."""
    column, *words = parts[0]
    try:
        window = _kept(predicate, column, words)
        for part in parts[1:]:
            window = _with_option(window, _labelled(part))
    except _WrongError as error:
        wrong: Wrong = error.args[0]
        return wrong
    if window.late and not window.events:
        return None, "only events can be late", "Write: by events, late 1 minute."
    return window


def _labelled(part: Sequence[Any]) -> Sequence[Token]:
    """The words of a part that names no column."""
    column, *words = part
    if column is not None:
        raise _WrongError((column, f"a window has one column of times, not also {column}", FORMS))
    return words


def _kept(predicate: str, column: Token | None, words: Sequence[Token]) -> Window:
    """What the first part says: how long facts stay, or how many of them."""
    named = None if column is None else _plain(column)
    if _is(words[0], "last") and len(words) in (2, 4):
        count = _number(words[1])
        if count != int(count) or count < 1:
            raise _WrongError((words[1], f"a window has at least one fact, not {words[1]}", FORMS))
        groups = words[2:]
        if groups and not _is(groups[0], "by"):
            raise _WrongError((groups[0], f"unexpected `{groups[0]}`", FORMS))
        return Window(
            predicate, named, count=int(count), groups=tuple(_plain(word) for word in groups[1:])
        )
    if words[0].type == "NUMBER" and column is not None:
        lifetime = _duration(words)
        if not lifetime:
            raise _WrongError((words[0], "facts cannot stay for no time", FORMS))
        return Window(predicate, named, lifetime=lifetime)
    message = "a window says in which column the time is, and how long facts stay, or how many"
    raise _WrongError((words[0], message, FORMS))


def _with_option(window: Window, words: Sequence[Token]) -> Window:
    """A window with what one more part says of it."""
    if window.lifetime is not None and _are(words, "by", "events"):
        return replace(window, events=True)
    if window.lifetime is not None and _is(words[0], "late"):
        return replace(window, late=_duration(words[1:] or words))
    if _are(words, "else", "refuse"):
        return replace(window, refuses=True)
    if window.groups and not window.refuses and len(words) == 1 and words[0].type != "NUMBER":
        return replace(window, groups=(*window.groups, _plain(words[0])))
    raise _WrongError((words[0], f"a window does not say `{' '.join(words)}`", _OPTIONS))


def _duration(words: Sequence[Token]) -> int:
    """A number and a unit, as microseconds."""
    number = _number(words[0])
    unit = words[1].lower().removesuffix("s") if len(words) == 2 else ""
    if unit not in _UNITS:
        told = ", ".join(f"{unit}s" for unit in reversed(_UNITS))
        shown = f"`{' '.join(words)}` is no length of time"
        raise _WrongError((words[-1], shown, f"It is a number of {told}: 10 minutes."))
    length = number * _UNITS[unit]
    if length > _LONGEST:
        raise _WrongError((words[0], f"{' '.join(words)} is too long", "Then facts never leave."))
    if length != int(length):
        hint = "Times are told to the microsecond."
        raise _WrongError((words[0], f"{' '.join(words)} cannot be kept", hint))
    return int(length)


def _number(word: Token) -> Decimal:
    if word.type != "NUMBER":
        raise _WrongError((word, f"a number belongs here, not `{word}`", FORMS))
    return Decimal(word)


def _is(word: Token, name: str) -> bool:
    return word.type == "NAME" and word.lower() == name


def _are(words: Sequence[Token], *names: str) -> bool:
    return len(words) == len(names) and all(map(_is, words, names))


def _plain(word: Token) -> str:
    """The name of a column."""
    if word.type == "NUMBER":
        raise _WrongError((word, f"a column belongs here, not `{word}`", FORMS))
    return str(word)[1:-1] if word.type == "QUOTED" else str(word)


# --- as it is written -----------------------------------------------------------------------------


def window_text(window: Window) -> str:
    """A window as it stands in a text of rules."""
    return f"{window_name(window)}({terms(window)})."


def window_name(window: Window) -> str:
    """What all windows of a predicate are called together."""
    return f".window {spelled_predicate(window.predicate)}"


def terms(window: Window) -> str:
    """What a window says, in its parentheses."""
    column = "" if window.column is None else f"{_spelled(window.column)}: "
    if window.lifetime is not None:
        said = [f"{column}{duration_text(window.lifetime)}"]
        said += ["by events"] * window.events
        said += [f"late {duration_text(window.late)}"] if window.late else []
    else:
        by = ", ".join(map(_spelled, window.groups))
        said = [f"{column}last {window.count}{' by ' if by else ''}{by}"]
    return ", ".join([*said, *["else refuse"] * window.refuses])


def duration_text(length: int) -> str:
    """Microseconds in the largest unit that they are whole ones of: 3 hours."""
    for unit, size in _UNITS.items():
        if length % size == 0 or unit == "second":
            number = f"{Decimal(length) / size:f}"
            return f"{number} {unit}{'' if number == '1' else 's'}"
    raise AssertionError


_NAME = re.compile(r"[^\W\d]\w*")


def _spelled(column: str) -> str:
    return column if _NAME.fullmatch(column) else f"`{column}`"
