"""Lists become a fact of each element, and columns reach into objects: in files and in tables."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.command_line import answered, refused

from zodiac_sql import DataError

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]
Rows = list[dict[str, Any]]


@pytest.fixture
def kb(open_kb: OpenKb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KnowledgeBase:
    monkeypatch.chdir(tmp_path)
    return open_kb()


FARM: Rows = [
    {"id": "wt1", "tags": ["old", "north"], "site": {"city": "Lund", "geo": {"lat": 55.7}}},
    {"id": "wt2", "tags": [], "site": {"city": "Ystad", "geo": {"lat": 55.4}}},
    {"id": "wt3", "tags": ["north", "north"], "site": {"city": "Lund", "geo": {"lat": 55.6}}},
]
FORMS = ("jsonl", "json", "parquet", "arrow", "stream", "pandas", "polars", "duckdb")


def put(kb: KnowledgeBase, form: str, rows: Rows, predicate: str = "p", **options: Any) -> Any:
    """Load or insert rows in a form."""
    table = pa.Table.from_pylist(rows)
    if form in ("jsonl", "json", "parquet"):
        file = Path(f"p.{form}")
        if form == "parquet":
            pq.write_table(table, file)
        elif form == "json":
            file.write_text(json.dumps(rows, indent=1))
        else:
            file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return kb.load(file, predicate, **options)
    made: dict[str, Callable[[], object]] = {
        "arrow": lambda: table,
        "stream": lambda: table.to_reader(),
        "pandas": lambda: pd.DataFrame(rows),
        "polars": lambda: pl.DataFrame(rows),
        "duckdb": lambda: duckdb.connect().from_arrow(table),
    }
    return kb.insert(predicate, made[form](), **options)


def facts(kb: KnowledgeBase, predicate: str = "p") -> list[tuple[Any, ...]]:
    return sorted(kb.table(predicate).fetchall())


@pytest.mark.parametrize("form", FORMS)
def test_each_element_of_a_list_makes_a_fact(kb: KnowledgeBase, form: str) -> None:
    change = put(kb, form, FARM, explode="tags", columns={"id": "turbine", "tags": "tag"})
    assert facts(kb) == [("wt1", "north"), ("wt1", "old"), ("wt3", "north")]
    assert kb.table("p").column_names == ["turbine", "tag"] and change.inserted == {"p": 3}
    assert kb.verify()


@pytest.mark.parametrize("form", FORMS)
def test_columns_reach_into_objects(kb: KnowledgeBase, form: str) -> None:
    put(kb, form, FARM, columns={"site.city": "city", "id": "id", "site.geo.lat": "lat"})
    assert kb.table("p").column_names == ["city", "id", "lat"]
    assert facts(kb)[0] == ("Lund", "wt1", 55.7)
    put(kb, form, FARM, "q", columns=["site.city"])
    assert kb.table("q").column_names == ["site.city"]
    kb.add_rules("city(X) :- q(`site.city`: X).")
    assert facts(kb, "city") == [("Lund",), ("Ystad",)]


ORDERS: Rows = [
    {"id": 1, "items": [{"sku": "a", "tax": [1.5, 2.0]}, {"sku": "b", "tax": []}]},
    {"id": 2, "items": []},
    {"id": 3, "items": [{"sku": "c", "tax": [0.5]}]},
]


@pytest.mark.parametrize("form", FORMS)
def test_lists_of_objects_and_lists_in_these(kb: KnowledgeBase, form: str) -> None:
    put(kb, form, ORDERS, explode="items", columns={"id": "id", "items.sku": "sku"})
    assert facts(kb) == [(1, "a"), (1, "b"), (3, "c")]
    taken = {"id": "id", "items.sku": "sku", "items.tax": "tax"}
    for lists in (["items", "items.tax"], ["items.tax", "items"]):
        put(kb, form, ORDERS, "q", explode=lists, columns=taken)
        assert facts(kb, "q") == [(1, "a", 1.5), (1, "a", 2.0), (3, "c", 0.5)]


@pytest.mark.parametrize("form", FORMS)
def test_several_lists_are_read_side_by_side(kb: KnowledgeBase, form: str) -> None:
    rows: Rows = [
        {"id": 1, "hour": [6, 7], "celsius": [20.5, 21.5]},
        {"id": 2, "hour": [], "celsius": []},
    ]
    put(kb, form, rows, explode=["hour", "celsius"])
    assert facts(kb) == [(1, 6, 20.5), (1, 7, 21.5)]
    uneven: Rows = [*rows, {"id": 3, "hour": [1], "celsius": [1.0, 2.0]}]
    with pytest.raises(DataError, match="the lists in hour and celsius are not of the same length"):
        put(kb, form, uneven, explode=["hour", "celsius"])
    assert len(facts(kb)) == 2


def test_bad_lines_are_left_out_whole(kb: KnowledgeBase) -> None:
    file = Path("p.jsonl")
    rows = [
        {"n": 1, "a": [1, 2], "b": ["x"]},
        {"n": 2, "a": [3, 4], "b": ["y", "z"]},
        {"n": 3, "a": [5, [6]], "b": ["v", "w"]},
        {"n": 4, "a": [7], "b": [None]},
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(DataError) as error:
        kb.load(file, explode=["a", "b"])
    said = str(error.value)
    assert "p.jsonl: 2 bad lines." in said and "line 1: 1,[1,2],[" in said
    assert 'line 3: 3,[6],"w"  (column a holds [6], which is an object or an array' in said
    change = kb.load(file, explode=["a", "b"], skip_bad=True)
    assert facts(kb) == [(2, 3, "y"), (2, 4, "z")]
    assert "3 bad lines were left out" in change.notes[-1]
    file.write_text("".join(json.dumps(row) + "\n" for row in [*rows[1:2], *rows[3:]]))
    with pytest.raises(DataError, match=r"column b is empty \(NULL\) in line 2 of p.jsonl"):
        kb.load(file, "q", explode=["a", "b"])


@pytest.mark.parametrize("form", FORMS)
def test_what_is_missing_is_an_empty_cell(kb: KnowledgeBase, form: str) -> None:
    rows: Rows = [
        {"id": 1, "tags": ["a", None], "site": {"city": "Lund"}},
        {"id": 2, "tags": None, "site": {"city": None}},
        {"id": 3, "tags": ["b"], "site": None},
        {"id": 4, "tags": ["c"], "site": {"city": "Ystad"}},
    ]
    wanted: dict[str, Any] = {
        "explode": "tags", "columns": {"id": "id", "tags": "tag", "site.city": "city"},
    }  # fmt: skip
    with pytest.raises(DataError, match=r"is empty \(NULL\) in (row|line) [123]\b"):
        put(kb, form, rows, **wanted)
    change = put(kb, form, rows, nulls="skip-row", **wanted)
    assert facts(kb) == [(1, "a", "Lund"), (4, "c", "Ystad")]
    assert any("3 rows were left out, because a cell is empty" in note for note in change.notes)
    put(kb, form, rows, "q", nulls={"tag": "none", "city": "?"}, **wanted)
    assert facts(kb, "q") == [
        (1, "a", "Lund"), (1, "none", "Lund"), (2, "none", "?"), (3, "b", "?"), (4, "c", "Ystad"),
    ]  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_a_list_that_is_missing_beside_others(kb: KnowledgeBase, form: str) -> None:
    rows: Rows = [
        {"a": [1, 2], "b": ["x", "y"]}, {"a": None, "b": ["v", "w"]}, {"a": None, "b": []},
        {"a": None, "b": None},
    ]  # fmt: skip
    put(kb, form, rows, explode=["a", "b"], nulls={"a": 0, "b": "-"})
    assert facts(kb) == [(0, "-"), (0, "v"), (0, "w"), (1, "x"), (2, "y")]


@pytest.mark.parametrize("form", FORMS)
def test_names_with_points(kb: KnowledgeBase, form: str) -> None:
    """A column whose name has a point goes before a part; and so does a part."""
    rows: Rows = [{"a": {"b": 1, "c": {"d": 2}, "c.d": 3}, "a.b": 4, "a.x": {"y": 5}, "z.": [6]}]
    names = {"a.b": "n1", "a.c.d": "n2", "a.x.y": "n3", "z.": "n4"}
    put(kb, form, rows, columns=names, explode="z.")
    assert facts(kb) == [(4, 3, 5, 6)]
    with pytest.raises(DataError, match=r"has no column a\.d\. a has b, c, c\.d\. Nothing"):
        put(kb, form, rows, columns=["a.d"])
    with pytest.raises(DataError, match=r"has no column b\.a\. It has a, a\.b, a\.x, z\.\. Noth"):
        put(kb, form, rows, columns=["b.a"])


def test_a_value_that_is_no_list_stands_for_itself(kb: KnowledgeBase) -> None:
    Path("p.jsonl").write_text('{"tags": "a"}\n{"tags": ["b", "c"]}\n{"tags": "null"}\n')
    kb.load("p.jsonl", explode="tags")
    assert facts(kb) == [("a",), ("b",), ("c",), ("null",)]
    kb.insert("q", pa.table({"n": [1, 2]}), explode="n")
    assert facts(kb, "q") == [(1,), (2,)]


def test_maps_and_arrays_of_parquet(kb: KnowledgeBase) -> None:
    table = pa.table(
        {
            "id": [1, 2, 3],
            "attributes": pa.array([[("a", 1), ("b", 2)], [], None], pa.map_("string", "int64")),
            "pair": pa.array([[1, 2], None, [3, 4]], pa.list_(pa.int64(), 2)),
            "word": pa.array(["x", "y", "x"]).dictionary_encode(),
        }
    )
    pq.write_table(table, "p.parquet")
    taken = {"id": "id", "attributes.key": "key", "attributes.value": "value"}
    kb.load("p.parquet", explode="attributes", columns=taken, nulls="skip-row")
    assert facts(kb) == [(1, "a", 1), (1, "b", 2)]
    kb.insert("q", table, explode="pair", columns=["pair", "word"], nulls={"pair": 0})
    assert facts(kb, "q") == [(0, "y"), (1, "x"), (2, "x"), (3, "x"), (4, "x")]


def test_elements_get_the_types_that_columns_get(kb: KnowledgeBase) -> None:
    Path("p.jsonl").write_text('{"d": ["2026-01-31", "2026-02-01"], "n": [1, 2.5]}\n')
    kb.load("p.jsonl", explode=["d", "n"])
    assert kb.predicates()["columns"].to_pylist() == ["d: date, n: float"]
    values = [[Decimal("0.10")], [Decimal("0.25")]]
    table = pa.table({"x": pa.array(values, pa.list_(pa.decimal128(38, 2)))})
    kb.add_rules(".decl exact(x: symbol)")
    kb.insert("exact", table, explode="x")
    assert facts(kb, "exact") == [("0.10",), ("0.25",)]
    Path("q.jsonl").write_text('{"n": [0.1234567890123456789]}\n')
    with pytest.raises(DataError, match="would be rounded"):
        kb.load("q.jsonl", explode="n")


@pytest.mark.parametrize("form", FORMS)
def test_without_options_they_are_refused_with_what_would_be_right(
    kb: KnowledgeBase, form: str
) -> None:
    hint = r'explode="tags" makes a fact of each element; of an object, columns={"address.city"'
    with pytest.raises(DataError, match=hint):
        put(kb, form, [{"id": 1, "tags": ["a"]}])
    with pytest.raises(DataError, match=hint):
        put(kb, form, [{"id": 1, "site": {"city": "Lund"}}])
    with pytest.raises(DataError, match=hint):
        put(kb, form, ORDERS, explode="items", columns=["items"])
    with pytest.raises(DataError, match='items has no parts; if it holds lists, explode="items"'):
        put(kb, form, ORDERS, columns=["items.sku"])
    assert kb.predicates().num_rows == 0


def test_files_and_rows_without_lists(kb: KnowledgeBase) -> None:
    Path("p.csv").write_text("a,b\n1,2\n")
    Path("p.nt").write_text("<urn:a> <urn:p> <urn:b> .\n")
    with pytest.raises(DataError, match="p.csv is CSV, whose cells hold no lists: explode is for"):
        kb.load("p.csv", explode="a")
    with pytest.raises(DataError, match=r"p.csv has no column a\.b\. It has a, b"):
        kb.load("p.csv", columns=["a.b"])
    with pytest.raises(DataError, match="p.nt is no table"):
        kb.load("p.nt", explode="a")
    with pytest.raises(DataError, match="explode is for tables. Give a tuple for each element"):
        kb.insert("p", [(1, 2)], explode="o")
    with pytest.raises(DataError, match="explode names no column twice"):
        kb.insert("p", pa.table({"a": [[1]]}), explode=["a", "a"])
    with pytest.raises(DataError, match="no column can be called zodiac.row"):
        kb.insert("p", pa.table({"a": [[1]], "zodiac$row": [1]}), explode="a")
    Path("p.jsonl").write_text('{"a": [1], "zodiac$row": 1}\n')
    with pytest.raises(DataError, match="p.jsonl: no column can be called zodiac.row"):
        kb.load("p.jsonl", explode="a")


def test_files_without_rows(kb: KnowledgeBase) -> None:
    Path("p.jsonl").write_text("")
    taken = {"id": "id", "items.sku": "sku"}
    kb.load("p.jsonl", explode="items", columns=taken)
    assert kb.table("p").column_names == ["id", "sku"] and facts(kb) == []
    Path("q.jsonl").write_text('{"id": 1, "items": null}\n')
    kb.load("q.jsonl", explode="items", columns=taken, nulls="skip-row")
    assert facts(kb, "q") == []
    nothing = pa.Table.from_pylist(ORDERS).slice(0, 0)
    kb.insert("r", nothing, explode="items", columns=taken)
    assert kb.predicates()["columns"].to_pylist()[-1] == "id: int, sku: symbol"


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_the_columns_that_rules_name(kb: KnowledgeBase, suffix: str) -> None:
    """Rows with an empty list make no fact, whether its column is loaded or not."""
    put(kb, suffix, FARM, "made", explode="tags", columns=["id"])
    file = Path(f"p.{suffix}")
    with kb.update() as update:
        update.load(file, explode="tags", columns="read")
        update.add_rules("seen(X) :- p(id: X).")
    assert kb.table("p").column_names == ["id"]
    assert facts(kb) == facts(kb, "made") == [("wt1",), ("wt3",)]
    kb.add_rules(".decl q(tags: symbol)")
    kb.load(file, "q", explode="tags", columns="read")
    assert facts(kb, "q") == [("north",), ("old",)]
    assert kb.unload(file, "q", explode="tags", columns=["tags"]).deleted == {"q": 2}


def test_a_long_list_in_many_batches(kb: KnowledgeBase) -> None:
    rows = [{"id": i, "n": list(range(i % 7))} for i in range(3_000)]
    table = pa.Table.from_pylist(rows)
    expected = [(i, n) for i in range(3_000) for n in range(i % 7)]
    kb.insert("p", table.to_reader(max_chunksize=100), explode="n")
    assert facts(kb) == expected
    rows[2_345]["n"] = [None]
    with pytest.raises(DataError, match=r"column n is empty \(NULL\) in row 2346\."):
        kb.insert("q", pa.Table.from_pylist(rows).to_reader(max_chunksize=100), explode="n")
    pq.write_table(pa.Table.from_pylist(rows), "q.parquet", row_group_size=500)
    with pytest.raises(DataError, match=r"column n is empty \(NULL\) in row 2346 of q.parquet"):
        kb.load("q.parquet", explode="n")


def test_on_the_command_line(kb: KnowledgeBase) -> None:
    Path("p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ORDERS))
    options = ["--explode", "items", "--columns", "id,items.sku=sku"]
    answered("insert", "f.duckdb", "p.jsonl", *options)
    asked = answered("query", "f.duckdb", "p(1, X)", "--csv").split()
    assert asked == ["X", "a", "b"]
    answered("delete", "f.duckdb", "p.jsonl", *options)
    answered("run", "f.duckdb", "-d", "p.jsonl", "--explode", "items", "--explode", "items.tax",
             "--columns", "id,items.tax=tax")  # fmt: skip
    assert "explode=" in refused("insert", "g.duckdb", "p.jsonl", status=1)


def test_elements_of_several_kinds_in_a_data_frame_are_terms(kb: KnowledgeBase) -> None:
    """Arrow has no lists of them, so that they were refused as lists."""
    frame = pd.DataFrame({
        "a": [1, 2, 3, 4, 5],
        "b": [["x", 1], [2.5], [], np.array([1, 2]), True],
    })  # fmt: skip
    kb.insert("p", frame, explode="b")
    kb.insert("q", frame, explode="b", columns={"a": "k", "b": "v"})
    kb.insert("r", [(1, "x"), (1, 1), (2, 2.5), (4, 1), (4, 2), (5, True)])
    assert sorted(kb.table("p")) == sorted(kb.table("q")) == sorted(kb.table("r"))
    assert kb.delete("p", frame[1:], explode="b").deleted == {"p": 4}
    gaps = pd.DataFrame({"a": [1, 2, 3], "b": [["x", None, 1], None, [True]]})
    assert len(kb.insert("s", gaps, explode="b", nulls="skip-row").inserted) == 1
    assert len(kb.table("s").fetchall()) == 3
    with pytest.raises(DataError, match="column b is empty"):
        kb.insert("t", gaps, explode="b")
    with pytest.raises(DataError, match="column b: "):
        kb.insert("t", pd.DataFrame({"b": [["x", [1]], [True]]}), explode="b")


def test_a_column_of_terms_may_get_another_name(kb: KnowledgeBase) -> None:
    kb.insert("p", pd.DataFrame({"a": ["x", 1]}), columns={"a": "k"})
    ((types,),) = kb.sql("SELECT types FROM zodiac.predicate WHERE name = 'p'").fetchall()
    assert list(types) == ["any"]
