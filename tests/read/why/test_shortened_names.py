"""RDF names in explanations: short for people, in full for machines; and words without ballast."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from zodiac_sql.errors import QueryError

if TYPE_CHECKING:
    from conftest import OpenKb

    from zodiac_sql import KnowledgeBase

TURTLE = """\
@prefix brick: <https://brickschema.org/schema/Brick#> .
@prefix bldg: <http://example.org/north#> .
@prefix geo: <http://www.opengis.net/ont/geosparql#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
bldg:s1 a brick:Sensor ; brick:isPointOf bldg:r1 ; brick:value "31.5"^^xsd:double .
bldg:s2 a brick:Sensor ; brick:isPointOf bldg:r2 ; brick:value "19.0"^^xsd:double ; brick:note _:n .
bldg:r1 brick:isPartOf bldg:f1 ; geo:asWKT "POINT(1 2)"^^geo:wktLiteral .
bldg:r2 brick:isPartOf bldg:f1 ; rdfs:label "see http://a.org/ and <http://example.org/north#f1>" .
"""
RULES = """
@prefix brick: <https://brickschema.org/schema/Brick#> .
point: brick:Point(X) :- brick:Sensor(X).
warm: warm(R) :- brick:isPointOf(S, R), brick:Point(S), brick:value(S, V), V + 1 > 25 * 1,
    R != brick:Nothing, not brick:shut(R).
mean: mean(F, A) :- AGGREGATE(brick:isPartOf(R, F), brick:isPointOf(S, R), brick:value(S, V))
    ON F WITH AVG(V) AS A.
