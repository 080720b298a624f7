"""Predicates in parts, for rules that are stratified by constants only.

    r1: status(X, good) :- part(X), not status(X, bad).
    r2: status(X, bad) :- broken(X).

A cluster evaluates whole predicates, and by predicates this would be a cycle. So a predicate in
such a cycle is kept in parts, one for each hypernode of the rules (graph/rule_graph.py) and one for
its explicit facts. An atom reads the parts that can match it, and other rules unite all of them:

    status of r1(X, good) :- part(X), not status of r2(X, bad).
    status of r2(X, bad) :- broken(X).
    status(X, Y) :- status of r1(X, Y).      status(X, Y) :- status of r2(X, Y).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from zodiac_sql.graph.hypergraph import Hypergraph
from zodiac_sql.graph.matching import may_match
from zodiac_sql.graph.rule_graph import components, dependencies
from zodiac_sql.language.constraints import says_never
from zodiac_sql.language.syntax import Atom, Column, Rule, Variable
from zodiac_sql.language.templates import with_atoms

Columns = Mapping[str, tuple[Column, ...]]


@dataclass(frozen=True, slots=True)
class InParts:
    """Rules that say the same about the predicates of a program, stratified by predicates.

    `columns` are those of the parts; `explicit` is the part with explicit facts of each predicate
    that has parts.
    """

    rules: tuple[Rule, ...]
    columns: Columns
    explicit: Mapping[str, str]


def in_parts(graph: Hypergraph, columns: Columns) -> InParts:
    """The rules of a program by predicates; as they are, unless they need constants."""
    rules = tuple(graph.rules())
    parted = _parted(rules) if graph.by_constants else set()
    if not parted:
        return InParts(rules, {}, {})
    made = _Parts(columns, {*columns})
    for name in sorted(parted):
        made.explicit[name] = made.part(name, f"{name} explicit")
    for hypernode in graph.hypernodes:
        for rule in hypernode.rules:
            name = rule.head.predicate
            if name in parted and (name, hypernode.id) not in made.of:
                made.of[name, hypernode.id] = made.part(name, f"{name} of {rule.name}")
            if name in parted:
                made.heads[made.of[name, hypernode.id]].append(rule)
    found = [
        made.rewritten(rule, hypernode.id)
        for hypernode in graph.hypernodes
        for rule in hypernode.rules
    ]
    for name in sorted(parted):
        made.unite(name, made.parts(name))
    return InParts((*found, *made.uniting), made.columns_of_parts, made.explicit)


def _parted(rules: tuple[Rule, ...]) -> set[str]:
    """The predicates that depend on each other through a negation."""
    graph = dependencies(rules, by_constants=False)
    heads = {rule.name: rule.head.predicate for rule in rules}
    found: set[str] = set()
    for names in components(graph):
        if any(one in names and other in names for one, other in graph.negative):
            found |= {heads[name] for name in names}
    return found


@dataclass(slots=True)
class _Parts:
    """The parts that were made so far. No name is one of a program's predicates."""

    columns: Columns
    taken: set[str]
    of: dict[tuple[str, int], str] = field(default_factory=dict)
    """The part of each predicate and hypernode."""
    explicit: dict[str, str] = field(default_factory=dict)
    heads: dict[str, list[Rule]] = field(default_factory=lambda: defaultdict(list))
    """The rules for each part."""
    united: dict[tuple[str, ...], str] = field(default_factory=dict)
    """The predicates that have some of the parts."""
    uniting: list[Rule] = field(default_factory=list)
    columns_of_parts: dict[str, tuple[Column, ...]] = field(default_factory=dict)

    def part(self, predicate: str, name: str) -> str:
        """A new predicate with the columns of another."""
        while name in self.taken:
            name += "'"
        self.taken.add(name)
        self.columns_of_parts[name] = self.columns[predicate]
        return name

    def parts(self, predicate: str) -> list[str]:
        """All parts of a predicate."""
        derived = [part for (name, _), part in self.of.items() if name == predicate]
        return [*derived, self.explicit[predicate]]

    def rewritten(self, rule: Rule, hypernode: int) -> Rule:
        """A rule that derives a part, and reads parts. It has no text that could be read again."""
        body = with_atoms(rule.body, self._read)
        if says_never(rule):
            return replace(rule, body=body)
        name = self.of.get((rule.head.predicate, hypernode), rule.head.predicate)
        if body == rule.body and name == rule.head.predicate:
            return rule
        return replace(rule, head=replace(rule.head, predicate=name), body=body, text="")

    def _read(self, atom: Atom) -> Atom:
        if atom.predicate not in self.explicit:
            return atom
        every = self.parts(atom.predicate)
        read = [part for part in every if self._may_match(part, atom)]
        if len(read) == len(every):
            return atom
        return replace(atom, predicate=self._of_several(atom.predicate, read))

    def _may_match(self, part: str, atom: Atom) -> bool:
        """Whether facts of a part can be those of an atom; explicit ones always can."""
        rules = self.heads.get(part)
        return not rules or any(rule.best or may_match(rule.head, atom) for rule in rules)

    def _of_several(self, predicate: str, parts: list[str]) -> str:
        if len(parts) == 1:
            return parts[0]
        if tuple(parts) not in self.united:
            name = self.part(predicate, f"{predicate} in {', '.join(parts)}")
            self.united[tuple(parts)] = name
            self.unite(name, parts)
        return self.united[tuple(parts)]

    def unite(self, name: str, parts: Iterable[str]) -> None:
        """Let a predicate have the facts of parts."""
        self.uniting += self._copies(name, parts)

    def _copies(self, name: str, parts: Iterable[str]) -> Iterator[Rule]:
        for part in parts:
            terms = tuple(
                Variable(f"V{place}") for place in range(len(self.columns_of_parts[part]))
            )
            yield Rule(f"{name} from {part}", Atom(name, terms), (Atom(part, terms),))
