"""A fleet: what is reasoned for many devices in Spark is what each device gets by itself."""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from zodiac_sql import DataError, Function, ProgramError, QueryError
from zodiac_sql.language.syntax import Type

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]
Row = tuple[Any, ...]
Facts = dict[str, list[Row]]
Found = dict[tuple[str, ...], set[Row]]
Schemas = Mapping[str, Mapping[str, pa.DataType]]

SCHEMAS: Schemas = {
    "feeds": {"source": pa.string(), "target": pa.string()},
    "reading": {"sensor": pa.string(), "celsius": pa.float64(), "at": pa.timestamp("us")},
    "limit": {"celsius": pa.int64()},
    "serviced": {"sensor": pa.string(), "on": pa.date32(), "done": pa.bool_()},
}
"""The columns of the facts, next to that of the device."""

RULES = [
    """
    .decl feeds(source: symbol, target: symbol)
    flows: reaches(X, Y) :- feeds(X, Y).
    on: reaches(X, Z) :- reaches(X, Y), feeds(Y, Z).
    hottest: peak(X, T) :- AGGREGATE(reading(X, C, A)) ON X WITH MAX(C) AS T.
    idle: quiet(X) :- reaches(_, X), not reading(X, _, _).
    """,
    """
    feeds(grid, hub).
    hot: alarm(X, A) :- peak(X, T), reading(X, T, A), limit(L), T > L, not serviced(X, _, true).
    silent: lost() :- not reading(_, _, _).
    """,
]

EDIT = """
    hot: alarm(X, A) :- reading(X, T, A), limit(L), T > L + 1.
    cool: cold(X) :- peak(X, T), T < 21.
"""

NOON = datetime.datetime(2026, 1, 31, 12, 0, 0, 1)


def device(number: int) -> Facts:
    """Some facts; a few devices have none of some predicate."""
    random = Random(number)
    sensors = [f"s{i}" for i in range(5)] + [f"only{number}", "hub"]
    hours = [NOON + datetime.timedelta(hours=h) for h in range(3)]
    facts: Facts = {
        "feeds": [(random.choice(sensors), random.choice(sensors)) for _ in range(6)],
        "reading": [
            (random.choice(sensors), random.choice([20.5, 21.0, 23.25]), random.choice(hours))
            for _ in range(5)
        ],
        "limit": [(random.choice([20, 21]),)],
        "serviced": [(random.choice(sensors), NOON.date(), random.random() < 0.7)],
    }
    return {p: rows for p, rows in facts.items() if p == "feeds" or random.random() < 0.85}


SOME = {f"wt{number}": device(number) for number in (0, 2, 6, 8, 12, 13)}
"""Few devices, that derive all there is to derive."""


def frames(
    spark: SparkSession, devices: Mapping[str, Facts], schemas: Schemas = SCHEMAS
) -> dict[str, DataFrame]:
    """The facts of devices by predicate, every row twice."""
    tables = {name: rows_of(devices, name, columns) for name, columns in schemas.items()}
    return {n: spark.createDataFrame(pa.concat_tables([t, t])) for n, t in tables.items()}


def rows_of(
    devices: Mapping[str, Facts], predicate: str, columns: Mapping[str, pa.DataType]
) -> pa.Table:
    """The facts of devices, each with its device."""
    rows = [(d, *row) for d, facts in devices.items() for row in facts.get(predicate, ())]
    types = {"turbine": pa.string(), **columns}
    arrays = [pa.array([r[i] for r in rows], t) for i, t in enumerate(types.values())]
    return pa.table(arrays, names=list(types))


def fill(kb: KnowledgeBase, facts: Facts, rules: Sequence[str], schemas: Schemas) -> None:
    """Put rules, and the facts of one device, into a knowledge base of its own."""
    with kb.update() as update:
        for text in rules:
            update.add_rules(text)
        for predicate, columns in schemas.items():
            update.insert(predicate, facts.get(predicate, pa.schema(columns).empty_table()))


