"""How large a closure along known edges is: the one estimator of closures.

    path(X, Z) :- path(X, Y), path(Y, Z).        type(X, D) :- type(X, C), subclass(C, D).

The components of the graph of edges are found exactly, in linear time. What each of them reaches is
estimated, from those that it reaches of a sample, as the bits of a number. (All components of a
small graph are in the sample, and the largest of any graph.) If a closure begins with other facts,
what follows from some of their values is estimated from that.

It tells whether a closure is kept as components rather than pairs, by which operator it is
evaluated (evaluate/layers.py), and what a plan says of it (change/plan_sizes.py).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

from sqlglot import exp

from zodiac_sql.cost.components import NODES, Components, components_of, has_inner_arcs
from zodiac_sql.database.statements import temp_table
from zodiac_sql.database.store import Store
from zodiac_sql.sql.relations import Relation

LEAST_PAIRS = 500_000
"""Look for components only if the closure has at least this many pairs: below, pairs are quick to
find, and quicker to read than classes."""

LEAST_GAIN = 8
"""Components must promise this many pairs for each row of their tables."""

LEAST_KEPT = 2
"""Components are given up when they have fewer pairs for each row of their tables than this."""

MOST_EDGES = 10_000_000
"""Do not look for components of a larger graph: that takes 1.5 s and 30 MB for a million edges."""

LEAST_TRIMMED = 200_000
"""Before that, look whether a graph of at least so many edges has any that may be on a cycle. In a
smaller one, components are found as quickly."""

MOST_BITS = 2**26
"""How large the sets of components may be that are compared with each other: 8 MB, and what
numbers take besides."""

LARGEST = 64
"""The sample has so many of the largest components."""

MOST_STARTS = 2_000
"""What follows is found out of about so many facts at most that a closure begins with."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many pairs a closure has, and how many rows as components: partly estimated."""

    pairs: float
    rows: float


def pays(store: Store, given: Relation) -> bool:
    """Whether the closure of some facts is smaller by far as components.

    Whatever reads such a relation reads pairs, which SQL makes of the classes. So the choice is
    safe for every rule and question: it never changes what holds, only what is stored.
    """
    # Of E edges, the closure cannot have more than (2 E) ** 2 pairs.
    if not given.rows or given.rows > MOST_EDGES or 4 * given.rows**2 < LEAST_PAIRS:
        return False
    if given.rows >= LEAST_TRIMMED and not has_inner_arcs(store, given):
        return False
    components = components_of(store, given)
    # A pair of classes stands for at most so many pairs of nodes.
    most = max(_sizes(components)) ** 2
    return most >= LEAST_GAIN and gains(sizes_of(components))


def gains(sizes: Sizes) -> bool:
    """Whether components take much less space than the pairs of a closure."""
    return sizes.pairs >= max(LEAST_PAIRS, LEAST_GAIN * sizes.rows)


def still_pays(facts: int, rows: int) -> bool:
    """Whether a relation that is kept as components has enough facts for the rows that it has."""
    return facts >= LEAST_KEPT * rows or rows < LEAST_PAIRS


def sizes_of(components: Components) -> Sizes:
    """What the closure of a graph would take, as pairs and as components."""
    reach = Reach(components)
    others, nodes = reach.weighing([1] * components.number), reach.weighing(reach.sizes)
    pairs = rows = 0.0
    for size, reached in zip(reach.sizes, reach.reached, strict=True):
        rows += others.of(reached)
        pairs += size * nodes.of(reached)
    return Sizes(pairs, len(components.component) + rows)


