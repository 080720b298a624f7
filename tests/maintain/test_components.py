"""Transitive closures that are kept as strongly connected components, and when they are."""

from __future__ import annotations

import random
import shutil
from array import array
from collections.abc import Callable
from pathlib import Path

import duckdb
import networkx as nx
import pytest
from support.closed_relations import (
    ABOVE,
    LEFT,
    NEAR,
    PATH,
    RIGHT,
    differences,
    extensions,
    facts_told,
    in_idb,
    modules_of,
    open_with,
    shown,
)

import zodiac_sql
from zodiac_sql import KnowledgeBase
from zodiac_sql.cost import closures
from zodiac_sql.cost.closures import Sizes, sizes_of
from zodiac_sql.cost.components import Components
from zodiac_sql.cost.strong import graph_of, strong_components
from zodiac_sql.database.temporary_tables import TemporaryTables
from zodiac_sql.read.verify import compare_views, expected

OpenKb = Callable[..., KnowledgeBase]
Edge = tuple[int, int]

SIZE = 300


def ring(start: int, size: int = SIZE) -> list[Edge]:
    return [(start + i, start + (i + 1) % size) for i in range(size)]


ALIKE = pytest.mark.parametrize("rules", [PATH, LEFT, RIGHT])
"""Three ways to say the same."""


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Components are taken wherever they can be."""
    monkeypatch.setattr(closures, "LEAST_PAIRS", 0)
    monkeypatch.setattr(closures, "LEAST_GAIN", 0)


def components(nodes: int, edges: list[Edge]) -> Components:
    graph = graph_of(
        nodes, [a for a, _ in sorted(edges)], array("i", [b for _, b in sorted(edges)])
    )
    return Components(graph, *strong_components(graph))


# --- components of graphs -------------------------------------------------------------------------


def test_components_and_sizes_are_those_of_networkx(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(21)
    for _ in range(300):
        nodes = rng.randint(1, 9)
        edges = [(rng.randrange(nodes), rng.randrange(nodes)) for _ in range(rng.randint(1, 14))]
        found = components(nodes, edges)
        graph = nx.DiGraph(edges)
        graph.add_nodes_from(range(nodes))
        classes: dict[int, set[int]] = {}
        for node, component in enumerate(found.component):
            classes.setdefault(component, set()).add(node)
        wanted = sorted(map(sorted, nx.strongly_connected_components(graph)))
        assert sorted(map(sorted, classes.values())) == wanted and len(classes) == found.number
        closed = nx.transitive_closure(graph, reflexive=False)
        pairs = closed.number_of_edges()
        rows = {(found.component[a], found.component[b]) for a, b in closed.edges}
        assert sizes_of(found) == Sizes(pairs, nodes + len(rows))


def test_sizes_of_many_components_are_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two large components are before the same 2,000 small ones; of these half lead to another."""
    monkeypatch.setattr(closures, "MOST_BITS", 2002 * 500)
    small = list(range(600, 2600))
    edges = [*ring(0, 300), *ring(300, 300), *((0, node) for node in small)]
    edges += [(300, 0), *((a, b) for a, b in zip(small[::2], small[1::2], strict=True))]
    found = sizes_of(components(2600, edges))
    assert found.pairs == pytest.approx(300 * (900 + 2 * 2000 - 300 + 300) + 1000, rel=0.15)
    assert found.rows == pytest.approx(2600 + 3 + 4000 + 1000, rel=0.15)


