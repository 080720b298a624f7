"""What tells the solutions of an aggregate apart: all columns, or with DISTINCT the value alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., KnowledgeBase]

RULES = """
.decl log(turbine: symbol, celsius: float, at: int)
mean: mean(X, M, D, N, C) :- AGGREGATE(log(turbine: X, celsius: T)) ON X
    WITH AVG(T) AS M, AVG(DISTINCT T) AS D, COUNT(T) AS N, COUNT(DISTINCT T) AS C.
every: every(X, N, C) :- turbine(X), AGGREGATE(log(X, T, _), not broken(X, _)) ON X
    WITH SUM(T) AS N ELSE -1.0, SUM(DISTINCT T) AS C ELSE -1.0.
all: all(N) :- AGGREGATE(log(_, T, _), near(_, _)) WITH COUNT(DISTINCT T) AS N ELSE 0.
"""
LOG = [("w", 10.0, 1), ("w", 10.0, 2), ("w", 40.0, 3), ("v", 7.0, 1)]


def rows(kb: KnowledgeBase, predicate: str) -> list[tuple[Any, ...]]:
    return sorted(kb.table(predicate).fetchall())


@pytest.mark.parametrize("way", ["auto", "lookups", "support", "bf", "dred", "recompute"])
def test_values_that_come_and_go(open_kb: OpenKb, way: str) -> None:
    with open_kb(strategy=way) as kb:
        kb.add_rules(RULES)
        kb.insert("log", LOG)
        kb.insert("turbine", [("w",), ("v",), ("u",)])
        assert rows(kb, "mean") == [("v", 7.0, 7.0, 1, 1), ("w", 20.0, 25.0, 3, 2)]
        assert rows(kb, "every") == [("u", -1.0, -1.0), ("v", 7.0, 7.0), ("w", 60.0, 50.0)]
        assert rows(kb, "all") == [(0,)]
        kb.insert("near", [("v", "w"), ("w", "v")])
        assert rows(kb, "all") == [(3,)]
        kb.delete("log", [("w", 10.0, 2)])
        assert rows(kb, "mean")[1] == ("w", 25.0, 25.0, 2, 2)
        kb.delete("log", [("w", 10.0, 1)])
        assert rows(kb, "mean")[1] == ("w", 40.0, 40.0, 1, 1)
        kb.insert("log", [("w", 40.0, 4), ("u", 1.5, 1)])
        assert rows(kb, "every") == [("u", 1.5, 1.5), ("v", 7.0, 7.0), ("w", 80.0, 40.0)]
        kb.insert("broken", [("w", "x"), ("w", "y")])
        assert rows(kb, "every")[2] == ("w", -1.0, -1.0)
        kb.delete("broken", [("w", "x")])
        assert rows(kb, "every")[2] == ("w", -1.0, -1.0)
        kb.delete("near", [("v", "w")])
        assert rows(kb, "all") == [(3,)] and kb.verify()


def test_symbols_and_functions_of_ones_own(open_kb: OpenKb) -> None:
    """Symbols are told apart by what they are, not by the text that they mean."""

    def joined(values: list[str]) -> str:
        return "+".join(sorted(values))

    with open_kb() as kb:
        kb.register_aggregate("joined", joined, "symbol", "symbol")
        kb.add_rules("""
            a: all(J) :- AGGREGATE(p(_, X)) WITH joined(X) AS J.
            o: once(J, N, M) :- AGGREGATE(p(_, X)) WITH joined(DISTINCT X) AS J,
                COUNT(DISTINCT X) AS N, MAX(DISTINCT X) AS M.
            u: upper(J) :- AGGREGATE(p(_, X)) WITH joined(DISTINCT upper(X)) AS J.
        """)
        kb.insert("p", [(1, "a"), (2, "a"), (3, '"a"@en'), (4, "b")])
        assert rows(kb, "all") == [("a+a+a+b",)]
        assert rows(kb, "once") == [("a+a+b", 3, "b")]
        assert rows(kb, "upper") == [("A+B",)] and kb.verify()


def test_a_question(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        kb.add_rules(RULES)
        kb.insert("log", LOG)
        found = kb.query("AGGREGATE(log(celsius: T)) WITH COUNT(T) AS N, COUNT(DISTINCT T) AS D")
        assert found.fetchall() == [(4, 3)]
        group = str(kb.why("mean(w, M, D, N, C)"))
        assert "D = 25.0 = avg(DISTINCT T) of 2 solutions with X = w" in group
        assert "M = 20.0 = avg(T) of 3 solutions with X = w" in group
        assert "log(w, 10.0, 1)" in group and "log(w, 10.0, 2)" in group
        absent = str(kb.why_not("mean(u, M, D, N, C)"))
        assert "no group: avg(T) of log(X, T, _) with X = u" in absent


def test_a_rule_with_a_name_for_each_column_is_the_same(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        kb.add_rules("usual(X, M) :- AGGREGATE(log(X, T, _)) ON X WITH AVG(T) AS M.")
        change = kb.add_rules("usual(X, M) :- AGGREGATE(log(X, T, At)) ON X WITH AVG(T) AS M.")
        assert len(change.notes) == 1 and kb.rules().num_rows == 1
