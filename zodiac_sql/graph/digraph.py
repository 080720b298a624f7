"""The algorithms on directed graphs that the HRDG needs.

They stand here because importing networkx for them took a tenth of a second and 22 MB in every
process that changes rules, and a device pays for both.
"""

from __future__ import annotations

import heapq
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from itertools import chain
from typing import TypeVar

N = TypeVar("N", bound=Hashable)


def strong_components(
    vertices: Iterable[N], edges: Collection[tuple[N, N]]
) -> Iterator[tuple[N, ...]]:
    """The strongly connected components, each before those that its edges lead to.

    `vertices` may leave out those that edges name.

    The algorithm of Kosaraju and Sharir (1981): of the vertices that have not been collected, the
    one that a search finished last is in a component to which no other of them leads. So all that
    leads to this vertex is its component.
    """
    named = (source for source, _ in edges)
    finished = list(_search(chain(vertices, named), _targets(edges), set()))
    sources = _targets((target, source) for source, target in edges)
    collected: set[N] = set()
    for vertex in reversed(finished):
        if vertex not in collected:
            yield tuple(_search((vertex,), sources, collected))


def topological_order(
    count: int, edges: Collection[tuple[int, int]], key: Callable[[int], object] = lambda i: i
) -> Iterator[int]:
    """The numbers below `count`, sources of edges first; among those that may be next, the least.

    What lies in a cycle, or behind one, does not come.
    """
    targets = _targets(edges)
    awaited = [0] * count
    for _, target in edges:
        awaited[target] += 1
    ready = [(key(i), i) for i in range(count) if not awaited[i]]
    heapq.heapify(ready)
    while ready:
        _, vertex = heapq.heappop(ready)
        yield vertex
        for target in targets.get(vertex, ()):
            awaited[target] -= 1
            if not awaited[target]:
                heapq.heappush(ready, (key(target), target))


def shortest_path(edges: Iterable[tuple[N, N]], start: N, end: N) -> list[N]:
    """Vertices on a shortest path, of which there must be one. Breadth first."""
    targets = _targets(edges)
    came_from: dict[N, N] = {start: start}
    reached = deque([start])
    while end not in came_from:
        vertex = reached.popleft()
        for target in targets.get(vertex, ()):
            if target not in came_from:
                came_from[target] = vertex
                reached.append(target)
    path = [end]
    while path[-1] != start:
        path.append(came_from[path[-1]])
    return path[::-1]


def _targets(edges: Iterable[tuple[N, N]]) -> Mapping[N, list[N]]:
    """For each vertex that edges leave, those to which they lead."""
    targets: dict[N, list[N]] = defaultdict(list)
    for source, target in edges:
        targets[source].append(target)
    return targets


def _search(starts: Iterable[N], targets: Mapping[N, list[N]], seen: set[N]) -> Iterator[N]:
    """Depth first: each vertex that was not seen yet, after all that were reached from it.

    The path is a list, because Python ends a recursion after a thousand calls.
    """
    for start in starts:
        if start in seen:
            continue
        seen.add(start)
        path = [(start, iter(targets.get(start, ())))]
        while path:
            vertex, left = path[-1]
            following = next((target for target in left if target not in seen), None)
            if following is None:
                path.pop()
                yield vertex
            else:
                seen.add(following)
                path.append((following, iter(targets.get(following, ()))))
