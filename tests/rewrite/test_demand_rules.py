"""The rules that derive what goals ask for: which they are, and what is asked for as a whole."""

from __future__ import annotations

import pytest

from zodiac_sql.language.parse import parse, parse_choices
from zodiac_sql.language.syntax import Literal, Type, atoms_of
from zodiac_sql.rewrite.demand.rewrite import Asking, Demanded, demanded_by

STEP = "path(X, Y) :- edge(X, Y). "
BEST = "d(X, Y, MIN(W)) :- e(X, Y, W)."


def asked(goals: str, text: str, *stored: str, kinds: str = "") -> Demanded:
    """What goals ask of rules over symbols; the last columns of some predicates are of a kind."""
    rules = parse(text).rules
    choices = parse_choices(goals, {})
    bodies = [*choices, *(rule.body for rule in rules), *((rule.head,) for rule in rules)]
    columns: dict[str, list[Type | None]] = {
        atom.predicate: [Type.SYMBOL] * len(atom.terms)
        for body in bodies
        for atom in atoms_of(tuple(body))
    }
    for one in kinds.split():
        name, _, kind = one.partition(":")
        columns[name][-1] = Type(kind)
    return demanded_by(Asking(choices, rules, columns, {}, stored))


def printed(found: Demanded) -> str:
    """`path` asked for by its first column is path_bf, and what it is asked for by asked_bf."""

    def text(literal: Literal) -> str:
        return " ".join(_named(part) for part in str(literal).split(" "))

    return "\n".join(f"{text(r.head)} :- {', '.join(map(text, r.body))}" for r in found.rules)


def _named(text: str) -> str:
    return text.replace("\0demanded", "_").replace("\0asked", "?").replace("\0", "")


def lines(text: str) -> str:
    return "\n".join(line.strip() for line in text.strip().splitlines())


CLOSING = (
    "path(X, Z) :- path(X, Y), path(Y, Z).",
    "path(X, Z) :- path(X, Y), edge(Y, Z).",
    "path(X, Z) :- edge(X, Y), path(Y, Z).",
)


@pytest.mark.parametrize("closing", CLOSING)
def test_closures_are_turned(closing: str) -> None:
    assert printed(asked("path(a, Y)", STEP + closing)) == lines("""
        path? bf(a) :- always()
        path_ bf(X, Y) :- path? bf(X), edge(X, Y)
        path_ bf(W0, Y) :- path? bf(W0), path_ bf(W0, X), edge(X, Y)
    """)
    assert printed(asked("path(X, a)", STEP + closing)) == lines("""
        path? fb(a) :- always()
        path_ fb(X, Y) :- path? fb(Y), edge(X, Y)
        path_ fb(X, W0) :- path? fb(W0), edge(X, Y), path_ fb(Y, W0)
    """)


def test_steps_of_several_rules() -> None:
    text = "path(X, Y) :- way(Y, X, W0), W0 > 3. path(X, Z) :- path(X, Y), path(Y, Z)."
    assert printed(asked("path(a, Y)", STEP + text)) == lines("""
        path? bf(a) :- always()
        path_ bf(X, Y) :- path? bf(X), edge(X, Y)
        path_ bf(W0, Y) :- path? bf(W0), path_ bf(W0, X), edge(X, Y)
        path_ bf(X, Y) :- path? bf(X), way(Y, X, W0), W0 > 3
        path_ bf(W1, Y) :- path? bf(W1), path_ bf(W1, X), way(Y, X, W0), W0 > 3
    """)


def test_stored_steps() -> None:
    text = STEP + "path(X, Y) :- way(Y, X). path(X, Z) :- path(X, Y), path(Y, Z)."
    assert printed(asked("path(a, Y)", text, "path")) == lines("""
        path? bf(a) :- always()
        pathsteps? bf(X) :- path? bf(X)
        path_ bf(X, Y) :- path? bf(X), pathsteps_ bf(X, Y)
        pathsteps? bf(X) :- path? bf(W0), path_ bf(W0, X)
        path_ bf(W0, Y) :- path? bf(W0), path_ bf(W0, X), pathsteps_ bf(X, Y)
        pathsteps_ bf(X, Y) :- pathsteps? bf(X), edge(X, Y)
        pathsteps_ bf(X, Y) :- pathsteps? bf(X), way(Y, X)
        pathsteps_ bf(C0, C1) :- pathsteps? bf(C0), path(C0, C1)
    """)


def test_same_generation() -> None:
    text = "sg(X, Y) :- flat(X, Y). sg(X, Y) :- up(X, U), sg(U, V), down(V, Y)."
    assert printed(asked("sg(a, Y)", text, "sg")) == lines("""
        sg? bf(a) :- always()
        sg_ bf(X, Y) :- sg? bf(X), flat(X, Y)
        sg? bf(U) :- sg? bf(X), up(X, U)
        sg_ bf(X, Y) :- sg? bf(X), up(X, U), sg_ bf(U, V), down(V, Y)
        sg_ bf(C0, C1) :- sg? bf(C0), sg(C0, C1)
    """)


def test_parts_that_nothing_connects_ask_for_themselves() -> None:
    text = STEP + CLOSING[1] + "far(X, Y) :- node(X), node(Y), not path(X, Y)."
    rules = printed(asked("far(a, Y)", text)).splitlines()
    assert "path? bf(X) :- far? bf(X), node(X)" in rules
    assert "far_ bf(X, Y) :- far? bf(X), node(X), node(Y), not path_ bf(X, Y)" in rules


def test_groups() -> None:
    text = STEP + CLOSING[1] + "n(X, C) :- AGGREGATE(path(X, Y)) ON X WITH COUNT(Y) AS C."
    found = asked("n(a, C)", text, kinds="n:int")
    assert not found.whole
    assert {rule.head.predicate for rule in found.rules} & {"path", "n"} == set()
    assert asked("n(X, C)", text, kinds="n:int").whole == {"n", "path"}
    assert asked("n(X, 3)", text, kinds="n:int").whole == {"path"}


@pytest.mark.parametrize(
    ("goals", "rules", "whole"),
    [
        ("p(X)", "p(X) :- q(X).", {"p"}),
        ("p(a), q(X)", "p(X) :- e(X). q(X) :- e(X).", {"q"}),
        # A column of another type is not asked for by what stands there.
        ("p(X), e(X)", "p(X) :- f(X).", {"p"}),
        ("p(a, Y)", "p(X, Y) :- e(X, Y). p(X, Z) :- p(X, Y), not q(Y), e(X, Z). q(X) :- f(X).",
         {"q"}),
        ("d(a, Y, N)", f"{BEST} d(X, Z, MIN(V + W)) :- d(X, Y, V), d(Y, Z, W).", {"d"}),
        ("d(a, Y, N)", f"{BEST} d(X, Z, MIN(V + W)) :- d(X, Y, V), e(Y, Z, W).", set()),
    ],
)  # fmt: skip
def test_what_is_asked_for_as_a_whole(goals: str, rules: str, whole: set[str]) -> None:
    kinds = "d:int e:int" if "MIN" in rules else "f:int p:int" if goals == "p(X), e(X)" else ""
    assert asked(goals, rules, kinds=kinds).whole == whole


def test_computed_values_are_asked_for_if_they_are_made_of_facts() -> None:
    text = "up(X, X) :- num(X), X > 3. up(N, X) :- up(M, X), q(N), M = N + 1. q(N) :- num(N)."
    rules = printed(asked("up(1, X)", text, kinds="num:int q:int up:int"))
    assert "up? bf(M) :- up? bf(N)" not in rules
