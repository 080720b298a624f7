"""Small programs that lead to one operator or another, with random facts.

Each is a form of rules that an operator is for: a closure, a copy, a product, .. An operator for a
new form needs a program here: `tests/random/test_operators_in_turn.py` says so if none leads to it.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, permutations
from random import Random

from generators.programs import Atom, Kind, Literal, Not, Predicate, Program, Rule, Term, Var

NODES = range(9)


def _atom(text: str) -> Atom:
    """An atom from `edge X Y`: a predicate and its variables."""
    name, *terms = text.split()
    return Atom(name, tuple(map(_term, terms)))


def _term(text: str) -> Term:
    return int(text) if text.isdigit() else Var(text)


def _literal(text: str) -> Literal:
    return Not(_atom(text[4:])) if text.startswith("not ") else _atom(text)


def _program(rng: Random, rules: list[str], begin: dict[str, set[tuple[int, ...]]]) -> Program:
    """Rules from texts such as `path X Z :- path X Y, edge Y Z`."""
    made = []
    for number, text in enumerate(rules, 1):
        head, body = text.split(" :- ")
        made.append(Rule(f"r{number}", _atom(head), tuple(map(_literal, body.split(", ")))))
    heads = {rule.head.predicate for rule in made}
    arities = {rule.head.predicate: len(rule.head.terms) for rule in made}
    arities |= {name: len(next(iter(rows))) for name, rows in begin.items()}
    schema = tuple(
        Predicate(name, (Kind.INT,) * arity, int(name in heads)) for name, arity in arities.items()
    )
    facts = {name: frozenset(rows) for name, rows in begin.items()}
    return Program(schema, tuple(made), facts, seed=rng.getrandbits(16), integers=tuple(NODES))


def _edges(rng: Random, number: int, acyclic: bool = False) -> set[tuple[int, ...]]:
    pairs = combinations(NODES, 2) if acyclic else permutations(NODES, 2)
    return set(rng.sample(list(pairs), number))


def closure(rng: Random) -> Program:
    """The longer paths along a relation, of one end or the other."""
    longer = rng.choice(("path X Z :- path X Y, edge Y Z", "path X Z :- edge X Y, path Y Z"))
    return _program(rng, ["path X Y :- edge X Y", longer], {"edge": _edges(rng, 14)})


def acyclic_closure(rng: Random) -> Program:
    """The same without cycles."""
    rules = ["path X Y :- edge X Y", "path X Z :- path X Y, edge Y Z"]
    return _program(rng, rules, {"edge": _edges(rng, 14, acyclic=True)})


def tree(rng: Random) -> Program:
    """The same where there is one path at most between two nodes."""
    rules = ["path X Y :- edge X Y", "path X Z :- path X Y, edge Y Z"]
    return _program(rng, rules, {"edge": {(rng.randrange(n), n) for n in NODES[1:]}})


def turns(rng: Random) -> Program:
    """Two predicates in turn."""
    rules = ["odd X Z :- even X Y, edge Y Z", "even X Z :- odd X Y, edge Y Z"]
    return _program(rng, rules, {"edge": _edges(rng, 12), "even": {(n, n) for n in range(3)}})


def nothing(rng: Random) -> Program:
    """A recursion without a beginning."""
    return _program(rng, ["path X Z :- path X Y, edge Y Z"], {"edge": _edges(rng, 9)})


def copies(rng: Random) -> Program:
    """Two predicates that are the inverse of each other, and a copy of one."""
    rules = ["there X Y :- back Y X", "back X Y :- there Y X", "copy X Y :- there X Y"]
    return _program(rng, rules, {"there": _edges(rng, 9)})


def product(rng: Random) -> Program:
    """Two relations joined, of which only the ends are kept."""
    begin = {"one": _edges(rng, 20), "two": _edges(rng, 20)}
    return _program(rng, ["both X Z :- one X Y, two Y Z"], begin)


def negation(rng: Random) -> Program:
    """A join with what must not hold."""
    begin = {"edge": _edges(rng, 14), "shut": {(1,), (4,)}}
    return _program(rng, ["open X Z :- edge X Y, edge Y Z, not shut Y"], begin)


def classes(rng: Random) -> Program:
    """A relation that is symmetric and transitive."""
    rules = ["near X Y :- edge X Y", "near X Y :- near Y X", "near X Z :- near X Y, near Y Z"]
    return _program(rng, rules, {"edge": _edges(rng, 5)})


ALL: tuple[Callable[[Random], Program], ...] = (
    closure, acyclic_closure, tree, turns, nothing, copies, product, negation, classes,
)  # fmt: skip