def derived(kb: KnowledgeBase) -> Found:
    """The extensions of what rules derive, where there is something."""
    names = {p for h in kb.hypernodes().to_pylist() for p in h["derives"]}
    return {(p,): set(rows) for p in names if (rows := kb.table(p).fetchall())}


def by_device(answer: DataFrame, *labels: str) -> dict[str, Found]:
    """The rows of an answer by device and labels, of which the last one is the predicate."""
    found: dict[str, Found] = defaultdict(lambda: defaultdict(set))
    for row in answer.toArrow().to_pylist():
        label = tuple(row[name] for name in labels)
        others = set(row) - {"turbine", *labels, label[-1]}
        assert all(row[name] is None for name in others)
        values = tuple(row[label[-1]].values())
        assert values not in found[row["turbine"]][label]
        found[row["turbine"]][label].add(values)
    return found


# --- many devices ---------------------------------------------------------------------------------


PIPES: Schemas = {
    "pipe": {"source": pa.int64(), "target": pa.int64()},
    "pressure": {"node": pa.int64(), "bar": pa.float64()},
}

PIPE_RULES = """
    reaches(X, Y) :- pipe(X, Y).
    reaches(X, Z) :- reaches(X, Y), pipe(Y, Z).
    peak(X, T) :- AGGREGATE(pressure(X, B)) ON X WITH MAX(B) AS T.
    quiet(X) :- reaches(_, X), not pressure(X, _).
"""


def pipes(number: int) -> Facts:
    """Facts without symbols, which are quickly read; some devices have none of one predicate."""
    random = Random(number)
    nodes = [*range(5), 100 + number]
    facts: Facts = {
        "pipe": [(random.choice(nodes), random.choice(nodes)) for _ in range(5)],
        "pressure": [(random.choice(nodes), random.choice([1.5, 2.0, 3.25])) for _ in range(4)],
    }
    return {p: rows for p, rows in facts.items() if p == "pipe" or random.random() < 0.85}


def test_of_200_devices_every_third_equals_a_separate_run(
    spark: SparkSession, open_kb: OpenKb
) -> None:
    from zodiac_sql.spark import fleet

    devices = {f"wt{number}": pipes(number) for number in range(200)}
    found = by_device(fleet(frames(spark, devices, PIPES), PIPE_RULES), "predicate")
    assert len(found) == 200
    assert {p for facts in found.values() for (p,) in facts} == {"reaches", "peak", "quiet"}
    for name, facts in list(devices.items())[::3]:
        with open_kb() as kb:
            fill(kb, facts, [PIPE_RULES], PIPES)
            assert found[name] == derived(kb), name


# --- few devices, in every detail -----------------------------------------------------------------


@pytest.fixture(scope="module")
def some(spark: SparkSession) -> dict[str, DataFrame]:
    """The facts of some devices, as Spark has them."""
    return frames(spark, SOME)


@pytest.fixture(scope="module")
def alone(open_kb: OpenKb) -> dict[str, tuple[Found, Found]]:
    """What some devices derive before and after an edit, each in a knowledge base of its own."""
    found = {}
    for name, facts in SOME.items():
        with open_kb() as kb:
            fill(kb, facts, RULES, SCHEMAS)
            before = derived(kb)
            with kb.update() as update:
                update.drop_rules("hot", "silent")
                update.add_rules(EDIT)
            found[name] = before, derived(kb)
    return found


def test_more_rules_and_predicates(
    some: dict[str, DataFrame], alone: dict[str, tuple[Found, Found]]
) -> None:
    from zodiac_sql.spark import fleet

    found = by_device(fleet(some, RULES), "predicate")
    assert found == {name: before for name, (before, _) in alone.items()}
    names = {"reaches", "peak", "quiet", "alarm", "lost"}
    assert {p for facts in found.values() for (p,) in facts} == names


