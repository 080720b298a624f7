"""A hypertree decomposition of a rule's body (paper 5, section 2).

A tree of nodes. Each node p has variables, chi(p), and atoms that cover them, lambda(p): the
positive atoms of the body, by their places there. The tree is a decomposition if

1. the variables of each atom are all in chi(p) of some node p,
2. the nodes that have a variable are connected,
3. chi(p) is among the variables of lambda(p),
4. chi(p) has every variable of lambda(p) that occurs in chi of p or of a node below it.

Its width is the most atoms that cover a node. A rule is cyclic if no decomposition has width 1.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

Edge = frozenset[str]
"""The variables of an atom: an edge of the body's hypergraph."""


@dataclass(frozen=True, slots=True)
class Node:
    """A node of a hypertree: chi(p) as `variables`, lambda(p) as `cover`.

    `atoms` are all atoms joined here: the cover, and every other atom that has no variables but
    those of the node. `parent` is a place among the nodes, or None for the root.
    """

    variables: frozenset[str]
    cover: tuple[int, ...]
    atoms: tuple[int, ...]
    parent: int | None


@dataclass(frozen=True, slots=True)
class Hypertree:
    """A decomposition. Parents stand before their children; the root is the first."""

    nodes: tuple[Node, ...]

    @property
    def width(self) -> int:
        return max(len(node.cover) for node in self.nodes)

    def contracted(self, place: int) -> Hypertree:
        """The tree with a node merged into its parent. What is above and below stays connected."""
        child = self.nodes[place]
        assert child.parent is not None
        above = self.nodes[child.parent]
        one = Node(
            above.variables | child.variables,
            tuple(sorted({*above.cover, *child.cover})),
            tuple(sorted({*above.atoms, *child.atoms})),
            above.parent,
        )
        places = [i for i in range(len(self.nodes)) if i != place]
        moved = {old: new for new, old in enumerate(places)} | {place: child.parent}
        nodes = (one if i == child.parent else self.nodes[i] for i in places)
        return Hypertree(
            tuple(replace(n, parent=None if n.parent is None else moved[n.parent]) for n in nodes)
        )


def is_acyclic(edges: Sequence[Edge]) -> bool:
    """Whether a body's hypergraph has a decomposition of width 1 (by GYO reduction)."""
    left = {place: set(edge) for place, edge in enumerate(edges)}
    holding: dict[str, set[int]] = defaultdict(set)
    for place, edge in left.items():
        for variable in edge:
            holding[variable].add(place)
    waiting = list(left)
    while waiting:
        place = waiting.pop()
        if place not in left:
            continue
        edge = left[place]
        edge -= {variable for variable in edge if len(holding[variable]) == 1}
        # An edge within another one shares all its variables with it.
        sharing: list[Collection[int]] = [holding[variable] for variable in edge]
        others = min(sharing, key=len, default=left.keys())
        if any(other != place and edge <= left[other] for other in others):
            del left[place]
            for variable in edge:
                holding[variable].discard(place)
                if len(holding[variable]) == 1:
                    waiting += holding[variable]  # the edge that alone has it now
    return len(left) <= 1
