"""Programs whose facts rest on long chains: recursions of many levels, and facts for them.

The chains have shortcuts, edges that lead back, and facts that are explicit, too.
"""

from __future__ import annotations

from random import Random

from generators.programs import Arithmetic, Atom, Bind, Kind, Not, Predicate, Row, Rule, Var

X, Y, Z, W = map(Var, "XYZW")


def _at(name: str, *terms: Var) -> Atom:
    return Atom(name, terms)


SHAPES: dict[str, tuple[Rule, ...]] = {
    "chain": (
        Rule("begin", _at("p", X), (_at("b", X),)),
        Rule("step", _at("p", Y), (_at("p", X), _at("e", X, Y))),
    ),
    "mutual": (
        Rule("begin", _at("p", X), (_at("b", X),)),
        Rule("odd", _at("q", Y), (_at("p", X), _at("e", X, Y))),
        Rule("even", _at("p", Y), (_at("q", X), _at("e", X, Y))),
        Rule("both", _at("p", Y), (_at("p", X), _at("q", W), _at("u", X, Y), _at("v", W, Y))),
    ),
    "of several types": (
        Rule("begin", _at("s", X, X), (_at("b", X),)),
        Rule("there", _at("q", Y), (_at("s", X, X), _at("e", X, Y))),
        Rule("back", _at("s", X, X), (_at("q", X), _at("e", X, W))),
        Rule("beside", _at("s", X, Y), (_at("s", X, X), _at("u", X, Y))),
        Rule("copy", _at("s", Y, Y), (_at("s", X, Y), _at("q", X))),
    ),
    "denied": (
        Rule("begin", _at("p", X), (_at("b", X),)),
        Rule("step", _at("p", Y), (_at("p", X), _at("e", X, Y), Not(_at("u", X, Y)))),
        Rule("other", _at("p", Y), (_at("p", X), _at("v", X, Y), Not(_at("u", Y, X)))),
    ),
    "computed": (
        Rule("begin", _at("p", X), (_at("b", X),)),
        Rule("step", _at("p", Y), (
            _at("p", X), Bind(Arithmetic(X, "+", 1), Y), _at("e", X, Y),
        )),
        Rule("other", _at("p", Y), (_at("p", X), _at("u", X, Y))),
    ),
    "one over another": (
        Rule("begin", _at("p", X), (_at("b", X),)),
        Rule("step", _at("p", Y), (_at("p", X), _at("e", X, Y))),
        Rule("start", _at("q", X), (_at("p", X), _at("b", X))),
        Rule("along", _at("q", Y), (_at("q", X), _at("p", Y), _at("e", X, Y))),
        Rule("jump", _at("q", Y), (_at("q", X), _at("v", X, Y))),
    ),
    "three atoms": (
        Rule("begin", _at("p", X), (_at("b", X),)),
        Rule("step", _at("q", Y), (_at("p", X), _at("e", X, Y))),
        Rule("all", _at("p", Y), (
            _at("q", Y), _at("p", X), _at("p", W), _at("e", X, Y), _at("v", Z, W),
        )),
        Rule("jump", _at("p", Y), (_at("q", X), _at("p", X), _at("p", X), _at("u", X, Y))),
    ),
    "closure": (
        Rule("base", _at("s", X, Y), (_at("e", X, Y),)),
        Rule("join", _at("s", X, Z), (_at("s", X, Y), _at("s", Y, Z))),
    ),
    "linear closure": (
        Rule("base", _at("s", X, Y), (_at("e", X, Y), _at("b", X))),
        Rule("join", _at("s", X, Z), (_at("s", X, Y), _at("e", Y, Z))),
    ),
}  # fmt: skip

_PAIRS = ("e", "u", "v")
SCHEMA = (
    *(Predicate(name, (Kind.INT, Kind.INT), 0) for name in _PAIRS),
    Predicate("b", (Kind.INT,), 0),
    *(Predicate(name, (Kind.INT,), 1) for name in "pq"),
    Predicate("s", (Kind.INT, Kind.INT), 1),
)

Facts = dict[str, set[Row]]


def long_facts(rng: Random, shape: str) -> Facts:
    """Facts for a shape: a long chain, and others beside it."""
    size = rng.choice((12, 20)) if "closure" in shape else rng.choice((15, 40, 90))
    facts: Facts = {"e": {(n, n + 1) for n in range(size)}, "b": {(0,)}}
    for name in "uv":
        facts[name] = {_edge(rng, size) for _ in range(rng.randrange(2, 6))}
    facts["e"] |= {_edge(rng, size) for _ in range(rng.randrange(3))}
    heads = {rule.head.predicate: len(rule.head.terms) for rule in SHAPES[shape]}
    for name, arity in heads.items():
        if rng.random() < 0.3:
            facts[name] = {tuple(rng.randrange(size) for _ in range(arity)) for _ in range(2)}
    return facts


def _edge(rng: Random, size: int) -> Row:
    return rng.randrange(size), rng.randrange(size)


def long_change(rng: Random, facts: Facts) -> tuple[Facts, Facts]:
    """What a change deletes and inserts: links of the chain, and edges beside it."""
    gone: Facts = {}
    come: Facts = {}
    size = max(a for a, _ in facts["e"]) + 1
    for name in _PAIRS:
        there = sorted(facts[name])
        gone[name] = set(rng.sample(there, min(len(there) - 1, rng.randrange(3))))
        links = {(n, n + 1) for n in range(size)} - facts[name] if name == "e" else set()
        some = {_edge(rng, size) for _ in range(rng.randrange(2))} | links
        come[name] = some - facts[name] - gone[name]
    return gone, come
