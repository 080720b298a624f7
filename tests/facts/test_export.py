"""Export, and that what was exported loads again as the same facts."""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyoxigraph as ox
import pytest
from support.staged import table_of

import zodiac_sql
from zodiac_sql.database import dictionary
from zodiac_sql.database.open_store import open_store
from zodiac_sql.database.statements import shown
from zodiac_sql.database.store import Store
from zodiac_sql.errors import DataError, StoreError
from zodiac_sql.facts.export import Exported, export_predicates
from zodiac_sql.facts.load.load_file import load_file
from zodiac_sql.facts.stage import stage_rows
from zodiac_sql.language import symbols
from zodiac_sql.language.schema import Predicate, Staged
from zodiac_sql.language.syntax import Column, Type
from zodiac_sql.language.zones import ZONED, without_zone

XSD = symbols.XSD


@pytest.fixture
def store() -> Iterator[Store]:
    with open_store() as opened:
        dictionary.prepare(opened)
        yield opened


def viewed(store: Store, staged: Staged, sql_name: str) -> Predicate:
    """Publish staged facts as the view main."sql_name", whose symbols are text."""
    texts = ", ".join(
        f'(SELECT text FROM temp."zodiac$known_symbol" WHERE id = x."{c.name}") AS "{c.name}"'
        if c.type is Type.SYMBOL
        else f'x."{c.name}"'
        for c in staged.columns
    )
    store.run(
        f'CREATE TABLE memory.main."{sql_name}" AS'
        f' SELECT DISTINCT {texts or "holds"} FROM temp."{table_of(store, staged)}" AS x'
    )
    types = tuple(column.type for column in staged.columns)
    return Predicate(staged.predicate, sql_name, staged.columns, types, staged.datatypes)


def made(
    store: Store, name: str, rows: object, sql_name: str = "p", datatypes: tuple[Any, ...] = ()
) -> Predicate:
    staged = stage_rows(store, name, rows, None)
    assert staged is not None
    datatypes = datatypes or staged.datatypes
    return viewed(store, replace(staged, datatypes=datatypes), sql_name)


def content(store: Store, predicate: Predicate) -> list[tuple[Any, ...]]:
    return sorted(store.rows(f'SELECT * FROM memory.main."{predicate.sql_name}"'))


def loaded_again(path: Path) -> dict[str, tuple[tuple[str | None, ...], list[tuple[Any, ...]]]]:
    """Predicate -> datatypes and facts, from a store that has never seen them."""
    with open_store() as fresh:
        dictionary.prepare(fresh)
        found = {}
        for number, staged in enumerate(load_file(fresh, path, {}).staged):
            predicate = viewed(fresh, staged, f"p{number}")
            found[staged.predicate] = (predicate.datatypes, content(fresh, predicate))
        return found


def export(store: Store, predicates: Sequence[Predicate], path: Path, format: str) -> Exported:
    return export_predicates(
        store, predicates, path / "out", format, {}, lambda p: shown(store.file.name, p.sql_name)
    )


# --- N-Triples ------------------------------------------------------------------------------------

SYMBOLS = [
    "wt1", "wind turbine 1", "Zoë/\U0001f600%25+", "http://example.org/a", "<tag:x>", "_:b0",
    '"Haus"@de', '"POINT(1 2)"^^<http://www.opengis.net/ont/wkt>', '"_:no node"', '"<no iri>"',
    '"http://no.iri/"', 'a "b" \\ c\n d\r e\t f', "", "'", "back\\u0041", "urn:zodiac:wt1",
    "urn:isbn:1", '"5"^^<http://www.w3.org/2001/XMLSchema#integer>', "# no comment", " . ",
]  # fmt: skip


def test_every_kind_of_symbol_in_every_position(store: Store, tmp_path: Path) -> None:
    pairs = [(s, o) for s in SYMBOLS for o in SYMBOLS]
    binary = made(store, "http://example.org/p", pairs, "p")
    unary = made(store, "http://example.org/C", [(s,) for s in SYMBOLS], "c")
    exported = export(store, [binary, unary], tmp_path, "nt")
    assert exported == Exported((tmp_path / "out" / "facts.nt",))
    triples = list(ox.parse(path=exported.files[0], format=ox.RdfFormat.N_TRIPLES))
    assert len(triples) == len(pairs) + len(SYMBOLS)
    again = loaded_again(exported.files[0])
    scoped = [row for row in content(store, binary) if "_:b0" not in row]
    assert [row for row in again[binary.name][1] if not any(v[:2] == "_:" for v in row)] == scoped
    assert len(again[binary.name][1]) == len(pairs)
    assert len(again[unary.name][1]) == len(SYMBOLS)


