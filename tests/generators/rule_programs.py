"""Random programs whose rules come and go, so that hypernodes merge and split all the time.

A program here is a pool of rules over a few predicates: copies, inverses, joins and closures, most
of which close or open a cycle with others, and facts of a small cyclic graph. `rule_changes` goes
from one subset of the pool to another. Negation is not tied to levels as in `programs`: any
predicate may be negated or aggregated over, and what is a program is decided by `hrdg.allowed`.
Now and then a change is generated that is none, and must be refused.

All pairs and marks are over nodes, which arithmetic reads; what it gives goes to a column of its
own that is only compared. So everything is finite, whatever is recursive.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from random import Random

from generators.programs import (
    Aggregate,
    Arithmetic,
    Atom,
    Bind,
    Compare,
    Facts,
    Kind,
    Literal,
    Not,
    Predicate,
    Program,
    Row,
    Rule,
    Value,
    Var,
)
from generators.random_programs import canonical, random_rows
from generators.random_rules import chance, shuffled
from support.closures import LETTERS, cyclic_graph
from support.hrdg import allowed

X, Y, Z, U, N, D, L = map(Var, "XYZUNDL")
ANY = Var("_")

Body = tuple[Literal, ...]


def atom(predicate: Predicate, *terms: Var | Value) -> Atom:
    return Atom(predicate.name, terms)


# ----------------------------------------------------------------------------- rules, by their head


@dataclass
class _Pool:
    """The predicates that rules are made of, and the rules so far."""

    rng: Random
    node: Kind
    nodes: tuple[Value, ...]
    pairs: list[Predicate] = field(default_factory=list)
    marks: list[Predicate] = field(default_factory=list)
    switches: list[Predicate] = field(default_factory=list)
    counts: list[Predicate] = field(default_factory=list)
    values: list[Predicate] = field(default_factory=list)
    heads: list[Predicate] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)

    @property
    def schema(self) -> tuple[Predicate, ...]:
        return (*self.pairs, *self.marks, *self.switches, *self.counts, *self.values)

    def given(self, name: str, arity: int) -> Predicate:
        return self._predicate(name, (self.node,) * arity, 0)

    def derived(self, name: str, arity: int) -> Predicate:
        predicate = self._predicate(name, (self.node,) * arity, 1)
        self.heads.append(predicate)
        return predicate

    def _predicate(self, name: str, kinds: tuple[Kind, ...], level: int) -> Predicate:
        predicate = Predicate(name, kinds, level)
        (self.switches, self.marks, self.pairs)[len(kinds)].append(predicate)
        return predicate

    def pair(self) -> Predicate:
        """Derived relations more often than given ones: cycles go through them."""
        return self.rng.choice([*self.pairs, *(p for p in self.pairs if p.level)])

    def mark(self) -> Predicate:
        return self.rng.choice(self.marks)

    def constant(self) -> Value:
        return self.rng.choice(self.nodes[:3])

    def add(self, head: Atom, body: Body) -> None:
        """Leaves out a rule that is there under another name."""
        rule = Rule(f"r{len(self.rules) + 1}", head, body)
        if distinct([*self.rules, rule]):
            self.rules.append(rule)


_key = lru_cache(maxsize=10_000)(canonical)


def distinct(rules: Iterable[Rule]) -> bool:
    """Whether no two rules say the same: the second would be taken for the first one."""
    keys = [_key(rule) for rule in rules]
    return len(set(keys)) == len(keys)


Shape = tuple[Atom, Body]


def _cyclic(pool: _Pool, head: Predicate) -> list[Shape]:
    """What closes a cycle with others of its kind, or with itself."""
    other, e = pool.pair(), pool.pairs[0]
    return [
        (atom(head, X, Y), (atom(other, X, Y),)),
        (atom(head, X, Y), (atom(other, X, Y),)),
        (atom(head, X, Y), (atom(other, Y, X),)),
        (atom(head, X, Z), (atom(head, X, Y), atom(head, Y, Z))),
        (atom(head, X, Z), (atom(head, X, Y), atom(other, Y, Z))),
        (atom(head, X, Z), (atom(other, X, Y), atom(e, Y, Z))),
        (atom(head, X, Z), (atom(e, X, Y), atom(head, Y, Z))),
        (atom(head, X, Z), (atom(other, X, Y), atom(pool.pair(), Y, Z))),
    ]


def _pair(pool: _Pool, head: Predicate) -> list[Shape]:
    """Other rules for a relation."""
    one, two, e = pool.pair(), pool.pair(), pool.pairs[0]
    operator = pool.rng.choice(("!=", "!=", "<", "<="))
    found: list[Shape] = [
        (atom(head, X, Y), (atom(one, X, Y), Compare(X, operator, Y))),
        (atom(head, X, Z), (atom(one, X, Y), atom(two, Y, Z), Compare(X, "!=", Z))),
        (atom(head, X, Y), (atom(one, X, pool.constant()), atom(two, pool.constant(), Y))),
        (atom(head, pool.constant(), X), (atom(one, X, pool.constant()),)),
        (atom(head, X, Y), (atom(one, X, Y), atom(two, Y, Z), atom(one, Z, X))),
        (atom(head, X, Y), (atom(e, Z, X), atom(head, Z, U), atom(e, U, Y))),
        (atom(head, X, X), (atom(one, X, ANY),)),
        (atom(head, X, Y), (atom(one, X, Y), Not(atom(two, Y, X)))),
        (atom(head, X, Y), (atom(one, X, Y), Not(atom(two, Y, L)))),
        (atom(head, X, Y), (atom(one, X, Y), Not(atom(two, X, pool.constant())))),
    ]
    for mark in pool.marks and [pool.mark()]:
        found += [
            (atom(head, X, Y), (atom(one, X, Y), atom(mark, Y))),
            (atom(head, X, Y), (atom(mark, X), atom(pool.mark(), Y))),
            (atom(head, X, pool.constant()), (atom(mark, X),)),
            (atom(head, X, Y), (atom(one, X, Y), Not(atom(mark, X)))),
        ]
    for switch in pool.switches:
        found += [
            (atom(head, X, Y), (atom(one, X, Y), atom(switch))),
            (atom(head, X, Y), (atom(one, Y, X), Not(atom(switch)))),
        ]
    for count in pool.counts:
        limit = Compare(N, pool.rng.choice((">", "<=", "!=")), pool.rng.choice((1, 2)))
        found += [(atom(head, X, Y), (atom(one, X, Y), atom(count, X, N), limit))] * 2
    for value in pool.values:
        same = (atom(value, X, D), atom(value, Y, D))
        found += [(atom(head, X, Y), (*same, Compare(X, "!=", Y)))] * 2
    return found


def _mark(pool: _Pool, head: Predicate) -> list[Shape]:
    """Rules for a set of nodes."""
    mark, one = pool.mark(), pool.pair()
    found: list[Shape] = [
        (atom(head, X), (atom(mark, X),)),
        (atom(head, Y), (atom(mark, X), atom(one, X, Y))),
        (atom(head, X), (atom(one, X, Y), atom(head, Y))),
        (atom(head, X), (atom(one, X, X),)),
        (atom(head, X), (atom(one, X, ANY),)),
        (atom(head, X), (atom(one, pool.constant(), X),)),
        (atom(head, Z), (atom(mark, X), atom(head, Y), atom(one, X, Z), Compare(X, "!=", Y))),
        (atom(head, X), (atom(one, X, ANY), Not(atom(mark, X)))),
        (atom(head, X), (atom(mark, X), Not(atom(one, X, L)))),
        (atom(head, pool.constant()), (atom(one, X, Y), atom(pool.pair(), Y, X))),
    ]
    for switch in pool.switches:
        found.append((atom(head, X), (atom(one, X, Y), atom(switch))))
    for count in pool.counts:
        limit = Compare(N, pool.rng.choice((">", "=")), pool.rng.choice((1, 2)))
        found.append((atom(head, X), (atom(count, X, N), limit)))
    return found


def _switch(pool: _Pool, head: Predicate) -> list[Shape]:
    """Rules for a predicate without columns."""
    one = pool.pair()
    found: list[Shape] = [
        (atom(head), (atom(one, X, X),)),
        (atom(head), (atom(one, pool.constant(), pool.constant()),)),
        (atom(head), (atom(one, X, Y), atom(pool.pair(), Y, X), Compare(X, "!=", Y))),
        (atom(head), (atom(one, X, Y), Not(atom(pool.pair(), Y, X)))),
    ]
    for mark in pool.marks:
        found += [(atom(head), (atom(mark, X), atom(one, X, ANY)))]
    return found


def _count(pool: _Pool, head: Predicate) -> Shape:
    """An aggregate over pairs; at most one of those for a head is in a program at a time."""
    functions = ("COUNT", "MIN", "MAX", "SUM") if pool.node is Kind.INT else ("COUNT",)
    body: list[Literal] = [atom(pool.pair(), X, Y)]
    if pool.marks and chance(pool.rng, 30):
        body.append(atom(pool.mark(), Y))
    aggregate = Aggregate(tuple(body), (X,), pool.rng.choice(functions), Y, N)
    return atom(head, X, N), (aggregate,)


def _value(pool: _Pool, head: Predicate) -> Shape:
    value = Arithmetic(X, pool.rng.choice(("+", "-", "*")), Y)
    return atom(head, X, D), (atom(pool.pair(), X, Y), Bind(value, D))


def _another(pool: _Pool) -> Shape:
    head = pool.rng.choice(pool.heads)
    if len(head.kinds) == 2:
        shapes = _cyclic if chance(pool.rng, 65) else _pair
        return pool.rng.choice(shapes(pool, head))
    return pool.rng.choice((_mark if head.kinds else _switch)(pool, head))


# ----------------------------------------------------------------------------------------- programs


def rule_program(rng: Random) -> Program:
    """3 to 7 predicates and 9 to 18 rules, some of which are spare; and a cyclic graph."""
    node = rng.choice((Kind.INT, Kind.INT, Kind.SYMBOL))
    size = rng.randint(3, 5)
    nodes: tuple[Value, ...] = tuple(range(size)) if node is Kind.INT else LETTERS[:size]
    pool = _Pool(rng, node, nodes)
    _predicates(pool)
    for head in pool.heads[: rng.choice((1, 2, 2))]:  # something to start from
        if len(head.kinds) == 2:
            pool.add(atom(head, X, Y), (atom(pool.pairs[0], X, Y),))
    if chance(rng, 30):  # what is given can be derived, too
        pool.heads.append(pool.pairs[0])
    for _ in range(rng.randint(8, 13)):
        pool.add(*_another(pool))
    for predicate in pool.counts:
        for _ in range(rng.choice((1, 2))):
            pool.add(*_count(pool, predicate))
    for predicate in pool.values:
        for _ in range(rng.choice((1, 2))):
            pool.add(*_value(pool, predicate))
    wanted = [rule for rule in shuffled(rng, pool.rules) if chance(rng, 75)]
    rules = as_many_as_allowed({}, wanted)
    spare = tuple(rule for rule in pool.rules if rule.name not in rules)
    return Program(
        pool.schema,
        tuple(rule for rule in pool.rules if rule.name in rules),
        _facts(rng, pool),
        spare,
        rng.getrandbits(32),
        LETTERS[:size],
        tuple(range(size)),
    )


def _predicates(pool: _Pool) -> None:
    """Few, so that rules meet."""
    rng = pool.rng
    pool.given("e", 2)
    for name in ("p", "q", "P")[: rng.choice((2, 2, 3))]:  # p and P are two predicates
        pool.derived(name, 2)
    if chance(rng, 50):
        pool.given("m", 1)
    elif chance(rng, 30):
        pool.given("f", 2)
    if chance(rng, 50) or pool.marks:
        pool.derived("s", 1)
    if chance(rng, 20):
        pool.derived("z", 0)
    if chance(rng, 25):
        pool.counts.append(Predicate("n", (pool.node, Kind.BIG), 1, aggregate=True))
    if pool.node is Kind.INT and chance(rng, 25):
        pool.values.append(Predicate("w", (pool.node, Kind.BIG), 1))


def _facts(rng: Random, pool: _Pool) -> Facts:
    """A cyclic graph, marks, and a few facts of what is also derived."""
    nodes = pool.nodes
    graph = cyclic_graph(rng, len(nodes))
    facts: dict[str, frozenset[Row]] = {}
    for predicate in pool.schema:
        if predicate.level and (predicate.aggregate or not chance(rng, 30)):
            continue
        if predicate.name == "e":
            rows = frozenset((nodes[a], nodes[b]) for a, b in graph)
        else:
            rows = frozenset(rows_for(rng, predicate, nodes, rng.choice((1, 2, 3))))
        if rows and not chance(rng, 8):  # without any, even its types stay open
            facts[predicate.name] = rows
    return facts


def rows_for(
    rng: Random, predicate: Predicate, nodes: Sequence[Value], count: int
) -> tuple[Row, ...]:
    symbols = tuple(node for node in nodes if isinstance(node, str))
    integers = tuple(node for node in nodes if isinstance(node, int)) or (0, 1, 2)
    return random_rows(rng, predicate, count, symbols, integers)


def as_many_as_allowed(rules: Mapping[str, Rule], more: Sequence[Rule]) -> dict[str, Rule]:
    """Rules, and those of others, one after the other, with which they still are a program."""
    found = dict(rules)
    for rule in more:
        if rule.name not in found and allowed([*found.values(), rule]):
            found[rule.name] = rule
    return found
