"""Rows of a program: which columns, by what names, what of empty cells; and tables without rows."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from zodiac_sql import DataError, KnowledgeBase

OpenKb = Callable[..., KnowledgeBase]

TABLE = pa.table({"id": ["wt1", "wt2", None], "temp": [20.5, None, 3.25], "site": ["x", "y", "z"]})


def forms(table: pa.Table) -> dict[str, object]:
    """The same rows as everything that is accepted, but for tuples."""
    return {
        "arrow": table,
        "pieces": pa.concat_tables([table.slice(0, 1), table.slice(1)]),
        "stream": table.to_reader(),
        "pandas": table.to_pandas(),
        "polars": pl.from_arrow(table),
        "duckdb": duckdb.connect().from_arrow(table),
    }


FORMS = tuple(forms(TABLE))


def facts(kb: KnowledgeBase, predicate: str = "p") -> list[tuple[Any, ...]]:
    return sorted(kb.table(predicate).fetchall())


@pytest.mark.parametrize("form", FORMS)
def test_empty_cells(open_kb: OpenKb, form: str) -> None:
    with open_kb() as kb:
        with pytest.raises(DataError, match="column temp is empty .* by hand or by `nulls`"):
            kb.insert("p", forms(TABLE)[form])
        change = kb.insert("p", forms(TABLE)[form], nulls="skip-row")
        assert facts(kb) == [("wt1", 20.5, "x")]
        assert change.notes == ("p: 2 rows were left out, because a cell is empty",)
        kb.insert("q", forms(TABLE)[form], nulls={"temp": 0.5, "id": "none"})
        assert facts(kb, "q") == [("none", 3.25, "z"), ("wt1", 20.5, "x"), ("wt2", 0.5, "y")]
        with pytest.raises(DataError, match="column id is empty"):
            kb.insert("r", forms(TABLE)[form], nulls={"temp": 0.5})
        with pytest.raises(DataError, match="r: the table has no column nothing. It has id, temp"):
            kb.insert("r", forms(TABLE)[form], nulls={"nothing": 1})
        with pytest.raises(DataError, match="temp has the type double, and 'hot' is none of its"):
            kb.insert("r", forms(TABLE)[form], nulls={"temp": "hot"})
        with pytest.raises(DataError, match="skip-row"):
            kb.insert("r", forms(TABLE)[form], nulls="skip")
        assert kb.delete("p", forms(TABLE)[form], nulls="skip-row").deleted == {"p": 1}
        assert kb.delete("q", forms(TABLE)[form], nulls={"temp": 0.5, "id": "none"}).deleted == {
            "q": 3
        }


@pytest.mark.parametrize("form", FORMS)
def test_columns_are_chosen_and_renamed(open_kb: OpenKb, form: str) -> None:
    with open_kb() as kb:
        kb.insert("p", forms(TABLE)[form], columns=["site"])
        assert facts(kb) == [("x",), ("y",), ("z",)] and kb.table("p").column_names == ["site"]
        kb.insert("q", forms(TABLE)[form], columns={"site": "id", "id": "site"}, nulls="skip-row")
        assert kb.table("q").column_names == ["id", "site"]
        assert facts(kb, "q") == [("x", "wt1"), ("y", "wt2")]
        kb.add_rules(".decl r(place: symbol, celsius: float)")
        wanted: dict[str, Any] = {
            "columns": {"temp": "celsius", "site": "place"}, "nulls": {"celsius": 1},
        }  # fmt: skip
        kb.insert("r", forms(TABLE)[form], **wanted)
        assert facts(kb, "r") == [("x", 20.5), ("y", 1.0), ("z", 3.25)]
        kb.replace("r", forms(TABLE.slice(0, 1))[form], **wanted)
        assert facts(kb, "r") == [("x", 20.5)]
        with kb.preview() as preview:
            preview.insert("r", forms(TABLE)[form], **wanted)
        assert preview.change.inserted == {"r": 2}
        with pytest.raises(DataError, match="s: the table has no column Temp. It has id, temp, si"):
            kb.insert("s", forms(TABLE)[form], columns=["Temp"])
        for wrong in ("site", [], {"id": "A", "site": "a"}):
            with pytest.raises(DataError, match="columns"):
                kb.insert("s", forms(TABLE)[form], columns=wrong)
        assert "s" not in kb.predicates()["predicate"].to_pylist()


def test_tuples(open_kb: OpenKb) -> None:
    """As in CSV without a header, `columns` names all columns in order."""
    rows = [("wt1", 20.5), ("wt2", None), (None, 3.25)]
    with open_kb() as kb:
        kb.insert("p", rows, columns=["turbine", "celsius"], nulls="skip-row")
        assert kb.table("p").column_names == ["turbine", "celsius"]
        assert facts(kb) == [("wt1", 20.5)]
        kb.insert("p", [(7.5, "wt9")], columns={"a": "celsius", "b": "turbine"})
        assert facts(kb) == [("wt1", 20.5), ("wt9", 7.5)]
        change = kb.insert("p", rows, nulls={"celsius": 0.0, "turbine": "none"})
        assert facts(kb)[0] == ("none", 3.25) and change.inserted == {"p": 2}
        assert kb.delete("p", rows, nulls={"celsius": 0.0, "turbine": "none"}).deleted == {"p": 3}
        kb.insert("q", rows, nulls={"s": "none", "o": 1})
        assert facts(kb, "q") == [("none", 3.25), ("wt1", 20.5), ("wt2", 1.0)]
        with pytest.raises(DataError, match="row 1 has 2 values, and 1 columns are named"):
            kb.insert("r", rows, columns=["turbine"])
        with pytest.raises(DataError, match="r: the table has no column t. It has s, o"):
            kb.insert("r", rows, nulls={"t": 1})
        with pytest.raises(DataError, match="column turbine is empty .None. in row 3"):
            kb.insert("r", rows, columns=["turbine", "celsius"])
        days = [(pd.NaT,), (dt.datetime(2026, 1, 31),), (pd.NA,)]
        change = kb.insert("day", days, nulls="skip-row")
        assert change.inserted == {"day": 1} and "day: 2 rows were left out" in change.notes[0]
        kb.insert("none", [(None, None)], nulls="skip-row", columns=["a", "b"])
        assert kb.table("none").column_names == ["a", "b"] and facts(kb, "none") == []
        assert kb.verify()


def test_what_pandas_says(open_kb: OpenKb) -> None:
    frame = pd.DataFrame({"n": [1.0, None], "kind": pd.Categorical(["a", None])})
    frame = frame.rename_axis("place").set_index(pd.Index([7, 8], name="day"), append=True)
    with open_kb() as kb:
        kb.insert("p", frame, columns=["day", "kind", "n"], nulls={"n": 2, "kind": "b"})
        assert facts(kb) == [(7, "a", 1.0), (8, "b", 2.0)]
        kb.insert("q", pd.DataFrame([(1, None)]), columns={"0": "a", "1": "b"}, nulls={"b": 5})
        assert facts(kb, "q") == [(1, 5)] and kb.table("q").column_names == ["a", "b"]


def test_columns_without_values(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        kb.insert("p", pa.table({"a": [1, 2], "b": pa.nulls(2)}), nulls={"b": "x"})
        assert facts(kb) == [(1, "x"), (2, "x")]
        kb.insert("p", pa.table({"a": [3], "b": pa.nulls(1)}), nulls="skip-row")
        assert len(facts(kb)) == 2


@pytest.mark.parametrize("form", FORMS)
def test_a_table_without_rows_creates_its_predicate(open_kb: OpenKb, form: str) -> None:
    nothing = TABLE.slice(0, 0)
    with open_kb() as kb:
        change = kb.insert("p", forms(nothing)[form])
        assert change.inserted == {} and kb.table("p").column_names == ["id", "temp", "site"]
        kb.add_rules("hot(X) :- p(id: X, temp: T), T > 20.")
        kb.insert("p", TABLE.slice(0, 1))
        assert facts(kb, "hot") == [("wt1",)]
        kb.delete("p", TABLE.slice(0, 1))
        assert facts(kb) == []
        kb.insert("q", forms(TABLE)[form], columns=["id", "temp"], nulls={"id": "none", "temp": 1})
        kb.replace("q", forms(nothing)[form], columns=["id", "temp"])
        assert facts(kb, "q") == [] and kb.table("q").column_names == ["id", "temp"]
        (change,) = kb.stream([{"insert": {"r": forms(nothing)[form]}}])
        assert facts(kb, "r") == []
        kb.delete("s", forms(nothing)[form])
        assert "s" not in kb.predicates()["predicate"].to_pylist() and kb.verify()


def test_lists_without_tuples(open_kb: OpenKb) -> None:
    """They say nothing of columns, unless these are named."""
    with open_kb() as kb:
        kb.insert("p", [])
        kb.add_rules("q(X) :- p(X).")
        kb.insert("p", [])
        kb.drop_rules("r1")
        assert kb.predicates().num_rows == 0
        kb.insert("p", [], columns=["turbine", "celsius"])
        kb.insert("q", pd.DataFrame(columns=["a", "b"]))
        shown = kb.predicates()["columns"].to_pylist()
        assert shown == ["turbine: open, celsius: open", "a: open, b: open"]
        kb.insert("p", [("wt1", 20.5)])
        assert facts(kb) == [("wt1", 20.5)]


def test_nothing_makes_a_column_of_facts_strict(open_kb: OpenKb, tmp_path: Any) -> None:
    """A predicate that has facts is there: what has no rows says nothing new."""
    (tmp_path / "p.csv").write_text("n\n")
    with open_kb() as kb:
        kb.insert("p", [(1,)], columns=["n"])
        kb.load(tmp_path / "p.csv")
        kb.insert("p", pa.table({"n": pa.array([], pa.int64())}))
        kb.insert("p", [(1.5,)])
        assert facts(kb) == [(1.0,), (1.5,)]


def test_arguments_that_do_not_fit(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        with pytest.raises(TypeError, match="no argument 'column' here; did you mean columns"):
            kb.insert("p", TABLE, column=["id"])  # type: ignore[call-arg]
        with pytest.raises(TypeError, match="no argument 'header' here"):
            kb.delete("p", TABLE, header=False)  # type: ignore[call-arg]
        with pytest.raises(DataError, match='columns="read" is for files'):
            kb.insert("p", TABLE, columns="read")
        with pytest.raises(DataError, match="the columns a and A have the same name"):
            kb.insert("p", pa.table({"a": [1], "A": [2]}), nulls="skip-row")
        kb.insert("p", pa.table({"a": [1], "A": [2]}), columns=["A"])
        with pytest.raises(DataError, match="two columns called a"):
            two = pa.table([pa.array([1]), pa.array([2])], names=["a", "a"])
            kb.insert("p", two, columns=["a"])
        assert facts(kb) == [(2,)]


def test_an_update_that_fails_changes_nothing(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        with pytest.raises(DataError, match="empty"), kb.update() as update:
            update.insert("q", TABLE.slice(0, 0))
            update.insert("p", TABLE, columns=["site"])
            update.insert("p", TABLE, columns=["id"])
        assert kb.predicates().num_rows == 0
