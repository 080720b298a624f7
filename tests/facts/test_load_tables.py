"""CSV, Parquet and JSON: types of columns, and every way to be malformed."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest
from support.loading import facts, load, predicate

from zodiac_sql.database.store import Store
from zodiac_sql.errors import DataError
from zodiac_sql.facts.load.load_file import load_file
from zodiac_sql.facts.load.options import Options
from zodiac_sql.language.syntax import Type

SKIP_BAD = Options(skip_bad=True)

EX = "http://example.org/"

READINGS = (
    'turbine,celsius,count,day,ok,at\nwt1,20.5,1,2024-01-01,true,2024-01-01 10:00:00\n'
    '"wt ""2"", ü",3,2,2024-01-02,false,2024-01-01 11:00:00\n'
)  # fmt: skip
ROWS = [
    ('wt "2", ü', 3.0, 2, dt.date(2024, 1, 2), False, dt.datetime(2024, 1, 1, 11)),
    ("wt1", 20.5, 1, dt.date(2024, 1, 1), True, dt.datetime(2024, 1, 1, 10)),
]


@pytest.mark.parametrize(
    ("name", "change"),
    [("r.csv", None), ("r.csv.gz", None), ("r.tsv", "\t"), ("r.tsv.gz", "\t"), ("r.CSV", ";")],
)
def test_csv(store: Store, tmp_path: Path, name: str, change: str | None) -> None:
    text = READINGS if change is None else READINGS.replace(",", change)
    loaded = load(store, tmp_path / name, text)
    (staged,) = loaded.staged
    assert staged.named
    assert [column.name for column in staged.columns] == [
        "turbine", "celsius", "count", "day", "ok", "at",
    ]  # fmt: skip
    wanted = [(row[0].replace(",", change or ","), *row[1:]) for row in ROWS]
    assert facts(store, loaded) == {"r": wanted}
    assert loaded.facts == 2


def test_csv_text_that_only_looks_like_numbers(store: Store, tmp_path: Path) -> None:
    loaded = load(
        store, tmp_path / "p.csv", "a,b,c\n007,01/02/2024,12:30:00\n008,03/04/2024,13:00:00\n"
    )
    assert facts(store, loaded)["p"][0] == ("007", "01/02/2024", "12:30:00")


MIXED = [
    ("9 35 n/a 100", 'line 4 has "n/a", and most others are numbers'),
    ("n/a 2024-01-01 2024-01-02", 'line 2 has "n/a", and most others are dates'),
    ("true false true maybe", 'line 5 has "maybe", and most others are true or false'),
    ("9 35 " * 600 + "off", 'line 1202 has "off", and most others are numbers'),
    ("n/a " + "9 35 " * 600, 'line 2 has "n/a", and most others are numbers'),
    ("9 35 " * 5100 + "off", 'line 10202 has "off", and most others are numbers'),
    ("one two 3 four", ""),
    ("12345 01234 54321", ""),
    ("007 008 9", ""),
    ("a b c", ""),
]


@pytest.mark.parametrize(("texts", "said"), MIXED)
def test_why_a_column_has_several_kinds_is_told(
    store: Store, tmp_path: Path, texts: str, said: str
) -> None:
    path, lines = tmp_path / "p.csv", "".join(f"x,{text}\n" for text in texts.split())
    notes = [note for note in load(store, path, f"a,b\n{lines}").notes if "the type any" in note]
    assert notes == ([f"{path}: column b has the type any, because {said}"] if said else [])
    known = {"p": predicate("p", Type.SYMBOL, Type.SYMBOL)}
    notes = list(load(store, path, f"s,o\n{lines}", known).notes)
    assert not any("the type any" in note for note in notes)


def test_csv_moments_with_zones_are_utc(store: Store, tmp_path: Path) -> None:
    store.run("SET TimeZone = 'America/New_York'")
    loaded = load(store, tmp_path / "p.csv", "a,b\n1,2024-01-01T10:00:00+02:00\n")
    assert facts(store, loaded)["p"] == [(1, dt.datetime(2024, 1, 1, 8))]


def test_known_types_override_what_is_found(store: Store, tmp_path: Path) -> None:
    known = {"p": predicate("p", Type.SYMBOL, Type.FLOAT)}
    loaded = load(store, tmp_path / "p.csv", "x,y\n1,2\n", known)
    assert facts(store, loaded) == {"p": [("1", 2.0)]}
    assert [column.name for column in loaded.staged[0].columns] == ["s", "o"]
    loaded = load(store, tmp_path / "p.csv", "o,s\n1,2\n", known)
    assert facts(store, loaded) == {"p": [("2", 1.0)]}
    loaded = load(store, tmp_path / "p.jsonl", '{"s": 1, "o": 2}\n', known)
    assert facts(store, loaded) == {"p": [("1", 2.0)]}
    with pytest.raises(DataError, match=r"p\.csv(.|\n)*line 3: 1,x"):
        load(store, tmp_path / "p.csv", "s,o\n1,2\n1,x\n", known)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_malformed_csv(store: Store, tmp_path: Path, end: str) -> None:
    text = "a,b\n1,x\n\n2,y,z\n3\n4,w\n".replace("\n", end)
    with pytest.raises(DataError) as error:
        load(store, tmp_path / "p.csv", text)
    assert "2 bad lines" in str(error.value)
    assert "line 4: 2,y,z" in str(error.value)
    assert "line 5: 3" in str(error.value)
    loaded = load_file(store, tmp_path / "p.csv", {}, options=SKIP_BAD)
    assert facts(store, loaded) == {"p": [(1, "x"), (4, "w")]}
    assert [skip.line for skip in loaded.skipped] == [4, 5]
    assert loaded.skipped_count == loaded.facts == 2


def test_empty_cells(store: Store, tmp_path: Path) -> None:
    text = 'a,b\n1,x\n\n2,\n3,""\n,z\n'
    path = tmp_path / "p.csv"
    with pytest.raises(DataError, match=r"column b is empty \(NULL\) in line 4 of .*p\.csv"):
        load(store, path, text)
    loaded = load_file(store, path, {}, options=SKIP_BAD)
    assert facts(store, loaded) == {"p": [(1, "x"), (3, "")]}
    assert [(s.line, s.reason) for s in loaded.skipped] == [
        (4, "column b is empty"), (6, "column a is empty"),
    ]  # fmt: skip


def test_rows_of_several_lines(store: Store, tmp_path: Path) -> None:
    text = 'a,b\n1,"x\ny"\n2,\n'
    with pytest.raises(DataError, match="in row 2 of"):
        load(store, tmp_path / "p.csv", text)
    loaded = load(store, tmp_path / "p.csv", text + '3,"z"\n', options=SKIP_BAD)
    assert facts(store, loaded) == {"p": [(1, "x\ny"), (3, "z")]}


def test_not_utf8(store: Store, tmp_path: Path) -> None:
    data = "a,b\n1,x\n2,ü\n".encode("latin-1")
    with pytest.raises(DataError, match="line 3"):
        load(store, tmp_path / "p.csv", data)
    assert load_file(store, tmp_path / "p.csv", {}, options=SKIP_BAD).facts == 1


def test_parquet(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "p.parquet"
    pyarrow.parquet.write_table(pa.table({"a": ["x"], "b": [1]}), path)
    assert facts(store, load_file(store, path, {}, predicate="q")) == {"q": [("x", 1)]}
    pyarrow.parquet.write_table(pa.table({"a": ["x", None]}), path)
    with pytest.raises(DataError, match="row 2 of"):
        load_file(store, path, {})
    path.write_text("junk")
    with pytest.raises(DataError, match=r"p\.parquet cannot be read"):
        load_file(store, path, {})


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("p.jsonl", '{"a": "x", "b": 1}\n{"a": "y", "b": 2}\n'),
        ("p.ndjson.gz", '{"a": "x", "b": 1}\n{"a": "y", "b": 2}\n'),
        ("p.json", '[{"a": "x", "b": 1}, {"a": "y", "b": 2}]'),
    ],
)
def test_json(store: Store, tmp_path: Path, name: str, text: str) -> None:
    assert facts(store, load(store, tmp_path / name, text)) == {"p": [("x", 1), ("y", 2)]}


def test_malformed_json(store: Store, tmp_path: Path) -> None:
    text = '{"a": 1, "b": "x"}\n\n{"a": 2,\n{"a": 3, "b": "z"}\n{"a": 4}\n'
    with pytest.raises(DataError, match="line 3"):
        load(store, tmp_path / "p.jsonl", text)
    loaded = load_file(store, tmp_path / "p.jsonl", {}, options=SKIP_BAD)
    assert facts(store, loaded) == {"p": [(1, "x"), (3, "z")]}
    assert [skip.line for skip in loaded.skipped] == [3, 5]
    with pytest.raises(DataError, match="is an object or an array"):
        load(store, tmp_path / "p.jsonl", '{"a": [1]}\n')


def test_the_name_of_the_predicate(store: Store, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot name a predicate"):
        load(store, tmp_path / "wind-farm 2.csv", "a\n1\n")
    loaded = load_file(store, tmp_path / "wind-farm 2.csv", {}, predicate=f"{EX}p")
    assert facts(store, loaded) == {f"{EX}p": [(1,)]}
