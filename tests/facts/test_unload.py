"""`unload`: deleting the facts of a file is loading it, the other way round."""

from __future__ import annotations

import datetime as dt
import gzip
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

from zodiac_sql import DataError, KnowledgeBase

OpenKb = Callable[..., KnowledgeBase]

XSD = "http://www.w3.org/2001/XMLSchema#"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
BLANK = f"""\
_:b0 <http://e/p> "1"^^<{XSD}integer> .
_:b0 <http://e/q> _:b1 .
_:b1 {TYPE} <http://e/C> .
<http://e/a> {TYPE} _:b1 .
"""

LITERALS = [
    ["1^^integer", "2.5^^decimal"],
    ["1^^integer", "x^^string"],
    ["1^^integer", "true^^boolean"],
    ["007^^integer", "+7^^integer"],
    ["99999999999999999999^^integer"],
    ["2^^byte", "300^^byte"],
    ["5^^nonNegativeInteger", "-5^^integer"],
    ["1.10^^decimal", "1.1^^decimal"],
    ["1.0E3^^double", "INF^^double", "NaN^^double", "-0.0^^double"],
    ["1.5^^float", "3^^integer"],
    ["true^^boolean", "0^^boolean"],
    ["2025-01-01^^date"],
    ["2025-01-01^^date", "2025-01-01Z^^date"],
    ["2025-01-01T00:00:00^^dateTime"],
    ["2025-01-01T00:00:00+02:00^^dateTime", "2025-01-01T00:00:00Z^^dateTime"],
    ["2025-01-01T00:00:00+02:00^^dateTime", "2025-01-01T00:00:00.50+02:00^^dateTime"],
    ["2025-01-01T00:00:00+02:00^^dateTime", "2025-01-01T00:00:00^^dateTime"],
    ["2025-01-01T00:00:00^^dateTime", "2025-01-01^^date"],
    ["2025^^gYear"],
]
"""Objects of one property each, in a file together."""

FILES = {
    "dates.csv": "a,d\nx,2025-01-01\ny,2025-02-01\n",
    "moments.csv": "a,t\nx,2025-01-01T10:00:00\ny,2025-02-01 10:00:00.5\n",
    "zoned.csv": "a,t\nx,2025-01-01 10:00:00+02:00\ny,2025-06-01T10:00:00Z\n",
    "floats.csv": "a,n\n007,1.50\n8,2\nx,nan\ny,inf\n",
    "integers.csv": "a,n\nx,+1\ny,1000000\nx,1\n",
    "booleans.csv": "a,b\nx,true\ny,FALSE\n",
    "quoted.csv": 'a,b\n"x, y","line\nbreak"\n"""q""",_:b1\n',
    "one.csv": "a\nx\ny\n",
    "tabs.tsv": "a\tb\tc\nx\t1e3\tz\n",
    "lines.jsonl": '{"a": "x", "n": 1, "t": "2025-01-01T10:00:00"}\n'
    '{"a": "y", "n": 2.5, "t": "2025-01-01T10:00:00.123"}\n',
    "zoned.jsonl": '{"a": "x", "t": "2025-01-01T10:00:00+02:00"}\n',
    "array.json": '[{"a": "x", "d": "2025-01-01"}]',
    "blank.nt": BLANK,
    "graphs.nq": BLANK.replace(" .\n", " <http://e/g> .\n"),
    "nodes.ttl": "@prefix ex: <http://ex.org/> .\n"
    'ex:a ex:p [ ex:q "hallo"@DE , 1.5 , 2 ] ; a ex:C .\n[] ex:r true .\n',
    "literals.nt": "".join(
        f'<http://e/s{row}> <http://e/p{column}> "{value}"^^<{XSD}{datatype}> .\n'
        for column, literals in enumerate(LITERALS)
        for row, (value, datatype) in enumerate(text.split("^^") for text in literals)
    ),
}


