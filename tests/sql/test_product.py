"""Joins projected onto their ends: which rules have that form, what it costs, what comes out."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from support.as_if_large import as_if_large
from support.earnings import without_earnings

from zodiac_sql.cost import products as costs
from zodiac_sql.language.parse import parse
from zodiac_sql.maintain import registry
from zodiac_sql.maintain.operators import products
from zodiac_sql.sql import products_apart
from zodiac_sql.sql.plan import whole
from zodiac_sql.sql.product import product_of

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]
Rows = list[tuple[object, ...]]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("p(X, Z) :- q(X, Y), r(Y, Z).", "q: X, Y: r: Z"),
        ("p(Z, X) :- q(X, Y), r(Y, Z), X != Z.", "q: X, Y: r: Z"),
        ("p(X, W, Z) :- q(X, W, Y), r(Y, Z).", "q: X W, Y: r: Z"),
        ("p(X, W, Z) :- r(Y, Z), q(X, W, Y).", "q: X W, Y: r: Z"),
        ("p(X, Z) :- q(X, Y, V), r(V, Z, Y).", "q: X, Y V: r: Z"),
        ("p(X, Z) :- q(X, Y), r(Y, Z), not s(Z, X).", "q: X, Y: r: Z"),
        ("p(X, N) :- q(X, Y), r(Y, Z), N = Z + 1.", "q: X, Y: r: Z"),
        ("p(X, Y) :- q(X, Y), r(Y, Z).", None),  # Y is needed
        ("p(X, Z) :- q(X, Y), r(Y, Z), not s(Y).", None),
        ("p(X, Z) :- q(X, Y), r(Y, Z), X < Y.", None),
        ("p(X) :- q(X, Y), r(Y).", None),  # a semi join
        ("p(X, Z) :- q(X), r(Z).", None),  # joined on nothing
        ("p(X, V, Z, W) :- q(X, V, Y), r(Y, Z, W).", None),  # two columns on either side
        ("p(X, Z) :- q(X, Y), r(Y, W), s(W, Z).", None),
        ("p(X, Z) :- q(X, Y).", None),
    ],
)
def test_form(rule: str, expected: str | None) -> None:
    (one,) = parse(rule).rules
    found = product_of(whole(one))
    if found is None:
        assert expected is None
        return
    first, second = found.first.atom.predicate, found.second.atom.predicate
    rows, inner = (" ".join(v.name for v in some) for some in (found.rows, found.inner))
    assert f"{first}: {rows}, {inner}: {second}: {found.column}" == expected


RULES = """
p(X, Z) :- e(X, Y), e(Y, Z).
q(X, Z) :- e(X, Y), f(Y, Z), X != Z.
t(X, X) :- p(X, _).
t(X, Z) :- t(X, Y), t(Y, Z), not f(X, Z).
w(X, W, Z) :- g(X, W, Y), f(Y, Z).
n(X, S) :- e(X, Y), f(Y, Z), S = concat(Z, "!").
"""


@pytest.mark.parametrize("seed", range(3))
def test_the_same_facts_come_out(open_kb: OpenKb, seed: int) -> None:
    rng = random.Random(seed)
    names = [f"x{n}" for n in range(9)]
    facts = {
        name: [tuple(rng.choice(names) for _ in range(arity)) for _ in range(25)]
        for name, arity in (("e", 2), ("f", 2), ("g", 3))
    }
    seen: list[str] = []
    plain = _derived(open_kb(), facts, seen)
    assert not any("bitstring_agg" in statement.lower() for statement in seen)
    with as_if_large(True):
        assert _derived(open_kb(), facts, seen) == plain
    made = sum("bitstring_agg" in statement.lower() for statement in seen)
    assert made >= 5  # one for each of the rules, but for that of t(X, X)


def _derived(kb: KnowledgeBase, facts: dict[str, Rows], seen: list[str]) -> dict[str, Rows]:
    kb.trace(lambda statement, _: seen.append(statement))
    with kb.update() as update:
        update.add_rules(RULES)
        for name, rows in facts.items():
            update.insert(name, rows)
    assert kb.verify()
    return {name: sorted(kb.table(name)) for name in "pqtwn"}


def test_numbers_join_across_integer_and_float(open_kb: OpenKb) -> None:
    with as_if_large(True):
        kb = open_kb()
        kb.insert("q", [("a", 1), ("b", 2)])
        kb.insert("r", [(1.0, "one"), (2.5, "more")])
        kb.add_rules("p(X, Z) :- q(X, Y), r(Y, Z).")
        assert list(kb.table("p")) == [("a", "one")]


def test_it_is_decided_by_sizes(open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(costs, "is_worth_counting", lambda *sides: min(sides) >= 100)
    monkeypatch.setattr(costs, "COUNTING", 0.07)
    dense = [(f"a{n}", f"b{m}") for n in range(40) for m in range(40)]
    sparse = [(f"a{n}", f"b{n}") for n in range(1_600)]
    for rows, expected in ((dense, True), (sparse, False)):
        kb, seen = open_kb(), list[str]()
        kb.insert("e", rows)
        kb.insert("f", [(b, a) for a, b in rows])
        kb.trace(lambda statement, _, seen=seen: seen.append(statement))
        kb.add_rules("p(X, Z) :- e(X, Y), f(Y, Z).")
        assert any("bitstring_agg" in statement.lower() for statement in seen) == expected
        assert len(kb.table("p")) == 1_600


def test_heads_are_checked_by_a_product(open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where many heads have lost a derivation, and each may have many others."""
    monkeypatch.setattr(costs, "is_worth_counting", lambda *sides: min(sides) >= 100)
    monkeypatch.setattr(costs, "COUNTING", 0.07)
    dense = [(f"a{n}", f"b{m}") for n in range(40) for m in range(40)]
    for ms, expected in ((costs.CHECKED_ROW, True), (0, False)):
        monkeypatch.setattr(costs, "CHECKED_ROW", ms)
        monkeypatch.setattr(registry, "FORCED", ("candidates",))
        kb, seen = open_kb(), list[str]()
        kb.insert("e", [*dense, ("a40", "b0")])
        kb.insert("f", [(b, a) for a, b in dense])
        kb.add_rules("p(X, Z) :- e(X, Y), f(Y, Z).")
        kb.trace(lambda statement, _, seen=seen: seen.append(statement.lower()))
        gone = [(f"a{n}", "b0") for n in range(41)]
        assert kb.delete("e", gone).deleted == {"e": 41, "p": 40}
        checks = [text for text in seen if "anti join" in text and "h1_p" in text]
        assert any("bitstring_agg" in text for text in checks) == expected
        assert len(kb.table("p")) == 1_600
        assert kb.verify()


