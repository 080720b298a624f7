"""Operators that run before all others, in an order that is another one each time."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from zodiac_sql.maintain.registry import OPERATORS


class AnyFirst:
    """The names of all operators of a hypernode, shuffled anew whenever they are looked at: so each
    that matches is the first at some time, and the others run if it declines.
    """

    def __init__(self) -> None:
        self.chance = Random(54)

    def __iter__(self) -> Iterator[str]:
        names = [operator.name for operator in OPERATORS]
        self.chance.shuffle(names)
        return iter(names)
