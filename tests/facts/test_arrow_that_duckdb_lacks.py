"""Arrow types that DuckDB fails to read, and what is said of types that no fact's column holds."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from zodiac_sql import DataError, KnowledgeBase

OpenKb = Callable[..., KnowledgeBase]

OBJECTS = pa.array([{"a": 1}, {"a": 2}])
LISTS = pa.array([[1, 2], [3]])
UNION = pa.UnionArray.from_dense(
    pa.array([0, 1], pa.int8()), pa.array([0, 0], pa.int32()), [pa.array([1]), pa.array(["a"])]
)
HUNDREDS = pa.array([100, 2500], pa.decimal128(5, -2))


def dictionary(values: pa.Array) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array([0, 1]), values)


def runs(values: pa.Array) -> pa.Array:
    return pa.RunEndEncodedArray.from_arrays([1, 2], values)


REFUSED: dict[str, tuple[pa.Array, str, str]] = {
    "a dictionary of objects": (dictionary(OBJECTS), "STRUCT(a BIGINT)", "of an object"),
    "runs of objects": (runs(OBJECTS), "STRUCT(a BIGINT)", "of an object"),
    "a dictionary of lists": (dictionary(LISTS), "BIGINT[]", 'explode="tags"'),
    "runs of lists": (runs(LISTS), "BIGINT[]", 'explode="tags"'),
    "a union": (UNION, "dense_union<0: int64=0, 1: string=1>", "a column of its own"),
    "lists of a union": (
        pa.ListArray.from_arrays([0, 1, 2], UNION),
        "list<item: dense_union<0: int64=0, 1: string=1>>", "",
    ),
    "lists of hundreds": (
        pa.ListArray.from_arrays([0, 1, 2], HUNDREDS), "list<item: decimal128(5, -2)>", "",
    ),
    "a map": (
        pa.array([[("a", 1)], []], pa.map_(pa.string(), pa.int64())), "MAP(VARCHAR, BIGINT)", "map",
    ),
    "bytes": (pa.array([b"x", b"y"]), "BLOB", "decoded"),
    "times of day": (pa.array([1, 2], pa.time32("s")), "TIME", "text, or a number of seconds"),
    "durations": (pa.array([1, 2], pa.duration("s")), "INTERVAL", "a number of seconds"),
}  # fmt: skip


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("kind", REFUSED)
def test_the_error_names_column_type_and_a_way_out(
    open_kb: OpenKb, kind: str, streamed: bool
) -> None:
    values, type_, way_out = REFUSED[kind]
    table = pa.table({"k": ["a", "b"], "x": values})
    with open_kb() as kb:
        kb.insert("q", [(1,)])
        with pytest.raises(DataError) as refused:
            kb.insert("p", table.to_reader() if streamed else table)
        assert str(refused.value).startswith(f"p: column x has the type {type_}. ")
        assert way_out in str(refused.value)
        assert kb.table("q").fetchall() == [(1,)], "what is there stays"


@pytest.mark.parametrize("encoded", [dictionary, runs])
def test_dictionaries_and_runs_of_nested_values(
    open_kb: OpenKb, encoded: Callable[[pa.Array], pa.Array]
) -> None:
    with open_kb() as kb:
        kb.insert("p", pa.table({"k": ["a", "b"], "x": encoded(LISTS)}), explode="x")
        assert sorted(kb.table("p").fetchall()) == [("a", 1), ("a", 2), ("b", 3)]
        kb.insert("q", pa.table({"k": ["a", "b"], "x": encoded(OBJECTS)}), columns=["k", "x.a"])
        assert sorted(kb.table("q").fetchall()) == [("a", 1), ("b", 2)]


@pytest.mark.parametrize("encoded", [lambda values: values, dictionary, runs])
def test_decimals_that_end_in_zeros(open_kb: OpenKb, encoded: Callable[[Any], Any]) -> None:
    with open_kb() as kb:
        kb.insert("p", pa.table({"x": encoded(HUNDREDS)}))
        assert sorted(kb.table("p").fetchall()) == [(Decimal(100),), (Decimal(2500),)]
        kb.insert("p", pa.table({"x": encoded(HUNDREDS)}).to_reader())
        assert kb.delete("p", pa.table({"x": HUNDREDS})).deleted == {"p": 2}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"nulls": 0}, '{"celsius": 0}: 0 is none of them'),
        ({"nulls": ["x"]}, r'"skip-row", or the values of empty cells by column'),
        ({"nulls": True}, "True is none of them"),
        ({"columns": 0}, "columns is a list of names"),
        ({"columns": {1: "a"}}, "columns has names of columns, which are text: 1 is none"),
        ({"columns": {"x": 1}}, "columns has names of columns, which are text: 1 is none"),
        ({"explode": 0}, "explode is the name of a column, or a list of names: 0 is none"),
        ({"explode": [0]}, "explode has names of columns, which are text: 0 is none"),
    ],
)
def test_options_of_another_type(
    open_kb: OpenKb, tmp_path: Any, options: dict[str, Any], said: str
) -> None:
    (tmp_path / "p.csv").write_text("x,y\n1,2\n,3\n")
    with open_kb() as kb:
        with pytest.raises(DataError, match=said):
            kb.insert("p", pa.table({"x": [1, None]}), **options)
        with pytest.raises(DataError, match=said):
            kb.load(tmp_path / "p.csv", **options)


def test_options_that_are_none_are_not_given(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        kb.insert("p", pa.table({"x": [1]}), nulls=None, columns=None, explode=None)  # type: ignore[arg-type]
        assert kb.table("p").num_rows == 1
