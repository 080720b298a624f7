"""Random programs over columns of terms of all kinds on a cluster, against plain Python.

To try seeds without pytest:

    python tests/spark/test_spark_mixed_programs.py SEED COUNT
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from generators.mixed_programs import (
    Program,
    State,
    first_change,
    given,
    random_change,
    random_program,
)
from generators.mixed_rules import rule_text
from support import budget
from support.mixed_programs import Row, Violated, extensions
from support.mixed_rows import assert_same_rows
from support.mixed_types import Clash, Types
from support.naive_values import Overflow

from zodiac_sql.errors import ZodiacError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PROGRAMS = budget.either(ci=3, fuzz=6)

ARROW = {
    "symbol": pa.string(), "any": pa.string(), "int": pa.int64(), "decimal": pa.decimal128(38, 18),
    "float": pa.float64(), "bool": pa.bool_(), "date": pa.date32(), "timestamp": pa.timestamp("us"),
}  # fmt: skip


@pytest.mark.fuzz(share=2)
def test_random_programs(spark: SparkSession) -> None:
    chance = Random(budget.seed(557))
    for _ in range(PROGRAMS):
        seed = chance.randrange(2**32)
        try:
            check_program(spark, seed)
        except BaseException as error:
            error.add_note(f"python tests/spark/test_spark_mixed_programs.py {seed}")
            raise
        budget.tried("programs over mixed columns on a cluster")


def check_program(spark: SparkSession, seed: int) -> None:
    """A program that fits is evaluated from scratch, or is followed as its facts change."""
    from zodiac_sql.spark import Materialisation, materialise

    rng = Random(seed)
    program, state = _fitting(rng)
    text = _declarations(state.types) + "\n".join(map(rule_text, state.rules.values()))
    print(text)
    try:
        expected = _expected(state)
    except Overflow:
        with pytest.raises(ZodiacError):
            materialise(spark, text, _frames(spark, state.facts, state.types), driver_rows=0)
        return
    if rng.randrange(2):
        found = materialise(
            spark, text, _frames(spark, state.facts, state.types), driver_rows=rng.choice((0, 0, 5))
        )
        _assert_same(found, expected)
        return
    with TemporaryDirectory() as place:
        kept = Materialisation(spark, text, place, driver_rows=0)
        kept.update(_frames(spark, state.facts, state.types))
        _assert_same(kept, expected)
        after = _changed(rng, program, state)
        come = {n: rows - state.facts.get(n, frozenset()) for n, rows in after.items()}
        go = {n: rows - after.get(n, frozenset()) for n, rows in state.facts.items()}
        kept.update(*(_frames(spark, facts, state.types) for facts in (come, go)))
        _assert_same(kept, extensions([*state.rules.values()], after, state.types))


def _fitting(rng: Random) -> tuple[Program, State]:
    """A program whose facts and rules fit together, and whose constraints hold."""
    while True:
        program = random_program(rng)
        try:
            state = State.empty(program).after(first_change(rng, program), program)
            _expected(state)
        except (Clash, Violated):
            continue
        except Overflow:
            pass
        return program, state


def _changed(rng: Random, program: Program, state: State) -> Mapping[str, frozenset[Row]]:
    """Other facts of the same types, for which all has a value."""
    while True:
        change = random_change(rng, program, state)
        try:
            after = state.after(change, program)
            same = all(
                name not in after.facts or after.types[name] == types
                for name, types in state.types.items()
            )
            if change.add or change.drop or not same:
                continue
            _expected(after)
        except (Clash, Overflow, Violated):
            continue
        return after.facts


def _expected(state: State) -> Mapping[str, Collection[Row]]:
    return extensions([*state.rules.values()], state.facts, state.types)


def _declarations(types: Types) -> str:
    """The types that columns have in the end: frames of texts would not tell them."""
    return "".join(
        f".decl {name}({', '.join(f'c{place}: {kind}' for place, kind in enumerate(kinds))})\n"
        for name, kinds in types.items()
        if None not in kinds
    )


def _frames(
    spark: SparkSession, facts: Mapping[str, Collection[Row]], types: Types
) -> dict[str, DataFrame]:
    found = {}
    for name, rows in facts.items():
        if not rows:
            continue
        columns: list[Any] = [
            pa.array(values, ARROW[kind or "symbol"])
            for values, kind in zip(zip(*given(rows), strict=True), types[name], strict=True)
        ]
        names = [f"c{place}" for place in range(len(columns))]
        found[name] = spark.createDataFrame(pa.table(columns, names))
    return found


def _assert_same(found: Mapping[str, DataFrame], expected: Mapping[str, Collection[Row]]) -> None:
    for name, rows in expected.items():
        there = map(tuple, found[name].collect()) if name in found else []
        assert_same_rows(name, there, rows)


def main(seed: int, count: int) -> None:
    from support.quick_spark import QUICK

    from zodiac_sql.spark import local_session

    spark = local_session(spark__master="local[1]", **QUICK)
    spark.sparkContext.setLogLevel("OFF")
    for number in range(seed, seed + count):
        print(f"% {number}")
        check_program(spark, number)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
