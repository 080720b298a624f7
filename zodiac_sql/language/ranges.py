"""Ranges in facts: `day(1..31).` states 31 facts."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, cast

from lark import Token, Tree

from zodiac_sql.language.syntax import Constant, Expression, Type

MOST_FACTS = 100_000
"""So many facts may one with ranges stand for."""


def integers(ends: Sequence[Expression]) -> range | None:
    """The integers from one end to the other, both included; None if an end is none."""
    if not all(isinstance(end, Constant) and end.type is Type.INT for end in ends):
        return None
    first, last = (cast("int", cast("Constant", end).value) for end in ends)
    return range(first, last + 1)


def with_numbers(head: Tree[Token], ranges: Sequence[range]) -> list[Tree[Token]] | None:
    """The atom of a fact with numbers in place of its ranges, each way; None if they are many."""
    if math.prod(max(0, each.stop - each.start) for each in ranges) > MOST_FACTS:
        return None
    return [_filled(head, iter(values)) for values in itertools.product(*ranges)]


def _filled(tree: Tree[Token], values: Iterator[int]) -> Tree[Token]:
    children: list[Any] = [
        _number(next(values), child) if isinstance(child, Tree) and child.data == "range" else child
        for child in tree.children
    ]
    return Tree(tree.data, children, tree.meta)


def _number(value: int, place: Tree[Token]) -> Tree[Token]:
    number = Tree("number", [Token("NUMBER", str(abs(value)))], place.meta)
    return number if value >= 0 else Tree("sign", [Token("SIGN", "-"), number], place.meta)
