"""Export of what is inferred only, and Turtle."""

from __future__ import annotations

from pathlib import Path

import pyoxigraph
import pytest

import zodiac_sql
from zodiac_sql.knowledge_base import KnowledgeBase

PROGRAM = """
    @prefix ex: <http://e/> .
    ex:p(ex:a, ex:b). ex:p(ex:b, ex:c). ex:q(ex:a, ex:c). ex:n(ex:a, 2.5).
    q: ex:q(X, Z) :- ex:p(X, Y), ex:p(Y, Z).
    r: ex:r(X, Y) :- ex:p(X, Y).
    c: ex:C(X) :- ex:n(X, N), N > 2.
    d: far(X, Y) :- ex:p(Y, X).
"""


@pytest.fixture
def kb() -> KnowledgeBase:
    opened = zodiac_sql.connect()
    opened.add_rules(PROGRAM)
    return opened


def read(path: Path, format: pyoxigraph.RdfFormat) -> set[str]:
    return {str(quad.triple) for quad in pyoxigraph.parse(path=path, format=format)}


@pytest.mark.parametrize("format", ["nt", "ttl"])
def test_inferred(kb: KnowledgeBase, format: str, tmp_path: Path) -> None:
    """A fact that is explicit, too, is left out; so are predicates that no rule derives."""
    exported = kb.export(tmp_path, format, inferred=True)
    a, b, c = (f"<http://e/{name}>" for name in "abc")
    wanted = {
        f"{a} <http://e/r> {b}", f"{b} <http://e/r> {c}",
        f"{a} <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://e/C>",
        f"{b} <urn:zodiac:far> {a}", f"{c} <urn:zodiac:far> {b}",
    }  # fmt: skip
    formats = {"nt": pyoxigraph.RdfFormat.N_TRIPLES, "ttl": pyoxigraph.RdfFormat.TURTLE}
    assert read(exported.files[0], formats[format]) == wanted
    assert [path.name for path in tmp_path.iterdir()] == [f"facts.{format}"]


def test_inferred_tables(kb: KnowledgeBase, tmp_path: Path) -> None:
    exported = kb.export(tmp_path, "csv", "ex:q", "ex:p", "far", inferred=True)
    assert [path.name for path in exported.files] == ["q.csv", "far.csv"]
    assert (tmp_path / "q.csv").read_text().splitlines() == ["s,o"]
    assert len((tmp_path / "far.csv").read_text().splitlines()) == 3


def test_inferred_of_a_closure(kb: KnowledgeBase, tmp_path: Path) -> None:
    """Explicit facts are left out of a relation that is kept as classes, too."""
    kb.add_rules("""
        near(X, Y) :- near(Y, X).
        near(X, Z) :- near(X, Y), near(Y, Z).
    """)
    kb.insert("near", [("a", "b"), ("b", "c")])
    kb.export(tmp_path, "csv", "near", inferred=True)
    lines = (tmp_path / "near.csv").read_text().splitlines()[1:]
    both = {(x, y) for x in "abc" for y in "abc"} - {("a", "b"), ("b", "c")}
    assert sorted(lines) == sorted(f"{x},{y}" for x, y in both)


def test_turtle_has_the_known_prefixes(kb: KnowledgeBase, tmp_path: Path) -> None:
    kb.insert("http://e/n", [("_:b0", 7.5)])
    text = kb.export(tmp_path, "ttl").files[0].read_text()
    assert "@prefix ex: <http://e/> ." in text and "ex:r ex:b" in text and "_:b0" in text
    with zodiac_sql.connect() as other:
        other.load(tmp_path / "facts.ttl")
        assert other.table("http://e/q").fetchall() == kb.table("http://e/q").fetchall()


def test_the_same_triples_in_both_formats(kb: KnowledgeBase, tmp_path: Path) -> None:
    first = read(kb.export(tmp_path, "nt").files[0], pyoxigraph.RdfFormat.N_TRIPLES)
    assert first == read(kb.export(tmp_path, "ttl").files[0], pyoxigraph.RdfFormat.TURTLE)


def test_nothing_inferred(tmp_path: Path) -> None:
    with zodiac_sql.connect() as kb:
        kb.insert("p", [("a", "b")])
        exported = kb.export(tmp_path, "ttl", inferred=True)
        assert exported.files[0].read_text() == ""


def test_what_a_rule_set_states_is_written_once_and_not_inferred(tmp_path: Path) -> None:
    with zodiac_sql.connect() as kb:
        kb.add_rules("""
            @prefix ex: <http://e/> . .decl ex:p(one: symbol, other: symbol)
            ex:p(ex:a, ex:b). ex:p(X, Y) :- ex:q(X, Y). ex:q(ex:a, ex:c). ex:q(ex:a, ex:b).
        """)
        kb.add_rules("@prefix ex: <http://e/> . ex:p(ex:a, ex:d). ex:p(ex:a, ex:c).", set="some")
        kb.add_rules("@prefix ex: <http://e/> . ex:p(ex:a, ex:e).", set="more")
        kb.insert("http://e/q", [("http://e/a", "http://e/f")])
        inferred = read(
            kb.export(tmp_path, "nt", inferred=True).files[0], pyoxigraph.RdfFormat.N_TRIPLES
        )
        every = read(kb.export(tmp_path, "nt").files[0], pyoxigraph.RdfFormat.N_TRIPLES)
        assert inferred == {"<http://e/a> <http://e/p> <http://e/f>"}
        wanted = {f"<http://e/a> <http://e/p> <http://e/{x}>" for x in "bcdef"}
        assert every == wanted | {f"<http://e/a> <http://e/q> <http://e/{x}>" for x in "bcf"}
        assert {p.name for p in kb.export(tmp_path / "csv", "csv").files} == {"p.csv", "q.csv"}
