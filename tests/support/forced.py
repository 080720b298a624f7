"""Operators that run before all others, in an order that is another one each time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zodiac_sql.cost.operator import Operator


class AnyFirst:
    """The names of some operators, shuffled anew whenever they are looked at: so each that matches
    is the first at some time, and the others run if it declines.
    """

    def __init__(self, operators: Sequence[Operator[Any, Any]]) -> None:
        self.names = [operator.name for operator in operators]
        self.chance = Random(54)

    def __iter__(self) -> Iterator[str]:
        self.chance.shuffle(self.names)
        return iter([*self.names])
