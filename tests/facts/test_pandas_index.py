"""What tells rows of a data frame apart may be its index: one with a name is a column."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from zodiac_sql import DataError, KnowledgeBase

OpenKb = Callable[..., KnowledgeBase]

READINGS = pd.DataFrame(
    {"turbine": ["wt1", "wt1", "wt2"], "day": [1, 2, 1], "celsius": [1.5, 1.5, 3.0]}
)
TOTALS = READINGS.groupby("turbine")[["celsius"]].sum()  # wt1 3.0, wt2 3.0


def facts(kb: KnowledgeBase, predicate: str) -> tuple[list[str], list[Any]]:
    table = kb.table(predicate)
    return [field.name for field in table.arrow().schema], sorted(table.fetchall())


@pytest.mark.parametrize(
    ("frame", "columns", "rows"),
    [
        (TOTALS, ["turbine", "celsius"], [("wt1", 3.0), ("wt2", 3.0)]),
        (
            READINGS.set_index(["turbine", "day"]),
            ["turbine", "day", "celsius"],
            [("wt1", 1, 1.5), ("wt1", 2, 1.5), ("wt2", 1, 3.0)],
        ),
        (READINGS[["celsius"]].rename_axis("n"), ["n", "celsius"], [(0, 1.5), (1, 1.5), (2, 3.0)]),
        (TOTALS[[]], ["turbine"], [("wt1",), ("wt2",)]),
        (READINGS[["celsius"]], ["celsius"], [(1.5,), (3.0,)]),
        (READINGS[["celsius"]].loc[[1, 2]], ["celsius"], [(1.5,), (3.0,)]),
        (READINGS[["celsius"]].sort_values("celsius"), ["celsius"], [(1.5,), (3.0,)]),
        (
            READINGS[["celsius"]].set_index(pd.Index([0, 1, 2], dtype=object)),
            ["celsius"],
            [(1.5,), (3.0,)],
        ),
    ],
)
def test_an_index_with_a_name_is_a_column(
    frame: pd.DataFrame, columns: list[str], rows: list[Any], open_kb: OpenKb, tmp_path: Path
) -> None:
    with open_kb() as kb:
        assert kb.insert("p", frame).notes == ()
        assert facts(kb, "p") == (columns, rows)
        assert kb.delete("p", frame[:1]).deleted == {"p": 1}
        with kb.update() as update:
            update.insert("p", frame)
        assert facts(kb, "p") == (columns, rows)
        (change,) = kb.stream([{"delete": {"p": frame}}])
        assert change.deleted == {"p": len(rows)}
        kb.replace("p", frame)
        assert facts(kb, "p") == (columns, rows)
        for given in (pa.Table.from_pandas(frame), pl.from_pandas(frame.reset_index())):
            if given.shape[1] == len(columns):
                assert kb.insert("p", given).inserted == {}
        if list(frame.columns):
            frame.to_parquet(tmp_path / "p.parquet", index=True)
            read = pq.read_schema(tmp_path / "p.parquet").names
            if set(columns) <= set(read):  # a range is kept as numbers of rows
                assert kb.load(tmp_path / "p.parquet").inserted == {}


@pytest.mark.parametrize(
    ("series", "columns", "rows"),
    [
        (TOTALS["celsius"], ["turbine", "celsius"], [("wt1", 3.0), ("wt2", 3.0)]),
        (READINGS.groupby("turbine").size(), ["turbine", "value"], [("wt1", 2), ("wt2", 1)]),
        (
            READINGS.groupby(["turbine", "day"])["celsius"].max(),
            ["turbine", "day", "celsius"],
            [("wt1", 1, 1.5), ("wt1", 2, 1.5), ("wt2", 1, 3.0)],
        ),
        (READINGS["celsius"], ["celsius"], [(1.5,), (3.0,)]),
        (READINGS["turbine"].loc[[2, 1]], ["turbine"], [("wt1",), ("wt2",)]),
        (pd.Series([3, 4]), ["s"], [(3,), (4,)]),
        (pd.Series([(3, 4), (4, 5)]), ["s", "o"], [(3, 4), (4, 5)]),
    ],
)
def test_a_series_is_a_frame_with_one_column(
    series: Any, columns: list[str], rows: list[Any], open_kb: OpenKb
) -> None:
    with open_kb() as kb:
        kb.insert("p", series)
        assert facts(kb, "p") == (columns, rows)
        assert kb.delete("p", series[:1]).deleted == {"p": 1}
        kb.replace("p", series)
        assert facts(kb, "p") == (columns, rows)
        (change,) = kb.stream([{"delete": {"p": series}}])
        assert change.deleted == {"p": len(rows)}


@pytest.mark.parametrize("dtype", ["int64", "object", "Int64", "float32", "category"])
@pytest.mark.parametrize("levels", [["day"], ["day", "turbine"], ["n", "day"]])
def test_an_index_that_is_a_column_too_counts_once(
    levels: list[str], dtype: str, open_kb: OpenKb
) -> None:
    """set_index(drop=False) leaves the column where it is."""
    frame = READINGS.astype({"day": dtype}).assign(n=[7, 8, 9])
    with open_kb() as kb:
        kb.insert("plain", frame)
        kb.insert("p", frame.set_index(levels, drop=False))
        assert facts(kb, "p") == facts(kb, "plain")
        kb.insert("q", frame.set_index(levels, drop=False).drop(columns="n"))
        columns = ["n"] * ("n" in levels) + ["turbine", "day", "celsius"]
        assert facts(kb, "q")[0] == columns


def test_what_pandas_makes_of_row_numbers_is_no_column(open_kb: OpenKb, tmp_path: Path) -> None:
    table = pa.Table.from_pandas(READINGS.loc[[1, 2]])
    assert table.column_names[-1] == "__index_level_0__"
    pq.write_table(table, tmp_path / "parquet.parquet")
    with open_kb() as kb:
        kb.insert("table", table)
        kb.insert("stream", table.to_reader())
        kb.insert("polars", pl.from_arrow(table))
        kb.load(tmp_path / "parquet.parquet")
        for name in ("table", "stream", "polars", "parquet"):
            expected = (["turbine", "day", "celsius"], [("wt1", 2, 1.5), ("wt2", 1, 3.0)])
            assert facts(kb, name) == expected


def test_a_predicate_that_has_such_a_column_keeps_it(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        kb.add_rules(".decl p(`__index_level_0__`: int, celsius: float)")
        table = pa.Table.from_pandas(READINGS[["celsius"]].loc[[1, 2]])
        kb.insert("p", table)
        assert sorted(kb.table("p")) == [(1, 1.5), (2, 3.0)]


@pytest.mark.parametrize(
    "frame",
    [
        TOTALS.rename_axis(None),
        READINGS.set_index(pd.date_range("2024-01-01", periods=3)),
        READINGS.set_index(["turbine", "day"]).rename_axis([None, "day"]),
    ],
)
def test_an_index_without_a_name_that_counts_no_rows_is_refused(
    frame: pd.DataFrame, open_kb: OpenKb
) -> None:
    with open_kb() as kb:
        with pytest.raises(DataError, match=r"p: the index of the data frame has no name, and hol"):
            kb.insert("p", frame)
        with pytest.raises(DataError, match=r"p: __index_level_0__ was the index of a data frame"):
            kb.insert("p", pa.Table.from_pandas(frame))


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "p: two columns are called 'a'. Rename one."),
        (
            READINGS.set_index("celsius").rename_axis("day"),
            "p: the index and a column are both called 'day', and differ. Leave the index out, fra",
        ),
        (
            pd.DataFrame({"a": [1]}, index=pd.Index([None], dtype=object)),
            "has no name, and holds N",
        ),
        (
            pd.DataFrame({"s": pd.arrays.SparseArray([0, 0, 1])}),
            "p: column s has the type Sparse[int64, 0]. Make it dense: frame[..].sparse.to_den",
        ),
        (TOTALS["celsius"].rename_axis(None), "p: the index of the data frame has no name, and"),
        (TOTALS["celsius"].rename("turbine"), "p: the index and a column are both called 'turbine"),
        (pd.DataFrame({"z": [1j]}), "p: column z has the type complex128. A fact's column holds"),
        (pd.DataFrame({"z": [1, object()]}), "p: column z"),
        (pd.DataFrame({"\ud800": [1]}), "p: the name of column '\\ud800' holds half of a surrogat"),
        (pd.DataFrame({"a": ["\ud800"]}), "p: column 'a' holds half of a surrogate pair"),
    ],
)
def test_what_pandas_or_arrow_refuse_is_told_with_what_would_be_right(
    frame: pd.DataFrame, said: str, open_kb: OpenKb
) -> None:
    with open_kb() as kb, pytest.raises(DataError, match=re.escape(said)):
        kb.insert("p", frame)


def test_names_of_several_levels_are_joined(open_kb: OpenKb) -> None:
    """As agg makes them: rules can name the columns."""
    frame = pd.DataFrame({"turbine": ["a", "a", "b"], "celsius": [1, 2, 3]})
    grouped = frame.groupby("turbine").agg({"celsius": ["min", "max"]})
    with open_kb() as kb:
        for name, rows in (("p", grouped), ("q", grouped.reset_index())):
            kb.insert(name, rows)
            assert kb.table(name).column_names == ["turbine", "celsius_min", "celsius_max"]
            assert sorted(kb.table(name).fetchall()) == [("a", 1, 2), ("b", 3, 3)]
        kb.add_rules("wide(X) :- p(turbine: X, celsius_min: A, celsius_max: B), A < B.")
        assert kb.table("wide").fetchall() == [("a",)]
        kb.add_rules(".decl r(t: symbol, a: int, b: int).")
        kb.insert("r", grouped)
        assert kb.table("r").num_rows == 2
        kb.insert("s", grouped, columns={"turbine": "t", "celsius_max": "m"})
        assert kb.table("s").column_names == ["t", "m"]
    assert grouped.columns.nlevels == 2, "the frame is as it was"


def test_names_that_are_one_when_joined(open_kb: OpenKb) -> None:
    frame = pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "b_c"), ("a_b", "c")]))
    with open_kb() as kb, pytest.raises(DataError, match="two columns are called 'a_b_c'"):
        kb.insert("p", frame)
