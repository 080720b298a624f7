"""Operators: the ways to do a piece of work, of which the cheapest is run.

An operator has three parts. `matches` says whether it can do the work: it needs a form. `cost` says
what it expects to take. `run` does it. Where it finds that it was wrong, it returns `Declined`, and
nothing has happened; then the next one runs. It is told what that would take, so that it does not
search for longer than it can save: it declines at the latest when it has cost a share of that.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Generic, TypeVar

Work = TypeVar("Work")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Declined:
    """What an operator returns that has not done the work. Nothing has happened."""

    why: str


@dataclass(frozen=True, slots=True)
class Cost:
    """What an operator expects to take, in milliseconds, and why as much as that."""

    ms: float
    why: str = ""


@dataclass(frozen=True, slots=True)
class Operator(Generic[Work, Result]):
    """One way to do a piece of work."""

    name: str
    matches: Callable[[Work], bool]
    cost: Callable[[Work], Cost]
    run: Callable[[Work, float], Result | Declined]
    """Gets the work, and what the next operator would take, in milliseconds."""


def certain(
    name: str,
    why: str,
    matches: Callable[[Work], bool],
    run: Callable[[Work], Result | Declined],
) -> Operator[Work, Result]:
    """An operator that is not weighed: it runs first wherever it matches."""
    return Operator(name, matches, lambda _: Cost(0, why), lambda work, _: run(work))


@dataclass(frozen=True, slots=True)
class Considered:
    """An operator that could have done a piece of work."""

    name: str
    cost: Cost
    took: float | None = None
    """Milliseconds, if it was run."""
    declined: str = ""
    """Why it has not done the work, if it was run and has not."""


@dataclass(frozen=True, slots=True)
class Decision:
    """Which operator has done a piece of work, and all that could have, the cheapest first."""

    name: str
    why: str
    considered: tuple[Considered, ...]


def run_cheapest(
    operators: Sequence[Operator[Work, Result]], work: Work, forced: Iterable[str] = ()
) -> tuple[Result, Decision]:
    """Run the operator that matches and expects to take the least; if it declines, the next.

    One of them must match that never declines. Of equally cheap ones, the first runs. Those that
    are `forced` run before all others, in that order, and whatever they take.
    """
    first = {name: place for place, name in enumerate(forced)}
    offers = [(one.cost(work), one) for one in operators if one.matches(work)]
    offers.sort(key=lambda offer: (first.get(offer[1].name, len(first)), offer[0].ms))
    told: list[Considered] = []
    for place, (cost, operator) in enumerate(offers):
        others = [] if operator.name in first else offers[place + 1 :]
        began = time.perf_counter()
        found = operator.run(work, others[0][0].ms if others else inf)
        took = 1000 * (time.perf_counter() - began)
        if not isinstance(found, Declined):
            told.append(Considered(operator.name, cost, took))
            told += (Considered(one.name, cost) for cost, one in offers[place + 1 :])
            return found, Decision(operator.name, _why(told[: place + 1]), tuple(told))
        told.append(Considered(operator.name, cost, took, found.why))
    raise AssertionError(f"no operator has done the work: {[one.name for one in operators]}")


def _why(tried: Sequence[Considered]) -> str:
    """In words: what the last one expected, and why those before it have declined."""
    *declined, last = tried
    words = [f"{one.name}: {one.declined}" for one in declined]
    expected = f"expected to take {last.cost.ms:,.1f} ms"
    return "; ".join([*words, last.cost.why or expected])
