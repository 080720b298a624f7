"""What contradicts itself is explained: the axiom, the individuals, and a proof."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.command_line import answered

from zodiac_sql.errors import QueryError

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

E = "http://e/"
HOUSE = """
@prefix : <http://e/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Sensor rdfs:subClassOf :Point .
:Point owl:disjointWith :Room .
:feeds a owl:AsymmetricProperty .
:s1 a :Sensor , :Room . :s2 a :Sensor . :s3 a :Point , :Room .
"""


@pytest.fixture
def house(tmp_path: Path) -> Path:
    file = tmp_path / "house.ttl"
    file.write_text(HOUSE)
    return file


def test_each_is_explained(open_kb: OpenKb, house: Path, tmp_path: Path) -> None:
    with open_kb(tmp_path / "house.duckdb") as kb:
        assert not kb.inconsistencies() and len(kb.inconsistencies()) == 0
        kb.load_ontology(house, set="house")
        kb.insert(f"{E}feeds", [(f"{E}a", f"{E}b"), (f"{E}b", f"{E}a"), (f"{E}b", f"{E}c")])
        found = kb.inconsistencies()
        told = {(one.axiom, tuple(n.removeprefix(E) for n in one.individuals)) for one in found}
        assert told == {
            (":Point owl:disjointWith :Room", ("s1",)),
            (":Point owl:disjointWith :Room", ("s3",)),
            (":feeds a owl:AsymmetricProperty", ("a", "b")),
            (":feeds a owl:AsymmetricProperty", ("b", "a")),
        }
        assert found and found.total == len(found) == 4
        first = found.found[0]
        assert first.rule == "house/cax_dw.Point.Room"
        rules = {step.rule for steps in first.proof.derivations.values() for step in steps}
        assert "house/cax_sco.Sensor.Point" in rules
        assert str(found).startswith(":Point owl:disjointWith :Room: :s1\n")
        assert found.to_dict()["inconsistencies"][0]["individuals"] == [f"{E}s1"]
        kb.delete(f"{E}feeds", [(f"{E}a", f"{E}b")])
        few = kb.inconsistencies(limit=1)
        assert (few.total, len(few)) == (2, 1)
        assert str(few).endswith("\nand 1 more")
        kb.drop_rules(set="house")
        assert str(kb.inconsistencies()) == "nothing contradicts itself"


WITHOUT_PREFIXES = """
<http://e/A> <http://www.w3.org/2002/07/owl#disjointWith> <http://f/B> .
<http://e/A> <http://www.w3.org/2000/01/rdf-schema#subClassOf> _:n .
_:n <http://www.w3.org/2002/07/owl#complementOf> <http://f/C> .
<http://e/x> a <http://e/A> , <http://f/B> , <http://f/C> .
"""


def test_axioms_about_iris_without_prefixes(open_kb: OpenKb, tmp_path: Path) -> None:
    """Their texts begin with < and may end with >. They are no IRIs for all that."""
    file, db = tmp_path / "house.ttl", tmp_path / "house.duckdb"
    file.write_text(WITHOUT_PREFIXES)
    with open_kb(db) as kb:
        kb.load_ontology(file, set="house")
    with open_kb(db) as kb:
        assert {one.axiom for one in kb.inconsistencies()} == {
            "<http://e/A> owl:disjointWith <http://f/B>",
            "<http://e/A> rdfs:subClassOf (not <http://f/C>)",
        }
        kb.insert("http://e/A", [("http://e/y",)])
        assert kb.verify()
        kb.drop_rules(set="house")
        assert not kb.inconsistencies()


LISTS = """
@prefix : <http://e/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
:p a owl:ObjectProperty . :q a owl:ObjectProperty . :r a owl:ObjectProperty .
"""


@pytest.mark.parametrize(
    ("axiom", "facts", "wrong"),
    [
        (
            "[] a owl:AllDifferent ; owl:{} ( :a :b :c ) .",
            ":a owl:sameAs :c .",
            {("a", "c"), ("c", "a")},
        ),
        ("[] a owl:AllDifferent ; owl:{} ( :a :b :c ) .", ":a owl:sameAs :d .", set()),
        (
            "[] a owl:AllDisjointClasses ; owl:members ( :A :B :C ) .",
            ":x a :B , :C . :y a :A .",
            {("x",)},
        ),
        (
            "[] a owl:AllDisjointProperties ; owl:members ( :p :q :r ) .",
            ":x :p :y . :x :r :y . :y :q :x .",
            {("x", "y")},
        ),
        (
            "[] a owl:AllDisjointProperties ; owl:members ( :p :q :r ) .",
            ":x :q :y . :x :r :y .",
            {("x", "y")},
        ),
        ("[] a owl:AllDisjointProperties ; owl:members ( :p :q :r ) .", ":x :q :y , :z .", set()),
    ],
)
@pytest.mark.parametrize("name", ["members", "distinctMembers"])
def test_lists_of_what_excludes_each_other(
    open_kb: OpenKb, tmp_path: Path, axiom: str, facts: str, wrong: set[tuple[str, ...]], name: str
) -> None:
    """All members of a list count, also the last one."""
    file = tmp_path / "lists.ttl"
    file.write_text(LISTS + axiom.format(name) + facts)
    with open_kb() as kb:
        kb.load_ontology(file, set="lists")
        found = kb.inconsistencies()
        assert {tuple(n.removeprefix(E) for n in one.individuals) for one in found} == wrong
        assert bool(kb.verify())


def test_a_predicate_of_another_kind_is_none_of_ours(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        kb.insert("inconsistent", [("a", 1)])
        assert not kb.inconsistencies()


def test_what_users_state_counts(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        kb.insert("inconsistent", [("no cats", "tom", "tom")])
        (one,) = kb.inconsistencies()
        assert (one.axiom, one.individuals, one.rule) == ("no cats", ("tom",), "")


def test_on_the_command_line(house: Path, tmp_path: Path) -> None:
    db = tmp_path / "house.duckdb"
    answered("ontology", db, house, "--set", "house")
    out = answered("inconsistencies", db, "--limit", 1)
    assert out.startswith(":Point owl:disjointWith :Room: :s1\ninconsistent(")
    assert out.endswith("and 1 more: --limit 2 shows all\n")
    told = json.loads(answered("inconsistencies", db, "--json"))
    assert told["total"] == 2 and len(told["inconsistencies"]) == 2
    answered("drop-rules", db, "--set", "house")
    assert answered("inconsistencies", db) == "nothing contradicts itself\n"


def test_they_are_a_table_too(open_kb: OpenKb, house: Path) -> None:
    kb = open_kb()
    assert kb.inconsistencies().fetchall() == [] and kb.inconsistencies().fetchone() is None
    kb.load_ontology(house, set="house")
    found = kb.inconsistencies()
    names = ["axiom", "individuals", "rule"]
    assert found.column_names == kb.inconsistencies(limit=0).column_names == names
    row = (":Point owl:disjointWith :Room", [f"{E}s1"], "house/cax_dw.Point.Room")
    assert found.fetchone() == row == found.fetchall()[0]
    assert found.to_pylist()[0] == dict(zip(names, row, strict=True))
    assert found.num_rows == len(found.arrow()) == found.total == 2
    assert bool(kb.inconsistencies(limit=0)) and not len(kb.inconsistencies(limit=0))
    assert "Point.Room" in repr(found) and "2 rows" in repr(found)


def test_less_than_none_are_asked_for(open_kb: OpenKb) -> None:
    kb = open_kb()
    kb.insert("inconsistent", [("a", "b", "c")])
    with pytest.raises(QueryError, match="at most -1"):
        kb.inconsistencies(limit=-1)
