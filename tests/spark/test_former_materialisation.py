"""A materialisation of a version for which `_` told no solutions of an aggregate apart."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.spark_data import frame

from zodiac_sql import OtherMeaningWarning

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RULES = """
usual: usual(X, M) :- AGGREGATE(reading(X, T, _)) ON X WITH AVG(DISTINCT T) AS M.
warm: warm(X) :- usual(X, M), M > 22.0.
highest: highest(X, H) :- AGGREGATE(reading(X, T, _)) ON X WITH MAX(T) AS H.
"""
READINGS = [("wt1", 10, 1), ("wt1", 10, 2), ("wt1", 40, 3), ("wt2", 7, 1)]


@pytest.mark.parametrize("driver_rows", [0, 1_000])
def test_aggregates_are_evaluated_anew(
    spark: SparkSession, tmp_path: Path, driver_rows: int
) -> None:
    from zodiac_sql.spark import Materialisation

    place = tmp_path / "kept"
    kept = Materialisation(spark, RULES, place, driver_rows=driver_rows)
    kept.update({"reading": frame(spark, READINGS)})
    newest = place / "versions" / "000000000002.json"
    text = newest.read_text().replace("DISTINCT ", "")  # what it meant then
    newest.write_text(json.dumps({**json.loads(text), "format": 1}))
    for _ in range(2):
        with pytest.warns(OtherMeaningWarning, match="something else now: usual. "):
            kept = Materialisation(spark, None, place, driver_rows=driver_rows)
        assert set(kept["warm"].collect()) == {("wt1",)}
    change = kept.update({"turbine": frame(spark, [("wt1",)])})
    assert change.hypernodes.keys() == {"usual", "warm"}
    if not driver_rows:
        assert change.hypernodes["usual"] == "from scratch"
    assert set(kept["usual"].collect()) == {("wt1", 20.0), ("wt2", 7.0)}
    assert not kept["warm"].collect()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kept = Materialisation(spark, None, place, driver_rows=driver_rows)
    assert set(kept["highest"].collect()) == {("wt1", 40), ("wt2", 7)}
