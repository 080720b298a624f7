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

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from random import Random

from generators.programs import (
    AddRule,
    Aggregate,
    Atom,
    Change,
    Compare,
    Delete,
    DropRule,
    Facts,
    Insert,
    Kind,
    Literal,
    Not,
    Predicate,
    Program,
    Row,
    Rule,
    State,
    Step,
    Value,
    Var,
    _Decisions,
    chance,
    decisions,
    random_rows,
    seeds,
    shuffled,
)
from generators.rule_programs import (
    ANY,
    Recipe,
    _absent,
    _as_many_as_allowed,
    _rule_steps,
    atom,
    distinct,
    rules_after,
)
from hypothesis import strategies as st
from support.closures import LETTERS, cyclic_graph
from support.hrdg import allowed
from support.oracle import extensions

X, Y, Z, N, M, L = map(Var, "XYZNML")
NODES = (*LETTERS, "i", "k")  # nine; one needs quotes, and sorts before the others
VARIABLES = ("X", "Y", "Z", "U", "V", "A", "B", "C1")


# ------------------------------------------------------------------------------ rules that close


def transitive(rng: Random, relation: Predicate, unequal: bool) -> Rule:
    """R(x, z) :- R(x, y), R(y, z), perhaps with x != z."""
    ends = rng.choice(((X, Z), (Z, X)))
    guard = [Compare(ends[0], "!=", ends[1])] if unequal else []
    return rewritten(
        rng, atom(relation, X, Z), (atom(relation, X, Y), atom(relation, Y, Z), *guard)
    )


def symmetric(rng: Random, relation: Predicate, unequal: bool) -> Rule:
    """R(x, y) :- R(y, x), perhaps with x != y."""
    ends = rng.choice(((X, Y), (Y, X)))
    guard = [Compare(ends[0], "!=", ends[1])] if unequal else []
    return rewritten(rng, atom(relation, X, Y), (atom(relation, Y, X), *guard))


def closes(rule: Rule) -> bool:
    """Whether a rule of a pool is one of the two above."""
    return rule.name[0] in "ty"


def rewritten(rng: Random, head: Atom, body: Sequence[Literal]) -> Rule:
    """The same rule with other variables, its body in another order. It has no name yet."""
    names = dict(zip("XYZNML", rng.sample(VARIABLES, 6), strict=True))

    def term(found: Var | Value) -> Var | Value:
        known = isinstance(found, Var) and not found.anonymous
        return Var(names[found.name]) if known else found  # type: ignore[union-attr]

    def literal(found: Literal) -> Literal:
        if isinstance(found, Atom):
            return Atom(found.predicate, tuple(map(term, found.terms)))
        if isinstance(found, Not):
            return Not(literal(found.atom))  # type: ignore[arg-type]
        if isinstance(found, Compare):
            return Compare(term(found.left), found.operator, term(found.right))  # type: ignore[arg-type]
        assert isinstance(found, Aggregate)
        return Aggregate(
            tuple(map(literal, found.body)),
            tuple(map(term, found.group)),  # type: ignore[arg-type]
            found.function,
            term(found.argument),  # type: ignore[arg-type]
            term(found.result),  # type: ignore[arg-type]
        )

    renamed = Atom(head.predicate, tuple(map(term, head.terms)))
    return Rule("", renamed, tuple(map(literal, shuffled(rng, body))))


# ---------------------------------------------------------------------------------------- islands


