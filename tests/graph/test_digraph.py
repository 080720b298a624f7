"""The algorithms on directed graphs, against networkx on random graphs."""

import itertools
import random

import networkx as nx
import pytest

from zodiac_sql.graph.digraph import shortest_path, strong_components, topological_order

Edges = set[tuple[int, int]]


def random_edges(chance: random.Random, count: int) -> Edges:
    edges = chance.randint(0, 3 * count)
    return {(chance.randrange(count), chance.randrange(count)) for _ in range(edges)}


@pytest.mark.parametrize("seed", range(100))
def test_strong_components(seed: int) -> None:
    chance = random.Random(seed)
    count = chance.randint(1, 25)
    edges = random_edges(chance, count)
    graph = nx.DiGraph()
    graph.add_nodes_from(range(count))
    graph.add_edges_from(edges)

    found = list(strong_components(range(count), edges))

    wanted = sorted(map(sorted, nx.strongly_connected_components(graph)))
    assert sorted(map(sorted, found)) == wanted
    place = {vertex: index for index, part in enumerate(found) for vertex in part}
    assert all(place[source] <= place[target] for source, target in edges)


def test_vertices_that_only_edges_name_are_no_part_of_others() -> None:
    assert set(strong_components(["head"], {("fact", "head")})) == {("fact",), ("head",)}


def test_a_path_that_is_longer_than_a_recursion_of_pythons() -> None:
    edges = {(i, i + 1) for i in range(20_000)}
    assert next(iter(strong_components([0], edges))) == (0,)
    assert len(list(strong_components([0], edges | {(20_000, 0)}))) == 1


@pytest.mark.parametrize("seed", range(50))
def test_topological_order(seed: int) -> None:
    chance = random.Random(seed)
    count = chance.randint(1, 25)
    edges = {(a, b) for a, b in random_edges(chance, count) if a < b}
    names = chance.sample(range(count), count)
    edges = {(names[a], names[b]) for a, b in edges}
    graph = nx.DiGraph()
    graph.add_nodes_from(range(count))
    graph.add_edges_from(edges)

    found = list(topological_order(count, edges, key=lambda i: -i))

    assert found == list(nx.lexicographical_topological_sort(graph, key=lambda i: -i))


@pytest.mark.parametrize("seed", range(50))
def test_shortest_path(seed: int) -> None:
    chance = random.Random(seed)
    count = chance.randint(2, 25)
    edges = random_edges(chance, count) | {(0, 1)}
    start = chance.choice(sorted(edges))[0]
    graph = nx.DiGraph()
    graph.add_edges_from(edges)
    for end, length in nx.single_source_shortest_path_length(graph, start).items():
        path = shortest_path(edges, start, end)
        assert (path[0], path[-1], len(path)) == (start, end, length + 1)
        assert edges.issuperset(itertools.pairwise(path))