def test_one_predicate_has_columns_of_its_own(
    some: dict[str, DataFrame], alone: dict[str, tuple[Found, Found]]
) -> None:
    from zodiac_sql.spark import fleet

    answer = fleet(some, RULES, derive="alarm")
    assert answer.dtypes == [("turbine", "string"), ("s", "string"), ("o", "timestamp_ntz")]
    wanted = {(name, *row) for name, (own, _) in alone.items() for row in own.get(("alarm",), ())}
    assert wanted
    assert set(map(tuple, answer.collect())) == wanted


def test_trying_rules_tells_the_difference_of_two_runs(
    some: dict[str, DataFrame], alone: dict[str, tuple[Found, Found]]
) -> None:
    from zodiac_sql.spark import try_rules

    answer = try_rules(some, RULES, add=EDIT, drop=["hot", "silent"])
    wanted = {}
    for name, (before, after) in alone.items():
        changes = {
            (change, *p): rows
            for p in before | after
            for change, a, b in (("gained", before, after), ("lost", after, before))
            if (rows := b.get(p, set()) - a.get(p, set()))
        }
        if changes:
            wanted[name] = changes
    assert by_device(answer, "change", "predicate") == wanted
    assert {change for found in wanted.values() for change in found} >= {
        ("gained", "cold"), ("gained", "alarm"), ("lost", "alarm"),
    }  # fmt: skip


TYPES = {
    "text": pa.string(), "whole": pa.int64(), "real": pa.float64(), "flag": pa.bool_(),
    "day": pa.date32(), "moment": pa.timestamp("us"),
}  # fmt: skip


def everything(spark: SparkSession) -> DataFrame:
    rows = [
        (7, "ä b", -(2**60), -0.1, True, datetime.date(1969, 12, 31), NOON),
        (7, "", 0, float("inf"), False, datetime.date(2026, 3, 29), NOON.replace(month=7)),
        (8, "http://example.org/a", 1, 2.0, False, datetime.date(2026, 3, 29), NOON),
    ]
    arrays = [
        pa.array([row[i] for row in rows], type_)
        for i, type_ in enumerate([pa.int32(), *TYPES.values()])
    ]
    return spark.createDataFrame(pa.table(arrays, names=["id", *TYPES]))


def test_all_types_come_back(spark: SparkSession) -> None:
    from zodiac_sql.spark import fleet

    df = everything(spark)
    answer = fleet(df, "copy(A, B, C, D, E, F) :- all(A, B, C, D, E, F).", by="id", predicate="all")
    back = answer.where("predicate = 'copy'").select("id", "copy.*")
    assert [t for _, t in back.dtypes] == [
        "bigint", "string", "bigint", "double", "boolean", "date", "timestamp_ntz",
    ]  # fmt: skip
    assert set(map(tuple, back.collect())) == set(map(tuple, df.collect()))


def test_moments_become_utc_and_small_numbers_large(spark: SparkSession) -> None:
    from zodiac_sql.spark import fleet

    df = spark.sql(
        "SELECT 'a' AS turbine, timestamp'2026-01-31 12:00:00+02:00' AS at, 1.5BD AS x, 2Y AS y"
    )
    answer = fleet(df, "q(A, B, C) :- p(A, B, C).", predicate="p", derive="q")
    moment = datetime.datetime(2026, 1, 31, 10)
    assert list(map(tuple, answer.collect())) == [("a", moment, 1.5, 2)]


def test_facts_in_rules_hold_everywhere_unless_a_device_denies_them(spark: SparkSession) -> None:
    from zodiac_sql.spark import fleet

    rules = (
        "part(a). part(b). ex(X) :- broken(X). fine(X) :- part(X), not broken(X). n(X) :- X = 1."
    )
    broken = spark.createDataFrame([("t1", "a"), ("t2", "z")], "turbine string, part string")
    others = spark.createDataFrame([("t3", 1)], "turbine string, unused int")
    facts = {"broken": broken, "unread": others}
    answer = fleet(facts, rules)
    one, two = {("a",)}, {("b",)}
    assert by_device(answer, "predicate") == {
        "t1": {("ex",): one, ("fine",): two, ("n",): {(1,)}},
        "t2": {("ex",): {("z",)}, ("fine",): one | two, ("n",): {(1,)}},
        "t3": {("fine",): one | two, ("n",): {(1,)}},
    }


