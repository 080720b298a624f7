"""The cheapest hypertree decomposition of a rule's body (paper 5, section 5).

The search is that of Scarcello et al. 2007, which paper 5 follows. It goes from the root down and
chooses a node for each part of the body: for edges that are still to be covered below a parent. The
edges that a node leaves uncovered fall into parts that share no variables but those of the node,
and each part gets a subtree of its own. So the cheapest subtree for a part is chosen once, wherever
the part occurs.

Trees are in normal form: chi(p) has all variables of lambda(p) that occur in the part or are shared
with the parent, and one of them is new. A body has a decomposition of some width if it has one of
that width in normal form (Gottlob et al. 2002). In such a tree a part shares with its parent's node
the variables that it shares with other edges of the body, so its edges alone identify a part.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from zodiac_sql.rewrite.hypertree.tree import Edge, Hypertree, Node

WIDEST = 4
"""The most atoms that may be joined in a node."""

ALWAYS_SEARCHED = 10
"""A body with at most this many atoms is searched to the end, however many tries that takes."""

MOST_ATOMS = 100
"""A body with more atoms is not decomposed."""

MOST_TRIES = 200_000
"""A search in a larger body gives up after this many tries."""

Mask = int
"""A set of variables, or of edges, as bits: the search mostly makes unions and tests subsets."""


@dataclass(frozen=True, slots=True)
class Costs:
    """What a node costs.

    `node` takes the places of the atoms joined there and the variables of the node. It returns the
    cost of the join, infinite for a Cartesian product, and its number of rows; neither is negative.
    """

    node: Callable[[frozenset[int], frozenset[str]], tuple[float, float]]


def decompose(edges: Sequence[Edge], costs: Costs) -> Hypertree | None:
    """The cheapest of the narrowest trees, by joins in the nodes and semi-joins between them.

    Trees of infinite cost do not count, because the tables of their nodes would be useless. So the
    width is the least without Cartesian products. None if there is no tree of at most `WIDEST`
    atoms to a node, or no edge; also for a body of more than `MOST_ATOMS` atoms, and for one of
    more than `ALWAYS_SEARCHED` atoms that needs more than `MOST_TRIES` tries.
    """
    assert all(edges), "an edge has variables"
    if not 0 < len(edges) <= MOST_ATOMS:
        return None
    search = _Search(edges, costs)
    try:
        trees = (search.cheapest_of_width(width) for width in range(1, WIDEST + 1))
        tree = next((tree for tree in trees if tree is not None), None)
    except _TooMuch:
        return None
    return None if tree is None else Hypertree(tuple(search.nodes(tree)))


class _TooMuch(Exception):
    """The search would take too long."""


class _Choice(NamedTuple):
    """A node that may be chosen: lambda as places, chi, and the atoms that are joined there."""

    cover: tuple[int, ...]
    variables: Mask
    atoms: Mask


@dataclass(frozen=True, slots=True)
class _Tree:
    """A subtree and its cost, which includes its own half of the edge to its parent."""

    cost: float
    node: _Choice
    children: tuple[_Tree, ...]


class _Search:
    """The search in one body. It keeps what it knows of nodes from width to width, but no trees."""

    def __init__(self, edges: Sequence[Edge], costs: Costs) -> None:
        self._names = sorted(frozenset[str]().union(*edges))
        self._edges = [_mask(map(self._names.index, edge)) for edge in edges]
        self._costs = costs
        self._whole = _mask(range(len(edges)))
        self._covers: list[_Choice] = []
        self._trees: dict[Mask, _Tree | None] = {}
        self._prices: dict[tuple[Mask, Mask], tuple[float, float]] = {}
        self._contained: dict[Mask, Mask] = {}
        self._tries = 0

    def cheapest_of_width(self, width: int) -> _Tree | None:
        """The cheapest tree of a width. Widths are asked for upwards from 1, until there is one."""
        self._count_tries(math.comb(len(self._edges), width))
        for cover in combinations(range(len(self._edges)), width):
            self._covers.append(_Choice(cover, self._variables(_mask(cover)), _mask(cover)))
        self._trees.clear()
        return self._cheapest(self._whole)

    def nodes(self, tree: _Tree) -> list[Node]:
        """The nodes of a tree, parents before their children."""
        nodes: list[Node] = []
        left: list[tuple[_Tree, int | None]] = [(tree, None)]
        while left:
            tree, parent = left.pop()
            left.extend((child, len(nodes)) for child in reversed(tree.children))
            _, variables, atoms = tree.node
            nodes.append(Node(self._named(variables), tree.node.cover, tuple(_bits(atoms)), parent))
        return nodes

    # --- trees ------------------------------------------------------------------------------------

    def _cheapest(self, part: Mask) -> _Tree | None:
        if part not in self._trees:
            best, cost = None, math.inf
            for choice in self._choices(part):
                tree = self._below(part, choice, cost)
                if tree is not None:
                    best, cost = tree, tree.cost
            self._trees[part] = best
        return self._trees[part]

    def _below(self, part: Mask, choice: _Choice, limit: float) -> _Tree | None:
        """The cheapest subtree with this node on top, if it costs less than `limit`."""
        join, rows = self._price(choice)
        if join >= limit:
            return None
        parts = list(self._parts(part, choice.variables))
        # Semi-joins along an edge cost 2 * (|p| + |q|); each node pays for its own rows there
        # (paper 5, section 5). Only the root has no parent.
        cost = join + 2 * rows * (len(parts) + (part != self._whole))
        children = []
        for below in parts:
            child = self._cheapest(below) if cost < limit else None
            if child is None:
                return None
            cost += child.cost
            children.append(child)
        return _Tree(cost, choice, tuple(children)) if cost < limit else None

    def _choices(self, part: Mask) -> Iterator[_Choice]:
        """The nodes that may stand on top for a part: fewest atoms first, then by their places.

        The descendant condition limits chi to variables of the part. Chi must have a variable that
        the parent lacks, so that the search comes to an end.
        """
        self._count_tries(len(self._covers))
        scope = self._variables(part)
        connector = scope & self._variables(self._whole & ~part)
        for cover, covered, atoms in self._covers:
            variables = covered & scope
            if not connector & ~covered and variables != connector:
                yield _Choice(cover, variables, atoms | self._inside(variables))

    def _parts(self, edges: Mask, variables: Mask) -> Iterator[Mask]:
        """The parts into which the edges fall that a node with these variables leaves uncovered."""
        left = edges & ~self._inside(variables)
        while left:
            part, fresh = 0, left & -left
            while fresh:
                part |= fresh
                reached = self._variables(fresh) & ~variables
                fresh = _mask(i for i in _bits(left & ~part) if self._edges[i] & reached)
            left &= ~part
            yield part

    # --- nodes ------------------------------------------------------------------------------------

    def _price(self, choice: _Choice) -> tuple[float, float]:
        key = choice.atoms, choice.variables
        if key not in self._prices:
            atoms = frozenset(_bits(choice.atoms))
            self._prices[key] = self._costs.node(atoms, self._named(choice.variables))
        return self._prices[key]

    def _inside(self, variables: Mask) -> Mask:
        """The edges that have no variables but these."""
        if variables not in self._contained:
            inside = (i for i, edge in enumerate(self._edges) if not edge & ~variables)
            self._contained[variables] = _mask(inside)
        return self._contained[variables]

    def _variables(self, edges: Mask) -> Mask:
        variables = 0
        for place in _bits(edges):
            variables |= self._edges[place]
        return variables

    def _named(self, variables: Mask) -> frozenset[str]:
        return frozenset(self._names[i] for i in _bits(variables))

    def _count_tries(self, tries: int) -> None:
        self._tries += tries
        if len(self._edges) > ALWAYS_SEARCHED and self._tries > MOST_TRIES:
            raise _TooMuch


def _mask(places: Iterable[int]) -> Mask:
    mask = 0
    for place in places:
        mask |= 1 << place
    return mask


def _bits(mask: Mask) -> Iterator[int]:
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest
