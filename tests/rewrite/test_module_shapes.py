"""Which rules modules know, however they are written, and which only look like them."""

from __future__ import annotations

import pytest
from support.module_schemas import SYMBOLS, S, T, schema_of

from zodiac_sql.graph.hypergraph import hypergraph
from zodiac_sql.language.parse import parse
from zodiac_sql.language.syntax import Rule
from zodiac_sql.rewrite.closures.module import Module
from zodiac_sql.rewrite.closures.recognise import modules_of
from zodiac_sql.rewrite.closures.shapes import extends, symmetric, transitive
from zodiac_sql.rewrite.closures.symmetric_transitive import SymmetricTransitive
from zodiac_sql.rewrite.closures.transitive import RIGHT, Transitive


def rule(text: str) -> Rule:
    (only,) = parse(text).rules
    return only


# --- transitive -----------------------------------------------------------------------------------

TRANSITIVE = [
    ("p(X, Z) :- p(X, Y), p(Y, Z).", False),
    ("p(X, Z) :- p(Y, Z), p(X, Y).", False),
    ("p(B, A) :- p(C, A), p(B, C).", False),
    ("p(X, Y) :- p(X, Z), p(Z, Y).", False),
    ("p(X, Z) :- p(X, Y), p(Y, Z), X != Z.", True),
    ("p(X, Z) :- p(X, Y), p(Y, Z), Z != X.", True),
    ("p(X, Z) :- X != Z, p(Y, Z), p(X, Y).", True),
    ("p(X, Z) :- p(X, Y), Z != X, p(Y, Z).", True),
    ("p(X, Z) :- p(X, Y), p(Y, Z), X != Z, Z != X.", True),
    ("p(X, Y) :- p(X, Z) ∧ p(Z, Y) ∧ COMP(X, !=, Y).", True),
    ("<http://e/p>(X, Z) :- <http://e/p>(X, Y), <http://e/p>(Y, Z).", False),
]

NOT_TRANSITIVE = [
    # constants
    "p(X, Z) :- p(X, a), p(a, Z).",
    "p(X, b) :- p(X, Y), p(Y, b).",
    "p(a, Z) :- p(a, Y), p(Y, Z).",
    "p(a, c) :- p(a, b), p(b, c).",
    # repeated variables, and y = x
    "p(X, X) :- p(X, Y), p(Y, X).",
    "p(X, Z) :- p(X, X), p(X, Z).",
    "p(X, Z) :- p(X, Z), p(Z, Z).",
    "p(X, Z) :- p(X, Z), p(X, Z).",
    "p(X, Z) :- p(X, Z), p(Z, X).",
    # the atoms do not follow each other, or from z to x
    "p(X, Z) :- p(X, Y), p(Z, Y).",
    "p(X, Z) :- p(Y, X), p(Y, Z).",
    "p(Z, X) :- p(X, Y), p(Y, Z).",
    "p(X, Z) :- p(X, Y), p(W, Z).",
    "p(X, Z) :- p(X, _), p(_, Z).",
    # one atom, or a third
    "p(X, Z) :- p(X, Z).",
    "p(X, Z) :- p(X, Y), p(Y, Z), q(X).",
    "p(X, Z) :- p(X, Y), p(Y, Z), p(X, Z).",
    "p(X, Z) :- p(X, Y), p(Y, Z), p(X, Y).",
    "p(X, W) :- p(X, Y), p(Y, Z), p(Z, W).",
    # another comparison, of others, or one more
    "p(X, Z) :- p(X, Y), p(Y, Z), X < Z.",
    "p(X, Z) :- p(X, Y), p(Y, Z), X = Z.",
    "p(X, Z) :- p(X, Y), p(Y, Z), X != Y.",
    "p(X, Z) :- p(X, Y), p(Y, Z), Y != Z.",
    "p(X, Z) :- p(X, Y), p(Y, Z), X != X.",
    "p(X, Z) :- p(X, Y), p(Y, Z), X != a.",
    "p(X, Z) :- p(X, Y), p(Y, Z), X != Z + 0.",
    "p(X, Z) :- p(X, Y), p(Y, Z), X != Z, X != Y.",
    # other literals
    "p(X, Z) :- p(X, Y), p(Y, Z), not q(X).",
    "p(X, Z) :- p(X, Y), p(Y, Z), not p(X, Z).",
    "p(X, Z) :- p(X, Y), not p(Y, Z).",
    "p(X, Z) :- p(X, Y), p(Y, Z), BIND(X AS W).",
    "p(X, Z) :- p(X, Y), p(Y, Z), AGGREGATE(q(V)) WITH COUNT(V) AS N.",
    # arity
    "p(X, Z, V) :- p(X, Y, V), p(Y, Z, V).",
    "p(X) :- p(X), p(X).",
    "p() :- p(), p().",
    # other predicates
    "p(X, Z) :- p(X, Y), q(Y, Z).",
    "p(X, Z) :- q(X, Y), p(Y, Z).",
    "p(X, Z) :- q(X, Y), q(Y, Z).",
    "p(X, Z) :- P(X, Y), P(Y, Z).",
]


