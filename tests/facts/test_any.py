"""Rows and files whose columns hold values of several kinds: each is its term."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import zodiac_sql
from zodiac_sql.errors import DataError
from zodiac_sql.facts.terms import term_of
from zodiac_sql.knowledge_base import KnowledgeBase

XSD = "http://www.w3.org/2001/XMLSchema#"
DAY = dt.date(2026, 1, 2)
NOON = dt.datetime(2026, 1, 2, 12)
ZONED = NOON.replace(tzinfo=dt.timezone(dt.timedelta(hours=2)))

VALUES: list[tuple[Any, str, str]] = [
    (5, "5", "integer"), (-(2**63), "-9223372036854775808", "integer"), (5.5, "5.5", "double"),
    (1e300, "1e+300", "double"), (1e-7, "1e-07", "double"),
    (1e16 + 2, "10000000000000002", "integer"),
    (5.0, "5", "integer"), (-0.0, "0", "integer"), (math.inf, "INF", "double"),
    (math.nan, "NaN", "double"), (Decimal("3.50"), "3.5", "decimal"),
    (Decimal("4.00"), "4", "integer"), (True, "true", "boolean"), (DAY, "2026-01-02", "date"),
    (NOON, "2026-01-02T12:00:00", "dateTime"),
    (NOON.replace(microsecond=250_000), "2026-01-02T12:00:00.25", "dateTime"),
    (ZONED, "2026-01-02T10:00:00Z", "dateTime"), (2**70, str(2**70), "integer"),
]  # fmt: skip


@pytest.fixture
def kb() -> KnowledgeBase:
    return zodiac_sql.connect()


def literal(form: str, datatype: str) -> str:
    return f'"{form}"^^<{XSD}{datatype}>'


def types(kb: KnowledgeBase, name: str = "p") -> list[str]:
    ((found,),) = kb.sql(f"SELECT types FROM zodiac.predicate WHERE name = '{name}'").fetchall()
    return list(found)


def facts(kb: KnowledgeBase) -> set[tuple[Any, ...]]:
    return set(kb.table("p").fetchall())


def test_each_python_value_becomes_its_term(kb: KnowledgeBase) -> None:
    kb.insert("p", [(str(n), value) for n, (value, *_) in enumerate(VALUES)] + [("text", "x")])
    assert types(kb) == ["symbol", "any"]
    expected = {(str(n), literal(*told)) for n, (_, *told) in enumerate(VALUES)}
    assert facts(kb) == expected | {("text", "x")}
    assert kb.verify()


@pytest.mark.parametrize("value", [value for value, *_ in VALUES if not isinstance(value, Decimal)])
def test_native_columns_become_the_same_terms(kb: KnowledgeBase, value: Any) -> None:
    """Values that came as native ones, and those that come into a column of any."""
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        pytest.skip("no native column holds it")
    kb.insert("p", [("first", value)])
    kb.insert("p", [("text", "x")])
    kb.insert("p", [("again", value)])
    kb.insert("p", pa.table({"s": ["arrow"], "o": [value]}))
    term = term_of(value, declared=False)
    assert facts(kb) == {("text", "x"), *((n, term) for n in ("first", "again", "arrow"))}
    assert kb.verify()


@pytest.mark.parametrize("value", [value for value, *_ in VALUES if not isinstance(value, Decimal)])
def test_a_declared_column_keeps_each_value(kb: KnowledgeBase, value: Any) -> None:
    kb.add_rules(".decl p(s: symbol, o: any)")
    kb.insert("p", [("a", value)])
    assert facts(kb) == {("a", term_of(value, declared=True))}
    assert term_of(5.0, declared=True) == literal("5.0", "double")
    assert term_of(ZONED, declared=True) == literal("2026-01-02T12:00:00+02:00", "dateTime")


def test_data_frames_with_objects(kb: KnowledgeBase) -> None:
    kb.insert("p", pd.DataFrame({"s": ["a", "b", "c"], "o": [1, "x", DAY]}, dtype=object))
    assert facts(kb) == {
        ("a", literal("1", "integer")), ("b", "x"), ("c", literal("2026-01-02", "date")),
    }  # fmt: skip
    with pytest.raises(DataError, match="is empty"):
        kb.insert("p", pd.DataFrame({"s": ["a", "b"], "o": [None, "x"]}, dtype=object))


def test_parquet_of_other_types_comes_in(kb: KnowledgeBase, tmp_path: Path) -> None:
    columns = {"i": [1], "f": [2.5], "t": ["x"], "d": [DAY], "z": pa.array([ZONED]), "b": [True]}
    for name, values in columns.items():
        pq.write_table(pa.table({"s": [name], "o": values}), tmp_path / f"{name}.parquet")
        kb.load(tmp_path / f"{name}.parquet", "p")
    assert {o for _, o in facts(kb)} == {
        literal("1", "integer"), literal("2.5", "double"), "x", literal("2026-01-02", "date"),
        literal("2026-01-02T10:00:00Z", "dateTime"), literal("true", "boolean"),
    }  # fmt: skip


CELLS = [
    ("9", literal("9", "integer")), ("2.50", literal("2.5", "double")),
    ("3.0", literal("3", "integer")),
    ("TRUE", literal("true", "boolean")), ("2026-01-02", literal("2026-01-02", "date")),
    ("2026-01-02 12:00", literal("2026-01-02T12:00:00", "dateTime")),
    ("2026-01-02T12:00:00+02:00", literal("2026-01-02T10:00:00Z", "dateTime")),
    ("007", "007"), ("n/a", "n/a"), ("99999999999999999999", literal("9" * 20, "integer")),
    (".12345678901234567890", literal("0.1234567890123456789", "decimal")), ("1e400", "1e400"),
]  # fmt: skip


def test_csv_is_read_cell_by_cell(kb: KnowledgeBase, tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text(
        "s,o\n" + "".join(f"{n},{c}\n" for n, (c, _) in enumerate(CELLS))
    )
    kb.load(tmp_path / "p.csv")
    assert facts(kb) == {(n, term) for n, (_, term) in enumerate(CELLS)}
    assert types(kb) == ["int", "any"]
    kb.add_rules("q(1).")
    kb.unload(tmp_path / "p.csv")
    assert {name for (name, *_) in kb.predicates().fetchall()} == {"q"}


def test_a_note_tells_the_first_cell_of_another_kind(kb: KnowledgeBase, tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("s,o\na,9\nb,35\nc,n/a\nd,100\n")
    change = kb.load(tmp_path / "p.csv")
    assert any('because line 4 has "n/a", and most others are numbers' in n for n in change.notes)


@pytest.mark.parametrize("cell", [cell for cell, _ in CELLS])
def test_a_cell_is_the_same_in_any_column(kb: KnowledgeBase, tmp_path: Path, cell: str) -> None:
    """It comes alone, and then text; or beside text."""
    (tmp_path / "one.csv").write_text(f"s,o\na,{cell}\n")
    (tmp_path / "text.csv").write_text("s,o\nb,text\n")
    (tmp_path / "both.csv").write_text(f"s,o\na,{cell}\nb,text\n")
    kb.load(tmp_path / "one.csv", "p")
    kb.load(tmp_path / "text.csv", "p")
    found = facts(kb)
    with zodiac_sql.connect() as other:
        other.load(tmp_path / "both.csv", "p")
        assert facts(other) == found


def test_json_has_texts_and_numbers(kb: KnowledgeBase, tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text(
        '{"s": "a", "o": 5}\n{"s": "b", "o": "5"}\n{"s": "c", "o": 2.5}\n'
    )
    kb.load(tmp_path / "p.jsonl")
    assert facts(kb) == {
        ("a", literal("5", "integer")),
        ("b", "5"),
        ("c", literal("2.5", "double")),
    }
    with pytest.raises(DataError, match="is an object or an array"):
        (tmp_path / "q.jsonl").write_text('{"s": "a", "o": 5}\n{"s": "b", "o": [1]}\n')
        kb.load(tmp_path / "q.jsonl")


def test_declared_types_stay_strict_and_name_rows(kb: KnowledgeBase, tmp_path: Path) -> None:
    kb.add_rules(".decl p(s: symbol, o: int)")
    with pytest.raises(DataError, match="'x' in row 2"):
        kb.insert("p", [("a", 1), ("b", "x")])
    (tmp_path / "p.csv").write_text("s,o\na,1\nb,x\n")
    with pytest.raises(DataError, match="line 3"):
        kb.load(tmp_path / "p.csv")
    (tmp_path / "p.nt").write_text('<a:b> <a:p> "x" .\n')
    kb.add_rules(".decl <a:p>(s: symbol, o: int)")
    with pytest.raises(DataError, match="line 1"):
        kb.load(tmp_path / "p.nt")


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_an_export_comes_back_as_the_same_terms(
    kb: KnowledgeBase, tmp_path: Path, format: str
) -> None:
    kb.insert("p", [(f"n{n}", value) for n, (value, *_) in enumerate(VALUES)] + [("text", "x")])
    (path,) = kb.export(tmp_path / "out", format).files
    with zodiac_sql.connect() as other:
        other.load(path)
        assert facts(other) == facts(kb)


@pytest.mark.parametrize("format", ["nt", "ttl"])
def test_rdf_is_exported_as_it_came(kb: KnowledgeBase, tmp_path: Path, format: str) -> None:
    objects = [
        '"1"^^<{}integer>', '"01"^^<{}integer>', '"2.50"^^<{}decimal>', '"x"', '"y"@en', "<http://e/i>",
        '"1"^^<{}boolean>', '"2026-01-02T12:00:00+02:00"^^<{}dateTime>', '"2E1"^^<{}double>',
        '"no"^^<{}integer>', '"2026"^^<{}gYear>',
    ]  # fmt: skip
    lines = {f"<http://e/a> <http://e/p> {o.format(XSD)} ." for o in objects}
    (tmp_path / "in.nt").write_text("\n".join(lines) + "\n")
    kb.load(tmp_path / "in.nt")
    assert types(kb, "http://e/p") == ["symbol", "any"]
    (path,) = kb.export(tmp_path / "out", format).files
    with zodiac_sql.connect() as other:
        other.load(path)
        (back,) = other.export(tmp_path / "back", "nt").files
        assert {*back.read_text().splitlines()} == lines


@pytest.mark.parametrize(
    "objects",
    [
        ('"1"^^<{}integer>', '"-20"^^<{}integer>'), ('"1.5"^^<{}decimal>', '"20.0"^^<{}decimal>'),
        ('"1.5"^^<{}double>', '"1e+20"^^<{}double>', '"INF"^^<{}double>'), ('"5"^^<{}byte>',),
        ('"true"^^<{}boolean>',), ('"2026-01-02"^^<{}date>',),
        ('"2026-01-02T12:00:00"^^<{}dateTime>', '"2026-01-02T12:00:00.5"^^<{}dateTime>'),
        ('"2026-01-02T12:00:00+02:00"^^<{}dateTime>',),
    ],
)  # fmt: skip
def test_literals_as_a_native_column_writes_them_are_native(
    kb: KnowledgeBase, tmp_path: Path, objects: tuple[str, ...]
) -> None:
    lines = {f"<http://e/a> <http://e/p> {o.format(XSD)} ." for o in objects}
    (tmp_path / "in.nt").write_text("\n".join(lines) + "\n")
    kb.load(tmp_path / "in.nt")
    assert types(kb, "http://e/p")[1] not in ("any", "symbol")
    (path,) = kb.export(tmp_path / "out", "nt").files
    assert {*path.read_text().splitlines()} == lines
    kb.insert("http://e/p", [("http://e/b", "a text")])  # they are still what they were
    (path,) = kb.export(tmp_path / "again", "nt").files
    assert {*path.read_text().splitlines()} >= lines
