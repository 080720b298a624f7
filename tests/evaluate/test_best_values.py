"""MIN and MAX in heads: shortest and widest paths against networkx, and what is an error."""

from __future__ import annotations

import datetime
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import networkx as nx
import pytest
from support.as_if_large import as_if_large

from zodiac_sql.errors import DataError, EvaluationError, ProgramError
from zodiac_sql.evaluate import improve, improving
from zodiac_sql.read.why import find_proof

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

Edge = tuple[int, int, int]

SINGLE = "dist(X, MIN(0)) :- start(X). dist(Y, MIN(E + W)) :- dist(X, E), edge(X, Y, W)."
ALL = """
    all(X, Y, MIN(W)) :- edge(X, Y, W).
    all(X, Z, MIN(V + W)) :- all(X, Y, V), edge(Y, Z, W).
"""
SQUARED = """
    all(X, Y, MIN(W)) :- edge(X, Y, W).
    all(X, Z, MIN(V + W)) :- all(X, Y, V), all(Y, Z, W).
"""
WIDE = """
    wide(X, MAX(100)) :- start(X).
    wide(Y, MAX(least(E, W))) :- wide(X, E), edge(X, Y, W).
"""


def grid(side: int) -> list[Edge]:
    chance = random.Random(side)
    graph = nx.grid_2d_graph(side, side).to_directed()
    number = {node: place for place, node in enumerate(graph)}
    return [(number[a], number[b], chance.randint(0, 9)) for a, b in graph.edges]


def graph_of(edges: list[Edge]) -> nx.DiGraph:
    graph = nx.DiGraph()
    graph.add_weighted_edges_from(edges)
    return graph


def single(edges: list[Edge]) -> set[tuple[int, int]]:
    lengths = nx.single_source_dijkstra_path_length(graph_of(edges), 0)
    return {(node, int(length)) for node, length in lengths.items()}


def pairs(edges: list[Edge]) -> set[Edge]:
    graph = graph_of(edges)
    found = set()
    for start, ends in nx.all_pairs_dijkstra_path_length(graph):
        found |= {(start, end, int(length)) for end, length in ends.items() if end != start}
        around = [ends[x] + w for x, _, w in graph.in_edges(start, data="weight") if x in ends]
        found |= {(start, start, int(min(around)))} if around else set()
    return found


def widest(edges: list[Edge]) -> set[tuple[int, int]]:
    best = {0: 100}
    while True:
        wider = {
            (y, width)
            for x, y, w in edges
            if x in best and (width := min(best[x], w)) > best.get(y, -1)
        }
        if not wider:
            return set(best.items())
        for node, width in wider:
            best[node] = max(width, best.get(node, -1))


@pytest.mark.parametrize("threshold", [True, False], ids=["in one statement", "in a loop"])
def test_paths_on_a_grid_while_edges_move(
    open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch, threshold: bool
) -> None:
    if not threshold:
        monkeypatch.setattr(improve, "pays_at_once", lambda loop, rounds: False)
    chance, edges = random.Random(1), grid(7)
    with open_kb() as kb:
        kb.insert("edge", edges)
        kb.insert("start", [(0,)])
        kb.add_rules(SINGLE + ALL + WIDE)
        for number in range(6):
            gone = chance.sample(edges, 2)
            new = [(x, y, w - 1) for x, y, w in gone if w > 2] if number % 2 else []
            with kb.update() as u:
                u.delete("edge", gone)
                u.insert("edge", new)
            edges = [edge for edge in edges if edge not in gone] + new
            assert set(kb.table("dist").fetchall()) == single(edges)
            assert set(kb.table("all").fetchall()) == pairs(edges)
            assert set(kb.table("wide").fetchall()) == widest(edges)
        assert kb.verify()