def test_predicates_without_columns_and_with_iris(spark: SparkSession) -> None:
    from zodiac_sql.spark import fleet

    rules = "@prefix ex: <http://example.org/> . ex:stop() :- alarm(), ex:near(_, X), X > 1."
    facts = {
        "alarm": spark.createDataFrame([("t1",), ("t2",)], "turbine string"),
        "ex:near": spark.createDataFrame([("t1", "a", 2)], "turbine string, s string, n int"),
    }
    answer = fleet(facts, rules)
    (row,) = answer.toArrow().to_pylist()
    told = {"turbine": "t1", "predicate": "http://example.org/stop", "stop": {"holds": True}}
    assert row == told
    (alone,) = fleet(facts, rules, derive="ex:stop").collect()
    assert alone.asDict() == {"turbine": "t1", "holds": True}


def test_names_that_differ_where_sql_sees_none(spark: SparkSession) -> None:
    from zodiac_sql.spark import fleet

    rules = "@prefix ex: <http://example.org/> . both(X) :- ex:near(X), near(X)."
    some, others = (
        spark.createDataFrame(rows, "turbine string, s string")
        for rows in ([("t1", "a"), ("t1", "b")], [("t1", "b"), ("t1", "c")])
    )
    answer = fleet({"ex:near": some, "near": others}, rules, derive="both")
    assert list(map(tuple, answer.collect())) == [("t1", "b")]


def test_a_knowledge_base_is_renewed_after_some_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    from zodiac_sql.language.syntax import Column
    from zodiac_sql.spark import devices
    from zodiac_sql.spark.device_facts import Input

    monkeypatch.setattr(devices, "_DEVICES_AT_MOST", 4)
    given = Input("p", "p", (Column("n", Type.INT), Column("s", Type.SYMBOL)))
    rules = "q(X, S) :- p(X, S). q(X, S) :- e(X, S). e(0, all)."
    extensions = devices.Extensions(
        devices.DeviceProgram((rules,), (given,), ()), "turbine", ("q",)
    )
    used = []
    for number in range(1, 10):
        own = {"n": number, "s": f"only{number}"}
        facts = pa.table({"zodiac$facts_0": pa.array([own, None])})
        found = extensions.on(pa.scalar("wt"), facts)["q"].to_pydict()
        assert set(zip(*found.values(), strict=True)) == {(0, "all"), tuple(own.values())}
        used.append(extensions._kb)
    assert len(set(map(id, used))) == 3


def test_functions_travel_to_the_workers(spark: SparkSession) -> None:
    from zodiac_sql.spark import fleet

    offset = 5
    risk = Function("risk", (Type.FLOAT,), Type.FLOAT, call=lambda celsius: celsius / 10 + offset)
    df = spark.createDataFrame([("t1", "a", 20.0)], "turbine string, s string, c double")
    rules = "r(X, R) :- reading(X, T), R = risk(T)."
    answer = fleet(df, rules, predicate="reading", derive="r", functions=[risk])
    assert list(map(tuple, answer.collect())) == [("t1", "a", 7.0)]


