"""Rules that are products: two atoms, joined on variables that nothing else needs.

p(X, Z) :- q(X, Y), r(Y, Z). can be evaluated by sets of the Z that each Y has (sql/product.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from zodiac_sql.language.binding import arrange, variables, variables_needed
from zodiac_sql.language.syntax import Atom, Rule, Variable


class Ends(NamedTuple):
    """On which variables two atoms are joined, and which are needed of each atom."""

    inner: tuple[Variable, ...]
    kept: Mapping[Atom, tuple[Variable, ...]]


def ends_of(rule: Rule) -> Ends | None:
    """A rule as a product; None for any other rule. Of one atom or both, one variable is needed."""
    body = arrange(rule.body)
    if len(body.atoms) != 2 or body.aggregates:
        return None
    wanted = {variable.name for variable in variables_needed(rule.head, body)}
    first, second = (dict.fromkeys(variables(*atom.terms)) for atom in body.atoms)
    inner = tuple(variable for variable in first if variable in second)
    left, right = (tuple(v for v in names if v.name in wanted) for names in (first, second))
    if not inner or wanted & {v.name for v in inner} or not (left and right):
        return None
    one = len(left) == 1 or len(right) == 1
    return Ends(inner, dict(zip(body.atoms, (left, right), strict=True))) if one else None
