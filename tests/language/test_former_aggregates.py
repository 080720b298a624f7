"""Which rules mean something else since all columns tell solutions of an aggregate apart."""

from __future__ import annotations

import pytest

from zodiac_sql.language.former_aggregates import meant_otherwise, what_is_otherwise
from zodiac_sql.language.parse import parse

OTHERWISE = [
    "p(X, M) :- AGGREGATE(r(X, T, _)) ON X WITH AVG(T) AS M.",
    "p(N) :- AGGREGATE(q(X), r(_, X, X)) WITH count(X) AS N.",
    "p(X, N) :- t(X), AGGREGATE(r(X, T, _)) ON X WITH MAX(T) AS M, SUM(T) AS N ELSE 0.",
    "p(M) :- AGGREGATE(r(_, T)) WITH most(T) AS M.",
]

THE_SAME = [
    "p(X, M) :- AGGREGATE(r(X, T, A)) ON X WITH AVG(T) AS M.",
    "p(M) :- AGGREGATE(r(_, T)) WITH MAX(T) AS M.",
    "p(M) :- AGGREGATE(r(_, T)) WITH AVG(DISTINCT T) AS M.",
    "p(X, N) :- AGGREGATE(r(X, T), not q(X, _)) ON X WITH COUNT(T) AS N.",
    "p(X, N) :- AGGREGATE(r(X, T)) ON X WITH COUNT(T) AS N, q(X, _).",
    "p(X) :- q(X, _).",
]


@pytest.mark.parametrize("text", OTHERWISE)
def test_what_underscores_stand_for_was_not_counted(text: str) -> None:
    (rule,) = parse(text).rules
    assert meant_otherwise(rule)


@pytest.mark.parametrize("text", THE_SAME)
def test_nothing_has_changed(text: str) -> None:
    (rule,) = parse(text).rules
    assert not meant_otherwise(rule)


def test_only_some_rules_are_named() -> None:
    names = [f"r{number}" for number in range(13)]
    assert ": r0, r1, r2, r3, r4, r5, r6, r7, r8, r9 and 3 more. " in what_is_otherwise(names)
