"""Closure programs: recursion over small dense cyclic graphs, put together from a few templates.

`programs.random_program` tries everything a little. Here nearly every program has cycles, in its
rules and in its facts, and layers of negation, aggregates and arithmetic between and above them:
what goes wrong when consequences are maintained is a fact that supports itself, or one that is
supported in several ways.

Every template adds one level: predicates, and rules that read what is below them, as `programs`
demands. What it adds is there to be read by later ones: as edges if it is a relation over nodes,
as marks if it is a set of nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from random import Random

from generators.programs import (
    Aggregate,
    Arithmetic,
    Atom,
    Bind,
    Compare,
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
from generators.random_rules import binary, chance, closure_rules, mutual_rules

X, Y, Z, N, D, L = map(Var, "XYZNDL")
ANY = Var("_")
NAMES = ("p", "q", "P", "r", "s", "t", "u", "v", "w", "x", "y", "z")
LETTERS = ("a", "b", "c", "D e", "f", "g", "h")

# ------------------------------------------------------------------------------------------ facts

Pairs = set[tuple[int, int]]


def cyclic_graph(rng: Random, size: int) -> Pairs:
    """The edges of a graph over the nodes 0 to `size` - 1; nearly all of them have cycles."""
    nodes = list(range(size))
    rng.shuffle(nodes)
    shape = rng.choice((_sparse, _sparse, _dense, _ring, _rings_with_a_bridge, _there_and_back))
    edges = shape(rng, nodes)
    return edges | {(node, node) for node in nodes if chance(rng, 8)}


def _sparse(rng: Random, nodes: Sequence[int]) -> Pairs:
    return {(rng.choice(nodes), rng.choice(nodes)) for _ in range(len(nodes) * 3 // 2)}


def _dense(rng: Random, nodes: Sequence[int]) -> Pairs:
    return {(a, b) for a in nodes[:5] for b in nodes[:5] if a != b and chance(rng, 80)}


def _ring(rng: Random, nodes: Sequence[int]) -> Pairs:
    chord = (rng.choice(nodes), rng.choice(nodes))
    return {(nodes[-1], nodes[0]), *pairwise(nodes), chord}


def _rings_with_a_bridge(rng: Random, nodes: Sequence[int]) -> Pairs:
    left, right = nodes[: len(nodes) // 2], nodes[len(nodes) // 2 :]
    rings = {(left[-1], left[0]), *pairwise(left), (right[-1], right[0]), *pairwise(right)}
    return rings | {(rng.choice(left), rng.choice(right))}


def _there_and_back(rng: Random, nodes: Sequence[int]) -> Pairs:
    return {edge for a, b in pairwise(nodes) for edge in ((a, b), (b, a))}


# ------------------------------------------------------------------------------------------ rules


@dataclass
class _Builder:
    rng: Random
    node: Kind
    schema: list[Predicate] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)

    @property
    def level(self) -> int:
        return max(predicate.level for predicate in self.schema)

    def given(self, name: str, arity: int) -> None:
        """A predicate of explicit facts."""
        self.schema.append(Predicate(name, (self.node,) * arity, 0))

    def derive(self, kinds: Sequence[Kind], level: int, aggregate: bool = False) -> Predicate:
        """A new predicate for the rules of a template."""
        name = NAMES[sum(predicate.level > 0 for predicate in self.schema)]
        self.schema.append(Predicate(name, tuple(kinds), level, aggregate))
        return self.schema[-1]

    def edges(self, below: int | None = None) -> Predicate:
        """A relation over nodes from below a level, the later ones more often."""
        return self._one((self.node, self.node), below)

    def marks(self, below: int | None = None) -> Predicate:
        """A set of nodes from below a level."""
        return self._one((self.node,), below)

    def _one(self, kinds: tuple[Kind, ...], below: int | None) -> Predicate:
        level = self.level + 1 if below is None else below
        found = [p for p in self.schema if p.kinds == kinds and p.level < level]
        return self.rng.choice([*found, *found[-2:]])

    def constant(self) -> Value:
        return self.rng.choice((0, 1) if self.node is Kind.INT else LETTERS[:2])

    def add(self, head: Atom, *body: Literal) -> None:
        self.add_all([Rule("", head, body)])

    def add_all(self, rules: Iterable[Rule]) -> None:
        """Leaves out rules that are there under another name."""
        for rule in rules:
            key = canonical(rule)
            if key not in self.seen:
                self.seen.add(key)
                self.rules.append(replace(rule, name=f"r{len(self.rules) + 1}"))


def _atom(predicate: Predicate, *terms: Var | Value) -> Atom:
    return Atom(predicate.name, terms)


def _closure(build: _Builder) -> None:
    """Linear, non-linear, symmetric closures, and same generation, over one or two relations."""
    base, level = build.edges(), build.level + 1
    head = build.derive(base.kinds, level)
    build.add(_atom(head, X, Y), _atom(base, X, Y))
    shapes = closure_rules(head, base) + closure_rules(head, build.edges(level))[:2]
    build.add_all(build.rng.sample(shapes, build.rng.choice((1, 1, 2, 2, 3))))


def _symmetric_and_transitive(build: _Builder) -> None:
    """The cliques of paper 3, section 5."""
    base, level = build.edges(), build.level + 1
    head = build.derive(base.kinds, level)
    h, b = binary(head), binary(base)
    every = Compare(X, "!=", Z) if chance(build.rng, 40) else None
    build.add(h("XY"), b("XY"))
    build.add(h("XY"), h("YX"))
    step = h("YZ") if chance(build.rng, 60) else b("YZ")
    build.add(h("XZ"), h("XY"), step, *([every] if every else []))


def _mutual(build: _Builder) -> None:
    """Two or three relations that derive each other in a ring, and rules across it."""
    rng, level = build.rng, build.level + 1
    base = build.edges()
    group = [build.derive(base.kinds, level) for _ in range(rng.choice((2, 2, 3)))]
    build.add(_atom(group[0], X, Y), _atom(base, X, Y))
    for index, head in enumerate(group):
        partner = group[index - 1]
        ring = [r for r in mutual_rules(head, build.edges(level), partner) if _reads(r, partner)]
        build.add_all([rng.choice(ring)])
    for _ in range(rng.choice((0, 1, 2))):
        head, partner = rng.sample(group, 2)
        build.add_all([rng.choice(mutual_rules(head, base, partner))])


def _reads(rule: Rule, predicate: Predicate) -> bool:
    return any(isinstance(a, Atom) and a.predicate == predicate.name for a in rule.body)


def _reach(build: _Builder) -> None:
    """Marks that spread along edges, or back along them, perhaps only past what is not marked."""
    rng, level = build.rng, build.level + 1
    head = build.derive((build.node,), level)
    if chance(rng, 75):
        build.add(_atom(head, X), _atom(build.marks(level), X))
    else:
        build.add(_atom(head, Y), _atom(build.edges(level), build.constant(), Y))
    base = build.edges(level)
    guard: list[Literal] = [Not(_atom(build.marks(level), Y))] if chance(rng, 35) else []
    if chance(rng, 50):
        build.add(_atom(head, Y), _atom(head, X), _atom(base, X, Y), *guard)
    else:
        build.add(_atom(head, Y), _atom(base, Y, X), _atom(head, X), *guard)
    if chance(rng, 40):  # from two marked nodes to a third
        other = build.edges(level)
        build.add(_atom(head, Z), _atom(head, X), _atom(head, Y), _atom(base, X, Z),
                  _atom(other, Y, Z), Compare(X, "!=", Y))  # fmt: skip


def _marks_of_two_kinds(build: _Builder) -> None:
    """Two sets of nodes that derive each other, and a relation between them."""
    level = build.level + 1
    odd, even = build.derive((build.node,), level), build.derive((build.node,), level)
    build.add(_atom(even, X), _atom(build.marks(level), X))
    build.add(_atom(odd, Y), _atom(even, X), _atom(build.edges(level), X, Y))
    build.add(_atom(even, Y), _atom(odd, X), _atom(build.edges(level), X, Y))
    if chance(build.rng, 50):
        pair = build.derive((build.node, build.node), level)
        build.add(_atom(pair, X, Y), _atom(odd, X), _atom(even, Y), _atom(build.edges(level), X, Y))
        build.add(_atom(odd, X), _atom(pair, Y, X))


def _three_columns(build: _Builder) -> None:
    """Mutual recursion between a relation and triples of nodes."""
    base, level = build.edges(), build.level + 1
    pair = build.derive(base.kinds, level)
    triple = build.derive((build.node,) * 3, level)
    build.add(_atom(pair, X, Y), _atom(base, X, Y))
    build.add(_atom(triple, X, Y, Z), _atom(pair, X, Y), _atom(base, Y, Z), Compare(X, "!=", Z))
    build.add(_atom(pair, X, Z), _atom(triple, X, ANY, Z))
    if chance(build.rng, 50):
        build.add(_atom(pair, Y, X), _atom(triple, X, Y, Z), _atom(build.marks(level), Z))


def _guarded_closure(build: _Builder) -> None:
    """A closure with a comparison, or a negation, inside the recursion."""
    base, level = build.edges(), build.level + 1
    head = build.derive(base.kinds, level)
    guards: list[Literal] = [
        Compare(X, build.rng.choice(("<", "<=", ">", "!=")), Z),
        Not(_atom(build.edges(level), X, Z)),
        Not(_atom(build.marks(level), Y)),
        Not(_atom(build.edges(level), Y, L)),
    ]
    build.add(_atom(head, X, Y), _atom(base, X, Y))
    step = head if chance(build.rng, 40) else base
    build.add(_atom(head, X, Z), _atom(head, X, Y), _atom(step, Y, Z), build.rng.choice(guards))


def _difference(build: _Builder) -> None:
    """What one relation has and another has not, or pairs of nodes that it has not."""
    level = build.level + 1
    head = build.derive((build.node, build.node), level)
    negated = Not(_atom(build.edges(level), *build.rng.choice(((X, Y), (Y, X), (X, L), (L, Y)))))
    if chance(build.rng, 60):
        build.add(_atom(head, X, Y), _atom(build.edges(level), X, Y), negated)
    else:
        marks = build.marks(level)
        build.add(_atom(head, X, Y), _atom(marks, X), _atom(build.marks(level), Y), negated)


def _ends(build: _Builder) -> None:
    """Nodes that no edge leaves, or enters, or that no edge joins to a marked node."""
    level = build.level + 1
    head = build.derive((build.node,), level)
    terms = build.rng.choice(((X, L), (L, X), (X, X), (X, build.constant()), (X, ANY)))
    build.add(_atom(head, X), _atom(build.marks(level), X), Not(_atom(build.edges(level), *terms)))


def _switch(build: _Builder) -> None:
    """A predicate without columns: much hangs on whether it holds."""
    level = build.level + 1
    switch = build.derive((), level)
    build.add(_atom(switch), _atom(build.edges(level), X, Y), _atom(build.edges(level), Y, X),
              _atom(build.marks(level), X))  # fmt: skip
    head = build.derive((build.node, build.node), level + 1)
    held: Literal = _atom(switch) if chance(build.rng, 40) else Not(_atom(switch))
    build.add(_atom(head, X, Y), _atom(build.edges(level), X, Y), held)


def _count(build: _Builder) -> None:
    """The degree of nodes, and the nodes of some degree."""
    rng, level = build.rng, build.level + 1
    body: list[Literal] = [_atom(build.edges(level), X, Y)]
    if chance(rng, 35):
        body.append(_atom(build.marks(level), Y))
    elif chance(rng, 30):
        body.append(Not(_atom(build.edges(level), Y, X)))
    numeric = build.node is Kind.INT
    function = rng.choice(("COUNT", "COUNT", "MIN", "MAX", "SUM") if numeric else ("COUNT",))
    degree = build.derive((build.node, Kind.BIG), level, aggregate=True)
    build.add(_atom(degree, X, N), Aggregate(tuple(body), (X,), function, Y, N))
    head = build.derive((build.node,), level + 1)
    operator = rng.choice((">", "<=", "=", "!="))
    build.add(_atom(head, X), _atom(degree, X, N), Compare(N, operator, rng.choice((1, 2, 3))))


def _total(build: _Builder) -> None:
    """One number over a whole relation, and edges as long as it is small, or large."""
    rng, level = build.rng, build.level + 1
    total = build.derive((Kind.BIG,), level, aggregate=True)
    body, one = (_atom(build.edges(level), X, Y),), rng.choice((X, Y))
    if chance(rng, 40):
        body = (_atom(build.edges(level), *((X, ANY) if one == X else (ANY, Y))),)
    build.add(_atom(total, N), Aggregate(body, (), "COUNT", one, N, distinct=chance(rng, 30)))
    head = build.derive((build.node, build.node), level + 1)
    limit = Compare(N, rng.choice(("<", ">")), rng.choice((3, 6, 9)))
    build.add(_atom(head, X, Y), _atom(build.edges(level), X, Y), _atom(total, N), limit)


def _sums(build: _Builder) -> None:
    """Numbers computed of the nodes of an edge, and edges between nodes that have one in common."""
    level = build.level + 1
    if build.node is not Kind.INT:
        return _difference(build)
    sums = build.derive((build.node, Kind.BIG), level)
    value = Arithmetic(X, build.rng.choice("+-*"), Y)
    build.add(_atom(sums, X, D), _atom(build.edges(level), X, Y), Bind(value, D))
    head = build.derive((build.node, build.node), level + 1)
    build.add(_atom(head, X, Y), _atom(sums, X, D), _atom(sums, Y, D), Compare(X, "!=", Y))


def _again(build: _Builder) -> None:
    """One more hypernode that derives a predicate that is there already."""
    marks, edges = (build.node,), (build.node, build.node)
    heads = [p for p in build.schema if p.level > 0 and p.kinds in (marks, edges)]
    if not heads:
        return _closure(build)
    head = build.rng.choice(heads)
    if head.kinds == marks:
        build.add(_atom(head, X), _atom(build.edges(head.level), X, Y))
    elif chance(build.rng, 50):
        build.add(_atom(head, X, Y), _atom(build.edges(head.level), X, Y))
    else:
        base = build.edges(head.level)
        build.add(_atom(head, X, Y), _atom(base, Y, X), Not(_atom(build.marks(head.level), X)))


Template = Callable[[_Builder], None]
RECURSIVE: tuple[Template, ...] = (
    _closure, _closure, _symmetric_and_transitive, _mutual, _mutual, _reach, _reach,
    _marks_of_two_kinds, _three_columns, _guarded_closure,
)  # fmt: skip
OTHER: tuple[Template, ...] = (
    _difference, _ends, _switch, _count, _count, _total, _sums, _again, _again
)  # fmt: skip


def closure_program(rng: Random) -> Program:
    """Recursion first; then two or three times something else, mostly followed by recursion."""
    build = _Builder(rng, rng.choice((Kind.INT, Kind.INT, Kind.SYMBOL)))
    for name, arity in (("e", 2), ("f", 2), ("m", 1)):
        build.given(name, arity)
    rng.choice(RECURSIVE)(build)
    for _ in range(rng.choice((1, 1, 2))):
        rng.choice(OTHER)(build)
        if chance(rng, 60):
            rng.choice(RECURSIVE)(build)
    size = rng.randint(4, 6)
    nodes: tuple[Value, ...] = tuple(range(size)) if build.node is Kind.INT else LETTERS[:size]
    return Program(
        tuple(build.schema),
        tuple(build.rules),
        _facts(rng, build, nodes),
        seed=rng.getrandbits(32),
        symbols=LETTERS[:size],
        integers=tuple(range(size)),
    )


def _facts(rng: Random, build: _Builder, nodes: Sequence[Value]) -> dict[str, frozenset[Row]]:
    """A cyclic graph, some more edges, some marks, and a few facts of predicates of the rules."""
    graph = cyclic_graph(rng, len(nodes))
    facts: dict[str, frozenset[Row]] = {
        "e": frozenset((nodes[a], nodes[b]) for a, b in graph),
        "f": frozenset((rng.choice(nodes), rng.choice(nodes)) for _ in range(rng.choice((2, 5)))),
        "m": frozenset((node,) for node in nodes if chance(rng, 50)),
    }
    symbols, integers = LETTERS[: len(nodes)], tuple(range(len(nodes)))
    for predicate in build.schema:
        if predicate.level and not predicate.aggregate and chance(rng, 30):
            count = rng.choice((1, 2))
            rows = random_rows(rng, predicate, count, symbols, integers)
            facts[predicate.name] = frozenset(rows)
    return {name: rows for name, rows in facts.items() if rows}
