"""Hypernodes appear, vanish, merge and split: figures 1 and 3 of paper 1."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.changing_rules import (
    CHAIN,
    SAFE,
    aside,
    come,
    fill,
    gone,
    idb,
    moved,
    names,
    predicates,
    shown,
    texts,
    views,
)
from support.figure_1 import R8

from zodiac_sql import QueryError

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase
    from zodiac_sql.change.change import Change

OpenKb = Callable[..., "KnowledgeBase"]


def assert_as_fresh(open_kb: OpenKb, kb: KnowledgeBase) -> None:
    """As if these rules and the facts had come at once."""
    with open_kb() as fresh:
        fill(fresh, "".join(f"{name}: {text}\n" for name, text in texts(kb).items()))
        assert shown(kb) == shown(fresh)


def traced(kb: KnowledgeBase, act: Callable[[], Change]) -> tuple[Change, list[str]]:
    seen: list[str] = []
    kb.trace(lambda text, parameters: seen.append(text))
    change = act()
    kb.trace(None)
    return change, seen


VANISHED = ("h3_p5", "h3_p6", "h4_p7")


def test_hypernodes_vanish_without_reasoning(figure: KnowledgeBase, open_kb: OpenKb) -> None:
    p7 = set(figure.table("p7").fetchall())
    change, seen = traced(figure, lambda: figure.drop_rules("r5", "r6", "r7"))
    seen = [text for text in seen if not text.startswith('DROP TABLE IF EXISTS "temp"')]
    touching = [text for text in seen if any(table in text for table in ("h3_p5", "h4_p7"))]
    assert sorted(text.split(" RENAME")[0] for text in touching) == [
        'ALTER TABLE "idb"."h3_p5"', 'ALTER TABLE "idb"."h4_p7"'
    ]  # fmt: skip
    assert moved(change) == {"dropped": ("h3", "h4")}
    assert change.hypernodes.untouched == ("h1", "h2")
    assert change.stats["hypernodes"] == {}
    assert change.deleted == {"p5": 3, "p6": 3, "p7": 4} and change.inserted == {}
    assert gone(change, "p7") == p7
    assert gone(change, "p5") == gone(change, "p6") == {("a", "b"), ("b", "c"), ("c", "d")}
    assert predicates(figure).keys() == {"p0", "p1", "p2", "p3", "p4", "p6"} == views(figure)
    assert_as_fresh(open_kb, figure)


def test_no_statement_reads_the_tables_of_a_vanished_hypernode(figure: KnowledgeBase) -> None:
    """Not even where there are explicit facts of its predicate, too."""
    _, seen = traced(figure, lambda: figure.drop_rules("r5", "r6", "r7"))
    touching = [text for text in seen if any(table in text for table in VANISHED)]
    assert [text for text in touching if not text.startswith(("ALTER", "DROP"))] == []


def test_what_vanished_is_kept_until_the_next_change(figure: KnowledgeBase) -> None:
    change = figure.drop_rules("r5", "r6", "r7")
    kept = aside(figure)
    assert kept == {"zodiac$aside_h3_p5", "zodiac$aside_h3_p6", "zodiac$aside_h4_p7"}
    assert not idb(figure) & set(VANISHED)
    figure.query("p2(X, Y)")
    assert figure.verify()
    assert len(gone(change, "p7")) == 4 and aside(figure) == kept
    with figure.preview() as preview:
        preview.insert("p0", [("x", "y")])
    with pytest.raises(QueryError):
        figure.drop_rules("nothing", strict=True)
    assert aside(figure) == kept
    figure.insert("p9", [("x",)])
    assert aside(figure) == set()
    with pytest.raises(QueryError, match="until the next change"):
        change.deleted_facts("p7")


def test_two_hypernodes_vanish_one_after_the_other(figure: KnowledgeBase) -> None:
    figure.drop_rules("r7")
    assert aside(figure) == {"zodiac$aside_h4_p7"}
    figure.add_rules("r7: p7(X, Z) :- p3(X, Y), p5(Y, Z).")
    assert aside(figure) == set()
    change = figure.drop_rules("r7")
    assert len(gone(change, "p7")) == 4 and len(aside(figure)) == 1


def test_what_vanished_before_a_kill_goes_with_the_next_change(
    open_kb: OpenKb, tmp_path: Path
) -> None:
    file = tmp_path / "figure.duckdb"
    with open_kb(file) as kb:
        fill(kb, SAFE)
    code = (
        "import os, sys, zodiac_sql\n"
        "kb = zodiac_sql.connect(sys.argv[1])\n"
        "kb.drop_rules('r5', 'r6', 'r7')\n"
        "os.kill(os.getpid(), 9)\n"
    )
    assert subprocess.run([sys.executable, "-c", code, str(file)], check=False).returncode == -9
    with open_kb(file) as kb:
        assert names(kb) == ["r1", "r2", "r3", "r4"]
        assert len(aside(kb)) == 3 and kb.verify()
    with open_kb(file) as kb:
        kb.insert("p0", [("x", "y")])
        assert aside(kb) == set() and kb.verify()
    with open_kb(file) as kb:
        assert idb(kb) == {"h1_p1", "h2_p2", "h2_p3", "h2_p4"}


def test_figures_3b_and_3c(figure: KnowledgeBase, open_kb: OpenKb) -> None:
    figure.drop_rules("r5", "r6", "r7")
    change = figure.add_rules(R8)
    assert moved(change) == {"updated": ("h2",)}
    assert change.hypernodes.untouched == ("h1",)
    assert_as_fresh(open_kb, figure)
    change = figure.drop_rules("r4")
    ((old, parts),) = change.hypernodes.split.items()
    assert old == "h2" and len(parts) == 3 and "h2" in parts
    assert moved(change) == {"split": {"h2": parts}}
    assert change.hypernodes.untouched == ("h1",)
    assert_as_fresh(open_kb, figure)
    change = figure.add_rules("r4: p4(X, Y) :- p2(X, Y).")
    ((new, olds),) = change.hypernodes.merged.items()
    assert set(olds) == set(parts) and moved(change) == {"merged": {new: olds}}
    assert_as_fresh(open_kb, figure)


def test_figure_3c_with_what_follows(figure: KnowledgeBase, open_kb: OpenKb) -> None:
    figure.add_rules(R8)
    change = figure.drop_rules("r4")
    assert change.hypernodes.split.keys() == {"h2"}
    assert change.hypernodes.untouched[0] == "h1"
    assert set(change.hypernodes.updated) <= {"h3", "h4"}
    assert change.deleted["p2"] and change.deleted["p3"] and change.deleted["p4"]
    assert_as_fresh(open_kb, figure)


def test_a_rule_closes_a_cycle_and_opens_it_again(open_kb: OpenKb, strategy: str) -> None:
    with open_kb(strategy=strategy) as kb:
        kb.add_rules(CHAIN)
        kb.insert("e", [("a", "b"), ("b", "c")])
        change = kb.add_rules("d: p(X, Y) :- r(X, Y).")
        ((new, olds),) = change.hypernodes.merged.items()
        assert olds == ("h2", "h3")
        assert moved(change) == {"merged": {new: ("h2", "h3")}, "updated": ("h4",)}
        assert change.inserted == {"p": 2, "q": 2, "r": 2}
        assert come(change, "p") == {("b", "a"), ("c", "b")}
        assert kb.verify()
        change = kb.drop_rules("d")
        assert change.hypernodes.split.keys() == {new}
        assert change.deleted["p"] == 2 and gone(change, "p") == {("b", "a"), ("c", "b")}
        assert kb.verify()


def test_a_new_hypernode_between_old_ones(kb: KnowledgeBase) -> None:
    kb.add_rules("a: p(X) :- e(X). c: r(X) :- q(X). e(x).")
    change = kb.add_rules("b: q(X) :- p(X).")
    assert moved(change) == {"created": ("h3",), "updated": ("h2",)}
    assert change.inserted == {"q": 1, "r": 1}
    change = kb.drop_rules("b")
    assert moved(change) == {"dropped": ("h3",), "updated": ("h2",)}
    assert change.deleted == {"q": 1, "r": 1}


def test_ranks_are_there_for_recursive_hypernodes_only(open_kb: OpenKb, strategy: str) -> None:
    with open_kb(strategy=strategy) as kb:
        kb.add_rules("a: p(X) :- e(X). b: q(X) :- p(X). c: p(X) :- f(X, Y), p(Y). e(x). f(y, x).")
        assert_ranked_where_recursive(kb, {"c"})
        kb.add_rules("d: p(X) :- q(X).")
        assert_ranked_where_recursive(kb, {"b", "c", "d"})
        kb.drop_rules("c")
        assert_ranked_where_recursive(kb, {"b", "d"})
        kb.drop_rules("b")
        assert_ranked_where_recursive(kb, set())
        kb.add_rules("b: q(X) :- p(X).")
        assert_ranked_where_recursive(kb, {"b", "d"})
        kb.drop_rules("d")
        assert_ranked_where_recursive(kb, set())
        assert kb.verify()


def assert_ranked_where_recursive(kb: KnowledgeBase, recursive: set[str]) -> None:
    columns = kb.sql(
        "SELECT table_name, column_name FROM duckdb_columns()"
        " WHERE schema_name = 'idb' AND NOT starts_with(table_name, 'zodiac$aside_')"
    )
    ranked = {table.split("_")[0] for table, column in columns.fetchall() if column == "$rank"}
    rows = kb.hypernodes().to_pylist()
    assert ranked == {row["hypernode"] for row in rows if row["recursive"]}
    assert {name for row in rows if row["recursive"] for name in row["rules"]} == recursive


def test_the_largest_of_those_that_merge_has_no_table(open_kb: OpenKb, strategy: str) -> None:
    """A table that only the other one has does not become that of the largest."""
    with open_kb(strategy=strategy) as kb:
        kb.insert("e", [(i, i + 1) for i in range(20)])
        kb.insert("a", [(0, 1)])
        kb.insert("f", [(50, 51)])
        kb.insert("g", [(3,)])
        kb.add_rules("a: a(X, Z) :- a(X, Y), e(Y, Z). c: a(X, Y) :- b(X, Y).")
        kb.add_rules("b: b(X, Y) :- a(X, Y), never(X). d: b(X, Y) :- f(X, Y).")
        change = kb.add_rules("f: f(X, Y) :- a(X, Y), g(Y).")
        assert change.inserted == {"b": 1, "f": 1}
        assert len(kb.hypernodes()) == 1
        assert kb.verify()
