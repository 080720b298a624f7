"""Every type that data can come in: taken as it is, or refused with its column. Never rounded."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from zodiac_sql import KnowledgeBase
from zodiac_sql.errors import DataError

LONG = Decimal(12345678901234567890)
DAY = dt.date(2024, 2, 29)
NOON = dt.datetime(2024, 2, 29, 12)


XSD = "http://www.w3.org/2001/XMLSchema#"


class Refused(str):
    """What is to be said of the value."""


def column(values: list[Any], type_: pa.DataType) -> pa.Array:
    return pa.array(values, type=type_)


def extended(type_: pa.DataType, values: pa.Array) -> pa.Array:
    return pa.ExtensionArray.from_storage(type_, values)


ARROW: dict[str, tuple[pa.Array, Any]] = {
    **{
        f"{name} {value}": (column([value], getattr(pa, name)()), value)
        for name, low, high in [
            ("int8", -128, 127), ("int16", -(2**15), 2**15 - 1), ("int32", -(2**31), 2**31 - 1),
            ("int64", -(2**63), 2**63 - 1), ("uint8", 0, 255), ("uint16", 0, 2**16 - 1),
            ("uint32", 0, 2**32 - 1), ("uint64", 0, 2**63 - 1),
        ]
        for value in (low, high)
    },
    "uint64 beyond": (column([2**63], pa.uint64()), f'"{2**63}"^^<{XSD}integer>'),
    "half": (column([1.5], pa.float32()).cast(pa.float16()), 1.5),
    "float": (column([0.5], pa.float32()), 0.5),
    "double": (column([0.1], pa.float64()), 0.1),
    "infinite": (column([math.inf], pa.float64()), math.inf),
    "decimal32": (column([Decimal("1.25")], pa.decimal32(5, 2)), Decimal("1.25")),
    "decimal64": (column([Decimal("0.1")], pa.decimal64(12, 2)), Decimal("0.1")),
    "decimal128": (column([Decimal("123456.789")], pa.decimal128(38, 20)), Decimal("123456.789")),
    "decimal128 long": (column([LONG], pa.decimal128(38)), LONG),
    "decimal128 many digits": (
        column([Decimal("0.12345678901234567890")], pa.decimal128(38, 20)),
        f'"0.1234567890123456789"^^<{XSD}decimal>',
    ),
    "decimal256": (column([Decimal("0.1")], pa.decimal256(60, 2)), Decimal("0.1")),
    "decimal256 long": (
        column([Decimal(10**40)], pa.decimal256(60, 2)),
        f'"1{"0" * 40}.0"^^<{XSD}decimal>',
    ),
    "bool": (column([True], pa.bool_()), True),
    "bool8": (extended(pa.bool8(), column([1], pa.int8())), True),
    "string": (column(["a"], pa.string()), "a"),
    "string with NUL": (column(["a\0b"], pa.string()), "a\0b"),
    "large string": (column(["a"], pa.large_string()), "a"),
    "string view": (column(["a"], pa.string_view()), "a"),
    "uuid": (column([b"0" * 16], pa.uuid()), "30303030-3030-3030-3030-303030303030"),
    "dictionary": (column(["a"], pa.string()).dictionary_encode(), "a"),
    "dictionary of int": (column([1], pa.int64()).dictionary_encode(), 1),
    "dictionary of decimal": (column([LONG], pa.decimal128(38)).dictionary_encode(), LONG),
    "dictionary of ns": (column([1], pa.timestamp("ns")).dictionary_encode(),
                         Refused("1970-01-01")),
    "runs": (pc.run_end_encode(column(["a"], pa.string())), "a"),
    "runs of ns": (pc.run_end_encode(column([1000], pa.timestamp("ns"))),
                   dt.datetime(1970, 1, 1, 0, 0, 0, 1)),
    "date32": (column([DAY], pa.date32()), DAY),
    "date32 first": (column([dt.date.min], pa.date32()), dt.date.min),
    "date32 last": (column([dt.date.max], pa.date32()), dt.date.max),
    "date32 too late": (column([2932897], pa.date32()), Refused("10000-01-01")),
    "date32 too early": (column([-719163], pa.date32()), Refused("0001-12-31 (BC)")),
    "date64": (column([DAY], pa.date64()), DAY),
    "date64 within a day": (column([1], pa.date64()), Refused("")),
    "timestamp s": (column([NOON], pa.timestamp("s")), NOON),
    "timestamp ms": (column([NOON], pa.timestamp("ms")), NOON),
    "timestamp us": (column([NOON], pa.timestamp("us")), NOON),
    "timestamp ns": (column([NOON], pa.timestamp("ns")), NOON),
    "timestamp zoned": (column([NOON], pa.timestamp("ms", tz="Asia/Tokyo")), NOON),
    "timestamp first": (column([dt.datetime.min], pa.timestamp("us")), dt.datetime.min),
    "timestamp last": (column([dt.datetime.max], pa.timestamp("us")), dt.datetime.max),
    "timestamp s too late": (column([10**12], pa.timestamp("s")), Refused("33658-09-27")),
    "timestamp s huge": (column([2**62], pa.timestamp("s")), Refused(str(2**62))),
    "timestamp ms huge": (column([10**16], pa.timestamp("ms")), Refused(str(10**16))),
    "timestamp us too late": (column([2**62], pa.timestamp("us")), Refused("148108")),
    "timestamp us too early": (column([-(2**61)], pa.timestamp("us")), Refused("(BC)")),
    "timestamp zoned too late": (column([2**61], pa.timestamp("us", tz="UTC")), Refused("75039")),
    "timestamp ns lost": (column([1], pa.timestamp("ns")), Refused("00:00:00.000000001")),
    "time32": (column([1], pa.time32("s")), Refused("TIME")),
    "time64": (column([1], pa.time64("ns")), Refused("TIME")),
    "duration": (column([1], pa.duration("us")), Refused("INTERVAL")),
    "interval": (column([(1, 2, 3)], pa.month_day_nano_interval()), Refused("INTERVAL")),
    "binary": (column([b"a"], pa.binary()), Refused("BLOB")),
    "large binary": (column([b"a"], pa.large_binary()), Refused("BLOB")),
    "binary view": (column([b"a"], pa.binary_view()), Refused("BLOB")),
    "fixed binary": (column([b"a"], pa.binary(1)), Refused("BLOB")),
    "list": (column([[1]], pa.list_(pa.int64())), Refused("BIGINT[]")),
    "fixed list": (column([[1]], pa.list_(pa.int64(), 1)), Refused("BIGINT[1]")),
    "list view": (column([[1]], pa.list_view(pa.int64())), Refused("BIGINT[]")),
    "struct": (column([{"a": 1}], pa.struct({"a": pa.int64()})), Refused("STRUCT")),
    "map": (column([[("a", 1)]], pa.map_(pa.string(), pa.int64())), Refused("MAP")),
    "union": (pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1])]),
              Refused("UNION")),
    "json": (extended(pa.json_(), pa.array(["{}"])), Refused("JSON")),
    "opaque": (extended(pa.opaque(pa.int64(), "a", "b"), pa.array([1])), Refused("arrow.opaque")),
    "null": (column([None], pa.null()), Refused("empty (NULL)")),
}  # fmt: skip


def check(kb: KnowledgeBase, change: Callable[[], object], expected: Any, name: str = "x") -> None:
    """The change brings the value, or is refused by the column's name with nothing changed."""
    if isinstance(expected, Refused):
        with pytest.raises(DataError) as error:
            change()
        assert f"column {name} " in str(error.value) or f"column {name}:" in str(error.value)
        assert str(expected) in str(error.value)
        assert kb.sql("SELECT count(*) FROM zodiac.predicate").to_pylist()[0].popitem()[1] == 0
    else:
        change()
        ((value,),) = (row.values() for row in kb.table("p").to_pylist())
        assert (type(value), value) == (type(expected), expected)


