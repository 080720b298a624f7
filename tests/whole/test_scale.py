"""`python -m tests.benchmarks scale`, at a thousandth of its size."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import benchmarks.spark
import pytest
from benchmarks import scale, scale_data, scale_process

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize(
    ("name", "explicit", "derived"),
    [("lubm", 15_861, 4_663), ("closure", 1_740, 215_325), ("joins", 12_000, 110_000)],
)
def test_a_thousandth_is_right(tmp_path: Path, name: str, explicit: int, derived: int) -> None:
    scale_data.write(name, tmp_path, 0.001)
    for engine in (scale_process.OURS, scale_process.SQL):
        told = scale_process.run(engine, name, tmp_path, "300MB")
        assert (told["explicit"], told["derived"]) == (explicit, derived)
        assert told["peak"] > 0 and told["file"] > 0


def test_a_process_of_its_own_tells_it(tmp_path: Path) -> None:
    scale_data.write("joins", tmp_path, 0.00001)
    line = scale.measured(scale_process.SQL, "joins", str(tmp_path), "300MB")
    assert line[:2] == ["120", "1,100"] and len(line) == 9
    again = scale.measured(scale_process.SQL, "joins", str(tmp_path), "300MB")
    assert len(again) == 1 and "already exists" in again[0]


@pytest.mark.parametrize(("name", "derived"), [("closure", "215,325"), ("joins", "1,100")])
def test_another_reasoner_derives_the_same(tmp_path: Path, name: str, derived: str) -> None:
    scale_data.write(name, tmp_path, 0.00001)
    assert scale._by("clingo", name, tmp_path)[1] == derived


def test_spark_derives_the_same(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    benchmarks.spark.report_closure(spark, tmp_path, 1, nodes=benchmarks.spark.FEWEST_NODES)
    printed = capsys.readouterr().out
    assert "PySpark by hand" in printed and "differ" not in printed
