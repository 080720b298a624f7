"""Cyclic rules as rules of their nodes: readable texts, and what is decided when."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import zodiac_sql
from zodiac_sql import KnowledgeBase
from zodiac_sql.cost.calibration import JOIN_ROW, MARGIN
from zodiac_sql.language.parse import parse
from zodiac_sql.language.syntax import Rule
from zodiac_sql.rewrite.hypertree.decompose import Costs, decompose
from zodiac_sql.rewrite.hypertree.rewrite import decomposed, edges_of

AS_5000_ROWS = 5_000 * JOIN_ROW / (4 * MARGIN)
"""What a statement costs if a tree pays that saves so many rows."""

OpenKb = Callable[..., KnowledgeBase]

SQUARE = "sq: q(X, Z) :- e(X, Y), e(Y, Z), e(Z, W), e(W, X)."


def rewritten(text: str) -> list[str]:
    """The rules that a rule becomes by a tree of nodes with as few atoms as possible."""
    (rule,) = parse(text, "<test>", {}).rules
    edges = edges_of(rule)
    assert edges is not None
    tree = decompose(edges, Costs(lambda places, chi: (4.0 ** len(places), 1.0)))
    assert tree is not None
    written = decomposed(rule, tree)
    return [shown(one) for one in (*written.nodes.values(), written.join)]


def shown(rule: Rule) -> str:
    """Nodes are called `sq node 1` here."""
    return f"{rule.head} :- {', '.join(map(str, rule.body))}".replace("\0", " ")


def test_a_square_is_two_paths_that_look_the_same() -> None:
    assert rewritten(SQUARE) == [
        "sq node 1(X, Z) :- e(X, Y), e(Y, Z)",
        "q(X, Z) :- sq node 1(X, Z), sq node 1(Z, X)",
    ]


def test_nodes_keep_what_others_need() -> None:
    assert rewritten("r: q(X, Y) :- a(X, Y), b(Y, Z), c(Z, W), d(W, X), f(W).") == [
        "r node 1(X, Y, Z) :- a(X, Y), b(Y, Z)",
        "r node 2(X, Z) :- c(Z, W), d(W, X), f(W)",
        "q(X, Y) :- r node 1(X, Y, Z), r node 2(X, Z)",
    ]


def test_tests_stand_where_their_variables_are() -> None:
    text = (
        "r: q(X, S) :- a(X, Y), b(Y, Z), c(Z, W), d(W, X), Y != 3, X < Z, Y < W, S = X + Z, "
        "N = Y + 1, N < 9, not g(Y, _), not h(Y, W)."
    )
    assert rewritten(text) == [
        (
            "r node 1(X, Y, Z) :- a(X, Y), b(Y, Z), BIND((Y + 1) AS N), Y != 3, X < Z, N < 9, "
            "not g(Y, _)"
        ),
        "r node 2(W, X, Z) :- c(Z, W), d(W, X), X < Z",
        "q(X, S) :- r node 1(X, Y, Z), r node 2(W, X, Z), BIND((X + Z) AS S), Y < W, not h(Y, W)",
    ]


def test_a_node_of_one_atom_has_no_table() -> None:
    assert rewritten("r: q(X, T) :- e(X, Y), e(Y, Z), e(Z, W), e(W, X), f(X, T, _).") == [
        "r node 2(X, Z) :- e(X, Y), e(Y, Z)",
        "q(X, T) :- f(X, T, _), r node 2(X, Z), r node 2(Z, X)",
    ]


def test_a_value_that_nobody_reads_must_be_there() -> None:
    text = (
        "r: q(X, Y) :- e(X, A), e(A, Y), e(Y, B), e(B, X), U = A + 1, V = 1 / U, W = 1 / (A - B)."
    )
    assert rewritten(text) == [
        "r node 1(A, X, Y) :- e(X, A), e(A, Y), BIND((A + 1) AS U), BIND((1 / U) AS V)",
        "r node 2(B, X, Y) :- e(Y, B), e(B, X)",
        "q(X, Y) :- r node 1(A, X, Y), r node 2(B, X, Y), BIND((1 / (A - B)) AS W)",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "r: q(N) :- AGGREGATE(e(X, Y)) WITH COUNT(X) AS N, e(N, X), e(X, Y), e(Y, N).",
        "r: q(X) :- e(X, Y), e(Y, Z), e(Z, W), e(W, X), f(1).",
    ],
)
def test_some_rules_are_not_decomposed(text: str) -> None:
    (rule,) = parse(text, "<test>", {}).rules
    assert edges_of(rule) is None


# --- what is decided ------------------------------------------------------------------------------


def trees(kb: KnowledgeBase) -> list[str]:
    return [text for row in kb.hypernodes().to_pylist() for text in row["trees"]]


def tables(kb: KnowledgeBase) -> list[tuple[object, ...]]:
    found = kb.sql("SELECT table_name FROM duckdb_tables() WHERE schema_name = 'hd' ORDER BY 1")
    counted = (kb.sql(f'SELECT count(*) FROM hd."{name}"').fetchone() for (name,) in found)
    return [(name, *count) for (name,), count in zip(found, counted, strict=True) if count]


def test_nodes_have_tables_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / "squares.duckdb"
    with zodiac_sql.connect(file, hypertree=True) as kb:
        kb.insert("e", [(1, 2), (2, 3), (3, 4), (4, 1)])
        change = kb.add_rules(SQUARE)
        assert change.inserted == {"q": 4}
        assert trees(kb) == ["sq: X Y Z [W X Z] (as chosen)"]
        assert change.stats["hypernodes"]["h1"]["trees"] == trees(kb)
        assert str(kb.graph()) == "h1  stratum 0  sq  derives q  modules hypertree(sq)"
        assert "by nodes X Y Z [W X Z]" in kb.graph(rules=True).svg()
    with zodiac_sql.connect(file, hypertree=True) as kb:
        assert tables(kb) == [("h1_sq_n1", 4)]
        change = kb.delete("e", [(4, 1)])
        assert change.deleted == {"e": 1, "q": 4}
        assert change.stats["hypernodes"]["h1"]["method"] == "nodes"
        assert tables(kb) == [("h1_sq_n1", 2)]
        assert kb.verify()
        kb.drop_rules("sq")
        assert tables(kb) == []
        assert kb.sql("SELECT count(*) FROM zodiac.hypertree").fetchone() == (0,)


def test_a_fault_in_a_table_of_a_node_is_found(tmp_path: Path) -> None:
    import duckdb

    file = tmp_path / "fault.duckdb"
    with zodiac_sql.connect(file, hypertree=True) as kb:
        kb.insert("e", [(1, 2), (2, 3), (3, 4), (4, 1)])
        kb.add_rules(SQUARE)
    with duckdb.connect(str(file)) as raw:
        raw.execute("DELETE FROM hd.h1_sq_n1 WHERE X = 1")
    with zodiac_sql.connect(file) as kb:
        assert kb.verify().tables == {"hd.h1_sq_n1": (1, 0)}


def test_a_value_that_nobody_reads_must_be_there_in_all_nodes() -> None:
    rule = "p(X, Y) :- e(X, A), e(A, Y), e(Y, B), e(B, X), V = 1 / X, W = 1 / (A - 5), 1 < 2."
    with zodiac_sql.connect(hypertree=True) as kb:
        kb.insert("e", [(0, 1), (1, 0), (1, 5), (5, 1)])
        kb.add_rules(rule)
        assert sorted(kb.table("p").fetchall()) == [(1, 1), (5, 0), (5, 5)]
        kb.insert("e", [(2, 2), (2, 0), (0, 2)])
        kb.delete("e", [(0, 1)])
        assert sorted(kb.table("p").fetchall()) == [(2, 0), (2, 2), (5, 5)]
        assert kb.verify()


def test_a_tree_of_a_file_that_is_older_than_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its nodes were one, and their tables lack what the join needs now."""
    from zodiac_sql.rewrite.hypertree import rewrite

    file = tmp_path / "older.duckdb"
    rule = "p(X, Y) :- e(X, A), e(A, Y), e(Y, B), e(B, X), V = 1 / A, W = 1 / (X - Y)."
    with monkeypatch.context() as before:
        before.setattr(rewrite, "_unread", lambda body, head: ())
        with zodiac_sql.connect(file, hypertree=True) as kb:
            kb.insert("e", [(0, 1), (1, 0), (1, 2), (2, 3), (3, 1)])
            kb.add_rules(rule)
    with zodiac_sql.connect(file, hypertree=True) as kb:
        assert not kb.verify()
        kb.insert("e", [(3, 4), (4, 1)])
        assert kb.verify()
        assert sorted(kb.table("p").fetchall()) == [(1, 3), (2, 4), (3, 1), (4, 2)]