def test_rules_of_files_are_collected(spark: SparkSession, open_kb: OpenKb, tmp_path: Path) -> None:
    from zodiac_sql.spark import collect_rules

    files = {name: tmp_path / f"{name}.duckdb" for name in ("wt1", "wt2", "wt3")}
    for name, path in files.items():
        with open_kb(path) as kb:
            if name != "wt3":
                kb.add_rules(f"r: q(X) :- p(X, {name}).")
                prefixes = "@prefix ex: <http://e/> . @prefix unused: <http://u/> ."
                kb.add_rules(f"{prefixes} s: p(X, Y) :- ex:e(X, Y).")
    answer = collect_rules(files, spark)
    assert answer.dtypes == [
        ("turbine", "string"), ("name", "string"), ("rule", "string"), ("added", "timestamp_ntz"),
    ]  # fmt: skip
    rows = answer.collect()
    same = "@prefix ex: <http://e/> . p(X, Y) :- ex:e(X, Y)."
    assert sorted((r.turbine, r.name, r.rule) for r in rows) == [
        ("wt1", "r", "q(X) :- p(X, wt1)."), ("wt1", "s", same),
        ("wt2", "r", "q(X) :- p(X, wt2)."), ("wt2", "s", same),
    ]  # fmt: skip
    now = datetime.datetime.now(datetime.UTC).replace(tzinfo=None)
    assert all(abs(now - r.added) < datetime.timedelta(minutes=5) for r in rows)
    with open_kb() as kb:
        kb.add_rules("@prefix ex: <http://another/> .")
        for row in rows:
            if row.turbine == "wt1":
                kb.add_rules(row.rule)
        kb.insert("<http://e/e>", [("a", "wt1"), ("b", "wt2")])
        assert kb.table("q").fetchall() == [("a",)]
    numbered = spark.createDataFrame([(1, str(files["wt2"]))], "id int, path string")
    assert {r.id for r in collect_rules(numbered, spark, by="id").collect()} == {1}


def test_a_file_that_is_not_there_is_named(spark: SparkSession, tmp_path: Path) -> None:
    from zodiac_sql.spark import collect_rules

    answer = collect_rules({"wt9": tmp_path / "gone.duckdb"}, spark)
    with pytest.raises(Exception, match=r"SparkError: turbine wt9: .*gone\.duckdb"):
        answer.collect()
    with pytest.raises(DataError, match="no column path"):
        collect_rules(spark.createDataFrame([("wt1",)], "turbine string"), spark)
    with pytest.raises(DataError, match="two columns name"):
        collect_rules({"wt9": "x.duckdb"}, spark, by="name")


# --- what is refused ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def readings(spark: SparkSession) -> DataFrame:
    rows: Iterable[Row] = [("t1", "a", 20.0), (None, "b", 21.0)]
    return spark.createDataFrame(rows, "turbine string, sensor string, celsius double")


def test_columns_are_checked_at_once(spark: SparkSession, readings: DataFrame) -> None:
    from zodiac_sql.spark import fleet

    rule = "hot(X) :- reading(X, T), T > 20."
    for facts, options, said in [
        ({"reading": readings}, {"by": "device"}, "no column device.*turbine, sensor, celsius"),
        ({}, {}, "data frames by predicate"),
        (readings, {}, "predicate="),
        ({"reading": readings, "p": readings.selectExpr("1 AS turbine")}, {}, "symbol.*int in p"),
        ({"reading": readings.selectExpr("turbine", "array(1) AS a", "1 AS b")}, {}, "column a"),
    ]:
        with pytest.raises(DataError, match=said):
            fleet(facts, rule, **options)


def test_rules_are_checked_at_once(readings: DataFrame) -> None:
    from zodiac_sql.spark import fleet, try_rules

    facts = {"reading": readings}
    with pytest.raises(ProgramError, match="unsafe"):
        fleet(facts, "hot(X, Y) :- reading(X, _).")
    with pytest.raises(QueryError, match="no rule derives cold. Derived are hot"):
        fleet(facts, "hot(X) :- reading(X, _).", derive="cold")
    with pytest.raises(ProgramError, match="unsafe"):
        try_rules(facts, "hot(X) :- reading(X, _).", add="cold(X) :- not hot(X).")
    with pytest.raises(QueryError, match="no rule named cold"):
        try_rules(facts, "hot(X) :- reading(X, _).", drop="cold")
    with pytest.raises(ProgramError, match=r"hot has \(s: symbol\) before .*\(s: float\) after"):
        try_rules(facts, "h: hot(X) :- reading(X, _).", drop="h", add="hot(X) :- reading(_, X).")


