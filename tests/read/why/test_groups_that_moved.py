"""Why a value of a group moved, where the two sides of a change do not know the same predicates."""

from __future__ import annotations

import pytest

import zodiac_sql
from zodiac_sql.change.change import Change

RULES = """
    r1: p(Y, N) :- AGGREGATE(g(X, Y), Y <= a, not f(X, Y)) ON Y WITH MIN(X) AS N.
    r2: q(N, X) :- not p(b, X), AGGREGATE(not g(-1, Y), f(X, Y)) ON X WITH COUNT(Y) AS N.
"""
F = 'f(-1, "D e"). f(-1, a). f(1, "D e"). f(1, a). f(1, b). f(2, a).'
G = 'g(0, "D e").'


@pytest.mark.parametrize(
    "texts",
    [
        [RULES + F + G], [RULES + F, G], [F, RULES + G], [RULES, F + G], [RULES + G, F],
        [G, RULES + F], ["e(1).", RULES + F + G], [F, G, RULES],
    ],
)  # fmt: skip
def test_a_predicate_is_known_on_one_side_only(texts: list[str]) -> None:
    with zodiac_sql.connect(threads=1) as kb:
        for text in texts:
            _explain_all(kb.add_rules(text))
        assert kb.table("p").fetchall() == [("D e", 0)]
        _explain_all(kb.delete("g", [(0, "D e")]))
        change = kb.insert("g", [(0, "D e")])
        assert "g(0, " in str(change.why('p("D e", 0)'))


def _explain_all(change: Change) -> None:
    """Every fact of p and q that moved has a reason."""
    for facts, counts in (
        (change.inserted_facts, change.inserted), (change.deleted_facts, change.deleted)
    ):  # fmt: skip
        for name in {"p", "q"} & {*counts}:
            for row in facts(name).to_pylist():
                terms = (f'"{v}"' if isinstance(v, str) else str(v) for v in row.values())
                assert str(change.why(f"{name}({', '.join(terms)})"))
