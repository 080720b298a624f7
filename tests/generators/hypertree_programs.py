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

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, pairwise
from random import Random
from typing import Any

from generators.programs import (
    OPERATORS,
    AddRule,
    Aggregate,
    Arithmetic,
    Atom,
    Bind,
    Change,
    Compare,
    Delete,
    DropRule,
    Expression,
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
    Term,
    Value,
    Var,
    _change,
    _Decisions,
    chance,
    decisions,
    random_rows,
    seeds,
    shuffled,
)
from generators.rule_programs import ANY, atom, rules_after
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from support.closures import LETTERS
from support.oracle import binding_variables, extensions

X, Y, Z, N, L = map(Var, "XYZNL")
VARIABLES = tuple(map(Var, "XYZUVWSTR"))  # of a shape; what is added to it is F, L, D

# ------------------------------------------------------------------------------------------ shapes

Edges = list[tuple[int, int]]
"""Between the numbers of variables."""


def cycle(length: int) -> Edges:
    return [(i, (i + 1) % length) for i in range(length)]


def _petal(rng: Random) -> Edges:
    """Two or three paths of two steps from 0 to 1."""
    return [edge for middle in range(2, rng.choice((4, 5))) for edge in ((0, middle), (middle, 1))]


def _flower(rng: Random) -> Edges:
    """Two cycles that share 0, and a tail that begins there."""
    found: Edges = []
    last = 0
    for length in rng.choice(((3, 3), (3, 3), (3, 4))):
        nodes = [0, *range(last + 1, last + length)]
        found += list(zip(nodes, [*nodes[1:], 0], strict=True))
        last += length - 1
    tail = [0, *range(last + 1, last + 1 + rng.choice((1, 1, 2)))]
    return found + list(pairwise(tail))


SHAPES: dict[str, Callable[[Random], Edges]] = {
    "triangle": lambda _: cycle(3),
    "square": lambda _: cycle(4),
    "pentagon": lambda _: cycle(5),
    "hexagon": lambda _: cycle(6),
    "clique": lambda _: list(combinations(range(4), 2)),
    "petal": _petal,
    "flower": _flower,
}


def shape_of(rule: Rule) -> str | None:
    """What a rule was made from, by its name; None is no cycle."""
    shape = rule.name.rstrip("0123456789")
    return shape if shape in SHAPES else None


def is_cyclic(body: Iterable[Literal]) -> bool:
    """Whether variables that stand alone, and atoms within others, can be taken away to the end."""
    edges = [_named(literal.terms) for literal in body if isinstance(literal, Atom)]
    while True:
        count = Counter(variable for edge in edges for variable in edge)
        lonely = [frozenset(v for v in edge if count[v] > 1) for edge in edges]
        kept = [e for i, e in enumerate(lonely) if not _within(e, lonely[:i], lonely[i + 1 :])]
        if kept == edges:
            return bool(edges)
        edges = kept


def _within(
    edge: frozenset[Var], before: list[frozenset[Var]], after: list[frozenset[Var]]
) -> bool:
    """Of equal ones, the last stays; what has no variables left goes."""
    return not edge or any(edge < other for other in before) or any(edge <= e for e in after)


def _named(terms: Iterable[Term]) -> frozenset[Var]:
    return frozenset(t for t in terms if isinstance(t, Var) and not t.anonymous)


def outline(rule: Rule) -> object:
    """The same for rules that differ only in variable names and the order of the body.

    Some others may have it in common, too; `programs.canonical` is exact, but tries all orders.
    """
    parts = [rule.head, *rule.body]
    colours: dict[str, int] = {}
    for _ in range(2):
        seen: dict[str, list[int]] = {}
        for index, part in enumerate(parts):
            kind = ("head" if index == 0 else "") + _outline(part, colours)
            for place, variable in enumerate(_variables(part)):
                seen.setdefault(variable, []).append(hash((kind, place)))
        colours = {variable: hash(tuple(sorted(found))) for variable, found in seen.items()}
    return _outline(rule.head, colours), tuple(sorted(_outline(p, colours) for p in rule.body))


