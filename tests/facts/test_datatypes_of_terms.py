"""What rules copy from native columns to columns of terms is the same literal there."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from zodiac_sql import KnowledgeBase
from zodiac_sql.language import passed_on
from zodiac_sql.program import derived_datatypes
from zodiac_sql.sql import body

OpenKb = Callable[..., KnowledgeBase]

XSD = "http://www.w3.org/2001/XMLSchema#"
BERLIN, NOON, LOCAL = "2026-01-01T13:00:00+01:00", "2026-01-01T12:00:00Z", "2026-01-01T12:00:00"
FACTS = (
    ("berlin", BERLIN, "dateTime"), ("zulu", NOON, "dateTime"), ("local", LOCAL, "dateTime"),
    ("stamp", NOON, "dateTimeStamp"), ("single", "2.5", "float"), ("double", "2.5", "double"),
    ("byte", "5", "byte"), ("long", "7", "long"), ("int", "7", "integer"),
    ("decimal", "2.5", "decimal"),
)  # fmt: skip

RULES = {
    **{f"out(X, V) :- <http://e/{name}>(X, V).": [f"{value} {datatype}"]
       for name, value, datatype in FACTS},
    # Each rule has its own literals; where a rule reads two columns, it makes what both have.
    "out(X, V) :- <http://e/berlin>(X, V). out(X, V) :- <http://e/zulu>(X, V).":
        [f"{NOON} dateTime", f"{BERLIN} dateTime"],
    "out(X, V) :- <http://e/berlin>(X, V), <http://e/zulu>(X, V).": [f"{NOON} dateTime"],
    "out(X, V) :- <http://e/single>(X, V), <http://e/double>(X, V).": ["2.5 double"],
    # What is computed is of the type by itself, and so is what other types make wider.
    "out(X, V) :- <http://e/byte>(X, W), V = W + 1.": ["6 integer"],
    "out(X, V) :- <http://e/berlin>(X, W), V = add_seconds(W, 1).":
        ["2026-01-01T12:00:01 dateTime"],
    "out(X, V) :- <http://e/long>(X, V), V = W, <http://e/double>(X, U), W > U.": ["7 long"],
    # Under other names, as the best, and as a group.
    "out(X, V) :- <http://e/berlin>(X, W), BIND(W AS U), V = U.": [f"{BERLIN} dateTime"],
    "out(X, V) :- <http://e/berlin>(X, W), BIND(W AS V), BIND(V AS W).": [f"{BERLIN} dateTime"],
    "out(X, V) :- AGGREGATE(<http://e/single>(X, W)) ON X WITH MAX(W) AS V.": ["2.5 float"],
    "out(X, V) :- AGGREGATE(<http://e/single>(X, V)) ON X, V WITH COUNT(V) AS N.": ["2.5 float"],
    "out(X, MIN(V)) :- <http://e/berlin>(X, V).": [f"{BERLIN} dateTime"],
    # Through native columns that rules derive, and a recursion.
    "mid(X, V) :- <http://e/berlin>(X, V). out(X, V) :- mid(X, V).": [f"{BERLIN} dateTime"],
    "mid(X, V) :- <http://e/berlin>(X, V). mid(X, V) :- <http://e/zulu>(X, V)."
    "out(X, V) :- mid(X, V).": [f"{NOON} dateTime"],
    "mid(X, V) :- <http://e/single>(X, V). mid(X, V) :- <http://e/double>(X, V)."
    "out(X, V) :- mid(X, V).": ["2.5 double"],
    "out(X, V) :- <http://e/single>(X, V). out(X, V) :- out(Y, V), <http://e/single>(X, _).":
        ["2.5 float"],
}  # fmt: skip


def written(folder: Path, properties: str) -> Path:
    """A file with the facts in RDF of some properties, which a text names."""
    path = folder / "facts.nt"
    facts = [fact for fact in FACTS if fact[0] in properties]
    lines = (f'<http://e/s> <http://e/{p}> "{v}"^^<{XSD}{t}> .\n' for p, v, t in facts)
    path.write_text("".join(lines))
    return path


@pytest.mark.parametrize(("number", "rules"), [*enumerate(RULES)])
def test_literals_are_copied(open_kb: OpenKb, tmp_path: Path, number: int, rules: str) -> None:
    """They come and go with facts and with rules, are explained, and are the same in RDF."""
    path = written(tmp_path, rules)
    named = ".decl out(x: symbol, v: any)\n" + rules
    with open_kb(path.with_suffix(".duckdb")) as kb:
        first = number % 2  # sometimes the rules are there first
        kb.add_rules(named) if first else kb.load(path)
        kb.load(path) if first else kb.add_rules(named)
        assert _found(kb) == RULES[rules]
        for subject, value in kb.table("out").fetchall():
            assert str(kb.why(f"out(<{subject}>, {value})")).startswith("out(")
        assert kb.verify()
        kb.unload(path)
        assert _found(kb) == [] and kb.verify()
    with open_kb(path.with_suffix(".duckdb")) as kb:
        kb.load(path)
        assert _found(kb) == RULES[rules] and kb.verify()


def test_facts_come_and_go(open_kb: OpenKb, tmp_path: Path, strategy: str) -> None:
    kb = open_kb(strategy=strategy)
    kb.load(written(tmp_path, "berlin single"))
    kb.add_rules(
        ".decl out(x: symbol, v: any)\n"
        "out(X, V) :- <http://e/berlin>(X, V). out(X, V) :- <http://e/single>(X, V).\n"
        "out(Y, V) :- out(X, V), next(X, Y). next(<http://e/s>, a). next(a, b). next(b, a)."
    )
    other = tmp_path / "other.nt"
    other.write_text(
        f'<http://e/t> <http://e/berlin> "{BERLIN}"^^<{XSD}dateTime> .\n'
        f'<http://e/s> <http://e/berlin> "2026-01-02T00:00:00+01:00"^^<{XSD}dateTime> .\n'
    )
    before = _found(kb)
    assert before == sorted([f"{BERLIN} dateTime", "2.5 float"] * 3)
    for _ in range(2):
        kb.load(other)
        assert kb.verify() and len(_found(kb)) == 10
        kb.unload(other)
        assert kb.verify() and _found(kb) == before


def test_rules_change_what_a_native_column_has(open_kb: OpenKb, tmp_path: Path) -> None:
    """What was copied of it is evaluated anew."""
    kb = open_kb()
    kb.load(written(tmp_path, "berlin zulu local"))
    kb.add_rules(".decl out(x: symbol, v: any)\nr0: out(X, V) :- mid(X, V).")
    kb.add_rules("r1: mid(X, V) :- <http://e/berlin>(X, V).")
    assert _found(kb) == [f"{BERLIN} dateTime"]
    kb.add_rules("r2: mid(X, V) :- <http://e/zulu>(X, V).")
    assert _found(kb) == [f"{NOON} dateTime"]
    change = kb.add_rules("r3: mid(X, V) :- <http://e/local>(X, V).")
    assert _found(kb) == [f"{LOCAL} dateTime"] and kb.verify()
    assert len(change.inserted_facts("out")) == len(change.deleted_facts("out")) == 1
    kb.drop_rules("r3", "r2")
    assert _found(kb) == [f"{BERLIN} dateTime"] and kb.verify()


def test_facts_change_what_a_column_has(open_kb: OpenKb, tmp_path: Path) -> None:
    """A column that is declared, and was altered, takes times of other zones, and without one."""
    kb = open_kb(tmp_path / "case.duckdb")
    kb.add_rules(
        ".decl <http://e/berlin>(x: symbol, v: any)\n.decl out(x: symbol, v: any)\n"
        "out(X, V) :- mid(X, V). mid(X, V) :- <http://e/berlin>(X, V). far(V) :- out(_, V)."
    )
    kb.load(written(tmp_path, "berlin"))
    kb.alter("http://e/berlin", {"v": "timestamp"})
    assert _found(kb) == [f"{BERLIN} dateTime"] and kb.verify()
    other = tmp_path / "other.nt"
    other.write_text(f'<http://e/t> <http://e/berlin> "2026-01-02T00:00:00Z"^^<{XSD}dateTime> .\n')
    kb.load(other)
    assert _found(kb) == [f"{NOON} dateTime", "2026-01-02T00:00:00Z dateTime"] and kb.verify()
    kb.unload(other)
    assert _found(kb) == [f"{NOON} dateTime"] and kb.verify()
    kb.insert("http://e/berlin", [("http://e/u", datetime.datetime(2026, 1, 3))])
    assert _found(kb) == [f"{LOCAL} dateTime", "2026-01-03T00:00:00 dateTime"] and kb.verify()
    assert len(kb.table("far")) == 2


def test_rows_of_python_with_a_zone(open_kb: OpenKb) -> None:
    kb = open_kb()
    kb.insert("at", [("a", datetime.datetime(2026, 1, 1, 12, tzinfo=datetime.UTC))])
    kb.add_rules(".decl out(x: symbol, v: any)\nout(X, V) :- at(X, V).")
    assert _found(kb) == [f"{NOON} dateTime"] and kb.verify()


def test_comparisons_have_values(open_kb: OpenKb, tmp_path: Path) -> None:
    """Times with a zone have an order among each other, in rules and in SPARQL."""
    kb = open_kb()
    kb.load(written(tmp_path, "berlin single"))
    kb.add_rules(
        "@prefix e: <http://e/> .\n.decl e:when(x: symbol, v: any)\n"
        "e:when(X, V) :- e:berlin(X, V). e:when(X, V) :- e:single(X, V).\n"
        "e:before(X, Y) :- e:when(X, A), e:when(Y, B), A < B."
    )
    kb.insert("http://e/when", [("http://e/t", f'"2026-01-01T12:30:00Z"^^<{XSD}dateTime>')])
    pair = [("http://e/s", "http://e/t")]
    assert kb.table("http://e/before").fetchall() == pair
    query = "SELECT ?a ?b { ?a <http://e/when> ?v . ?b <http://e/when> ?w FILTER(?v < ?w) }"
    assert kb.sparql(query).fetchall() == pair
    query = "SELECT ?a { ?a <http://e/when> ?v . ?a <http://e/berlin> ?v }"
    assert len(kb.sparql(query)) == 1


def test_files_from_before_are_evaluated_anew(
    open_kb: OpenKb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before migration 21, rules wrote the literals of the types, and fewer were passed on."""
    rules = (
        ".decl out(x: symbol, v: any)\nout(X, V) :- <http://e/berlin>(X, V). far(V) :- out(_, V).\n"
        "<http://e/same>(X, V) :- <http://e/berlin>(X, W), V = W."
    )
    file = tmp_path / "case.duckdb"
    with monkeypatch.context() as patch, open_kb(file) as kb:
        patch.setattr(body, "datatype_passed_on", lambda *_: None)
        patch.setattr(derived_datatypes, "sources_of_term", lambda *_: iter(()))
        kb.load(written(tmp_path, "berlin"))
        kb.insert("other", [(0,)])
        kb.add_rules(rules)
        assert _found(kb) == [f"{LOCAL} dateTime"]
    with duckdb.connect(str(file)) as connection:
        connection.execute("DELETE FROM zodiac.migration WHERE version > 20")
        connection.execute("DROP TABLE zodiac.fact_window")
    with open_kb(file) as kb:
        assert not kb.verify()
        kb.insert("other", [(1,)])
        assert _found(kb) == [f"{BERLIN} dateTime"] and kb.verify()