@pytest.mark.parametrize(("text", "unequal"), TRANSITIVE)
def test_transitive(text: str, unequal: bool) -> None:
    assert transitive(rule(text)) is unequal
    assert symmetric(rule(text)) is None


@pytest.mark.parametrize("text", NOT_TRANSITIVE)
def test_not_transitive(text: str) -> None:
    assert transitive(rule(text)) is None


# --- symmetric ------------------------------------------------------------------------------------

SYMMETRIC = [
    ("p(X, Y) :- p(Y, X).", False),
    ("p(Y, X) :- p(X, Y).", False),
    ("p(Here, There) :- p(There, Here).", False),
    ("p(X, Y) :- p(Y, X), X != Y.", True),
    ("p(X, Y) :- p(Y, X), Y != X.", True),
    ("p(X, Y) :- Y != X, p(Y, X).", True),
    ("p(X, Y) :- p(Y, X), Y != X, X != Y.", True),
]

NOT_SYMMETRIC = [
    "p(X, Y) :- p(X, Y).",
    "p(X, X) :- p(X, X).",
    "p(X, X) :- p(X, Y).",
    "p(X, Y) :- p(Z, X), p(Y, Z).",
    "p(a, Y) :- p(Y, a).",
    "p(a, b) :- p(b, a).",
    "p(X, Y) :- q(Y, X).",
    "p(X, Y) :- p(Y, X), q(X).",
    "p(X, Y) :- p(Y, X), p(X, Y).",
    "p(X, Y) :- p(Y, X), p(Y, X).",
    "p(X, Y) :- p(Y, X), X < Y.",
    "p(X, Y) :- p(Y, X), X = Y.",
    "p(X, Y) :- p(Y, X), X != a.",
    "p(X, Y) :- p(Y, X), X != Y, X > 1.",
    "p(X, Y) :- p(Y, X), not q(X).",
    "p(X, Y) :- p(Y, X), BIND(X AS W).",
    "p(X, Y, Z) :- p(Y, X, Z).",
    "p(X, Y) :- p(Y, X, Z).",
]


@pytest.mark.parametrize(("text", "unequal"), SYMMETRIC)
def test_symmetric(text: str, unequal: bool) -> None:
    assert symmetric(rule(text)) is unequal
    assert transitive(rule(text)) is None


@pytest.mark.parametrize("text", NOT_SYMMETRIC)
def test_not_symmetric(text: str) -> None:
    assert symmetric(rule(text)) is None


# --- rules that lead on ---------------------------------------------------------------------------