@pytest.mark.parametrize(
    "name", ["hot", "Zoë", "a b%", "http://e.org/p", "tag:x", "urn:zodiac:hot", "urn:x:y"]
)
def test_every_kind_of_name(store: Store, tmp_path: Path, name: str) -> None:
    predicate = made(store, name, [("a", "b")])
    exported = export(store, [predicate], tmp_path, "nt")
    assert loaded_again(exported.files[0]) == {name: ((None, None), [("a", "b")])}
    exported = export(store, [made(store, name, [("a",)], "unary")], tmp_path, "nt")
    assert loaded_again(exported.files[0]) == {name: ((None,), [("a",)])}


VALUES = [
    (None, [5, -(2**63), 2**63 - 1], f"{XSD}integer"),
    (f"{XSD}int", [5], f"{XSD}int"),
    (None, [1.5, 1e-300, -0.1, 1e22, math.inf, -math.inf], f"{XSD}double"),
    (f"{XSD}float", [1.1], f"{XSD}float"),
    (f"{XSD}decimal", [1.5, 0.1, -3.0, 0.000001, 1e-15, 123456789012345.0, 1e14], f"{XSD}decimal"),
    (None, [True, False], f"{XSD}boolean"),
    (None, [dt.date(2024, 2, 29), dt.date(1, 1, 1)], f"{XSD}date"),
    (None, [dt.datetime(2024, 2, 29, 10), dt.datetime(2024, 2, 29, 10, 0, 0, 1500)],
     f"{XSD}dateTime"),
    (ZONED, [dt.datetime(2024, 2, 29, 10, 0, 0, 120000)], ZONED),
    (f"{XSD}dateTime+05:45", [dt.datetime(2024, 2, 29, 20, 0, 0, 120000)], f"{XSD}dateTime+05:45"),
    (f"{XSD}dateTimeStamp", [dt.datetime(2024, 2, 29, 10)], f"{XSD}dateTimeStamp"),
]  # fmt: skip


@pytest.mark.parametrize(("datatype", "values", "again"), VALUES)
def test_native_values(
    store: Store, tmp_path: Path, datatype: str | None, values: list[Any], again: str
) -> None:
    rows = [(f"x{number}", value) for number, value in enumerate(values)]
    predicate = made(store, "v", rows, datatypes=(None, datatype))
    (path,) = export(store, [predicate], tmp_path, "nt").files
    ((types, found),) = loaded_again(path).values()
    found = [(name, float(v) if isinstance(v, Decimal) else v) for name, v in found]
    assert (types, found) == ((None, again), rows)
    for quad in ox.parse(path=path, format=ox.RdfFormat.N_TRIPLES):
        assert quad.object.datatype.value == without_zone(again)


def test_what_a_decimal_cannot_write_is_a_double(store: Store, tmp_path: Path) -> None:
    values = [math.nan, math.inf, 1e300, 1e-20]
    rows = [(f"x{number}", value) for number, value in enumerate(values)]
    predicate = made(store, "v", rows, datatypes=(None, f"{XSD}decimal"))
    (path,) = export(store, [predicate], tmp_path, "nt").files
    again = [value for _, value in loaded_again(path)["v"][1]]
    small = f'"0.{"0" * 19}1"^^<{XSD}decimal>'
    assert again == [f'"{v}"^^<{XSD}double>' for v in ("NaN", "INF", "1e+300")] + [small]


def test_export_load_export_is_the_same_file(store: Store, tmp_path: Path) -> None:
    source = tmp_path / "a.ttl"
    source.write_text(
        '@prefix e: <http://e/> . e:a e:p "x"@EN, e:b, [ a e:C ] ;'
        " e:n 5, 6 ; e:f 1.5, 1e3 ; a e:C ."
    )
    predicates = [
        viewed(store, staged, f"p{number}")
        for number, staged in enumerate(load_file(store, source, {}).staged)
    ]
    (first,) = export(store, predicates, tmp_path, "nt").files
    lines = sorted(first.read_text().splitlines())
    with open_store() as fresh:
        dictionary.prepare(fresh)
        predicates = [
            viewed(fresh, staged, f"p{number}")
            for number, staged in enumerate(load_file(fresh, first, {}).staged)
        ]
        (second,) = export_predicates(
            fresh,
            predicates,
            tmp_path / "again",
            "nt",
            {},
            lambda p: shown(fresh.file.name, p.sql_name),
        ).files
    assert sorted(second.read_text().splitlines()) == lines
    assert len(lines) == 9


def test_many_symbols_of_several_predicates(tmp_path: Path) -> None:
    """DuckDB 1.5.6 never begins to stream a union of queries that decode 800,000 symbols."""
    count = 200_000
    with zodiac_sql.connect(tmp_path / "some.duckdb") as kb, kb.update() as update:
        for name in ("p1", "p2", "p3", "p4"):
            subjects = [f"{name}_{number}" for number in range(count)]
            update.insert(name, pa.table({"x": subjects, "y": ["b"] * count}))
    with zodiac_sql.connect(tmp_path / "some.duckdb") as kb:
        (file,) = kb.export(tmp_path, "nt").files
    assert file.read_bytes().count(b"\n") == 4 * count