@pytest.mark.parametrize("names", [True, False])
def test_what_changes_is_found_by_comparing_sets(
    open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch, names: bool
) -> None:
    """Where so much has changed that to look for candidates takes longer than the product."""
    without_earnings(monkeypatch)
    monkeypatch.setattr(costs, "is_worth_counting", lambda *sides: min(sides) >= 100)
    monkeypatch.setattr(costs, "COUNTING", 0.07)
    monkeypatch.setattr(products, "is_worth_counting", lambda *sides: min(sides) >= 100)

    def row(a: int, b: int) -> tuple[object, object]:
        return (f"a{a}", f"b{b}") if names else (a - 20, b - 20)

    dense = [row(n, m) for n in range(40) for m in range(40)]
    for count, expected in ((15, True), (1, False)):
        kb = open_kb()
        kb.insert("e", [*dense, row(40, 0)])
        kb.insert("f", [(b, a) for a, b in dense])
        kb.add_rules("p(Z, X) :- e(X, Y), f(Y, Z).")
        gone = [row(40, 0), *(row(n, m) for n in range(40) for m in range(count))]
        change = kb.delete("e", gone)
        assert change.deleted == {"e": len(gone), "p": 40}
        assert (change.stats.hypernodes["h1"].strategy == "products") is expected
        assert len(kb.table("p")) == 1_600 and kb.verify()
        change = kb.insert("e", gone)
        assert change.inserted == {"e": len(gone), "p": 40}
        assert (change.stats.hypernodes["h1"].strategy == "products") is expected
        assert len(kb.table("p")) == 1_640 and kb.verify()