@pytest.mark.parametrize("form", ["table", "stream"])
@pytest.mark.parametrize("name", ARROW)
def test_arrow(open_kb: Callable[..., KnowledgeBase], name: str, form: str) -> None:
    values, expected = ARROW[name]
    table = pa.table({"x": values})
    kb = open_kb()
    check(kb, lambda: kb.insert("p", table if form == "table" else table.to_reader()), expected)


DUCKDB = {
    "1::HUGEINT": Decimal(1),  # Arrow has no such type: it comes as a decimal
    "12345678901234567890::HUGEINT": LONG,
    f"{2**127 - 1}::HUGEINT": f'"{2**127 - 1}.0"^^<{XSD}decimal>',
    "340282366920938463463374607431768211455::UHUGEINT": Refused("UHUGEINT"),
    "18446744073709551615::UBIGINT": f'"18446744073709551615"^^<{XSD}integer>',
    "0.1::DECIMAL(38, 30)": Decimal("0.1"),
    "1.23456789012345678901::DECIMAL(38, 26)": f'"1.23456789012345678901"^^<{XSD}decimal>',
    "TIMESTAMP_S '2024-02-29 12:00:00'": NOON,
    "TIMESTAMP_MS '2024-02-29 12:00:00'": NOON,
    "TIMESTAMP_NS '2024-02-29 12:00:00'": NOON,
    "TIMESTAMP_NS '2024-02-29 12:00:00.123456789'": Refused("12:00:00.123456789"),
    "TIMESTAMPTZ '2024-02-29 13:00:00+01'": NOON,
    "'infinity'::TIMESTAMPTZ": Refused("infinity"),
    "'infinity'::TIMESTAMP": Refused("infinity"),
    "'infinity'::DATE": Refused("infinity"),
    "DATE '20000-01-01'": Refused("20000-01-01"),
    "'x'::ENUM('x', 'y')": "x",
    "uuid '6ba7b810-9dad-11d1-80b4-00c04fd430c8'": "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
    "TIME '10:00:00'": Refused("TIME"),
    "TIMETZ '10:00:00+01'": Refused("TIME"),
    "INTERVAL 1 DAY": Refused("INTERVAL"),
    "'a'::BLOB": Refused("BLOB"),
    "'101'::BIT": Refused("BLOB"),
    "1::BIGNUM": Refused("arrow.opaque"),
    "[1]": Refused("INTEGER[]"),
    "{'a': 1}": Refused("STRUCT"),
    "NULL": Refused("empty (NULL)"),
}


