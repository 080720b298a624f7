"""MIN and MAX in heads on a cluster: random programs and changes, against plain Python."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from generators.best_programs import SCHEMA, Program, Row, random_facts, random_program
from hypothesis import given, note, settings
from hypothesis import strategies as st
from support import budget
from support.best_values import Endless, meaning

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PROGRAMS = budget.either(ci=2, fuzz=10)
MOST_FACTS = budget.either(ci=6, fuzz=11)


@pytest.mark.fuzz(share=0.5)
@settings(max_examples=PROGRAMS)
@given(seed=st.integers(0, 2**32 - 1))
def test_programs_with_best_values(spark: SparkSession, seed: int) -> None:
    from zodiac_sql.spark import Materialisation, materialise

    rng = Random(seed)
    program = random_program(rng)
    text = "\n".join(map(str, program.rules))
    note(text)
    first, second = (random_facts(rng, program, rng.randint(4, MOST_FACTS)) for _ in range(2))
    try:
        worlds = [meaning(program, program.rules, facts) for facts in (first, second)]
    except Endless:
        return
    found = materialise(spark, text, _frames(spark, program, first), driver_rows=0)
    _assert_equal(found, worlds[0])
    with TemporaryDirectory() as place:
        kept = Materialisation(spark, text, place, driver_rows=0)
        kept.update(_frames(spark, program, first))
        _assert_equal(kept, worlds[0])
        kept.update(_frames(spark, program, second), _frames(spark, program, first))
        _assert_equal(kept, worlds[1])


def test_values_that_get_better_for_ever(spark: SparkSession) -> None:
    from zodiac_sql.errors import EvaluationError
    from zodiac_sql.spark import materialise

    rules = "d(Y, MIN(W)) :- e(0, Y, W). d(Z, MIN(V + W)) :- d(Y, V), e(Y, Z, W)."
    frame = spark.createDataFrame([(0, 1, 1), (1, 1, -1)], ["x", "y", "w"])
    with pytest.raises(EvaluationError, match="better for ever"):
        materialise(spark, rules, {"e": frame})


def _frames(
    spark: SparkSession, program: Program, facts: Mapping[str, frozenset[Row]]
) -> dict[str, DataFrame]:
    number = pa.float64() if isinstance(program.weights[0], float) else pa.int64()
    kinds = {"node": pa.string(), "weight": number}
    frames = {}
    for name, columns in SCHEMA.items():
        values = zip(*facts[name], strict=True) if facts[name] else [()] * len(columns)
        arrays = [pa.array(v, kinds[kind]) for v, kind in zip(values, columns, strict=True)]
        names = [f"c{place}" for place in range(len(columns))]
        frames[name] = spark.createDataFrame(pa.table(arrays, names))
    return frames


def _assert_equal(found: Mapping[str, DataFrame], world: Mapping[str, set[Row]]) -> None:
    for name, rows in world.items():
        ours = {tuple(row) for row in found[name].collect()} if name in found else set()
        assert ours == rows, name
