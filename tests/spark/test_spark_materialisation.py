"""A materialisation that follows changes: random programs and changes against the embedded engine;
kills, second writers, rules given anew, streams, and what it refuses."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from generators.drawn_programs import programs_with_changes
from generators.program_changes import Delete, Insert, State
from generators.programs import Program, Row, program_text
from hypothesis import given, note, settings
from hypothesis import strategies as st
from support import budget
from support.agreement import make, numbered
from support.spark_data import apart, as_frames, frame, in_lake

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from zodiac_sql import KnowledgeBase
    from zodiac_sql.spark import Changed

OpenKb = Callable[..., "KnowledgeBase"]

PATHS = "path(X, Y) :- edge(X, Y). path(X, Z) :- path(X, Y), edge(Y, Z)."
DRIVER = 1_000_000


def rows_of(df: Any) -> set[Row]:
    found = [tuple(row) for row in df.collect()]
    assert len(found) == len(set(found))
    return set(found)


def facts_of(kb: KnowledgeBase, predicate: str) -> set[Row]:
    known = kb.predicates()["predicate"].to_pylist()
    return set(kb.table(predicate).fetchall()) if predicate in known else set()


def told(changed: Changed, kind: str) -> dict[str, set[Row]]:
    """What entered or left, by predicate, with the columns of the feed taken off."""
    found = {}
    for predicate in changed:
        df = changed[predicate]
        assert df.columns[-2:] == ["_change_type", "_commit"]
        rows = {
            tuple(row)[:-2]
            for row in df.collect()
            if row["_change_type"] == kind and row["_commit"] == changed.version
        }
        if rows:
            found[predicate] = rows
    return found


@settings(max_examples=budget.either(ci=2, fuzz=6))
@given(
    case=programs_with_changes(min_changes=2, max_changes=4, merging=30),
    driver_rows=st.sampled_from([0, 0, 0, DRIVER, 25]),
    again=st.booleans(),
    workers=st.booleans(),
    lake=st.booleans(),
)
def test_random_changes(
    open_kb: OpenKb,
    spark: SparkSession,
    case: tuple[Program, Any],
    driver_rows: int,
    again: bool,
    workers: bool,
    lake: bool,
) -> None:
    """After every change it has what the embedded engine has, and tells the same of the change.

    So have its Delta Lake tables, if there are any.
    """
    from zodiac_sql.spark import Materialisation

    program, changes = case
    note(f"% {driver_rows} {again} {workers} {lake}\n{program}")
    state = State({rule.name: rule for rule in program.rules}, {})
    first = tuple(Insert(p, tuple(rows)) for p, rows in program.facts.items())
    with open_kb() as kb, TemporaryDirectory() as folder, apart(workers):
        tables = f"{folder}/tables" if lake else None
        folder += "/kept"
        kb.add_rules(program_text(program.rules, {}, program.style))
        text = program_text(program.rules, {}, program.style)
        kept = Materialisation(spark, text, folder, driver_rows=driver_rows, delta=tables)
        for number, change in enumerate([first, *changes], 1):
            note(numbered(number, change))
            before = set(kept)
            change_of_kb = make(kb, change, program.style)
            state.apply(change)
            rules = program_text(list(state.rules.values()), {}, program.style)
            changed = kept.update(
                as_frames(spark, change, Insert), as_frames(spark, change, Delete), rules
            )
            if again:
                kept = Materialisation(spark, None, folder, driver_rows=driver_rows, delta=tables)
            for predicate in kept:
                ours = {r for r in rows_of(kept[predicate])}
                assert ours == {r or (True,) for r in facts_of(kb, predicate)}, predicate
                if lake:
                    assert in_lake(kept, predicate) == sorted(ours, key=repr)
            assert dict(changed.inserted) == change_of_kb.inserted
            assert dict(changed.deleted) == change_of_kb.deleted
            for kind, facts in (
                ("insert", change_of_kb.inserted_facts), ("delete", change_of_kb.deleted_facts),
            ):  # fmt: skip
                for predicate, rows in told(changed, kind).items():
                    theirs = {tuple(row.values()) for row in facts(predicate).to_pylist()}
                    assert rows == theirs, (kind, predicate, before)


@pytest.mark.parametrize("driver_rows", [0, DRIVER])
@pytest.mark.parametrize("values", [[True], [True, False]])
def test_a_rule_says_later_that_a_predicate_has_no_columns(
    spark: SparkSession, tmp_path: Path, driver_rows: int, values: list[bool]
) -> None:
    """Until then, its data frame has one column like any other."""
    from zodiac_sql.spark import Materialisation

    rules = "q(X) :- r(), s(X)."
    kept = Materialisation(spark, rules, tmp_path, driver_rows=driver_rows)
    kept.update({"on": frame(spark, [(v,) for v in values]).toDF("holds"), "r": frame(spark, [()])})
    assert rows_of(kept["on"]) == {(v,) for v in values}
    change = kept.update(rules=f"{rules} seen() :- on(). on() :- r(), not r().")
    assert dict(change.inserted) == {"seen": 1}
    assert rows_of(kept["on"]) == rows_of(kept["seen"]) == {(True,)}
    kept.update(deletes={"on": frame(spark, [()])})
    assert rows_of(kept["on"]) == rows_of(kept["seen"]) == set()


@pytest.mark.parametrize("driver_rows", [0, DRIVER])
def test_a_derived_predicate_without_columns_gets_facts(
    spark: SparkSession, tmp_path: Path, driver_rows: int
) -> None:
    """Also in the change that takes away the rules that say that it has none."""
    from zodiac_sql.spark import Materialisation

    kept = Materialisation(spark, "r() :- p(X).", tmp_path, driver_rows=driver_rows)
    kept.update({"p": frame(spark, [(1,)])})
    change = kept.update({"r": frame(spark, [()])}, {"p": frame(spark, [(1,)])}, "")
    assert dict(change.inserted) == {} and dict(change.deleted) == {"p": 1}
    assert rows_of(kept["r"]) == {(True,)}
    kept.update(deletes={"r": frame(spark, [()])})
    assert rows_of(kept["r"]) == set()


# --- versions -------------------------------------------------------------------------------------


def test_versions_share_files_and_old_ones_go(spark: SparkSession, tmp_path: Path) -> None:
    from zodiac_sql.errors import QueryError
    from zodiac_sql.spark import Materialisation

    edges, weights = frame(spark, [("a", "b"), ("b", "c"), ("c", "d")]), frame(spark, [("a", 1)])
    kept = Materialisation(spark, f"{PATHS} heavy(X) :- weight(X, W), W > 1.", tmp_path)
    kept.update({"edge": edges, "weight": weights})
    before = manifest(tmp_path, kept.version)["tables"]
    old = rows_of(kept["weight"]), kept["weight"]
    change = kept.update({"edge": frame(spark, [("d", "e"), ("a", "b")])})
    assert (kept.version, change.version, kept.change.version) == (3, 3, 3)
    assert dict(change.inserted) == {"edge": 1, "path": 4} and not change.deleted
    assert dict(change.hypernodes) == {"path": "on the driver"}
    assert list(change) == ["edge", "path"] and len(change) == 2
    assert rows_of(change["edge"]) == {("d", "e", "insert", 3)}
    with pytest.raises(QueryError, match="version 3 has not changed weight"):
        change["weight"]
    after = manifest(tmp_path, kept.version)["tables"]
    assert after["weight\0given"] == before["weight\0given"] and after["path"] != before["path"]
    assert (
        before["path"]["segments"] == after["path"]["segments"][:1]
    )  # only what is new is written
    kept.update(deletes={"edge": frame(spark, [("c", "d"), ("x", "y")])})
    assert sorted(p.name for p in (tmp_path / "versions").iterdir()) == [
        "000000000003.json", "000000000004.json",
    ]  # fmt: skip
    assert rows_of(old[1]) == old[0]  # what is unchanged can be read on
    needed = {s[0] for n in (3, 4) for s in segments(manifest(tmp_path, n))}
    there = {str(p.relative_to(tmp_path)) for p in (tmp_path / "data").glob("*/*")}
    assert there == needed
    assert list(kept) == ["edge", "weight", "path", "heavy"] and len(kept) == 4
    assert kept.derived == ("path", "heavy")
    assert rows_of(kept["path"]) == {("a", "b"), ("b", "c"), ("a", "c"), ("d", "e")}
    with pytest.raises(QueryError, match="there is no predicate road"):
        kept["road"]


def manifest(path: Path, version: int) -> Any:
    return json.loads((path / "versions" / f"{version:012}.json").read_text())


def segments(told: Any) -> list[Any]:
    tables = [*told["tables"].values(), *(t for two in told["changes"].values() for t in two)]
    return [segment for table in tables for segment in table["segments"]]


def test_rules_given_anew_touch_only_what_they_concern(spark: SparkSession, tmp_path: Path) -> None:
    from zodiac_sql.spark import Materialisation

    rules = f"{PATHS} far(X) :- path(a, X), not edge(a, X). here(X) :- edge(X, _)."
    kept = Materialisation(spark, f"{rules} edge(a, b). edge(b, c).", tmp_path)
    assert kept.version == 1 and rows_of(kept["far"]) == {("c",)}
    more = f"path(X, Y) :- road(X, Y). {rules} edge(U, V) :- lane(U, V). edge(a, b). edge(b, c)."
    same = Materialisation(spark, f"{rules} edge(a, b). edge(b, c).", tmp_path, driver_rows=0)
    assert same.version == 1
    change = same.update({"road": frame(spark, [("c", "d")])}, rules=more)
    assert dict(change.hypernodes) == {
        "edge": "semi-naive", "path": "by pivots", "far": "semi-naive"
    }  # fmt: skip
    assert rows_of(change["path"]) == {("c", "d", "insert", 2)}
    # A fact of a text is there as long as the text has it, whoever else has it, too.
    change = kept.update({"edge": frame(spark, [("a", "b")])}, rules=f"{rules} road(a, b).")
    assert change.deleted == {"edge": 1, "path": 3, "far": 1, "here": 1}
    assert rows_of(kept["path"]) == {("a", "b")} and rows_of(kept["road"]) == {
        ("c", "d"),
        ("a", "b"),
    }
    change = kept.update(rules="ok(X) :- road(X, _).")
    assert change.deleted == {"path": 1, "here": 1, "road": 1} and rows_of(kept["edge"]) == {
        ("a", "b")
    }
    assert rows_of(change["path"]) == {("a", "b", "delete", 4)}


def test_types_that_rules_change(spark: SparkSession, tmp_path: Path) -> None:
    from zodiac_sql.errors import DataError
    from zodiac_sql.spark import Materialisation

    kept = Materialisation(spark, "double(Y) :- n(X), Y = X * 2.", tmp_path)
    kept.update({"n": frame(spark, [(1,), (2,)])})
    kept.update(rules=".decl n(x: float) double(Y) :- n(X), Y = X * 2.")
    kept.update({"n": frame(spark, [(0.5,)])}, {"n": frame(spark, [(1,)])})
    assert sorted(rows_of(kept["double"])) == [(1.0,), (4.0,)]
    assert dict(kept["double"].dtypes) == {"s": "double"}
    with pytest.raises(DataError, match=r"double has facts with the columns \(float\)"):
        kept.update(rules="double(X, Y) :- n(X), n(Y).")
    assert kept.version == 4


@pytest.mark.parametrize("driver_rows", [0, DRIVER])
def test_columns_with_names_that_are_ours(
    spark: SparkSession, tmp_path: Path, driver_rows: int
) -> None:
    from zodiac_sql.spark import Materialisation

    rules = (
        ".decl e(k0: symbol, v0: int, _commit: int, _Change_Type: symbol) p(X) :- e(X, _, _, _)."
    )
    kept = Materialisation(spark, rules, tmp_path, driver_rows=driver_rows)
    kept.update({"e": frame(spark, [("a", 1, 7, "t"), ("b", 2, 8, "u")])})
    changed = kept.update(deletes={"e": frame(spark, [("a", 1, 7, "t")])})
    assert rows_of(kept["e"]) == {("b", 2, 8, "u")}
    assert rows_of(kept["p"]) == {("b",)}
    assert rows_of(changed["e"]) == {("a", 1, 7, "t", "delete", 3)}
    assert changed["e"].columns == [
        "k0",
        "v0",
        "_commit_",
        "_Change_Type_",
        "_change_type",
        "_commit",
    ]


@pytest.mark.parametrize("driver_rows", [0, DRIVER])
def test_changes_of_a_predicate_without_columns(
    spark: SparkSession, tmp_path: Path, driver_rows: int
) -> None:
    from zodiac_sql.spark import Materialisation

    kept = Materialisation(spark, "p() :- e(), q(X).", tmp_path, driver_rows=driver_rows)
    changed = kept.update({"e": frame(spark, [()]), "q": frame(spark, [(1,)])})
    assert rows_of(changed["e"]) == rows_of(changed["p"]) == {(True, "insert", 2)}
    changed = kept.update(deletes={"e": frame(spark, [()])})
    assert rows_of(changed["e"]) == rows_of(changed["p"]) == {(True, "delete", 3)}
    assert changed["p"].columns == ["holds", "_change_type", "_commit"]


def test_a_table_with_the_same_facts_stays(spark: SparkSession, tmp_path: Path) -> None:
    """It is written anew, and nobody who follows the files shall see a change."""
    from zodiac_sql.spark import Materialisation

    rules = "p(X) :- e(X, _). "
    kept = Materialisation(spark, rules, tmp_path, driver_rows=0)
    kept.update({"e": frame(spark, [("a", 1), ("b", 2)])})
    before = kept._version.tables["p"]
    changed = kept.update(rules=rules + "p(X) :- e(X, Y), Y > 1. q(X) :- p(X), X != a.")
    assert kept._version.tables["p"] == before
    assert "p" not in list(changed) and rows_of(kept["q"]) == {("b",)}


def test_files_that_are_gone(spark: SparkSession, tmp_path: Path) -> None:
    from zodiac_sql.errors import StoreError
    from zodiac_sql.spark import Materialisation

    kept = Materialisation(spark, "p(X) :- e(X, _).", tmp_path)
    kept.update({"e": frame(spark, [("a", 1), ("b", 2)])})
    for file in (tmp_path / "data").rglob("*.parquet"):
        file.unlink()
    with pytest.raises(StoreError, match="lacks the files in data/.*, which version 2 needs"):
        Materialisation(spark, None, tmp_path)
    with pytest.raises(StoreError, match="lacks the files"):
        kept.update({"e": frame(spark, [("c", 1)])})
    manifest = next((tmp_path / "versions").glob("*2.json"))
    manifest.rename(manifest.with_name(f"{9:012}.json"))
    with pytest.raises(StoreError, match="it tells version 2"):
        Materialisation(spark, None, tmp_path)


# --- what is refused ------------------------------------------------------------------------------


def test_errors(spark: SparkSession, tmp_path: Path) -> None:
    from zodiac_sql.errors import (
        DataError,
        LockedError,
        NewerFileError,
        ProgramError,
        SparkError,
        StoreError,
    )
    from zodiac_sql.spark import Materialisation

    place = tmp_path / "paths"
    kept = Materialisation(spark, PATHS, place)
    kept.update({"edge": frame(spark, [("a", "b")])})
    (tmp_path / "file").write_text("x")
    for path, said in (
        (tmp_path / "file", "is a file"), (tmp_path, "is not empty, and has no materialisation"),
        ("s3://bucket/paths", "the driver and all executors see"),
    ):  # fmt: skip
        with pytest.raises(StoreError, match=said):
            Materialisation(spark, PATHS, path)
    with pytest.raises(StoreError, match="no materialisation in .*mistyped to go on with"):
        Materialisation(spark, None, tmp_path / "mistyped")
    assert not (tmp_path / "mistyped").exists()
    edges = frame(spark, [("b", "c")])
    with pytest.raises(DataError, match="edge: a data frame of Spark's is needed, not a list"):
        kept.update({"edge": [("a", "b")]})  # type: ignore[dict-item]
    for inserts, deletes, error, said in (
        ({"edge": frame(spark, [(1, 2)])}, {}, DataError, "edge has the columns .* symbol.* int"),
        ({}, {"edge": frame(spark, [("a",)])}, DataError, "matched by position"),
        ({"edge": edges, "<edge>": edges}, {}, DataError, "edge is given twice"),
        (
            {"edge": spark.sql("SELECT 'a' AS x, cast(NULL AS string) AS y")}, {},
            SparkError, "edge: column y is empty",
        ),
        ({}, {"other": [("a", "b")]}, DataError, "a data frame of Spark's is needed, not a list"),
        ([("a", "b")], {}, TypeError, "data frames by predicate"),
    ):  # fmt: skip
        with pytest.raises(error, match=said):
            kept.update(inserts, deletes)
    assert "path" in kept and "nothing" not in kept and kept.get("nothing") is None
    assert "path" in kept.change and "nothing" not in kept.change
    assert kept.change.get("nothing", 7) == 7 and 7 not in kept
    with pytest.raises(ProgramError, match="arity"):
        kept.update(rules="p(X) :- edge(X).")
    with pytest.raises(SparkError, match="mine is not built in"):
        kept.update(rules="p(X) :- edge(X, Y), mine(Y) = true.")
    assert kept.change.notes == ()
    assert kept.version == 2 and len(list((place / "data").iterdir())) == 1

    # Two drivers make version 3 at the same time: here the second one commits in between.
    other = Materialisation(spark, None, place)
    between = kept._directory.commit
    kept._directory.commit = lambda version: (  # type: ignore[method-assign]
        other.update({"edge": edges}),
        between(version),
    )[1]
    with pytest.raises(LockedError, match="another driver has made version 3"):
        kept.update({"edge": frame(spark, [("z", "z")])})
    kept._directory.commit = between  # type: ignore[method-assign]
    assert dict(kept.update({"edge": frame(spark, [("c", "d")])}).inserted) == {
        "edge": 1,
        "path": 3,
    }
    assert kept.version == 4

    doubted = Materialisation(spark, 'q(X) :- path(X, Y), matches(Y, "a").', tmp_path / "doubted")
    assert any("matches" in note for note in doubted.change.notes), doubted.change.notes
    doubted.update({"edge": edges})
    assert doubted.update(deletes={"edgee": edges}).notes == (
        "edgee has no facts; did you mean edge?",
    )

    newest = place / "versions" / "000000000004.json"
    newest.write_text(newest.read_text().replace('"format": 2', '"format": 3'))
    with pytest.raises(NewerFileError, match="format 3, and this zodiac_sql knows 2"):
        Materialisation(spark, PATHS, place)
    newest.write_text("{")
    with pytest.raises(StoreError, match="is no manifest"):
        kept.update()


# --- streams and kills ----------------------------------------------------------------------------


def test_a_stream(spark: SparkSession, tmp_path: Path) -> None:
    """Each micro-batch is a version; one that Spark repeats is passed over."""
    from pyspark.errors import StreamingQueryException

    from zodiac_sql.spark import Materialisation

    batches = [
        [("a", "b", "insert"), ("b", "c", "insert"), ("x", "y", "delete")],
        [("a", "b", "delete"), ("c", "d", "insert")],
    ]
    kept = Materialisation(spark, PATHS, tmp_path / "paths")
    seen: list[Any] = []

    def run(number: int, rows: list[Any]) -> None:
        file = tmp_path / "facts" / f"{number}.json"
        file.parent.mkdir(exist_ok=True)
        file.write_text("\n".join(json.dumps(dict(zip("xyo", row, strict=True))) for row in rows))
        stream = spark.readStream.schema("x string, y string, o string").json(str(file.parent))
        writer = stream.writeStream.foreachBatch(
            kept.stream("edge", operation="o", on_change=seen.append)
        )
        writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint"))
        writer.trigger(availableNow=True).start().awaitTermination()

    for number, rows in enumerate(batches):
        run(number, rows)
    assert [(dict(c.inserted), dict(c.deleted)) for c in seen] == [
        ({"edge": 2, "path": 3}, {}), ({"edge": 1, "path": 2}, {"edge": 1, "path": 2}),
    ]  # fmt: skip
    assert rows_of(kept["path"]) == {("b", "c"), ("c", "d"), ("b", "d")}
    commits = tmp_path / "checkpoint" / "commits"
    for file in (commits / "1", commits / ".1.crc"):
        file.unlink()
    run(2, [("d", "e", "insert")])  # the second batch comes once more, and then this one
    assert kept.version == 4 and len(seen) == 3 and seen[-1].inserted == {"edge": 1, "path": 3}
    with pytest.raises(StreamingQueryException, match="column o holds 'upsert'"):
        run(3, [("d", "e", "upsert")])
    assert kept.version == 4


def test_a_killed_driver_leaves_a_version(spark: SparkSession, tmp_path: Path) -> None:
    """The driver is killed somewhere in its updates: what is there is what some version says."""
    from support import materialisation_child as child

    from zodiac_sql.spark import Materialisation

    place = tmp_path / "paths"
    command = [sys.executable, child.__file__, str(place)]
    with subprocess.Popen(
        command, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as driver:
        assert driver.stdout is not None
        assert driver.stdout.readline() == b"version 2\n"
        time.sleep(random.Random(budget.seed(17)).random())
        os.killpg(driver.pid, signal.SIGKILL)
    kept = Materialisation(spark, None, place)
    assert kept.version >= 2
    assert rows_of(kept["edge"]) == child.edges(kept.version)
    assert rows_of(kept["path"]) == child.paths(kept.version)
    kept.update(*child.update(spark, kept.version + 1))
    assert rows_of(kept["path"]) == child.paths(kept.version)
    budget.tried("kills of drivers")