@pytest.mark.parametrize(
    ("edges", "may_pay"),
    [
        ([(n, n // 3) for n in range(1, 500)], False),  # a tree
        ([(n, n + 1) for n in range(50)] + [(a, a) for a in range(50)], True),  # looked at no more
        (ring(0, 50), True),
        ([*((n, n // 3) for n in range(50, 500)), *ring(0, 50)], True),
        ([(n, n) for n in range(50)], False),
    ],
)
def test_a_hierarchy_has_no_components(
    open_kb: OpenKb, edges: list[Edge], may_pay: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []
    monkeypatch.setattr(closures, "LEAST_PAIRS", 0)
    monkeypatch.setattr(closures, "LEAST_TRIMMED", 0)
    monkeypatch.setattr(
        closures, "components_of", lambda *_: asked.append(True) or components(2, [])
    )
    kb = open_kb()
    kb.insert("edge", edges)
    kb.add_rules(LEFT)
    assert (asked == [True]) == may_pay
    assert kb.verify()


# --- when -----------------------------------------------------------------------------------------


def test_only_what_gains_much_is_kept_as_components(
    open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(closures, "LEAST_PAIRS", 5_000)
    kb = open_kb()
    kb.add_rules(PATH)
    kb.insert("edge", [(i, i + 1) for i in range(100)])  # 5,050 pairs, and no two in a class
    assert modules_of(kb) == ["tc(path)"]
    kb.drop_rules("trans")
    kb.insert("edge", [(100, 0)])
    kb.add_rules("trans: path(X, Z) :- path(X, Y), path(Y, Z).")
    assert modules_of(kb) == ["scc(path)"]
    assert kb.sql("SELECT count(*) FROM path").fetchall() == [(101**2,)]


def test_rules_that_classes_cannot_stand_for(open_kb: OpenKb, always: None) -> None:
    for rules, modules in (
        (PATH, ["scc(path)"]),
        (PATH.replace("path(Y, Z).", "path(Y, Z), X != Z."), ["tc(path)"]),
        (PATH + "longer: path(X, Z) :- path(X, Y), edge(Y, Z).", ["scc(path)"]),
        (PATH + "back: path(X, Y) :- path(Y, X).", ["stc(path)"]),
    ):
        kb = open_kb()
        kb.add_rules(rules)
        kb.insert("edge", [*ring(0, 4), (3, 9), (9, 9)])
        assert modules_of(kb) == modules
        assert kb.verify()


def test_components_are_given_up_where_they_do_not_pay(
    open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(closures, "LEAST_PAIRS", 300)
    kb = open_kb()
    kb.insert("edge", ring(0, 30))
    kb.add_rules(PATH)
    assert modules_of(kb) == ["scc(path)"]
    change = kb.delete("edge", [(29, 0)])
    assert (change.deleted["path"], modules_of(kb)) == (900 - 435, ["scc(path)"])
    change = kb.insert("edge", [(29, 30)])
    assert (change.inserted, modules_of(kb)) == ({"edge": 1, "path": 30}, ["tc(path)"])
    assert shown(change.inserted_facts("path")) == {(i, 30) for i in range(30)}
    assert kb.verify()


def test_edges_that_close_a_large_cycle_make_components_of_pairs(
    open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(closures, "LEAST_PAIRS", 90_000)
    kb = open_kb()
    kb.insert("edge", ring(0)[:-1])
    kb.add_rules(PATH)
    assert modules_of(kb) == ["tc(path)"]
    kb.insert("edge", [(SIZE, SIZE + 1)])
    assert modules_of(kb) == ["tc(path)"]
    change = kb.insert("edge", [(SIZE - 1, 0)])
    assert modules_of(kb) == ["scc(path)"]
    assert change.inserted["path"] == SIZE * (SIZE + 1) // 2
    assert shown(change.inserted_facts("path")) == {
        (a, b) for a in range(SIZE) for b in range(a + 1)
    }
    assert kb.verify()


# --- linear rules ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "other",
    [
        "also: path(X, Y) :- leap(X, Y).",
        "also: path(X, Y) :- edge(X, Y), leap(X, Y).",
        "also: path(X, Y) :- leap(Y, X).",
    ],
)
@pytest.mark.parametrize("rules", [LEFT, RIGHT])
def test_another_rule_for_what_linear_rules_close(
    open_kb: OpenKb, always: None, rules: str, other: str
) -> None:
    """A path may then begin, or end, with what is no edge, and cannot go on by such."""
    kb = open_kb()
    kb.add_rules(rules)
    kb.insert("edge", [*ring(0, 4), (3, 5)])
    assert modules_of(kb) == ["scc(path)"]
    kb.insert("leap", [(7, 0)])
    kb.add_rules(other)
    kb.insert("leap", [(5, 7), (0, 9)])
    kb.insert("edge", [(9, 10)])
    assert (modules_of(kb), bool(kb.verify())) == ([], True)
    kb.drop_rules("also")
    kb.drop_rules("trans")
    kb.add_rules(rules)
    assert (modules_of(kb), bool(kb.verify())) == (["scc(path)"], True)


@pytest.mark.parametrize("rules", [LEFT, RIGHT])
def test_explicit_facts_of_what_linear_rules_close(
    open_kb: OpenKb, always: None, rules: str
) -> None:
    kb = open_kb()
    kb.add_rules(rules)
    kb.insert("edge", [*ring(0, 4), (3, 5)])
    change = kb.insert("path", [(5, 7), (7, 0)])
    assert (modules_of(kb), bool(kb.verify())) == ([], True)
    new = {(5, 7), (7, 0)}
    if rules == LEFT:
        new |= {(7, n) for n in (1, 2, 3, 5)}
    else:
        new |= {(n, 7) for n in (0, 1, 2, 3)}
    assert shown(change.inserted_facts("path")) == new
    assert set(kb.table("path").fetchall()) == new | {
        (a, b) for a in range(4) for b in range(4)
    } | {(a, 5) for a in range(4)}
    assert kb.verify()


def test_a_copy_that_goes_leaves_no_closure(open_kb: OpenKb, always: None) -> None:
    kb = open_kb()
    kb.add_rules(RIGHT)
    kb.insert("edge", ring(0, 4))
    kb.drop_rules("copy")
    assert kb.table("path").fetchall() == [] and kb.verify()
    kb.insert("path", [(2, 9)])
    assert set(kb.table("path").fetchall()) == {(n, 9) for n in range(4)} and kb.verify()


def test_linear_rules_along_something_else(open_kb: OpenKb, always: None) -> None:
    copy, edges = "copy: path(X, Y) :- edge(X, Y). ", [*ring(0, 4), (3, 5)]
    for rules in (
        "path(X, Y) :- edge(Y, X). path(X, Z) :- edge(X, Y), path(Y, Z).",
        copy + "path(X, Z) :- leap(X, Y), path(Y, Z).",
        copy + "path(X, Z) :- edge(Y, X), path(Y, Z).",
        copy + "path(X, Z) :- path(X, Y), edge(Y, Z), mark(Z).",
        copy + "path(X, Z) :- path(X, Y), edge(Y, Z). path(X, Z) :- leap(X, Y), path(Y, Z).",
    ):
        kb = open_kb()
        kb.add_rules(rules)
        with kb.update() as update:
            update.insert("edge", edges)
            update.insert("leap", edges)
            update.insert("mark", [(0,), (2,)])
        assert (modules_of(kb), bool(kb.verify())) == ([], True), rules


def test_both_linear_rules_and_the_transitive_one(open_kb: OpenKb, always: None) -> None:
    back = "back: path(X, Z) :- path(X, Y), edge(Y, Z). "
    for rules in (RIGHT + back, PATH + back, PATH + back + RIGHT.replace("trans", "forth")):
        kb = open_kb()
        kb.add_rules(rules.replace("copy: path(X, Y) :- edge(X, Y). ", "", rules.count("copy") - 1))
        kb.insert("edge", [*ring(0, 4), (3, 5)])
        assert modules_of(kb) == ["scc(path)"]
        kb.delete("edge", [(1, 2)])
        assert kb.verify() and kb.why("path(2, 1)")


@pytest.mark.parametrize(
    ("rules", "step"), [(LEFT, ("path", "edge", "edge")), (RIGHT, ("edge", "edge", "path"))]
)
def test_a_proof_by_linear_rules(
    open_kb: OpenKb, always: None, rules: str, step: tuple[str, ...]
) -> None:
    kb = open_kb()
    kb.add_rules(rules)
    kb.insert("edge", [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")])
    lines = str(kb.why("path(a, d)")).splitlines()
    below = [line.split("─ ")[1] for line in lines if line.startswith(("├", "└"))]
    edges = zip(step, ("(a, b)", "(b, c)", "(c, d)"), strict=True)
    assert [text.removesuffix("  explicit") for text in below] == [a + b for a, b in edges]


# --- what is seen of them -------------------------------------------------------------------------


@ALIKE
def test_the_file_has_classes_pairs_of_them_and_a_view(
    tmp_path: Path, always: None, rules: str
) -> None:
    path = tmp_path / "some.duckdb"
    with open_with(True, path) as kb:
        kb.add_rules(rules + NEAR)
        kb.insert("edge", [("a", "b"), ("b", "a"), ("b", "c"), ("c", "d"), ("e", "e")])
        tables, views = in_idb(kb)
        assert tables == ["h1_path", "h2_path between", "h2_path classes"]
        assert views == ["h2_path"]
        wanted = {(a, b) for a in "ab" for b in "abcd"} | {("c", "d"), ("e", "e")}
        assert set(kb.table("path").fetchall()) == wanted
        assert set(kb.sql("SELECT * FROM path").fetchall()) == wanted
        assert set(kb.query("path(X, Y)").fetchall()) == wanted
        assert kb.query("path(c, X), not path(X, c), not path(d, X)").fetchall() == [("d",)]
        assert "path(a, d)" in str(kb.why("path(a, d)"))
        assert kb.why_not("path(d, a)")


@ALIKE
def test_what_left_with_components(open_kb: OpenKb, always: None, rules: str) -> None:
    """Their two tables go with the change, and are read once more when somebody asks."""
    every = {(a, b) for a in range(4) for b in range(4)} | {(a, 5) for a in range(4)}
    for edges, change in (
        ([], lambda kb: kb.drop_rules("trans")),
        ([*ring(0, 4), (3, 5)], lambda kb: kb.drop_rules("trans")),
        ([*ring(0, 4), (3, 5)], lambda kb: kb.add_rules("path(X, Y) :- path(Y, X).")),
        ([(1, 2)], lambda kb: kb.drop_rules("trans")),
        (
            [(1, 2)],
            lambda kb: kb.add_rules("path(X, Y) :- f(X, Y). f(X, Y) :- path(Y, X), hop(X)."),
        ),
        ([(1, 2)], lambda kb: kb.add_rules("path(X, Z) :- path(X, Y), path(Y, Z), X != Z.")),
    ):
        kb = open_kb()
        kb.add_rules(rules)
        kb.insert("edge", [*ring(0, 4), (3, 5)])
        assert modules_of(kb) == ["scc(path)"]
        before = extensions(kb)["path"]
        assert before == every
        with kb.update() as update:
            update.delete("edge", edges)
            change(update)
        told = update.change
        assert shown(told.deleted_facts("path")) == before - extensions(kb)["path"] != set()
        assert kb.verify()


@ALIKE
def test_what_left_with_a_hypernode_that_merged_into_a_larger_one(
    open_kb: OpenKb, always: None, rules: str
) -> None:
    kb = open_kb()
    kb.add_rules(rules + "wide: wide(X, Y) :- edge(X, Z), big(Y).")
    kb.insert("big", [(number,) for number in range(20)])
    kb.insert("edge", [*ring(0, 4), (3, 5)])
    assert modules_of(kb) == ["scc(path)"]
    before = extensions(kb)["path"]
    with kb.update() as update:
        update.delete("edge", [*ring(0, 4), (3, 5)])
        update.add_rules("edge(X, Y) :- wide(X, Y), path(X, Y), hop(X).")
    assert shown(update.change.deleted_facts("path")) == before
    assert kb.verify() and len(kb.hypernodes()) == 1


@ALIKE
def test_rules_above_learn_what_moves(open_kb: OpenKb, always: None, rules: str) -> None:
    """Classes merge and fall apart, new nodes come, and old ones vanish."""
    above = ABOVE.replace("near", "path") + "loop(X) :- path(X, X). "
    kb = open_kb()
    kb.add_rules(rules + above)
    kb.insert("pair", [(0, 5), (5, 0), (2, 2)])
    kb.insert("edge", [*ring(0, 4), (3, 5), (5, 6), (6, 7), (8, 8)])
    assert modules_of(kb) == ["scc(path)"]
    for inserts, deletes in (
        ([(7, 5)], []), ([(7, 0)], []), ([], [(7, 0), (8, 8)]), ([(6, 0)], [(3, 0), (7, 5)]),
        ([(9, 9), (9, 10)], [(0, 1)]), ([], [(9, 9)]), ([(10, 9)], [(9, 10)]),
    ):  # fmt: skip
        before = extensions(kb)
        with kb.preview() as update:
            update.insert("edge", inserts)
            update.delete("edge", deletes)
        previewed = facts_told(update.change)
        with kb.update() as update:
            update.insert("edge", inserts)
            update.delete("edge", deletes)
        told = facts_told(update.change)
        assert told == previewed == differences(before, extensions(kb))
    assert kb.verify()


@ALIKE
@pytest.mark.parametrize("affordable", [True, False])
def test_verify_finds_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, always: None, affordable: bool, rules: str
) -> None:
    if not affordable:
        monkeypatch.setattr(expected, "AFFORDABLE_FACTS", 0)
        monkeypatch.setattr(compare_views, "MOST_COMPARED", 0)
    path = tmp_path / "some.duckdb"
    with open_with(True, path) as kb:
        kb.add_rules(rules)
        kb.insert("edge", [("a", "b"), ("b", "a"), ("b", "c"), ("c", "d")])
        assert kb.verify()
    for statement in (
        'DELETE FROM idb."h2_path between" WHERE first = second',
        'INSERT INTO idb."h2_path between" FROM idb."h2_path between" LIMIT 1',
        'UPDATE idb."h2_path classes" SET class = 77',
        'CREATE OR REPLACE VIEW path AS SELECT s, o FROM idb."h2_path", (SELECT 1) WHERE false',
    ):
        damaged = tmp_path / "damaged.duckdb"
        shutil.copyfile(path, damaged)
        with duckdb.connect(damaged) as connection:
            connection.execute(statement)
        with open_with(True, damaged) as kb:
            assert not kb.verify(), statement


@ALIKE
def test_large_ones_are_counted_not_made(tmp_path: Path, always: None, rules: str) -> None:
    """Two rings of 300 nodes: no statement writes more rows than 20 for each node."""
    written: list[int] = []
    with zodiac_sql.connect(tmp_path / "large.duckdb") as kb:
        kb.add_rules(rules)
        kb.insert("edge", [*ring(0), *ring(SIZE)])
        assert modules_of(kb) == ["scc(path)"]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(TemporaryTables, "written", lambda _, rows: written.append(rows))
            one = kb.insert("edge", [(0, SIZE)])
            assert one.inserted == {"edge": 1, "path": SIZE**2}
            merged = kb.insert("edge", [(SIZE, 0)])
            assert merged.inserted == {"edge": 1, "path": SIZE**2}
            assert kb.insert("edge", [(1, SIZE + 5)]).inserted == {"edge": 1}
            assert kb.delete("edge", [(0, SIZE)]).deleted == {"edge": 1}
            split = kb.delete("edge", [(1, SIZE + 5)])
        # (The numbers of facts are asked for, too, and are no rows that are written.)
        assert max(rows for rows in written if rows % SIZE**2) <= 20 * SIZE
        some = shown(split.deleted_facts("path", 1000))
        assert len(some) == 1000 and all(a < SIZE <= b for a, b in some)
        assert (split.inserted, split.deleted) == ({}, {"edge": 1, "path": SIZE**2})
    with zodiac_sql.connect(tmp_path / "large.duckdb") as kb:
        assert kb.predicates().to_pylist()[-1]["extension"] == 3 * SIZE**2
        gone = kb.delete("edge", [(5, 6)])
        assert gone.deleted["path"] == SIZE**2 - SIZE * (SIZE - 1) // 2 + SIZE * (SIZE - 6)
        assert (
            kb.drop_rules("trans").deleted["path"] == 3 * SIZE**2 - gone.deleted["path"] - 2 * SIZE
        )


@pytest.mark.parametrize(
    "name", ['a"zodiac$members"b', 'a"zodiac$stored"b', 'a"zodiac$left"b', '"$0"', '"$1"."$2"']
)
def test_no_name_becomes_sql(open_kb: OpenKb, name: str) -> None:
    """Statements about members of classes have places for names."""
    p = f"`{name}`"
    with open_kb() as kb:
        kb.insert("e", [(1, 2), (2, 3), (5, 6)])
        kb.add_rules(f"{p}(X, Y) :- e(X, Y). {p}(Y, X) :- {p}(X, Y).")
        kb.add_rules(f"{p}(X, Z) :- {p}(X, Y), {p}(Y, Z).")
        assert kb.insert("e", [(3, 5)]).inserted[name] == 25 - 13
        assert kb.delete("e", [(3, 5)]).deleted[name] == 25 - 13
        assert kb.verify()
