"""Delta Lake tables of a materialisation, as Delta Lake's own library reads them: all values, all
kinds of changes, versions that nobody has shown, and what others do to tables."""

from __future__ import annotations

import datetime as dt
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

pytest.importorskip("pyspark")
pytest.importorskip("deltalake")

from deltalake import DeltaTable, write_deltalake
from support.spark_data import frame, in_lake

from zodiac_sql.errors import QueryError, SparkError, StoreError
from zodiac_sql.spark import Materialisation

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PATHS = "path(X, Y) :- edge(X, Y). path(X, Z) :- path(X, Y), edge(Y, Z)."
CHAIN = [("a", "b"), ("b", "c"), ("c", "d")]


def commits(kept: Materialisation, predicate: str) -> list[tuple[str, Any]]:
    """What the log of a table says, the first commit first: the operation, and our version."""
    log = DeltaTable(kept.delta_table(predicate)).history()
    return [(c["operation"], c.get("zodiac_sql", {}).get("version")) for c in reversed(log)]


def require_shown(kept: Materialisation) -> None:
    """Every table has what the predicate has."""
    for predicate in kept:
        rows = sorted(repr(tuple(row)) for row in kept[predicate].collect())  # NaN is no NaN
        assert [repr(row) for row in in_lake(kept, predicate)] == rows, predicate


@pytest.mark.parametrize("by_spark", [False, True])
def test_a_commit_for_each_version_that_changes_a_predicate(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by_spark: bool
) -> None:
    """Whether the driver writes a table, or Spark, because it is large."""
    if by_spark:
        monkeypatch.setattr("zodiac_sql.spark.delta.ROWS_TO_COPY", 1)
    kept = Materialisation(spark, PATHS, tmp_path / "kept", delta=tmp_path / "lake")
    assert in_lake(kept, "path") == []
    kept.update({"edge": frame(spark, list(CHAIN))})
    require_shown(kept)
    kept.update(rules=PATHS + " end(Y) :- path(a, Y).")
    kept.update(
        {"edge": frame(spark, [("d", "e"), ("e", "f")])}, {"edge": frame(spark, [("a", "b")])}
    )
    require_shown(kept)
    table = DeltaTable(kept.delta_table("path"))
    assert table.schema().to_arrow().names == ["s", "o"]
    told = commits(kept, "path")
    if not by_spark:
        assert told == [("WRITE", 1), ("WRITE", 2), ("MERGE", 4)]
    assert [version for _, version in told] == [1, 2, 4]
    table.load_as_version(1)
    assert table.to_pyarrow_table().num_rows == 6


def test_values_of_all_types(spark: SparkSession, tmp_path: Path) -> None:
    """They are told apart by the merge as by us; names that Delta Lake refuses are mended."""
    values = [
        ('it\'s "a" \\ b\0', 2**62, math.nan, True, dt.date(1, 1, 1), dt.datetime(1969, 1, 1, 1)),
        ("", -(2**62), math.inf, False, dt.date(9999, 12, 31), dt.datetime(2020, 1, 1, 0, 0, 0, 1)),
        ("ü", -1, 0.0, True, dt.date(2020, 2, 29), dt.datetime(2020, 1, 1, 0, 0, 0, 2)),
    ]
    names = ["größe (m)", "größe {m}", 'a"b', "order", "größe__m_", "at"]
    schema = pa.schema(
        zip(
            names,
            [pa.string(), pa.int64(), pa.float64(), pa.bool_(), pa.date32(), pa.timestamp("us")],
            strict=True,
        )
    )

    def facts(*places: int) -> Any:
        columns = zip(*(values[place] for place in places), strict=True)
        return spark.createDataFrame(
            pa.table([pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)], schema)
        )

    kept = Materialisation(
        spark, "q(F) :- p(_, _, F, _, _, _).", tmp_path / "a", delta=tmp_path / "b"
    )
    kept.update({"p": facts(0, 1, 2)})
    assert len(in_lake(kept, "p")) == 3
    named = DeltaTable(kept.delta_table("p")).schema().to_arrow().names
    assert named == ["größe__m__", "größe__m___", 'a"b', "order", "größe__m_", "at"]
    kept.update(deletes={"p": facts(0)})
    require_shown(kept)
    kept.update({"p": facts(0)}, {"p": facts(1, 2)})
    require_shown(kept)
    assert [operation for operation, _ in commits(kept, "p")[-2:]] == ["MERGE", "MERGE"]


