"""Rules whose aggregates meant something else until December 2026.

Until then, neither what `_` stands for nor columns without a name told solutions apart. Over the
readings 10, 10 and 40 of a turbine

    usual(X, M) :- AGGREGATE(reading(X, T, _)) ON X WITH AVG(T) AS M.

had 25 for M, and has 20. What such a rule derived then is evaluated anew by the next change.
"""

from __future__ import annotations

from collections.abc import Sequence

from zodiac_sql.language.syntax import Aggregate, Atom, Literal, Rule, Variable

_SAME = ("min", "max")
"""For these it makes no difference how often a value is there."""

_MOST_TOLD = 10


def meant_otherwise(rule: Rule) -> bool:
    """Whether a rule that was there then meant something else."""
    aggregates = (one for one in rule.body if isinstance(one, Aggregate))
    return any(
        one.function not in _SAME and not one.distinct and any(map(_has_unnamed, one.body))
        for one in aggregates
    )


def _has_unnamed(literal: Literal) -> bool:
    """Whether it is a positive atom with an anonymous variable."""
    return isinstance(literal, Atom) and any(
        isinstance(term, Variable) and term.anonymous for term in literal.terms
    )


def what_is_otherwise(rules: Sequence[str]) -> str:
    """What is told of such rules, by their names, before their facts are evaluated anew."""
    more = len(rules) - _MOST_TOLD
    names = ", ".join(rules[:_MOST_TOLD]) + (f" and {more} more" if more > 0 else "")
    return (
        f"the aggregates of these rules mean something else now: {names}. Every column of an atom "
        "tells solutions apart, also one with _ or without a name: AVG(T) of 10, 10 and 40 is 20, "
        "and was 25. The next change evaluates them anew; until then they have the facts that they "
        "had. If equal values are to count once, write AVG(DISTINCT T)."
    )