class Reach:
    """Which components of a sample each component of a graph reaches, as bits of a number."""

    def __init__(self, components: Components) -> None:
        self.components = components
        self.sizes = _sizes(components)
        by_size = sorted(range(components.number), key=lambda component: -self.sizes[component])
        heavy, others = by_size[:LARGEST], by_size[LARGEST:]
        most = min(len(others), MOST_BITS // max(components.number, 1))
        sample = heavy + Random(0).sample(others, most)
        self.bit = {component: 1 << place for place, component in enumerate(sample)}
        self.scale = len(others) / max(most, 1)
        self.reached = [*self._reached()]

    def weighing(self, weights: Sequence[int]) -> _Weighing:
        """Tells how much the components together weigh that some bits stand for."""
        return _Weighing([weights[component] for component in self.bit], self.scale)

    def after(self, nodes: Iterable[int]) -> tuple[int, int]:
        """What some nodes reach all together, without and with themselves."""
        reached = own = 0
        for node in nodes:
            component = self.components.component[node]
            reached |= self.reached[component]
            own |= self.bit.get(component, 0)
        return reached, reached | own

    def _reached(self) -> Iterator[int]:
        graph, found = self.components.graph, self.components.component
        reached: list[int] = []
        for node in sorted(range(graph.nodes), key=found.__getitem__):
            component = found[node]
            if component == len(reached):
                reached.append(self.bit.get(component, 0) if self.sizes[component] > 1 else 0)
            bits = reached[component]
            for arc in range(graph.first[node], graph.first[node + 1]):
                other = found[graph.to[arc]]
                bits |= self.bit.get(other, 0)
                if other != component:
                    bits |= reached[other]
            reached[component] = bits
        return iter(reached)


class _Weighing:
    """Sums the weights of bits, the first of which stand for themselves, and all others for some
    more: for each binary digit, it counts the bits whose weights have that.
    """

    def __init__(self, weights: Sequence[int], scale: float) -> None:
        self.scale = scale
        self.heavy = [*_digits(weights[:LARGEST], 0)]
        self.others = [*_digits(weights[LARGEST:], LARGEST)]

    def of(self, bits: int) -> float:
        first = bits & ((1 << LARGEST) - 1)
        sure = sum(value * (first & mask).bit_count() for value, mask in self.heavy)
        return sure + self.scale * sum(
            value * (bits & mask).bit_count() for value, mask in self.others
        )


def _digits(weights: Sequence[int], place: int) -> Iterator[tuple[int, int]]:
    """The value of each binary digit, and the bits whose weights have it."""
    for digit in range(max(weights, default=0).bit_length()):
        has = "".join("1" if weight >> digit & 1 else "0" for weight in reversed(weights))
        yield 1 << digit, int(has, 2) << place


@dataclass(frozen=True, slots=True)
class Follows:
    """What follows from some facts along the edges of a graph, about."""

    facts: float
    heads: float
    """How many heads a recursive statement finds for them, repetitions included."""


def follows(store: Store, components: Components, starts: exp.Select, facts: int) -> Follows:
    """What follows from so many facts: a query for their values, which stay, and their nodes, from
    which the edges lead on. The nodes of the graph must have their numbers.
    """
    reach = Reach(components)
    graph, arcs = components.graph, [0] * components.number
    for node, component in enumerate(components.component):
        arcs[component] += graph.first[node + 1] - graph.first[node]
    nodes, heads = reach.weighing(reach.sizes), reach.weighing(arcs)
    each = max(facts // MOST_STARTS, 1)
    found = total = 0.0
    some = _some_starts(store, starts, each)
    if not some and each > 1:  # they have few values
        some, each = _some_starts(store, starts, 1), 1
    for numbers in some:
        reached, all_together = reach.after(numbers)
        found += each * nodes.of(reached)
        total += each * heads.of(all_together)
    return Follows(found, total)


def _some_starts(store: Store, starts: exp.Select, each: int) -> list[Sequence[int]]:
    """The nodes of some of the values, by value."""
    value, number = exp.column("value", table="s"), exp.column("number", table="n")
    same = exp.column("node", table="n").eq(exp.column("node", table="s"))
    query = exp.select(exp.Anonymous(this="list", expressions=[number]))
    query = query.from_(starts.subquery("s", copy=False)).group_by(value)
    query = query.join(temp_table(NODES).as_("n"), on=same)
    if each > 1:
        share = exp.Mod(this=exp.func("hash", value.copy()), expression=exp.convert(each))
        query = query.where(share.eq(exp.convert(0)))
    return [numbers for (numbers,) in store.rows(query)]


def layers_of(components: Components) -> tuple[array[int], int] | None:
    """The layer of each node, where each arc leads to a higher one, and how many there are; None if
    there is a cycle.
    """
    graph = components.graph
    if components.number < graph.nodes:
        return None
    layer = array("i", bytes(4 * graph.nodes))
    for node in sorted(range(graph.nodes), key=lambda node: -components.component[node]):
        next_ = layer[node] + 1
        for arc in range(graph.first[node], graph.first[node + 1]):
            other = graph.to[arc]
            if other == node:
                return None
            layer[other] = max(layer[other], next_)
    return layer, max(layer, default=0)


def _sizes(components: Components) -> list[int]:
    """How many nodes each component has."""
    sizes = [0] * components.number
    for component in components.component:
        sizes[component] += 1
    return sizes
