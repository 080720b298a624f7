"""An explanation as dictionaries, lists, texts and numbers: explanation.schema.json describes them.

Facts are nodes with names of their own, and steps name them, so a shared part stands there once,
cycles can be written, and nothing is nested deeply.
"""

from __future__ import annotations

import datetime
import json
import math
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from zodiac_sql.language.decimals import written
from zodiac_sql.language.syntax import Type, Value

if TYPE_CHECKING:
    from zodiac_sql.read.why.proof import Absent, Bound, Explanation, Fact, Group, Step

FORMAT = "zodiac-sql explanation 1"
"""Changes whenever a reader of the format before could misread the new one."""


def json_text(explanation: Explanation) -> str:
    """Strict JSON: no NaN or Infinity outside of quotes."""
    return json.dumps(as_dict(explanation), ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def as_dict(explanation: Explanation) -> dict[str, Any]:
    """The explanation by the schema: goals come first, then what they rest on."""
    names = {fact: f"f{number}" for number, fact in enumerate(_named(explanation), 1)}
    steps = [(fact, step) for fact in names for step in explanation.derivations.get(fact, ())]
    return {
        "format": FORMAT,
        "every": explanation.every,
        "goals": [names[goal] for goal in explanation.goals],
        "nodes": [_node(fact, name, explanation) for fact, name in names.items()],
        "steps": [_step(fact, step, names) for fact, step in steps],
        **({"notes": list(explanation.notes)} if explanation.notes else {}),
    }


def _named(explanation: Explanation) -> list[Fact]:
    """All facts of the explanation, also those that are there for a group only, each once."""
    found: dict[Fact, None] = dict.fromkeys(explanation.facts())
    waiting = list(found)
    for fact in waiting:  # which grows meanwhile
        for step in explanation.derivations.get(fact, ()):
            members = (f for group in step.groups for member in group.members for f in member)
            for other in (*step.uses, *members):
                if other not in found:
                    found[other] = None
                    waiting.append(other)
    return waiting


def _node(fact: Fact, name: str, explanation: Explanation) -> dict[str, Any]:
    now = explanation.passed.get(fact)
    bound = explanation.bound(fact) if fact in explanation.goals else {}
    return {
        "id": name,
        "text": str(fact),
        "predicate": fact.predicate,
        "values": list(map(typed, fact.values, fact.types)),
        "explicit": fact in explanation.explicit,
        "explained": fact in explanation.derivations or fact in explanation.explicit,
        "more": fact in explanation.cut,
        **({} if now is None else {"passed": str(now)}),
        **({"bound": bound} if bound else {}),
    }


def _step(fact: Fact, step: Step, names: dict[Fact, str]) -> dict[str, Any]:
    return {
        "derives": names[fact],
        "kind": step.kind,
        "rule": step.rule,
        "text": step.text,
        "uses": [names[use] for use in step.uses],
        "absent": list(map(_absent, step.absent)),
        "tests": [{"rule_text": test.rule_text, "text": test.text} for test in step.tests],
        "bindings": list(map(_bound, step.bindings)),
        "groups": [_group(group, names) for group in step.groups],
        "values": [{"variable": name, **typed(value)} for name, value in step.values],
    }


def _absent(absent: Absent) -> dict[str, Any]:
    pairs = zip(absent.values, absent.types, strict=True)
    return {
        "text": str(absent),
        "predicate": absent.predicate,
        "values": [None if v is None or t is None else typed(v, t) for v, t in pairs],
        "names": list(absent.names),
    }


def _bound(bound: Bound) -> dict[str, Any]:
    value = typed(bound.value, bound.type)
    return {"variable": bound.variable, "expression": bound.expression, **value}


def _group(group: Group, names: dict[Fact, str]) -> dict[str, Any]:
    return {
        "variable": group.variable,
        "function": group.function,
        **typed(group.result, group.type),
        "on": [{"variable": name, "text": text} for name, text in group.on],
        "count": group.count,
        "members": [[names[fact] for fact in member] for member in group.members],
    }


def typed(value: Value, type_: Type | None = None) -> dict[str, Any]:
    """A value with its type. What JSON has no numbers for becomes text."""
    type_ = type_ or _type_of(value)
    if isinstance(value, datetime.date):
        return {"type": str(type_), "value": value.isoformat()}
    if isinstance(value, Decimal):
        return {"type": str(type_), "value": written(value)}
    if isinstance(value, float) and not math.isfinite(value):
        text = "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        return {"type": str(type_), "value": text}
    return {"type": str(type_), "value": value}


def _type_of(value: Value) -> Type:
    """The type of a value that comes without one: Python's classes tell them apart."""
    if isinstance(value, bool):
        return Type.BOOL
    if isinstance(value, datetime.datetime):
        return Type.TIMESTAMP
    if isinstance(value, datetime.date):
        return Type.DATE
    if isinstance(value, int):
        return Type.INT
    if isinstance(value, Decimal):
        return Type.DECIMAL
    return Type.FLOAT if isinstance(value, float) else Type.SYMBOL