@dataclass
class _Island:
    """Relations over nodes of one kind, and sets of these nodes."""

    rng: Random
    kind: Kind
    nodes: tuple[Value, ...]
    suffix: str
    given: list[Predicate] = field(default_factory=list)
    closed: list[Predicate] = field(default_factory=list)
    companions: list[Predicate] = field(default_factory=list)
    marks: list[Predicate] = field(default_factory=list)
    reached: list[Predicate] = field(default_factory=list)
    above: list[Predicate] = field(default_factory=list)
    counts: list[Predicate] = field(default_factory=list)

    @property
    def schema(self) -> list[Predicate]:
        lists = (self.given, self.closed, self.companions, self.marks, self.reached, self.above)
        return [*(predicate for some in lists for predicate in some), *self.counts]

    def predicate(self, name: str, arity: int, level: int) -> Predicate:
        return Predicate(name + self.suffix, (self.kind,) * arity, level)

    def count(self, name: str) -> Predicate:
        kinds = (self.kind, Kind.BIG)
        self.counts.append(Predicate(name + self.suffix, kinds, 1, aggregate=True))
        return self.counts[-1]

    def base(self) -> Predicate:
        return self.rng.choice(self.given)

    def mark(self) -> Predicate:
        return self.rng.choice([*self.marks, *self.reached])

    def constant(self) -> Value:
        return self.rng.choice(self.nodes[:3])

    def fellow(self, relation: Predicate) -> Predicate:
        """A relation that may share a hypernode with this one."""
        others = [p for p in self.closed if p != relation]
        return self.rng.choice([*self.companions * 2, *others * 2, *self.above[:1], *self.given])


Shape = tuple[Atom, tuple[Literal, ...]]


def _bases(island: _Island, relation: Predicate) -> list[Shape]:
    """What a closed relation is made of, from below."""
    e, f, m = island.base(), island.base(), island.marks[0]
    return [
        (atom(relation, X, Y), (atom(e, X, Y),)),
        (atom(relation, X, Y), (atom(e, X, Y),)),
        (atom(relation, X, Y), (atom(e, Y, X),)),
        (atom(relation, X, Y), (atom(e, X, Y), Not(atom(f, Y, X)))),
        (atom(relation, X, Y), (atom(e, X, Y), atom(m, Y))),
        (atom(relation, X, Z), (atom(e, X, Y), atom(f, Y, Z))),
        (atom(relation, X, X), (atom(m, X),)),
        (atom(relation, island.constant(), X), (atom(m, X),)),
    ]


def _feeders(island: _Island, relation: Predicate) -> list[Shape]:
    """What feeds a closed relation, mostly from within its hypernode."""
    e, m, s, t = island.base(), island.mark(), island.fellow(relation), island.fellow(relation)
    return [
        (atom(relation, X, Y), (atom(s, X, Y),)),
        (atom(relation, X, Y), (atom(s, X, Y),)),
        (atom(relation, X, Y), (atom(s, Y, X),)),
        (atom(relation, X, Y), (atom(s, X, Y), atom(m, Y))),
        (atom(relation, X, Z), (atom(relation, X, Y), atom(e, Y, Z))),
        (atom(relation, X, Z), (atom(e, X, Y), atom(relation, Y, Z))),
        (atom(relation, X, Z), (atom(relation, X, Y), atom(s, Y, Z))),
        (atom(relation, X, Z), (atom(s, X, Y), atom(relation, Y, Z))),
        (atom(relation, X, Z), (atom(s, X, Y), atom(t, Y, Z))),
        (atom(relation, X, Y), (atom(s, X, Z), atom(e, Z, Y), Compare(X, "!=", Y))),
        (atom(relation, X, Y), (atom(s, X, Y), Compare(X, "<", Y))),
        (atom(relation, X, Y), (atom(s, X, Y), Not(atom(e, Y, X)))),
        (atom(relation, X, X), (atom(s, X, ANY),)),
        (atom(relation, X, Y), (atom(m, X), atom(island.mark(), Y))),
        (atom(relation, X, island.constant()), (atom(m, X),)),
    ]