def _outline(part: object, colours: dict[str, int]) -> str:
    if isinstance(part, Var):
        return part.name if part.anonymous else f"V{colours.get(part.name, '')}"
    if isinstance(part, tuple):
        return ",".join(_outline(each, colours) for each in part)
    fields = getattr(part, "__dataclass_fields__", None)
    if fields is None:
        return repr(part)
    inner = ",".join(_outline(getattr(part, name), colours) for name in fields)
    return f"{type(part).__name__}({inner})"


def _variables(part: object) -> list[str]:
    """The names of all variables of a part of a rule, in order."""
    if isinstance(part, Var):
        return [] if part.anonymous else [part.name]
    if isinstance(part, tuple):
        return [name for each in part for name in _variables(each)]
    fields = getattr(part, "__dataclass_fields__", ())
    return [name for field_ in fields for name in _variables(getattr(part, field_))]


def distinct(rules: Iterable[Rule]) -> bool:
    """Whether surely no two rules say the same: the second would be taken for the first one."""
    outlines = [outline(rule) for rule in rules]
    return len(set(outlines)) == len(outlines)


# ------------------------------------------------------------------------------------- cyclic rules


@dataclass
class _Pool:
    """The predicates, and all rules that a program may have."""

    rng: Random
    kind: Kind
    nodes: tuple[Value, ...]
    edges: list[Predicate] = field(default_factory=list)
    triples: list[Predicate] = field(default_factory=list)
    marks: list[Predicate] = field(default_factory=list)
    below: list[Predicate] = field(default_factory=list)
    beside: list[Predicate] = field(default_factory=list)
    heads: list[Predicate] = field(default_factory=list)
    above: list[Predicate] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)
    spare: set[str] = field(default_factory=set)

    @property
    def schema(self) -> tuple[Predicate, ...]:
        lists = (self.edges, self.triples, self.marks, self.below, self.beside, self.heads)
        return (*(predicate for some in lists for predicate in some), *self.above)

    def predicate(self, name: str, arity: int, level: int) -> Predicate:
        return Predicate(name, (self.kind,) * arity, level)

    def edge(self) -> Predicate:
        return self.rng.choice(self.edges)

    def constant(self) -> Value:
        return self.rng.choice(self.nodes[:3])

    def add(
        self, head: Atom, body: Sequence[Literal], name: str = "r", spare: bool = False
    ) -> None:
        """Leaves out a rule that is there under another name."""
        rule = Rule(f"{name}{len(self.rules) + 1}", head, shuffled(self.rng, body))
        if distinct([*self.rules, rule]):
            self.rules.append(rule)
            if spare:
                self.spare.add(rule.name)

    def reading(self, predicate: Predicate, *variables: Var) -> Atom:
        """An atom with these variables in some of its columns; the others do not matter."""
        places = [i for i, kind in enumerate(predicate.kinds) if kind is self.kind]
        found: list[Term] = [ANY] * len(predicate.kinds)
        chosen = self.rng.sample(places, min(len(places), len(variables)))
        for place, variable in zip(chosen, variables, strict=False):
            found[place] = variable
        return Atom(predicate.name, tuple(found))


