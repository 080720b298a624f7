"""The hyper rule dependency graph (HRDG): hypernodes, their edges, strata and order.

Paper 1, section 4.2: a hypernode is a strongly connected component of the rule dependency graph.
Because vertices are rules, a predicate may be derived in several hypernodes. restructuring.py tells
what becomes of hypernodes when rules come and go.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from zodiac_sql.graph.digraph import topological_order
from zodiac_sql.graph.rule_graph import components, rule_graph
from zodiac_sql.language.syntax import Best, Rule


@dataclass(frozen=True, slots=True)
class Hypernode:
    """A set of mutually dependent rules, evaluated together to one fixpoint."""

    id: int
    rules: tuple[Rule, ...]
    recursive: bool
    stratum: int
    derives: tuple[str, ...] = field(init=False, repr=False, compare=False)
    """Predicates in the heads, each once, in the order of the rules."""
    reads: frozenset[str] = field(init=False, repr=False, compare=False)
    """Predicates in the bodies, positive, negated or aggregated."""
    bests: Mapping[str, Best] = field(init=False, repr=False, compare=False)
    """Those of its predicates that keep the best value of each group. They are all, or none."""

    def __post_init__(self) -> None:
        heads = tuple(dict.fromkeys(rule.head.predicate for rule in self.rules))
        bodies = frozenset(p for rule in self.rules for p in rule.positive() | rule.negative())
        object.__setattr__(self, "derives", heads)
        object.__setattr__(self, "reads", bodies)
        bests = {rule.head.predicate: rule.best for rule in self.rules if rule.best}
        object.__setattr__(self, "bests", bests)

    @property
    def name(self) -> str:
        return f"h{self.id}"


@dataclass(frozen=True)
class Hypergraph:
    """HRDG = (HV, HEp, HEn). Hypernodes stand in a topological order; edges are pairs of ids.

    Most changes leave it as it is. What is found once in it is kept, so that a change of one fact
    looks only at the hypernodes that it reaches.
    """

    hypernodes: tuple[Hypernode, ...] = ()
    positive: frozenset[tuple[int, int]] = frozenset()
    negative: frozenset[tuple[int, int]] = frozenset()
    by_constants: bool = field(default=False, compare=False)
    """Whether its edges go by atoms that can match (graph/rule_graph.py). It is known when rules
    have changed."""

    @cached_property
    def by_id(self) -> dict[int, Hypernode]:
        """The hypernodes by their numbers."""
        return {h.id: h for h in self.hypernodes}

    @cached_property
    def places(self) -> dict[int, int]:
        """The place of each hypernode in the topological order, by its number."""
        return {h.id: place for place, h in enumerate(self.hypernodes)}

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the hypernodes, in the topological order."""
        return tuple(h.name for h in self.hypernodes)

    @cached_property
    def by_name(self) -> dict[str, Hypernode]:
        """The hypernodes by their names."""
        return dict(zip(self.names, self.hypernodes, strict=True))

    @cached_property
    def recursive(self) -> frozenset[int]:
        """The numbers of the recursive hypernodes."""
        return frozenset(h.id for h in self.hypernodes if h.recursive)

    @cached_property
    def with_best(self) -> dict[str, Rule]:
        """The predicates that keep the best value of each group, each with one of its rules."""
        return {rule.head.predicate: rule for rule in self.rules() if rule.best}

    @cached_property
    def readers(self) -> dict[str, list[Hypernode]]:
        """The hypernodes that read each predicate."""
        found: dict[str, list[Hypernode]] = defaultdict(list)
        for hypernode in self.hypernodes:
            for predicate in hypernode.reads:
                found[predicate].append(hypernode)
        return dict(found)

    @cached_property
    def derivers(self) -> dict[str, list[Hypernode]]:
        """The hypernodes that derive each predicate."""
        found: dict[str, list[Hypernode]] = defaultdict(list)
        for hypernode in self.hypernodes:
            for predicate in hypernode.derives:
                found[predicate].append(hypernode)
        return dict(found)

    @cached_property
    def followers(self) -> dict[int, list[int]]:
        """The hypernodes that edges lead to, by the one that they come from."""
        found: dict[int, list[int]] = defaultdict(list)
        for source, target in self.positive | self.negative:
            found[source].append(target)
        return dict(found)

    def __getitem__(self, number: int) -> Hypernode:
        return self.by_id[number]

    def rules(self) -> Iterator[Rule]:
        """All rules, in the order of the hypernodes."""
        return (rule for hypernode in self.hypernodes for rule in hypernode.rules)

    def deriving(self, predicate: str) -> tuple[Hypernode, ...]:
        """The hypernodes that derive a predicate, in topological order."""
        return tuple(self.derivers.get(predicate, ()))


def hypergraph(
    rules: Sequence[Rule], known: Mapping[int, frozenset[str]], fresh: int
) -> Hypergraph:
    """The HRDG of stratified rules.

    `known` maps each hypernode that is already in the file to the names of its unchanged rules. A
    hypernode keeps its number as long as most of its rules stay together; others are numbered
    upwards from `fresh`.
    """
    graph = rule_graph(rules)
    by_name = {rule.name: rule for rule in rules}
    parts = components(graph)
    owner = {name: index for index, part in enumerate(parts) for name in part}
    positive = {(owner[a], owner[b]) for a, b in graph.positive if owner[a] != owner[b]}
    negative = {(owner[a], owner[b]) for a, b in graph.negative}
    loops = {owner[a] for a, b in graph.positive if owner[a] == owner[b]}
    strata = _strata(len(parts), positive, negative)
    numbers = _numbers(owner, len(parts), known, fresh)
    order = topological_order(len(parts), positive | negative, lambda i: (strata[i], i))
    return Hypergraph(
        tuple(
            Hypernode(numbers[i], tuple(by_name[n] for n in parts[i]), i in loops, strata[i])
            for i in order
        ),
        frozenset((numbers[a], numbers[b]) for a, b in positive),
        frozenset((numbers[a], numbers[b]) for a, b in negative),
        graph.by_constants,
    )


def _numbers(
    owner: Mapping[str, int], count: int, known: Mapping[int, frozenset[str]], fresh: int
) -> list[int]:
    """The number of each component: that of the hypernode with which it shares most rules."""
    shared = Counter(
        (owner[rule], number) for number, rules in known.items() for rule in rules if rule in owner
    )
    numbers: dict[int, int] = {}
    taken = set()
    for (part, number), _ in sorted(shared.items(), key=lambda item: (-item[1], item[0])):
        if part not in numbers and number not in taken:
            numbers[part] = number
            taken.add(number)
    following = itertools.count(fresh)
    return [numbers[part] if part in numbers else next(following) for part in range(count)]


def _strata(
    count: int, positive: set[tuple[int, int]], negative: set[tuple[int, int]]
) -> list[int]:
    """The least stratification: negative edges go up by one, positive ones do not go down."""
    strata = [0] * count
    incoming: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for a, b in positive:
        incoming[b].append((a, 0))
    for a, b in negative:
        incoming[b].append((a, 1))
    for index in topological_order(count, positive | negative):
        steps = (strata[source] + step for source, step in incoming[index])
        strata[index] = max(steps, default=0)
    return strata
