"""What rules pass on in native columns is the same literal in what they derive."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., KnowledgeBase]

QUOTE = '"'
XSD = "http://www.w3.org/2001/XMLSchema#"
FACTS = (
    ("zulu", "2026-01-01T12:00:00Z", "dateTime"), ("zulu", "2026-01-02T12:00:00Z", "dateTime"),
    ("berlin", "2026-01-01T13:00:00+01:00", "dateTime"),
    ("local", "2026-01-01T12:00:00", "dateTime"),
    ("single", "2.5", "float"), ("double", "2.5", "double"), ("byte", "5", "byte"),
    ("int", "7", "integer"), ("stamp", "2026-01-01T12:00:00Z", "dateTimeStamp"),
)  # fmt: skip

NOON, ONE = '"2026-01-01T12:00:00{}"^^dateTime', '"2026-01-01T13:00:00+01:00"^^dateTime'

RULES = {
    "out(X, V) :- <http://e/zulu>(X, V), <http://e/int>(_, _), hour(V) = 12, V < \"2026-01-02\".":
        [NOON.format("Z")],
    "out(X, V) :- <http://e/berlin>(X, V).": [ONE],
    "out(X, V) :- <http://e/local>(X, V).": [NOON.format("")],
    "out(X, V) :- <http://e/stamp>(X, V).": ['"2026-01-01T12:00:00Z"^^dateTimeStamp'],
    "out(X, V) :- <http://e/single>(X, V).": ['"2.5"^^float'],
    "out(X, V) :- <http://e/byte>(X, V).": ['"5"^^byte'],
    # Two rules: times of two zones are in UTC; with local times, or of two datatypes, none is kept.
    "out(X, V) :- <http://e/berlin>(X, V). out(X, V) :- <http://e/zulu>(X, V), V < \"2026-01-02\".":
        [NOON.format("Z")],
    "out(X, V) :- <http://e/single>(X, V). out(X, V) :- <http://e/double>(X, V).":
        ['"2.5"^^double'],
    # Computed values have the datatype of their type; the least of some is one of them.
    "out(X, V) :- <http://e/byte>(X, W), V = W + 1.": ['"6"^^integer'],
    "out(X, V) :- AGGREGATE(<http://e/zulu>(X, W)) ON X WITH MIN(W) AS V.": [NOON.format("Z")],
    "out(X, V) :- <http://e/berlin>(X, W), BIND(W AS V).": [ONE],
    # Through other rules, and a recursion.
    "mid(X, V) :- <http://e/single>(X, V). out(X, V) :- mid(X, V). mid(X, V) :- out(X, V).":
        ['"2.5"^^float'],
}  # fmt: skip


@pytest.fixture
def base(open_kb: OpenKb, tmp_path: Path) -> KnowledgeBase:
    path = tmp_path / "facts.nt"
    lines = (f'<http://e/s> <http://e/{p}> "{v}"^^<{XSD}{t}> .\n' for p, v, t in FACTS)
    path.write_text("".join(lines))
    kb = open_kb(tmp_path / "case.duckdb")
    kb.load(path)
    return kb


@pytest.mark.parametrize("rules", RULES)
def test_literals_are_passed_on(base: KnowledgeBase, tmp_path: Path, rules: str) -> None:
    """They come and go with rules, in exports, in the view of triples, and in SPARQL."""
    kb, named = base, rules.replace("out(", "<http://e/out>(").replace("mid(", "<http://e/mid>(")
    for _ in range(2):
        kb.add_rules(named)
        assert _found(kb, tmp_path) == RULES[rules]
        assert kb.verify()
        kb.drop_rules(*[name for name, *_ in kb.rules().fetchall()])
        assert kb.verify()


def test_one_rule_less(base: KnowledgeBase, tmp_path: Path) -> None:
    base.add_rules("r1: <http://e/out>(X, V) :- <http://e/single>(X, V).")
    base.add_rules("r2: <http://e/out>(X, V) :- <http://e/double>(X, V).")
    assert _found(base, tmp_path) == ['"2.5"^^double']
    base.drop_rules("r2")
    assert _found(base, tmp_path) == ['"2.5"^^float'] and base.verify()


def test_explicit_facts_say_it_themselves(base: KnowledgeBase, tmp_path: Path) -> None:
    base.add_rules("<http://e/out>(X, V) :- <http://e/single>(X, V).")
    base.insert("http://e/out", [("http://e/t", 2.5)])
    assert _found(base, tmp_path) == ['"2.5"^^double'] * 2 and base.verify()


def test_sparql_joins_what_is_derived_with_what_it_is_derived_from(base: KnowledgeBase) -> None:
    base.add_rules(
        "<http://e/out>(X, V) :- <http://e/berlin>(X, V).\n"
        "<http://e/far>(X, V) :- <http://e/single>(X, V)."
    )
    for one, other in (("berlin", "out"), ("single", "far")):
        query = f"SELECT ?s {{ ?s <http://e/{one}> ?v . ?s <http://e/{other}> ?v }}"
        assert len(base.sparql(query).fetchall()) == 1


def _found(kb: KnowledgeBase, folder: Path) -> list[str]:
    """The objects of `out`, as they are told in three ways."""
    kb.export(folder / "out", "nt", "http://e/out")
    (file,) = (folder / "out").iterdir()
    exported = sorted(_short(line.split(" ", 2)[2][:-2]) for line in file.read_text().splitlines())
    triples = kb.sql("SELECT o FROM triple WHERE p = 'http://e/out'").fetchall()
    assert sorted(_short(o) for (o,) in triples) == exported
    query = "SELECT (STR(?o) AS ?v) (STR(DATATYPE(?o)) AS ?d) { ?s <http://e/out> ?o }"
    asked = kb.sparql(query).fetchall()
    terms = (f'"{value}"^^<{datatype.strip(QUOTE)}>' for value, datatype in asked)
    assert sorted(map(_short, terms)) == exported
    return exported


def _short(literal: str) -> str:
    return literal.replace(f"<{XSD}", "").replace(">", "")
