"""Rules that say now(), after ticks of clocks that jump, against a model in plain Python."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from generators.event_streams import START, EventStream, tell
from hypothesis import given, settings
from hypothesis import strategies as st
from support import budget
from support.window_model import Row, WindowModel, seconds

from zodiac_sql import connect

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase
    from zodiac_sql.change.update import Update

DECLARED = """
.decl reading(turbine: symbol, kind: symbol, at: {type}, celsius: float)
turbine(wt1). turbine(wt2). turbine(wt3). turbine(wt4).
link(wt1, wt2). link(wt2, wt3). link(wt3, wt1). link(wt3, wt4).
"""
LINKS = [("wt1", "wt2"), ("wt2", "wt3"), ("wt3", "wt1"), ("wt3", "wt4")]
UNIT = {"timestamp": 15, "date": 43_200}
"""So many seconds stand for one in the rules, where columns are of a type."""

RULES = {
    "young": "young(T, A) :- reading(T, _, A, _), A > add_seconds(now(), -{4}).",
    "between": "between(T) :- reading(T, _, A, C), A <= add_seconds(now(), -{1}), C > 1, "
    "add_seconds(now(), -{6}) < A.",
    "old": "old(T, K) :- reading(T, K, A, _), add_seconds(now(), -{8}) >= A.",
    "many": "many(T, N) :- AGGREGATE(reading(T, K, A, C), A > add_seconds(now(), -{4})) ON T "
    "WITH COUNT(K) AS N.",
    "silent": "silent(T) :- turbine(T), not young(T, _).",
    "hot": "hot(T, A) :- reading(turbine: T, at: A, celsius: C), C > 2.",
    "later": "later(T) :- hot(T, A), A > now().",
    "reach": "reach(X, Y) :- link(X, Y), young(X, _). reach(X, Z) :- reach(X, Y), link(Y, Z).",
    "bucket": 'bucket(T) :- reading(T, _, A, _), A >= time_bucket("{bucket}", now()).',
    "odd": "odd(T) :- reading(T, _, A, _), seconds_between(A, now()) < {2}.",
}
"""The rules of each predicate; those in braces are numbers of units."""

ALWAYS = ("young", "hot")
"""Others read them."""


def texts(type_: str) -> dict[str, str]:
    unit = UNIT[type_]
    bucket = "1 minute" if type_ == "timestamp" else "1 day"
    found = {}
    for name, text in RULES.items():
        for n in (1, 2, 4, 6, 8):
            text = text.replace(f"{{{n}}}", str(n * unit))
        found[name] = text.replace("{bucket}", bucket)
    return found


def derived(facts: set[Row], clock: Fraction, type_: str) -> dict[str, set[Row]]:
    """What the rules derive, in plain Python."""
    unit = UNIT[type_]
    rows = [(*row, clock - time) for row in facts if (time := seconds(row[2])) is not None]
    young = {(t, at) for t, _, at, _, age in rows if age < 4 * unit}
    many = Counter(t for t, *_, age in rows if age < 4 * unit)
    reach = {(x, y) for x, y in LINKS if any(x == t for t, _ in young)}
    while more := {(x, z) for x, y in reach for u, z in LINKS if y == u} - reach:
        reach |= more
    begin = clock - clock % (60 if type_ == "timestamp" else 86_400)
    return {
        "young": young,
        "between": {(t,) for t, _, _, c, age in rows if unit <= age < 6 * unit and c > 1},
        "old": {(t, k) for t, k, _, _, age in rows if age >= 8 * unit},
        "many": set(many.items()),
        "silent": {(f"wt{n}",) for n in range(1, 5) if not any(f"wt{n}" == t for t, _ in young)},
        "hot": {(t, at) for t, _, at, c, _ in rows if c > 2},
        "later": {(t,) for t, _, _, c, age in rows if c > 2 and age < 0},
        "reach": reach,
        "bucket": {(t,) for t, *_, age in rows if clock - age >= begin},
        "odd": {(t,) for t, *_, age in rows if age < 2 * unit},
    }


def turn(update: Update, there: set[str], chance: Random, rules: dict[str, str]) -> None:
    """Let the rules of a predicate come or go."""
    name = chance.choice([name for name in RULES if name not in ALWAYS])
    if name in there:
        update.drop_rules(rules[name])
        there.remove(name)
    else:
        update.add_rules(rules[name])
        there.add(name)


def run(open_: Callable[[], KnowledgeBase], chance: Random, type_: str, number: int) -> None:
    model, kb, rules = WindowModel(), open_(), texts(type_)
    there = {*ALWAYS, *chance.sample([*RULES], 5)}
    kb.add_rules(DECLARED.format(type=type_))
    model.change(now=START)
    kb.tick(START)
    kb.add_rules("\n".join(rules[name] for name in sorted(there)))
    for step in EventStream(chance, type_).steps(number):
        if step.kind == "reopen":
            kb.close()
            kb = open_()
            if chance.random() < 0.5:  # before anything else has told the connection the time
                assert kb.verify()
            continue
        assert model.clock is not None
        before = derived(model.facts, model.clock, type_)
        after = WindowModel(list(model.windows), set(model.facts), model.clock, dict(model.seen))
        after.change(step.inserts, step.deletes, step.now, step.windows)
        assert after.clock is not None
        expected, was = derived(after.facts, after.clock, type_), set(there)
        with (kb.preview if step.kind == "preview" else kb.update)() as update:
            tell(update, step)
            if step.kind != "preview" and chance.random() < 0.15:
                turn(update, there, chance, rules)
        change, clock = update.change, after.clock - model.clock
        for name in there & was:
            found = change.inserted.get(name, 0), change.deleted.get(name, 0)
            come, gone = expected[name] - before[name], before[name] - expected[name]
            assert found == (len(come), len(gone)), (name, step, clock)
        if step.kind == "preview":
            expected = before
            if chance.random() < 0.3:
                assert kb.verify()
        else:
            model = after
            why(update, before, expected, there & was, chance)
        for name in there:
            assert set(kb.table(name).fetchall()) == expected[name], (name, step)
        budget.tried("events", len(step.inserts) + len(step.deletes))
    assert model.clock is not None
    asked = kb.query("reading(T, K, A, C), A > now()").fetchall()
    assert {row[:4] for row in asked} == {r for r in model.facts if seconds(r[2]) > model.clock}
    with kb.reader() as reader:
        found = reader.verify()
    assert found, found
    kb.close()


def why(
    update: Update,
    before: dict[str, set[Row]],
    after: dict[str, set[Row]],
    names: set[str],
    chance: Random,
) -> None:
    """The reason why a fact has moved goes back to something, if only to the clock."""
    moved = [
        f"{name}({', '.join(map(written, row))})"
        for name in sorted(names)
        for row in sorted(before[name] ^ after[name], key=repr)
    ]
    if moved:
        assert update.change.why(chance.choice(moved)).causes


def written(value: object) -> str:
    if isinstance(value, datetime.date):
        xsd = "dateTime" if isinstance(value, datetime.datetime) else "date"
        return f'"{value.isoformat()}"^^xsd:{xsd}'
    return str(value)


@pytest.mark.parametrize("type_", UNIT)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=settings().max_examples, deadline=None)
def test_now_is_as_the_model(type_: str, seed: int) -> None:
    with TemporaryDirectory() as folder:
        path = str(Path(folder, "n.duckdb"))
        run(lambda: connect(path), Random(seed), type_, 12)