@pytest.mark.parametrize("value", DUCKDB)
def test_relations(open_kb: Callable[..., KnowledgeBase], value: str) -> None:
    kb = open_kb()
    with duckdb.connect() as other:
        relation = other.sql(f"SELECT {value} AS x")
        check(kb, lambda: kb.insert("p", relation), DUCKDB[value])


PYTHON = {
    "decimal": (Decimal("0.10"), Decimal("0.1")),
    "decimal long": (LONG, LONG),
    "decimal beyond doubles": (Decimal("1.5e40"), f'"15{"0" * 39}.0"^^<{XSD}decimal>'),
    "decimal NaN": (Decimal("NaN"), Refused("NaN")),
    "decimal signalling": (Decimal("sNaN"), Refused("sNaN")),
    "long double": (np.longdouble("0.1"), Refused("longdouble")),
    "float32": (np.float32(0.5), 0.5),
    "uint64": (np.uint64(2**63), f'"9223372036854775808"^^<{XSD}integer>'),
    "nanoseconds": (pd.Timestamp("2024-02-29 12:00:00.000000001"), Refused("00:00.000000001")),
    "pandas timestamp": (pd.Timestamp("2024-02-29 12:00:00"), NOON),
    "not a time": (pd.NaT, Refused("empty")),
    "half a character": ("\ud800", Refused("row 1 holds half of a surrogate pair")),
    "NUL": ("a\0b", "a\0b"),
    "time": (dt.time(1), Refused("a time")),
    "bytes": (b"a", Refused("a bytes")),
    "complex": (1j, Refused("a complex")),
}


@pytest.mark.parametrize("name", PYTHON)
def test_tuples(open_kb: Callable[..., KnowledgeBase], name: str) -> None:
    value, expected = PYTHON[name]
    kb = open_kb()
    check(kb, lambda: kb.insert("p", [(value,)]), expected, "s")