def _nearly(island: _Island, relation: Predicate) -> list[Shape]:
    """What looks like a rule that closes a relation, and is none."""
    guards: list[Literal] = [
        Compare(X, "!=", Y),
        Compare(X, "<", Z),
        Compare(Y, "!=", island.constant()),
        atom(island.mark(), Y),
        Not(atom(island.base(), X, Z)),
    ]
    path = (atom(relation, X, Y), atom(relation, Y, Z))
    other = island.fellow(relation)
    return [
        (atom(relation, X, Z), (*path, island.rng.choice(guards))),
        (atom(relation, Z, X), path),
        (atom(relation, X, Z), (atom(relation, X, Y), atom(relation, Z, Y))),
        (atom(relation, X, Z), (atom(relation, Y, X), atom(relation, Y, Z), Compare(X, "!=", Z))),
        (atom(relation, X, X), (atom(relation, X, Y), atom(relation, Y, X))),
        (atom(relation, X, X), (atom(relation, ANY, X),)),
        (atom(relation, X, L), (*path, atom(relation, Z, L))),
        (atom(relation, X, Z), (*path, atom(relation, X, ANY))),
        (atom(relation, X, Y), (atom(relation, Y, X), Compare(X, "<", Y))),
        (atom(relation, X, Y), (atom(relation, Y, X), atom(island.mark(), X))),
        (atom(relation, X, island.constant()), (atom(relation, island.constant(), X),)),
        (atom(other, X, Z), path),
    ]


def _companions(island: _Island, companion: Predicate, relation: Predicate) -> list[Shape]:
    """Relations beside a closed one."""
    e, r, other = island.base(), relation, island.fellow(companion)
    return [
        (atom(companion, X, Y), (atom(r, X, Y),)),
        (atom(companion, X, Y), (atom(r, Y, X),)),
        (atom(companion, X, Y), (atom(r, X, Y), Compare(X, "!=", Y))),
        (atom(companion, X, Z), (atom(r, X, Y), atom(e, Y, Z))),
        (atom(companion, X, Z), (atom(e, X, Y), atom(r, Y, Z))),
        (atom(companion, X, Z), (atom(r, X, Y), atom(r, Y, Z))),
        (atom(companion, X, Z), (atom(r, X, Y), atom(companion, Y, Z))),
        (atom(companion, X, Z), (atom(companion, X, Y), atom(e, Y, Z))),
        (atom(companion, X, Y), (atom(e, X, Y), atom(r, X, X))),
        (atom(companion, X, Y), (atom(other, X, Y), atom(island.mark(), X))),
        (atom(companion, X, Y), (atom(e, X, Y),)),
        (atom(companion, X, Y), (atom(companion, Y, X),)),
    ]


def _reached(island: _Island, head: Predicate, relation: Predicate) -> list[Shape]:
    """Sets of nodes beside a closed relation."""
    m = island.marks[0]
    return [
        (atom(head, Y), (atom(m, X), atom(relation, X, Y))),
        (atom(head, Y), (atom(head, X), atom(relation, X, Y))),
        (atom(head, X), (atom(head, Y), atom(island.base(), X, Y))),
        (atom(head, X), (atom(relation, X, X),)),
        (atom(head, X), (atom(relation, island.constant(), X), Not(atom(m, X)))),
    ]


def _above(island: _Island, head: Predicate, relation: Predicate) -> list[Shape]:
    """What reads a closed relation as it is when it is closed."""
    e, m, other = island.base(), island.marks[0], island.rng.choice(island.closed)
    return [
        (atom(head, X, Y), (atom(m, X), atom(m, Y), Not(atom(relation, X, Y)))),
        (atom(head, X, Y), (atom(e, X, Y), Not(atom(relation, Y, X)))),
        (atom(head, X, Y), (atom(relation, X, Y), Not(atom(relation, Y, Y)))),
        (atom(head, X, X), (atom(m, X), Not(atom(relation, X, L)))),
        (atom(head, X, Z), (atom(relation, X, Y), atom(other, Y, Z), atom(m, Y))),
        (atom(head, X, Y), (atom(relation, X, Y), Compare(X, "<=", Y))),
        (atom(head, X, Y), (atom(relation, X, Y), Not(atom(e, X, Y)))),
        *(
            (atom(head, X, Y), (atom(relation, X, Y), atom(count, Y, N), Compare(N, ">", 2)))
            for count in island.counts
        ),
    ]


# --------------------------------------------------------------------------------------- programs


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
    rules = _as_many_as_allowed({}, wanted)
    return Program(
        tuple(schema),
        tuple(rule for rule in pool.rules if rule.name in rules),
        _facts(rng, islands, schema),
        tuple(rule for rule in pool.rules if rule.name not in rules),
        rng.getrandbits(32),
        NODES[: sizes.get(Kind.SYMBOL, 4)],
        tuple(range(sizes.get(Kind.INT, 4))),
    )