WRITTEN = {
    f'out(X, "{BERLIN}"^^xsd:dateTime) :- q(X).': f"{BERLIN} dateTime",
    f'out(X, "{LOCAL}"^^xsd:dateTime) :- q(X).': f"{LOCAL} dateTime",
    f'out(X, V) :- q(X), BIND("{NOON}"^^xsd:dateTime AS V).': f"{NOON} dateTime",
    'out(X, V) :- q(X), V = "2.5"^^xsd:float.': "2.5 float",
    'out(X, V) :- q(X), BIND("05"^^xsd:int AS W), BIND(W AS V).': "5 int",
    'mid(X, "7"^^xsd:long) :- q(X). out(X, V) :- mid(X, V).': "7 long",
    'mid(X, "7"^^xsd:long) :- q(X). mid(X, 8) :- never(X). out(X, V) :- mid(X, V).': "7 integer",
    # What is computed is of its type alone.
    'out(X, V) :- q(X), V = "5"^^xsd:int + 1.': "6 integer",
    f'out(X, V) :- q(X), V = if(X = a, "{NOON}"^^xsd:dateTime, "{LOCAL}"^^xsd:dateTime).':
        f"{LOCAL} dateTime",
}  # fmt: skip


@pytest.mark.parametrize("rules", WRITTEN)
def test_literals_of_rules(open_kb: OpenKb, tmp_path: Path, rules: str) -> None:
    """A rule's constant is the literal that it writes, by its value, its datatype and its zone."""
    path = tmp_path / "case.duckdb"
    with open_kb(path) as kb:
        kb.add_rules(".decl out(x: symbol, v: any)\n.decl never(x: symbol)\n" + rules)
        kb.insert("q", [("a",)])
        assert _found(kb) == [WRITTEN[rules]]
        (value,) = (value for _, value in kb.table("out").fetchall())
        assert str(kb.why(f"out(a, {value})")).startswith("out(")
        assert kb.verify()
    with open_kb(path) as kb:
        kb.delete("q", [("a",)])
        kb.insert("q", [("b",)])
        assert _found(kb) == [WRITTEN[rules]] and kb.verify()


