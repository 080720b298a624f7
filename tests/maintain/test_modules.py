"""Closed relations as people see them: what is in the file, what a change or a preview tells."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.csv
import pyarrow.parquet
import pytest
from support.closed_relations import (
    ABOVE,
    FACTS,
    FED,
    JOIN,
    NEAR,
    NEAR_ROWS,
    PATH,
    PATH_FED,
    TURN,
    UNEQUAL,
    differences,
    everything,
    extensions,
    facts_told,
    fill,
    in_idb,
    modules_of,
    shown,
    square,
)

from zodiac_sql import KnowledgeBase
from zodiac_sql.change.change import Change

OpenKb = Callable[..., KnowledgeBase]


# --- the file -------------------------------------------------------------------------------------


def test_the_file_has_classes_and_a_view_of_pairs(file: Path) -> None:
    with duckdb.connect(file, read_only=True) as connection:

        def rows(statement: str) -> list[tuple[Any, ...]]:
            return connection.sql(statement).fetchall()

        tables = rows("SELECT table_name FROM duckdb_tables() WHERE schema_name = 'idb'")
        views = rows("SELECT view_name FROM duckdb_views() WHERE schema_name = 'idb'")
        assert (tables, views) == ([("h1_near classes",)], [("h1_near",)])
        text = "(SELECT text FROM zodiac.symbol WHERE id = {})"
        pairs = rows(f"SELECT {text.format('s')}, {text.format('o')} FROM idb.h1_near")
        assert set(pairs) == NEAR_ROWS and len(pairs) == len(NEAR_ROWS)
        assert set(rows("SELECT * FROM near")) == NEAR_ROWS
        classes = rows(
            "SELECT string_agg(name, '' ORDER BY name), min(class), max(class)"
            f" FROM (SELECT class, {text.format('node')} AS name"
            ' FROM idb."h1_near classes") GROUP BY class ORDER BY 1'
        )
        assert [names for names, *_ in classes] == ["abc", "de", "f"]


def test_external_facts_have_a_table(open_kb: OpenKb) -> None:
    kb = open_kb()
    fill(kb, FED + PATH_FED)
    tables, views = in_idb(kb)
    (near,) = (
        row["hypernode"] for row in kb.hypernodes().to_pylist() if "stc(near)" in row["modules"]
    )
    assert views == [f"{near}_near"]
    assert {f"{near}_link", f"{near}_near classes", f"{near}_near external"} < set(tables)
    assert not [name for name in tables if name.endswith("path external")]
    external = kb.sql(f'SELECT count(*) FROM idb."{near}_near external"').fetchall()
    assert external == [(len(kb.table("link")),)]


def test_the_extension_is_the_same_however_it_is_read(
    file: Path, open_kb: OpenKb, tmp_path: Path
) -> None:
    with open_kb(file) as kb:
        assert set(kb.table("near").fetchall()) == NEAR_ROWS
        assert set(kb.sql("SELECT s, o FROM near").fetchall()) == NEAR_ROWS
        assert kb.sql("SELECT count(*) FROM near").fetchall() == [(14,)]
        assert kb.sql("SELECT o FROM near WHERE s = 'd' ORDER BY o").fetchall() == [("d",), ("e",)]
        assert set(kb.query("near(X, Y)").fetchall()) == NEAR_ROWS
        assert set(kb.query("near(a, X)").fetchall()) == {("a",), ("b",), ("c",)}
        assert kb.query("near(f, f), not near(a, d), near(X, X), X = e").fetchall() == [("e",)]
        assert set(kb.query("pair(X, Y), near(X, Y)").fetchall()) == {("a", "c"), ("f", "f")}
        assert set(kb.query("pair(X, Y), not near(X, Y)").fetchall()) == {("a", "d"), ("z", "z")}
        count = "AGGREGATE(near(X, Y)) ON X WITH COUNT(Y) AS N, X != b, N > 1"
        assert set(kb.query(count).fetchall()) == {("a", 3), ("c", 3), ("d", 2), ("e", 2)}
        row = next(r for r in kb.predicates().to_pylist() if r["predicate"] == "near")
        assert (row["explicit"], row["derived"], row["extension"]) == (4, 14, 14)
        for format_ in ("csv", "parquet", "nt"):
            kb.export(tmp_path / format_, format_, "near")
        assert shown(pyarrow.csv.read_csv(tmp_path / "csv" / "near.csv")) == NEAR_ROWS
        assert shown(pyarrow.parquet.read_table(tmp_path / "parquet" / "near.parquet")) == NEAR_ROWS
        (triples,) = (tmp_path / "nt").iterdir()
        assert len(set(triples.read_text("utf-8").splitlines())) == len(NEAR_ROWS)


@pytest.mark.parametrize(
    ("names", "join"), [("node class", JOIN), ("class loop", UNEQUAL), ("a b", UNEQUAL)]
)
def test_columns_may_be_called_like_those_of_classes(
    open_kb: OpenKb, names: str, join: str
) -> None:
    kb = open_kb()
    first, second = names.split()
    kb.insert("near", pyarrow.table({first: ["a", "b", "d"], second: ["b", "c", "e"]}))
    kb.insert("pair", [("a", "c"), ("a", "d"), ("a", "a")])
    kb.add_rules(TURN + join + "far(X, Y) :- pair(X, Y), not near(X, Y).")
    change = kb.insert("near", [("c", "d")])
    assert kb.table("near").column_names == [first, second]
    loops = 5 if join == JOIN else 0
    assert len(kb.table("near")) == 20 + loops
    assert len(shown(change.inserted_facts("near"))) == change.inserted["near"] == 12
    assert change.deleted == {"far": 1}
    assert kb.verify()


@pytest.mark.parametrize("name", ["zodiac$classes_near", "zodiac$external_near"])
@pytest.mark.parametrize("space", ["", "http://example.org/"], ids=["plain", "iri"])
def test_predicates_may_be_called_like_tables_of_modules(
    open_kb: OpenKb, name: str, space: str
) -> None:
    kb = open_kb()
    kb.add_rules(
        f"{NEAR} f: <{space}{name}>(X) :- near(X, _). b: near(X, X) :- <{space}{name}>(X)."
    )
    kb.insert("near", [("a", "b"), ("b", "c")])
    kb.insert(f"<{space}{name}>", [("d",)])
    assert set(kb.table("near").fetchall()) == square("abc") | square("d")
    assert set(kb.table(f"<{space}{name}>").fetchall()) == {("a",), ("b",), ("c",), ("d",)}
    assert kb.verify()


# --- what a change tells --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "chosen"),
    [
        (TURN + UNEQUAL + ABOVE, "dred"),
        (FED + PATH_FED, "auto"),
        (PATH, "bf"),
    ],
)
def test_facts_of_changes(open_kb: OpenKb, rules: str, chosen: str) -> None:
    """Those that a change, and a preview of it, tells are those by which the extensions differ."""
    kb = open_kb(strategy=chosen)
    fill(kb, rules)
    assert modules_of(kb)
    moves: list[tuple[str, str, list[tuple[Any, ...]]]] = [
        ("insert", "near", [("c", "d"), ("k", "k")]),
        ("delete", "near", [("b", "c")]),
        ("insert", "edge", [("y", "z"), ("c", "a")]),
        ("delete", "edge", [("b", "c")]),
        ("delete", "near", [("d", "e"), ("f", "f")]),
        ("delete", "link", [("g", "h")]),
    ]
    before = extensions(kb)
    for verb, predicate, rows in moves:
        with kb.preview() as preview:
            getattr(preview, verb)(predicate, rows)
        previewed = facts_told(preview.change)
        change: Change = getattr(kb, verb)(predicate, rows)
        after = extensions(kb)
        assert previewed == facts_told(change) == differences(before, after)
        before = after
    assert kb.verify()


# --- previews -------------------------------------------------------------------------------------


def test_a_preview_tells_and_changes_nothing(file: Path, open_kb: OpenKb) -> None:
    with open_kb(file) as kb:
        before = everything(kb)
        with kb.preview() as preview:
            preview.insert("near", [("c", "d")])
            preview.delete("near", [("a", "b")])
        change = preview.change
        came = square("bcde") - square("bc") - square("de")
        went = {("a", "a"), ("a", "b"), ("a", "c"), ("b", "a"), ("c", "a")}
        assert (change.inserted, change.deleted) == ({"near": 8}, {"near": 5})
        assert shown(change.inserted_facts("near")) == came
        assert shown(change.deleted_facts("near")) == went
        assert everything(kb) == before
        assert kb.verify()
        with kb.preview() as preview:
            preview.drop_rules("turn", "join")
        assert preview.change.deleted == {"near": 10}
        assert shown(preview.change.deleted_facts("near")) == NEAR_ROWS - set(FACTS["near"])
        assert everything(kb) == before


def test_a_preview_of_the_rules_themselves(open_kb: OpenKb) -> None:
    kb = open_kb()
    for predicate, rows in FACTS.items():
        kb.insert(predicate, rows)
    before = everything(kb)
    with kb.preview() as preview:
        preview.add_rules(FED + PATH_FED)
    assert preview.change.inserted["near"] == len(NEAR_ROWS) + 4 - 4
    assert everything(kb) == before
    assert kb.add_rules(FED + PATH_FED).inserted == preview.change.inserted


def test_what_a_rule_derives_of_classes_that_it_feeds(open_kb: OpenKb) -> None:
    """Its facts enter after the first evaluation, and one statement does the rounds beside them."""
    kb = open_kb()
    kb.add_rules("""
        fed: near(X, Y) :- link(X, Y).
        turned: near(X, Y) :- near(Y, X).
        joined: near(X, Z) :- near(X, Y), near(Y, Z).
        link(X, Z) :- near(X, Y), near(Y, Z).
        link(X, X) :- alone(X, "yes").
    """)
    kb.insert("alone", [("z", "no")])
    kb.insert("link", [("a", "c"), ("b", "a")])
    assert set(kb.table("link")) == set(kb.table("near")) == square("abc")
    assert kb.verify()