def test_two_best_values_in_a_body(open_kb: OpenKb) -> None:
    edges = grid(4)
    with open_kb() as kb:
        kb.add_rules(SQUARED)
        kb.insert("edge", edges)
        assert set(kb.table("all").fetchall()) == pairs(edges)
        change = kb.delete("edge", edges[:1])
        assert set(kb.table("all").fetchall()) == pairs(edges[1:])
        assert change.stats.hypernodes["h1"].strategy == "recompute"
        kb.insert("edge", edges[:1])
        assert set(kb.table("all").fetchall()) == pairs(edges)


def test_a_change_does_not_evaluate_again(open_kb: OpenKb) -> None:
    edges = grid(7)
    with open_kb() as kb:
        kb.insert("edge", edges)
        kb.insert("start", [(0,)])
        kb.add_rules(SINGLE)
        for change in (kb.delete("edge", edges[40:41]), kb.insert("edge", edges[40:41])):
            assert change.stats.hypernodes["h1"].strategy == "best"


@pytest.mark.parametrize("threshold", [True, False], ids=["in one statement", "in a loop"])
def test_values_that_get_better_for_ever(
    open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch, threshold: bool
) -> None:
    monkeypatch.setattr(improving, "MOST_IDLE_ROUNDS", 50)
    monkeypatch.setattr(improve, "MOST_IDLE_ROUNDS", 50)
    if not threshold:
        monkeypatch.setattr(improve, "pays_at_once", lambda loop, rounds: False)
    with open_kb() as kb:
        kb.insert("start", [("a",)])
        kb.insert("edge", [("a", "b", 1), ("b", "c", 1)])
        kb.add_rules("r1: dist(X, MIN(0)) :- start(X).")
        kb.add_rules("r2: dist(Y, MIN(E + W)) :- dist(X, E), edge(X, Y, W).")
        with pytest.raises(EvaluationError, match=r"rule r2.*for ever: dist\(\w, -\d+\) came"):
            kb.insert("edge", [("c", "a", -3)])
        assert kb.table("dist").num_rows == 3
        kb.insert("edge", [("c", "a", -2)])  # a cycle of length 0
        assert set(kb.table("dist").fetchall()) == {("a", 0), ("b", 1), ("c", 2)}