@dataclass
class _Cyclic:
    """One cyclic rule, as it is put together."""

    pool: _Pool
    recursive: Predicate | None
    atoms: list[Atom] = field(default_factory=list)
    others: list[Literal] = field(default_factory=list)
    computed: list[Var] = field(default_factory=list)

    @property
    def rng(self) -> Random:
        return self.pool.rng

    @property
    def bound(self) -> list[Var]:
        return binding_variables(self.atoms)

    def draw(self, edges: Edges) -> None:
        """Atoms for the edges, and now and then something added to them or replaced."""
        rng = self.rng
        given = [*self.pool.edges, *self.pool.edges, *self.pool.below]
        palette = rng.choices(given, k=rng.choice((1, 1, 2, 3)))
        palette += self.pool.beside if chance(rng, 60) else []
        forward = chance(rng, 35)
        for one, two in edges:
            ends = (VARIABLES[one], VARIABLES[two])
            ends = ends if forward or chance(rng, 50) else ends[::-1]
            if self.pool.triples and chance(rng, 15):
                self.atoms.append(self._triple(ends))
            else:
                self.atoms.append(atom(rng.choice(palette), *ends))
        self._twist()
        if self.recursive:
            self._recur(self.recursive)

    def _triple(self, ends: tuple[Var, ...]) -> Atom:
        thirds: list[Term] = [Var("F1"), Var("F2"), ANY, self.pool.constant(), ends[0], *self.bound]
        terms = shuffled(self.rng, [*ends, self.rng.choice(thirds)])
        return Atom(self.pool.triples[0].name, terms)

    def _twist(self) -> None:
        rng, pool = self.rng, self.pool
        if chance(rng, 7):  # two variables become one
            one, two = rng.sample(self.bound, 2)
            self._replace(one, two, len(self.atoms))
        if chance(rng, 12):  # in one atom, or wherever it stands
            one = rng.choice(self.bound)
            self._replace(one, pool.constant(), 1 if chance(rng, 60) else len(self.atoms))
        if chance(rng, 8):
            one = rng.choice(self.bound)
            self.atoms.append(atom(pool.edge(), one, one))
        if chance(rng, 12):
            self.atoms.append(atom(pool.edge(), rng.choice(self.bound), pool.constant()))
        if chance(rng, 15):
            end = rng.choice((ANY, Var("F3"), Var("F3")))
            self.atoms.append(atom(pool.edge(), *shuffled(rng, [rng.choice(self.bound), end])))
        if pool.marks and chance(rng, 25):
            self.atoms.append(atom(pool.marks[0], rng.choice(self.bound)))

    def _replace(self, variable: Var, term: Term, count: int) -> None:
        """In so many of the atoms that have the variable."""
        having = [i for i, found in enumerate(self.atoms) if variable in found.terms]
        for i in shuffled(self.rng, having)[:count]:
            terms = tuple(term if t == variable else t for t in self.atoms[i].terms)
            self.atoms[i] = replace(self.atoms[i], terms=terms)

    def _recur(self, head: Predicate) -> None:
        """The head's predicate in the place of an edge or two, or beside the edges."""
        rng = self.rng
        binary = [i for i, found in enumerate(self.atoms) if len(found.terms) == 2]
        for place in rng.sample(binary, min(len(binary), rng.choice((1, 1, 1, 2)))):
            if len(head.kinds) == 2 and head.kinds[0] is head.kinds[1]:
                self.atoms[place] = replace(self.atoms[place], predicate=head.name)
            else:
                variables = rng.sample(self.bound, min(len(self.bound), rng.choice((1, 2, 3))))
                self.atoms.append(self.pool.reading(head, *variables))
                break

    def restrict(self) -> None:
        """Comparisons, a negation and a binding that nothing but a comparison reads."""
        rng = self.rng
        for percent in (45, 12):
            if chance(rng, percent):
                self.others.append(self._comparison())
        if chance(rng, 40):
            self.others.append(self._negation("L1"))
            if chance(rng, 15):
                self.others.append(self._negation("L2"))
        if chance(rng, 22):
            left = self._binding(Var("E"))
            operator = rng.choice(("<", "!=", "=", ">="))
            right = rng.choice((*self.bound, *self.bound, self.pool.constant()))
            self.others += [left, Compare(left.variable, operator, right)]
        elif self.pool.kind is Kind.INT and chance(rng, 7):  # a binding of what is bound
            self.others.append(Bind(self._sum(), rng.choice(self.bound)))

    def _comparison(self) -> Compare:
        rng = self.rng
        one, two = rng.sample(self.bound * 2, 2)
        right: Expression = two if one != two and chance(rng, 80) else self.pool.constant()
        if self.pool.kind is Kind.INT and chance(rng, 12):
            right = Arithmetic(right, rng.choice("+-"), 1)
        return Compare(one, rng.choice(("!=", "<", *OPERATORS)), right)

    def _negation(self, local: str) -> Not:
        rng, pool = self.rng, self.pool
        predicate = rng.choice([*pool.edges, *pool.marks, *pool.triples, *pool.below * 2])
        terms: list[Term] = [rng.choice(self.bound) for _ in predicate.kinds]
        if len(terms) > 1 and chance(rng, 45):
            terms[rng.randrange(len(terms))] = rng.choice((Var(local), ANY, pool.constant()))
        return Not(Atom(predicate.name, tuple(terms)))

    def _binding(self, variable: Var) -> Bind:
        """Arithmetic where there are numbers, otherwise another name for a node."""
        if self.pool.kind is Kind.INT:
            return Bind(self._sum(), variable)
        return Bind(self.rng.choice(self.bound), variable)

    def _sum(self) -> Arithmetic:
        one = self.rng.choice(self.bound)
        return Arithmetic(one, self.rng.choice("+-*"), self.rng.choice((*self.bound, 1, 2)))

    def head(self, predicate: Predicate) -> Atom:
        """Different variables as far as there are any; what is computed is bound here."""
        rng, pool = self.rng, self.pool
        variables = [*shuffled(rng, self.bound), *rng.choices(self.bound, k=len(predicate.kinds))]
        terms: list[Term] = []
        for place, kind in enumerate(predicate.kinds):
            if kind is not pool.kind:
                self.others.append(self._binding(Var("D")))
                terms.append(Var("D"))
            elif chance(rng, 7):
                terms.append(pool.constant())
            elif chance(rng, 5):
                self.others.append(Bind(variables[place], Var(f"C{place}")))
                terms.append(Var(f"C{place}"))
            else:
                terms.append(variables[place])
        return Atom(predicate.name, tuple(terms))