def test_rules_that_differ_in_a_literal_are_two(open_kb: OpenKb) -> None:
    kb = open_kb()
    kb.add_rules(
        ".decl out(x: symbol, v: any)\n"
        f'out(X, "{BERLIN}"^^xsd:dateTime) :- q(X). out(X, "{NOON}"^^xsd:dateTime) :- q(X).'
    )
    kb.insert("q", [("a",)])
    assert _found(kb) == [f"{NOON} dateTime", f"{BERLIN} dateTime"] and kb.verify()


def test_facts_in_texts_of_rules(open_kb: OpenKb) -> None:
    """A declared column of terms keeps their literals as they are written, any other one values."""
    facts = f'("05"^^xsd:int). ("5.50"^^xsd:decimal). ("{BERLIN}"^^xsd:dateTime). (5). (text).'
    for declaration, expected in (
        (".decl out(x: int, v: any)\n",
         ["05 int", f"{BERLIN} dateTime", "5 integer", "5.50 decimal", "text"]),
        ("", [f"{NOON[:-1]} dateTime", "5 integer", "5.5 decimal", "text"]),
    ):  # fmt: skip
        kb = open_kb()
        kb.add_rules(declaration + facts.replace("(", "out(1, "))
        assert _found(kb) == expected and kb.verify()
    kb = open_kb()
    kb.add_rules(".decl out(x: int, v: any)\n" + facts.replace("(", "out(1, "))
    kb.delete("out", [(1, f'"{BERLIN}"^^<{XSD}dateTime>'), (1, f'"05"^^<{XSD}int>')])
    assert _found(kb) == ["5 integer", "5.50 decimal", "text"]


