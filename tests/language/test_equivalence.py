"""Which rules say the same: equal up to the names of variables and the order of the body."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import fields, replace
from random import Random
from typing import Any

import pytest
from generators import programs
from generators.drawn_programs import seeds
from generators.programs import PLAIN, Aggregate, Atom, Bind, Not, Style, Var, rule_text
from generators.random_programs import canonical, random_program
from generators.random_rules import shuffled
from hypothesis import assume, given
from hypothesis import strategies as st

from zodiac_sql.language.equivalence import same
from zodiac_sql.language.parse import parse
from zodiac_sql.language.syntax import Rule

SUM = "p(X, S) :- AGGREGATE(e(X, Y), f(Y, Z), Y > 1) ON X, Z WITH SUM(Y) AS S."

EQUAL = {
    "names of variables": ("p(X, Y) :- e(X, Y).", "p(?one, ?two) <- e(?one, ?two) ."),
    "names that change places": ("p(X, Y) :- e(X, Y), f(Y).", "p(Y, X) :- e(Y, X), f(X)."),
    "order of the body": ("p(X) :- e(X, Y), f(Y), X != Y.", "p(X) :- X != Y, f(Y), e(X, Y)."),
    "both": ("p(X, Z) :- e(X, Y), f(Y, Z).", "p(A, B) :- f(C, B), e(A, C)."),
    "label": ("one: p(X) :- e(X).", "two: p(X) :- e(X)."),
    "anonymous variables": ("p(X) :- e(X, _), f(_, X).", "p(Y) :- f(_, Y), e(Y, _)."),
    "one pairing": (
        "p(X, Y) :- e(X, Z), e(Z, U), e(U, Y), e(Y, X).",
        "p(A, B) :- e(C, B), e(B, A), e(D, C), e(A, D).",
    ),
    "a ring": (
        "p() :- e(A, B), e(B, C), e(C, D), e(D, A).",
        "p() :- e(C, A), e(B, D), e(A, B), e(D, C).",
    ),
    "body of an aggregate": (
        SUM,
        "p(A, D) :- AGGREGATE(B > 1, f(B, C), e(A, B)) ON A, C WITH SUM(B) AS D.",
    ),
    "group of an aggregate": (SUM, SUM.replace("ON X, Z", "ON Z, X").replace("SUM", "sum")),
    "negation": ("p(X) :- e(X), not f(X, L).", "p(A) :- not f(A, B), e(A)."),
    "two negations": ("p(X) :- e(X), not f(X), not g(X).", "p(X) :- not g(X), !f(X), e(X)."),
    "the paper's comparisons": ("p(X) :- e(X, Y), X < Y.", "p(X) :- e(X, Y), COMP(X, <, Y)."),
    "bindings": ("p(Z) :- e(X), BIND(X + 1 AS Z).", "p(A) :- BIND(B + 1 AS A), e(B)."),
    "quotes": ("p(X) :- e(X, a).", 'p(X) :- e(X, "a").'),
    "prefixes": (
        "@prefix ex: <http://e.org/> . ex:p(X) :- ex:e(X, ex:a).",
        "@prefix x: <http://e.org/> . x:p(Y) :- <http://e.org/e>(Y, <http://e.org/a>).",
    ),
    "an atom twice": ("p(X) :- e(X, Y), e(X, Z).", "p(X) :- e(X, Z), e(X, Y)."),
}  # fmt: skip

DIFFERENT = {
    "two variables, one": ("p(X) :- e(X, Y), f(Y).", "p(X) :- e(X, X), f(X)."),
    "one variable, two": ("p(X) :- e(X, X).", "p(X) :- e(X, Y)."),
    "two to one, in turn": ("p(X) :- e(X, Y), f(X, Z).", "p(X) :- e(X, Y), f(X, Y)."),
    "anonymous ones are apart": ("p(X) :- e(X, _), f(_).", "p(X) :- e(X, Y), f(Y)."),
    "order of the head": ("p(X, Y) :- e(X, Y).", "p(Y, X) :- e(X, Y)."),
    "order in an atom": ("p(X, Y) :- e(X, Y), f(X).", "p(X, Y) :- e(X, Y), f(Y)."),
    "head": ("p(X) :- e(X).", "q(X) :- e(X)."),
    "case of a predicate": ("p(X) :- e(X).", "P(X) :- e(X)."),
    "predicate": ("p(X) :- e(X), f(X).", "p(X) :- e(X), g(X)."),
    "more": ("p(X) :- e(X).", "p(X) :- e(X), f(X)."),
    "twice": ("p(X) :- e(X).", "p(X) :- e(X), e(X)."),
    "another ring": (
        "p() :- e(A, B), e(B, C), e(C, A), e(D, E), e(E, F), e(F, D).",
        "p() :- e(A, B), e(B, C), e(C, D), e(D, E), e(E, F), e(F, A).",
    ),
    "negated": ("p(X) :- e(X), f(X).", "p(X) :- e(X), not f(X)."),
    "another one negated": ("p(X) :- e(X), f(X), not g(X).", "p(X) :- e(X), g(X), not f(X)."),
    "mirrored comparison": ("p(X) :- e(X, Y), X < Y.", "p(X) :- e(X, Y), Y > X."),
    "comparison": ("p(X) :- e(X, Y), X < Y.", "p(X) :- e(X, Y), X <= Y."),
    "sides of a comparison": ("p(X) :- e(X, Y), X < Y.", "p(X) :- e(X, Y), Y < X."),
    "int and float": ("p(X) :- e(X, 1).", "p(X) :- e(X, 1.0)."),
    "int and text": ("p(X) :- e(X, 1).", 'p(X) :- e(X, "1").'),
    "int and boolean": ("p(X) :- e(X, 1).", "p(X) :- e(X, true)."),
    "boolean and text": ("p(X) :- e(X, true).", 'p(X) :- e(X, "true").'),
    "languages": ('p(X) :- e(X, "a"@en).', 'p(X) :- e(X, "a"@de).'),
    "constant and variable": ("p(X) :- e(X, a).", "p(X) :- e(X, Y)."),
    "constants": ("p(X) :- e(X, a).", "p(X) :- e(X, b)."),
    "order of a sum": ("p(Z) :- e(X, Y), Z = X + Y.", "p(Z) :- e(X, Y), Z = Y + X."),
    "function": ("p(Z) :- e(X), Z = floor(X).", "p(Z) :- e(X), Z = ceil(X)."),
    "aggregate": (SUM, SUM.replace("SUM", "MAX")),
    "group": (SUM, SUM.replace("ON X, Z", "ON X")),
    "argument": (SUM, SUM.replace("SUM(Y)", "SUM(Z)")),
    "inside of an aggregate": (SUM, SUM.replace("f(Y, Z)", "f(Z, Y)")),
    "outside of an aggregate": (
        "p(X, N) :- AGGREGATE(e(X, Y)) ON X WITH COUNT(Y) AS N, f(X).",
        "p(X, N) :- AGGREGATE(e(X, Y), f(X)) ON X WITH COUNT(Y) AS N.",
    ),
    "each value once": (SUM, SUM.replace("SUM(Y)", "SUM(DISTINCT Y)")),
    "columns of an aggregate that are the same": (
        "p(X, S) :- AGGREGATE(e(X, Y), f(Y, _, _)) ON X WITH SUM(Y) AS S.",
        "p(X, S) :- AGGREGATE(e(X, Y), f(Y, Z, Z)) ON X WITH SUM(Y) AS S.",
    ),
}


def read(text: str) -> Rule:
    (rule,) = parse(text).rules
    return rule


@pytest.mark.parametrize("pair", EQUAL.values(), ids=EQUAL)
def test_equal_rules(pair: tuple[str, str]) -> None:
    first, second = map(read, pair)
    assert same(first, second) and same(second, first)
    assert same(first, first)


@pytest.mark.parametrize("pair", DIFFERENT.values(), ids=DIFFERENT)
def test_different_rules(pair: tuple[str, str]) -> None:
    first, second = map(read, pair)
    assert not same(first, second) and not same(second, first)


def test_many_atoms_of_one_predicate_are_no_problem() -> None:
    """A complete tournament of 7, and one with an edge reversed: the names say nothing."""
    pairs = [(i, j) for i in range(7) for j in range(i)]
    other = [(j, i) if (i, j) == (5, 2) else (i, j) for i, j in pairs]
    rules = [read("p() :- " + ", ".join(f"e(V{i}, V{j})" for i, j in es) + ".")
             for es in (pairs, pairs[::-1], other)]  # fmt: skip
    assert same(rules[0], rules[1]) and not same(rules[0], rules[2])


def written_otherwise(rule: programs.Rule, rng: Random) -> programs.Rule:
    """With other names of variables, and in another order."""
    fresh = iter(shuffled(rng, [f"W{number}" for number in range(30)]))
    renamed: dict[str, str] = defaultdict(lambda: next(fresh))

    def other(thing: Any) -> Any:
        if isinstance(thing, Var):
            return thing if thing.anonymous else Var(renamed[thing.name])
        if isinstance(thing, tuple):
            return tuple(map(other, thing))
        if isinstance(thing, Aggregate):
            thing = replace(thing, body=shuffled(rng, thing.body), group=shuffled(rng, thing.group))
        if hasattr(thing, "__dataclass_fields__"):
            return replace(thing, **{f.name: other(getattr(thing, f.name)) for f in fields(thing)})
        return thing

    body = other(shuffled(rng, rule.body))
    return programs.Rule("other", other(rule.head), body)


@st.composite
def some_rules(draw: st.DrawFn) -> tuple[programs.Rule, Random]:
    rng = Random(draw(seeds))
    return rng.choice(random_program(rng).rules), rng


@given(some_rules())
def test_a_rule_written_otherwise_is_equal(drawn: tuple[programs.Rule, Random]) -> None:
    rule, rng = drawn
    other = written_otherwise(rule, rng)
    bindings = any(isinstance(literal, Bind) for literal in rule.body)  # `V = 1` is no BIND
    style = PLAIN if bindings else Style(rng)
    first, second = read(rule_text(rule)), read(rule_text(other, style))
    assert same(first, second) and same(second, first)


@given(some_rules())
def test_a_rule_that_lost_a_literal_is_different(drawn: tuple[programs.Rule, Random]) -> None:
    rule, rng = drawn
    assume(len(rule.body) > 1)
    at = rng.randrange(len(rule.body))
    less = replace(rule, body=rule.body[:at] + rule.body[at + 1 :])
    other = written_otherwise(less, rng)
    assert not same(read(rule_text(rule)), read(rule_text(other)))


@given(some_rules())
def test_a_rule_with_another_term_is_equal_if_its_canonical_form_is(
    drawn: tuple[programs.Rule, Random],
) -> None:
    """`canonical` tries all orders; it knows neither anonymous variables nor aggregates."""
    rule, rng = drawn
    assume(not any(isinstance(literal, Aggregate) for literal in rule.body))
    rule = named(rule)
    other = with_another_term(rule, rng)
    text = rule_text(written_otherwise(other, rng))
    assert same(read(rule_text(rule)), read(text)) == (canonical(rule) == canonical(other))


def named(rule: programs.Rule) -> programs.Rule:
    """With a name for each anonymous variable."""
    fresh = (Var(f"A{number}") for number in range(100))

    def of(atom: Atom) -> Atom:
        return replace(atom, terms=tuple(next(fresh) if t == Var("_") else t for t in atom.terms))

    body = tuple(
        of(one) if isinstance(one, Atom) else Not(of(one.atom)) if isinstance(one, Not) else one
        for one in rule.body
    )
    return replace(rule, body=body)


def with_another_term(rule: programs.Rule, rng: Random) -> programs.Rule:
    """With one term of one positive atom replaced, mostly by another variable of the rule."""
    places = [
        (at, index)
        for at, literal in enumerate(rule.body)
        if isinstance(literal, Atom)
        for index in range(len(literal.terms))
    ]
    assume(places)
    at, index = rng.choice(places)
    atom = rule.body[at]
    assert isinstance(atom, Atom)
    variables = [term for term in atom.terms if isinstance(term, Var)]
    new = rng.choice([*variables, Var("X"), Var("Y"), Var("Z9"), "a"])
    terms = (*atom.terms[:index], new, *atom.terms[index + 1 :])
    body = (*rule.body[:at], Atom(atom.predicate, terms), *rule.body[at + 1 :])
    return replace(rule, body=body)
