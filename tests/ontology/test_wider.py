"""Expressions below others: those found in Python are those that schema.rules derives."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from generators.ontologies import PREFIXES, ontologies
from hypothesis import given, settings
from support.examples import share

from zodiac_sql.language.parse import parse
from zodiac_sql.ontology.applicable import applicable
from zodiac_sql.ontology.graph import Graph
from zodiac_sql.ontology.schema import facts_of
from zodiac_sql.ontology.triples import read
from zodiac_sql.ontology.wider import wider_expressions

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]


def graph_of(folder: Path, text: str) -> Graph:
    file = folder / "ontology.ttl"
    file.write_text(text)
    return Graph(read(file).triples)


def by_rules(open_kb: OpenKb, graph: Graph) -> list[tuple[str, str, str]]:
    facts = facts_of(graph)
    text = (files("zodiac_sql.ontology") / "schema.rules").read_text("utf-8")
    with open_kb() as kb:
        with kb.update() as update:
            for predicate, rows in facts.items():
                update.insert(predicate, list(rows))
            rules = applicable(parse(text).rules, facts)
            update.add_rules("".join(f"{rule}\n" for rule in rules))
        if "wider" not in {row[0] for row in kb.predicates().fetchall()}:
            return []
        return sorted(kb.table("wider").fetchall())


@settings(max_examples=share(4))
@given(text=ontologies)
def test_the_same_as_by_rules(
    open_kb: OpenKb, tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    graph = graph_of(tmp_path_factory.mktemp("ontology"), text)
    assert wider_expressions(graph) == by_rules(open_kb, graph)


TALL = """\
:A rdfs:subClassOf :B . :p rdfs:subPropertyOf :q . :q owl:inverseOf :r .
_:a owl:onProperty :p ; owl:someValuesFrom :A . _:b owl:onProperty :p ; owl:someValuesFrom :B .
_:c owl:onProperty :q ; owl:someValuesFrom :B . _:d owl:onProperty :q ; owl:someValuesFrom _:b .
_:e owl:onProperty :q ; owl:someValuesFrom _:a . _:f owl:onProperty :q ; owl:someValuesFrom _:a .
_:g owl:onProperty :p ; owl:someValuesFrom owl:Thing .
_:h owl:onProperty :p ; owl:someValuesFrom owl:Nothing .
_:i owl:onProperty :p ; owl:allValuesFrom :A . _:j owl:onProperty :p ; owl:allValuesFrom :B .
_:k owl:onProperty :q ; owl:allValuesFrom :A . _:l owl:onProperty :p ; owl:hasValue "1" .
_:m owl:onProperty :q ; owl:hasValue "1" . _:n owl:onProperty :q ; owl:hasValue "2" .
_:o owl:onProperty [ owl:inverseOf :r ] ; owl:hasValue "2" .
_:u owl:unionOf ( :A :C ) . _:v owl:intersectionOf ( :A :C ) .
_:w owl:onProperty :r ; owl:someValuesFrom _:u . _:x owl:onProperty :r ; owl:someValuesFrom _:v .
_:y owl:onProperty :r ; owl:someValuesFrom :C .
"""


def test_expressions_inside_others(open_kb: OpenKb, tmp_path: Path) -> None:
    graph = graph_of(tmp_path, PREFIXES + TALL)
    found = wider_expressions(graph)
    assert found == by_rules(open_kb, graph)
    assert {w3c for *_, w3c in found} == {
        "scm-svf1", "scm-svf2", "scm-avf1", "scm-avf2", "scm-hv",
    }  # fmt: skip
    assert len(found) > 15
