"""Explanations as JSON and as Arrow tables: what programs read."""

from __future__ import annotations

import datetime
import json
import math
from typing import Any

import pytest
from support.explanations import (
    absent,
    chain,
    fact,
    nasty,
    problems,
    proof,
    schema,
    several,
    step,
    wide,
    wind_farm,
)

from zodiac_sql.read.why.proof import Explanation

ALL = {
    "chain": chain(3),
    "deep": chain(1000),
    "wide": wide(1000),
    "wind farm": wind_farm(),
    "several": several(),
    "nasty": nasty(),
    "long": nasty("x" * 10_000),
    "nothing": Explanation((), {}, frozenset()),
}


@pytest.mark.parametrize("explanation", ALL.values(), ids=ALL)
def test_json_is_as_its_schema_says(explanation: Explanation) -> None:
    read = json.loads(explanation.json(), parse_constant=pytest.fail)
    assert not list(problems(read, schema()))
    assert read == explanation.to_dict()
    names = [node["id"] for node in read["nodes"]]
    assert len(names) == len(set(names))
    used = [
        *read["goals"],
        *(use for one in read["steps"] for use in (*one["uses"], one["derives"])),
    ]
    assert set(used) <= set(names)


def test_schema_refuses_what_it_does_not_know() -> None:
    read = chain(1).to_dict()
    read["nodes"][0]["values"][0]["type"] = "text"
    del read["steps"][0]["rule"]
    read["extra"] = 1
    assert len(list(problems(read, schema()))) == 3


def test_small_explanation() -> None:
    read = wind_farm().to_dict()
    assert read["goals"] == ["f1"] and not read["every"]
    assert read["nodes"][1] == {
        "id": "f2",
        "text": "usual(wt2, 11.5)",
        "predicate": "usual",
        "values": [{"type": "symbol", "value": "wt2"}, {"type": "float", "value": 11.5}],
        "explicit": False,
        "explained": True,
        "more": False,
    }
    first, second = read["steps"]
    assert (first["derives"], first["rule"], first["uses"]) == ("f1", "r5", ["f2", "f3"])
    assert first["text"].splitlines()[1] == "    BIND(abs(T - M) AS D), D > 5."
    assert first["absent"] == [
        {
            "text": "not maintenance(wt2, _)",
            "predicate": "maintenance",
            "values": [{"type": "symbol", "value": "wt2"}, None],
            "names": [],
        }
    ]
    assert first["tests"] == [{"rule_text": "D > 5", "text": "13.0 > 5"}]
    assert first["bindings"] == [
        {"variable": "D", "expression": "abs((24.5 - 11.5))", "type": "float", "value": 13.0}
    ]
    assert second["groups"] == [
        {
            "variable": "M",
            "function": "med(T)",
            "type": "float",
            "value": 11.5,
            "on": [{"variable": "X", "text": "wt2"}],
            "count": 4,
            "members": [["f4", "f5"], ["f6", "f7"]],
        }
    ]


def test_derivations_of_an_and_or_graph() -> None:
    read = several().to_dict()
    nodes = {node["text"]: node for node in read["nodes"]}
    goal = nodes["near(a, b)"]
    assert goal["explicit"] and goal["explained"] and goal["more"]
    assert not nodes["near(a, c)"]["explained"] and nodes["link(a, b)"]["explained"]
    assert [one["rule"] for one in read["steps"] if one["derives"] == goal["id"]] == [
        "r1",
        "r2",
        "r3",
    ]


VALUES = [
    ("wt2", "symbol", "wt2"),
    (2**63 - 1, "int", 2**63 - 1),
    (-0.5, "float", -0.5),
    (math.inf, "float", "Infinity"),
    (-math.inf, "float", "-Infinity"),
    (math.nan, "float", "NaN"),
    (True, "bool", True),
    (datetime.date(2026, 1, 31), "date", "2026-01-31"),
    (datetime.datetime(2026, 1, 31, 12, 0, 0, 5), "timestamp", "2026-01-31T12:00:00.000005"),
]


@pytest.mark.parametrize(("value", "type_", "written"), VALUES)
def test_values(value: Any, type_: str, written: Any) -> None:
    """Wherever they stand: in facts, in absences, of variables."""
    goal = fact("p", value)
    values = (("X", value),)
    only = step("r: p(X) :- not q(X).", absent=(absent("q", value),), values=values)
    read = json.loads(proof(goal, {goal: only}).json(), parse_constant=pytest.fail)
    assert not list(problems(read, schema()))
    expected = {"type": type_, "value": written}
    (first,) = read["steps"]
    assert read["nodes"][0]["values"] == first["absent"][0]["values"] == [expected]
    assert first["values"] == [{"variable": "X", **expected}]


def test_arrow() -> None:
    explanation = wind_farm()
    table = explanation.arrow()
    assert table.to_pylist() == [
        {
            "fact": "anomaly(wt2)",
            "rule": "r5",
            "text": "anomaly(X) :- usual(X, M), hasTemperature(X, T), not maintenance(X, _),\n"
            "    BIND(abs(T - M) AS D), D > 5.",
            "kind": "rule",
            "uses": ["usual(wt2, 11.5)", "hasTemperature(wt2, 24.5)"],
            "absent": ["not maintenance(wt2, _)"],
            "tests": ["13.0 > 5"],
            "bindings": ["D = abs((24.5 - 11.5)) = 13.0"],
            "groups": [],
        },
        {
            "fact": "usual(wt2, 11.5)",
            "rule": "r4",
            "text": "usual(X, M) :- AGGREGATE(near(X, Y), hasTemperature(Y, T)) ON X WITH MED(T) "
            "AS M.",
            "kind": "rule",
            "uses": [],
            "absent": [],
            "tests": [],
            "bindings": [],
            "groups": ["M = 11.5 = med(T) of 4 solutions with X = wt2"],
        },
    ]


@pytest.mark.parametrize("explanation", ALL.values(), ids=ALL)
def test_arrow_has_a_row_for_each_step(explanation: Explanation) -> None:
    table = explanation.arrow()
    assert table.num_rows == len(explanation.to_dict()["steps"])
    assert table.schema.equals(chain(1).arrow().schema)
