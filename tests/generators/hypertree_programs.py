"""Random programs with cyclic rules, whose bodies are worth a decomposition; and changes to them.

A rule is cyclic if the graph of its body's variables is: triangles, cycles of four to six, cliques
of four, petals (two or three paths of two steps between the same ends) and flowers (cycles through
one centre, with a tail). Such a rule is named after its shape, all others are named r1, r2, ... Its
edges point anywhere and come from few predicates, given, derived below, or derived beside it, now
and then of three columns, with constants or one variable twice. With the edges come comparisons,
negations and bindings; and there are heads with none, some or all of the variables.

Levels are as in `programs`: 0 is given, 1 (n) is derived below, 2 has the heads of the cyclic rules
(p, q) and edges beside them (d), all of which may depend on one another, 3 reads the result.
Negation and aggregates look only at lower levels, and arithmetic reads only nodes and writes only
columns that it never reads. So each subset of the rules is a program, whatever is recursive.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from generators.cyclic_rules import Pool, cyclic_rule, random_head
from generators.hypertree_shapes import L, N, X, Y, Z, shape_of
from generators.programs import (
    Aggregate,
    Atom,
    Compare,
    Facts,
    Kind,
    Literal,
    Not,
    Predicate,
    Program,
    Row,
    Rule,
    Term,
    Value,
)
from generators.random_programs import random_rows
from generators.random_rules import chance, shuffled
from generators.rule_programs import ANY, atom
from support.closures import LETTERS
from support.oracle import extensions


def hypertree_program(rng: Random) -> Program:
    """Some 3 to 10 rules, the first of which is cyclic and not spare; some others are spare."""
    kind = rng.choice((Kind.INT, Kind.INT, Kind.SYMBOL))
    size = rng.choice((4, 5, 5, 6, 7))
    nodes: tuple[Value, ...] = tuple(range(size)) if kind is Kind.INT else LETTERS[:size]
    pool = Pool(rng, kind, nodes)
    _given(pool)
    first = cyclic_rule(pool, random_head(pool, 3) if chance(rng, 40) else None, chance(rng, 55))
    _beside(pool, first)
    for spare in (*rng.choice(((), (), (False,))), *rng.choice(((), (True,), (True, True)))):
        before = len(pool.rules)
        cyclic_rule(pool, first, chance(rng, 40))
        pool.spare |= {rule.name for rule in pool.rules[before:] if spare}
    if chance(rng, 15):
        cyclic_rule(pool, None, False)
    _bases(pool, first)
    for name in ("u", "v")[: rng.choice((1, 1, 2))]:
        pool.add(*_reader(pool, name, rng.choice(pool.heads)))
    rules = tuple(rule for rule in pool.rules if rule.name not in pool.spare)
    return Program(
        pool.schema,
        rules,
        _facts(pool, rules),
        tuple(rule for rule in pool.rules if rule.name in pool.spare),
        rng.getrandbits(32),
        LETTERS[:size],
        tuple(range(size)),
    )


def _given(pool: Pool) -> None:
    rng = pool.rng
    pool.edges = [
        pool.predicate(name, 2, 0) for name in ("e", "f", "h")[: rng.choice((1, 2, 2, 3))]
    ]
    if chance(rng, 30):
        pool.triples = [pool.predicate("g", 3, 0)]
    if chance(rng, 35):
        pool.marks = [pool.predicate("m", 1, 0)]
    if chance(rng, 30):
        below = pool.predicate("n", 2, 1)
        pool.below = [below]
        bodies: list[tuple[Literal, ...]] = [
            (atom(pool.edge(), Y, X),),
            (atom(pool.edge(), X, Z), atom(pool.edge(), Z, Y)),
            (atom(pool.edge(), X, Y), Compare(X, "!=", Y)),
            (atom(pool.edge(), X, Y), Not(atom(pool.edge(), Y, X))),
        ]
        pool.rules.append(Rule("r0", atom(below, X, Y), rng.choice(bodies)))
    if chance(rng, 45):
        pool.beside = [pool.predicate("d", 2, 2)]


def _beside(pool: Pool, head: Predicate) -> None:
    """Edges that cyclic rules read, and that may be read off their head: now, later or never."""
    rng = pool.rng
    if not pool.beside:
        return
    beside = pool.beside[0]
    pool.add(atom(beside, X, Y), [atom(pool.edge(), *rng.choice(((X, Y), (Y, X))))])
    back = pool.reading(head, X, Y)
    missing = [v for v in (X, Y) if v not in back.terms]
    body: list[Literal] = [back]
    if missing or chance(rng, 20):
        body.append(atom(pool.edge(), X, Y))
    pool.add(atom(beside, X, Y), body, spare=chance(rng, 60))


def _bases(pool: Pool, head: Predicate) -> None:
    """A simple rule for a head of a cyclic one, in most programs."""
    rng = pool.rng
    if chance(rng, 45):
        nodes = [rng.choice((X, Y, Y, X, pool.constant())) for _ in head.kinds]
        terms = [
            term if kind is pool.kind else rng.randrange(3)
            for term, kind in zip(nodes, head.kinds, strict=True)
        ]
        body: list[Literal] = [atom(pool.edge(), X, Y)]
        if chance(rng, 30):
            body.append(Compare(X, "<", Y))
        pool.add(Atom(head.name, tuple(terms)), body, spare=chance(rng, 20))


def _reader(pool: Pool, name: str, head: Predicate) -> tuple[Atom, list[Literal]]:
    """What reads the result."""
    rng, e = pool.rng, pool.edge()
    columns = sum(kind is pool.kind for kind in head.kinds)
    shapes: list[tuple[tuple[Term, ...], list[Literal]]] = [
        ((X, Y), [atom(e, X, Y), pool.reading(head, X)]),
        ((X, Y), [atom(e, X, Y), Not(pool.reading(head, X))]),
        ((X,), [atom(e, X, ANY), Not(pool.reading(head, X, L))]),
    ]
    if columns:
        shapes += [((X,), [pool.reading(head, X)])]
    if columns > 1:
        shapes += [((X, Y), [pool.reading(head, X, Y), Compare(X, "!=", Y)])]
        shapes += [((X, Z), [pool.reading(head, X, Y), atom(e, Y, Z)])]
        counted = Aggregate((pool.reading(head, X, Y),), (X,), "COUNT", Y, N)
        shapes += [((X, N), [counted])] * 2
    terms, body = rng.choice(shapes)
    kinds = tuple(Kind.BIG if term == N else pool.kind for term in terms)
    pool.above.append(Predicate(name, kinds, 3, aggregate=N in terms))
    return Atom(name, terms), body


def _facts(pool: Pool, rules: Sequence[Rule]) -> Facts:
    """Graphs with two or three edges from each node, and facts of what is also derived."""
    rng, size = pool.rng, len(pool.nodes)
    integers = tuple(range(size))
    facts: dict[str, frozenset[Row]] = {}
    degree = rng.choice((1.6, 2, 2.4, 2.8, 3.2))
    if any(shape_of(rule) == "clique" for rule in rules):
        degree += 0.8
    for predicate in (*pool.edges, *pool.triples, *pool.marks):
        count = round(size * (degree, degree, 2 * degree)[len(predicate.kinds) - 1])
        count = count if len(predicate.kinds) > 1 else size // 2
        rows = random_rows(rng, predicate, round(count * 1.2), LETTERS[:size], integers)
        facts[predicate.name] = frozenset(rows[:count])
    if pool.edges and chance(rng, 30):  # there and back
        name = pool.edge().name
        facts[name] |= {row[::-1] for row in facts[name]}
    every = extensions(rules, facts)
    for predicate in (*pool.below, *pool.beside, *pool.heads):
        rows = ()
        if chance(rng, 35):
            derived = sorted(every.get(predicate.name, ()), key=repr)
            rows += shuffled(rng, derived)[: rng.choice((1, 2))]
        if predicate.kinds and chance(rng, 35):
            rows += random_rows(rng, predicate, rng.choice((1, 2, 3)), LETTERS[:size], integers)
        facts[predicate.name] = frozenset(rows)
    return {name: rows for name, rows in facts.items() if rows}
