"""Recursions of many levels that make texts: rules along chains, for naive evaluation.

Some texts need quotes, are IRIs or blank nodes, or stand in explicit facts, too.
"""

from __future__ import annotations

from random import Random

from generators.programs import Atom, Bind, Compare, Not, Rule, Var
from generators.typed_language import rule_text
from support.naive_types import Types
from support.naive_values import Call, Row

X, Y, Z, R, S, T = map(Var, "XYZRST")

TYPES: Types = {
    "b": ("int",),
    "e": ("int", "int"),
    "v": ("int", "int"),
    "n": ("symbol", "int"),
    "p": ("int", "symbol"),
    "q": ("symbol", "int", "symbol"),
    "m": ("symbol",),
    "k": ("symbol", "symbol"),
}

DECLARATIONS = "\n".join(
    f".decl {name}({', '.join(f'c{n}: {type_}' for n, type_ in enumerate(types))})"
    for name, types in TYPES.items()
)

MADE = ("n", "urn:n", "http://x/", "_:", '"', "<", "a ", "")
"""What made texts begin with."""


def _at(name: str, *terms: Var) -> Atom:
    return Atom(name, terms)


def _concat(*parts: object) -> Call:
    return Call("concat", parts)  # type: ignore[arg-type]


def random_rules(rng: Random) -> tuple[Rule, ...]:
    """The rules of one shape."""
    start = _canonical(rng.choice(MADE))
    begin = Rule("begin", _at("p", X, S), (_at("b", X), Bind(_concat(start, X), S)))
    step = Rule("step", _at("p", Y, T), (
        _at("p", X, S), _at("e", X, Y), Bind(_concat(start, Y), T),
    ))  # fmt: skip
    kept = Rule("kept", _at("p", Y, S), (_at("p", X, S), _at("v", X, Y)))
    longer = Rule("longer", _at("p", Y, T), (
        _at("p", X, S), _at("e", X, Y), Compare(Call("length", (S,)), "<", 9),
        Bind(_concat(S, "x"), T),
    ))  # fmt: skip
    shapes = {
        "one": (begin, step, kept),
        "longer": (begin, step, longer),
        "several": (
            begin,
            Rule("there", _at("q", S, Y, T), (
                _at("p", X, S), _at("e", X, Y), Bind(_concat(start, Y, "q"), T),
            )),
            Rule("back", _at("p", Y, T), (_at("q", T, X, S), _at("e", X, Y))),
            Rule("again", _at("p", X, S), (_at("q", T, X, S), _at("v", X, Z))),
        ),
        "denied": (
            begin,
            Rule("step", _at("p", Y, T), (
                _at("p", X, S), _at("e", X, Y), Bind(_concat(start, Y), T), Not(_at("m", T)),
            )),
            kept,
        ),
        "joined by texts": (
            Rule("begin", _at("m", S), (_at("b", X), Bind(_concat(start, X), S))),
            Rule("step", _at("m", T), (
                _at("m", S), _at("n", S, X), _at("e", X, Y), Bind(_concat(start, Y), T),
            )),
            Rule("pair", _at("k", S, T), (_at("m", S), _at("n", S, X), _at("n", T, X))),
            Rule("all", _at("m", T), (_at("k", S, T),)),
        ),
        "two atoms": (
            begin,
            Rule("there", _at("m", T), (
                _at("p", X, S), _at("e", X, Y), Bind(_concat(start, Y), T),
            )),
            Rule("both", _at("p", Y, T), (
                _at("p", X, S), _at("e", X, Y), Bind(_concat(start, Y), T), _at("m", T),
            )),
        ),
        "chosen": (
            begin,
            Rule("step", _at("p", Y, T), (
                _at("p", X, S), _at("e", X, Y),
                Bind(Call("if", (Call("<", (X, 9)), S, _concat(start, "z"))), T),
            )),
        ),
    }  # fmt: skip
    return shapes[rng.choice(sorted(shapes))]


def text_of(rules: tuple[Rule, ...]) -> str:
    return "\n".join(map(rule_text, rules))


Facts = dict[str, set[Row]]


def random_facts(rng: Random, rules: tuple[Rule, ...]) -> Facts:
    """A chain, and some facts beside it; texts that rules make are in some of them."""
    size = rng.choice((8, 14, 20))
    facts: Facts = {name: set() for name in TYPES}
    facts["b"] = {(0,)}
    facts["e"] = {(n, n + 1) for n in range(size)}
    facts["v"] = {(rng.randrange(size), rng.randrange(size)) for _ in range(rng.randrange(3))}
    start = rng.choice(MADE[:1] * 3 + MADE)
    named = {n for n in range(size + 1) if rng.random() < 0.9}
    facts["n"] = {(_canonical(f"{start}{n}"), n) for n in named}
    if rng.random() < 0.3 and not any(rule.head.predicate == "m" for rule in rules):
        facts["m"] = {(_canonical(f"{start}{rng.randrange(size)}"),)}
    return facts


def _canonical(text: str) -> str:
    """A text as people see the symbol that means it."""
    odd = text.startswith(("<", '"', "_:", "urn:", "http:"))
    return '"' + text.replace('"', '\\"') + '"' if odd else text


def random_change(rng: Random, facts: Facts) -> tuple[Facts, Facts]:
    """Links of the chain, and others, that go and come."""
    gone: Facts = {}
    come: Facts = {}
    size = max((a for a, _ in facts["e"]), default=5) + 1
    for name in ("e", "v", "n"):
        there = sorted(facts[name])
        gone[name] = set(rng.sample(there, min(len(there), rng.randrange(3))))
    links = {(n, n + 1) for n in range(size)} - facts["e"]
    new = {(size, size + n) for n in range(1, rng.randrange(4))}
    come["e"] = (links | new) - gone["e"]
    come["v"] = {(rng.randrange(size), rng.randrange(size))} - facts["v"] - gone["v"]
    come["n"] = set()
    return gone, come
