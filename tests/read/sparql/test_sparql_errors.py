"""What is wrong in a SPARQL query, or not supported, is said by name. And what is special to us."""

from __future__ import annotations

import datetime
import sys
from pathlib import Path

import pytest

import zodiac_sql
from zodiac_sql.errors import QueryError
from zodiac_sql.knowledge_base import KnowledgeBase

REFUSED = {
    "SELECT * FROM <http://e/g> { ?x ?p ?y }": "FROM",
    "SELECT * { GRAPH ?g { ?x ?p ?y } }": "GRAPH",
    "SELECT * { SERVICE <http://e/s> { ?x ?p ?y } }": "SERVICE",
    "SELECT (SHA512(?n) AS ?m) { }": "SHA512",
    "SELECT (BNODE(?n) AS ?m) { }": "BNODE with an argument",
    "SELECT (<http://e/f>(1) AS ?n) { }": "<http://e/f>",
    "SELECT * { ?x !(^<http://e/p>) ?y }": "inverse property",
    'SELECT * { ?x ?p ?y FILTER(regex(?y, "a", "y")) }': "flag y",
    'SELECT * { ?x ?p ?y FILTER(regex("a", ?y, "x")) }': "flag x",
    "SELECT * { ?x ?p ?y FILTER EXISTS { ?y ?q ?z OPTIONAL { ?z ?r ?w FILTER(?w = ?x) } } }": (
        "variable from outside of EXISTS"
    ),
    "SELECT * { ?x ?p }": "SPARQL: Expected",
    "SELECT * { ?x nope:p ?y }": "nope",
    "SELECT * { SERVICE ?s { SERVICE <http://e/s> { ?x ?p ?y } } }": "SERVICE is not supported",
    "INSERT DATA { <http://e/a> <http://e/b> 1 }": "INSERT is SPARQL Update",
    "# change\nPREFIX e: <http://e/> BASE <http://e/> delete where { ?x e:p 1 }": (
        "DELETE is SPARQL Update, which is not supported. Facts are changed by insert, delete"
    ),
    "SELECT * { ?x ?p ?y FILTER(<http://e/f>()) }": "<http://e/f>",
    "SELECT ?p (COUNT(?y) AS ?c) { ?x ?p ?y } GROUP BY ?x": "?p is neither grouped nor aggregated",
    "SELECT ((?y + 1) AS ?z) (COUNT(?y) AS ?c) { ?x ?p ?y } GROUP BY (?y + 1)": (
        "?y is neither grouped nor aggregated"
    ),
    "SELECT ?x { { SELECT ?x { ?x ?p ?y } GROUP BY ?y } }": "?x is neither grouped",
    "SELECT * { ?x ?p ?y } GROUP BY ?x": "SELECT * shows all variables",
    "SELECT ?x (COUNT(*) AS ?c) { ?x ?p ?y } GROUP BY ?x HAVING(?c > 1)": "names ?c",
    "SELECT (COUNT(SUM(?y)) AS ?c) { ?x ?p ?y }": "inside of another",
    "SELECT * { ?x ?p ?y FILTER(COUNT(?y) > 1) }": "FILTER cannot aggregate",
    "SELECT (1 AS ?x) (2 AS ?x) { }": "SELECT names a value ?x",
    "SELECT (1 AS ?x) { ?x ?p ?y }": "SELECT names a value ?x",
    "SELECT (1 AS ?x) { { SELECT (2 AS ?x) { } } }": "SELECT names a value ?x",
    "SELECT ?x { ?x ?p ?y } GROUP BY ?x (1 AS ?y)": "GROUP BY names a value ?y",
    "SELECT * { ?x ?p ?y BIND(1 AS ?y) }": "BIND gives a value to ?y",
    "SELECT * { { ?x ?p ?z } UNION { ?x ?p ?y } BIND(1 AS ?y) }": "BIND gives a value to ?y",
    "SELECT * { VALUES (?a ?b) { (1 2) (1 2 3) } }": "row 2 of VALUES has 3 values for 2",
    "SELECT * { } VALUES ?a { 1 } VALUES ?b { 1 }": "SPARQL: Expected",
    "SELECT * { } VALUES (?a ?b) { (1) }": "row 1 of VALUES has 1",
    "ASK { } VALUES (?a ?b) { (1) }": "row 1 of VALUES has 1",
    "SELECT * { _:a ?p ?y OPTIONAL { _:a ?q ?z } }": "the blank node _:a",
    "SELECT * { ?x ?p '\\uD800' }": "U+D800",
}


