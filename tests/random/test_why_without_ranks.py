"""Hypernodes whose tables have no ranks: each of their facts has a proof, too.

Ranks are missing where other rules feed a closure that is kept as classes, and lost by some
deletions. The graphs have tens of nodes, so that not all can be followed, and few edges, so that
much is derived in many steps.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest
from generators.programs import Atom, Compare, Kind, Predicate, Program, Row, Rule, Var
from hypothesis import given, note, settings
from hypothesis import strategies as st
from support.examples import share
from support.explained import assert_proved, searched_as_if_large, some
from support.oracle import extensions
from support.proof_world import world_of
from support.spelled import spelled
from support.strategies import STRATEGIES

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

X, Y, Z, W = map(Var, "XYZW")


def _t(a: Var, b: Var) -> Atom:
    return Atom("t", (a, b))


def _q(a: Var, b: Var) -> Atom:
    return Atom("q", (a, b))


def _e(a: Var, b: Var) -> Atom:
    return Atom("e", (a, b))


def _u(a: Var, b: Var) -> Atom:
    return Atom("u", (a, b))


def _v(a: Var, b: Var) -> Atom:
    return Atom("v", (a, b))


BASE = Rule("base", _t(X, Y), (_e(X, Y),))
JOIN = Rule("join", _t(X, Z), (_t(X, Y), _t(Y, Z)))
TURN = Rule("turn", _t(X, Y), (_t(Y, X),))
JOIN_Q = Rule("join2", _q(X, Z), (_q(X, Y), _q(Y, Z)))
TURN_Q = Rule("turn2", _q(X, Y), (_q(Y, X),))
HOME = Rule("home", _t(X, Y), (_q(X, Y),))

SHAPES: dict[str, tuple[Rule, ...]] = {
    "fed": (BASE, JOIN, TURN, HOME, Rule("out", _q(X, Y), (_t(Y, Z), _u(X, Z)))),
    "fed by itself": (BASE, JOIN, TURN, Rule("feed", _t(X, Y), (_u(Z, X), _u(W, Y), _t(Z, W)))),
    "replacing": (
        BASE, JOIN, TURN,
        Rule("start", _q(X, Y), (_u(X, Y),)),
        Rule("first", _q(Z, Y), (_q(X, Y), _t(X, Z))),
        Rule("second", _q(X, Z), (_q(X, Y), _t(Y, Z))),
        Rule("function", _t(X, Y), (_q(Z, X), _q(Z, Y), _v(X, W), _v(Y, W))),
    ),
    "unequal": (
        BASE, TURN,
        Rule("join", _t(X, Z), (_t(X, Y), _t(Y, Z), Compare(X, "!=", Z))),
        HOME,
        Rule("out", _q(X, Y), (_t(Y, Z), _u(X, Z), Compare(X, "!=", Y))),
        Rule("loop", _q(X, X), (_t(X, Y), _v(Y, X))),
    ),
    "two": (
        BASE, JOIN, TURN, JOIN_Q, TURN_Q,
        Rule("start", _q(X, Y), (_v(X, Y),)),
        Rule("over", _q(X, Y), (_t(X, Z), _v(Z, Y))),
        Rule("back", _t(X, Y), (_q(X, Z), _u(Z, Y))),
    ),
    "transitive beside": (
        BASE, JOIN, TURN, JOIN_Q,
        Rule("start", _q(X, Y), (_u(X, Y),)),
        Rule("longer", _q(X, Z), (_q(X, Y), _t(Y, Z))),
        Rule("back", _t(X, Y), (_q(X, Z), _v(Z, Y))),
    ),
    "cyclic": (
        BASE, JOIN, TURN,
        Rule("ring", _q(X, Y), (_t(X, Y), _u(Y, Z), _v(Z, X))),
        Rule("home", _t(X, Y), (_q(X, Z), _u(Z, Y))),
    ),
    "no closure": (
        BASE,
        Rule("step", _t(X, Z), (_t(X, Y), _u(Y, Z))),
        Rule("back", _t(X, Y), (_q(X, Y), _v(Y, X))),
        Rule("out", _q(X, Z), (_t(X, Y), _q(Y, Z))),
        Rule("start", _q(X, Y), (_v(X, Y),)),
    ),
}  # fmt: skip

SCHEMA = tuple(
    Predicate(name, (Kind.INT, Kind.INT), level)
    for name, level in (("e", 0), ("u", 0), ("v", 0), ("t", 1), ("q", 1))
)


@pytest.mark.parametrize("shape", SHAPES)
@settings(max_examples=share(45))
@given(seed=st.integers(0, 2**32))
def test_each_fact_has_a_proof(shape: str, seed: int) -> None:
    import zodiac_sql

    rng = Random(seed)
    size = rng.choice((8, 14, 22))
    rules = SHAPES[shape]
    facts = {name: _edges(rng, size) for name in "euv"}
    strategy, hypertree = rng.choice(STRATEGIES), rng.choice((True, False))
    large, read = rng.random() < 0.7, rng.choice((3, 20_000))
    note(f"{strategy}, hypertree {hypertree}, large {large}, read {read}")
    with (
        searched_as_if_large(large, read),
        zodiac_sql.connect(strategy=strategy, hypertree=hypertree, threads=1) as kb,
    ):
        kb.add_rules("\n".join(map(str, rules)))
        with kb.update() as update:
            for name, rows in facts.items():
                update.insert(name, sorted(rows))
        for _ in range(rng.randrange(3)):
            _change(kb, rng, facts, size)
        program = Program(SCHEMA, rules, {n: frozenset(rows) for n, rows in facts.items()})
        world = world_of(rules, program.facts, SCHEMA, extensions(rules, program.facts))
        own = [fact for fact in world.facts() if fact[0] in "tq"]
        assert_proved(kb, world, some(rng, own, 4), spelled, None)


def _edges(rng: Random, size: int) -> set[Row]:
    count = max(2, int(size * rng.choice((0.2, 0.4, 0.8))))
    return {_edge(rng, size) for _ in range(count)}


def _edge(rng: Random, size: int) -> Row:
    start = rng.randrange(size)
    return start, rng.choice((start + 1, start + 2, rng.randrange(size))) % size


def _change(kb: KnowledgeBase, rng: Random, facts: dict[str, set[Row]], size: int) -> None:
    """Delete some facts, and insert others."""
    with kb.update() as update:
        for name, rows in facts.items():
            gone = set(rng.sample(sorted(rows), min(len(rows) - 1, rng.randrange(3))))
            come = {_edge(rng, size)} - gone - rows
            rows -= gone
            rows |= come
            update.delete(name, sorted(gone))
            update.insert(name, sorted(come))
