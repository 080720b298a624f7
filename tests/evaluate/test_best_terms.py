"""MIN and MAX in heads over terms of all kinds: what a recursion passes on, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.as_if_large import as_if_large

from zodiac_sql.errors import DataError, ProgramError
from zodiac_sql.read.why import find_proof

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

XSD = "http://www.w3.org/2001/XMLSchema#"
PASSED_ON = """
    .decl named(x: int, term: any)
    .decl edge(x: int, y: int)
    best(X, MAX(T)) :- named(X, T).
    best(Y, MAX(T)) :- best(X, T), edge(X, Y).
"""


def literal(text: str, datatype: str) -> str:
    return f'"{text}"^^<{XSD}{datatype}>'


@pytest.mark.parametrize("large", [False, True])
def test_terms_along_a_chain(open_kb: OpenKb, large: bool) -> None:
    nodes = 120
    with as_if_large(large), open_kb() as kb:
        kb.add_rules(PASSED_ON)
        kb.insert("named", [(0, 7), (0, 6.5), (50, literal("7.0", "decimal")), (50, True)])
        kb.insert("edge", [(n, n + 1) for n in range(nodes - 1)])
        first = {(n, literal("7", "integer")) for n in range(50)}
        assert set(kb.table("best").fetchall()) == first | {
            (n, literal("true", "boolean")) for n in range(50, nodes)
        }
        kb.delete("named", [(50, True)])
        last = {(n, literal("7.0", "decimal")) for n in range(50, nodes)}
        assert set(kb.table("best").fetchall()) == first | last
        assert kb.verify()
        kb.insert("named", [(0, "of letters")])
        assert set(kb.table("best").fetchall()) == {(n, "of letters") for n in range(nodes)}
        assert kb.verify()


@pytest.mark.parametrize("small", [True, False])
def test_proofs_tell_terms_of_one_value_apart(
    open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch, small: bool
) -> None:
    if not small:  # as in a large database, where ranks lead to proofs
        monkeypatch.setattr(find_proof, "SMALL", 0)
        monkeypatch.setattr(find_proof, "FEW_FACTS", 1)
    with open_kb() as kb:
        kb.add_rules(PASSED_ON)
        kb.add_rules("""
            best(X, MAX(N)) :- number(X, N).
            best(X, MAX(M)) :- less(X, T), M = T + 1.
        """)
        kb.insert("number", [(1, 5)])
        kb.insert("less", [(1, literal("4.0", "decimal")), (1, 4)])
        kb.insert("edge", [(1, 2), (2, 1)])
        assert set(kb.table("best").fetchall()) == {(n, literal("5.0", "decimal")) for n in (1, 2)}
        proof = str(kb.why(f"best(2, {literal('5.0', 'decimal')})"))
        assert 'less(1, "4.0"' in proof and "number" not in proof
        change = kb.insert("named", [(2, "a")])
        told = str(change.why(f"best(1, {literal('5.0', 'decimal')})"))
        assert "best(1, a) entered" in told


def test_why_not(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        kb.add_rules(PASSED_ON)
        kb.insert("named", [(1, 7), (1, True), (2, 9), (3, "a")])
        told = str(kb.why_not("best(1, 7)"))
        assert "best(1, true) holds, and of each group only the greatest value is a fact" in told
        assert "of each group" not in str(kb.why_not("best(2, a)"))


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("best(Y, MAX(U)) :- best(X, T), edge(X, Y), U = T + 1.", "computes (T + 1)"),
        ("best(Y, MAX(least(T, 5))) :- best(X, T), edge(X, Y).", "computes least(T, 5)"),
        ("best(Y, MAX(T)) :- best(X, T), edge(X, Y), T > 3.", "compares T > 3"),
        (
            "f(Y, MAX(N)) :- best(X, _), edge(X, Y), edge(Y, N). best(X, MAX(N)) :- f(X, N).",
            "makes a term of N",
        ),
    ],
)
def test_what_a_recursion_must_not_do(open_kb: OpenKb, rule: str, said: str) -> None:
    with open_kb() as kb:
        kb.add_rules(PASSED_ON)
        with pytest.raises(ProgramError) as error:
            kb.add_rules(rule)
        assert "is a recursion through MAX of terms of all kinds, and" in str(error.value)
        assert said in str(error.value)


def test_facts_that_widen_a_column(open_kb: OpenKb, tmp_path: Path) -> None:
    """A best value becomes a term with the column that it is from; a recursion that computes with
    it does not allow that.
    """
    with open_kb(tmp_path / "best.duckdb") as kb:
        kb.add_rules("low(X, MIN(V)) :- p(X, V).")
        kb.insert("p", [("a", 2), ("a", 3), ("b", 4)])
        kb.insert("p", [("a", "n/a"), ("c", "n/a")])
        low = {("a", literal("2", "integer")), ("b", literal("4", "integer")), ("c", "n/a")}
        assert set(kb.table("low").fetchall()) == low
    with open_kb(tmp_path / "best.duckdb") as kb:
        kb.delete("p", [("a", 2)])
        assert ("a", literal("3", "integer")) in kb.table("low").fetchall()
        assert kb.verify()
        kb.add_rules(
            "dist(X, MIN(W)) :- e(a, X, W). dist(Y, MIN(D + W)) :- dist(X, D), e(X, Y, W)."
        )
        kb.insert("e", [("a", "b", 1), ("b", "c", 2)])
        with pytest.raises(DataError, match="computes"):
            kb.insert("e", [("c", "d", "far")])
        assert set(kb.table("dist").fetchall()) == {("b", 1), ("c", 3)}
