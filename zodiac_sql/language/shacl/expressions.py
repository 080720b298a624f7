"""Filters and assignments of SHACL rules as comparisons and values of our language."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

from lark import Token, Tree

from zodiac_sql.language.shacl.terms import Node, Renamed, Terms, number

Alternatives = list[list[str]]
"""Conjunctions of comparisons, of which one must hold."""

MOST_ALTERNATIVES = 64
"""More alternatives of `||` and IN are refused: for each of them a rule is made."""

FUNCTIONS = {
    "abs": "abs", "ceil": "ceil", "floor": "floor", "concat": "concat", "strlen": "length",
    "ucase": "upper", "lcase": "lower", "substr": "substr", "contains": "contains",
    "strstarts": "starts_with", "strends": "ends_with", "year": "year", "month": "month",
    "day": "day", "hours": "hour", "minutes": "minute",
}  # fmt: skip
"""The functions of SPARQL that are the same here."""

_OPPOSITE = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_VALUES = ("either", "both")


def alternatives(tree: Node, terms: Terms, renamed: Renamed, holds: bool = True) -> Alternatives:
    """When an expression holds, or with `holds` false when it is false, and no error."""
    tree = _bare(tree)
    children = [child for child in tree.children if isinstance(child, Tree)]
    match tree.data:
        case "negated":
            return alternatives(children[0], terms, renamed, not holds)
        case "either" | "both":
            parts = [alternatives(child, terms, renamed, holds) for child in children]
            if (tree.data == "either") == holds:
                return [one for part in parts for one in part]
            return joined(parts, tree, terms)
        case "compared":
            left, right = (value(child, terms, renamed) for child in children)
            operator = next(str(c) for c in tree.children if isinstance(c, Token))
            return [[f"{left} {operator if holds else _OPPOSITE[operator]} {right}"]]
        case "among" | "not_among":
            first, *others = (value(child, terms, renamed) for child in children)
            if (tree.data == "among") == holds:
                return [[f"{first} = {other}"] for other in others]
            return [[f"{first} != {other}" for other in others]]
        case _:
            return [[f"{value(tree, terms, renamed)} = {'true' if holds else 'false'}"]]


def joined(parts: Iterable[Alternatives], tree: Node, terms: Terms) -> Alternatives:
    """Alternatives of which one of each part must hold."""
    found: Alternatives = [[]]
    for part in parts:
        if len(found) * len(part) > MOST_ALTERNATIVES:
            hint = "Split the rule, or let a rule of its own derive what || says."
            terms.problem("too many alternatives of || and IN", tree, hint)
            return found
        found = [[*one, *other] for one, other in product(found, part)]
    return found


def _bare(tree: Node) -> Node:
    """An expression without what stands around a single part."""
    while tree.data in _VALUES and len(tree.children) == 1:
        (child,) = tree.children
        assert isinstance(child, Tree)
        tree = child
    return tree


def value(tree: Node, terms: Terms, renamed: Renamed) -> str:
    """The value of an expression, as text of our language."""
    tree = _bare(tree)
    children = [child for child in tree.children if isinstance(child, Tree)]
    match tree.data:
        case "variable":
            name = str(tree.children[0])[1:]
            return f"?{renamed.get(name, name)}"
        case "calculated":
            left, right = (value(child, terms, renamed) for child in children)
            sign = next(str(c) for c in tree.children if isinstance(c, Token))
            return f"({left} {sign} {right})"
        case "signed":
            return _signed(str(tree.children[0]), children[0], terms, renamed)
        case "call":
            return _call(tree, children, terms, renamed)
        case "compared" | "among" | "not_among" | "either" | "both" | "negated":
            terms.problem(
                "what is true or false cannot be a value here", tree,
                "Such a test stands in FILTER alone, also with &&, || and !.",
            )  # fmt: skip
            return "true"
        case _:
            return terms.constant(tree)


def _signed(sign: str, operand: Node, terms: Terms, renamed: Renamed) -> str:
    if operand.data == "positive":
        digits = next(str(token) for token in operand.children)
        return number(sign + digits)
    text = value(operand, terms, renamed)
    return f"(0 - {text})" if sign == "-" else text


def _call(tree: Node, arguments: list[Node], terms: Terms, renamed: Renamed) -> str:
    token = tree.children[0]
    assert isinstance(token, Token)
    values = [value(argument, terms, renamed) for argument in arguments]
    name = token.lower() if token.type == "NAME" else ""
    if name == "str" and len(values) == 1:
        return f'concat({values[0]}, "")'
    if name not in FUNCTIONS:
        known = ", ".join(sorted(one.upper() for one in (*FUNCTIONS, "str")))
        terms.problem(f"the function {token} is not supported", tree, f"These are: {known}.")
        return "0"
    if name == "concat" and len(values) < 2:
        values += ['""'] * (2 - len(values))
    return f"{FUNCTIONS[name]}({', '.join(values)})"
