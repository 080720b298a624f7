"""What a body says that has nothing to do with the head, for second_opinion.py alone.

It is asked once whether that has a solution: joined with the rest, it would be multiplied out.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass

from sqlglot import exp

from zodiac_sql.language.syntax import Aggregate, Atom, Literal, Rule, Variable
from zodiac_sql.read.verify.rule_body import BodyQuery

Literals = tuple[Literal, ...]


def told_apart(rule: Rule) -> tuple[Literals, Literals]:
    """The literals of a body that share variables with the head, perhaps by others, and the rest.

    Aggregates, and what has no variables, are not among the rest.
    """
    mine = [one for one in rule.body if isinstance(one, Aggregate) or not _names(one)]
    reached = _names(rule.head).union(*map(_names, mine))
    while True:
        more = [
            one
            for one in rule.body
            if not any(one is other for other in mine) and not reached.isdisjoint(_names(one))
        ]
        if not more:
            break
        mine += more
        reached = reached.union(*map(_names, more))
    others = tuple(one for one in rule.body if not any(one is other for other in mine))
    if not any(isinstance(one, Atom) for one in others):
        return rule.body, ()
    return tuple(one for one in rule.body if any(one is other for other in mine)), others


def _names(part: object) -> frozenset[str]:
    """The names of all variables in a part of a rule."""
    if isinstance(part, Variable):
        return frozenset({part.name})
    if isinstance(part, tuple):
        return frozenset().union(*map(_names, part))
    if is_dataclass(part) and not isinstance(part, type):
        return frozenset().union(*(_names(getattr(part, one.name)) for one in fields(part)))
    return frozenset()


def has_solution(body: BodyQuery) -> bool:
    """Whether a body holds for any values."""
    if not body.build():
        return False
    one = body.query.limit(1).subquery("n")
    return body.store.count(exp.select(exp.Count(this=exp.Star())).from_(one)) > 0