def _island(rng: Random, kind: Kind, size: int, suffix: str) -> _Island:
    nodes: tuple[Value, ...] = tuple(range(size)) if kind is Kind.INT else NODES[:size]
    island = _Island(rng, kind, nodes, suffix)
    island.given = [island.predicate(name, 2, 0) for name in ("e", "f")[: rng.choice((1, 2))]]
    island.closed = [island.predicate(n, 2, 1) for n in ("p", "P", "q")[: rng.choice((1, 1, 2, 3))]]
    island.companions = [island.predicate(n, 2, 1) for n in ("s", "t")[: rng.choice((0, 1, 1, 2))]]
    island.marks = [island.predicate("m", 1, 0)]
    if chance(rng, 35):
        island.reached = [island.predicate("u", 1, 1)]
    return island


def _rules(pool: _Pool, island: _Island, alone: bool) -> None:
    """Fewer where there is another island."""
    rng = pool.rng
    few = (1, 2) if alone else (0, 1)
    for relation in island.closed:
        pool.closing(relation)
        pool.some(_bases(island, relation), *(1, 1, 2))
        pool.some(_feeders(island, relation), 1, *few)
        pool.some(_nearly(island, relation), *(0, 0, 0, 1))
    for companion in island.companions:
        pool.some(_companions(island, companion, rng.choice(island.closed)), 1, *few)
        relation = rng.choice(island.closed)  # so that they do share a hypernode
        pool.add((atom(relation, *rng.choice(((X, Y), (Y, X)))), (atom(companion, X, Y),)))
    for head in island.reached:
        pool.some(_reached(island, head, rng.choice(island.closed)), 1, *few)
    relation = rng.choice(island.closed)
    if chance(rng, 50):
        functions = ("COUNT", "MAX", "MIN", "SUM") if island.kind is Kind.INT else ("COUNT",)
        counted: list[Literal] = [atom(relation, X, Y)]
        if chance(rng, 30):
            counted.append(Not(atom(island.base(), X, Y)))
        literal = Aggregate(tuple(counted), (X,), rng.choice(functions), Y, N)
        pool.add((atom(island.count("n"), X, N), (literal,)))
    island.above = [island.predicate(name, 2, 1) for name in ("d", "j")[: rng.choice((1, 2))]]
    for head in island.above:
        pool.some(_above(island, head, rng.choice(island.closed)), *few)
    if chance(rng, 25):  # another one that is closed, above the first
        relation = island.predicate("v", 2, 1)
        island.closed.append(relation)
        pool.closing(relation)
        pool.add((atom(relation, X, Y), (atom(island.above[0], X, Y),)))


def _bridge(pool: _Pool, one: _Island, two: _Island) -> list[Predicate]:
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


def _facts(rng: Random, islands: Sequence[_Island], schema: Sequence[Predicate]) -> Facts:
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
            if chance(rng, 60):
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


# ---------------------------------------------------------------------------------------- changes


@dataclass(frozen=True)
class Reopen:
    """Close the file and open it in another way."""

    strategy: str
    other_modules: bool

    def __str__(self) -> str:
        return f"reopen: {self.strategy}{', modules the other way' * self.other_modules}"


@dataclass(frozen=True)
class Look:
    """Verify, and look at all tables."""

    def __str__(self) -> str:
        return "look at everything"


Act = Change | Reopen | Look


class Acts(list[Act]):
    """What to do, one after the other."""

    def _repr_pretty_(self, printer: object, cycle: bool) -> None:
        printer.text(f"<{len(self)} acts, see the text below>")  # type: ignore[attr-defined]


def module_acts(
    rng: Random, program: Program, strategies: Sequence[str], count: int
) -> tuple[Act, ...]:
    """So many changes, and pauses between them."""
    script = _Script(rng, program)
    found: list[Act] = []
    for number in range(count):
        change = script.change()
        found.append(change)
        if chance(rng, 15) or number == count // 2:
            found.append(Reopen(rng.choice(strategies), chance(rng, 80)))
        if chance(rng, 12):
            found.append(Look())
        if allowed(rules_after(script.state, change).values()):
            script.apply(change)
    return tuple(found)


