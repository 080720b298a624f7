"""Rules on a cluster: random programs against clingo, functions against DuckDB, SQL by its text."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from generators.drawn_programs import programs, programs_with_changes
from generators.program_changes import Changes
from generators.programs import Facts, Program, program_text
from hypothesis import given, note, settings
from hypothesis import strategies as st
from sqlglot import exp
from support import budget
from support.oracle import extensions
from support.spark_data import apart

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

PATHS = "path(X, Y) :- edge(X, Y). path(X, Z) :- path(X, Y), path(Y, Z)."


def frame(spark: SparkSession, **columns: list[object]) -> object:
    return spark.createDataFrame(pa.table(columns))


def facts_as_frames(spark: SparkSession, facts: Facts) -> dict[str, object]:
    return {
        predicate: spark.createDataFrame(
            pa.table([list(c) for c in zip(*rows, strict=True)], [f"c{i}" for i in range(width)])
        )
        for predicate, rows in facts.items()
        if rows and (width := len(next(iter(rows))))
    }


@settings(max_examples=budget.either(ci=4, fuzz=10))
@given(program=programs(), driver_rows=st.sampled_from([0, 0, 0, 8, 1000]), workers=st.booleans())
def test_random_programs(
    spark: SparkSession, program: Program, driver_rows: int, workers: bool
) -> None:
    with apart(workers):
        _assert_same(spark, program, driver_rows)


@settings(max_examples=budget.either(ci=2, fuzz=8))
@given(
    case=programs_with_changes(change_rules=False, merging=100),
    driver_rows=st.sampled_from([0, 0, 8, 1000]),
)
def test_random_programs_stratified_by_constants(
    spark: SparkSession, case: tuple[Program, Changes], driver_rows: int
) -> None:
    _assert_same(spark, case[0], driver_rows)


def _assert_same(spark: SparkSession, program: Program, driver_rows: int) -> None:
    from zodiac_sql.spark import materialise

    given_ = facts_as_frames(spark, program.facts)
    written = {p: rows for p, rows in program.facts.items() if p not in given_}
    text = program_text(program.rules, written, program.style)
    note(text)
    found = materialise(spark, text, given_, driver_rows=driver_rows)
    for predicate, rows in extensions(program.rules, program.facts).items():
        ours = {tuple(row) for row in found[predicate].collect()} if predicate in found else set()
        assert {r or (True,) for r in rows} == ours, predicate


def test_what_it_returns(spark: SparkSession) -> None:
    from zodiac_sql.errors import QueryError
    from zodiac_sql.spark import materialise

    edges = frame(spark, x=["a", "b", "a"], y=["b", "c", "b"])
    seen = []
    found = materialise(
        spark,
        ["@prefix e: <http://e/> .", PATHS, "e:far(X) :- path(a, X), not edge(a, X). edge(c, d)."],
        {"edge": edges},
        progress=seen.append,
        driver_rows=0,
    )
    assert list(found) == ["edge", "path", "http://e/far"]
    assert found.derived == ("path", "http://e/far")
    assert found["edge"].columns == ["x", "y"] and found["edge"].count() == 3
    assert sorted(map(tuple, found["e:far"].collect())) == [("c",), ("d",)]
    assert [dict(told.found) for told in found.iterations] == [
        {"edge": 3}, {"path": 6}, {"http://e/far": 2}
    ]  # fmt: skip
    assert seen == list(found.iterations)
    assert found.notes == ()
    with pytest.raises(QueryError, match="there is no predicate nothing"):
        found["nothing"]
    assert not [t for t in spark.catalog.listTables() if t.name.startswith("zodiac")]


def test_what_looks_like_a_mistake_is_noted(spark: SparkSession) -> None:
    from zodiac_sql.spark import materialise

    rules = "p(X) :- edge(X, Y), egde(Y). q(X) :- edge(X, Y), concat(X, Y)."
    found = materialise(spark, rules, {"edge": frame(spark, x=["a"], y=["b"])})
    assert any("Did you mean edge?" in note for note in found.notes)
    assert any("concat is a function" in note for note in found.notes)


def test_errors(spark: SparkSession) -> None:
    from zodiac_sql.errors import DataError, ProgramError, SparkError
    from zodiac_sql.spark import materialise

    edges = frame(spark, x=["a"], y=["b"])
    for rules, facts, error, said in (
        ("p(X) :- edge(X, Y), Z > 1.", edges, ProgramError, "<rules>:1:"),
        ("p(X) :- edge(X).", edges, ProgramError, "arity"),
        (".decl edge(a: int, b: int) p(X) :- edge(X, Y).", edges, DataError, "declared with"),
        ("p(X) :- edge(X, Y).", spark.sql("SELECT array(1) AS x, 2 AS y"), DataError, "array<int>"),
        (
            "p(X) :- edge(X, Y).",
            spark.sql("SELECT 'a' AS x, cast(NULL AS string) AS y"),
            SparkError,
            "edge: column y is empty",
        ),
    ):  # fmt: skip
        with pytest.raises(error, match=said):
            materialise(spark, rules, {"edge": facts}, driver_rows=0)


def test_functions_from_python_are_refused_by_name(spark: SparkSession) -> None:
    from zodiac_sql.errors import SparkError
    from zodiac_sql.spark import materialise

    rules = "p(Y) :- q(X), Y = mine(X). s(N) :- AGGREGATE(q(X)) WITH spread(X) AS N."
    with pytest.raises(SparkError, match="<rules>:1:1: mine is not built in.*\n.*spread is not"):
        materialise(spark, rules, {"q": frame(spark, x=[1])})


def test_one_data_frame_for_each_predicate(spark: SparkSession) -> None:
    from zodiac_sql.errors import DataError
    from zodiac_sql.spark import materialise

    facts = {"q": frame(spark, x=[1]), "<q>": frame(spark, x=[2])}
    with pytest.raises(DataError, match="q and <q> are the same predicate"):
        materialise(spark, "p(X) :- q(X).", facts)


def test_integers_that_overflow(spark: SparkSession) -> None:
    from zodiac_sql.errors import EvaluationError, SparkError
    from zodiac_sql.spark import materialise

    numbers = frame(spark, n=[2**63 - 1])
    rules = "p(Y) :- number(X), Y = X + 1."
    with pytest.raises(EvaluationError, match="rule r1: .*An integer has more than 64") as caught:
        materialise(spark, rules, {"number": numbers}, driver_rows=0)
    assert "ansi" not in str(caught.value)
    unchecked = spark.newSession()
    unchecked.conf.set("spark.sql.ansi.enabled", "false")
    numbers = frame(unchecked, n=[1])
    with pytest.raises(SparkError, match="rule r1 computes with integers, which overflow silently"):
        materialise(unchecked, rules, {"number": numbers})
    found = materialise(unchecked, "p(Y) :- number(X), Y = X / 2.", {"number": numbers})
    assert [tuple(row) for row in found["p"].collect()] == [(0.5,)]


def test_moments_dates_and_booleans(spark: SparkSession) -> None:
    from zodiac_sql.spark import materialise

    seen = spark.sql(
        "SELECT 'a' AS s, timestamp'2026-07-01 12:00:00+02:00' AS at, date'2026-07-01' AS day,"
        " true AS ok"
        " UNION ALL SELECT 'b', timestamp'2026-07-02 00:30:00Z', date'2026-07-02', false"
    )
    found = materialise(
        spark,
        "late(S, H) :- seen(S, A, D, true), BIND(hour(A) AS H), H < 11."
        " last(M) :- AGGREGATE(seen(S, A, D, O)) WITH MAX(A) AS M."
        " first(S) :- seen(S, A, D, O), BIND(day(D) AS N), N = 1, O = true.",
        {"seen": seen},
        driver_rows=0,
    )
    assert [tuple(r) for r in found["late"].collect()] == [("a", 10)]
    assert [str(r[0]) for r in found["last"].collect()] == ["2026-07-02 00:30:00"]
    assert [tuple(r) for r in found["first"].collect()] == [("a",)]


# --- the same as DuckDB ---------------------------------------------------------------------------

TEXTS = [
    "", "wt1", "two words", "http://example.org/x", "urn:a:b", "http://with space", "http://x/\n",
    "<http://example.org/x>", "<tag:wt1>", "<a b>", "<", "<>", "_:b0", '"', '""', '"quoted"',
    '"Haus"@DE', '"Haus"@de-AT', '"x"@', '"5"^^<http://www.w3.org/2001/XMLSchema#string>',
    '"POINT(1 2)"^^<http://www.opengis.net/ont/wkt>', '"tab\\tnew\\nline"', '"back\\\\slash\\\\n"',
    '"inner \\"quote\\""', '"broken "quote"', 'say "hi"', "back\\slash", "line\nbreak",
    "ünïcödé 😀", '"<http://a/b>"', '"_:x"', "'; DROP TABLE x; --", "{0} :p0 ${x}", "\x0b",
    '"a"^^<b c>',
]  # fmt: skip


def test_symbols_are_spelled_as_duckdb_spells_them(open_kb: OpenKb, spark: SparkSession) -> None:
    from zodiac_sql.spark.dialect import canonical, lexical, quote_where_needed, statement

    spark.createDataFrame(pa.table({"n": range(len(TEXTS)), "t": TEXTS})).createOrReplaceTempView(
        "texts"
    )
    built = {"canonical": canonical, "quote_where_needed": quote_where_needed, "lexical": lexical}
    with open_kb() as kb:
        for name, build in built.items():
            made = statement(exp.select(build(exp.column("t"))).from_("texts").order_by("n"))
            ours = [row[0] for row in spark.sql(made.text, args=dict(made.parameters)).collect()]
            column = ", ".join(f"zodiac.{name}(${n + 1})" for n in range(len(TEXTS)))
            theirs = kb._session.store.rows(f"SELECT {column}", TEXTS)[0]
            assert dict(zip(TEXTS, ours, strict=True)) == dict(zip(TEXTS, theirs, strict=True)), (
                name
            )


def test_functions_compute_what_they_compute_in_duckdb(
    open_kb: OpenKb, spark: SparkSession
) -> None:
    """Each function over values at its edges, by the same rules in both engines."""
    from zodiac_sql.spark import materialise

    numbers = [0.0, 0.5, 1.5, 2.5, -0.5, -1.5, 2.675, 1.005, -7.45, 1e15 + 0.5, 1e300, -1e-300, 7.0]
    words = ["", "a", "hello world", "  pad  ", "ünïcödé", '"quo ted"', "http://e/x"]
    substr = [
        f"s{i}(W, A, B, C, D, E) :- w(W), A = substr(W, {start}), B = substr(W, {start}, -2), "
        f"C = substr(W, {start}, 0), D = substr(W, {start}, 2), E = substr(W, {start}, 99)."
        for i, start in enumerate((-20, -3, -1, 0, 1, 3, 20))
    ]
    rules = [
        "f(X, A, R, F, C) :- v(X), A = abs(X), R = round(X), F = floor(X), C = ceil(X).",
        "q(X, Y) :- v(X), Y = sqrt(X).",
        (
            "r(X, A, B, C, D) :- v(X), "
            "A = round(X, 1), B = round(X, 2), C = round(X, -1), D = round(X, -2)."
        ),
        "i(N, Y) :- n(N), Y = round(N, -1). d(N, Q, R) :- n(N), n(M), Q = N / M, R = N % M.",
        "lg(N, L, G) :- n(N), v(V), L = least(N, V), G = greatest(N, V).",
        *substr,
        "t(W, N, L, U, T) :- w(W), N = length(W), L = lower(W), U = upper(W), T = trim(W).",
        "c(W, A, B, C) :- w(W), A = contains(W, lo), B = starts_with(W, a), C = ends_with(W, d).",
        'k(W, C) :- w(W), n(N), C = concat(W, "-", N, "-", replace(W, o, "0")).',
        "gs(Y) :- AGGREGATE(n(X)) WITH SUM(X) AS Y. ga(Y) :- AGGREGATE(n(X)) WITH AVG(X) AS Y. "
        + "gm(Y) :- AGGREGATE(v(X)) WITH MED(X) AS Y. gw(Y) :- AGGREGATE(w(X)) WITH MIN(X) AS Y.",
    ]
    given_ = {"v": numbers, "n": [-25, -15, -1, 0, 3, 15, 2**53 + 1], "w": words}
    text = "\n".join(rules)
    frames = {p: spark.createDataFrame(pa.table({"x": values})) for p, values in given_.items()}
    found = materialise(spark, text, frames, driver_rows=0)
    with open_kb() as kb:
        kb.add_rules(text)
        for predicate, values in given_.items():
            kb.insert(predicate, [(value,) for value in values])
        for predicate in found.derived:
            ours = {tuple(map(_exact, row)) for row in found[predicate].collect()}
            theirs = {tuple(map(_exact, row)) for row in kb.table(predicate).fetchall()}
            assert ours == theirs, predicate


def _exact(value: object) -> object:
    if isinstance(value, float):
        return "nan" if math.isnan(value) else value + 0.0  # -0.0 is 0.0
    return value


# --- SQL ------------------------------------------------------------------------------------------


def test_spark_sql_of_a_query() -> None:
    from zodiac_sql.spark.dialect import statement

    query = exp.select(
        exp.cast(
            exp.Anonymous(this="arg_min", expressions=[exp.column("x"), exp.column("y")]), "TEXT"
        ),
        exp.cast(exp.Literal.string("2026-01-01"), "TIMESTAMP").as_("at"),
        exp.Literal.string("it's; DROP").as_("t"),
    ).from_(exp.table_('odd"`name', quoted=True))
    made = statement(query)
    assert made.text == (
        "SELECT CAST(MIN_BY(x, y) AS STRING), CAST(:p0 AS TIMESTAMP_NTZ) AS at, :p1 AS t "
        'FROM `odd"``name`'
    )
    assert made.parameters == {"p0": "2026-01-01", "p1": "it's; DROP"}


def test_a_string_that_occurs_twice_is_one_parameter() -> None:
    from zodiac_sql.spark.dialect import statement

    one, other = exp.Literal.string("it's"), exp.Literal.string("another")
    made = statement(exp.select(one.as_("a"), other.as_("b"), one.copy().as_("c")))
    assert made.text == "SELECT :p0 AS a, :p1 AS b, :p0 AS c"
    assert made.parameters == {"p0": "it's", "p1": "another"}