def _cyclic_rule(pool: _Pool, head: Predicate | None, recursive: bool) -> Predicate:
    """Adds a cyclic rule for this head, or for a new one that fits the rule.

    Only what has a head at first can be recursive at once.
    """
    rng = pool.rng
    shape = rng.choice(tuple(SHAPES))
    edges = SHAPES[shape](rng)
    while True:
        rule = _Cyclic(pool, head if recursive else None)
        rule.draw(edges)
        if is_cyclic(rule.atoms):
            break
    rule.restrict()
    head = head or _head(pool, len(rule.bound))
    chosen = rule.head(head)
    pool.add(chosen, [*rule.atoms, *rule.others], shape)
    return head


def _head(pool: _Pool, variables: int) -> Predicate:
    """With none, one, two, three or all of the variables, and perhaps something computed."""
    rng = pool.rng
    arity = rng.choice((0, *(1,) * 5, *(2,) * 9, 3, 3, variables, variables, variables))
    kinds = [pool.kind] * arity
    if arity and pool.kind is Kind.INT and chance(rng, 22):
        kinds.insert(rng.randrange(arity + 1), Kind.BIG)
    pool.heads.append(Predicate("pqP"[len(pool.heads)], tuple(kinds), 2))
    return pool.heads[-1]


# ----------------------------------------------------------------------------------------- programs


def hypertree_program(rng: Random) -> Program:
    """Some 3 to 10 rules, the first of which is cyclic and not spare; some others are spare."""
    kind = rng.choice((Kind.INT, Kind.INT, Kind.SYMBOL))
    size = rng.choice((4, 5, 5, 6, 7))
    nodes: tuple[Value, ...] = tuple(range(size)) if kind is Kind.INT else LETTERS[:size]
    pool = _Pool(rng, kind, nodes)
    _given(pool)
    first = _cyclic_rule(pool, _head(pool, 3) if chance(rng, 40) else None, chance(rng, 55))
    _beside(pool, first)
    for spare in (*rng.choice(((), (), (False,))), *rng.choice(((), (True,), (True, True)))):
        before = len(pool.rules)
        _cyclic_rule(pool, first, chance(rng, 40))
        pool.spare |= {rule.name for rule in pool.rules[before:] if spare}
    if chance(rng, 15):
        _cyclic_rule(pool, None, False)
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


def _given(pool: _Pool) -> None:
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


def _beside(pool: _Pool, head: Predicate) -> None:
    """Edges that the cyclic rules read, and that may be read off their head: now, later or never."""
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


def _bases(pool: _Pool, head: Predicate) -> None:
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


