"""CONSTRUCT and DESCRIBE, compared with pyoxigraph, and by definition."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyoxigraph
import pytest
import rdflib
from support.sparql_answers import loaded

import zodiac_sql
from zodiac_sql.knowledge_base import KnowledgeBase
from zodiac_sql.read.sparql.results import term_of

GRAPH = """
@prefix : <http://e/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:a a :C ; :p :b, :c ; :n 3 ; :s "one" ; :l "eins"@de ; :bn [ :n 4 ; :bn [ :n 5 ; :p :a ] ] .
:b a :C, :D ; :p :c ; :n 5 ; :m "x", 7, :a ; :t "2024-01-01T00:00:00+02:00"^^xsd:dateTime .
"""
PREFIX = "PREFIX : <http://e/> "

CONSTRUCTS = {
    "as it is": "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o FILTER(!isBlank(?s) && !isBlank(?o)) }",
    "short": "CONSTRUCT WHERE { ?x :p ?y . ?y :p ?z }",
    "several": "CONSTRUCT { ?y :of ?x . ?x :has ?y ; a :Haver } WHERE { ?x :p ?y }",
    "constants": 'CONSTRUCT { :x :y 1, 2.50, "z"@en } WHERE { ?x :n 3 }',
    "nothing": "CONSTRUCT { } WHERE { ?s ?p ?o }",
    "no solution": "CONSTRUCT { ?s :q ?o } WHERE { ?s :nope ?o }",
    "unbound": "CONSTRUCT { ?s :q ?o ; :r ?n } WHERE { ?s :p ?o OPTIONAL { ?o :n ?n } }",
    "literal as a subject": "CONSTRUCT { ?n :of ?x } WHERE { ?x :n ?n }",
    "literal as a property": "CONSTRUCT { ?x ?n ?x } WHERE { ?x :n ?n }",
    "mixed as a subject": "CONSTRUCT { ?m :of ?x } WHERE { ?x :m ?m }",
    "variable that is nowhere": "CONSTRUCT { ?x :q ?nope } WHERE { ?x :n ?n }",
    "expressions": "CONSTRUCT { ?x :twice ?d } WHERE { ?x :n ?n BIND(2 * ?n AS ?d) }",
    "limit": "CONSTRUCT { ?x :q ?n } WHERE { ?x :n ?n FILTER(!isBlank(?x)) } ORDER BY ?n LIMIT 1",
    "blank nodes": "CONSTRUCT { _:b :of ?x ; :n ?n . ?x :is _:b } WHERE { ?x :n ?n }",
    "group": "CONSTRUCT { ?x :most ?m } WHERE { { SELECT ?x (MAX(?n) AS ?m) { ?x :n ?n } "
    "GROUP BY ?x } FILTER(!isBlank(?x)) }",
    "times": "CONSTRUCT { ?x :at ?t } WHERE { ?x :t ?t }",
}


@pytest.fixture(scope="module")
def turtle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rdf") / "a.ttl"
    path.write_text(GRAPH)
    return path


@pytest.fixture(scope="module")
def kb(turtle: Path) -> Iterator[KnowledgeBase]:
    with zodiac_sql.connect() as kb:
        kb.load(turtle)
        yield kb


def graph_of(kb: KnowledgeBase, query: str) -> rdflib.Graph:
    answer = kb.sparql(PREFIX + query)
    assert answer.column_names == ["subject", "predicate", "object"]
    rows = answer.fetchall()
    assert len(rows) == len(set(rows))
    graph = rdflib.Graph()
    for row in rows:
        graph.add(tuple(map(term_of, row)))
    return graph


@pytest.mark.parametrize("name", CONSTRUCTS)
def test_construct(kb: KnowledgeBase, turtle: Path, name: str) -> None:
    query = CONSTRUCTS[name]
    found = loaded(turtle).query(PREFIX + query)
    assert isinstance(found, pyoxigraph.QueryTriples)
    text = pyoxigraph.serialize(found, format=pyoxigraph.RdfFormat.N_TRIPLES)
    assert text is not None
    theirs = rdflib.Graph().parse(data=text, format="nt")
    ours = graph_of(kb, query)
    assert len(ours) == len(theirs)
    assert ours.isomorphic(theirs)


@pytest.mark.parametrize(
    ("query", "resources"),
    [
        ("DESCRIBE :a", ["a"]),
        ("DESCRIBE :a :b", ["a", "b"]),
        ("DESCRIBE ?x { ?x a :D }", ["b"]),
        ("DESCRIBE * { ?x a :D }", ["b"]),
        ("DESCRIBE ?x :a { ?x a :D }", ["a", "b"]),
        ("DESCRIBE :nothing", []),
        ("DESCRIBE ?nope { ?x a :D }", []),
    ],
)
def test_describe(kb: KnowledgeBase, turtle: Path, query: str, resources: list[str]) -> None:
    """All triples of the resources, and of blank nodes in these."""
    given = rdflib.Graph().parse(turtle)
    wanted, seen = [rdflib.URIRef(f"http://e/{name}") for name in resources], set()
    expected = rdflib.Graph()
    while wanted:
        node = wanted.pop()
        if node in seen:
            continue
        seen.add(node)
        for triple in given.triples((node, None, None)):
            expected.add(triple)
            if isinstance(triple[2], rdflib.BNode):
                wanted.append(triple[2])  # type: ignore[arg-type]
    ours = graph_of(kb, query)
    assert len(ours) == len(expected)
    assert ours.isomorphic(expected)