class _Script:
    """Writes changes, each in the light of those before it."""

    def __init__(self, rng: Random, program: Program) -> None:
        self.rng, self.program = rng, program
        self.pool = (*program.rules, *program.spare)
        self.closed = {rule.head.predicate for rule in self.pool if closes(rule)}
        self.state = State.of(program)
        self.gone: dict[str, tuple[Row, ...]] = {}

    def apply(self, change: Change) -> None:
        for step in change:
            if isinstance(step, Delete):
                self.gone[step.predicate] = step.rows
        self.state.apply(change)

    def change(self) -> Change:
        rng = self.rng
        if not self.state.rules:
            rules = _as_many_as_allowed(
                {}, [r for r in shuffled(rng, self.pool) if chance(rng, 75)]
            )
            return self._mixed([AddRule(rule) for rule in rules.values()], 40)
        if chance(rng, 38):
            return self._mixed([], 100)
        for _ in range(8):
            steps = self._rule_steps()
            after = rules_after(self.state, tuple(steps)).values()
            if steps and distinct(after) and (allowed(after) or chance(rng, 5)):
                return self._mixed(steps, 50)
        return self._mixed([], 100)

    def _mixed(self, rules: list[Step], percent: int) -> Change:
        """Steps of rules and facts in any order, but what takes a name after that rule went."""
        count = self.rng.choice((1, 1, 1, 2, 3)) if chance(self.rng, percent) else 0
        steps = list(shuffled(self.rng, [*rules, *self._fact_steps(count)]))
        for index, step in enumerate(steps):
            if isinstance(step, AddRule) and DropRule(step.rule.name) in steps[index:]:
                other = steps.index(DropRule(step.rule.name))
                steps[index], steps[other] = steps[other], step
        return tuple(steps) or self._mixed(rules, 100)

    # Rules

    def _rule_steps(self) -> list[Step]:
        what = self.rng.randrange(100)
        if what < 42:
            return self._closing(self.rng.choice((1, 1, 1, 2, 2, 3)))
        if what < 52:
            return self._replaced()
        if what < 55:
            return [DropRule(name) for name in shuffled(self.rng, list(self.state.rules))]
        if what < 60 and self.closed:  # only what closes a relation stays, or all but that
            relation = self.rng.choice(sorted(self.closed))
            told = chance(self.rng, 50)
            return [
                DropRule(rule.name)
                for rule in self.state.rules.values()
                if rule.head.predicate == relation and closes(rule) == told
            ]
        return _rule_steps(self.rng, self.pool, self.state)

    def _closing(self, count: int) -> list[Step]:
        """Rules that close relations come or go."""
        possible: list[Step] = [AddRule(r) for r in _absent(self.pool, self.state) if closes(r)]
        possible += possible  # mostly they are there
        possible += [DropRule(rule.name) for rule in self.state.rules.values() if closes(rule)]
        return list(dict.fromkeys(shuffled(self.rng, possible)))[:count]

    def _replaced(self) -> list[Step]:
        """A rule that closes a relation gets an inequality under the same name, or loses it."""
        present = [rule for rule in self.state.rules.values() if closes(rule)]
        if not present:
            return []
        rule = self.rng.choice(present)
        relation = Predicate(rule.head.predicate, (), 1)
        unequal = any(isinstance(literal, Compare) for literal in rule.body)
        make = transitive if rule.name[0] == "t" else symmetric
        return [
            DropRule(rule.name),
            AddRule(replace(make(self.rng, relation, not unequal), name=rule.name)),
        ]

    # Facts

    def _fact_steps(self, count: int) -> list[Step]:
        """No fact is in two of them."""
        if not count:
            return []
        every = extensions(list(self.state.rules.values()), self.state.facts)
        open_to_facts = [p for p in self.program.schema if not p.aggregate]
        given = [p for p in open_to_facts if p.level == 0]
        closed = [p for p in open_to_facts if p.name in self.closed]
        steps: list[Step] = []
        touched: set[tuple[str, Row]] = set()
        for _ in range(count):
            among = self.rng.choice((given, closed, given, closed, open_to_facts)) or given
            predicate = self.rng.choice(among)
            step = self._fact_step(predicate, every.get(predicate.name, set()))
            facts = {(step.predicate, row) for row in step.rows}
            if facts and touched.isdisjoint(facts):
                touched |= facts
                steps.append(step)
        return steps

    def _fact_step(self, predicate: Predicate, extension: set[Row]) -> Insert | Delete:
        rng, name = self.rng, predicate.name
        present = sorted(self.state.rows(name), key=repr)
        derived = sorted(extension.difference(present), key=repr)
        if derived and chance(rng, 5):
            return Delete(name, (rng.choice(derived),))  # which changes nothing
        if present and chance(rng, 50):
            return Delete(name, self._some_of(present))
        what = rng.randrange(100)
        gone = tuple(row for row in self.gone.get(name, ()) if row not in present)
        if gone and what < 25:
            return Insert(name, gone)
        if derived and what < 50:
            return Insert(name, shuffled(rng, derived)[: rng.choice((1, 1, 2))])
        rows = random_rows(
            rng, predicate, rng.choice((1, 1, 2, 3)), self.program.symbols, self.program.integers
        )
        alike = len(predicate.kinds) == 2 and predicate.kinds[0] is predicate.kinds[1]
        if alike and what < 65:
            return Insert(name, tuple(dict.fromkeys((row[0], row[0]) for row in rows)))
        if alike and present and what < 75:
            there = rng.choice(present)
            return Insert(name, ((there[1], there[0]),))
        return Insert(name, rows)

    def _some_of(self, present: Sequence[Row]) -> tuple[Row, ...]:
        rng = self.rng
        loops = [row for row in present if len(set(row)) < len(row)]
        if loops and chance(rng, 25):
            return tuple(loops)
        if chance(rng, 12):
            return tuple(present)
        return shuffled(rng, present)[: rng.choice((1, 1, 1, 2, 3))]