def _reader(pool: _Pool, name: str, head: Predicate) -> tuple[Atom, list[Literal]]:
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


def _facts(pool: _Pool, rules: Sequence[Rule]) -> Facts:
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


# ------------------------------------------------------------------------------------------ changes


@dataclass(frozen=True)
class Replace:
    """Let these be all explicit facts of a predicate."""

    predicate: str
    rows: tuple[Row, ...]

    def change(self, state: State) -> Change:
        """The same as what goes and what comes."""
        gone = state.rows(self.predicate).difference(self.rows)
        return Delete(self.predicate, tuple(gone)), Insert(self.predicate, self.rows)

    def __str__(self) -> str:
        return f"replace all of {self.predicate} by {self.rows}"


@dataclass(frozen=True)
class Reopen:
    """Close the file and open it in another way."""

    hypertree: bool | str
    modules: bool

    def __str__(self) -> str:
        return f"reopen: hypertree={self.hypertree}, modules={self.modules}"


Act = Change | Replace | Reopen


class Acts(list[Act]):
    """What to do, one after the other."""

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(f"<{len(self)} acts, see the text below>")


REOPENED = (False, "auto", True)
"""What a file that was opened with True is opened with next."""


def hypertree_acts(rng: Random, program: Program, count: int, reopened: int) -> Acts:
    """So many changes, each in the light of those before it, and so many pauses among them."""
    state = State.of(program)
    gone: dict[str, frozenset[Row]] = {}
    found = Acts()
    for _ in range(count):
        act = _act(rng, program, state, gone)
        change = act.change(state) if isinstance(act, Replace) else act
        for step in change:
            if isinstance(step, Delete):
                gone[step.predicate] = frozenset(step.rows)
        state.apply(change)
        found.append(act)
    for number in range(reopened):
        place = (number + 1) * (count + reopened) // (reopened + 1)
        found.insert(place, Reopen(REOPENED[number % len(REOPENED)], chance(rng, 50)))
    return found


def _act(
    rng: Random, program: Program, state: State, gone: dict[str, frozenset[Row]]
) -> Change | Replace:
    """Facts or rules as in all programs; the cyclic rules, or those they meet beside; or all facts."""
    what = rng.randrange(100)
    steps: list[Step] = []
    pool = (*program.rules, *program.spare)
    if what < 18:
        steps = _come_or_go(rng, [rule for rule in pool if shape_of(rule)], state)
    elif what < 30:
        heads = {rule.head.predicate for rule in pool if shape_of(rule)}
        steps = _come_or_go(rng, [r for r in pool if r.name[0] == "r" and _reads(r, heads)], state)
    elif what < 45:
        steps = _another(rng, pool, state)
    elif what < 57:
        return _replaced(rng, program, state)
    if steps and distinct(rules_after(state, tuple(steps)).values()):
        if chance(rng, 35):  # with facts in the same change
            steps += _change(rng, program, state, gone, False)
        return tuple(steps)
    change = _change(rng, program, state, gone, True)
    if distinct(rules_after(state, change).values()):
        return change
    return _change(rng, program, state, gone, False)


def _reads(rule: Rule, predicates: set[str]) -> bool:
    """Whether a rule beside the cyclic ones, not one above them, reads one of these."""
    below = {"d", *predicates}
    atoms = [literal for literal in rule.body if isinstance(literal, Atom)]
    return rule.head.predicate in below and any(a.predicate in predicates for a in atoms)


def _come_or_go(rng: Random, pool: Sequence[Rule], state: State) -> list[Step]:
    """One of these rules, rather one that is not there."""
    absent: list[Step] = [AddRule(rule) for rule in pool if rule.name not in state.rules]
    present: list[Step] = [DropRule(rule.name) for rule in pool if rule.name in state.rules]
    options = absent * 2 + present
    return [rng.choice(options)] if options else []


