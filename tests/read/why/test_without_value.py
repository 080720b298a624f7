"""What `why_not` says of tests that have no value: they are not false."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from random import Random

import pytest
from support import budget
from support.mixed_terms import Term, compare
from support.naive_values import NoValue

from zodiac_sql import KnowledgeBase
from zodiac_sql.language.symbols import XSD

OpenKb = Callable[..., KnowledgeBase]

TERMS = [
    *(f'"{form}"^^<{XSD}{datatype}>' for form, datatype in (
        ("5", "integer"), ("5.0", "decimal"), ("7", "double"), ("NaN", "double"),
        ("true", "boolean"), ("2020-01-01", "date"), ("2020-01-01T00:00:00", "dateTime"),
        ("2020-01-01T00:00:00Z", "dateTime"), ("x", "integer"),
    )),
    "abc", '"5"', '"abc"@en', "http://e/abc", "_:b",
]  # fmt: skip

OPERATORS = ("=", "!=", "<", "<=", ">", ">=")


@pytest.mark.parametrize("operator", OPERATORS)
def test_tests_of_two_terms_are_as_the_oracle_has_them(open_kb: OpenKb, operator: str) -> None:
    with open_kb() as kb:
        kb.add_rules(f".decl p(x: int, v: any).\nr: r(X, Y) :- p(X, V), p(Y, W), V {operator} W.")
        kb.insert("p", list(enumerate(TERMS)))
        pairs = list(product(enumerate(TERMS), repeat=2))
        seen = set()
        for (x, one), (y, other) in Random(budget.seed(58)).sample(pairs, 60):
            told, kind = kb.why_not(f"r({x}, {y})"), _expected(one, operator, other)
            assert (told.holds is not None) == (kind is None), (one, other)
            if kind is not None:
                (attempt,) = told.attempts
                assert attempt.kind == kind, attempt
                assert attempt.fails.endswith(
                    {"comparison": " is false", "no value": " has no value"}[kind]
                )
            seen.add(kind)
        assert ("no value" in seen) == (operator not in ("=", "!="))


def _expected(left: str, operator: str, right: str) -> str | None:
    try:
        return None if compare(Term(left), operator, Term(right)) else "comparison"
    except NoValue:
        return "no value"


TOLD = {
    "r: r(X) :- p(X, A), A < 50.": '"n/a" < 50 has no value',
    "r: r(X) :- p(X, A), A + 1 != 4.": '"n/a" + 1 != 4 has no value',
    "r: r(X) :- p(X, A), n(N, A + 1).": '"n/a" + 1 = 5 has no value',
    "r: r(X) :- p(X, A), n(0, N), BIND(A + 1 AS N).": '5 = "n/a" + 1 has no value',
    "r: r(X) :- p(X, A), n(Z, N), N / Z < 5.": "5 / 0 < 5 has no value",
    "r: r(X) :- p(X, A), n(Z, N), M = N / Z, M < 5.": "M = 5 / 0 has no value",
    "r: r(X) :- p(X, A), n(Z, N), N > 5.": "5 > 5 is false",
    "r: r(X) :- p(X, A), n(Z, N), BIND(N + 1 AS Z).": "0 = 5 + 1 is false",
    "r: r(X) :- AGGREGATE(p(X, A)) ON X WITH COUNT(A) AS C, p(X, B), B > C.":
        '"n/a" > 1 has no value',
}  # fmt: skip


@pytest.fixture
def kb(open_kb: OpenKb) -> Iterator[KnowledgeBase]:
    with open_kb() as opened:
        opened.insert("p", [("a", 9), ("d", "n/a")])
        opened.insert("n", [(0, 5)])
        yield opened


@pytest.mark.parametrize("rule", TOLD)
def test_what_has_no_value_is_not_false(kb: KnowledgeBase, rule: str) -> None:
    kb.add_rules(rule)
    (attempt,) = kb.why_not("r(d)").attempts
    assert attempt.fails == TOLD[rule]
    assert (attempt.kind == "no value") == ("no value" in attempt.fails)


def test_a_head_that_would_have_no_value(kb: KnowledgeBase) -> None:
    kb.add_rules("r: r(X, M) :- p(X, A), M = A + 1.")
    for goal, fails in [("r(d, 5)", "5"), ("r(d, M)", "M")]:
        (attempt,) = kb.why_not(goal).attempts
        assert attempt.fails == f'{fails} = "n/a" + 1 has no value'
