"""Recursions along chains of many facts, over several predicates, and what they derive.

    on0(X) :- start(X).
    on1(S, Y) :- on0(S), step(S, X), step(X, Y), not shut(Y).
    on0(Y) :- on1(S, X), step(X, Y).

A predicate has a node, or a node that its facts came from and one. Its facts may be explicit, too.
The answers come from work lists over these rules, read one by one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random

Row = tuple[int, ...]
Facts = dict[str, set[Row]]

BASE = {"start": 1, "step": 2, "shut": 1}


@dataclass(frozen=True)
class Along:
    """A rule that goes a step on from a fact of `source`, or, without one, begins."""

    head: str
    source: str | None
    negates: bool
    """Not to nodes that are shut."""
    rises: bool
    """Only to greater nodes."""
    joined: str | None
    """Only to nodes that this predicate of the same recursion has."""


@dataclass(frozen=True)
class Program:
    arities: Mapping[str, int]
    rules: tuple[Along, ...]

    def text(self) -> str:
        declared = [
            f".decl {name}({', '.join(f'c{n}: int' for n in range(arity))})"
            for name, arity in {**BASE, **self.arities}.items()
        ]
        return "\n".join([*declared, *map(self._rule, self.rules), "seen(Y) :- on0(_, Y)."
                          if self.arities["on0"] == 2 else "seen(Y) :- on0(Y)."])  # fmt: skip

    def _rule(self, rule: Along) -> str:
        body = (
            [f"{rule.source}({self._terms(rule.source, 'X')}), step(X, Y)"] if rule.source else []
        )
        body += [] if rule.source else ["start(Y)"]
        body += [f"{rule.joined}({self._terms(rule.joined, 'Y', '_')})"] if rule.joined else []
        body += ["not shut(Y)"] if rule.negates else []
        body += ["X < Y"] if rule.rises and rule.source else []
        begins = "S" if rule.source and self.arities[rule.source] == 2 else "Y"
        head = f"{begins}, Y" if self.arities[rule.head] == 2 else "Y"
        return f"{rule.head}({head}) :- {', '.join(body)}."

    def _terms(self, name: str, node: str, source: str = "S") -> str:
        return f"{source}, {node}" if self.arities[name] == 2 else node


def random_program(rng: Random) -> Program:
    names = [f"on{number}" for number in range(rng.choice([1, 1, 2, 3]))]
    arities = {name: rng.choice([1, 1, 2]) for name in names}
    rules = [Along(names[0], None, False, False, None)]
    for place, name in enumerate(names):  # a cycle through all of them
        rules.append(_along(rng, names[(place + 1) % len(names)], name, names, joins=0.1))
    rules += [
        _along(rng, rng.choice(names), rng.choice(names), names, joins=0.3)
        for _ in range(rng.choice([0, 0, 1, 2]))
    ]
    return Program(arities, tuple(dict.fromkeys(rules)))


def _along(rng: Random, head: str, source: str, names: list[str], joins: float) -> Along:
    joined = rng.choice(names) if rng.random() < joins else None
    return Along(head, source, rng.random() < 0.3, rng.random() < 0.1, joined)


def random_facts(rng: Random, program: Program, nodes: int) -> Facts:
    """A chain, or a ladder, or a ring, with some more steps."""
    steps = {(node, node + 1) for node in range(nodes)}
    shape = rng.choice(["chain", "ladder", "ring"])
    if shape == "ladder":  # two ways beside each other, that meet at each step
        steps |= {(node, node + 1001) for node in range(nodes)}
        steps |= {(node + 1000, node + 1) for node in range(1, nodes)}
    elif shape == "ring":
        steps.add((nodes, 0))
    for _ in range(rng.choice([0, 0, 1, 3])):
        steps.add((rng.randrange(nodes), rng.randrange(nodes)))
    facts: Facts = {"step": steps, "start": {(0,)}, "shut": set()}
    return facts | {name: set() for name in program.arities}


def random_move(rng: Random, program: Program, facts: Facts, nodes: int) -> tuple[str, Row]:
    """A fact that goes, if it is there, or comes."""
    name = rng.choice(["step"] * 6 + ["start", "shut", "shut", *program.arities])
    if name == "step" and rng.random() < 0.85:
        return name, rng.choice(sorted(facts["step"]) + [(n, n + 1) for n in range(0, nodes, 5)])
    arity = {**BASE, **program.arities}[name]
    if facts[name] and rng.random() < 0.4:
        return name, rng.choice(sorted(facts[name]))
    return name, tuple(rng.randrange(nodes) for _ in range(arity))


def evaluated(program: Program, explicit: Facts) -> Facts:
    """All facts. What is found last is gone on from, for each rule whose body it can be in."""
    found: Facts = {name: set() for name in program.arities}
    next_, before = defaultdict(set), defaultdict(set)
    for here, there in explicit["step"]:
        next_[here].add(there)
        before[there].add(here)
    waiting = [(name, row) for name in program.arities for row in explicit[name]]
    for rule in program.rules:
        if rule.source is None:
            waiting += [
                (rule.head, _fact(program, rule, node, node)) for (node,) in explicit["start"]
            ]
    while waiting:
        name, row = waiting.pop()
        if row in found[name]:
            continue
        found[name].add(row)
        for rule in program.rules:
            waiting += _follows(program, rule, name, row, found, explicit, (next_, before))
    base = {name: set(explicit[name]) for name in BASE}
    return {**base, **found, "seen": {(row[-1],) for row in found["on0"]}}


def _follows(
    program: Program, rule: Along, name: str, row: Row, found: Facts, explicit: Facts, ways: tuple
) -> Iterator[tuple[str, Row]]:
    """What a rule derives with a fact that has just been found, of what was found before."""
    next_, before = ways
    pairs = []
    if rule.source == name:
        pairs += [(row, there) for there in next_[row[-1]]]
    if rule.joined == name and rule.source is not None:
        sources = found[rule.source]
        pairs += [(one, row[-1]) for one in sources if one[-1] in before[row[-1]]]
    for one, there in pairs:
        nodes = {fact[-1] for fact in found[rule.joined]} if rule.joined else {there}
        refused = rule.negates and (there,) in explicit["shut"]
        if there in nodes and not refused and not (rule.rises and one[-1] >= there):
            begins = one[0] if rule.source and program.arities[rule.source] == 2 else there
            yield rule.head, _fact(program, rule, begins, there)


def _fact(program: Program, rule: Along, begins: int, node: int) -> Row:
    return (begins, node) if program.arities[rule.head] == 2 else (node,)
