"""Files of triples: every syntax, against pyoxigraph's own reading, and how symbols are spelled."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest
from support.loading import facts, load
from support.places import SHARED

from zodiac_sql.database.store import Store
from zodiac_sql.facts.load.load_file import Loaded, load_file
from zodiac_sql.language import symbols

UB = "http://swat.cse.lehigh.edu/onto/univ-bench.owl#"


# --- the same triples as pyoxigraph ---------------------------------------------------------------


def term(value: Any) -> str:
    """A symbol for what pyoxigraph read, blank nodes all alike."""
    if isinstance(value, ox.NamedNode):
        return symbols.iri(value.value)
    if isinstance(value, ox.BlankNode):
        return "_:"
    return symbols.literal(value.value, value.language or "", value.datatype.value)


def judged(path: Path, syntax: ox.RdfFormat) -> list[tuple[str, ...]]:
    """All triples of a file, as predicate and terms, by pyoxigraph alone."""
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    quads = list(ox.parse(data, format=syntax, base_iri=path.as_uri()))
    found = []
    for quad in quads:
        s, p, o = term(quad.subject), quad.predicate.value, term(quad.object)
        if p == symbols.RDF_TYPE and isinstance(quad.object, ox.NamedNode):
            found.append((quad.object.value, s))
        else:
            found.append((p, s, o))
    return sorted(found)


def without_labels(text: str) -> str:
    return "_:" if text.startswith("_:") else text


def symbolic(store: Store, loaded: Loaded) -> list[tuple[str, ...]]:
    """All facts, as predicate and terms; only for files without native columns."""
    return sorted(
        (name, *map(without_labels, row))
        for name, rows in facts(store, loaded).items()
        for row in rows
    )


@pytest.mark.parametrize("name", ["sdh.ttl", "vm3a.ttl"])
def test_brick_models(store: Store, name: str) -> None:
    path = SHARED / "brick" / name
    if not path.exists():
        pytest.skip(f"{path} is not here")
    loaded = load_file(store, path, {})
    assert symbolic(store, loaded) == judged(path, ox.RdfFormat.TURTLE)
    assert dict(loaded.prefixes)["owl"] == "http://www.w3.org/2002/07/owl#"


def test_lubm(store: Store) -> None:
    path = SHARED / "lubm" / "lubm1.nt.gz"
    if not path.exists():
        pytest.skip(f"{path} is not here")
    loaded = load_file(store, path, {})
    counted = {
        name.replace(UB, "ub:"): len(set(rows)) for name, rows in facts(store, loaded).items()
    }
    with (SHARED / "expected" / "lubm1_L.csv").open() as file:
        expected = {row["predicate"]: int(row["explicit"]) for row in csv.DictReader(file)}
    assert counted == {name: count for name, count in expected.items() if count}
    assert loaded.facts == 100543


TURTLE = r"""
@prefix ex: <http://example.org/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
ex:a a ex:C, [ a ex:D ] ; ex:p ex:b, <relative>, _:named, "plain", "Haus"@DE-at, "été"@fr ;
  ex:p "quote \" back\\slash \n newline \t tab \u00e9 \U0001F600", '''raw
newline''', "5"^^xsd:integer, "x"^^ex:own, "s"^^xsd:string, "", "http://not.an/iri", "_:no",
  "<tag:no>", "tab	and ' and \b\f", "\\u0041" .
_:named ex:q _:named, [ ex:q () ] .
<tag:x> ex:ü "ü" . <urn:isbn:1> ex:p <mailto:a@b.c> .
"""

FORMATS = {
    ".nt": ox.RdfFormat.N_TRIPLES, ".nq": ox.RdfFormat.N_QUADS, ".ttl": ox.RdfFormat.TURTLE,
    ".trig": ox.RdfFormat.TRIG, ".rdf": ox.RdfFormat.RDF_XML, ".owl": ox.RdfFormat.RDF_XML,
    ".xml": ox.RdfFormat.RDF_XML, ".jsonld": ox.RdfFormat.JSON_LD,
}  # fmt: skip


@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize("suffix", FORMATS)
def test_every_syntax(store: Store, tmp_path: Path, suffix: str, packed: str) -> None:
    source = TURTLE.replace(r"\b\f", "") if FORMATS[suffix] is ox.RdfFormat.RDF_XML else TURTLE
    triples = ox.parse(source, format=ox.RdfFormat.TURTLE, base_iri="http://base.org/x")
    written = ox.serialize((quad.triple for quad in triples), format=FORMATS[suffix])
    path = tmp_path / f"data{suffix}{packed}"
    loaded = load(store, path, written)
    assert symbolic(store, loaded) == judged(path, FORMATS[suffix])
    again = facts(store, load_file(store, path, {}))
    assert again == facts(store, loaded), "the same file gives the same facts, blank nodes too"


def test_relative_iris_belong_to_the_file(store: Store, tmp_path: Path) -> None:
    loaded = load(store, tmp_path / "a.ttl", "<#x> <http://e.org/p> <b> .")
    here = (tmp_path / "a.ttl").as_uri()
    assert facts(store, loaded) == {
        "http://e.org/p": [(f"{here}#x", here.replace("a.ttl", "b"))],
    }  # fmt: skip


# --- spelling -------------------------------------------------------------------------------------


SPELLED = rb"""
# a comment

