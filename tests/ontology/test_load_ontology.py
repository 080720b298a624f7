"""Ontologies as rule sets: they come, get new versions, and go."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from zodiac_sql import DataError, read_ontology

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

E = "http://e/"
FARM = """
@prefix : <http://e/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Turbine rdfs:subClassOf :Machine .
:Machine rdfs:subClassOf :Thing .
:partOf a owl:TransitiveProperty .
:serial a owl:InverseFunctionalProperty .
:Machine owl:disjointWith :Farm .
:Machine rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :partOf ; owl:someValuesFrom :Farm ] .
:farm1 a :Farm .
"""


@pytest.fixture
def farm(tmp_path: Path) -> Path:
    file = tmp_path / "farm.ttl"
    file.write_text(FARM)
    return file


@pytest.fixture
def kb(open_kb: OpenKb, tmp_path: Path) -> KnowledgeBase:
    opened = open_kb(tmp_path / "farm.duckdb")
    opened.insert(f"{E}Turbine", [(f"{E}wt1",)])
    opened.insert(f"{E}serial", [(f"{E}wt1", "s1"), (f"{E}x", "s1"), (f"{E}y", "s2")])
    opened.insert(f"{E}partOf", [(f"{E}wt1", f"{E}g1"), (f"{E}g1", f"{E}farm1")])
    return opened


def names(kb: KnowledgeBase, class_: str) -> set[str]:
    return {name.removeprefix(E) for (name,) in kb.table(f"{E}{class_}").fetchall()}


def test_axioms_become_rules_of_a_set(kb: KnowledgeBase, farm: Path) -> None:
    change = kb.load_ontology(farm, set="farm")
    assert change.notes == (
        "1 axiom has no rule, or not all: zodiac ontology --report tells which",
    )
    assert names(kb, "Thing") == {"wt1", "x"}  # they have the same serial number
    assert names(kb, "Farm") == {"farm1"}
    assert (f"{E}wt1", f"{E}farm1") in kb.table(f"{E}partOf").fetchall()
    (one,) = kb.rule_sets().to_pylist()
    assert (one["set"], one["source"]) == ("farm", str(farm))
    assert "cax_sco.Turbine.Machine" in str(kb.why(f"<{E}Machine>(<{E}wt1>)"))
    assert kb.verify()


def test_one_axiom_less_deletes_what_it_alone_supported(kb: KnowledgeBase, farm: Path) -> None:
    kb.load_ontology(farm, set="farm", rules="rl-without-equality")
    rules = {row["name"] for row in kb.rules().to_pylist()}
    farm.write_text(FARM.replace(":Turbine rdfs:subClassOf :Machine .\n", ""))
    change = kb.load_ontology(farm, set="farm", rules="rl-without-equality")
    assert rules - {row["name"] for row in kb.rules().to_pylist()} == {
        "farm/cax_sco.Turbine.Machine"
    }
    assert change.deleted == {f"{E}Machine": 1, f"{E}Thing": 1}
    assert kb.verify()


def test_blank_nodes_that_are_as_before_keep_their_names(kb: KnowledgeBase, farm: Path) -> None:
    individuals = """
    :serial a owl:DatatypeProperty . :partOf a owl:ObjectProperty .
    [] a :Turbine ; :partOf [ a :Group ; :partOf :farm1 ] ; :serial "a" .
    [] a :Turbine ; :partOf [ a :Group ; :partOf :farm1 ] ; :serial "b" .
    """
    farm.write_text(FARM + individuals)
    kb.load_ontology(farm, set="farm")
    before = kb.table(f"{E}partOf").fetchall()
    farm.write_text(f"# another file\n{FARM}[] a :Turbine ; :serial 'c' .{individuals}")
    change = kb.load_ontology(farm, set="farm")
    assert change.inserted_facts(f"{E}Turbine").num_rows == 1
    assert not change.deleted
    assert kb.table(f"{E}partOf").fetchall() == before
    farm.write_text(FARM + individuals.replace('"b"', '"d"'))
    change = kb.load_ontology(farm, set="farm")
    assert [row["o"] for row in change.inserted_facts(f"{E}serial").to_pylist()] == ["d"]
    assert {row["o"] for row in change.deleted_facts(f"{E}serial").to_pylist()} == {"b", "c"}
    assert change.deleted_facts(f"{E}Group").num_rows == 1
    assert kb.verify()


def test_it_goes_with_its_facts(kb: KnowledgeBase, farm: Path) -> None:
    before = {row["predicate"]: row["extension"] for row in kb.predicates().to_pylist()}
    kb.load_ontology(farm, set="farm")
    kb.drop_rules(set="farm")
    after = {row["predicate"]: row["extension"] for row in kb.predicates().to_pylist()}
    assert after == before and kb.verify()


def test_what_contradicts_itself_is_told(kb: KnowledgeBase, farm: Path) -> None:
    kb.load_ontology(farm, set="farm", rules="rl-without-equality")
    kb.insert(f"{E}Farm", [(f"{E}wt1",)])
    assert kb.table("inconsistent").fetchall() == [
        (":Machine owl:disjointWith :Farm", f"{E}wt1", f"{E}wt1")
    ]
    assert names(kb, "Thing") == {"wt1"}


def test_a_preview(kb: KnowledgeBase, farm: Path) -> None:
    with kb.preview() as preview:
        preview.replace_rules(read_ontology([farm]).written(), set="farm")
    assert preview.change.inserted[f"{E}Thing"] == 2
    assert not kb.rules().to_pylist()


def test_the_command(farm: Path, tmp_path: Path) -> None:
    from zodiac_sql.cli.main import app

    def run(*arguments: object) -> str:
        result = CliRunner().invoke(app, ["ontology", *map(str, arguments)])
        assert result.exit_code == 0, result.output
        return result.output

    db = tmp_path / "cli.duckdb"
    told = json.loads(run(db, farm, "--report", "--json"))
    assert not db.exists()
    assert [row["line"] for row in told if row["left_out"]] == [10]
    assert "cax_sco.Turbine.Machine" in run(db, farm, "--report")
    assert "http://e/Farm" in run(db, farm, "--set", "farm")
    assert "nothing" in run(db, farm, "--set", "farm", "--preview").lower()


def test_a_file_that_cannot_be_read(kb: KnowledgeBase, tmp_path: Path) -> None:
    bad = tmp_path / "bad.ttl"
    bad.write_text("@prefix : <http://e/> .\n:a :b ; .\n:c")
    with pytest.raises(DataError, match=r"bad\.ttl"):
        kb.load_ontology(bad, set="bad")
    assert not kb.rule_sets().to_pylist()
