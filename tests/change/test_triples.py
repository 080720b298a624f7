"""The view of all triples, for any DuckDB client."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

import zodiac_sql
from zodiac_sql.knowledge_base import KnowledgeBase

TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
XSD = "http://www.w3.org/2001/XMLSchema#"
FACTS = "@prefix e: <http://e/> . e:C(e:a). e:p(e:a, e:b). e:n(e:a, 3). near(a, b)."


def triples(kb: KnowledgeBase) -> list[tuple[str, ...]]:
    return kb.sql("SELECT s, p, o FROM triple ORDER BY ALL").fetchall()


def has_triples(kb: KnowledgeBase) -> bool:
    return bool(kb.sql("SELECT 1 FROM duckdb_views() WHERE view_name = 'triple'"))


def test_rdf_predicates(tmp_path: Path) -> None:
    path = tmp_path / "x.duckdb"
    with zodiac_sql.connect(path) as kb:
        kb.add_rules(FACTS)
        kb.add_rules("@prefix e: <http://e/> . e:D(X) :- e:p(Y, X).")
    other = path.rename(tmp_path / "y.duckdb")  # a file can get another name
    with duckdb.connect(other) as connection:
        found = connection.execute("SELECT s, p, o FROM triple ORDER BY ALL").fetchall()
    a, b = "http://e/a", "http://e/b"
    assert found == [
        (a, "http://e/n", f'"3"^^<{XSD}integer>'),
        (a, "http://e/p", b),
        (a, TYPE, "http://e/C"),
        (b, TYPE, "http://e/D"),
    ]


@pytest.mark.parametrize(
    "written",
    [
        '"2.5"^^<{}decimal>', '"2.5"^^<{}double>', '"INF"^^<{}double>', '"NaN"^^<{}float>',
        '"true"^^<{}boolean>', '"2026-01-02"^^<{}date>', '"2026-01-02T03:04:05"^^<{}dateTime>',
        '"2026-01-02T03:04:05.12Z"^^<{}dateTime>', '"7"^^<{}short>', '"x"@en', '"1"^^<{}duration>',
    ],
)  # fmt: skip
def test_literals(written: str, tmp_path: Path) -> None:
    """Literals are what they were in the file, whether their column is native or not."""
    literal = written.format(XSD)
    path = tmp_path / "x.nt"
    path.write_text(f"<http://e/a> <http://e/p> {literal} .\n")
    with zodiac_sql.connect() as kb:
        kb.load(path)
        assert triples(kb) == [("http://e/a", "http://e/p", literal)]


def test_predicates_come_and_go() -> None:
    with zodiac_sql.connect() as kb:
        kb.insert("near", [("a", "b")])
        assert not has_triples(kb)
        kb.add_rules("r: <http://e/far>(X, Y) :- near(X, Y).")
        assert triples(kb) == [("a", "http://e/far", "b")]
        kb.drop_rules("r")
        assert not has_triples(kb)
        kb.insert("http://e/p", [("a", "b")])
        assert triples(kb) == [("a", "http://e/p", "b")]
        kb.insert("http://e/p", [("a", "c")])
        assert len(triples(kb)) == 2


def test_nothing_is_asked_where_no_rdf_predicate_changes() -> None:
    with zodiac_sql.connect() as kb:
        kb.add_rules(FACTS)
        statements: list[str] = []
        kb.trace(lambda text, _: statements.append(text))
        kb.insert("http://e/p", [("http://e/b", "http://e/c")])
        kb.add_rules("r: far(X) :- near(X, Y).")
        kb.drop_rules("r")
    assert not [
        text for text in statements if '"main"."triple"' in text or "lower(view_name) = " in text
    ]


def test_a_predicate_of_that_name() -> None:
    """The user's predicate has the name; when it goes, the view comes back with the next change."""
    with zodiac_sql.connect() as kb:
        kb.add_rules(FACTS)
        kb.add_rules("t: triple(X) :- near(X, Y).")
        assert kb.sql("SELECT * FROM triple").fetchall() == [("a",)]
        assert kb.query("triple(X)").fetchall() == [("a",)]
        kb.insert("http://e/q", [("a", "b")])
        assert kb.sql("SELECT * FROM triple").fetchall() == [("a",)]
        assert kb.verify()
        kb.drop_rules("t")
        assert len(triples(kb)) == 4


def test_somebody_elses_table(tmp_path: Path) -> None:
    path = tmp_path / "x.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE Triple AS SELECT 1 AS x")
    with zodiac_sql.connect(path) as kb:
        kb.add_rules(FACTS)
        assert kb.sql("SELECT * FROM triple").fetchall() == [(1,)]
        kb.insert("triple", [("a", "b")])
        assert kb.sql("SELECT * FROM triple_2").fetchall() == [("a", "b")]


def test_a_file_without_the_view_gets_it(tmp_path: Path) -> None:
    path = tmp_path / "x.duckdb"
    with zodiac_sql.connect(path) as kb:
        kb.add_rules(FACTS)
    with duckdb.connect(path) as connection:
        connection.execute("DROP VIEW triple")
    with zodiac_sql.connect(path) as kb:
        kb.insert("http://e/p", [("x", "y")])
        assert not has_triples(kb)
        kb.insert("http://e/q", [("x", "y")])
        assert len(triples(kb)) == 5


def test_properties_of_one_type_share_how_their_values_become_texts(tmp_path: Path) -> None:
    """Hundreds of properties of decimals would make the view long, and slow to plan."""
    facts = [
        ("a", "p", f'"2.5"^^<{XSD}decimal>'), ("a", "q", f'"0.000000000000000025"^^<{XSD}decimal>'),
        ("b", "q", f'"-3.25"^^<{XSD}decimal>'), ("a", "r", f'"1.5"^^<{XSD}double>'),
        ("a", "n", f'"3"^^<{XSD}integer>'), ("b", "m", f'"4"^^<{XSD}integer>'),
        ("b", "s", f'"5"^^<{XSD}short>'), ("a", "t", '"x"@en'),
    ]  # fmt: skip
    path = tmp_path / "x.nt"
    lines = [f"<http://e/{s}> <http://e/{p}> {value} .\n" for s, p, value in facts]
    path.write_text("".join(lines) + f"<http://e/a> <{TYPE}> <http://e/K> .\n")
    with zodiac_sql.connect() as kb:
        kb.load(path)
        expected = [(f"http://e/{s}", f"http://e/{p}", value) for s, p, value in facts]
        assert triples(kb) == sorted([*expected, ("http://e/a", TYPE, "http://e/K")])
        asked = kb.sql("SELECT s, o FROM triple WHERE p = 'http://e/q' ORDER BY ALL").fetchall()
        assert asked == sorted((s, o) for s, p, o in expected if p == "http://e/q")
        (made,) = kb.sql("SELECT sql FROM duckdb_views() WHERE view_name = 'triple'").fetchall()
        assert made[0].count("decimal>") == 1
        assert kb.verify()
