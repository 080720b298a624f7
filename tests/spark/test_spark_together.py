"""Devices that are evaluated together have what each of them has by itself. No session needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from generators.drawn_programs import programs
from generators.programs import Facts, Kind, Program, program_text
from hypothesis import given, note, settings
from support import budget

pytest.importorskip("pyspark")

from zodiac_sql import ConstraintError
from zodiac_sql.language.syntax import Column, Type

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from zodiac_sql import KnowledgeBase
    from zodiac_sql.spark.together import JoinedProgram

OpenKb = Callable[..., "KnowledgeBase"]


def together(text: str, columns: dict[str, tuple[Column, ...]]) -> JoinedProgram:
    from zodiac_sql.spark.device_facts import Input
    from zodiac_sql.spark.planning import plan_texts
    from zodiac_sql.spark.together import JoinedProgram

    planned = plan_texts([(text, "<rules>")], columns)
    inputs = tuple(Input(name, name, known) for name, known in columns.items())
    return JoinedProgram.of(planned, inputs, (), planned.derived, None)


def found(
    program: JoinedProgram, columns: dict[str, tuple[Column, ...]], devices: dict[str, Facts]
) -> dict[tuple[str, str], set[tuple[object, ...]]]:
    """The facts by device and predicate."""
    names = [f"zodiac$facts_{number}" for number in range(len(columns))]
    rows = [
        (device, *(dict(zip((c.name for c in known), row, strict=True)) if p == name else None
                   for p, known in columns.items()))
        for device, facts in devices.items()
        for name, some in facts.items()
        for row in some
    ]  # fmt: skip
    rows += [(device, *(None for _ in names)) for device in devices]
    rows.sort(key=lambda row: row[0])
    kinds = {Type.SYMBOL: pa.string(), Type.INT: pa.int64()}
    schema = pa.schema(
        [
            ("device", pa.string()),
            *(
                (n, pa.struct([(c.name, kinds[c.type or Type.SYMBOL]) for c in known]))
                for n, known in zip(names, columns.values(), strict=True)
            ),
        ]
    )
    table = pa.table([list(c) for c in zip(*rows, strict=True)], schema=schema)
    told: dict[tuple[str, str], set[tuple[object, ...]]] = {}
    for name, facts in program.on(table["device"], table).items():
        for device, *values in zip(*(c.to_pylist() for c in facts.columns), strict=True):
            told.setdefault((device, name), set()).add(tuple(values))
    return told


@settings(max_examples=budget.either(ci=5, fuzz=10))
@given(program=programs())
def test_random_programs(open_kb: OpenKb, program: Program) -> None:
    """One device has all facts, one every second one, one none; facts in texts hold for all."""
    facts = {p: sorted(rows, key=repr) for p, rows in program.facts.items() if rows != {()}}
    written = {p: rows for p, rows in program.facts.items() if p not in facts}
    text = program_text(program.rules, written, program.style)
    note(text)
    columns = {
        p.name: tuple(
            Column(f"c{n}", Type.SYMBOL if kind is Kind.SYMBOL else Type.INT)
            for n, kind in enumerate(p.kinds)
        )
        for p in program.schema
        if p.name in facts
    }
    devices = {
        "<a>": {p: frozenset(rows) for p, rows in facts.items()},
        "b": {p: frozenset(rows[::2]) for p, rows in facts.items()},
        "c": {},
    }
    evaluated = together(text, columns)
    ours = found(evaluated, columns, devices)
    for device, own in devices.items():
        with open_kb() as kb:
            kb.add_rules(text)
            for predicate, rows in own.items():
                kb.insert(predicate, sorted(rows, key=repr))
            known = kb.predicates()["predicate"].to_pylist()
            for predicate in evaluated.predicates:
                theirs = set(kb.table(predicate).fetchall()) if predicate in known else set()
                theirs = {row or (True,) for row in theirs}
                assert ours.get((device, predicate), set()) == theirs, (device, predicate)


def test_what_random_programs_have_not() -> None:
    """Best values, counts of nothing, alternatives and constraints."""
    columns = {"e": tuple(Column(n, Type.INT) for n in ("x", "y", "w"))}
    rules = """
        d(Y, MIN(W)) :- e(0, Y, W). d(Z, MIN(V + W)) :- d(Y, V), e(Y, Z, W).
        n(N) :- AGGREGATE(e(X, Y, W)) WITH COUNT(Y) AS N.
        k(X, N) :- node(X), AGGREGATE(e(X, Y, W)) ON X WITH COUNT(Y) AS N ELSE 0.
        node(X) :- e(X, _, _) ; e(_, X, _). device(7).
        c: !- e(X, X, _), X > 8.
    """
    program = together(rules, columns)
    devices: dict[str, Facts] = {
        "a": {"e": frozenset({(0, 1, 5), (0, 2, 1), (2, 1, 1)})},
        "b": {"e": frozenset({(3, 4, 1)})},
    }
    told = found(program, columns, devices)
    assert told["a", "d"] == {(1, 2), (2, 1)} and ("b", "d") not in told
    assert told["a", "n"] == {(3,)} and told["b", "k"] == {(3, 1), (4, 0)}
    devices["b"] = {"e": frozenset({(9, 9, 1)})}
    with pytest.raises(ConstraintError):
        found(program, columns, devices)


def test_devices_are_not_torn_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    from zodiac_sql.spark import together

    monkeypatch.setattr(together, "ROWS", 4)
    rows = ["a"] * 3 + ["b"] * 9 + ["c"] + ["d"] * 2
    batches = [pa.record_batch([rows[n : n + 2]], ["by"]) for n in range(0, len(rows), 2)]
    groups = [devices.to_pylist() for devices, _ in together.groups(iter(batches), "by")]
    assert [row for group in groups for row in group] == rows
    assert len(groups) > 1 and all(
        set(one).isdisjoint(other) for i, one in enumerate(groups) for other in groups[:i]
    )
    assert [list(run) for run in together.runs(pa.chunked_array([["x", "x", "y"]]))] == [
        [0, 1],
        [2],
    ]


def test_a_failing_device_does_not_hold_up_the_others(
    spark: SparkSession,
) -> None:
    """Halves of a group that do not fail are evaluated together."""
    from zodiac_sql.spark import devices
    from zodiac_sql.spark.answers import AnswerColumns

    names = [f"t{n:03}" for n in range(100)]
    facts = pa.table({"turbine": names, "n": list(range(100))})
    sizes: list[int] = []
    one_by_one: list[str] = []

    class Some:
        def on(self, some: pa.ChunkedArray, _: pa.Table) -> dict[str, pa.Table]:
            sizes.append(len(some))
            if "t070" in some.to_pylist():
                raise ConstraintError([])
            return {}

    def alone(key: tuple[pa.Scalar, ...], _: pa.Table) -> pa.Table:
        one_by_one.append(key[0].as_py())
        return facts.slice(0, 0)

    answer = AnswerColumns.of(spark, Column("turbine", Type.SYMBOL), [])
    work = devices.in_groups(Some(), alone, answer, "turbine", None)  # type: ignore[arg-type]
    list(work(iter(facts.to_batches())))
    assert "t070" in one_by_one and len(one_by_one) <= 8
    assert sizes[0] == 100 and len(sizes) < 12