@pytest.mark.parametrize("most", [1_000_000, 110 * 48, 110 * 48 - 1])
def test_sets_must_fit_the_memory(
    open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """So must those of what a rule had derived. It is counted where there are many rows."""
    rows = [(a, b) for a in range(40) for b in range(40)]
    with as_if_large(True, forced=("products", "recompute")), open_kb() as kb:
        kb.insert("e", rows)
        kb.insert("f", rows)
        kb.add_rules("p(X, Z) :- e(X, Y), f(Y, Z).")
        monkeypatch.setattr(products_apart, "MOST_BITS", most)
        change = kb.delete("e", rows[:400])
        assert change.deleted == {"e": 400, "p": 400}
        # 30 sets of what is derived, 40 of what it is derived from, 40 of what was: 48 bits each
        strategy = change.stats.hypernodes["h1"].strategy
        assert (strategy == "products") == (most >= 110 * 48)
        assert kb.verify()


@pytest.mark.parametrize("far", [2**62 + 1, -(2**62) - 1, 2**40])
def test_values_far_apart_get_numbers(open_kb: OpenKb, far: int) -> None:
    """Whole numbers are their own only where they lie close together."""
    rows = [(a, b) for a in range(6) for b in range(6)]
    with as_if_large(True), open_kb() as kb:
        kb.insert("e", rows)
        kb.insert("f", [(b, a) for a, b in rows] + [(0, far)])
        kb.add_rules("p(X, Z) :- e(X, Y), f(Y, Z).")
        assert sorted(kb.table("p")) == sorted([*rows, *((a, far) for a in range(6))])
        assert kb.delete("f", [(0, far)]).deleted == {"f": 1, "p": 6}
        assert kb.insert("f", [(1, far)]).inserted == {"f": 1, "p": 6}
        assert kb.verify()


def test_against_clingo(open_kb: OpenKb) -> None:
    rng = random.Random(7)
    rows = frozenset((rng.randrange(12), rng.randrange(12)) for _ in range(40))
    rules = "p(X, Z) :- e(X, Y), e(Y, Z). t(X, Y) :- p(X, Y). t(X, Z) :- t(X, Y), t(Y, Z), X != Z."
    with as_if_large(True):
        kb = open_kb()
        kb.insert("e", list(rows))
        kb.add_rules(rules)
        found = {name: set(kb.table(name)) for name in "ept"}
    assert found == _by_clingo(rules, rows)


def _by_clingo(rules: str, rows: frozenset[tuple[int, int]]) -> dict[str, set[tuple[object, ...]]]:
    import clingo

    control = clingo.Control(["--warn=none"])
    facts = "".join(f"e({a},{b})." for a, b in sorted(rows))
    control.add("base", [], facts + rules)
    control.ground([("base", [])])
    found: dict[str, set[tuple[object, ...]]] = {"e": set(), "p": set(), "t": set()}
    for atom in control.symbolic_atoms:
        found[atom.symbol.name].add(tuple(a.number for a in atom.symbol.arguments))
    return found


def test_variables_that_differ_in_case_only(open_kb: OpenKb) -> None:
    """SQL takes Ab and AB for one column."""
    with as_if_large(True), open_kb() as kb:
        kb.insert("q", [(1, 2), (3, 4)])
        kb.insert("r", [(2, 5), (4, 6)])
        kb.add_rules("p(Ab, Z) :- q(Ab, AB), r(AB, Z).")
        assert sorted(kb.table("p")) == [(1, 5), (3, 6)]


def test_a_predicate_may_be_called_product(open_kb: OpenKb) -> None:
    with as_if_large(True), open_kb() as kb:
        kb.insert("q", [(1, 2), (1, 4)])
        kb.insert("r", [(2, 5), (4, 6)])
        kb.insert("product", [(1, 5)])
        kb.add_rules("p(X, Z) :- q(X, Y), r(Y, Z), not product(X, Z).")
        assert kb.table("p").fetchall() == [(1, 6)]