def test_what_triples_cannot_hold_is_said(store: Store, tmp_path: Path) -> None:
    none = made(store, "none", [()], "none")
    three = made(store, "three", [("a", "b", "c")], "three")
    number = made(store, "number", [(5,)], "number")
    open_ = Predicate("open", "open", (Column("s", None),), (None,), (None,))
    exported = export(store, [none, three, number, open_], tmp_path, "nt")
    assert [name for name, _ in exported.skipped] == ["none", "three", "number", "open"]
    assert "this one has 3" in exported.skipped[1][1]
    assert "has the type int" in exported.skipped[2][1]
    assert exported.files[0].read_text() == ""


# --- tables ---------------------------------------------------------------------------------------


def test_parquet_and_csv(store: Store, tmp_path: Path) -> None:
    rows = [("wt1", 1.5, dt.date(2024, 1, 1)), ('a,"b"\n', -2.0, dt.date(2024, 1, 2))]
    predicate = made(store, "http://e.org/wind Farm", rows, "it's")
    for format_ in ("parquet", "csv"):
        exported = export(store, [predicate], tmp_path, format_)
        assert exported.files == (tmp_path / "out" / f"it's.{format_}",)
        path = exported.files[0]
        copied = tmp_path / f"p.{format_}"
        path.rename(copied)
        assert sorted(duckdb.connect().sql(f"FROM '{copied}'").fetchall()) == sorted(rows)


def test_no_columns(store: Store, tmp_path: Path) -> None:
    exported = export(store, [made(store, "holds", [()])], tmp_path, "csv")
    assert exported.files[0].read_text() == "holds\ntrue\n"


def test_open_predicates_and_formats(store: Store, tmp_path: Path) -> None:
    open_ = Predicate("open", "open", (Column("s", None),), (None,), (None,))
    exported = export(store, [open_], tmp_path, "csv")
    assert exported.files == ()
    assert exported.skipped[0][0] == "open"
    with pytest.raises(DataError, match="Known are parquet, csv, nt and ttl"):
        export(store, [], tmp_path, "xml")


def test_names_that_files_cannot_have(store: Store, tmp_path: Path) -> None:
    predicate = made(store, "p", [("a",)], "../up")
    exported = export(store, [predicate], tmp_path, "csv")
    assert exported.files[0].parent == tmp_path / "out"


def test_where_no_folder_can_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        zodiac_sql.connect() as kb,
        pytest.raises(StoreError, match="cannot be made: Not a directory"),
    ):
        kb.export(tmp_path / "file" / "out")


def test_blank_nodes_with_labels_that_no_file_can_have(tmp_path: Path) -> None:
    labels = ["_:a:b", "_:", "_:a b", "_:.a", "_:x.", '_:a"b', "_:é", "_:ok"]
    with zodiac_sql.connect() as kb:
        kb.insert("http://e/p", [(a, b) for a in labels for b in labels])
        for format in ("nt", "ttl"):
            (file,) = kb.export(tmp_path, format).files
            syntax = ox.RdfFormat.N_TRIPLES if format == "nt" else ox.RdfFormat.TURTLE
            assert len(list(ox.parse(path=file, format=syntax))) == len(labels) ** 2
            with zodiac_sql.connect() as other:
                other.load(file)
                found = {a for a, _ in other.table("http://e/p").fetchall()}
                assert found == {b for _, b in other.table("http://e/p").fetchall()}
                assert len(found) == len(labels) and all(t.startswith("_:z") for t in found)


def test_prefixes_that_turtle_cannot_have(tmp_path: Path) -> None:
    """JSON-LD can have more. The prefix _ would make a blank node of an IRI, in rules as well."""
    prefixes = ["_", "_x", "1a", "a b", "a.", "·a", "é", "a-b", "x.y"]
    namespaces = {p: {"@id": f"http://e/{n}/", "@prefix": True} for n, p in enumerate(prefixes)}
    types = [f"http://e/{n}/T" for n in range(len(prefixes))]
    (tmp_path / "data.jsonld").write_text(
        json.dumps({"@context": namespaces, "@id": "http://e/a", "@type": types})
    )
    with zodiac_sql.connect() as kb:
        kb.load(tmp_path / "data.jsonld")
        assert "_" not in kb.prefixes
        (file,) = kb.export(tmp_path / "out", "ttl").files
        quads = ox.parse(path=file, format=ox.RdfFormat.TURTLE)
        assert sorted(quad.object.value for quad in quads) == types
        assert sorted(quads.prefixes) == ["a-b", "x.y", "é"]
        with zodiac_sql.connect() as other:
            other.load(file)
            assert len(other.predicates()) == len(types)
