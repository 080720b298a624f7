"""Decimals: 20 digits before the point and 18 after it, as in DuckDB's DECIMAL(38, 18).

All decimals have this one form, so that equal numbers are equal in every table, whatever they came
from. A number that it does not hold is refused, never rounded.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from decimal import ROUND_HALF_EVEN, Context, Decimal, Inexact, InvalidOperation

from zodiac_sql.language.syntax import Atom, Constant, Term, Type

BEFORE, PLACES = 20, 18
"""How many digits there are before the point, and after it."""

ROOM = f"decimals have {BEFORE} digits before the point and {PLACES} after it"

_UNIT = Decimal(1).scaleb(-PLACES)
_EXACT = Context(prec=BEFORE + PLACES, rounding=ROUND_HALF_EVEN, traps=[InvalidOperation, Inexact])

NUMBER = r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)"
"""How a decimal is written, as a regular expression. It has no exponent."""


def decimal_of(text: str) -> Decimal:
    """The decimal that a text writes.

    Raises ValueError if it writes no number, and OverflowError for one that is not kept exactly.
    """
    try:
        return fitting(Decimal(text))
    except InvalidOperation:
        raise ValueError(f"{text} is no decimal") from None


def fitting(value: Decimal) -> Decimal:
    """A number as a decimal, with all of its places. Raises OverflowError if it is none."""
    try:
        if not value.is_finite():
            raise InvalidOperation
        found = value.quantize(_UNIT, context=_EXACT)
    except (InvalidOperation, Inexact):
        raise OverflowError(f"{value} has no room: {ROOM}") from None
    return found or abs(found)  # there is no -0.0


def fits(value: Decimal) -> bool:
    """Whether a number is a decimal."""
    try:
        fitting(value)
    except OverflowError:
        return False
    return True


def written(value: Decimal) -> str:
    """A decimal as people write it: no zero says nothing, and a digit follows the point."""
    return re.sub("0{1,17}$", "", digits(value))


def digits(value: Decimal) -> str:
    """A decimal with all of its places, as DuckDB writes it."""
    return f"{fitting(value):f}"


def widest(types: Iterable[Type | None]) -> Type | None:
    """The type of what is made of values of these types: of numbers the widest, else the first."""
    found = list(types)
    wide = next((one for one in (Type.FLOAT, Type.DECIMAL) if one in found), None)
    return wide or next(iter(found), None)


def widest_number(types: Collection[Type | None]) -> Type | None:
    """The widest of several types of numbers; None if it is one type, or one is of no numbers."""
    several = len(types) > 1 and all(type_ is not None and type_.numeric for type_ in types)
    return widest(types) if several else None


def is_widened(given: Type | None, wanted: Type | None) -> bool:
    """Whether values of a number's type become another one in a column or variable of that."""
    return (given, wanted) in _WIDENINGS


_WIDENINGS = frozenset(
    ((Type.INT, Type.DECIMAL), (Type.INT, Type.FLOAT), (Type.DECIMAL, Type.FLOAT))
)


def atom_with_decimals(atom: Atom, types: Sequence[Type | None]) -> Atom:
    """A fact in which numbers with a point are decimals, where the type of a column says so."""
    pairs = zip(atom.terms, types, strict=True)
    return replace(atom, terms=tuple(_as_decimal(term, type_) for term, type_ in pairs))


def _as_decimal(term: Term, wanted: Type | None) -> Term:
    """A number as a decimal, if that is wanted. The float is written as the number in the text."""
    if wanted is not Type.DECIMAL or not isinstance(term, Constant) or term.type is not Type.FLOAT:
        return term
    try:
        return Constant(Type.DECIMAL, decimal_of(repr(term.value)), term.span)
    except (OverflowError, ValueError):
        return term