EXTENDS = [
    ("p(X, Z) :- p(X, Y), e(Y, Z).", "left"),
    ("p(X, Z) :- e(Y, Z), p(X, Y).", "left"),
    ("p(A, B) :- p(A, C), e(C, D), e(D, B).", "left"),
    ("p(X, Z) :- p(X, Y), e(Y, Z), Y != Z.", "left"),
    ("p(X, Z) :- p(X, Y), e(Y, Z), not f(Z).", "left"),
    ("p(X, Z) :- p(X, Y), BIND(Y + 1 AS Z).", "left"),
    ("p(X, Z) :- p(X, Y), e(Z).", "left"),
    ("p(X, Y) :- p(X, Y), e(Y).", "left"),
    ("p(X, Z) :- p(Y, Z), e(X, Y).", "right"),
    ("p(X, Z) :- e(X, Y), p(Y, Z), not f(X), X < Y.", "right"),
    ("p(X, Z) :- p(_, Z), e(X).", "right"),
    ("p(X, Y) :- p(X, Y).", "left right"),
    # The other end is mentioned, too.
    ("p(X, Z) :- p(X, Y), e(Y, Z), f(X).", ""),
    ("p(X, Z) :- p(X, Y), e(Y, Z), not f(X).", ""),
    ("p(X, Z) :- p(X, Y), e(Y, Z), X != Z.", ""),
    ("p(X, Z) :- p(X, Y), BIND(X + Y AS Z).", ""),
    ("p(X, Z) :- p(X, Y), e(Y, Z), BIND(X AS W).", ""),
    ("p(X, Z) :- e(X, Y), p(Y, Z), f(Z).", ""),
    # R is there more than once, not at all, or not by two variables.
    ("p(X, Z) :- p(X, Y), p(Y, Z).", ""),
    ("p(X, Z) :- e(X, Z).", ""),
    ("p(X, X) :- p(X, Y), e(Y).", ""),
    ("p(X, a) :- p(X, Y), e(Y).", ""),
    ("p(X, Z) :- p(X, a), e(Z).", ""),
    ("p(X, Z) :- p(X, X), e(Z).", ""),
    ("p(X, Y, Z) :- p(X, Y, W), e(W, Z).", ""),
    # R is read the other way round.
    ("p(X, Z) :- p(Y, X), e(Y, Z).", ""),
    ("p(X, Y) :- p(Y, X).", ""),
    ("p(X, Z) :- p(X, Y), AGGREGATE(e(Z)) ON Z WITH COUNT(Z) AS N.", ""),
]


@pytest.mark.parametrize(("text", "directions"), EXTENDS)
def test_extends(text: str, directions: str) -> None:
    found = [name for place, name in enumerate(("left", "right")) if extends(rule(text), place)]
    assert " ".join(found) == directions


# --- modules of hypernodes ------------------------------------------------------------------------

T_UNEQUAL = "tu: p(X, Z) :- p(X, Y), p(Y, Z), X != Z. "
S_UNEQUAL = "su: p(X, Y) :- p(Y, X), X != Y. "
LEFT_, RIGHT_ = "l: p(X, Z) :- p(X, Y), e(Y, Z). ", "r: p(X, Z) :- e(X, Y), p(Y, Z). "

FOUND = [
    (T, "tc(p) left: t"),
    (T_UNEQUAL, "tc(p) left !=: tu"),
    (S, ""),
    (S_UNEQUAL, ""),
    (LEFT_ + RIGHT_, ""),
    (T + S, "stc(p): t s"),
    (S + T, "stc(p): s t"),
    (T_UNEQUAL + S, "stc(p) !=: tu s"),
    (T + S_UNEQUAL, "stc(p): t su"),
    (T_UNEQUAL + S_UNEQUAL, "stc(p) != strict: tu su"),
    # a rule twice, with and without the inequality: the one without decides
    (T + "t2: p(A, C) :- p(B, C), p(A, B). ", "tc(p) left: t t2"),
    (T + T_UNEQUAL, "tc(p) left: t tu"),
    (T_UNEQUAL + "t2: p(A, C) :- C != A, p(B, C), p(A, B). ", "tc(p) left !=: tu t2"),
    (T + T_UNEQUAL + S, "stc(p): t tu s"),
    (T_UNEQUAL + S + S_UNEQUAL, "stc(p) !=: tu s su"),
    (T + T_UNEQUAL + S + S_UNEQUAL, "stc(p): t tu s su"),
    # other rules are left
    (T + "c: p(X, Y) :- e(X, Y). ", "tc(p) left: t"),
    (T + "m: q(X, Y) :- p(Y, X). n: p(X, Y) :- q(X, Y). ", "tc(p) left: t"),
    (T + S + "m: q(X, Y) :- p(X, Y). n: p(X, Y) :- q(X, Y). ", "stc(p): t s"),
    # symmetric through another predicate
    (T + "m: q(Y, X) :- p(X, Y). n: p(X, Y) :- q(X, Y), q(X, Y). ", "tc(p) left: t"),
    # companions choose the direction; with an inequality none may stay
    (T + LEFT_, "tc(p) left: t"),
    (T + RIGHT_, "tc(p) right: t"),
    (LEFT_ + RIGHT_ + T, "tc(p) left: t"),
    (T + RIGHT_ + "r2: p(X, Z) :- f(X, Y), p(Y, Z). " + LEFT_, "tc(p) right: t"),
    (T + RIGHT_ + LEFT_ + "l2: p(X, Z) :- p(X, Y), f(Y, Z). ", "tc(p) left: t"),
    (T_UNEQUAL + RIGHT_, "tc(p) left !=: tu"),
    # several, in one hypernode and in two
    (T + "u: q(X, Z) :- q(X, Y), q(Y, Z). ", "tc(p) left: t | tc(q) left: u"),
    (
        T + S + "u: q(X, Z) :- q(X, Y), q(Y, Z). m: q(X, Y) :- p(X, Y). n: p(X, Y) :- q(X, Y). ",
        "stc(p): t s, tc(q) left: u",
    ),
    # they only look transitive
    ("t: p(X, Z) :- p(X, Y), p(Y, Z), X < Z. ", ""),
    ("t: p(X, Z) :- p(X, Y), q(Y, Z). m: q(X, Y) :- p(X, Y). ", ""),
    (S + "t: p(X, Z) :- p(X, Y), p(Y, Z), Y != Z. ", ""),
    ("s: p(X, Y) :- p(Y, X), q(X, Y). " + T, "tc(p) left: t"),
]