def test_minus_infinity_where_a_recursion_computes(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        kb.insert("edge", [(1, 2, 0.5), (2, 3, math.inf)])
        kb.insert("start", [(1, -math.inf)])
        kb.add_rules("low(X, MIN(S)) :- start(X, S). low(Y, MIN(E)) :- low(X, E), edge(X, Y, _).")
        assert set(kb.table("low").fetchall()) == {(n, -math.inf) for n in (1, 2, 3)}
        with pytest.raises(EvaluationError, match="minus infinity"):
            kb.add_rules("d(X, MIN(S)) :- start(X, S). d(Y, MIN(E + W)) :- d(X, E), edge(X, Y, W).")


def test_a_value_that_rests_on_one_that_got_better(open_kb: OpenKb) -> None:
    """b has 5 by way of 4, before a had 3; so nothing is left when the start goes."""
    with open_kb() as kb:
        kb.add_rules("""
            v(X, MIN(4)) :- start(X).
            v(b, MIN(greatest(E, 5))) :- v(a, E).
            v(a, MIN(E - 2)) :- v(b, E).
        """)
        change = kb.insert("start", [("a",)])
        assert set(kb.table("v").fetchall()) == {("a", 3), ("b", 5)}
        for why in (kb.why("v(b, 5)"), kb.why("v(a, 3)")):
            assert "v(a, 4)  until v(a, 3) came" in str(why)
            assert "until v(a, 3) came" in why.svg()
            assert {n["text"]: n.get("passed") for n in why.to_dict()["nodes"]}["v(a, 4)"] == (
                "v(a, 3)"
            )
        assert "start(a) entered: inserted by the change" in str(change.why("v(b, 5)"))
        change = kb.delete("start", [("a",)])
        assert change.deleted == {"start": 1, "v": 2}
        assert "start(a) left: deleted by the change" in str(change.why("v(a, 3)"))
        with kb.preview() as p:
            p.insert("start", [("a",)])
        assert "start(a) entered" in str(p.change.why("v(a, 3)"))


def test_dates_and_texts_that_rules_make(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        kb.add_rules("""
            .decl seen(s: symbol, o: timestamp)
            first(concat("at ", X), MIN(T)) :- seen(X, T).
            first(concat(X, "!"), MIN(T)) :- first(X, T), length(X) < 8.
        """)
        times = [("a", "2026-01-02 10:00:00"), ("a", "2026-01-01 09:00:00")]
        kb.insert("seen", [(x, datetime.datetime.fromisoformat(t)) for x, t in times])
        earliest = datetime.datetime(2026, 1, 1, 9)
        texts = [f"at a{'!' * count}" for count in range(5)]
        assert set(kb.table("first").fetchall()) == {(text, earliest) for text in texts}
        assert kb.verify()


WALKS = """
    even(S, MIN(0)) :- start(X), S = concat("n", X).
    odd(T, MIN(D + W)) :- even(S, D), named(S, X), edge(X, Y, W), T = concat("n", Y).
    even(T, MIN(D + W)) :- odd(S, D), named(S, X), edge(X, Y, W), T = concat("n", Y).
"""


def walks(edges: list[Edge]) -> dict[str, set[tuple[str, int]]]:
    """The shortest walks of an odd and of an even number of edges from 0, by the names of nodes."""
    sides = [((x, side), (y, 1 - side), w) for x, y, w in edges for side in (0, 1)]
    graph = nx.DiGraph()
    graph.add_weighted_edges_from(sides)
    found = nx.single_source_dijkstra_path_length(graph, (0, 0))
    return {
        name: {(f"n{node}", int(w)) for (node, odd), w in found.items() if odd == (name == "odd")}
        for name in ("odd", "even")
    }


@pytest.mark.parametrize("large", [True, False])
def test_several_predicates_over_texts_that_rules_make(open_kb: OpenKb, large: bool) -> None:
    chance = random.Random(3)
    chain = [(n, n + 1, chance.randint(0, 3)) for n in range(80)]
    edges = chain + [(chance.randrange(80), chance.randrange(80), 5) for _ in range(6)]
    edges = list({(x, y): (x, y, w) for x, y, w in edges}.values())
    with as_if_large(large), open_kb() as kb:
        kb.insert("start", [(0,)])
        kb.insert("named", [(f"n{n}", n) for n in range(81)])
        kb.insert("edge", edges)
        kb.add_rules(WALKS)
        for number in range(5):
            for name, rows in walks(edges).items():
                assert set(kb.table(name).fetchall()) == rows
            gone = chance.sample(edges, 2) if number % 2 == 0 else []
            new = [edge for edge in chain if edge not in edges]
            kb.delete("edge", gone)
            kb.insert("edge", new)
            edges = [edge for edge in edges if edge not in gone] + new
        assert kb.verify()


def test_earliest_arrival_by_times(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        kb.add_rules("""
            .decl begin(s: symbol, o: timestamp)
            there(S, MIN(T)) :- begin(S, T).
            there(B, MIN(add_seconds(T, S))) :- there(A, T), way(A, B, S), S >= 0.
            late(S, MIN(if(W, add_days(T, 1), T))) :- begin(S, T), weekend(S, W).
            late(B, MIN(if(W, add_days(T, 1), T))) :- late(A, T), way(A, B, _), weekend(B, W).
        """)
        noon = datetime.datetime(2026, 1, 1, 12)
        kb.insert("begin", [("a", noon)])
        kb.insert("way", [("a", "b", 60), ("b", "c", 30), ("a", "c", 100), ("c", "a", 0)])
        kb.insert("weekend", [("a", False), ("b", True), ("c", True)])
        seconds = {"a": 0, "b": 60, "c": 90}
        assert dict(kb.table("there").fetchall()) == {
            place: noon + datetime.timedelta(seconds=later) for place, later in seconds.items()
        }
        change = kb.delete("way", [("b", "c", 30)])
        assert change.stats.hypernodes["h1"].strategy == "best"
        assert dict(kb.table("there").fetchall())["c"] == noon + datetime.timedelta(seconds=100)
        assert dict(kb.table("late").fetchall())["c"] == noon + datetime.timedelta(days=1)
        assert kb.verify()


@pytest.mark.parametrize(
    ("value", "rest"),
    [
        ("add_seconds(T, S)", "t(A, T), way(A, B, S)"),  # S may be negative
        ("if(T < U, T, U)", "t(A, T), begin(B, U), way(A, B, _)"),
        ("add_seconds(U, E)", "t(A, T), way(A, B, E), begin(A, U), T > U"),
    ],
)
def test_what_times_must_not_do(open_kb: OpenKb, value: str, rest: str) -> None:
    with open_kb() as kb:
        kb.add_rules(".decl begin(s: symbol, o: timestamp)\nt(S, MIN(T)) :- begin(S, T).")
        kb.insert("way", [("a", "b", 1)])
        with pytest.raises(ProgramError, match="is a recursion through MIN"):
            kb.add_rules(f"t(B, MIN({value})) :- {rest}.")


def test_facts_of_its_own_are_refused(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        kb.insert("start", [("a",)])
        kb.add_rules("dist(X, MIN(0)) :- start(X).")
        with pytest.raises(DataError, match="no facts of its own"):
            kb.insert("dist", [("b", 3)])
        kb.insert("other", [("b", 3)])
        with pytest.raises(DataError, match="no facts of its own"):
            kb.add_rules("other(X, MIN(0)) :- start(X).")
        with kb.update() as u:
            u.delete("other", [("b", 3)])
            u.add_rules("other(X, MIN(0)) :- start(X).")
        assert kb.table("other").fetchall() == [("a", 0)]


def test_the_same_rule_is_there_once(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        kb.insert("start", [("a",)])
        kb.add_rules("dist(X, MIN(0)) :- start(X).")
        kb.add_rules("dist(Y, min(0)) :- start(Y).")
        assert kb.rules().num_rows == 1


def test_after_reopening(open_kb: OpenKb, tmp_path: Path) -> None:
    file = tmp_path / "paths.duckdb"
    with open_kb(file) as kb:
        kb.insert("edge", grid(5))
        kb.insert("start", [(0,)])
        kb.add_rules(SINGLE)
    with open_kb(file) as kb:
        kb.delete("edge", grid(5)[3:6])
        assert set(kb.table("dist").fetchall()) == single(grid(5)[:3] + grid(5)[6:])
        assert kb.verify()


@pytest.mark.parametrize("small", [True, False])
def test_proofs(open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch, small: bool) -> None:
    if not small:  # as in a large database, where ranks lead to proofs
        monkeypatch.setattr(find_proof, "SMALL", 0)
        monkeypatch.setattr(find_proof, "FEW_FACTS", 1)
    edges = grid(4)
    with open_kb() as kb:
        kb.insert("edge", edges)
        kb.insert("start", [(0,)])
        kb.add_rules(SINGLE + WIDE)
        for name in ("dist", "wide"):
            for node, value in kb.table(name).fetchall():
                assert str(kb.why(f"{name}({node}, {value})")).startswith(
                    f"{name}({node}, {value})"
                )
        told = str(kb.why_not("dist(5, 1000)"))
        assert "of each group only the least value is a fact" in told


def test_why_it_moved(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        kb.insert("edge", [("a", "b", 1), ("b", "c", 2), ("a", "c", 5)])
        kb.insert("start", [("a",)])
        kb.add_rules(SINGLE)
        change = kb.delete("edge", [("b", "c", 2)])
        entered = str(change.why("dist(c, 5)"))
        assert "dist(c, 3) left" in entered
        assert "edge(b, c, 2) left: deleted by the change" in entered
        change = kb.insert("edge", [("a", "c", 2)])
        left = str(change.why("dist(c, 5)"))
        assert "dist(c, 2) entered" in left
        assert "edge(a, c, 2) entered: inserted by the change" in left
