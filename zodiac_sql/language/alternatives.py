"""`;` in bodies: a rule with alternatives stands for a rule for each way to choose among them."""

from __future__ import annotations

import itertools
import math
from typing import Any, cast

from lark import Token, Tree

MOST_PARTS = 64
"""A rule stands for at most so many: each is a rule for the engine."""


def has_alternatives(tree: Tree[Token]) -> bool:
    """Whether there is a choice, or a group, in the body of a statement."""
    return len(tree.children) > 1 or any(one.data == "group" for one in _literals(tree.children[0]))


def parts(tree: Tree[Token]) -> list[list[Tree[Token]]] | None:
    """The literals of each body that a choice of bodies stands for. None if there are too many."""
    found: list[list[Tree[Token]]] = []
    for body in tree.children:
        choices = [_choices(literal) for literal in _literals(body)]
        if any(one is None for one in choices):
            return None
        several = cast("list[list[list[Tree[Token]]]]", choices)
        if len(found) + math.prod(map(len, several)) > MOST_PARTS:
            return None
        found += [list(itertools.chain(*one)) for one in itertools.product(*several)]
    return found


def _choices(literal: Tree[Token]) -> list[list[Tree[Token]]] | None:
    """What can stand in the place of a literal: itself, or the parts of a group."""
    return (
        parts(cast("Tree[Token]", literal.children[0])) if literal.data == "group" else [[literal]]
    )


def _literals(body: Any) -> list[Tree[Token]]:
    return [child for child in body.children if isinstance(child, Tree)]


def is_part_of(label: str, whole: str) -> bool:
    """Whether a label is that of a part of another rule: r1.2 of r1."""
    start, dot, number = label.rpartition(".")
    return bool(dot) and start == whole and number.isdecimal()
