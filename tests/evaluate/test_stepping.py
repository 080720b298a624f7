"""The loop with steps gives what it gives without them, in tables with ranks in order."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

import zodiac_sql
from zodiac_sql import KnowledgeBase
from zodiac_sql.evaluate import semi_naive, stepping

EL = """\
p(X, Z) :- p(X, Y), p(Y, Z).
p(X, Z) :- p(Y, W), u(W, R, Z), q(X, R, Y).
p(X, Z) :- c(Y, W, Z), p(X, W), p(X, Y).
q(X, R, Z) :- p(X, Y), q(Y, R, Z).
q(X, Q, Z) :- q(X, R, Z), s(R, Q).
q(X, E, O) :- q(X, Y, Z), r(Y, U, E), q(Z, U, O).
"""
OTHERS = """\
d(X, Z) :- d(X, Y), d(Y, Z), X != Z.
d(X, Y) :- p(X, Y), q(X, _, Y).
q(Y, R, Z) :- d(X, Y), q(X, R, Z).
w(Z, X) :- w(Z, Y), d(X, Y).
p(X, Y) :- w(X, Y), w(Y, X).
"""


@pytest.fixture(autouse=True, params=["always", "at times"])
def steps(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small programs read steps, too, and take heads apart."""
    least, share = (0, 0.0) if request.param == "always" else (20, 0.5)
    monkeypatch.setattr(stepping, "is_read_long", lambda rows: rows > least)
    monkeypatch.setattr(
        stepping, "joins_all", lambda heads, rows: heads <= max(least, share * rows)
    )
    monkeypatch.setattr(semi_naive, "are_told_apart_later", lambda known, new: 2 * new <= known)


def _facts(
    rng: random.Random, size: int, reflexive: bool
) -> Iterator[tuple[str, list[tuple[int, ...]]]]:
    arities = {"p": 2, "q": 3, "u": 3, "c": 3, "s": 2, "r": 3, "w": 2, "d": 2}
    for name, arity in arities.items():
        rows = {tuple(rng.randrange(size) for _ in range(arity)) for _ in range(size // 2 + 1)}
        if name == "p" and reflexive:
            rows |= {(x, x) for x in range(size)}
        yield name, sorted(rows)


def _filled(rules: str, facts: dict[str, list[tuple[int, ...]]]) -> KnowledgeBase:
    kb = zodiac_sql.connect()
    with kb.update() as update:
        for name, rows in facts.items():
            update.insert(name, rows)
        update.add_rules(rules)
    return kb


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("rules", [EL, EL + OTHERS], ids=["el", "others"])
def test_verify_agrees(rules: str, seed: int) -> None:
    """A fact from outside belongs to the table, too, if some rule derives it as it is written."""
    rng = random.Random(seed)
    facts = dict(_facts(rng, 4 + seed, seed % 2 == 0))
    with _filled(rules, facts) as kb:
        assert kb.verify()
        gone = rng.sample(facts["p"], 1)
        kb.delete("p", gone)
        kb.insert("p", gone)
        assert kb.verify()


def test_steps_are_read_and_dropped() -> None:
    texts: list[str] = []
    kb = zodiac_sql.connect()
    chain = [(x, x + 1) for x in range(12)]
    with kb:
        kb.trace(lambda text, _: texts.append(text))
        with kb.update() as update:
            update.insert("p", chain)
            update.insert("q", [(12, 0, 5)])
            update.insert("u", [(5, 0, 100)])
            update.add_rules(EL.replace(", c(Y, W, Z)", ""))
        kb.trace(None)
        assert len(kb.table("q")) == 13
        assert any("JOIN" in text and '"steps_' in text for text in texts)
        left = kb._session.store.rows("SELECT table_name FROM duckdb_tables() WHERE temporary")
        assert not [name for (name,) in left if name.startswith(("steps_", "fed_", "step_"))]
        assert kb.hypernodes().to_pylist()[0]["modules"] == []
