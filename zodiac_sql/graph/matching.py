"""Whether a fact that a head derives can be one that an atom of a body reads."""

from __future__ import annotations

from zodiac_sql.language.syntax import Atom, Constant, Term


def may_match(head: Atom, read: Atom) -> bool:
    """Whether two atoms of one predicate have no column in which their constants differ."""
    return not any(_differ(one, other) for one, other in zip(head.terms, read.terms, strict=False))


def covers(head: Atom, other: Atom) -> bool:
    """Whether every atom of a body that may read what `other` derives may match `head`, too."""
    return all(
        not isinstance(one, Constant) or (isinstance(two, Constant) and not _differ(one, two))
        for one, two in zip(head.terms, other.terms, strict=True)
    )


def _differ(one: Term, other: Term) -> bool:
    """Whether two terms are constants that no column takes for the same value.

    A column of floats takes ints for floats, and one of timestamps dates for timestamps.
    """
    if not isinstance(one, Constant) or not isinstance(other, Constant):
        return False
    if one.type.numeric and other.type.numeric:
        return float(str(one.value)) != float(str(other.value))
    return one.type is other.type and one.value != other.value