def test_names_of_rules_that_differ_in_case_only() -> None:
    with zodiac_sql.connect(hypertree=True) as kb:
        kb.insert("e", [(1, 2), (2, 3), (3, 4), (4, 1)])
        rule = "{}: q(X, Y) :- e(X, Y), e(Y, Z), e(Z, W), e(W, X), q(Z, {}). "
        kb.add_rules("q(X, X) :- e(X, _). " + rule.format("R", "Z") + rule.format("r", "_"))
        assert [str(name).lower() for name, _ in tables(kb)] == [
            "h2_r_n1", "h2_r_n2", "h2_r_n2_2"
        ]  # fmt: skip
        assert kb.verify()


def test_what_is_small_is_evaluated_as_a_whole(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        kb.insert("e", [(1, 2), (2, 3), (3, 4), (4, 1)])
        kb.add_rules(SQUARE)
        (told,) = trees(kb)
        assert told == "sq: as a whole (little to read)"
        kb.insert("e", [(n, n + 1) for n in range(500)])
        (told,) = trees(kb)
        assert told.startswith("sq: as a whole (estimated ")


PETAL = "petal: q(X, Y) :- e(X, A), e(A, Y), e(X, B), e(B, Y), e(Y, C), e(C, X)."


def hub(ends: int) -> list[tuple[int, int]]:
    """A graph in which everything meets in one vertex: paths of two edges are many."""
    return [(0, n) for n in range(1, ends)] + [(n, 0) for n in range(1, ends)]


def test_it_is_looked_at_again_when_there_is_much_more_to_read(
    open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zodiac_sql.cost.choose_trees.STATEMENT", AS_5000_ROWS)
    with open_kb() as kb:
        kb.insert("e", hub(5))
        kb.add_rules(PETAL)
        assert "as a whole" in trees(kb)[0]
        change = kb.insert("e", hub(1_200))
        assert "as a whole" not in trees(kb)[0]
        assert change.stats["hypernodes"]["h1"]["strategy"] == "recompute"
        assert kb.verify()


def test_tables_of_nodes_have_a_limit(open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zodiac_sql.cost.choose_trees.STATEMENT", AS_5000_ROWS)
    monkeypatch.setattr("zodiac_sql.cost.choose_trees.MOST_NODE_ROWS_PER_FACT", 0)
    monkeypatch.setattr("zodiac_sql.cost.choose_trees.is_large", lambda rows: rows > 10)
    with open_kb() as kb:
        kb.insert("e", hub(60))
        kb.add_rules(PETAL)
        (told,) = trees(kb)
        assert told.startswith("petal: as a whole (its nodes had ")
        assert tables(kb) == []
        assert kb.verify()


def test_an_unknown_choice() -> None:
    with pytest.raises(ValueError, match='hypertree is "auto", True or False; not 3'):
        zodiac_sql.connect(hypertree=3)  # type: ignore[arg-type]


def test_a_preview_may_decide_otherwise(open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is kept for the next change must not be about the other rules."""
    monkeypatch.setattr("zodiac_sql.cost.choose_trees.STATEMENT", AS_5000_ROWS)
    with open_kb() as kb:
        kb.insert("e", hub(30))
        kb.add_rules(PETAL)
        before = trees(kb)
        with kb.preview() as preview:
            preview.insert("e", hub(300))
        assert preview.change.inserted["q"] > 80_000
        assert trees(kb) == before
        assert kb.insert("e", [(1, 2), (2, 1)]).inserted["e"] == 2
        assert kb.verify()


def test_a_join_that_duckdb_loses_columns_of(tmp_path: Path) -> None:
    """DuckDB 1.5.6 says "Failed to bind column reference" here, unless an optimizer is off."""
    file = tmp_path / "ring.duckdb"
    given = "4aa 4cc 4cf a44 a4f aac aff b44 bca cbf f4b fbf ff4"
    with zodiac_sql.connect(file, hypertree=False) as kb, kb.update() as update:
        update.insert(
            "e", [tuple(pair) for pair in ["4b", "4c", "a4", "ba", "c4", "ca", "f4", "ff"]]
        )
        update.insert("g", [tuple(three) for three in given.split()])
        update.add_rules("p() :- F != Z, e(X, U), g(Z, X, F), not g(U, _, F), e(Z, Y), e(U, Y).")
    with zodiac_sql.connect(file, hypertree=False) as kb:
        kb.add_rules(
            "ring: p() :- e(Z, U), not g(Y, Z, V), e(W, X), g(Y, Y, Z), e(V, W), p(), e(X, Y), "
            "e(U, V)."
        )
    with zodiac_sql.connect(file) as kb:
        kb.replace("g", [("f", "c", "4"), ("a", "c", "b")])
        assert kb.verify()
