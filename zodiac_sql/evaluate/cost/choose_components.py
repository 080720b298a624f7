"""Whether a transitive closure is kept as components rather than pairs.

It is if the pairs are many, and the tables of classes much smaller. The components of the graph are
found exactly, in linear time; how many of them each one reaches is estimated, from those that reach
a sample. (All components of a small graph are in the sample, and the largest of any graph.)

Whatever reads such a relation reads pairs, which SQL makes of the classes. So the choice is safe
for every rule and question: it never changes what holds, only what is stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from zodiac_sql.database.store import Store
from zodiac_sql.evaluate.partition.condensation import Components, components_of
from zodiac_sql.evaluate.partition.inner_arcs import has_inner_arcs
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

MOST_BITS = 2**28
"""How large the sets of components may be that are compared with each other: 32 MB, and what
numbers take besides."""

LARGEST = 64
"""The sample has so many of the largest components."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many pairs a closure has, and how many rows as components: partly estimated."""

    pairs: float
    rows: float


def pays(store: Store, given: Relation) -> bool:
    """Whether the closure of some facts is smaller by far as components."""
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
    """What a closure would take, as pairs and as components."""
    sizes = _sizes(components)
    pairs = rows = 0.0
    for component, (reached, nodes) in enumerate(reached_by(components)):
        rows += reached
        pairs += sizes[component] * nodes
    return Sizes(pairs, len(components.component) + rows)


def reached_by(components: Components) -> Iterator[tuple[float, float]]:
    """About how many components each component reaches, and how many nodes these have."""
    sizes = _sizes(components)
    sample, heavy = _sample(sizes)
    weights = [sizes[component] for component in sample]
    beyond = components.number - heavy
    scale = beyond / max(len(sample) - heavy, 1)
    mean = (len(components.component) - sum(weights[:heavy])) / max(beyond, 1)
    largest = (1 << heavy) - 1
    known: dict[int, tuple[int, int]] = {}
    for reached in _reached(components, sizes, sample):
        there = reached & largest
        if there not in known:
            bits = [place for place in range(heavy) if there >> place & 1]
            known[there] = len(bits), sum(weights[place] for place in bits)
        number, weight = known[there]
        others = (reached.bit_count() - number) * scale
        yield number + others, weight + others * mean


def _sample(sizes: Sequence[int]) -> tuple[list[int], int]:
    """Some components, the largest first, and how many of them are the largest of all."""
    by_size = sorted(range(len(sizes)), key=lambda component: -sizes[component])
    first, others = by_size[:LARGEST], by_size[LARGEST:]
    most = min(len(others), MOST_BITS // max(len(sizes), 1))
    return first + Random(0).sample(others, most), len(first)


def _sizes(components: Components) -> list[int]:
    """How many nodes each component has."""
    sizes = [0] * components.number
    for component in components.component:
        sizes[component] += 1
    return sizes


def _reached(components: Components, sizes: Sequence[int], sample: Sequence[int]) -> Iterator[int]:
    """For each component, a set of those in the sample that it reaches, as the bits of a number.

    An arc leads to a component with a lower number, or stays in one.
    """
    place = {component: 1 << bit for bit, component in enumerate(sample)}
    graph, found = components.graph, components.component
    reached: list[int] = []
    for node in sorted(range(graph.nodes), key=found.__getitem__):
        component = found[node]
        if component == len(reached):
            reached.append(place.get(component, 0) if sizes[component] > 1 else 0)
        bits = reached[component]
        for arc in range(graph.first[node], graph.first[node + 1]):
            other = found[graph.to[arc]]
            bits |= place.get(other, 0)
            if other != component:
                bits |= reached[other]
        reached[component] = bits
    return iter(reached)
