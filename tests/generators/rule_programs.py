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

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from random import Random

from generators.programs import (
    AddRule,
    Aggregate,
    Arithmetic,
    Atom,
    Bind,
    Change,
    Changes,
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
    canonical,
    chance,
    decisions,
    random_rows,
    seeds,
    shuffled,
)
from hypothesis import strategies as st
from support.closures import LETTERS, cyclic_graph
from support.hrdg import Moved, allowed

X, Y, Z, U, N, D, L = map(Var, "XYZUNDL")
ANY = Var("_")

Body = tuple[Literal, ...]


def atom(predicate: Predicate, *terms: Var | Value) -> Atom:
    return Atom(predicate.name, terms)


# ------------------------------------------------------------------------------- rules, by their head


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


# ------------------------------------------------------------------------------------------ programs


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
    rules = _as_many_as_allowed({}, wanted)
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
            rows = frozenset(_rows(rng, predicate, nodes, rng.choice((1, 2, 3))))
        if rows and not chance(rng, 8):  # without any, even its types stay open
            facts[predicate.name] = rows
    return facts


def _rows(rng: Random, predicate: Predicate, nodes: Sequence[Value], count: int) -> tuple[Row, ...]:
    symbols = tuple(node for node in nodes if isinstance(node, str))
    integers = tuple(node for node in nodes if isinstance(node, int)) or (0, 1, 2)
    return random_rows(rng, predicate, count, symbols, integers)


def _as_many_as_allowed(rules: Mapping[str, Rule], more: Sequence[Rule]) -> dict[str, Rule]:
    """Rules, and those of others, one after the other, with which they still are a program."""
    found = dict(rules)
    for rule in more:
        if rule.name not in found and allowed([*found.values(), rule]):
            found[rule.name] = rule
    return found


# ------------------------------------------------------------------------------------------- changes


def rule_changes(rng: Random, program: Program, count: int) -> list[Change]:
    """Changes of rules and facts together. Some are refused, and do not change the state."""
    state = State.of(program)
    found: list[Change] = []
    for _ in range(count):
        change = _change(rng, program, state)
        found.append(change)
        if allowed(rules_after(state, change).values()):
            state.apply(change)
    return found


def rules_after(state: State, change: Change) -> dict[str, Rule]:
    """The rules after a change, whether or not they are a program."""
    after = State(dict(state.rules), {})
    after.apply(tuple(step for step in change if isinstance(step, AddRule | DropRule)))
    return after.rules


def _change(rng: Random, program: Program, state: State) -> Change:
    pool = (*program.rules, *program.spare)
    if not state.rules:
        kept = [rule for rule in shuffled(rng, pool) if chance(rng, 75)]
        rules: list[Step] = [AddRule(rule) for rule in _as_many_as_allowed({}, kept).values()]
        return tuple(_with_facts(rng, program, state, rules, 40))
    what = rng.randrange(100)
    if what < 6:
        steps: list[Step] = [DropRule(name) for name in shuffled(rng, list(state.rules))]
        return tuple(_with_facts(rng, program, state, steps, 40))
    if what < 10:  # all of them go and come within one change, not always the same
        steps = [DropRule(name) for name in state.rules]
        kept = [rule for rule in shuffled(rng, list(state.rules.values())) if chance(rng, 85)]
        steps += [AddRule(rule) for rule in kept]
        return tuple(_with_facts(rng, program, state, steps, 40))
    if what < 20:
        return tuple(_fact_steps(rng, program, state, rng.choice((1, 2, 3))))
    return tuple(_with_facts(rng, program, state, _rule_steps(rng, pool, state), 55))


def _with_facts(
    rng: Random, program: Program, state: State, rules: list[Step], percent: int
) -> list[Step]:
    """Steps of rules and facts in any order, but what takes a rule's name after that rule went."""
    count = rng.choice((1, 1, 2, 3)) if chance(rng, percent) or not rules else 0
    steps = list(shuffled(rng, [*rules, *_fact_steps(rng, program, state, count)]))
    for index, step in enumerate(steps):
        if isinstance(step, AddRule) and DropRule(step.rule.name) in steps[index:]:
            other = steps.index(DropRule(step.rule.name))
            steps[index], steps[other] = steps[other], step
    return steps


def _rule_steps(rng: Random, pool: Sequence[Rule], state: State) -> list[Step]:
    """Mostly such that hypernodes merge or split; hardly ever such that they must be refused."""
    for _ in range(8):
        steps = _any_rule_steps(rng, pool, state)
        if chance(rng, 65):
            steps = _moving_step(rng, pool, state) + (steps if chance(rng, 40) else [])
            steps = list(dict.fromkeys(steps))
        after = rules_after(state, tuple(steps)).values()
        if steps and distinct(after) and (allowed(after) or chance(rng, 6)):
            return steps
    return [DropRule(rng.choice(list(state.rules)))]


