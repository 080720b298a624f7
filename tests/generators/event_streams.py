"""Random windows, and streams of events for them: late, doubled, out of order, with bad clocks."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import TYPE_CHECKING, Any

from support.window_model import ModelWindow, Row

if TYPE_CHECKING:
    from zodiac_sql.change.update import Update

START = datetime.datetime(2026, 3, 28, 22)
"""Near midnight, and the night in which many clocks are put forward."""

TYPES = ("timestamp", "date", "int", "float", "decimal")
UNITS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}


def moment(type_: str, seconds: float) -> Any:
    """The value of a time column, so many seconds after the start."""
    time = START + datetime.timedelta(seconds=round(seconds, 3))
    if type_ == "timestamp":
        return time
    if type_ == "date":
        return time.date()
    number = (time - datetime.datetime(1970, 1, 1)).total_seconds()
    return int(number) if type_ == "int" else number if type_ == "float" else Decimal(str(number))


@dataclass(frozen=True)
class Step:
    """One change, or that the file is opened again."""

    inserts: tuple[Row, ...] = ()
    deletes: tuple[Row, ...] = ()
    now: datetime.datetime | None = None
    windows: tuple[ModelWindow, ...] | None = None
    kind: str = "update"


class EventStream:
    """Readings `(turbine, kind, at, celsius)`, what happens to them, and the clock."""

    def __init__(self, chance: Random, type_: str) -> None:
        self.chance, self.type = chance, type_
        self.now = 0.0
        self.rows: list[Row] = []
        self.scale = 40_000.0 if type_ == "date" else 30.0

    def steps(self, number: int) -> Iterator[Step]:
        yield Step(windows=self.windows())
        for _ in range(number):
            yield self.step()

    def windows(self) -> tuple[ModelWindow, ...]:
        """One or two windows, at times none."""
        made = [self.window() for _ in range(self.chance.choice([0, 1, 1, 1, 1, 2]))]
        return tuple(dict.fromkeys(made))

    def window(self) -> ModelWindow:
        chance = self.chance
        if chance.random() < 0.35:
            count, groups = chance.randint(1, 4), chance.choice([(), (0,), (0, 1)])
            by = " by " + ", ".join(("turbine", "kind")[g] for g in groups) if groups else ""
            column = chance.choice(["", "at: "]) if self.type in TYPES[:2] else "at: "
            return ModelWindow(f"{column}last {count}{by}", 2, count=count, groups=groups)
        text, lifetime = self.length(4)
        if chance.random() < 0.5:
            return ModelWindow(f"at: {text}", 2, lifetime)
        if chance.random() < 0.5:
            return ModelWindow(f"at: {text}, by events", 2, lifetime, events=True)
        said, late = self.length(1)
        text = f"at: {text}, by events, late {said}"
        return ModelWindow(text, 2, lifetime, events=True, late=late)

    def length(self, most: int) -> tuple[str, Fraction]:
        number = self.chance.randint(1, most)
        unit = "day" if self.type == "date" else self.chance.choice(["minute", "minute", "second"])
        number = number * 15 if unit == "second" else number
        return f"{number} {unit}{'s' * (number > 1)}", Fraction(number * UNITS[unit])

    def step(self) -> Step:
        chance = self.chance
        self.now += chance.random() * self.scale
        kind = chance.random()
        if kind < 0.06:
            return Step(kind="reopen")
        if kind < 0.12:
            return Step(windows=self.windows())
        if kind < 0.16:
            self.now += chance.choice([-1, 1, 1]) * chance.random() * self.scale * 20
        ticks = chance.random() < 0.4
        inserts = tuple(self.reading() for _ in range(chance.choice([0, 1, 1, 2, 3, 8])))
        gone = self.rows and chance.random() < 0.2
        deletes = tuple(chance.choice(self.rows) for _ in range(3)) if gone else ()
        self.rows += inserts
        now = START + datetime.timedelta(seconds=round(self.now, 3)) if ticks else None
        return Step(inserts, deletes, now, kind=chance.choice(["update"] * 5 + ["preview"]))

    def reading(self) -> Row:
        chance = self.chance
        if self.rows and chance.random() < 0.15:
            return chance.choice(self.rows)
        delay = chance.choice([0, 0, 0, 1, 3, 10]) * chance.random() * self.scale
        at = moment(self.type, self.now - delay + chance.choice([0, 0, 0, 0, 5]))
        return (f"wt{chance.randint(1, 3)}", chance.choice("ab"), at, float(chance.randint(0, 5)))


def tell(update: Update, step: Step) -> None:
    """Let an update of the knowledge base do what a step says."""
    if step.windows is not None:
        update.keep("reading", *(window.text for window in step.windows))
    if step.deletes:
        update.delete("reading", list(step.deletes))
    if step.inserts:
        update.insert("reading", list(step.inserts))
    if step.now is not None:
        update.tick(step.now)
