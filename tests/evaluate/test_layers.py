"""Closures in layers: the facts that a recursive statement finds, in tables with ranks in order."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product

import pytest
from support.as_if_large import as_if_large

import zodiac_sql
from zodiac_sql.change.change import Change
from zodiac_sql.change.update import Update
from zodiac_sql.evaluate import layers
from zodiac_sql.evaluate.cost import choose_components
from zodiac_sql.language.parse import parse
from zodiac_sql.maintain import auto
from zodiac_sql.maintain.steps import slices
from zodiac_sql.rewrite.closures.shapes import along

Pairs = set[tuple[int, int]]

LEFT = "r(X, Y) :- e(X, Y). r(X, Z) :- r(X, Y), e(Y, Z)."
RIGHT = "r(X, Y) :- e(X, Y). r(X, Z) :- e(X, Y), r(Y, Z)."
SQUARE = "r(X, Y) :- e(X, Y). r(X, Z) :- r(X, Y), r(Y, Z)."
SELF = "r(X, Z) :- r(X, Y), e(Y, Z)."
FED = "r(X, Z) :- r(X, Y), e(Y, Z). e(X, Y) :- f(X, Y)."


@contextmanager
def large_pairs() -> Iterator[None]:
    """Treats tables as large ones, but keeps closures as pairs: components have their own tests."""
    with as_if_large(really=True), pytest.MonkeyPatch.context() as patch:
        patch.setattr(choose_components, "LEAST_PAIRS", 10**15)
        yield


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("r(X, Z) :- r(X, Y), e(Y, Z).", (1, "e")),
        ("r(X, Z) :- e(Y, Z), r(X, Y).", (1, "e")),
        ("r(X, Z) :- e(X, Y), r(Y, Z).", (0, "e")),
        ("r(X, Z) :- r(X, Y), e(Z, Y).", None),
        ("r(X, Z) :- r(Y, X), e(Y, Z).", None),
        ("r(X, Z) :- r(X, Y), r(Y, Z).", None),
        ("r(X, Z) :- r(X, Y), e(Y, Z), X != Z.", None),
        ("r(X, Z) :- r(X, Y), e(Y, Z), f(X).", None),
        ("r(X, Z) :- r(X, Y), e(Y, Z, 1).", None),
        ("r(X, 1) :- r(X, Y), e(Y, 1).", None),
        ("r(X, X) :- r(X, Y), e(Y, X).", None),
        ("r(X, Z) :- r(X, Z), e(Z, Z).", None),
        ("r(X, Z) :- r(X, Z), e(X, Z).", None),
        ("r(X) :- r(Y), e(Y, X).", None),
    ],
)
def test_rules_that_go_along(rule: str, expected: tuple[int, str] | None) -> None:
    assert along(parse(rule).rules[0]) == expected


@pytest.mark.parametrize("rules", [LEFT, RIGHT, SQUARE, SELF, FED])
@pytest.mark.parametrize("cyclic", [False, True], ids=["acyclic", "cyclic"])
@pytest.mark.parametrize("chosen", ["auto", "recompute"])
def test_every_change_is_right(
    monkeypatch: pytest.MonkeyPatch, rules: str, cyclic: bool, chosen: str
) -> None:
    """Facts and ranks are right after random changes, which bring cycles or not."""
    monkeypatch.setattr(slices, "MOST_SLICE_KEYS", 0)
    monkeypatch.setattr(auto, "SHARE_CHECKED", 1)
    chance = random.Random(f"{rules}{cyclic}{chosen}")
    facts: dict[str, Pairs] = {name: _some(chance, 25, cyclic) for name in "efr"}
    methods = set()
    with large_pairs(), zodiac_sql.connect(strategy=chosen) as kb:
        with kb.update() as update:
            update.add_rules(rules)
            for name, rows in facts.items():
                update.insert(name, sorted(rows))
        methods |= _methods(update.change)
        for _ in range(3):
            verbs = chance.choice((["insert"], ["delete"], ["insert", "delete"]))
            with kb.update() as update:
                for name in chance.choice(("e", "r", "er")):
                    _change(chance, update, facts, name, verbs, cyclic)
            methods |= _methods(update.change)
            assert kb.verify()
            assert {(a, b) for a, b in kb.sql("SELECT * FROM r")} == _closure(rules, facts)
    assert cyclic or "layers" in methods


def test_deletion_that_needs_many_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is given up for an evaluation in layers, which takes what is lost out of the table."""
    monkeypatch.setattr(slices, "MOST_SLICE_KEYS", 0)
    edges = [(a, b) for a in range(30) for b in (a + 1, a + 2, a + 3)]
    with large_pairs(), zodiac_sql.connect() as kb:
        monkeypatch.setattr(auto, "LARGEST_NOT_WEIGHED", 1_000)
        with kb.update() as update:
            update.insert("r", edges)
            update.add_rules("r(X, Z) :- r(X, Y), r(Y, Z).")
        change = kb.delete("r", [(27, 30), (28, 30), (29, 30)])
        (done,) = change.stats.hypernodes.values()
        assert (done.strategy, done.method) == ("recompute", "layers")
        assert "each round would read" in done.why
        assert change.deleted == {"r": 30}
        assert kb.verify()