def test_columns_of_the_answer_have_names_of_their_own(readings: DataFrame) -> None:
    from zodiac_sql.spark import fleet, try_rules

    facts = {"reading": readings}
    for rule in ("Turbine(X) :- reading(X, _).", "predicate(X) :- reading(X, _)."):
        with pytest.raises(DataError, match="two columns.*rename"):
            fleet(facts, rule)
    with pytest.raises(DataError, match="two columns change"):
        try_rules(facts, "p(X) :- reading(X, _).", add="change(X) :- p(X).")
    declared = ".decl hot(turbine: symbol) hot(X) :- reading(X, _)."
    with pytest.raises(DataError, match="two columns turbine"):
        fleet(facts, declared, derive="hot")
    assert fleet(facts, declared).columns == ["turbine", "predicate", "hot"]


def test_an_empty_cell_fails_the_query(readings: DataFrame) -> None:
    from zodiac_sql.spark import fleet

    answer = fleet({"reading": readings}, "hot(X) :- reading(X, T), T > 20.")
    with pytest.raises(Exception, match="reading: column turbine is empty"):
        answer.collect()


def test_an_empty_cell_names_the_device(spark: SparkSession) -> None:
    from zodiac_sql.spark import fleet

    df = spark.createDataFrame([("t1", 1), ("t2", None)], "turbine string, n bigint")
    answer = fleet(df, "m(N) :- n(N).", predicate="n", derive="m")
    with pytest.raises(Exception, match="turbine t2: n: column n is empty"):
        answer.collect()


def test_a_failure_names_the_device(spark: SparkSession) -> None:
    from zodiac_sql.spark import fleet

    def picky(value: float) -> float:
        if value > 30:
            raise ValueError("too hot for me")
        return value

    called = Function("picky", (Type.FLOAT,), Type.FLOAT, call=picky)
    df = spark.createDataFrame([("t1", 20.0), ("t2", 40.0)], "turbine string, c double")
    answer = fleet(df, "q(R) :- p(T), R = picky(T).", predicate="p", derive="q", functions=[called])
    with pytest.raises(Exception, match=r"SparkError: turbine t2: .*too hot for me"):
        answer.collect()


def test_a_failing_device_is_quarantined(spark: SparkSession) -> None:
    """Whatever fails on a device, the others have their facts, and the reason is told."""
    from zodiac_sql.spark import fleet

    rows: dict[str, list[int | None]] = {
        "a": [1, 2], "over": [2**62], "empty": [3, None], "hot": [90], "late": [-1], "z": [4],
    }  # fmt: skip
    pairs = [(turbine, n) for turbine, numbers in rows.items() for n in numbers]
    df = spark.createDataFrame(pairs, "turbine string, n bigint")
    rules = "d(M) :- n(N), M = N * 2. c: !- n(N), N = 90. up(M) :- n(N), N < 0, M = N - 1."
    rules += " up(M) :- up(N), M = N - 1."
    found = fleet(df, rules, predicate="n", derive="d", quarantine="reason", timeout=1)
    assert found.columns == ["turbine", "s", "reason"]
    rows_ = found.collect()
    assert {(t, s) for t, s, why in rows_ if why is None} == {("a", 2), ("a", 4), ("z", 8)}
    told = {t: (s, why) for t, s, why in rows_ if why is not None}
    assert {t: s for t, (s, _) in told.items()} == dict.fromkeys(["over", "empty", "hot", "late"])
    for turbine, said in (
        ("over", "64 bits"), ("empty", "n: column n is empty"), ("hot", "c is violated"),
        ("late", "1 s (timeout)"),
    ):  # fmt: skip
        assert said in told[turbine][1], told[turbine][1]
    every = fleet(df, rules, predicate="n", quarantine="reason", timeout=1).where("d IS NOT NULL")
    assert {(r.turbine, r.d.s) for r in every.collect()} == {("a", 2), ("a", 4), ("z", 8)}
