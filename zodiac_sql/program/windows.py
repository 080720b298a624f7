"""The windows of a program: which there are, which an update adds and drops, and their columns.

A window stands in a rule set, as rules do, and goes with it. Several windows of a predicate all
hold: a fact leaves with the first that lets it go.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from zodiac_sql.errors import Problem
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.syntax import Type, Window
from zodiac_sql.language.windows import window_name, window_text
from zodiac_sql.program.rule_sets import MAIN, qualified

MOMENTS = (Type.TIMESTAMP, Type.DATE)
TIMES = (*MOMENTS, Type.INT, Type.FLOAT, Type.DECIMAL)
"""The types of columns that may have the time of a fact. Numbers are seconds since 1970."""


@dataclass(frozen=True, slots=True)
class StoredWindow:
    """A window as the catalog keeps it: its rule set, and when it came (UTC, ISO 8601)."""

    set: str
    window: Window
    added_at: str = field(default="", compare=False)

    @property
    def name(self) -> str:
        """What it is dropped by, with all others of its set and predicate."""
        return qualified(self.set, window_name(self.window))

    @property
    def text(self) -> str:
        return window_text(self.window)


@dataclass(slots=True)
class WindowEdits:
    """The windows that there are, and those after an update, as far as its verbs have said."""

    there: tuple[StoredWindow, ...] = ()
    _after: list[StoredWindow] | None = None

    @property
    def after(self) -> tuple[StoredWindow, ...]:
        """The windows after the update: those that were there, if it says nothing of them."""
        return self.there if self._after is None else tuple(self._after)

    def __bool__(self) -> bool:
        """Whether the update changes any."""
        return self._after is not None and self.after != self.there

    def new(self) -> list[Window]:
        """The windows that come with the update."""
        return [one.window for one in self.after if one not in self.there]

    def sets(self) -> set[str]:
        """The rule sets that have windows."""
        return {one.set for one in self.after}

    def add(self, windows: Iterable[Window], set_name: str) -> list[str]:
        """Add windows to a set. Returns what is to be said of those that it has already."""
        said = []
        for window in windows:
            one = StoredWindow(set_name, window, _now())
            if one in self.after:
                said.append(f"{one.text} is there already")
            else:
                self._after = [*self.after, one]
        return said

    def replace_set(self, windows: Iterable[Window], set_name: str) -> None:
        """Make windows those of a set."""
        wanted = tuple(windows)
        self._keep(lambda one: one.set != set_name or one.window in wanted)
        self.add((one for one in wanted if StoredWindow(set_name, one) not in self.after), set_name)

    def drop_set(self, set_name: str) -> bool:
        """Drop the windows of a set. Returns whether it has some."""
        return self._keep(lambda one: one.set != set_name)

    def drop(self, windows: Iterable[Window], set_name: str) -> list[str]:
        """Drop windows of a set. Returns what to say of those that it does not have."""
        wanted = {StoredWindow(set_name, window): None for window in windows}
        absent = [one for one in wanted if one not in self.after]
        self._keep(lambda one: one not in wanted)
        return [f"there is no {one.text.removesuffix('.')}" for one in absent]

    def drop_named(self, given: str, set_name: str | None) -> bool:
        """Drop all windows of a predicate from a set by their name. Returns whether there are any.

        The name is `.window reading`, of a set `heat/.window reading`.
        """
        name = given if set_name is None else qualified(set_name, given)
        return self._keep(lambda one: one.name != name)

    def replace_of(self, predicate: str, windows: Iterable[Window]) -> None:
        """Make windows those that the set main has for a predicate."""
        wanted = dict.fromkeys(windows)
        self._keep(lambda one: one.set != MAIN or one.window.predicate != predicate
                   or one.window in wanted)  # fmt: skip
        self.add((one for one in wanted if StoredWindow(MAIN, one) not in self.after), MAIN)

    def _keep(self, stays: Callable[[StoredWindow], bool]) -> bool:
        """Drop the windows that do not stay. Returns whether there are any."""
        kept = [one for one in self.after if stays(one)]
        dropped = len(kept) < len(self.after)
        if dropped:
            self._after = kept
        return dropped


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True, slots=True)
class Placed:
    """A window whose columns are found: the places of its times and of its groups."""

    window: Window
    place: int
    groups: tuple[int, ...]


def placed(
    windows: Iterable[Window], schema: Mapping[str, Predicate]
) -> tuple[list[Placed], list[Problem]]:
    """Windows with the places of their columns, and what is wrong with the others."""
    found, problems = [], []
    for window in windows:
        known = schema.get(window.predicate)
        wrong = _undescribed(window, known) or [*_wrong(window, known)]
        problems += wrong
        if known is not None and not wrong:
            place = _place(known, window.column)
            assert place is not None
            groups = [_place(known, group) for group in window.groups]
            found.append(Placed(window, place, tuple(p for p in groups if p is not None)))
    return found, problems


def _undescribed(window: Window, known: Predicate | None) -> list[Problem]:
    """The problem of a predicate whose columns nobody has told."""
    if known is not None and not known.open and any(known.settled):
        return []
    name = window_name(window).removeprefix(".window ")
    columns = ", ".join(f"{group}: symbol" for group in window.groups)
    told = f".decl {name}({columns}{', ' * bool(columns)}{window.column or 'at'}: timestamp)."
    message = f"a window needs the columns of {name}: it has no explicit facts, nor a declaration"
    return [Problem(message, window.span, f"Declare it before, as in  {told}")]


def _wrong(window: Window, known: Predicate | None) -> Iterator[Problem]:
    """What is wrong with the columns of a window."""
    assert known is not None
    columns = ", ".join(f"{c.name}: {c.meant}" for c in known.columns)
    have = f"The columns are {window_name(window).removeprefix('.window ')}({columns})."
    for group in window.groups:
        if _place(known, group) is None:
            yield Problem(f"{known.name} has no column {group}", window.span, have)
    if window.column is None:
        moments = [c.name for c in known.columns if c.meant in MOMENTS]
        if len(moments) != 1:
            many = "several columns" if moments else "no column"
            message = f"{known.name} has {many} of dates or timestamps, which put facts in order"
            yield Problem(message, window.span, f"{have} Name one: {_named(known, window)}.")
        return
    place = _place(known, window.column)
    if place is None:
        yield Problem(f"{known.name} has no column {window.column}", window.span, have)
    elif (type_ := known.columns[place].meant) not in TIMES:
        message = f"the column {window.column} of {known.name} holds no times, but {type_} values"
        hint = f"A time is a timestamp, a date, or a number of seconds since 1970. {have}"
        yield Problem(message, window.span, hint)


def _named(known: Predicate, window: Window) -> str:
    """A window that names its column, as an example."""
    column = next((c.name for c in known.columns if c.meant in TIMES), "at")
    by = f" by {', '.join(window.groups)}" if window.groups else ""
    return f"{window_name(window)}({column}: last {window.count}{by})"


def _place(known: Predicate, name: str | None) -> int | None:
    """The place of a column; without a name, of the only one of dates or timestamps."""
    for place, column in enumerate(known.columns):
        if column.name == name or (name is None and column.meant in MOMENTS):
            return place
    return None