<http://e.org/a>   <http://e.org/p> 	"x" .	# a comment
	<http://e.org/a><http://e.org/p>_:b.
<http://e.org/\u00e9> <http://e.org/p> "\u00e9\t\U0001F600 \"\\ \b\f\'"@EN-gb .
_:b.c <http://e.org/p> "raw	tab"^^<http://e.org/d\u00e9> .
<http://e.org/a> <http://e.org/p> "\\u0041 # . not" .
<http://e.org/a> <http://e.org/p> "typed"^^<http://www.w3.org/2001/XMLSchema#string>."""


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("suffix", [".nt", ".nq", ".nt.gz"])
def test_spelling(store: Store, tmp_path: Path, end: bytes, suffix: str) -> None:
    path = tmp_path / f"data{suffix}"
    loaded = load(store, path, SPELLED.replace(b"\n", end))
    assert symbolic(store, loaded) == sorted([
        ("http://e.org/p", "http://e.org/a", "x"),
        ("http://e.org/p", "http://e.org/a", "_:"),
        ("http://e.org/p", "http://e.org/é", '"é\\t\U0001f600 \\"\\\\ \b\f\'"@en-gb'),
        ("http://e.org/p", "_:", '"raw\\ttab"^^<http://e.org/dé>'),
        ("http://e.org/p", "http://e.org/a", "\\u0041 # . not"),
        ("http://e.org/p", "http://e.org/a", "typed"),
    ])  # fmt: skip
    assert loaded.facts == 6


def test_graph_names_are_noted_once(store: Store, tmp_path: Path) -> None:
    text = "<http://e/a> <http://e/p> _:b _:g .\n<http://e/a> <http://e/p> <http://e/c> <http://e/g>.\n"
    loaded = load(store, tmp_path / "a.nq", text + "<http://e/a> <http://e/p> <http://e/d> .\n")
    assert loaded.notes == ("graph names were ignored",)
    assert loaded.facts == 3
    assert load(store, tmp_path / "b.nq", "<http://e/a> <http://e/p> _:b .").notes == ()


def test_type_of_a_blank_node_stays_a_property(store: Store, tmp_path: Path) -> None:
    a, kind = "<http://e/a>", f"<{symbols.RDF_TYPE}>"
    loaded = load(store, tmp_path / "a.nt", f"{a} {kind} _:b .\n{a} {kind} <http://e/C> .\n")
    found = facts(store, loaded)
    assert found["http://e/C"] == [("http://e/a",)]
    assert [row[0] for row in found[symbols.RDF_TYPE]] == ["http://e/a"]


def test_blank_nodes_of_two_files_are_two(store: Store, tmp_path: Path) -> None:
    one = load(store, tmp_path / "a.nt", "_:b <http://e/p> _:b .")
    two = load(store, tmp_path / "b.nt", "_:b <http://e/p> _:b . # other")
    packed = load(store, tmp_path / "a.nt.gz", "_:b <http://e/p> _:b .")
    assert facts(store, one) != facts(store, two)
    assert facts(store, one) == facts(store, packed)
    scoped = facts(store, one)["http://e/p"][0][0]
    kept = load(store, tmp_path / "c.nt", f"{scoped} <http://e/p> _:new .")
    assert facts(store, kept)["http://e/p"][0][0] == scoped


def test_urns_of_ours_are_plain_names(store: Store, tmp_path: Path) -> None:
    text = (
        "<urn:zodiac:wt%201> <urn:zodiac:hot> <urn:zodiac:wt2> .\n<urn:zodiac:%zz> <e:p> <e:o> .\n"
    )
    assert facts(store, load(store, tmp_path / "a.nt", text)) == {
        "hot": [("wt 1", "urn:zodiac:wt2")], "e:p": [("urn:zodiac:%zz", "<e:o>")],
    }  # fmt: skip
