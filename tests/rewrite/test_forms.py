"""The forms of a hypernode: what they say of rules, and of rules that are nearly of that form."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.module_schemas import schema_of

from zodiac_sql.graph.hypergraph import hypergraph
from zodiac_sql.language.parse import parse
from zodiac_sql.rewrite.forms import Forms, grouped


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("p(X, Z) :- p(X, Y), e(Y, Z), X != Z.", (0,)),
        ("p(K, B, N) :- p(K, A, N), e(A, B, N).", (0, 2)),
        ("p(K, M) :- p(K, N), M = N + 1.", (0,)),
        ("p(X, Z) :- p(X, Y), p(Y, Z).", ()),
        ("p(a, Z) :- p(a, Y), e(Y, Z).", ()),
        ("p(X, Z) :- p(X, Y), e(Y, Z). p(X, Z) :- p(Y, Z), e(X, Y).", ()),
        ("p(K, Y, Z) :- p(K, X, Y), p(K, Y, Z).", (0,)),
        ("p(X, Y) :- q(X, Y). q(X, Y) :- p(X, Y).", ()),  # of one predicate only
    ],
)
def test_preserved_arguments(text: str, places: tuple[int, ...]) -> None:
    assert forms(text).preserved == places


@pytest.mark.parametrize(
    ("text", "along", "longer"),
    [
        ("p(X, Z) :- p(X, Y), e(Y, Z).", (1, "e"), (1, "e")),
        ("p(X, Z) :- e(X, Y), p(Y, Z).", (0, "e"), (0, "e")),
        ("p(X, Z) :- p(X, Y), e(Y, Z), X != Z.", None, (1, "e")),
        ("p(X, Z) :- p(X, Y), p(Y, Z).", None, (1, "p")),
        ("p(X, Z) :- p(X, Y), p(Y, Z), X != Z.", None, (1, "p")),
        ("p(X, Z) :- p(X, Y), e(Z, Y).", None, None),
        ("p(X, Z) :- p(X, Y), e(Y, Z), f(Z).", None, None),
        ("p(X, Z) :- p(X, Y), e(Y, Z). p(X, Z) :- p(X, Y), f(Y, Z).", None, None),
    ],
)
def test_paths(text: str, along: tuple[int, str] | None, longer: tuple[int, str] | None) -> None:
    found = [one and one[:2] for one in (forms(text).along, forms(text).paths)]
    assert found == [along, longer]


@pytest.mark.parametrize(
    ("text", "positions"),
    [
        ("p(X, Y) :- q(Y, X). q(Y, X) :- p(X, Z), e(Z, Y).", {"p": 0, "q": 1}),
        ("p(X, Z) :- p(X, Y), p(Y, Z).", None),
    ],
)
def test_handed_on(text: str, positions: dict[str, int] | None) -> None:
    """The argument of each predicate, also where there are several."""
    assert forms(text).handed_on == positions


@pytest.mark.parametrize(
    ("text", "inner", "kept"),
    [
        ("p(X, Z) :- q(X, Y), r(Y, Z).", "Y", {"q": "X", "r": "Z"}),
        ("p(X, W) :- q(X, Y, K), r(K, Z, Y), W = Z + 1.", "YK", {"q": "X", "r": "Z"}),
        ("p(A, B, C) :- q(A, B, Y), r(Y, C), not s(A).", "Y", {"q": "AB", "r": "C"}),
        ("p(X, Z) :- q(X, Y), r(Y, Z), not s(Y).", None, {}),  # the negation needs Y
        ("p(X, Y) :- q(X, Y), r(Y, Z).", None, {}),
        ("p(A, B, C, D) :- q(A, B, Y), r(Y, C, D).", None, {}),
        ("p(X, Z) :- q(X), r(Z).", None, {}),
        ("p(X, Z) :- q(X, Y), r(Y, Z), s(Z).", None, {}),
    ],
)
def test_products(text: str, inner: str | None, kept: dict[str, str]) -> None:
    """On what two atoms are joined, and what is needed of each."""
    found = forms(text).product
    assert (found and "".join(v.name for v in found.inner)) == inner
    atoms = found.kept.items() if found else ()
    assert {a.predicate: "".join(v.name for v in names) for a, names in atoms} == kept


@pytest.mark.parametrize(
    ("aggregates", "alike"),
    [
        ("AGGREGATE(q(X, Y)) ON X WITH MIN(Y) AS L, MAX(Y) AS M", True),
        (
            "AGGREGATE(q(X, Y)) ON X WITH MIN(Y) AS L, AGGREGATE(r(X, Y)) ON X WITH MAX(Y) AS M",
            False,
        ),
        ("AGGREGATE(q(X, Y)) ON X WITH MIN(Y) AS L, AGGREGATE(q(X, Y)) WITH MAX(Y) AS M", False),
        ("r(X, L), M = L", False),
    ],
)
def test_aggregates_over_the_same_groups(aggregates: str, alike: bool) -> None:
    (rule,) = parse(f"p(X, L, M) :- {aggregates}.").rules
    assert bool(grouped(rule)) == alike


@pytest.mark.parametrize(
    ("text", "sources"),
    [
        ("p(X, Y) :- q(X, Y). q(X, Y) :- p(Y, X).", {"q 01", "p 10", "q 10", "p 01"}),
        ("p(X, Y) :- p(Y, X).", {"p 10", "p 01"}),
        ("p(X, Y) :- p(Y, X), e(X).", None),
        ("p(X, X) :- p(X, X).", None),
    ],
)
def test_copies(text: str, sources: set[str] | None) -> None:
    """From which predicates, with columns in which order."""
    found = forms(text).copies
    told = {f"{name} {''.join(map(str, order))}" for name, order in (found or {}).get("p", ())}
    assert (None if found is None else told) == sources


@pytest.mark.parametrize(
    ("text", "linear"),
    [
        ("p(X, Z) :- p(X, Y), e(Y, Z), not f(X).", True),
        ("p(X, Z) :- p(X, Y), p(Y, Z).", False),
        ("p(X, Z) :- q(X, Y), e(Y, Z). q(X, Y) :- p(X, Y), e(X, Y).", True),
        ("p(X, Z) :- q(X, Y), p(Y, Z). q(X, Y) :- p(X, Y).", False),
    ],
)
def test_linear_rules(text: str, linear: bool) -> None:
    assert forms(text).linear is linear


def test_what_is_written_is_recognised_once() -> None:
    found = forms(".decl p(a: symbol, b: symbol) p(X, Z) :- p(X, Y), p(Y, Z).")
    assert found.modules is found.modules
    assert [one.kind for one in found.modules] == ["tc"]
    assert found.condensed is not None


def test_cyclic_bodies() -> None:
    text = "p(X, Z) :- e(X, Y), e(Y, Z), e(Z, W), e(W, X). "
    assert len(forms(text).cyclic) == 1
    assert forms("p(X, Z) :- e(X, Y), e(Y, Z), e(Z, W).").cyclic == ()


def forms(text: str) -> Forms:
    """The forms of the only hypernode of a program."""
    program = parse(text)
    rules = [replace(rule, name=f"r{number}") for number, rule in enumerate(program.rules)]
    (hypernode,) = hypergraph(rules, {}, 1).hypernodes
    return Forms(hypernode, schema_of(program))
