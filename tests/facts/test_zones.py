"""Moments with time zones in native columns of RDF: instants, with the zone in which all are."""

from __future__ import annotations

import datetime as dt
import itertools
from pathlib import Path

import pyoxigraph as ox
import pytest

import zodiac_sql
from zodiac_sql.knowledge_base import KnowledgeBase

P = "http://e/p"
PREFIXES = "@prefix : <http://e/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n"
EVENING = '"2010-12-31T23:30:00-08:00"^^xsd:dateTime'
SUMMER = '"2011-06-30T16:00:00.25-08:00"^^xsd:dateTime'
MORNING = '"2011-01-01T08:30:00+01:00"^^xsd:dateTime'
NOON = '"2011-01-01T12:00:00Z"^^xsd:dateTime'


@pytest.fixture
def kb() -> KnowledgeBase:
    return zodiac_sql.connect()


def file_of(tmp_path: Path, name: str, *moments: str) -> Path:
    lines = (f":{name}{n} :p {moment} ." for n, moment in enumerate(moments))
    (tmp_path / f"{name}.ttl").write_text(PREFIXES + "\n".join(lines))
    return tmp_path / f"{name}.ttl"


def exported(kb: KnowledgeBase, tmp_path: Path) -> set[str]:
    (path,) = kb.export(tmp_path / "out", "nt").files
    read = ox.parse(path=path, format=ox.RdfFormat.N_TRIPLES)
    return {quad.object.value for quad in read}


def days(kb: KnowledgeBase) -> set[object]:
    found = kb.sparql("SELECT (STR(?t) AS ?s) (DAY(?t) AS ?d) { ?x <http://e/p> ?t }")
    return set(found.fetchall())


def test_a_zone_that_all_have_is_kept(kb: KnowledgeBase, tmp_path: Path) -> None:
    change = kb.load(file_of(tmp_path, "a", EVENING, SUMMER))
    assert not change.notes
    assert sorted(row[1] for row in kb.table(P).fetchall()) == [
        dt.datetime(2011, 1, 1, 7, 30), dt.datetime(2011, 7, 1, 0, 0, 0, 250_000),
    ]  # fmt: skip
    texts = {"2010-12-31T23:30:00-08:00", "2011-06-30T16:00:00.25-08:00"}
    assert exported(kb, tmp_path) == texts
    assert days(kb) == {("2010-12-31T23:30:00-08:00", 31), ("2011-06-30T16:00:00.25-08:00", 30)}
    assert {o for (o,) in kb.sql("SELECT o FROM triple").fetchall()} == {
        f'"{text}"^^<http://www.w3.org/2001/XMLSchema#dateTime>' for text in texts
    }
    assert kb.verify()


def test_several_zones_are_kept_as_they_are(kb: KnowledgeBase, tmp_path: Path) -> None:
    (note,) = kb.load(file_of(tmp_path, "a", EVENING, NOON)).notes
    assert note.endswith("and others have another time zone, or none")
    texts = {"2010-12-31T23:30:00-08:00", "2011-01-01T12:00:00Z"}
    assert exported(kb, tmp_path) == texts
    assert days(kb) == {("2010-12-31T23:30:00-08:00", 31), ("2011-01-01T12:00:00Z", 1)}


def test_several_zones_of_a_declared_column_are_written_in_utc(
    kb: KnowledgeBase, tmp_path: Path
) -> None:
    kb.add_rules(f".decl <{P}>(s: symbol, o: timestamp)")
    (note,) = kb.load(file_of(tmp_path, "a", EVENING, NOON)).notes
    assert "the objects of http://e/p are moments of several time zones" in note
    assert {moment for _, moment in kb.table(P).fetchall()} == {
        dt.datetime(2011, 1, 1, 7, 30), dt.datetime(2011, 1, 1, 12),
    }  # fmt: skip


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_the_order_of_files_makes_no_difference(tmp_path: Path, order: tuple[int, ...]) -> None:
    files = [
        file_of(tmp_path, name, moment)
        for name, moment in zip("abc", (EVENING, MORNING, NOON), strict=True)
    ]
    with zodiac_sql.connect(tmp_path / "zones.duckdb") as kb:
        changes = [kb.load(files[number]) for number in order]
        noted = [any("becomes any" in note for note in change.notes) for change in changes]
        assert noted == [False, True, False]
    with zodiac_sql.connect(tmp_path / "zones.duckdb") as kb:
        assert exported(kb, tmp_path) == {m.split('"')[1] for m in (EVENING, MORNING, NOON)}
        assert kb.verify()
        for file in files:
            assert not any("passed over" in note for note in kb.unload(file).notes)
        assert not kb.predicates().fetchall()


def test_rows_without_a_zone_make_the_column_one_of_terms(
    kb: KnowledgeBase, tmp_path: Path
) -> None:
    kb.load(file_of(tmp_path, "a", EVENING))
    kb.insert(P, [("http://e/x", dt.datetime(2011, 1, 1, 9, 0))])
    assert exported(kb, tmp_path) == {"2010-12-31T23:30:00-08:00", "2011-01-01T09:00:00"}


def test_a_file_of_the_same_zone_changes_nothing(kb: KnowledgeBase, tmp_path: Path) -> None:
    kb.load(file_of(tmp_path, "a", EVENING))
    assert not kb.load(file_of(tmp_path, "b", SUMMER)).notes
    assert {day for _, day in days(kb)} == {31, 30}  # type: ignore[misc]
    kb.unload(file_of(tmp_path, "a", EVENING))
    assert {day for _, day in days(kb)} == {30}  # type: ignore[misc]
