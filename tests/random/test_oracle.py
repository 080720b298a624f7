"""The oracle against results worked out by hand: agreement with it must mean something."""

from __future__ import annotations

from dataclasses import replace

import pytest
from generators.programs import Aggregate, Arithmetic, Atom, Bind, Compare, Not, Row, Rule, Var
from support.oracle import OracleError, extensions

X, Y, Z, N, L = map(Var, "XYZNL")
ANY = Var("_")


def rows(*found: Row) -> frozenset[Row]:
    return frozenset(found)


def test_transitive_closure_of_a_cycle_with_a_tail() -> None:
    rules = [
        Rule("r1", Atom("t", (X, Y)), (Atom("e", (X, Y)),)),
        Rule("r2", Atom("t", (X, Z)), (Atom("t", (X, Y)), Atom("t", (Y, Z)))),
    ]
    facts = {"e": rows(("a", "b"), ("b", "a"), ("b", "c"))}
    assert extensions(rules, facts)["t"] == {
        ("a", "a"), ("a", "b"), ("a", "c"), ("b", "a"), ("b", "b"), ("b", "c")
    }  # fmt: skip


def test_explicit_facts_of_a_derived_predicate() -> None:
    rules = [Rule("r1", Atom("p", (X,)), (Atom("q", (X,)),))]
    facts = {"p": rows(("a",), ("b",)), "q": rows(("b",), ("c",))}
    assert extensions(rules, facts)["p"] == {("a",), ("b",), ("c",)}


def test_local_variable_under_negation_means_none_at_all() -> None:
    # b has an edge, to c only: `not e(X, c)` is false for it and so is `not e(X, L)`;
    # for a the first is true and the second false, for c both are true.
    facts = {"v": rows(("a",), ("b",), ("c",)), "e": rows(("a", "b"), ("b", "c"))}
    rules = [
        Rule("r1", Atom("sink", (X,)), (Atom("v", (X,)), Not(Atom("e", (X, L))))),
        Rule("r2", Atom("sink2", (X,)), (Not(Atom("e", (X, ANY))), Atom("v", (X,)))),
        Rule("r3", Atom("other", (X,)), (Atom("v", (X,)), Not(Atom("e", (X, "c"))))),
        Rule("r4", Atom("no_loop", ()), (Not(Atom("e", (L, L))),)),
    ]
    found = extensions(rules, facts)
    assert found["sink"] == found["sink2"] == {("c",)}
    assert found["other"] == {("a",), ("c",)}
    assert found["no_loop"] == {()}
    looped = facts | {"e": rows(("a", "a"))}
    assert extensions(rules, looped)["no_loop"] == set()


def test_negation_of_a_derived_predicate() -> None:
    rules = [
        Rule("r1", Atom("q", (X,)), (Atom("e", (X, ANY)),)),
        Rule("r2", Atom("p", (X,)), (Atom("v", (X,)), Not(Atom("q", (X,))))),
    ]
    facts = {"v": rows((1,), (2,)), "e": rows((1, 7))}
    assert extensions(rules, facts)["p"] == {(2,)}


@pytest.mark.parametrize(
    ("function", "values"),
    [
        ("COUNT", {("a", 3), ("b", 1)}),
        # (a, x, 5), (a, y, 5) and (a, z, -1) are three solutions, so 5 is added twice
        ("SUM", {("a", 9), ("b", 2)}),
        ("MIN", {("a", -1), ("b", 2)}),
        ("MAX", {("a", 5), ("b", 2)}),
    ],
)
def test_aggregates_range_over_distinct_solutions(function: str, values: set[Row]) -> None:
    body = (Atom("p", (X, Y, Z)), Not(Atom("off", (Y,))))
    rules = [Rule("r1", Atom("h", (X, N)), (Aggregate(body, (X,), function, Z, N),))]
    facts = {
        "p": rows(("a", "x", 5), ("a", "y", 5), ("a", "z", -1), ("b", "x", 2), ("c", "w", 8)),
        "off": rows(("w",)),
    }
    assert extensions(rules, facts)["h"] == values


def test_every_column_tells_solutions_of_an_aggregate_apart() -> None:
    body = (Atom("p", (X, ANY, Z)), Not(Atom("off", (Z, ANY))))
    count = Aggregate(body, (), "COUNT", Z, N)
    rules = [Rule("r1", Atom("h", (N,)), (count, Compare(N, ">", 0)))]
    rules.append(Rule("r2", Atom("i", (N,)), (replace(count, distinct=True),)))
    facts = {
        "p": rows(("a", "x", 5), ("a", "y", 5), ("b", "x", 5), ("b", "x", 6)),
        "off": rows((6, 1), (6, 2)),
    }
    assert extensions(rules, facts)["h"] == {(3,)}
    assert extensions(rules, facts)["i"] == {(1,)}


def test_arithmetic_and_comparison() -> None:
    bind = Bind(Arithmetic(Arithmetic(X, "*", X), "-", 1), N)
    rules = [Rule("r1", Atom("p", (N,)), (Atom("v", (X,)), bind, Compare(N, ">=", 0)))]
    assert extensions(rules, {"v": rows((0,), (1,), (-2,))})["p"] == {(0,), (3,)}


def test_symbols_are_ordered_as_text() -> None:
    rules = [Rule("r1", Atom("p", (X,)), (Atom("v", (X,)), Compare(X, "<", "b")))]
    facts = {"v": rows(("a",), ("D e",), ("b",), ("aaaa",), ("c",))}
    assert extensions(rules, facts)["p"] == {("a",), ("D e",), ("aaaa",)}


def test_names_that_differ_in_case_are_two_predicates() -> None:
    rules = [Rule("r1", Atom("P", (X,)), (Atom("p", (X,)), Compare(X, "!=", "a")))]
    found = extensions(rules, {"p": rows(("a",), ("b",))})
    assert (found["p"], found["P"]) == ({("a",), ("b",)}, {("b",)})


def test_predicates_that_nothing_is_known_of_are_empty() -> None:
    assert extensions([Rule("r1", Atom("p", (X,)), (Atom("q", (X,)),))], {}) == {
        "p": set(),
        "q": set(),
    }


def test_a_program_that_is_not_stratified_is_an_error_of_the_test() -> None:
    rules = [
        Rule("r1", Atom("p", ()), (Not(Atom("q", ())),)),
        Rule("r2", Atom("q", ()), (Not(Atom("p", ())),)),
    ]
    with pytest.raises(OracleError, match="2 models"):
        extensions(rules, {})
