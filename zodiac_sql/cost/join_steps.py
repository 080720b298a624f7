"""Which two atoms of a body to join and project first, by how many rows are expected.

Values of different variables are taken to be independent, and those of the smaller side of a join
to be among those of the other. Costs are milliseconds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod

from zodiac_sql.cost.calibration import COUNTING, JOIN_ROW, MARGIN
from zodiac_sql.cost.products import price


@dataclass(frozen=True, slots=True)
class Factor:
    """What is joined: an atom, or what is left of some that are joined before.

    `values` has the number of different values of each variable.
    """

    rows: float
    values: Mapping[str, float]

    def most(self, names: Collection[str]) -> float:
        """How many rows there are at most after a projection onto some variables."""
        return min(self.rows, prod(self.values[name] for name in names))


def first_pair(factors: Sequence[Factor], needed: Collection[str]) -> tuple[int, int] | None:
    """The places of the two to be joined first, and to be projected onto the variables that others
    have or that are `needed`. None if to join all of them at once is not much dearer.
    """
    at_once = _at_once(factors)
    if at_once < MARGIN * COUNTING:
        return None
    cost, pair = min(_in_steps(factors, needed), default=(at_once, None))
    return pair if MARGIN * cost < at_once else None


def _in_steps(
    factors: Sequence[Factor], needed: Collection[str]
) -> Iterator[tuple[float, tuple[int, int]]]:
    """What it costs to join two first, and then the others; and the places of these two."""
    for i, j in combinations(range(len(factors)), 2):
        first, second = factors[i], factors[j]
        others = [factor for place, factor in enumerate(factors) if place not in (i, j)]
        wanted = {*needed, *(name for other in others for name in other.values)}
        together = {*first.values, *second.values}
        if first.values.keys() & second.values.keys() and not together <= wanted:
            left = _projected(_joined(first, second), together & wanted)
            cost = _cost(first, second, wanted) + _cheapest([*others, left], needed)
            yield cost, (i, j)


def _cheapest(factors: Sequence[Factor], needed: Collection[str]) -> float:
    """What it costs to join all, at once or in steps."""
    if len(factors) == 2:
        return _cost(factors[0], factors[1], needed)
    return min([_at_once(factors), *(cost for cost, _ in _in_steps(factors, needed))])


def _at_once(factors: Sequence[Factor]) -> float:
    """What a join costs that takes the pair with the fewest rows first, and projects at the end."""
    waiting, cost = list(factors), 0.0
    while len(waiting) > 1:
        pairs = combinations(waiting, 2)
        first, second = min(pairs, key=lambda pair: _joined(*pair).rows)
        waiting = [factor for factor in waiting if factor is not first and factor is not second]
        waiting.append(_joined(first, second))
        cost += JOIN_ROW * waiting[-1].rows
    return cost


def _joined(first: Factor, second: Factor) -> Factor:
    shared = first.values.keys() & second.values.keys()
    among = prod(max(first.values[name], second.values[name]) for name in shared)
    rows = first.rows * second.rows / among
    values = {**first.values, **second.values}
    values |= {name: min(first.values[name], second.values[name]) for name in shared}
    return Factor(rows, {name: min(value, rows) for name, value in values.items()})


def _projected(factor: Factor, names: Collection[str]) -> Factor:
    return Factor(factor.most(names), {name: factor.values[name] for name in names})


def _cost(first: Factor, second: Factor, wanted: Collection[str]) -> float:
    """What to join two and to project them costs, as a join or as a product."""
    join = JOIN_ROW * _joined(first, second).rows
    return min([join, *_products(first, second, wanted), *_products(second, first, wanted)])


def _products(first: Factor, second: Factor, wanted: Collection[str]) -> Iterator[float]:
    """What a product costs whose sets are of the second's values, if that is possible."""
    inner = first.values.keys() & second.values.keys()
    columns = [name for name in second.values if name in wanted]
    if not inner & {*wanted} and len(columns) == 1:
        height = first.most(first.values.keys() & {*wanted})
        yield price(first.rows, second.rows, second.values[columns[0]], height)