def test_predicates_that_come_and_go_and_change_their_columns(
    spark: SparkSession, tmp_path: Path
) -> None:
    def open_(rules: str | None) -> Materialisation:
        return Materialisation(spark, rules, tmp_path / "kept", delta=tmp_path / "lake")

    kept = open_("q(X, Y) :- p(X, Y). on() :- p(_, _). <http://e.org/a/b.c~d-e>(X) :- p(X, _).")
    kept.update({"p": frame(spark, [("a", 1), ("b", 2)])})
    require_shown(kept)
    iri = kept.delta_table("<http://e.org/a/b.c~d-e>")
    assert iri.name == "http+3A+2F+2Fe+2Eorg+2Fa+2Fb+2Ec+7Ed-e"
    kept.update(rules="q(Name, Number) :- p(Name, Number).")
    assert DeltaTable(kept.delta_table("q")).schema().to_arrow().names == ["name", "number"]
    assert DeltaTable(iri).to_pyarrow_table().num_rows == 0
    require_shown(kept)
    kept.update(rules="")
    kept.update(rules="q(X) :- p(X, _).")
    require_shown(kept)
    kept.update(rules="<http://e.org/a/b.c~d-e>(X) :- p(X, _).")
    require_shown(kept)
    with pytest.raises(QueryError, match="no predicate q"):
        kept.delta_table("q")


def test_numbers_that_become_floats(spark: SparkSession, tmp_path: Path) -> None:
    kept = Materialisation(spark, "q(X) :- p(X).", tmp_path / "kept", delta=tmp_path / "lake")
    kept.update({"p": frame(spark, [(1,), (2,)])})
    kept.update(rules="q(X) :- p(X). q(0.5) :- p(_).")
    assert in_lake(kept, "q") == [(0.5,), (1.0,), (2.0,)]
    require_shown(kept)


def test_versions_that_no_table_shows(spark: SparkSession, tmp_path: Path) -> None:
    """Who makes them without the tables, or is killed, leaves these behind, and they catch up."""
    kept = Materialisation(spark, PATHS, tmp_path / "kept", delta=tmp_path / "lake")
    kept.update({"edge": frame(spark, list(CHAIN))})
    other = Materialisation(spark, None, tmp_path / "kept")
    other.update(deletes={"edge": frame(spark, [("a", "b")])})
    assert len(in_lake(kept, "path")) == 6
    with pytest.raises(QueryError, match="no Delta Lake tables: give their directory as delta="):
        other.delta_table("path")
    kept.update({"edge": frame(spark, [("x", "y")])})
    require_shown(kept)
    other.update(deletes={"edge": frame(spark, [("b", "c")])})
    again = Materialisation(spark, None, tmp_path / "kept", delta=tmp_path / "lake")
    require_shown(again)
    assert commits(again, "path")[-1] == ("WRITE", 5)
    again = Materialisation(spark, None, tmp_path / "kept", delta=tmp_path / "lake")
    assert commits(again, "path")[-1] == ("WRITE", 5)


def test_what_others_do_to_a_table(spark: SparkSession, tmp_path: Path) -> None:
    """Files may be packed, and old ones removed. A table with other facts is written anew."""
    kept = Materialisation(spark, PATHS, tmp_path / "kept", delta=tmp_path / "lake")
    for edge in CHAIN:
        kept.update({"edge": frame(spark, [edge])})
    table = DeltaTable(kept.delta_table("path"))
    table.optimize.compact()
    table.vacuum(retention_hours=0, dry_run=False, enforce_retention_duration=False)
    kept.update(deletes={"edge": frame(spark, [("a", "b")])})
    require_shown(kept)
    assert commits(kept, "path")[-1][0] == "MERGE"
    write_deltalake(kept.delta_table("path"), pa.table({"s": ["?"], "o": ["?"]}), mode="append")
    kept.update({"edge": frame(spark, [("a", "b")])})
    require_shown(kept)
    assert commits(kept, "path")[-1][0] == "WRITE"


def test_a_table_that_cannot_be_written(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The version is there all the same, and the tables follow with the next one."""
    kept = Materialisation(spark, PATHS, tmp_path / "kept", delta=tmp_path / "lake")
    with monkeypatch.context() as patch:

        def full(*_: Any, **__: Any) -> None:
            raise OSError("No space left on device")

        patch.setattr("zodiac_sql.spark.delta.write_deltalake", full)
        with pytest.raises(StoreError, match="version 2 is made, but not all .* No space left"):
            kept.update({"edge": frame(spark, list(CHAIN))})
    assert kept.version == 2 and kept["path"].count() == 6
    assert in_lake(kept, "path") == []
    kept.update({"edge": frame(spark, [("x", "y")])})
    require_shown(kept)


def test_what_is_refused(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(StoreError, match="s3://lake is no directory: tables are written into"):
        Materialisation(spark, PATHS, tmp_path / "kept", delta="s3://lake")
    monkeypatch.setitem(sys.modules, "deltalake", None)
    with pytest.raises(SparkError, match=r"pip install 'zodiac-sql\[delta\]'"):
        Materialisation(spark, PATHS, tmp_path / "kept", delta=tmp_path / "lake")
    assert not (tmp_path / "kept").exists()
