"""RDF properties get other types: their values are literals before and afterwards."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from zodiac_sql import DataError

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

P = "http://e/p"
XSD = "http://www.w3.org/2001/XMLSchema#"
PREFIXES = f"@prefix : <http://e/> . @prefix xsd: <{XSD}> .\n"

# What a property has in a file: its type, and what the loader and `alter` make of it as symbols.
SAME_TEXTS = {
    "integers": ("21 , -5", "int"),
    "bytes": ('"5"^^xsd:byte', "int"),
    "decimals": ("2.5 , 0.25", "float"),
    "doubles": ('"1.5"^^xsd:double , "INF"^^xsd:double', "float"),
    "booleans": ("true , false", "bool"),
    "dates": ('"2024-01-31"^^xsd:date', "date"),
    "moments": ('"2024-01-01T12:00:00.5"^^xsd:dateTime', "timestamp"),
    "instants of one zone": ('"2024-01-01T00:30:00+02:00"^^xsd:dateTime', "timestamp"),
    "instants": ('"2024-01-01T12:00:00Z"^^xsd:dateTime', "timestamp"),
}
OTHER_TEXTS = {
    "digits": ('"021"^^xsd:integer , "+7"^^xsd:integer', "int"),
    "zeros": ("2.50 , 3.0", "float"),
    "exponents": ("1e3 , 2.5E0", "float"),
    "bits": ('"1"^^xsd:boolean', "bool"),
    "numbers of all kinds": ("1 , 2.5 , 3e0 , 4.0", "float"),
    "integers and decimals": ("1 , 2.5", "float"),
}


def file_of(tmp_path: Path, objects: str, name: str = "data.ttl") -> Path:
    file = tmp_path / name
    file.write_text(f"{PREFIXES}:s :p {objects} .")
    return file


def stated(kb: KnowledgeBase) -> list[tuple[object, ...]]:
    return sorted(kb.sql("FROM triple").fetchall())


@pytest.mark.parametrize("name", SAME_TEXTS)
def test_the_symbols_are_those_of_the_file(open_kb: OpenKb, tmp_path: Path, name: str) -> None:
    """As if the column had been one of symbols when the file was loaded."""
    objects, type_ = SAME_TEXTS[name]
    file = file_of(tmp_path, objects)
    first = open_kb()
    first.add_rules(f".decl <{P}>(s: symbol, o: symbol)")
    first.load(file)
    kb = open_kb()
    kb.load(file)
    before = sorted(kb.table(P).fetchall(), key=str)
    kb.alter(P, {"o": "symbol"})
    assert sorted(kb.table(P).fetchall()) == sorted(first.table(P).fetchall())
    kb.alter(P, {"o": type_})
    assert sorted(kb.table(P).fetchall(), key=str) == before


@pytest.mark.parametrize("name", [*SAME_TEXTS, *OTHER_TEXTS])
def test_triples_exports_and_unloading(open_kb: OpenKb, tmp_path: Path, name: str) -> None:
    objects, type_ = (SAME_TEXTS | OTHER_TEXTS)[name]
    file = file_of(tmp_path, objects)
    kb = open_kb()
    if name in OTHER_TEXTS:  # else they are terms, which stay as they are
        kb.add_rules(f".decl <{P}>(s: symbol, o: {type_})")
    kb.load(file)
    triples = stated(kb)
    kb.alter(P, {"o": "symbol"})
    assert stated(kb) == triples
    kb.alter(P, {"o": type_})
    assert stated(kb) == triples and kb.verify()
    kb.alter(P, {"o": "symbol"})
    kb.insert(P, [("http://e/s", "n/a")])
    notes = kb.unload(file).notes
    assert kb.table(P).fetchall() == [("http://e/s", "n/a")]
    assert not any("passed over" in note for note in notes) and kb.verify()


@pytest.mark.parametrize(
    ("loaded", "unloaded"),
    [
        ('"2.5"^^xsd:decimal', "2.50"),
        ('"5.0"^^xsd:double', "5"),
        ('"2024-01-01T12:00:00Z"^^xsd:dateTime', '"2024-01-01T14:00:00+02:00"^^xsd:dateTime'),
        ("true", '"1"^^xsd:boolean'),
    ],
)
def test_what_no_alter_has_written_is_unloaded_as_it_is_written(
    open_kb: OpenKb, tmp_path: Path, loaded: str, unloaded: str
) -> None:
    kb = open_kb()
    kb.load(file_of(tmp_path, f'"text" , {loaded}'))
    notes = kb.unload(file_of(tmp_path, unloaded, "other.ttl")).notes
    assert len(kb.table(P)) == 2 and any("passed over" in note for note in notes)


def test_it_stays_known_what_alter_has_written(open_kb: OpenKb, tmp_path: Path) -> None:
    """Also after other facts, and after other types."""
    kb = open_kb()
    file = file_of(tmp_path, "2.50")
    kb.load(file)
    kb.alter(P, {"o": "symbol"})
    kb.insert(P, [("http://e/s", "n/a")])
    kb.load(file_of(tmp_path, '"none"', "other.ttl"))
    kb.add_rules(f"<{P}>(S, O) :- <http://e/q>(S, O).")
    kb.unload(file)
    assert sorted(o for _, o in kb.table(P).fetchall()) == ["n/a", "none"]


def test_sparql_finds_the_same(open_kb: OpenKb, tmp_path: Path) -> None:
    """Another file has what is no number, and the column has terms of all kinds."""
    kb = open_kb()
    kb.load(file_of(tmp_path, "21 , 5"))
    other = file_of(tmp_path, '"n/a" , 30', "other.ttl")
    query = f"SELECT ?v {{ ?s <{P}> ?v FILTER(?v > 20) }}"
    kb.load(other)
    assert len(kb.sparql(query)) == 2


def test_literals_become_values_by_their_datatypes(open_kb: OpenKb) -> None:
    def literal(text: str, datatype: str) -> str:
        return f'"{text}"^^<{XSD}{datatype}>'

    def kb_with(*symbols: str) -> KnowledgeBase:
        kb = open_kb()
        kb.insert(P, [("http://e/s", symbol) for symbol in symbols])
        return kb

    kb = kb_with(literal("5", "integer"), literal("2.50", "decimal"))
    with pytest.raises(DataError, match=r'"2\.50".*cannot become int'):
        kb.alter(P, {"o": "int"})
    kb.alter(P, {"o": "float"})
    assert sorted(o for _, o in kb.table(P).fetchall()) == [2.5, 5.0]
    for symbols in (
        (literal("5", "integer"), literal("05", "integer")),
        (literal("5", "integer"), literal("5.0", "decimal")),
    ):
        with pytest.raises(DataError, match="which are the same float"):
            kb_with(*symbols).alter(P, {"o": "float"})
    for symbols, type_ in (
        ((literal("5", "integer"), "n/a"), "int"),
        ((literal("x", "integer"),), "int"),
        ((literal("2024-01-01T00:00:00Z", "dateTime"),
          literal("2024-01-01T00:00:00", "dateTime")), "timestamp"),
        ((literal("12345678901234567", "decimal"), literal("0.1", "decimal")), "float"),
    ):  # fmt: skip
        kb = kb_with(*symbols)
        before = stated(kb)
        with pytest.raises(DataError, match=f"cannot become {type_} exactly. Nothing was changed"):
            kb.alter(P, {"o": type_})
        assert stated(kb) == before
    kb = kb_with(literal("5", "integer"))
    kb.alter(P, {"o": "int"})
    kb.alter(P, {"o": "float"})
    assert stated(kb)[0][2] == literal("5.0", "decimal")


def test_other_predicates_have_plain_texts(open_kb: OpenKb) -> None:
    kb = open_kb()
    kb.insert("p", [("a", 5)])
    kb.alter("p", {"o": "symbol"})
    assert kb.table("p").fetchall() == [("a", "5")]
    kb.alter("p", {"o": "int"})
    assert kb.table("p").fetchall() == [("a", 5)]