@pytest.fixture
def kb(open_kb: OpenKb) -> Iterator[KnowledgeBase]:
    """A knowledge base with a little of its own."""
    with open_kb() as opened:
        opened.insert("other", [("x", 1)])
        opened.add_rules("d(X) :- other(X, _).")
        yield opened


@pytest.fixture(params=[*FILES, "blank.nt.gz", "table.parquet"])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / request.param
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(FILES[path.stem].encode()))
    elif path.suffix == ".parquet":
        write_parquet(path)
    else:
        path.write_text(FILES[path.name])
    return path


def write_parquet(path: Path) -> None:
    columns = {
        "a": ["x", "y"],
        "d": [dt.date(2025, 1, 1), dt.date(2025, 1, 2)],
        "t": [dt.datetime(2025, 1, 1, tzinfo=dt.UTC)] * 2,
        "f": pa.array([1, 2], pa.float32()),
        "u": pa.array([1, 2], pa.uint64()),
    }
    pa.parquet.write_table(pa.table(columns), path)


def snapshot(kb: KnowledgeBase) -> dict[str, Any]:
    """All that there is of predicates, as people see it and in the catalog."""
    return {
        row["predicate"]: (row, sorted(map(repr, kb.table(row["predicate"]).fetchall())))
        for row in kb.predicates().to_pylist()
    } | {"catalog": kb._session.store.rows("SELECT * FROM zodiac.predicate ORDER BY name")}


def symbols(kb: KnowledgeBase) -> int:
    return kb._session.store.count("SELECT count(*) FROM zodiac.symbol")


# --- there and back -------------------------------------------------------------------------------


def test_what_was_loaded_goes(kb: KnowledgeBase, file: Path) -> None:
    before = snapshot(kb)
    loaded = kb.load(file)
    assert loaded.inserted
    change = kb.unload(file)
    assert (change.inserted, change.deleted) == ({}, loaded.inserted)
    assert not any("passed over" in note for note in change.notes)
    assert snapshot(kb) == before
    assert kb.verify()


def test_loading_again_changes_nothing(kb: KnowledgeBase, file: Path) -> None:
    kb.load(file)
    assert not kb.load(file)


def test_what_was_never_there(kb: KnowledgeBase, file: Path) -> None:
    before = snapshot(kb), symbols(kb), kb._session.store.rows("FROM zodiac.prefix")
    change = kb.unload(file)
    assert not change
    assert any("not among the explicit facts" in note for note in change.notes)
    assert (snapshot(kb), symbols(kb), kb._session.store.rows("FROM zodiac.prefix")) == before


def test_moments_in_json_are_utc(kb: KnowledgeBase, tmp_path: Path) -> None:
    kb._session.store.run("SET TimeZone = 'America/New_York'")
    (tmp_path / "p.jsonl").write_text('{"t": "2025-01-01T10:00:00+02:00"}\n')
    (tmp_path / "q.jsonl").write_text('{"t": "2025-01-01T10:00:00"}\n')
    for name in ("p", "q"):
        kb.load(tmp_path / f"{name}.jsonl")
    assert kb.table("p").fetchall() == [(dt.datetime(2025, 1, 1, 8),)]
    assert kb.table("q").fetchall() == [(dt.datetime(2025, 1, 1, 10),)]


# --- in part --------------------------------------------------------------------------------------


