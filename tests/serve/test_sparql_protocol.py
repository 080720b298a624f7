"""The SPARQL protocol: by rdflib's SPARQLStore, by SERVICE of rdflib, in each standard form."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pyoxigraph
import pytest
import rdflib
from rdflib import XSD
from rdflib.plugins.stores.sparqlstore import SPARQLStore

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase
    from zodiac_sql.serve.server import Server

GRAPH = """
@prefix : <http://e/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:a a :C ; :n 5 ; :d 1.50 ; :f 2.5e0 ; :l "eins"@de ; :s "q \\"w\\"\\n\\tz" ; :k :b ; :b true ;
  :t "2024-01-01T00:00:00Z"^^xsd:dateTime ; :m "05"^^xsd:integer, "z"^^:odd, :a ; :bn _:x .
_:x :n 7 .
<tag:odd> :k <urn:x:y> .
"""
PREFIX = "PREFIX : <http://e/> "
ALL = PREFIX + "SELECT ?s ?p ?o { ?s ?p ?o FILTER(!isBlank(?s) && !isBlank(?o)) }"


@pytest.fixture(scope="module")
def turtle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rdf") / "a.ttl"
    path.write_text(GRAPH)
    return path


@pytest.fixture
def server(turtle: Path, open_kb: Callable[..., KnowledgeBase]) -> Iterator[Server]:
    kb = open_kb()
    kb.load(turtle)
    with kb.serve() as server:
        yield server


def theirs(turtle: Path) -> Iterator[pyoxigraph.Quad]:
    """The triples without blank nodes, spelled as in the file."""
    for quad in pyoxigraph.parse(path=str(turtle), format=pyoxigraph.RdfFormat.TURTLE):
        if pyoxigraph.BlankNode not in (type(quad.subject), type(quad.object)):
            yield quad


@pytest.fixture
def client(server: Server) -> Iterator[httpx.Client]:
    headers = {"authorization": f"Bearer {server.reading_token}"}
    with httpx.Client(base_url=server.url, headers=headers) as client:
        yield client


FORMS = {
    "application/sparql-results+json": pyoxigraph.QueryResultsFormat.JSON,
    "application/sparql-results+xml": pyoxigraph.QueryResultsFormat.XML,
    "text/tab-separated-values": pyoxigraph.QueryResultsFormat.TSV,
}


@pytest.mark.parametrize("form", FORMS)
def test_forms_that_another_engine_reads(client: httpx.Client, turtle: Path, form: str) -> None:
    answer = client.get("/sparql", params={"query": ALL}, headers={"accept": form})
    assert answer.headers["content-type"].startswith(form)
    read = pyoxigraph.parse_query_results(answer.content, FORMS[form])
    assert isinstance(read, pyoxigraph.QuerySolutions)
    found = {tuple(map(str, solution)) for solution in read}
    assert found == {tuple(map(str, triple))[:3] for triple in theirs(turtle)}


def test_csv(client: httpx.Client) -> None:
    query = PREFIX + "SELECT ?x ?n { ?x :n ?n } ORDER BY ?n"
    answer = client.get("/sparql", params={"query": query}, headers={"accept": "text/csv"})
    rows = list(csv.reader(io.StringIO(answer.text)))
    assert rows[:2] == [["x", "n"], ["http://e/a", "5"]]


def test_ways_to_ask(client: httpx.Client) -> None:
    query = PREFIX + "ASK { :a :n 5 }"
    given = {"content-type": "application/sparql-query"}
    for answer in (
        client.get("/sparql", params={"query": query}),
        client.post("/sparql", data={"query": query}),
        client.post("/sparql", content=query, headers=given),
        client.get("/sparql", params={"query": query, "format": "json"}),
        client.get("/sparql", params={"query": query}, headers={"accept": "application/json"}),
    ):
        assert answer.json() == {"head": {}, "boolean": True}
    assert client.get("/sparql").json()["kind"] == "DataError"
    assert client.post("/sparql", data={"update": "CLEAR ALL"}).status_code == 400
    wrong = client.get("/sparql", params={"query": "SELECT * { ?x :p"})
    assert (wrong.status_code, wrong.json()["kind"]) == (400, "QueryError")
    graphs = {"query": query, "default-graph-uri": "http://e/g"}
    assert "named graphs" in client.get("/sparql", params=graphs).json()["error"]
    odd = client.get("/sparql", params={"query": query}, headers={"accept": "image/png"})
    assert odd.status_code == 406


def test_unbound_values_and_no_variable(client: httpx.Client) -> None:
    query = PREFIX + "SELECT ?x ?m { ?x :n 5 OPTIONAL { ?x :nope ?m } }"
    answer = client.get("/sparql", params={"query": query}).json()
    assert answer["head"]["vars"] == ["x", "m"]
    assert answer["results"]["bindings"] == [{"x": {"type": "uri", "value": "http://e/a"}}]
    answer = client.get("/sparql", params={"query": "SELECT * { }"}).json()
    assert answer == {"head": {"vars": []}, "results": {"bindings": [{}]}}


@pytest.mark.parametrize("form", ["text/turtle", "application/n-triples", "application/rdf+xml"])
def test_graphs(client: httpx.Client, turtle: Path, form: str) -> None:
    query = "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }"
    answer = client.get("/sparql", params={"query": query}, headers={"accept": form})
    ours = rdflib.Graph().parse(data=answer.text, format=form)
    given = rdflib.Graph().parse(turtle)
    assert len(ours) == len(given)
    assert ours.isomorphic(given)


def test_sparql_store(server: Server) -> None:
    store = SPARQLStore(f"{server.url}/sparql", auth=("zodiac", server.reading_token))
    graph = rdflib.Graph(store)
    a = rdflib.URIRef("http://e/a")
    assert set(graph.objects(a, rdflib.URIRef("http://e/k"))) == {rdflib.URIRef("http://e/b")}
    found = graph.query(PREFIX + "SELECT ?l { ?x :l ?l }")
    assert [row[0] for row in found] == [rdflib.Literal("eins", lang="de")]  # type: ignore[index]


def test_service_of_another_engine(server: Server) -> None:
    address = f"{server.url}/token/{server.reading_token}/sparql"
    query = PREFIX + f"SELECT ?n {{ SERVICE <{address}> {{ ?x :k :b ; :n ?n }} }}"
    assert [row[0].toPython() for row in rdflib.Graph().query(query)] == [5]  # type: ignore[index,union-attr]


def test_standard_json_keeps_spellings(client: httpx.Client) -> None:
    query = PREFIX + "SELECT ?m { :a :m ?m }"
    found = client.get("/sparql", params={"query": query}).json()["results"]["bindings"]
    assert sorted((one["m"] for one in found), key=str) == [
        {"type": "literal", "datatype": str(XSD.integer), "value": "05"},
        {"type": "literal", "datatype": "http://e/odd", "value": "z"},
        {"type": "uri", "value": "http://e/a"},
    ]