def test_integers_beyond_64_bits_among_floats(open_kb: Callable[..., KnowledgeBase]) -> None:
    kb = open_kb()
    kb.insert("p", [(2**70,), (1.5,)])
    assert set(kb.table("p").fetchall()) == {
        (f'"{2**70}"^^<{XSD}integer>',), (f'"1.5"^^<{XSD}double>',),
    }  # fmt: skip
    kb.add_rules(".decl q(x: float)")
    with pytest.raises(DataError, match=f"{2**70} in row 1"):
        kb.insert("q", [(2**70,), (1.5,)])


FRAMES: dict[str, tuple[Callable[[], Any], Any]] = {
    "pandas beyond 64 bits": (lambda: pd.DataFrame({"x": [2**70]}), f'"{2**70}"^^<{XSD}integer>'),
    "pandas decimal": (lambda: pd.DataFrame({"x": [Decimal("1e40")]}),
                       f'"1{"0" * 40}.0"^^<{XSD}decimal>'),
    "pandas period": (lambda: pd.DataFrame({"x": pd.period_range("2020", periods=1)}),
                      Refused("pandas.period")),
    "pandas interval": (lambda: pd.DataFrame({"x": pd.interval_range(0, 1)}),
                        Refused("pandas.interval")),
    "pandas category": (lambda: pd.DataFrame({"x": pd.Categorical([1])}), 1),
    "pandas complex": (lambda: pd.DataFrame({"x": [1j]}), Refused("complex")),
    "pandas nanoseconds": (
        lambda: pd.DataFrame({"x": pd.to_datetime(["2024-02-29 12:00:00.000000001"])}),
        Refused("00:00.000000001")),
    "pandas year 20000": (lambda: pd.DataFrame({"x": np.array(["20000-01-01"], "datetime64[s]")}),
                          Refused("20000-01-01")),
    "pandas sparse": (lambda: pd.DataFrame({"x": pd.arrays.SparseArray([1, 2])}),
                      Refused("Sparse")),
    "pandas half": (lambda: pd.DataFrame({"x": np.array([1.5], "float16")}), 1.5),
    "pandas long double": (lambda: pd.DataFrame({"x": np.array([1.5], "longdouble")}),
                           Refused("float128")),
    "pandas UInt64": (lambda: pd.DataFrame({"x": pd.array([2**63], "UInt64")}),
                      f'"{2**63}"^^<{XSD}integer>'),
    "polars decimal": (lambda: pl.DataFrame({"x": [LONG]}), LONG),
    "polars category": (lambda: pl.DataFrame({"x": ["a"]}, schema={"x": pl.Categorical}), "a"),
    "polars enum": (lambda: pl.DataFrame({"x": ["a"]}, schema={"x": pl.Enum(["a"])}), "a"),
    "polars nanoseconds": (lambda: pl.DataFrame({"x": [1]}, schema={"x": pl.Datetime("ns")}),
                           Refused("00:00:00.000000001")),
    "polars time": (lambda: pl.DataFrame({"x": [dt.time(1)]}), Refused("TIME")),
    "polars object": (lambda: pl.DataFrame({"x": [object()]}), Refused("BLOB")),
}  # fmt: skip


@pytest.mark.parametrize("name", FRAMES)
def test_data_frames(open_kb: Callable[..., KnowledgeBase], name: str) -> None:
    make, expected = FRAMES[name]
    kb = open_kb()
    check(kb, lambda: kb.insert("p", make()), expected)


def test_decimals_of_any_size_are_exact(open_kb: Callable[..., KnowledgeBase]) -> None:
    """A native column has 20 digits before the point, and 18 after it; others are terms."""
    values = [Decimal(digits).scaleb(-shift)
              for digits in (999999999999999, 9007199254740993, 9007199254740992, 1,
                             12345678901234567)
              for shift in (0, 5, 20, 30)]  # fmt: skip
    for value in values:
        kb = open_kb()
        table = pa.table(
            {"x": pa.array([value], pa.decimal128(38, max(0, -value.as_tuple().exponent)))}
        )
        fits = abs(value) < 10**20 and value.as_tuple().exponent >= -18
        check(kb, lambda k=kb, t=table: k.insert("p", t),
              value if fits else f'"{value:f}"^^<{XSD}decimal>')  # fmt: skip