def _change(
    chance: random.Random,
    update: Update,
    facts: dict[str, Pairs],
    name: str,
    verbs: list[str],
    cyclic: bool,
) -> None:
    if "delete" in verbs:
        gone = set(chance.sample(sorted(facts[name]), min(len(facts[name]), chance.randrange(5))))
        update.delete(name, sorted(gone))
        facts[name] -= gone
    if "insert" in verbs:
        new = _some(chance, chance.randrange(5), cyclic)
        update.insert(name, sorted(new))
        facts[name] |= new


def _some(chance: random.Random, number: int, cyclic: bool) -> Pairs:
    pairs = {(chance.randrange(10), chance.randrange(10)) for _ in range(number)}
    return pairs if cyclic else {(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]}


def _methods(change: Change) -> set[str]:
    return {hypernode.method for hypernode in change.stats.hypernodes.values()}


def _closure(rules: str, facts: dict[str, Pairs]) -> Pairs:
    """The facts of r, by sets of Python."""
    edges = facts["e"] | (facts["f"] if rules == FED else set())
    found = facts["r"] | (set() if rules in (SELF, FED) else edges)
    while more := set(_joined(found, found if rules == SQUARE else edges, rules)) - found:
        found |= more
    return found


def _joined(found: Pairs, edges: Pairs, rules: str) -> Iterator[tuple[int, int]]:
    for (a, b), (c, d) in product(found, edges):
        if rules == RIGHT and d == a:
            yield c, b
        elif rules != RIGHT and b == c:
            yield a, d


def test_values_and_nodes_of_different_types() -> None:
    """Numbers are taken along a relation of symbols."""
    steps = [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("d", "e")]
    with large_pairs(), zodiac_sql.connect() as kb:
        with kb.update() as update:
            update.insert("above", [(1, "a"), (2, "b"), (2, "c")])
            update.insert("steps", steps)
            update.add_rules("above(X, Z) :- above(X, Y), steps(Y, Z).")
        assert "layers" in _methods(update.change)
        found = sorted(map(tuple, kb.sql("SELECT * FROM above")))
        assert found == [(n, s) for n in (1, 2) for s in "abcde" if (n, s) != (2, "a")]
        assert kb.verify()


@pytest.mark.parametrize(
    ("name", "value"),
    [("FEWEST_ROWS", 10), ("LEAST_EDGES_TO_A_NODE", 2), ("MOST_BITS", 8), ("MOST_LAYERS", 2),
     ("CHEAPER_BY", 2), ("LEAST_HEADS_TO_AN_EDGE", 2)],
)  # fmt: skip
def test_where_layers_do_not_pay(monkeypatch: pytest.MonkeyPatch, name: str, value: int) -> None:
    """A chain of three edges is left to the recursive statement, and no table of layers stays."""
    with large_pairs(), zodiac_sql.connect() as kb:
        monkeypatch.setattr(layers, name, value)
        with kb.update() as update:
            update.insert("r", [(0, 1), (1, 2), (2, 3)])
            update.add_rules("r(X, Z) :- r(X, Y), r(Y, Z).")
        assert _methods(update.change) == {"linear"}
        assert len(list(kb.sql("SELECT * FROM r"))) == 6