@pytest.fixture
def kb() -> KnowledgeBase:
    opened = zodiac_sql.connect()
    opened.add_rules("@prefix ex: <http://e/> . ex:p(ex:a, ex:b). ex:C(ex:a). near(wt1, wt2).")
    return opened


@pytest.mark.parametrize("query", REFUSED)
def test_refused_by_name(kb: KnowledgeBase, query: str) -> None:
    with pytest.raises(QueryError) as refused:
        kb.sparql(query)
    assert REFUSED[query] in str(refused.value)


def test_a_regular_expression_that_is_none(kb: KnowledgeBase) -> None:
    with pytest.raises(QueryError, match=r"missing \)"):
        kb.sparql('SELECT * { ?x ?p ?y FILTER(regex(str(?y), "(")) }')


def test_known_prefixes(kb: KnowledgeBase) -> None:
    assert kb.sparql("SELECT ?y { ex:a ex:p ?y }").fetchall() == [("http://e/b",)]
    assert kb.sparql("PREFIX ex: <http://other/> SELECT ?y { ex:a ex:p ?y }").fetchall() == []


def test_plain_names(kb: KnowledgeBase) -> None:
    """A predicate that is no IRI is one under urn:zodiac:, and a variable never stands for it."""
    found = kb.sparql('SELECT ?y { "wt1" <urn:zodiac:near> ?y }')
    assert found.fetchall() == [("wt2",)]
    assert kb.sparql("SELECT ?p { ?x ?p ?y }").num_rows == 2


def test_ask(kb: KnowledgeBase) -> None:
    assert kb.sparql("ASK { ?x a ex:C }").fetchall() == [(True,)]
    assert not kb.sparql("ASK { ?x a ex:D }")


def test_columns_have_the_types_of_the_knowledge_base(kb: KnowledgeBase) -> None:
    rows = [("http://e/a", datetime.date(2026, 1, 2))]
    kb.insert("http://e/seen", rows)
    answer = kb.sparql("SELECT ?when ?x { ?x ex:seen ?when }")
    assert answer.column_names == ["when", "x"]
    assert str(answer.schema.field("when").type) == "date32[day]"
    assert kb.sparql("SELECT * { ?x ex:seen ?when }").column_names == ["x", "when"]


def test_different_solutions_are_told_apart_by_variables(kb: KnowledgeBase) -> None:
    """A blank node of a query is no variable: it tells no solutions apart. (pyoxigraph's does.)"""
    kb.insert("http://e/p", [("http://e/a", "http://e/c"), ("http://e/d", "http://e/c")])
    query = "SELECT (COUNT(DISTINCT *) AS ?n) (COUNT(*) AS ?m) { ?x ex:p [] }"
    assert kb.sparql(query).fetchall() == [(2, 3)]


def test_user_text_is_no_sql(kb: KnowledgeBase) -> None:
    odd = "x' OR 1=1; --"
    kb.insert("http://e/said", [("http://e/a", odd)])
    query = f'SELECT ?x ("{odd}" AS ?s) {{ ?x ex:said "{odd}" FILTER(?x != "{odd}") }}'
    assert kb.sparql(query).fetchall() == [("http://e/a", odd)]


def test_derived_facts(kb: KnowledgeBase) -> None:
    """Facts that rules derive are answered like others, and closures kept as classes, too."""
    kb.add_rules("""
        ex:near(X, Y) :- ex:p(X, Y).
        ex:near(X, Y) :- ex:near(Y, X).
        ex:near(X, Z) :- ex:near(X, Y), ex:near(Y, Z).
    """)
    kb.insert("http://e/near", [("http://e/b", "http://e/c"), ("http://e/a", "http://e/b")])
    assert len(kb.sparql("SELECT * { ?x ex:near ?y }")) == 9
    assert len(kb.sparql("SELECT * { ?x ex:near ex:c ; a ex:C }")) == 1


def test_without_rdflib(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("rdflib.plugins.sparql.parser", "rdflib.plugins.sparql.algebra"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(QueryError, match=r"zodiac-sql\[sparql\]"):
        kb.sparql("SELECT * { ?without ?rdf ?lib }")


def test_read_only(tmp_path: Path) -> None:
    path = tmp_path / "x.duckdb"
    with zodiac_sql.connect(path) as kb:
        kb.add_rules("@prefix ex: <http://e/> . ex:p(ex:a, 3).")
    with zodiac_sql.connect(path, read_only=True) as kb:
        assert kb.sparql("SELECT * { ?x ?p ?y FILTER(?y > 2) }").num_rows == 1
