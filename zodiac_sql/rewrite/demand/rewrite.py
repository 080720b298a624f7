"""The rules that derive what goals ask for, made of rules that would derive everything.

Magic sets. For goals `samegen(a, Y)` and rules

    samegen(X, Y) :- flat(X, Y).
    samegen(X, Y) :- up(X, U), samegen(U, V), down(V, Y).

the first column is known: what is derived is `samegen bf`, for the values in `asked bf`:

    asked bf(a) :- always.
    asked bf(U) :- asked bf(X), up(X, U).
    samegen bf(X, Y) :- asked bf(X), flat(X, Y).
    samegen bf(X, Y) :- asked bf(X), up(X, U), samegen bf(U, V), down(V, Y).

A predicate under a negation or an aggregate is asked for in the same way; groups are asked for by
the variables of the group. A predicate with MIN or MAX is asked for by its group, never by its
value.

Rule: a predicate is asked for as a whole, under its own name, where nothing is known of an atom,
or where rules that ask would bring negation, aggregation or MIN and MAX into a cycle.
Reason: the answer is the same, and only more is derived. The rules that were given are stratified,
so there is an end to that.

The rules are ordinary ones, and evaluated as such. A predicate that has facts besides those of the
rules is read under its own name by a rule that brings those asked for to `samegen bf`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from zodiac_sql.graph.digraph import strong_components
from zodiac_sql.graph.rule_graph import RuleGraph, components, negative_cycles, rule_graph
from zodiac_sql.language.functions import Functions
from zodiac_sql.language.syntax import (
    Aggregate,
    Atom,
    Best,
    Literal,
    Negation,
    Rule,
    Term,
    Type,
    Variable,
)
from zodiac_sql.language.types import body_types, expression_type
from zodiac_sql.names import ALWAYS, asked, demanded, steps
from zodiac_sql.rewrite.demand.closures import Closure, closures_among
from zodiac_sql.rewrite.demand.passing import Passed, passing

Body = tuple[Literal, ...]


@dataclass(frozen=True, slots=True)
class Asking:
    """Goals, of which each of the `choices` is an alternative, and rules that they ask."""

    choices: Sequence[Body]
    rules: Sequence[Rule]
    columns: Mapping[str, Sequence[Type | None]]
    """The types of all predicates."""
    functions: Functions
    stored: Collection[str]
    """The predicates that have facts besides those that the rules derive."""


@dataclass(frozen=True, slots=True)
class Made:
    """A predicate that was made for facts of another one, or for what these are asked for by."""

    of: str
    types: tuple[Type | None, ...]
    places: tuple[int, ...] = ()
    """The columns of the other one that it has; none if it has variables of a group."""


@dataclass(frozen=True, slots=True)
class Demanded:
    """The rules that derive what goals ask for, and the goals over what these derive."""

    choices: tuple[Body, ...]
    rules: tuple[Rule, ...]
    made: Mapping[str, Made]
    """The predicates that are new."""
    whole: frozenset[str]
    """Those that are derived as a whole, under their own names."""


def demanded_by(asking: Asking) -> Demanded:
    """The rules that derive what goals ask for."""
    whole = frozenset(_never_in_parts(asking))
    while True:
        rewriting = _Rewriting(asking, whole)
        more = rewriting.through() or _entangled(rewriting)
        if not more:
            return Demanded(tuple(rewriting.choices), tuple(rewriting.rules), rewriting.made, whole)
        whole |= more


def _never_in_parts(asking: Asking) -> Iterator[str]:
    """Predicates of which no part can be asked for: an aggregate's belongs to its rule alone, so
    no rule could bring stored facts to it.
    """
    for rule in asking.rules:
        if rule.head.predicate in asking.stored and any(
            isinstance(literal, Aggregate) for literal in rule.body
        ):
            yield rule.head.predicate


def _entangled(rewriting: _Rewriting) -> frozenset[str]:
    """Predicates that are asked for as a whole, so that nothing is in a cycle that must not be."""
    graph = rule_graph(rewriting.rules)
    by_name = {rule.name: rule for rule in rewriting.rules}
    found: set[str] = set()
    for part in _wrong(graph, by_name):
        inside = [by_name[name] for name in part]
        heads = {rule.head.predicate for rule in inside}
        read = {name for rule in inside for name in rule.negative() & heads}
        read |= {rule.head.predicate for rule in inside if rule.best}
        first = {rewriting.made[name].of for name in read if name in rewriting.made}
        found |= first or {rewriting.made[name].of for name in heads if name in rewriting.made}
    return frozenset(found)


def _wrong(graph: RuleGraph, by_name: Mapping[str, Rule]) -> Iterator[Collection[str]]:
    """The rules that depend on each other, and should not."""
    cycles = {name for cycle in negative_cycles(graph) for name in cycle}
    bests = any(rule.best for rule in by_name.values())
    for part in components(graph) if cycles or bests else ():
        functions = {best.function if (best := by_name[name].best) else "" for name in part}
        if not cycles.isdisjoint(part) or len(functions) > 1:
            yield part


@dataclass(slots=True)
class _Rewriting:
    """One attempt, in which some predicates are asked for as a whole."""

    asking: Asking
    whole: frozenset[str]
    deriving: dict[str, list[Rule]] = field(default_factory=lambda: defaultdict(list))
    bests: dict[str, Best] = field(default_factory=dict)
    with_: dict[str, frozenset[str]] = field(default_factory=dict)
    """The predicates that depend on each other with one, and itself."""
    choices: list[Body] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)
    made: dict[str, Made] = field(default_factory=dict)
    more: set[str] = field(default_factory=set)
    """Predicates that must be asked for as a whole after all."""
    waiting: list[tuple[str, tuple[int, ...]]] = field(default_factory=list)
    _known: set[tuple[str, tuple[int, ...]]] = field(default_factory=set)
    _names: Counter[str] = field(default_factory=Counter)
    _asks: set[tuple[Atom, Body]] = field(default_factory=set)
    _numbers: dict[Body, int] = field(default_factory=dict)
    columns: dict[str, Sequence[Type | None]] = field(default_factory=dict)
    closures: dict[str, Closure] = field(default_factory=dict)
    brought: dict[str, str] = field(default_factory=dict)
    """The predicates with stored facts, by those whose rules bring these to what is asked for."""

    def through(self) -> frozenset[str]:
        """Make the rules. Returns the predicates that must be asked for as a whole after all."""
        for rule in self.asking.rules:
            self.deriving[rule.head.predicate].append(rule)
            if rule.best:
                self.bests[rule.head.predicate] = rule.best
        self.with_ = _mutual(self.asking.rules)
        self.columns |= self.asking.columns
        self.brought |= {name: name for name in self.asking.stored}
        stored, functions = self.asking.stored, self.asking.functions
        found = closures_among(self.deriving, self.with_, self.columns, stored, functions)
        for closure in [one for one in found if one.predicate not in self.whole]:
            self._turn(closure)
        for body in self.asking.choices:
            self.choices.append(_Asker(self, None, body).body(None))
        while self.waiting:
            self._derive(*self.waiting.pop())
        return frozenset(self.more)

    def _turn(self, closure: Closure) -> None:
        """Let what is asked for of a closure be found by the rules of the right direction."""
        predicate = closure.predicate
        self.closures[predicate] = closure
        if closure.own is not None:
            own, types = steps(predicate), tuple(self.columns[predicate])
            self.deriving[own], self.columns[own] = [*closure.own], types
            self.made[own] = Made(predicate, types, (0, 1))
            if predicate in self.brought:
                self.brought[own] = self.brought.pop(predicate)

    def _derive(self, predicate: str, places: tuple[int, ...]) -> None:
        """Make the rules for a predicate, of which some columns are known."""
        closure = self.closures.get(predicate)
        rules = closure.rules(places) if closure and places else self.deriving[predicate]
        for rule in rules:
            asker = _Asker(self, rule, rule.body)
            if not places:
                self._made(rule, rule.head, asker.body(None))
                continue
            first = Atom(asked(predicate, self.pattern(predicate, places)), asker.known(places))
            head = replace(rule.head, predicate=self.named(predicate, places))
            self._made(rule, head, (first, *asker.body(first)))
        if predicate in self.brought and (places or self.brought[predicate] != predicate):
            self._bring(predicate, places)

    def _made(self, rule: Rule, head: Atom, body: Body) -> None:
        self.rules.append(
            replace(rule, name=self.name(rule.name), head=head, body=body, origin=None, assumed=())
        )

    def _bring(self, predicate: str, places: tuple[int, ...]) -> None:
        """Make the rule for the stored facts of a predicate that are asked for."""
        terms = tuple(Variable(f"C{n}") for n in range(len(self.columns[predicate])))
        stored = Atom(self.brought[predicate], terms)
        head = Atom(predicate, terms)
        body: Body = (stored,)
        if places:
            first = asked(predicate, self.pattern(predicate, places))
            head = Atom(self.named(predicate, places), terms)
            body = (Atom(first, tuple(terms[place] for place in places)), stored)
        name = self.name(head.predicate)
        self.rules.append(Rule(name, head, body, predicate, best=self.bests.get(predicate)))

    def ask(self, atom: Atom, passed: Passed, rule: Rule | None) -> Atom:
        """The atom of what is derived of a predicate for what is known of its columns.

        The rule that asks for it is made, for a body of `rule`.
        """
        predicate, places = atom.predicate, passed.known
        if predicate in self.whole or not places:
            if predicate not in self.whole:
                self.more.add(predicate)
            self._wait(predicate, ())
            return atom
        self._wait(predicate, places)
        types = tuple(self.columns[predicate][place] for place in places)
        name = asked(predicate, self.pattern(predicate, places))
        self.made[name] = Made(predicate, types, places)
        head = Atom(name, tuple(atom.terms[place] for place in places))
        if not self.add_asking(head, passed.before, rule):
            self.more.add(predicate)
        return replace(atom, predicate=self.named(predicate, places))

    def add_asking(self, head: Atom, before: Body, rule: Rule | None) -> bool:
        """Make a rule that asks for something; not if its values would have other types."""
        body = before or (Atom(ALWAYS, ()),)
        if head in body or (head, body) in self._asks:
            return True
        self._asks.add((head, body))
        made = {name: one.types for name, one in self.made.items()}
        functions = self.asking.functions
        found = body_types(body, {**self.columns, ALWAYS: (), **made}, functions)
        given = tuple(expression_type(term, found.types, functions) for term in head.terms)
        if found.problems or given != self.made[head.predicate].types:
            return False
        name = rule.name if rule else "the query"
        self.rules.append(Rule(self.name(name), head, body, rule.text if rule else name))
        return True

    def named(self, predicate: str, places: tuple[int, ...]) -> str:
        """The new predicate for facts that are asked for by some columns."""
        name = demanded(predicate, self.pattern(predicate, places))
        types = tuple(self.columns[predicate])
        self.made[name] = Made(predicate, types, tuple(range(len(types))))
        return name

    def pattern(self, predicate: str, places: Collection[int]) -> str:
        """Which columns are known ("b", bound), and which are not ("f", free)."""
        arity = len(self.columns[predicate])
        return "".join("b" if place in places else "f" for place in range(arity))

    def name(self, name: str) -> str:
        """A name for a rule that is made of one."""
        self._names[name] += 1
        return name if self._names[name] == 1 else f"{name} ({self._names[name]})"

    def number(self, body: Body) -> int:
        """A number that tells a body from all others."""
        return self._numbers.setdefault(body, len(self._numbers))

    def _wait(self, predicate: str, places: tuple[int, ...]) -> None:
        if (predicate, places) not in self._known:
            self._known.add((predicate, places))
            self.waiting.append((predicate, places))


@dataclass(slots=True)
class _Asker:
    """A body, whose atoms are asked for."""

    rewriting: _Rewriting
    rule: Rule | None
    literals: Body
    types: Mapping[str, Type | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        asking = self.rewriting.asking
        self.types = body_types(self.literals, self.rewriting.columns, asking.functions).types

    def known(self, places: Sequence[int]) -> tuple[Term, ...]:
        """The terms of the head that are known. One of another type than its column is not."""
        assert self.rule is not None
        terms = []
        for place in places:
            term = self.rule.head.terms[place]
            fits = self._type(term) is self._column(self.rule.head.predicate, place)
            terms.append(term if fits else Variable(f"_:{place}"))
        return tuple(terms)

    def _type(self, term: Term) -> Type | None:
        return expression_type(term, self.types, self.rewriting.asking.functions)

    def _column(self, predicate: str, place: int) -> Type | None:
        return self.rewriting.columns[predicate][place]

    def fits(self, atom: Atom, place: int) -> bool:
        """Whether a column can be asked for by what stands there.

        Terms of all kinds cannot: equal values may be written as other terms.
        """
        best = self.rewriting.bests.get(atom.predicate)
        if best is not None and best.place == place:
            return False
        type_ = self._column(atom.predicate, place)
        if type_ in (None, Type.ANY) or self._type(atom.terms[place]) is not type_:
            return False
        whole = self.rule is not None and self.rule.head.predicate in self.rewriting.whole
        # Where the head is derived as a whole, so is what depends on it.
        return not (whole and self.rule and atom.predicate in self._mutual(self.rule))

    def _mutual(self, rule: Rule) -> Collection[str]:
        return self.rewriting.with_.get(rule.head.predicate, ())

    def body(self, first: Atom | None) -> Body:
        """The body over what is asked for, and the rules that ask for it.

        `first` has the values that the head is asked for by.
        """
        found = passing(self.literals, first, self.rewriting.deriving, self.fits)
        replaced = enumerate(self.literals)
        return tuple(self._literal(one, found.get(n), found, first) for n, one in replaced)

    def _literal(
        self,
        literal: Literal,
        passed: Passed | None,
        found: Mapping[int, Passed],
        first: Atom | None,
    ) -> Literal:
        if passed is None:
            return literal
        derived = self.rewriting.deriving
        before = self._with_derived(passed.before, found)
        passed = replace(passed, before=before)
        if isinstance(literal, Atom):
            return self.rewriting.ask(literal, passed, self.rule)
        if isinstance(literal, Negation):
            if literal.atom.predicate not in derived:
                return literal
            return Negation(self.rewriting.ask(literal.atom, passed, self.rule))
        if isinstance(literal, Aggregate):
            return self._aggregate(literal, passed, first)
        return literal

    def _with_derived(self, before: Body, found: Mapping[int, Passed]) -> Body:
        """Literals with derived atoms replaced by those of what is asked for."""
        known = {id(self.literals[place]): passed for place, passed in found.items()}
        return tuple(
            self._there(one, known[id(one)]) if isinstance(one, Atom) and id(one) in known else one
            for one in before
        )

    def _there(self, atom: Atom, passed: Passed) -> Atom:
        if atom.predicate in self.rewriting.whole or not passed.known:
            return atom
        return replace(atom, predicate=self.rewriting.named(atom.predicate, passed.known))

    def _aggregate(self, literal: Aggregate, passed: Passed, first: Atom | None) -> Aggregate:
        """An aggregate over what is asked for: only of the groups that are.

        Groups are asked for by a head that is asked for itself, or by goals: what follows from
        other heads can depend on the aggregate.
        """
        inner = _Asker(self.rewriting, self.rule, literal.body)
        known = [literal.group[n] for n in passed.known if self._is_alike(literal.group[n], inner)]
        if not known or (self.rule and not first):
            return replace(literal, body=inner.body(None))
        groups = self._groups(known, first)
        if not self.rewriting.add_asking(groups, passed.before, self.rule):
            return replace(literal, body=inner.body(None))
        return replace(literal, body=(groups, *inner.body(groups)))

    def _is_alike(self, variable: Variable, inner: _Asker) -> bool:
        """Whether a variable has the same type inside of an aggregate and outside."""
        type_ = self.types.get(variable.name)
        return type_ not in (None, Type.ANY) and inner.types.get(variable.name) is type_

    def _groups(self, known: Sequence[Variable], first: Atom | None) -> Atom:
        """The atom of the groups that are asked for."""
        owner = f"{first.predicate} {self.rule.name}" if first and self.rule else "the query"
        names = " ".join(variable.name for variable in known)
        groups = Atom(asked(owner, f"{self.rewriting.number(self.literals)} {names}"), (*known,))
        types = tuple(self.types[variable.name] for variable in known)
        of = self.rule.head.predicate if self.rule else ""
        self.rewriting.made[groups.predicate] = Made(of, types)
        return groups


def _mutual(rules: Sequence[Rule]) -> dict[str, frozenset[str]]:
    """The predicates that depend on each other, by each of them."""
    edges = {
        (read, rule.head.predicate) for rule in rules for read in rule.positive() | rule.negative()
    }
    heads = {rule.head.predicate for rule in rules}
    inside = [(a, b) for a, b in edges if a in heads and b in heads]
    parts = [frozenset(part) for part in strong_components(sorted(heads), sorted(inside))]
    return {name: part for part in parts for name in part if len(part) > 1 or (name, name) in edges}
