"""Plans: the delta variants of a rule are exactly those of semi-naive evaluation."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest

from zodiac_sql.language.parse import parse
from zodiac_sql.language.syntax import Rule, atoms_of
from zodiac_sql.sql.plan import Plan, Version, delta_variants, join_order, whole


def rule(text: str) -> Rule:
    (parsed,) = parse(text).rules
    return parsed


def versions(plan: Plan) -> dict[str, str]:
    """What each atom reads, by the atom; the order of joining left aside."""
    return {str(scan.atom): str(scan.version) for scan in plan.scans}


def in_body_order(plan: Plan) -> tuple[Version, ...]:
    """What the atoms read, in the order of the body."""
    scans = {id(scan.atom): scan.version for scan in plan.scans}
    return tuple(scans[id(atom)] for atom in plan.rule.positive_atoms())


def test_a_rule_without_recursion_reads_everything() -> None:
    plan = whole(rule("p(X, Z) :- e(X, Y), f(Y, Z), not g(X)."))
    assert in_body_order(plan) == (Version.ALL, Version.ALL)
    assert delta_variants(plan.rule, {"p", "q"}) == ()


def test_a_linear_rule_has_one_variant() -> None:
    (plan,) = delta_variants(rule("p(X, Z) :- e(X, Y), p(Y, Z)."), {"p"})
    assert versions(plan) == {"e(X, Y)": "all", "p(Y, Z)": "delta"}


def test_a_transitive_rule_has_two() -> None:
    first, second = delta_variants(rule("p(X, Z) :- p(X, Y), p(Y, Z)."), {"p"})
    assert versions(first) == {"p(X, Y)": "delta", "p(Y, Z)": "all"}
    assert versions(second) == {"p(X, Y)": "old", "p(Y, Z)": "delta"}


def test_several_recursive_predicates_and_outside_ones_between() -> None:
    text = "p(X, W) :- e(X), p(X, Y), f(Y), q(Y, Z), g(Z), p(Z, W), not n(X)."
    found = [in_body_order(plan) for plan in delta_variants(rule(text), {"p", "q"})]
    a, o, d = Version.ALL, Version.OLD, Version.DELTA
    assert found == [(a, d, a, a, a, a), (a, o, a, d, a, a), (a, o, a, o, a, d)]


def test_negated_and_aggregated_atoms_have_no_variants() -> None:
    text = "p(X, N) :- p(X, M), AGGREGATE(q(X, Y)) ON X WITH COUNT(Y) AS N, not r(X)."
    assert len(delta_variants(rule(text), {"p", "q", "r"})) == 1


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_each_instance_is_found_exactly_once(count: int) -> None:
    """Of the facts that an instance uses some are new, some old: one variant matches, if any is
    new; none, if all are old."""
    body = ", ".join(f"p(X{i}, X{i + 1})" for i in range(count))
    plans = delta_variants(rule(f"p(X0, X{count}) :- {body}."), {"p"})
    matches = {
        Version.ALL: {"old", "new"}, Version.OLD: {"old"}, Version.DELTA: {"new"}
    }  # fmt: skip
    for facts in itertools.product(("old", "new"), repeat=count):
        found = sum(
            all(fact in matches[v] for fact, v in zip(facts, in_body_order(plan), strict=True))
            for plan in plans
        )
        assert found == (1 if "new" in facts else 0), facts


def test_the_same_atom_twice_is_two_places() -> None:
    plans = delta_variants(rule("p(X, Y) :- p(X, Y), p(X, Y), e(X)."), {"p"})
    assert [Counter(scan.version for scan in plan.scans) for plan in plans] == [
        Counter({Version.DELTA: 1, Version.ALL: 2}),
        Counter({Version.DELTA: 1, Version.OLD: 1, Version.ALL: 1}),
    ]


# --- order of joining -----------------------------------------------------------------------------


def joined(plan: Plan) -> list[str]:
    return [str(scan) for scan in plan.scans]


def test_the_delta_comes_first() -> None:
    for plan in delta_variants(rule("p(X, Z) :- e(a, X), p(X, Y), f(Y, b), p(Y, Z)."), {"p"}):
        assert plan.scans[0].version is Version.DELTA


def test_the_atom_with_most_bound_terms_comes_next() -> None:
    plan = whole(rule("p(X) :- e(X, Y), f(Z, W), g(a, Z), h(Y, Z, W)."))
    assert joined(plan) == ["g(a, Z)@all", "f(Z, W)@all", "h(Y, Z, W)@all", "e(X, Y)@all"]


def test_no_cross_product_that_another_order_avoids() -> None:
    plan = whole(rule("p(X, W) :- e(X, Y), f(Z, W), g(Y, Z)."))
    assert joined(plan) == ["e(X, Y)@all", "g(Y, Z)@all", "f(Z, W)@all"]


def test_every_atom_is_joined_once() -> None:
    given = rule("p(X) :- e(X, X), e(X, X), f(a), g(), h(X, Y, _), not n(X).")
    plan = whole(given)
    assert Counter(id(scan.atom) for scan in plan.scans) == Counter(
        id(atom) for atom in given.positive_atoms()
    )
    assert len(list(atoms_of(given.body))) == len(plan.scans) + 1
    assert join_order(()) == ()


def test_a_plan_prints_as_one_line() -> None:
    (plan,) = delta_variants(rule("p(X, D) :- p(X, Y), D = Y + 1, D < 9, not n(X)."), {"p"})
    assert str(plan) == "p(X, D) <- p(X, Y)@delta, BIND((Y + 1) AS D), D < 9, not n(X)"