def test_in_part(kb: KnowledgeBase, tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_text("s,o\na,b\nb,c\nnew,newer\nnew,newer\n")
    kb.insert("e", [("a", "b"), ("b", "c"), ("c", "d")])
    kb.add_rules("p(X, Y) :- e(X, Y). p(X, Z) :- p(X, Y), p(Y, Z). e(X, Y) :- f(X, Y).")
    kb.insert("f", [("b", "c")])
    before = symbols(kb)
    change = kb.unload(path)
    assert change.notes == (
        f"{path}: 2 facts are deleted, also if another file states them",
        f"{path}: 1 fact is not among the explicit facts, and passed over",
    )
    assert change.deleted == {"e": 1, "p": 3}, "b, c is derived, too"
    assert sorted(kb.table("e").fetchall()) == [("b", "c"), ("c", "d")]
    assert symbols(kb) == before
    assert kb.verify()
    assert not kb.unload(path)


def test_a_predicate_whose_name_is_misspelt(kb: KnowledgeBase) -> None:
    kb.insert("parent", [("a", "b")])
    assert kb.delete("paren", [("a", "b")]).notes == ("paren has no facts; did you mean parent?",)
    assert kb.delete("something", [("a", "b")]).notes == ()


def test_only_explicit_facts_are_deleted(kb: KnowledgeBase, tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text("s\nx\n")
    change = kb.unload(path)
    assert not change
    assert "1 fact is not among the explicit facts" in change.notes[0]
    assert kb.table("d").fetchall() == [("x",)]


def test_as_another_predicate(kb: KnowledgeBase, tmp_path: Path) -> None:
    """Integers are found among floats; columns by their names."""
    path = tmp_path / "readings.csv"
    path.write_text("celsius,turbine\n20,wt1\n21,wt2\n")
    kb.add_rules(".decl temperature(turbine: symbol, celsius: float)")
    kb.insert("temperature", [("wt1", 20.0), ("wt2", 21.5)])
    change = kb.unload(path, "temperature")
    assert change.deleted == {"temperature": 1}
    assert kb.table("temperature").fetchall() == [("wt2", 21.5)]
    with pytest.raises(DataError, match="d has 1 column"):
        kb.unload(path, "d")


def test_a_datatype_stays(kb: KnowledgeBase, tmp_path: Path) -> None:
    """What is deleted tells nothing about what is left."""
    one, two = tmp_path / "one.nt", tmp_path / "two.nt"
    triple = '<http://e/{}> <http://e/p> "1"^^<{}{}> .\n'
    one.write_text("".join(triple.format(subject, XSD, "int") for subject in "ab"))
    two.write_text(triple.format("a", XSD, "integer"))
    kb.load(one)
    before = snapshot(kb)["catalog"]
    assert kb.unload(two).deleted == {}  # another literal
    two.write_text(triple.format("a", XSD, "int"))
    assert kb.unload(two).deleted == {"http://e/p": 1}
    assert snapshot(kb)["catalog"] == before


# --- among other verbs ----------------------------------------------------------------------------


def test_files_in_one_update(kb: KnowledgeBase, tmp_path: Path) -> None:
    """Inserting wins, as it does over `delete`; ids that are given twice meet nowhere."""
    old, new, gone = (tmp_path / f"{name}.csv" for name in ("old", "new", "gone"))
    old.write_text("s,o\na,b\nb,c\n")
    new.write_text("s,o\nb,c\nc,d\n")
    gone.write_text("s,o\nu,v\nw,x\n")
    kb.load(old, "e")
    with kb.update() as update:
        update.insert("e", [("first", "new")])
        update.unload(gone, "e")
        update.unload(old, "e")
        update.insert("e", [("second", "newer")])
        update.load(new, "e")
    assert update.change.inserted == {"e": 3}
    assert update.change.deleted == {"e": 1}
    expected = [("b", "c"), ("c", "d"), ("first", "new"), ("second", "newer")]
    assert sorted(kb.table("e").fetchall()) == expected
    assert kb.sql("FROM zodiac.symbol WHERE text IN ('u', 'v', 'w')").fetchall() == []
    assert kb.verify()


def test_a_bad_file_changes_nothing(kb: KnowledgeBase, tmp_path: Path) -> None:
    path = tmp_path / "other.csv"
    path.write_text("s,o\nx,1\nonly\n")
    with pytest.raises(DataError, match="line 3: only"):
        kb.unload(path)
    with pytest.raises(DataError, match="there is no such file"):
        kb.unload(tmp_path / "none.csv")
    assert kb.table("other").fetchall() == [("x", 1)]
    change = kb.unload(path, skip_bad=True)
    assert change.deleted == {"d": 1, "other": 1}
    assert "1 bad line was left out" in change.notes[0]