def _another(rng: Random, pool: Sequence[Rule], state: State) -> list[Step]:
    """In the place of a cyclic rule, under its name, one that lost a literal, or a spare one."""
    present = [rule for name, rule in state.rules.items() if shape_of(rule)]
    if not present:
        return []
    rule = rng.choice(present)
    alike = [r for r in pool if r.head.predicate == rule.head.predicate and r.name != rule.name]
    alike = [r for r in alike if shape_of(r) and r.name not in state.rules]
    shorter = [replace(rule, body=body) for body in _shorter(rule)]
    options = alike if alike and chance(rng, 50) else shorter or alike
    if not options:
        return []
    return [DropRule(rule.name), AddRule(replace(rng.choice(options), name=rule.name))]


def _shorter(rule: Rule) -> list[tuple[Literal, ...]]:
    """The body without a literal, where every variable that is left is bound as before."""
    bound = set(binding_variables(rule.body))
    found: list[tuple[Literal, ...]] = []
    for place in range(len(rule.body)):
        body = (*rule.body[:place], *rule.body[place + 1 :])
        left = {Var(name) for name in _variables((rule.head, *body))}
        atoms = any(isinstance(literal, Atom) for literal in body)
        if atoms and left & bound <= set(binding_variables(body)):
            found.append(body)
    return found


def _replaced(rng: Random, program: Program, state: State) -> Replace:
    open_to_facts = [p for p in program.schema if p.kinds and not p.aggregate and p.level < 3]
    given = [p for p in open_to_facts if p.level == 0]
    predicate = rng.choice(given * 2 + open_to_facts)
    kept = [row for row in sorted(state.rows(predicate.name), key=repr) if chance(rng, 70)]
    count = rng.choice((1, 2, 4))
    more = random_rows(rng, predicate, count, program.symbols, program.integers)
    return Replace(predicate.name, tuple(dict.fromkeys((*kept, *more))))


# ------------------------------------------------------------------------------ what hypothesis draws


@st.composite
def hypertree_programs(draw: DrawFn) -> Program:
    """A program with cyclic rules, and its facts."""
    return _reduced(hypertree_program(Random(draw(seeds))), draw(decisions), 96)


@st.composite
def hypertree_sequences(
    draw: DrawFn, min_changes: int = 3, max_changes: int = 6, reopened: int = 0
) -> tuple[Program, Acts]:
    """A program and what to do to it; where it is reopened, that is a part of it."""
    rng = Random(draw(seeds))
    decide = draw(decisions)
    program = _reduced(hypertree_program(rng), decide, 88)
    acts = hypertree_acts(rng, program, rng.randint(min_changes, max_changes), reopened)
    return program, _possible(program, acts, decide)


def _reduced(program: Program, decide: _Decisions, percent: int) -> Program:
    """Without the rules and facts that were decided against; these rules are spare."""
    decided = [(rule, decide.keep(percent)) for rule in program.rules]
    kept = [rule for rule, keep in decided if keep] or list(program.rules[:1])
    facts = {
        name: frozenset(row for row in sorted(rows, key=repr) if decide.keep(98))
        for name, rows in program.facts.items()
    }
    facts = {name: rows for name, rows in facts.items() if rows}
    spare = tuple(rule for rule in program.rules if rule not in kept)
    return replace(program, rules=tuple(kept), facts=facts, spare=spare + program.spare)


def _possible(program: Program, acts: Acts, decide: _Decisions) -> Acts:
    """Without the steps decided against, nor those that cannot be done without these."""
    state = State.of(program)
    found = Acts()
    for act in acts:
        if not isinstance(act, tuple):
            if decide.keep():
                found.append(act)
                state.apply(act.change(state) if isinstance(act, Replace) else ())
            continue
        steps = _possible_steps([step for step in act if decide.keep(97)], set(state.rules))
        if not distinct(rules_after(state, tuple(steps)).values()):
            steps = [step for step in steps if isinstance(step, Insert | Delete)]
        if steps:
            found.append(tuple(steps))
            state.apply(tuple(steps))
    return found


def _possible_steps(steps: Sequence[Step], names: set[str]) -> list[Step]:
    found: list[Step] = []
    for step in steps:
        name = step.rule.name if isinstance(step, AddRule) else getattr(step, "name", None)
        if isinstance(step, AddRule | DropRule):
            if isinstance(step, AddRule) == (name in names):
                continue
            names ^= {name}
        found.append(step)
    return found