# ------------------------------------------------------------------------------ what hypothesis draws


@dataclass(frozen=True)
class ModuleRecipe(Recipe):
    """A seed, and what to leave out of what comes of it."""

    def acts(self, salt: str, strategies: Sequence[str], count: int) -> tuple[Program, Acts]:
        """A program, and what to do with it."""
        rng, decide = self.random(salt), self._decisions()
        program = self._program(rng, decide)
        return program, possible(program, module_acts(rng, program, strategies, count), decide.keep)

    def _program(self, rng: Random, decide: _Decisions) -> Program:
        program = module_program(rng)
        kept = [rule for rule in program.rules if decide.keep()] or list(program.rules[:1])
        facts = {
            name: frozenset(row for row in sorted(rows, key=repr) if decide.keep())
            for name, rows in program.facts.items()
        }
        facts = {name: rows for name, rows in facts.items() if rows}
        return replace(program, rules=tuple(kept), facts=facts)


module_recipes = st.builds(
    lambda seed, decided: ModuleRecipe(seed, tuple(decided.remaining)), seeds, decisions
)


def possible(program: Program, acts: Sequence[Act], keep: Callable[[], bool]) -> Acts:
    """Without the steps decided against, nor those that cannot be done without these."""
    state = State.of(program)
    found = Acts()
    for act in acts:
        if isinstance(act, Reopen | Look):
            found += [act] if keep() else []
            continue
        steps = tuple(_possible_steps([step for step in act if keep()], set(state.rules)))
        if not distinct(rules_after(state, steps).values()):
            steps = tuple(step for step in steps if not isinstance(step, AddRule))
        if steps:
            found.append(steps)
            if allowed(rules_after(state, steps).values()):
                state.apply(steps)
    return found


def _possible_steps(steps: Sequence[Step], names: set[str]) -> list[Step]:
    found: list[Step] = []
    for step in steps:
        if isinstance(step, AddRule):
            if step.rule.name in names:
                continue
            names.add(step.rule.name)
        elif isinstance(step, DropRule):
            if step.name not in names:
                continue
            names.remove(step.name)
        found.append(step)
    return found
