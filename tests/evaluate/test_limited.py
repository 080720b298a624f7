"""Limits of one statement that does many rounds: they are those of rounds from Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import pytest

from zodiac_sql.cost import rounds
from zodiac_sql.errors import LimitError

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

Outcome = tuple[str, int] | None

DEPTH = 10

PROGRAMS = {
    "one": "p(X) :- start(X). p(Y) :- p(X), arc(X, Y).",
    "there and back": "p(X) :- start(X). p(Y) :- p(X), arc(X, Y). p(Y) :- p(X), arc(Y, X).",
    "several": "p(X) :- start(X). q(Y) :- p(X), arc(X, Y). p(Y) :- q(X), arc(X, Y).",
    "two atoms": "p(X) :- start(X). q(Y) :- p(X), arc(X, Y). p(Y) :- q(Y), p(X), arc(X, Y).",
    "computed": "n(X, 0) :- start(X). n(Y, N + 1) :- n(X, N), arc(X, Y).",
    "texts": """
        t(X, S) :- start(X), S = "a".
        t(Y, S) :- t(X, _), arc(X, Y), S = concat("n", Y).
    """,
    "best": "d(X, MIN(0)) :- start(X). d(Y, MIN(D + 1)) :- d(X, D), arc(X, Y).",
    "known from outside": "p(Y) :- p(X), arc(X, Y). p(Y) :- p(X), start(X), arc(Y, X).",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_evaluation_has_the_limits_of_rounds(
    open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    rounds = DEPTH * (1 + (name == "two atoms"))
    limits = [{"max_rows": most} for most in (3, DEPTH - 1, 3 * DEPTH)]
    limits += [{"max_iterations": most} for most in (3, *range(rounds - 1, rounds + 3))]

    def tried() -> Iterator[Outcome]:
        with open_kb() as kb:
            _begin(kb, range(DEPTH))
            for limit in limits:
                yield _outcome(partial(kb.add_rules, PROGRAMS[name], set="tried"), limit)
                kb.drop_rules(set="tried")

    outcomes = _both_ways(monkeypatch, tried)
    assert None in outcomes and {"max_rows"} < {one[0] for one in outcomes if one}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_change_has_the_limits_of_rounds(
    open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    middle = DEPTH // 2
    link = [(middle, middle + 1)]
    rounds = (DEPTH - middle) * (1 + (name == "two atoms"))

    def tried() -> Iterator[Outcome]:
        with open_kb(strategy="support") as kb:
            _begin(kb, [n for n in range(DEPTH) if n != middle])
            kb.add_rules(PROGRAMS[name])
            for most in (3, *range(rounds - 2, rounds + 2)):
                yield _outcome(partial(kb.insert, "arc", link), {"max_iterations": most})
                kb.delete("arc", link)

    outcomes = _both_ways(monkeypatch, tried)
    assert None in outcomes and ("max_iterations", 3) in outcomes


def _begin(kb: KnowledgeBase, links: Iterable[int]) -> None:
    kb.insert("start", [(0,)])
    kb.insert("p", [(0,)])
    kb.insert("arc", [(n, n + 1) for n in links])


def _outcome(act: Callable[..., object], limit: dict[str, int]) -> Outcome:
    """What limit a change comes to, and after how many rounds; None if to none.

    (Where rows are limited, one more round may be begun.)
    """
    try:
        act(**limit)
    except LimitError as error:
        assert error.rows > limit.get("max_rows", 0)
        return error.limit, error.iterations if error.limit == "max_iterations" else 0
    return None


def _both_ways(
    monkeypatch: pytest.MonkeyPatch, tried: Callable[[], Iterable[Outcome]]
) -> list[Outcome]:
    """What limits do in rounds, and in a statement that follows the first round."""
    monkeypatch.setattr(rounds, "HASHED", 0)
    found = []
    for cost in (10**18, 0):
        monkeypatch.setattr(rounds, "PLANNED_BODY", cost)
        found.append([*tried()])
    assert found[0] == found[1]
    return found[0]
