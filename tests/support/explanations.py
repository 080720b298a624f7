"""Explanations built by hand, to be shown, and a look at JSON by its schema."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from support.places import ROOT

from zodiac_sql.language.syntax import Type, Value
from zodiac_sql.read.why.proof import Absent, Bound, Explanation, Fact, Group, Step, Test

TYPES: dict[type, Type] = {
    str: Type.SYMBOL,
    bool: Type.BOOL,
    int: Type.INT,
    float: Type.FLOAT,
    datetime.date: Type.DATE,
    datetime.datetime: Type.TIMESTAMP,
}


def fact(predicate: str, *values: Value) -> Fact:
    return Fact(predicate, values, tuple(TYPES[type(value)] for value in values))


def absent(predicate: str, *values: Value | None) -> Absent:
    types = tuple(None if value is None else TYPES[type(value)] for value in values)
    return Absent(predicate, values, types)


def step(rule: str, *uses: Fact, **more: Any) -> Step:
    """A step by a rule that is written `r1: p(X) :- q(X).`"""
    name, text = rule.split(": ", 1)
    return Step("rule", name, text, uses, **more)


def proof(goal: Fact, steps: Mapping[Fact, Step]) -> Explanation:
    """One proof: what is used without a step is explicit."""
    uses = {use for one in steps.values() for use in one.uses}
    explicit = frozenset((uses | {goal}) - steps.keys())
    return Explanation((goal,), {head: (one,) for head, one in steps.items()}, explicit)


def chain(length: int) -> Explanation:
    """A path of links, each step with one link more."""
    steps = {}
    for end in range(1, length + 1):
        link = fact("link", end - 1, end)
        if end == 1:
            steps[fact("path", 0, 1)] = step("p1: path(X, Y) :- link(X, Y).", link)
        else:
            rule = "p2: path(X, Z) :- path(X, Y), link(Y, Z)."
            steps[fact("path", 0, end)] = step(rule, fact("path", 0, end - 1), link)
    return proof(fact("path", 0, length), steps)


def wide(width: int) -> Explanation:
    """One step that uses many facts."""
    uses = [fact("item", number) for number in range(width)]
    return proof(fact("all"), {fact("all"): step("w: all() :- items.", *uses)})


def wind_farm() -> Explanation:
    """Everything that a step can have: negation, values, comparisons, a group."""
    goal, usual = fact("anomaly", "wt2"), fact("usual", "wt2", 11.5)
    reading = fact("hasTemperature", "wt2", 24.5)
    readings = [("wt1", 11.0), ("wt3", 12.0)]
    members = tuple(
        (fact("near", "wt2", other), fact("hasTemperature", other, heat))
        for other, heat in readings
    )
    on = (("X", "wt2"),)
    group = Group("med(T)", "M", 11.5, Type.FLOAT, on, 4, members)
    aggregate = "AGGREGATE(near(X, Y), hasTemperature(Y, T)) ON X WITH MED(T) AS M"
    rule = (
        "r5: anomaly(X) :- usual(X, M), hasTemperature(X, T), not maintenance(X, _),\n"
        "    BIND(abs(T - M) AS D), D > 5."
    )
    steps = {
        goal: step(
            rule,
            usual,
            reading,
            absent=(absent("maintenance", "wt2", None),),
            bindings=(Bound("D", "abs((24.5 - 11.5))", 13.0, Type.FLOAT),),
            tests=(Test("D > 5", "13.0 > 5"),),
            values=(("X", "wt2"), ("M", 11.5), ("T", 24.5), ("D", 13.0)),
        ),
        usual: step(f"r4: usual(X, M) :- {aggregate}.", groups=(group,)),
    }
    return proof(goal, steps)


def several() -> Explanation:
    """All derivations of an explicit fact; what they rest on is not explained, but for a cycle."""
    goal, back = fact("near", "a", "b"), fact("near", "b", "a")
    far, link = fact("near", "a", "c"), fact("link", "a", "b")
    derivations = {
        goal: (
            step("r1: near(X, Y) :- link(X, Y).", link),
            step("r2: near(X, Y) :- near(Y, X).", back),
            step("r3: near(X, Z) :- near(X, Y), near(Y, Z).", far, fact("near", "c", "b")),
        ),
        back: (step("r2: near(X, Y) :- near(Y, X).", goal),),
    }
    explicit = frozenset({goal, link})
    return Explanation((goal,), derivations, explicit, every=True, cut=frozenset({goal}))


NASTY = (
    'a "quoted" \\ <script>alert(1)</script> &amp; `x` \n\t\x00\x1b[31m \u202e ]]> --> 漢 🌬️ %% end'
)


def nasty(text: str = NASTY) -> Explanation:
    """Every place that can have text has this one."""
    goal, used = fact(text, text), fact("q", text)
    every = {
        "absent": (absent(text, text, None),),
        "tests": (Test(text, text + text),),
        "bindings": (Bound(text, text, text, Type.SYMBOL),),
        "groups": (Group(text, text, text, Type.SYMBOL, ((text, text),), 3, ((used, goal),)),),
        "values": ((text, text),),
    }
    steps = (Step("rule", text, text, (used,), **every), Step("path", text, text, (used,)))
    return Explanation((goal,), {goal: steps}, frozenset({used}), every=True)


@cache
def schema() -> Any:
    """The schema of explanations, as it is in the package."""
    return json.loads((ROOT / "zodiac_sql/read/why/explanation.schema.json").read_text("utf-8"))


JSON_TYPES: dict[str, Any] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "null": type(None),
}


def problems(value: Any, rule: dict[str, Any], place: str = "") -> Iterator[str]:
    """Where a value is not as the schema says. Words that this does not know are problems, too."""
    known = {"description", "title", "$schema", "$defs", "additionalProperties", "required"}
    if "$ref" in rule:
        rule = schema()["$defs"][rule["$ref"].removeprefix("#/$defs/")]
    if "type" in rule and not is_a(value, rule["type"]):
        yield f"{place}: {value!r} is no {rule['type']}"
        return
    for word in rule.keys() - known - {"type"}:
        yield from (f"{place}: {problem}" for problem in violated(word, value, rule))
    for name, inner, said in parts(value, rule):
        yield from problems(inner, said, f"{place}/{name}")


def is_a(value: Any, name: str) -> bool:
    number = name in ("integer", "number")
    return isinstance(value, JSON_TYPES[name]) and not (number and isinstance(value, bool))


def violated(word: str, value: Any, rule: dict[str, Any]) -> list[str]:
    """What a word of the schema finds wrong in the value itself."""
    said = rule[word]
    if word == "properties":
        assert rule["additionalProperties"] is False
        missing = [f"no {name}" for name in rule["required"] if name not in value]
        return missing + [f"{name} is unknown" for name in value if name not in said]
    right = {
        "items": lambda: True,
        "anyOf": lambda: any(not list(problems(value, one)) for one in said),
        "const": lambda: value == said,
        "enum": lambda: value in said,
        "pattern": lambda: re.search(said, value),
        "minimum": lambda: value >= said,
    }
    return [] if right[word]() else [f"{value!r} is not {word} {said}"]


def parts(value: Any, rule: dict[str, Any]) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """The parts of a value that have rules of their own."""
    if "properties" in rule:
        for name in value.keys() & rule["properties"].keys():
            yield name, value[name], rule["properties"][name]
    if "items" in rule:
        for index, item in enumerate(value):
            yield str(index), item, rule["items"]
