"""Proofs in hypernodes whose tables have no ranks: they are evaluated again, beside the file."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.explained import searched_as_if_large

from zodiac_sql.read.why.evaluated_again import Again

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

SAME = (
    "join: same(X, Z) :- same(X, Y), same(Y, Z). turn: same(X, Y) :- same(Y, X). "
    "function: same(X, Y) :- has(S, X), has(T, Y), same(S, T). base: same(X, Y) :- link(X, Y). "
)
"""If two are the same, so is what they have: on a ladder, one rung after the other."""


def ladder(length: int) -> list[tuple[str, str]]:
    return [(f"{side}{n:02}", f"{side}{n + 1:02}") for side in "ab" for n in range(length)]


@pytest.mark.parametrize("large", [False, True])
def test_a_proof_of_many_iterations(open_kb: OpenKb, tmp_path: Path, large: bool) -> None:
    with open_kb(tmp_path / "case.duckdb") as kb:
        kb.add_rules(SAME)
        kb.insert("link", [("a00", "b00")])
        change = kb.insert("has", ladder(8))
        with searched_as_if_large(large):
            told = kb.why("same(a08, b08)")
        assert told.height == 9  # and one for the link
        came = {tuple(row.values()) for row in change.inserted_facts("same").to_pylist()}
        assert ("a08", "b08") in came
        assert kb.verify()
    import zodiac_sql

    with (
        searched_as_if_large(large),
        zodiac_sql.connect(tmp_path / "case.duckdb", read_only=True) as kb,
    ):
        assert kb.why("same(b08, a08)").height == 10
        assert kb.why("same(b08, b08)").height <= 11


@pytest.mark.parametrize("fed", [False, True])
def test_paths_that_the_database_finds(open_kb: OpenKb, fed: bool) -> None:
    """Nodes are reached from several at once, by edges of either direction."""
    with open_kb() as kb, searched_as_if_large(True):
        kb.add_rules(SAME)
        if not fed:
            kb.drop_rules("function")
        layers = [[f"{layer}{n}" for n in range(3)] for layer in "xyz"]
        edges = [(a, b) for one, two in pairwise(layers) for a in one for b in two]
        kb.insert("link", [(b, a) if a[1] < b[1] else (a, b) for a, b in edges])
        kb.insert("has", [("x0", "w0"), ("z2", "w2"), ("w0", "v0"), ("w2", "v2")])
        for a, b in [("x0", "z0"), ("x1", "z2"), ("z2", "x1"), ("x0", "x2"), ("y1", "y1")]:
            assert kb.why(f"same({a}, {b})").height == 2
        if fed:
            assert kb.why("same(v2, v0)").height == 4


def test_what_is_given_needs_no_evaluation(
    open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_kb() as kb, searched_as_if_large(True):
        kb.add_rules(SAME)
        kb.insert("has", ladder(3))
        kb.insert("link", [("a00", "b00"), ("b00", "c"), ("c", "d")])
        monkeypatch.delattr(Again, "_evaluated")
        assert kb.why("same(d, a00)").height == 2


def test_ranks_that_a_deletion_has_lost(open_kb: OpenKb) -> None:
    with open_kb(strategy="bf") as kb, searched_as_if_large(True):
        kb.add_rules(
            "p(X, Y) :- e(X, Y). p(X, Z) :- q(X, Y), p(Y, Z). q(X, Y) :- p(X, Y). "
            "q(X, Z) :- p(X, Y), q(Y, Z)."
        )
        kb.insert("e", [(n, (n + step) % 30) for n in range(30) for step in (1, 7)])
        kb.delete("e", [(n, (n + 7) % 30) for n in range(0, 30, 3)])
        rows = {row.id: row for row in kb._session.state.hypernodes}
        assert not all(row.ranked for row in rows.values() if row.recursive)
        for node in range(0, 30, 5):
            assert kb.why(f"q(0, {node})").height > 1


@pytest.mark.parametrize("large", [False, True])
def test_a_loop_that_the_closing_rules_exclude(open_kb: OpenKb, large: bool) -> None:
    """Rules with X != Z never lead back to a node; another rule does."""
    with open_kb() as kb, searched_as_if_large(large):
        kb.add_rules("""
            p(X, Z) :- p(X, Y), p(Y, Z), X != Z. p(X, Y) :- p(Y, X), X != Y.
            back: p(Z, X) :- p(X, U), p(U, Z). p(X, Y) :- f(X, Y). f(a, c). f(c, d).
        """)
        for fact in ("p(a, a)", "p(d, d)"):
            (step,) = kb.why(fact).derivations[kb.why(fact).goals[0]]
            assert step.rule == "back"
