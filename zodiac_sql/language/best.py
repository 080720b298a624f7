"""MIN and MAX in the heads of rules: `dist(Y, MIN(D)) :- dist(X, E), edge(X, Y, W), D = E + W.`

The predicate keeps one fact of each group, the one with the best value: the least for MIN, the
greatest for MAX. The parser sees a call there, and this file takes it apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from lark import Token, Tree

from zodiac_sql.language.syntax import Best
from zodiac_sql.names import VARIES

FUNCTIONS = ("min", "max")


def places_of(head: Tree[Token]) -> list[int]:
    """Which children of a parsed head are MIN(..) or MAX(..)."""
    if head.data != "call":
        return []
    return [place for place, child in enumerate(head.children) if place and _is_best(child)]


def best_at(head: Tree[Token], places: Sequence[int]) -> tuple[Best | None, Tree[Token]]:
    """What the MIN or MAX at the first of these places says, and the head without any of them."""
    if not places:
        return None, head
    function = cast("Token", _argument(head.children[places[0]]).children[0])
    children = list(head.children)
    for place in places:
        whole = cast("Tree[Token]", children[place])
        inner = _argument(whole).children[1]
        named = whole.data == "named"
        children[place] = Tree("named", [whole.children[0], inner], whole.meta) if named else inner
    return Best(function.lower(), places[0] - 1), Tree(head.data, children, head.meta)


def _argument(child: Token | Tree[Token]) -> Tree[Token]:
    """An argument without the name of its column."""
    tree = cast("Tree[Token]", child)
    return cast("Tree[Token]", tree.children[-1]) if tree.data == "named" else tree


def out_of_place(predicate: str) -> tuple[str, str]:
    """What is wrong with MIN or MAX in a head that cannot have it, and what would be right."""
    if predicate == VARIES:
        return (
            "MIN or MAX stands in a head with a variable for its predicate",
            "Write the predicate's name: what has a least value belongs to one predicate.",
        )
    return (
        "MIN or MAX stands in a fact",
        "Give what it begins with to another predicate: start(a). dist(X, MIN(0)) :- start(X).",
    )


def _is_best(child: Token | Tree[Token]) -> bool:
    if not isinstance(child, Tree):
        return False
    child = _argument(child)
    if child.data != "call":
        return False
    name, *arguments = child.children
    if not isinstance(name, Token) or name.type not in ("NAME", "VARIABLE"):
        return False
    given = [a for a in arguments if isinstance(a, Tree)]
    return name.lower() in FUNCTIONS and len(given) == 1 and given[0].data != "range"