@pytest.mark.parametrize(("text", "expected"), FOUND)
def test_modules_of_hypernodes(text: str, expected: str) -> None:
    assert modules(SYMBOLS + text) == expected


def test_the_order_of_rules_does_not_matter() -> None:
    text = T_UNEQUAL + S + LEFT_ + "c: p(X, Y) :- e(X, Y). m: q(X, Y) :- p(X, Y). "
    backwards = " ".join(f"{part}." for part in reversed(text.strip(". ").split(". ")))
    assert modules(SYMBOLS + text) == "stc(p) !=: tu s"
    assert modules(SYMBOLS + backwards) == "stc(p) !=: s tu"


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        ("a: symbol, b: symbol", True),
        ("a: int, b: int", True),
        ("a: bool, b: bool", True),
        ("a: date, b: date", True),
        ("a: timestamp, b: timestamp", True),
        ("a: float, b: float", False),  # equal ones need not be the same: 0.0 and -0.0
        ("a: int, b: float", False),
        ("a: float, b: int", False),
        ("", False),  # there are no facts
    ],
)
def test_nodes_have_one_type(types: str, expected: bool) -> None:
    declared = f".decl p({types}) " if types else ""
    assert modules(declared + T) == ("tc(p) left: t" if expected else "")
    if "int, b: float" in types or "float, b: int" in types:
        return  # such a relation cannot be symmetric
    assert modules(declared + T + S) == ("stc(p): t s" if expected else "")


def test_types_can_come_from_rules() -> None:
    assert modules(T + "p(X, Y) :- e(X, Y), X < 1, Y < 1. e(1, 2).") != ""
    assert modules(T + "p(X, Y) :- e(X, Y). e(a, b).") != ""
    assert modules(T + "p(X, Y) :- e(X, Y). e(1, 2.5).") == ""


# --- helpers --------------------------------------------------------------------------------------


def modules(text: str) -> str:
    """The modules of each hypernode that has some, with the rules that they take."""
    program = parse(text)
    schema = schema_of(program)
    graph = hypergraph(program.rules, {}, 1)
    found = [modules_of(hypernode, schema) for hypernode in graph.hypernodes]
    return " | ".join(", ".join(map(told, some)) for some in found if some)


def told(module: Module) -> str:
    words = [f"{module.kind}({module.predicate})"]
    if isinstance(module, Transitive):
        words.append("right" if module.keeps == RIGHT else "left")
    words += ["!="] if module.unequal else []
    strict = isinstance(module, SymmetricTransitive) and module.unequal and module.strict
    assert module.covers == (isinstance(module, SymmetricTransitive) and not strict)
    words += ["strict"] if strict else []
    return f"{' '.join(words)}: {' '.join(one.name for one in module.taken)}"
