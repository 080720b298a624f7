"""How many facts a recursion derives at most, by the values of its columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from zodiac_sql.evaluate import in_shares
from zodiac_sql.evaluate.operators import statement

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

ARCS = [(n, n + 1) for n in range(40)]


@pytest.mark.parametrize(
    ("rules", "least", "most"),
    [
        ("p(X, Y) :- s(X), arc(X, Y). p(X, Z) :- p(X, Y), arc(Y, Z).", 3 * 40, 6 * 80),
        ("p(X, Y) :- arc(X, Y). p(X, Z) :- p(X, Y), arc(Y, Z).", 40 * 40, 80 * 80),
        ("p(X, Y) :- s(X), arc(X, Y). p(X, Z) :- p(X, Y), arc(Y, W), Z = W + 1.", None, None),
        ("p(X, Y) :- s(X), arc(X, Y). p(Y, Z) :- p(X, Y), arc(Y, Z).", 3 * 40, 83 * 120),
        ("p(X, Y) :- s(X), arc(X, Y). p(Y, X) :- p(X, Y), s(X), s(Y).", 1, 83 * 83),
        ("p(X, X) :- s(X). p(Y, X) :- p(X, Y).", None, None),
    ],
)
def test_most(
    open_kb: OpenKb,
    monkeypatch: pytest.MonkeyPatch,
    rules: str,
    least: float | None,
    most: float | None,
) -> None:
    """As DuckDB counts values about, bounds are, too."""
    told: list[float | None] = []
    ask = statement.most_facts

    def asked(*arguments: object) -> float | None:
        told.append(ask(*arguments))  # type: ignore[arg-type]
        return told[-1]

    monkeypatch.setattr(statement, "most_facts", asked)
    monkeypatch.setattr(in_shares, "BYTES_OF_A_ROW", 1e15)
    kb = open_kb()
    kb.insert("arc", ARCS)
    kb.insert("s", [(0,), (5,), (9,)])
    kb.add_rules(rules)
    for found in told:
        if least is None or most is None:
            assert found is None
        else:
            assert found is not None and 0.8 * least <= found <= 1.3 * most
            assert len(kb.table("p")) <= 1.3 * found
