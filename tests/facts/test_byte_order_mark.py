"""A byte order mark, with which some programs begin all texts, changes nothing at any door."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from zodiac_sql import KnowledgeBase
from zodiac_sql.cli.main import app

OpenKb = Callable[..., KnowledgeBase]

MARK = b"\xef\xbb\xbf"

TABLES = {
    ".csv": b"a,b\n1,x\n2,y\n",
    ".tsv": b"a\tb\n1\tx\n2\ty\n",
    ".json": b'[{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]',
    ".jsonl": b'{"a": 1, "b": "x"}\n{"a": 2, "b": "y"}\n',
    ".ndjson": b'{"a": 1, "b": "x"}\n{"a": 2, "b": "y"}\n',
}
TRIPLES = b"<http://e/a> <http://e/p> <http://e/b> .\n<http://e/a> <http://e/q> _:b0 .\n"
TURTLE = b"@prefix : <http://e/> .\n:a :p :b ; :q [] .\n"
XML = b"""<?xml version="1.0" encoding="UTF-8"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://e/">
<rdf:Description rdf:about="http://e/a"><p rdf:resource="http://e/b"/></rdf:Description></rdf:RDF>
"""
RDF = {
    ".nt": TRIPLES, ".nq": TRIPLES, ".ttl": TURTLE, ".trig": TURTLE, ".rdf": XML, ".owl": XML,
    ".xml": XML, ".jsonld": b'{"@id": "http://e/a", "http://e/p": {"@id": "http://e/b"}}',
}  # fmt: skip


def loaded(kb: KnowledgeBase, file: Path) -> tuple[object, list[Any]]:
    change = kb.load(file)
    rows = [
        (name, tuple("_:" if str(v).startswith("_:") else v for v in row))
        for name in change.inserted
        for row in sorted(kb.query(f"<{name}>({'X, Y'})"))
    ]
    return change.notes, rows


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("suffix", [*TABLES, *RDF])
def test_files_of_facts(suffix: str, packed: bool, open_kb: OpenKb, tmp_path: Path) -> None:
    found = []
    for folder, mark in (("plain", b""), ("marked", MARK)):
        (tmp_path / folder).mkdir()
        data = mark + {**TABLES, **RDF}[suffix]
        file = tmp_path / folder / f"file{suffix}{'.gz' if packed else ''}"
        file.write_bytes(gzip.compress(data) if packed else data)
        with open_kb() as kb:
            found.append(loaded(kb, file))
    assert found[0][1]
    assert found[1] == found[0]


def test_a_table_without_a_header(open_kb: OpenKb, tmp_path: Path) -> None:
    for number, first in enumerate((b"1", b'"x, y"')):
        file = tmp_path / f"p{number}.csv"
        file.write_bytes(MARK + first + b",2\n" + first + b",3\n")
        with open_kb() as kb:
            kb.load(file, header=False)
            value = 1 if first == b"1" else "x, y"
            assert sorted(kb.table(f"p{number}")) == [(value, 2), (value, 3)]


@pytest.mark.parametrize("suffix", [*RDF])
def test_ontologies(suffix: str, open_kb: OpenKb, tmp_path: Path) -> None:
    (tmp_path / f"o{suffix}").write_bytes(MARK + RDF[suffix])
    with open_kb() as kb:
        kb.load_ontology(tmp_path / f"o{suffix}", set="o")
        assert list(kb.query("<http://e/p>(X, Y)")) == [("http://e/a", "http://e/b")]


RULES = {
    ".rules": b"p(1). q(X) :- p(X).",
    ".dl": b"p(1). q(X) :- p(X).",
    ".srl": b"PREFIX : <http://e/>\nRULE { ?x :q ?y } WHERE { ?x :p ?y }\n",
}


@pytest.mark.parametrize("suffix", [*RULES])
def test_rules(suffix: str, open_kb: OpenKb, tmp_path: Path) -> None:
    file = tmp_path / f"r{suffix}"
    file.write_bytes(MARK + RULES[suffix])
    with open_kb() as kb:
        kb.add_rules(file)
        assert kb.rules().num_rows == 1
        kb.replace_rules(file, set="s")
        if suffix != ".srl":
            assert kb.add_rules("\ufeffr(X) :- q(X).").inserted == {"r": 1}
            assert list(kb.query("\ufeffr(X)")) == [(1,)]


def test_a_query_of_sparql(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        kb.add_rules("<http://e/p>(a, b).")
        assert list(kb.sparql("\ufeffSELECT ?y { ?x <http://e/p> ?y }")) == [("b",)]


def test_streams(open_kb: OpenKb, tmp_path: Path) -> None:
    file, db = tmp_path / "updates.jsonl", tmp_path / "farm.duckdb"
    update = b'{"insert": {"p": [[%d]]}}\n'
    file.write_bytes(MARK + update % 1 + MARK + update % 2)
    (tmp_path / "empty.jsonl").write_bytes(MARK + b"\n" + update % 3)
    with open_kb(db) as kb:
        assert [change.inserted for change in kb.stream(file)] == [{"p": 1}] * 2
        assert [change.inserted for change in kb.stream(tmp_path / "empty.jsonl")] == [{"p": 1}]
        with file.open(encoding="utf-8") as opened:
            assert [change.inserted for change in kb.stream(opened)] == [{}] * 2
    given = MARK + update % 4
    ran = CliRunner().invoke(app, ["stream", str(db), "-"], input=given)
    assert ran.exit_code == 0, ran.output
    with open_kb(db) as kb:
        assert sorted(kb.table("p")) == [(1,), (2,), (3,), (4,)]


def test_mappings_for_spark(tmp_path: Path) -> None:
    from zodiac_sql.spark.mapping import read_mappings

    text = b'[[facts]]\npredicate = "p"\nsource = "p.csv"\n[facts.columns]\na = "symbol"\n'
    (tmp_path / "facts.toml").write_bytes(MARK + text)
    (mapping,) = read_mappings(tmp_path / "facts.toml")
    assert mapping.predicate == "p"