noted: noted(S, N) :- brick:note(S, N).
flag: flagged(S) :- noted(S, N).
"""


@pytest.fixture(scope="module")
def building(open_kb: OpenKb, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    path = tmp_path_factory.mktemp("building") / "building.ttl"
    path.write_text(TURTLE, encoding="utf-8")
    with open_kb() as kb:
        kb.load(path)
        kb.add_rules(RULES)
        yield kb


WARM = """\
warm(bldg:r1)
│  by warm: warm(R) :- brick:isPointOf(S, R), brick:Point(S), brick:value(S, V), V + 1 > 25 * 1, \
R != brick:Nothing, not brick:shut(R).
├─ brick:isPointOf(bldg:s1, bldg:r1)  explicit
├─ brick:Point(bldg:s1)
│  │  by point: brick:Point(X) :- brick:Sensor(X).
│  └─ brick:Sensor(bldg:s1)  explicit
├─ brick:value(bldg:s1, 31.5)  explicit
├─ not brick:shut(bldg:r1)  absent
├─ 31.5 + 1 > 25 * 1  (V + 1 > 25 * 1)
└─ bldg:r1 != brick:Nothing  (R != brick:Nothing)"""


def test_a_proof(building: KnowledgeBase) -> None:
    assert str(building.why("warm(bldg:r1)")) == WARM


def test_all_that_people_read_is_short(building: KnowledgeBase) -> None:
    for goal in ("warm(X)", "mean(X, Y)", "geo:asWKT(X, Y)"):
        told = building.why(goal)
        for text in (str(told), told.svg(), told.mermaid(), told.dot(), told._repr_html_()):
            assert "bldg:r1" in unescape(text)
            assert not re.search(r"example\.org|brickschema|opengis", text)


def test_what_machines_read_is_in_full(building: KnowledgeBase) -> None:
    goal = "warm(<http://example.org/north#r1>)"
    told = building.why("warm(bldg:r1)")
    assert json.loads(told.json())["nodes"][0]["text"] == goal
    table = told.arrow().drop_columns(["text"]).to_pydict()
    assert goal in table["fact"] and "brick:" not in json.dumps(table)
    assert str(told.goals[0]) == goal
    lacking = building.why_not("warm(bldg:r2)").to_dict()
    assert lacking["goal"] == "warm(<http://example.org/north#r2>)"


def test_every_fact_shown_can_be_asked_for(building: KnowledgeBase) -> None:
    told = building.why("warm(X)")
    shown = re.findall(r"─ ([a-z]+:\w+\(.*\))", str(told))
    assert len(shown) == 4
    for text in shown:
        assert str(building.why(text)).startswith(text)


def test_what_is_not_shown_is_asked_for_by_a_text_that_can_be_pasted(
    building: KnowledgeBase,
) -> None:
    told = str(building.why("warm(bldg:r1)", all=True))
    call = 'kb.why("brick:Point(bldg:s1)", all=True)'
    assert call in told
    assert str(eval(call, {"kb": building})).startswith("brick:Point(bldg:s1)")


def test_blank_nodes_cannot_be_typed(building: KnowledgeBase) -> None:
    told = str(building.why("flagged(X)", all=True))
    assert "not explained here: kb.why(..., all=True) of this fact" in told


def test_texts_with_an_iri_inside_are_texts(building: KnowledgeBase) -> None:
    told = str(building.why("rdfs:label(X, Y)"))
    label = '"see http://a.org/ and <http://example.org/north#f1>"'
    assert told == f"rdfs:label(bldg:r2, {label})  with X = bldg:r2, Y = {label}, explicit"
    told = str(building.why(f"rdfs:label(X, {label})"))
    assert told == f"rdfs:label(bldg:r2, {label})  with X = bldg:r2, explicit"


def test_why_not(building: KnowledgeBase) -> None:
    told = building.why_not("warm(bldg:r2)", depth=2)
    assert str(told).splitlines()[0] == "warm(bldg:r2) does not hold"
    assert str(told).splitlines()[2:] == [
        "      brick:isPointOf(bldg:s2, bldg:r2)",
        "      brick:Point(bldg:s2)",
        "      brick:value(bldg:s2, 19.0)",
        "      bldg:r2 != brick:Nothing",
        "      not brick:shut(bldg:r2)",
        "      ✗ 19.0 + 1 > 25 * 1 is false",
    ]
    below = building.why_not("brick:Point(bldg:r1)", depth=2)
    assert str(below).splitlines()[2] == "      ✗ no brick:Sensor(bldg:r1)"
    assert str(building.why_not("warm(bldg:r1)")) == f"warm(bldg:r1) holds:\n{WARM}"


def test_why_not_an_aggregate(building: KnowledgeBase) -> None:
    """What it computes is said once, in words."""
    of = "avg(V) of brick:isPartOf(R, F), brick:isPointOf(S, R), brick:value(S, V)"
    for goal in ("mean(bldg:r1, A)", "mean(bldg:r1, 3.0)"):
        last = str(building.why_not(goal)).splitlines()[-1]
        assert last == f"      ✗ no group: {of} with F = bldg:r1"
    assert str(building.why_not("mean(bldg:f1, 3.0)")).splitlines()[-2:] == [
        f"      {of} with F = bldg:f1: A = 25.25",
        "      ✗ A would be 25.25, and not 3.0",
    ]


def test_an_aggregate_without_groups(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        kb.insert("reading", [("wt1", 20.0)])
        kb.add_rules("n: total(N) :- AGGREGATE(reading(W, T), T > 30) WITH SUM(T) AS N, N > 1.")
        (attempt,) = kb.why_not("total(N)").attempts
        assert attempt.fails == "no group: sum(T) of reading(W, T), T > 30"
        assert attempt.literal == "sum(T) of reading(W, T), T > 30"


def test_a_change(building: KnowledgeBase) -> None:
    with building.preview() as preview:
        preview.drop_rules("point")
    told = preview.change.why("warm(bldg:r1)")
    assert str(told).splitlines()[0] == "warm(bldg:r1) left"
    assert str(told).splitlines()[2:] == [
        "   brick:isPointOf(bldg:s1, bldg:r1)",
        "   brick:value(bldg:s1, 31.5)",
        "   not brick:shut(bldg:r1)",
        "   31.5 + 1 > 25 * 1",
        "   bldg:r1 != brick:Nothing",
        "   brick:Point(bldg:s1) left",
        "   └─ point derived it (dropped by the change): brick:Point(X) :- brick:Sensor(X).",
        "      brick:Sensor(bldg:s1)",
    ]
    assert told.to_dict()["events"][0]["fact"] == "warm(<http://example.org/north#r1>)"


def test_whether_the_rule_itself_moved(building: KnowledgeBase) -> None:
    with building.preview() as preview:
        preview.drop_rules("point")
    assert _moved(preview.change, "warm(bldg:r1)") == [("left", False), ("left", True)]
    with building.preview() as preview:
        preview.add_rules("seen: seen(S) :- brick:Sensor(S).")
    assert _moved(preview.change, "seen(bldg:s1)") == [("entered", True)]


def _moved(change: object, goal: str) -> list[tuple[str, bool]]:
    events = change.why(goal).to_dict()["events"]  # type: ignore[attr-defined]
    return [(event["event"], event["rule_moved"]) for event in events]


def test_a_misspelt_iri(building: KnowledgeBase) -> None:
    with pytest.raises(QueryError, match=r"isPortOf. Did you mean isP\w+Of or isP\w+Of\?"):
        building.why("brick:isPortOf(X, Y)")


def test_prefixes_are_known_after_reopening(open_kb: OpenKb, tmp_path: Path) -> None:
    (tmp_path / "b.ttl").write_text(TURTLE, encoding="utf-8")
    with open_kb(tmp_path / "b.duckdb") as kb:
        kb.load(tmp_path / "b.ttl")
        kb.add_rules(RULES)
    with open_kb(tmp_path / "b.duckdb") as kb:
        assert str(kb.why("warm(bldg:r1)")) == WARM


@pytest.mark.parametrize(
    "name", ["a-b", "p.q", "1st", "Not", "bind", "aggregate", "Ünï", "true", "and", "x:y"]
)
def test_odd_predicates(open_kb: OpenKb, name: str) -> None:
    """The text of a fact is a goal, whatever its predicate is called."""
    with open_kb() as kb:
        kb.insert(name, [("wt1",)])
        (fact,) = kb.why(f"<{name}>(X)").goals
        assert kb.why(str(fact)).goals == (fact,)
        assert kb.why_not(str(fact).replace("wt1", "wt2")).goal == str(fact).replace("wt1", "wt2")
