"""Random programs rich in transitive and in symmetric and transitive relations, and in rules that
live with these in one hypernode; and random changes to them.

What the package evaluates by algorithms of its own are the rules that close a relation, here named
t1, t2, ... (transitive) and y1, y2, ... (symmetric): written in any order, with any variables, with
and without an inequality. All other rules are named r1, r2, ...: they feed a closed relation from
below or from within its hypernode, look nearly like those that close it, or read it from above.

A program has one or two islands of relations over few nodes, symbols or integers, so that cycles,
self loops, and components that merge and fall apart are common. As in `rule_programs`, what is a
program is decided by `hrdg.allowed`, and each rule of the pool may come and go. Among the changes
are pauses, in which a file is opened anew, or everything is looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from random import Random

from generators.islands import (
    NODES,
    Island,
    M,
    N,
    Shape,
    X,
    Y,
    bases_of_island,
    closes,
    companions,
    feeders,
    nearly,
    prolonged,
    reached,
    readers_above,
    rewritten,
    symmetric,
    transitive,
)
from generators.programs import (
    Aggregate,
    Facts,
    Kind,
    Literal,
    Not,
    Predicate,
    Program,
    Row,
    Rule,
    Value,
)
from generators.random_programs import random_rows
from generators.random_rules import chance, shuffled
from generators.rule_programs import as_many_as_allowed, atom, distinct
from support.closures import cyclic_graph


@dataclass
class _Pool:
    """All rules that a program may have."""

    rng: Random
    rules: list[Rule] = field(default_factory=list)

    def add(self, shape: Shape) -> None:
        """A rule in some way of writing it."""
        self._add(rewritten(self.rng, *shape), "r")

    def _add(self, rule: Rule, letter: str) -> None:
        """Leaves out a rule that is there under another name."""
        named = replace(rule, name=f"{letter}{len(self.rules) + 1}")
        if distinct([*self.rules, named]):
            self.rules.append(named)

    def some(self, shapes: list[Shape], *counts: int) -> None:
        """As many of them as one of these numbers."""
        for shape in self.rng.sample(shapes, self.rng.choice(counts)):
            self.add(shape)

    def closing(self, relation: Predicate) -> None:
        """Rules that make a relation transitive, and perhaps symmetric: one of each or two."""
        for letter, make, percent in (("t", transitive, 97), ("y", symmetric, 65)):
            if chance(self.rng, percent):
                first = chance(self.rng, 45)
                for unequal in (first, not first) if chance(self.rng, 20) else (first,):
                    self._add(make(self.rng, relation, unequal), letter)


def module_program(rng: Random) -> Program:
    """10 to 30 rules, some of which are spare, over one or two islands."""
    kinds = rng.choice(
        ((Kind.SYMBOL,), (Kind.INT,), (Kind.SYMBOL, Kind.INT), (Kind.INT, Kind.SYMBOL))
    )
    pool = _Pool(rng)
    sizes = {kind: rng.choice((4, 5, 5, 6, 6, 7, 9)) for kind in kinds}
    islands = [_island(rng, kind, sizes[kind], "2" * at) for at, kind in enumerate(kinds)]
    for island in islands:
        _rules(pool, island, len(islands) == 1)
    schema = [predicate for island in islands for predicate in island.schema]
    if len(islands) == 2:
        schema += _bridge(pool, *islands)
    wanted = [rule for rule in shuffled(rng, pool.rules) if chance(rng, 85 if closes(rule) else 70)]
    rules = as_many_as_allowed({}, wanted)
    return Program(
        tuple(schema),
        tuple(rule for rule in pool.rules if rule.name in rules),
        _facts(rng, islands, schema),
        tuple(rule for rule in pool.rules if rule.name not in rules),
        rng.getrandbits(32),
        NODES[: sizes.get(Kind.SYMBOL, 4)],
        tuple(range(sizes.get(Kind.INT, 4))),
    )


def _island(rng: Random, kind: Kind, size: int, suffix: str) -> Island:
    nodes: tuple[Value, ...] = tuple(range(size)) if kind is Kind.INT else NODES[:size]
    island = Island(rng, kind, nodes, suffix)
    island.given = [island.predicate(name, 2, 0) for name in ("e", "f")[: rng.choice((1, 2))]]
    island.closed = [island.predicate(n, 2, 1) for n in ("p", "P", "q")[: rng.choice((1, 1, 2, 3))]]
    island.companions = [island.predicate(n, 2, 1) for n in ("s", "t")[: rng.choice((0, 1, 1, 2))]]
    island.marks = [island.predicate("m", 1, 0)]
    if chance(rng, 35):
        island.reached = [island.predicate("u", 1, 1)]
    return island


def _rules(pool: _Pool, island: Island, alone: bool) -> None:
    """Fewer where there is another island."""
    rng = pool.rng
    few = (1, 2) if alone else (0, 1)
    for relation in island.closed:
        if chance(rng, 25):
            _linear(pool, island, relation)
            continue
        pool.closing(relation)
        pool.some(bases_of_island(island, relation), *(1, 1, 2))
        pool.some(feeders(island, relation), 1, *few)
        pool.some(nearly(island, relation), *(0, 0, 0, 1))
    for companion in island.companions:
        pool.some(companions(island, companion, rng.choice(island.closed)), 1, *few)
        relation = rng.choice(island.closed)  # so that they do share a hypernode
        pool.add((atom(relation, *rng.choice(((X, Y), (Y, X)))), (atom(companion, X, Y),)))
    for head in island.reached:
        pool.some(reached(island, head, rng.choice(island.closed)), 1, *few)
    relation = rng.choice(island.closed)
    if chance(rng, 50):
        functions = ("COUNT", "MAX", "MIN", "SUM") if island.kind is Kind.INT else ("COUNT",)
        counted: list[Literal] = [atom(relation, X, Y)]
        if chance(rng, 30):
            counted.append(Not(atom(island.base(), X, Y)))
        function, distinct = rng.choice(functions), chance(rng, 25)
        literal = Aggregate(tuple(counted), (X,), function, Y, N, distinct=distinct)
        pool.add((atom(island.count("n"), X, N), (literal,)))
    island.above = [island.predicate(name, 2, 1) for name in ("d", "j")[: rng.choice((1, 2))]]
    for head in island.above:
        pool.some(readers_above(island, head, rng.choice(island.closed)), *few)
    if chance(rng, 25):  # another one that is closed, above the first
        relation = island.predicate("v", 2, 1)
        island.closed.append(relation)
        pool.closing(relation)
        pool.add((atom(relation, X, Y), (atom(island.above[0], X, Y),)))


def _linear(pool: _Pool, island: Island, relation: Predicate) -> None:
    """A relation that linear rules close, along what it mostly has nothing but copies of."""
    rng = pool.rng
    others = [p for p in island.closed + island.companions if p != relation]
    base = rng.choice([*island.given * 2, *others])
    island.linear.append(relation)
    pool.add((atom(relation, X, Y), (atom(base, X, Y),)))
    pool.some(prolonged(relation, base), *(1, 1, 2))
    if chance(rng, 15):
        pool.closing(relation)
    pool.some(bases_of_island(island, relation), *(0, 0, 0, 1))
    pool.some(feeders(island, relation), *(0, 0, 0, 1))


def _bridge(pool: _Pool, one: Island, two: Island) -> list[Predicate]:
    """From pairs of one island to pairs of the other, and perhaps back; and a switch."""
    rng = pool.rng
    at = Predicate("at", (one.kind, two.kind), 0)
    there, here = rng.choice(two.closed), rng.choice(one.closed)
    crossing = (atom(at, X, N), atom(here, X, Y), atom(at, Y, M))
    back = (atom(at, X, N), atom(there, N, M), atom(at, Y, M))
    if chance(rng, 80):
        pool.add((atom(there, N, M), crossing))
    if chance(rng, 60):
        pool.add((atom(here, X, Y), back))
    if chance(rng, 60):
        return [at]
    switch = Predicate("on", (), 1)
    pool.add((atom(switch), (atom(here, X, X),)))
    held = rng.choice((atom(switch), Not(atom(switch))))
    pool.add((atom(there, X, Y), (atom(two.base(), X, Y), held)))
    return [at, switch]


def _facts(rng: Random, islands: Sequence[Island], schema: Sequence[Predicate]) -> Facts:
    """Graphs with cycles, or several components, marks, and explicit facts of what is derived."""
    symbols, integers = NODES[:4], tuple(range(4))
    facts: dict[str, frozenset[Row]] = {}
    for island in islands:
        nodes = island.nodes
        if island.kind is Kind.INT:
            integers = nodes  # type: ignore[assignment]
        else:
            symbols = nodes  # type: ignore[assignment]
        for predicate in island.given:
            graph = rng.choice((cyclic_graph, _islets, _islets))(rng, len(nodes))
            facts[predicate.name] = frozenset((nodes[a], nodes[b]) for a, b in graph)
        facts[island.marks[0].name] = frozenset((node,) for node in nodes if chance(rng, 40))
        for predicate in island.closed:
            if chance(rng, 10 if predicate in island.linear else 60):
                rows = random_rows(rng, predicate, rng.choice((1, 1, 2, 3)), symbols, integers)
                loops = [(node, node) for node in nodes if chance(rng, 15)]
                facts[predicate.name] = frozenset((*rows, *loops))
    for predicate in schema:
        if predicate.name not in facts and not predicate.aggregate:
            count = rng.choice((2, 4, 6)) if predicate.level == 0 else rng.choice((0,) * 6 + (1,))
            rows = random_rows(rng, predicate, count, symbols, integers)
            facts[predicate.name] = frozenset(rows)
    return {name: rows for name, rows in facts.items() if rows and not chance(rng, 5)}


def _islets(rng: Random, size: int) -> set[tuple[int, int]]:
    """Two to four components, each a path, a ring, a star, or a node with a loop or without."""
    nodes = rng.sample(range(size), size)
    cuts = sorted(rng.sample(range(1, size), rng.choice((1, 2, 2, 3))))
    found: set[tuple[int, int]] = set()
    for start, end in pairwise((0, *cuts, size)):
        part = nodes[start:end]
        shape = rng.choice(("path", "ring", "ring", "star"))
        if shape == "star":
            found |= {(part[0], node) for node in part[1:]}
        else:
            found |= set(pairwise(part))
        if shape == "ring" and chance(rng, 80):
            found.add((part[-1], part[0]))
    return found