def _moving_step(rng: Random, pool: Sequence[Rule], state: State) -> list[Step]:
    """One rule that comes or goes, if there is one, such that hypernodes merge or split."""
    absent: list[Step] = [AddRule(rule) for rule in _absent(pool, state)]
    present: list[Step] = [DropRule(name) for name in state.rules]
    for steps in (absent, present) if chance(rng, 60) else (present, absent):
        for step in shuffled(rng, steps):
            after = rules_after(state, (step,))
            if allowed(after.values()) and Moved.between(state.rules, after):
                return [step]
    return []


def _absent(pool: Sequence[Rule], state: State) -> list[Rule]:
    """Rules that could come."""
    return [
        rule
        for rule in pool
        if rule.name not in state.rules and distinct([*state.rules.values(), rule])
    ]


def _any_rule_steps(rng: Random, pool: Sequence[Rule], state: State) -> list[Step]:
    present = shuffled(rng, list(state.rules.values()))
    absent = shuffled(rng, _absent(pool, state))
    few = (0, 0, 0, 1, 1, 2, 3) if len(present) > 3 else (0, 0, 1)
    drops = present[: rng.choice(few)]
    adds = list(absent[: rng.choice((0, 1, 1, 2, 3))])
    replaced: Sequence[Rule] = ()
    if chance(rng, 15):  # another rule, or the same one, under a name that is taken
        replaced = present[len(drops) :][:1]
        adds += [replace(rng.choice(pool), name=rule.name) for rule in replaced]
    steps: list[Step] = [*(DropRule(rule.name) for rule in (*drops, *replaced))]
    steps += [AddRule(rule) for rule in adds]
    return steps or _any_rule_steps(rng, pool, state)


def _fact_steps(rng: Random, program: Program, state: State, count: int) -> list[Step]:
    """No fact is in two of them."""
    open_to_facts = [p for p in program.schema if not p.aggregate]
    explicit = [p for p in open_to_facts if p.level == 0]
    steps: list[Step] = []
    touched: set[tuple[str, Row]] = set()
    for _ in range(count):
        predicate = rng.choice([*explicit * 2, *open_to_facts])
        present = sorted(state.rows(predicate.name), key=repr)
        nodes: tuple[Value, ...] = program.integers
        if Kind.SYMBOL in predicate.kinds:
            nodes = program.symbols
        rows = _rows(rng, predicate, nodes, rng.choice((1, 1, 2, 3)))
        step: Insert | Delete = Insert(predicate.name, rows)
        if present and chance(rng, 55):
            gone = present if chance(rng, 12) else present[: rng.choice((1, 1, 2, 3))]
            step = Delete(predicate.name, tuple(shuffled(rng, gone)))
        if touched.isdisjoint((predicate.name, row) for row in step.rows):
            touched |= {(predicate.name, row) for row in step.rows}
            steps.append(step)
    return steps


# ------------------------------------------------------------------------------- what hypothesis draws


@dataclass(frozen=True)
class Recipe:
    """A seed, and what to leave out of what comes of it. With other salt, it is another program."""

    seed: int
    keep: tuple[int, ...] = field(repr=False)

    def random(self, salt: str) -> Random:
        return Random(f"{self.seed} {salt}")

    def program(self, salt: str) -> Program:
        return self._program(self.random(salt), self._decisions())

    def sequence(self, salt: str, count: int) -> tuple[Program, Changes]:
        """A program, and changes to make to it."""
        rng, decide = self.random(salt), self._decisions()
        program = self._program(rng, decide)
        changes = rule_changes(rng, program, count)
        return program, _possible(program, changes, decide.keep)

    def _decisions(self) -> _Decisions:
        return _Decisions(list(self.keep))

    def _program(self, rng: Random, decide: _Decisions) -> Program:
        """Without the rules and facts that were decided against."""
        program = rule_program(rng)
        kept = [rule for rule in program.rules if decide.keep()] or list(program.rules[:1])
        facts = {
            name: frozenset(row for row in sorted(rows, key=repr) if decide.keep())
            for name, rows in program.facts.items()
        }
        facts = {name: rows for name, rows in facts.items() if rows}
        return replace(program, rules=tuple(kept), facts=facts)


recipes = st.builds(lambda seed, decided: Recipe(seed, tuple(decided.remaining)), seeds, decisions)


def _possible(program: Program, changes: Sequence[Change], keep: Callable[[], bool]) -> Changes:
    """Without the steps decided against, nor those that cannot be done without these."""
    state = State.of(program)
    found = Changes()
    for change in changes:
        names = set(state.rules)
        steps: list[Step] = []
        for step in change:
            if not keep():
                continue
            if isinstance(step, AddRule):
                if step.rule.name in names:
                    continue
                names.add(step.rule.name)
            elif isinstance(step, DropRule):
                if step.name not in names:
                    continue
                names.remove(step.name)
            steps.append(step)
        if not distinct(rules_after(state, tuple(steps)).values()):
            steps = [step for step in steps if not isinstance(step, AddRule)]
        if steps:
            found.append(tuple(steps))
            if allowed(rules_after(state, tuple(steps)).values()):
                state.apply(tuple(steps))
    return found
