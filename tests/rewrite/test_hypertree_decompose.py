"""Hypertree decompositions: the four conditions, the least width and the lowest cost, by brute
force.

What decompose.py returns is checked against the definition (paper 5, section 2), its width against
the game of a robber and marshals (Gottlob et al. 2003), its cost against that of all trees.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, product
from random import Random

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from support.examples import share

from zodiac_sql.rewrite.hypertree.decompose import MOST_ATOMS, Costs, decompose
from zodiac_sql.rewrite.hypertree.tree import Edge, Hypertree, is_acyclic

SMALL = share(3)


# --- hypergraphs ----------------------------------------------------------------------------------


def body(*edges: str) -> list[Edge]:
    """Edges whose variables have names of one letter."""
    return [frozenset(edge) for edge in edges]


def variables_of(edges: Iterable[Edge]) -> frozenset[str]:
    return frozenset(variable for edge in edges for variable in edge)


def path(length: int) -> list[Edge]:
    return [frozenset({f"v{i}", f"v{i + 1}"}) for i in range(length)]


def star(length: int) -> list[Edge]:
    return [frozenset({"v", f"v{i}"}) for i in range(length)]


def cycle(length: int) -> list[Edge]:
    return [frozenset({f"v{i}", f"v{(i + 1) % length}"}) for i in range(length)]


def clique(size: int) -> list[Edge]:
    return [frozenset({f"v{a}", f"v{b}"}) for a, b in combinations(range(size), 2)]


def grid(rows: int, columns: int) -> list[Edge]:
    points = list(product(range(rows), range(columns)))
    return [
        frozenset({f"v{a}{b}", f"v{c}{d}"})
        for (a, b), (c, d) in combinations(points, 2)
        if abs(a - c) + abs(b - d) == 1
    ]


def hypergraphs(most: int) -> st.SearchStrategy[list[Edge]]:
    edge = st.frozensets(st.sampled_from("abcdefgh"), min_size=1, max_size=3)
    return st.lists(edge, min_size=1, max_size=most)


def cyclic(least: int, most: int, names: str) -> st.SearchStrategy[list[Edge]]:
    """So few variables that most of the hypergraphs are cyclic."""
    edge = st.frozensets(st.sampled_from(names), min_size=2, max_size=3)
    return st.lists(edge, min_size=least, max_size=most).filter(lambda e: not is_acyclic(e))


# --- costs ----------------------------------------------------------------------------------------


UNIT = Costs(lambda atoms, variables: (1.0, 1.0))


def joined(edges: Sequence[Edge]) -> bool:
    """Whether a join of edges is no Cartesian product."""
    reached, left = set(edges[0]), list(edges[1:])
    while near := [edge for edge in left if edge & reached]:
        reached.update(*near)
        left = [edge for edge in left if edge not in near]
    return not left


def no_products(edges: Sequence[Edge]) -> Costs:
    def node(atoms: frozenset[int], variables: frozenset[str]) -> tuple[float, float]:
        possible = joined([edges[i] for i in atoms])
        return (float(len(atoms)), 1.0) if possible else (math.inf, math.inf)

    return Costs(node)


def random_costs(seed: int) -> Costs:
    """Whole numbers, so that sums do not depend on the order; now and then a node is impossible."""

    def node(atoms: frozenset[int], variables: frozenset[str]) -> tuple[float, float]:
        random = Random(f"{seed} {sorted(atoms)} {sorted(variables)}")
        cost = math.inf if random.random() < 0.1 else float(random.randrange(50))
        return cost, float(random.randrange(6))

    return Costs(node)


def total(tree: Hypertree, costs: Costs) -> float:
    """The cost of a tree as paper 5 gives it: joins in nodes, semi-joins between them."""
    prices = [costs.node(frozenset(node.atoms), node.variables) for node in tree.nodes]
    pairs = [(i, node.parent) for i, node in enumerate(tree.nodes) if node.parent is not None]
    between = sum(2 * (prices[i][1] + prices[j][1]) for i, j in pairs)
    return sum(cost for cost, _ in prices) + between


# --- the definition -------------------------------------------------------------------------------


def below(tree: Hypertree, place: int) -> set[int]:
    """The places of a node and of all nodes below it."""
    found = {place}
    for i, node in enumerate(tree.nodes):
        if node.parent in found:
            found.add(i)
    return found


def assert_tree(tree: Hypertree) -> None:
    assert tree.nodes[0].parent is None
    for i, node in enumerate(tree.nodes[1:], 1):
        assert node.parent is not None and 0 <= node.parent < i


def assert_decomposition(tree: Hypertree, edges: Sequence[Edge]) -> None:
    """The four conditions of paper 5, section 2, and what stands beside them in a node."""
    assert_tree(tree)
    nodes = tree.nodes
    for edge in edges:
        assert any(edge <= node.variables for node in nodes)
    for variable in variables_of(edges):
        having = {i for i, node in enumerate(nodes) if variable in node.variables}
        tops = [i for i in having if nodes[i].parent not in having]
        assert len(tops) == 1
    for i, node in enumerate(nodes):
        covered = variables_of(edges[place] for place in node.cover)
        lower = variables_of(nodes[j].variables for j in below(tree, i))
        assert node.variables <= covered
        assert covered & lower <= node.variables
        inside = {place for place, edge in enumerate(edges) if edge <= node.variables}
        assert node.cover == tuple(sorted(set(node.cover)))
        assert node.atoms == tuple(sorted(inside | set(node.cover)))


# --- the least width: can marshals on k edges catch a robber who moves along variables? -----------


def spaces(edges: Sequence[Edge], held: frozenset[str]) -> list[frozenset[str]]:
    """The sets of variables in which a robber can move while marshals hold some."""
    found: list[frozenset[str]] = []
    for edge in edges:
        free = edge - held
        if free:
            touching = [space for space in found if space & free]
            found = [space for space in found if not space & free]
            found.append(free.union(*touching))
    return found


def caught(edges: Sequence[Edge], marshals: int, space: frozenset[str], held: Edge) -> bool:
    """Whether marshals who hold `held` catch a robber in `space` and never let him out of it."""
    border = variables_of(edge for edge in edges if edge & space) & held
    for number in range(1, marshals + 1):
        for chosen in combinations(edges, number):
            then = variables_of(chosen)
            if border <= then and then & space:
                rest = [s for s in spaces(edges, then) if s <= space]
                if all(caught(edges, marshals, s, then) for s in rest):
                    return True
    return False


def least_width(edges: Sequence[Edge]) -> int:
    nothing = frozenset[str]()
    return next(
        k
        for k in range(1, len(edges) + 1)
        if all(caught(edges, k, space, nothing) for space in spaces(edges, nothing))
    )


# --- all trees ------------------------------------------------------------------------------------

Shape = tuple[frozenset[int], Edge, tuple["Shape", ...]]
"""A subtree: the atoms and variables of its node, and the subtrees below."""


def shapes(
    edges: Sequence[Edge], left: frozenset[int], shared: Edge, width: int
) -> Iterator[Shape]:
    """All subtrees in normal form for some edges that share variables with the node above."""
    scope = variables_of(edges[i] for i in left)
    for number in range(1, width + 1):
        for cover in combinations(range(len(edges)), number):
            variables = variables_of(edges[i] for i in cover) & scope
            if shared < variables:
                inside = {i for i, edge in enumerate(edges) if edge <= variables}
                lower = []
                for space in spaces([edges[i] for i in left], variables):
                    part = frozenset(i for i in left if edges[i] & space)
                    border = variables_of(edges[i] for i in part) & variables
                    lower.append(list(shapes(edges, part, border, width)))
                for children in product(*lower):
                    yield frozenset(inside.union(cover)), variables, children


def shape_total(shape: Shape, costs: Costs) -> float:
    atoms, variables, children = shape
    cost, rows = costs.node(atoms, variables)
    for child in children:
        child_rows = costs.node(child[0], child[1])[1]
        cost += shape_total(child, costs) + 2 * (rows + child_rows)
    return cost


def lowest_totals(edges: Sequence[Edge], costs: Costs) -> list[float]:
    """The lowest cost of a tree of at most one, two, three and four atoms to a node."""
    everything, nothing = frozenset(range(len(edges))), frozenset[str]()
    return [
        min(
            (shape_total(shape, costs) for shape in shapes(edges, everything, nothing, width)),
            default=math.inf,
        )
        for width in range(1, 5)
    ]


# --- conditions and width -------------------------------------------------------------------------

KNOWN_WIDTHS = {
    "one edge": (body("ab"), 1),
    "path": (path(9), 1),
    "star": (star(9), 1),
    "triangle": (body("ab", "bc", "ca"), 2),
    "triangle in an edge": (body("ab", "bc", "ca", "abc"), 1),
    "cycle of 4": (cycle(4), 2),
    "cycle of 5": (cycle(5), 2),
    "cycle of 6": (cycle(6), 2),
    "cycle of 7": (cycle(7), 2),
    "cycle of 8": (cycle(8), 2),
    "K4": (clique(4), 2),
    "K5": (clique(5), 3),
    "K6": (clique(6), 3),
    "grid of 2 by 3": (grid(2, 3), 2),
    "grid of 3 by 3": (grid(3, 3), 2),
    "equal edges": (body("ab", "ab", "bc", "bc"), 1),
    "edges in others": (body("abc", "ab", "c", "cd", "d"), 1),
    "two bodies": (body("ab", "bc", "de", "ef"), 1),
    "two cycles apart": (body("ab", "bc", "ca", "de", "ef", "fd"), 2),
    "two cycles with a bridge": (body("ab", "bc", "ca", "ad", "de", "ef", "fd"), 2),
}


@pytest.mark.parametrize("name", KNOWN_WIDTHS)
def test_known_widths(name: str) -> None:
    edges, width = KNOWN_WIDTHS[name]
    tree = decompose(edges, UNIT)
    assert tree is not None
    assert_decomposition(tree, edges)
    assert tree.width == width
    assert (tree.width == 1) == is_acyclic(edges)


@given(hypergraphs(8))
def test_conditions(edges: list[Edge]) -> None:
    tree = decompose(edges, UNIT)
    assert tree is not None
    assert_decomposition(tree, edges)
    assert (tree.width == 1) == is_acyclic(edges)


@given(hypergraphs(6) | cyclic(4, 6, "abcdef"))
@example(body("abc", "cde", "efa", "bdf", "abd"))
def test_no_tree_is_narrower(edges: list[Edge]) -> None:
    tree = decompose(edges, UNIT)
    assert tree is not None
    assert tree.width == least_width(edges)


@given(cyclic(4, 8, "abcdefg"), st.integers(0, 1000))
def test_conditions_at_any_cost(edges: list[Edge], seed: int) -> None:
    """The conditions do not depend on the costs, nor does what is found on the order of sets."""
    costs = random_costs(seed)
    tree = decompose(edges, costs)
    assume(tree is not None)
    assert tree is not None
    assert_decomposition(tree, edges)
    assert math.isfinite(total(tree, costs))
    assert tree == decompose([frozenset(sorted(edge, reverse=True)) for edge in edges], costs)


def test_no_variable_outside_the_part() -> None:
    """An atom that covers two nodes has all its variables only in one, and is listed in both."""
    tree = decompose(body("bcd", "bce", "abf", "ac"), UNIT)
    assert tree is not None
    assert [(node.variables, node.cover, node.atoms) for node in tree.nodes] == [
        (frozenset("bcde"), (0, 1), (0, 1)),
        (frozenset("abcf"), (0, 2), (0, 2, 3)),
    ]


# --- cost -----------------------------------------------------------------------------------------


@settings(max_examples=SMALL)
@given(hypergraphs(4) | cyclic(3, 4, "abcde"), st.integers(0, 1000))
def test_no_tree_is_cheaper(edges: list[Edge], seed: int) -> None:
    costs = random_costs(seed)
    lowest = lowest_totals(edges, costs)
    width = next((k for k, cost in enumerate(lowest, 1) if cost < math.inf), None)
    tree = decompose(edges, costs)
    if width is None or tree is None:
        assert tree is None and width is None
    else:
        assert tree.width == width
        assert total(tree, costs) == lowest[width - 1]


@pytest.mark.parametrize("pair", [(0, 1), (1, 2), (2, 3), (0, 3)])
def test_a_dear_join_is_avoided(pair: tuple[int, int]) -> None:
    """A square is two pairs of edges in two ways: the way without the dear pair is chosen."""
    edges = body("ab", "bc", "cd", "da")
    costs = Costs(lambda atoms, _: (1000.0 if atoms.issuperset(pair) else 1.0, 1.0))
    tree = decompose(edges, costs)
    assert tree is not None
    assert_decomposition(tree, edges)
    assert tree.width == 2
    assert len(tree.nodes) == 2
    assert not any(set(pair) <= set(node.atoms) for node in tree.nodes)


def test_large_nodes_are_avoided() -> None:
    """Semi-joins count: a star hangs from the node that has the fewest rows."""
    rows = [50.0, 70.0, 3.0, 90.0]
    costs = Costs(lambda atoms, _: (1.0, max(rows[i] for i in atoms)))
    tree = decompose(star(4), costs)
    assert tree is not None
    assert [node.atoms for node in tree.nodes] == [(2,), (0,), (1,), (3,)]
    assert [node.parent for node in tree.nodes] == [None, 0, 0, 0]
    assert total(tree, costs) == 4 + 2 * (50 + 70 + 90 + 3 * 3)


def test_one_node_has_no_semi_join() -> None:
    """A square is one node or two. However many rows the one has, it does not pay for them."""
    costs = Costs(lambda _, variables: (1.0, 1000.0 if len(variables) == 4 else 1.0))
    tree = decompose(body("ab", "bc", "cd", "da"), costs)
    assert tree is not None
    assert [node.atoms for node in tree.nodes] == [(0, 1, 2, 3)]


def test_the_first_of_equals_is_taken() -> None:
    tree = decompose(body("ab", "ab", "ab"), UNIT)
    assert tree is not None
    assert [(node.cover, node.atoms) for node in tree.nodes] == [((0,), (0, 1, 2))]


# --- Cartesian products ---------------------------------------------------------------------------


def test_a_hexagon_is_two_chains() -> None:
    """Two edges cover a node, the one between them is joined there as well."""
    edges = cycle(6)
    tree = decompose(edges, no_products(edges))
    assert tree is not None
    assert_decomposition(tree, edges)
    assert tree.width == 2
    chains = [node.atoms for node in tree.nodes]
    assert len(chains) == 2
    assert sorted(place for chain in chains for place in chain) == list(range(6))


@pytest.mark.parametrize(("length", "width"), [(7, 3), (10, 3), (11, 4), (14, 4)])
def test_a_wider_tree_rather_than_a_product(length: int, width: int) -> None:
    edges = cycle(length)
    tree = decompose(edges, no_products(edges))
    assert tree is not None
    assert_decomposition(tree, edges)
    assert tree.width == width
    assert all(joined([edges[i] for i in node.atoms]) for node in tree.nodes)


@given(hypergraphs(7) | cyclic(4, 7, "abcdefg"))
def test_no_products(edges: list[Edge]) -> None:
    """Also where a body falls apart: the node of one part stands below one of another."""
    tree = decompose(edges, no_products(edges))
    assume(tree is not None)
    assert tree is not None
    assert_decomposition(tree, edges)
    assert all(joined([edges[i] for i in node.atoms]) for node in tree.nodes)


# --- none -----------------------------------------------------------------------------------------


def test_no_edge() -> None:
    assert decompose([], UNIT) is None


def test_an_edge_without_variables() -> None:
    with pytest.raises(AssertionError, match="an edge has variables"):
        decompose([frozenset({"a"}), frozenset()], UNIT)


@pytest.mark.parametrize("impossible", [(math.inf, 1.0), (math.inf, math.inf), (1.0, math.inf)])
def test_only_impossible_nodes(impossible: tuple[float, float]) -> None:
    assert decompose(cycle(6), Costs(lambda atoms, _: impossible)) is None


def test_width_above_four() -> None:
    assert decompose(clique(10), UNIT) is None


def test_search_too_large() -> None:
    """In a long ring a search without end is given up; a long path is short work."""
    assert decompose(cycle(60), UNIT) is None
    tree = decompose(path(MOST_ATOMS), UNIT)
    assert tree is not None
    assert tree.width == 1
    assert decompose(path(MOST_ATOMS + 1), UNIT) is None