def test_literals_in_files_from_before(
    open_kb: OpenKb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before migration 22, rules made the literals of the types of constants."""
    file = tmp_path / "case.duckdb"
    with monkeypatch.context() as patch, open_kb(file) as kb:
        patch.setattr(passed_on, "datatype_of_constant", lambda _: None)
        patch.setattr(derived_datatypes, "datatype_of_constant", lambda _: None)
        kb.add_rules(f'.decl out(x: int, v: any)\nout(X, "{BERLIN}"^^xsd:dateTime) :- q(X).')
        kb.insert("q", [(0,)])
        assert _found(kb) == [f"{LOCAL} dateTime"]
    with duckdb.connect(str(file)) as connection:
        connection.execute("DELETE FROM zodiac.migration WHERE version > 21")
        connection.execute("DROP TABLE zodiac.fact_window")
    with open_kb(file) as kb:
        assert not kb.verify()
        kb.insert("other", [(1,)])
        assert _found(kb) == [f"{BERLIN} dateTime"] and kb.verify()


def _found(kb: KnowledgeBase) -> list[str]:
    """The values of `out`, with the local names of their datatypes."""
    found = (value.replace(f'"^^<{XSD}', " ") for _, value in kb.table("out").fetchall())
    return sorted(value.strip('">') for value in found)
