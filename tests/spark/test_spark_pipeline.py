"""Mappings: from raw files to facts, with bad rows told and the difference applied."""

from __future__ import annotations

import datetime as dt
import gzip
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from zodiac_sql.errors import DataError, SparkError
from zodiac_sql.language.syntax import Type
from zodiac_sql.spark.mapping import FactMapping, Field, read_mappings
from zodiac_sql.spark.pipeline import PreparedFacts, prepare_facts, run_pipeline

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

TURBINE = Field("turbine", Type.SYMBOL)
CELSIUS = Field("celsius", Type.FLOAT)
TEMPERATURE = (TURBINE, CELSIUS)


def write(path: Path, *lines: str) -> str:
    """A text file of these lines, compressed if its name says so."""
    content = "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return str(path)


def rows(frame: DataFrame) -> list[tuple[Any, ...]]:
    return sorted(map(tuple, frame.collect()))


def bad(prepared: PreparedFacts) -> list[tuple[str, str]]:
    """Reason and row of what is in quarantine."""
    return sorted((row.reason, row.row) for row in prepared.quarantine.collect())


def prepared_from(spark: SparkSession, source: str, *fields: Field, **more: Any) -> PreparedFacts:
    return prepare_facts(spark, [FactMapping("p", source, fields or TEMPERATURE, **more)])


# --- formats --------------------------------------------------------------------------------------


def test_csv(spark: SparkSession, tmp_path: Path) -> None:
    source = write(
        tmp_path / "readings.csv.gz",
        'turbine,celsius,"the note"',
        "wt1,20.5,x",
        '"a ""quoted"", name",1,',
        '"",2,x',
        "",
        "wt1,20.5,y",
        ",3,x",
        "wt2,warm,x",
        "wt3,4",
        "wt4,4,x,y",
        'wt5,5,"broken',
        'text",6,x',
        ",,x",
    )
    prepared = prepared_from(spark, source)
    assert rows(prepared.facts["p"]) == [("", 2.0), ('a "quoted", name', 1.0), ("wt1", 20.5)]
    cells = "it has more or fewer cells than the first line of the file"
    assert bad(prepared) == [
        ("celsius: 'warm' is not a float", "wt2,warm,x"),
        ("the line cannot be read as CSV: a quote is not closed", 'text",6,x'),
        ("the line cannot be read as CSV: a quote is not closed", 'wt5,5,"broken'),
        (f"the line cannot be read as CSV: {cells}", "wt3,4"),
        (f"the line cannot be read as CSV: {cells}", "wt4,4,x,y"),
        ("turbine is empty (NULL)", ",3,x"),
        ("turbine is empty (NULL); celsius is empty (NULL)", ",,x"),
    ]
    assert (prepared.read, prepared.loaded, prepared.bad) == ({"p": 11}, {"p": 3}, {"p": 7})
    assert prepared.reasons["p"] == {
        "celsius is not a float": 1,
        "celsius is empty (NULL)": 1,
        "turbine is empty (NULL)": 2,
        f"the line cannot be read as CSV: {cells}": 2,
        "the line cannot be read as CSV: a quote is not closed": 2,
    }
    assert {row.file for row in prepared.quarantine.collect()} == {f"file:{source}"}
    assert {row.predicate for row in prepared.quarantine.collect()} == {"p"}


def test_columns_of_files_in_any_order(spark: SparkSession, tmp_path: Path) -> None:
    """Spark itself would take the header of one file for that of all."""
    odd = tmp_path / "a b[1]%20{x}"
    odd.mkdir()
    write(odd / "1.csv", "turbine,celsius", "wt1,1")
    write(odd / "2.csv", "celsius,turbine", "2,wt2")
    write(odd / "3 [3].csv", "\ufeffnote;turbine;celsius", "x;wt3;3")
    write(odd / "4.csv")
    write(odd / "5.csv", "celsius,turbine", "5,wt5", "5,wt5,x")
    (odd / "facts.toml").write_text(
        '[[facts]]\npredicate = "p"\nsource = "*.csv"\n'
        'columns = { turbine = "symbol", celsius = "int" }'
    )
    prepared = prepare_facts(spark, read_mappings(odd / "facts.toml"))
    assert rows(prepared.facts["p"]) == [("wt1", 1), ("wt2", 2), ("wt3", 3), ("wt5", 5)]
    assert prepared.bad == {"p": 1}
    with pytest.raises(
        DataError, match=r"p: column note, `note`, does not fit .*: turbine, celsius"
    ):
        prepared_from(spark, str(tmp_path / "*" / "[1-5]*.csv"), Field("note", Type.SYMBOL))


def test_tsv_and_text_that_is_not_utf8(spark: SparkSession, tmp_path: Path) -> None:
    source = write(tmp_path / "r.tsv", "turbine\tcelsius", "wt,1\t1")
    with open(source, "ab") as file:
        file.write("Süd\t2\n".encode("latin-1"))
    prepared = prepared_from(spark, source)
    assert rows(prepared.facts["p"]) == [("wt,1", 1.0)]
    assert bad(prepared) == [("the line is not UTF-8", "S\ufffdd\t2")]


def test_json_lines(spark: SparkSession, tmp_path: Path) -> None:
    source = write(
        tmp_path / "r.jsonl",
        '{"turbine": "wt1", "at": {"celsius": 1.50}, "ok": true}',
        '{"turbine": 7, "at": {"celsius": "2"}}',
        '{"turbine": null, "at": {"celsius": 3}}',
        '{"at": {}, "turbine": "wt4"}',
        '{"turbine": "wt5", "at": {"cels',
        "[1]",
        "",
    )
    prepared = prepared_from(spark, source, TURBINE, Field("celsius", Type.FLOAT, "at.celsius"))
    assert rows(prepared.facts["p"]) == [("7", 2.0), ("wt1", 1.5)]
    assert bad(prepared) == [
        ("celsius is empty (NULL)", '{"at": {}, "turbine": "wt4"}'),
        ("the line cannot be read as JSON", "[1]"),
        ("the line cannot be read as JSON", '{"turbine": "wt5", "at": {"cels'),
        ("turbine is empty (NULL)", '{"turbine": null, "at": {"celsius": 3}}'),
    ]


def test_parquet_and_data_frames(spark: SparkSession, tmp_path: Path) -> None:
    noon = dt.datetime(2024, 2, 29, 12)
    table = pa.table(
        {
            "name": ["a", "b", None, "a"],
            "number": [1.0, 2.5, 3.0, 1.0],
            "flag": [1, 1, 2, 1],
            "at": pa.array([noon] * 4, pa.timestamp("us", "UTC")),
        }
    )
    pq.write_table(table, tmp_path / "1.parquet")
    pq.write_table(table.drop_columns("flag"), tmp_path / "2.parquet")
    fields = (
        Field("name", Type.SYMBOL),
        Field("number", Type.INT),
        Field("flag", Type.BOOL),
        Field("at", Type.TIMESTAMP),
        Field("day", Type.DATE, "date_trunc('day', at)"),
        Field("text", Type.SYMBOL, "at"),
    )
    fact = ("a", 1, True, noon, noon.date(), "2024-02-29 12:00:00")
    prepared = prepared_from(spark, str(tmp_path / "*.parquet"), *fields)
    assert rows(prepared.facts["p"]) == [fact]
    assert prepared.reasons["p"] == {
        "name is empty (NULL)": 2,
        "number is not an int": 2,
        "flag is not a bool": 1,
        "flag is empty (NULL)": 4,
    }
    frame = spark.read.parquet(str(tmp_path / "1.parquet"))
    prepared = prepare_facts(spark, [FactMapping("p", frame, fields, where="name = 'b'")])
    (row,) = prepared.quarantine.collect()
    assert (row.predicate, row.file, row.reason) == ("p", None, "number: '2.5' is not an int")
    assert row.row.startswith('{"name":"b","number":2.5,"flag":1,"at":"2024-02-29T')


STATEMENTS = (
    "# a comment",
    '<http://x/wt1> <http://x/name> "Zo\\u00eb\\u0009\\U0001F600\\\' \\"\t\\\\n\\\\"@EN-gb .',
    '<http://x/wt1> <http://x/name> "plain" . # said',
    '<http://x/wt1> <http://x/name> "plain"^^<http://www.w3.org/2001/XMLSchema#string> .',
    '<http://x/wt1> <http://x/celsius> "20.5"^^<http://www.w3.org/2001/XMLSchema#double>.',
    "  <http://x/caf\\u00e9>\t<http://x/next> <tag:wt2> .",
    '_:b.1 <http://x/next> _:b2.',
    '_:b2 <http://x/name> "' + "long \\n" * 20_000 + '" .',
    "",
    "<http://x/wt1> <http://x/next> <http://x/wt 2> .",
    "<http://x/wt1> <http://x/next> <http://x/wt\\u00202> .",
    '<http://x/wt1> <http://x/name> "\\uD800" .',
    "wt1 next wt2",
)  # fmt: skip


def test_ntriples(spark: SparkSession, open_kb: OpenKb, tmp_path: Path) -> None:
    source = write(tmp_path / "farm.nt.gz", *STATEMENTS)
    term = Field("o", Type.SYMBOL, "object")
    next_, name = "predicate = '<http://x/next>'", "predicate = '<http://x/name>'"
    subject = Field("s", Type.SYMBOL, "subject")
    value = Field("celsius", Type.FLOAT, "value")
    is_float = "datatype = 'http://www.w3.org/2001/XMLSchema#double'"
    language = Field("language", Type.SYMBOL, "language")
    mappings = [
        FactMapping("next", source, (subject, term), next_),
        FactMapping("name", source, (term,), name),
        FactMapping("value", source, (subject, value), is_float),
        FactMapping("said", source, (language, Field("o", Type.SYMBOL, "value")), "language <> ''"),
    ]
    with open_kb() as kb:
        report = run_pipeline(kb, spark, mappings)
        tag = kb.sql("SELECT s[4:15] FROM next WHERE s LIKE '_:%'").fetchall()[0][0]
        assert sorted(kb.table("next").fetchall()) == [
            (f"_:z{tag}_b.1", f"_:z{tag}_b2"), ("http://x/café", "<tag:wt2>"),
        ]  # fmt: skip
        names = {text for (text,) in kb.table("name").fetchall()}
        assert names == {'"Zoë\\t😀\' \\"\\t\\\\n\\\\"@en-gb', "plain", "long \n" * 20_000}
        assert kb.table("value").fetchall() == [("http://x/wt1", 20.5)]
        assert kb.table("said").fetchall() == [("en-gb", "Zoë\t😀' \"\t\\n\\")]
    assert report.bad == {"next": 4, "name": 4, "value": 4, "said": 4}
    assert report.reasons["next"] == {"the line cannot be read as N-Triples": 4}
    found = {row.row for row in report.quarantine.collect()}
    assert found == set(STATEMENTS[-4:])


LOGGED = (
    "Logger;5\nWürzburg\n\n# Kanäle\nAnlage;Wert;Text\n# eins\nwt1;1.234,56;1,5\nwt2;7;ü\n"
    "wt3;1.5;x\nwt4;-0,5;€\n# zwei\n"
)  # fmt: skip


@pytest.mark.parametrize("name", ["log.csv", "log.csv.gz"])
@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "iso8859-15", "utf-16", "utf-16-be"])
@pytest.mark.parametrize("skip", [2, 0])
def test_csv_of_loggers(
    spark: SparkSession, tmp_path: Path, name: str, encoding: str, skip: int
) -> None:
    """As tests/facts/test_csv_of_loggers.py has it for `load`."""
    text = LOGGED if skip else LOGGED.split("\n", 3)[3]
    data = text.encode(encoding)
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    (tmp_path / "facts.toml").write_text(f"""
        [[facts]]
        predicate = "reading"
        source = "log.*"
        format = "csv"
        encoding = "{encoding}"
        decimal = ","
        thousands = "."
        comment = "#"
        skip = {skip}
        [facts.columns]
        turbine = {{ type = "symbol", from = "Anlage" }}
        Wert = "float"
        Text = "symbol"
    """)
    prepared = prepare_facts(spark, read_mappings(tmp_path / "facts.toml"))
    assert bad(prepared) == [("Wert: '1.5' is not a float", "wt3;1.5;x")]
    assert rows(prepared.facts["reading"]) == [
        ("wt1", 1234.56, "1,5"), ("wt2", 7.0, "ü"), ("wt4", -0.5, "€"),
    ]  # fmt: skip


def test_bytes_that_are_no_character(spark: SparkSession, tmp_path: Path) -> None:
    source = str(tmp_path / "x.csv")
    (tmp_path / "x.csv").write_bytes(b"turbine;celsius\nw\xfc;1\nw\x81;2\n")
    prepared = prepared_from(spark, source, options={"encoding": "cp1252", "delimiter": ";"})
    assert rows(prepared.facts["p"]) == [("wü", 1.0)]
    assert bad(prepared) == [("the line is not cp1252", "w\ufffd;2")]
    with pytest.raises(DataError, match="on Spark, text is UTF-8, UTF-16, UTF-32, or has one byte"):
        prepared_from(spark, source, options={"encoding": "shift_jis"})


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"encoding": "klingon"}, "p: 'klingon' is no encoding of text"),
        ({"decimal": ";"}, 'p: decimal is "," or "."'),
        ({"skip": "two"}, "p: skip is how many lines"),
        ({"nulls": "skip-row"}, "p: a mapping has no option nulls. Known are encoding, delimiter"),
    ],
)
def test_options_that_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(DataError, match=said):
        FactMapping("p", "x.csv", TEMPERATURE, options=options)
    with pytest.raises(DataError, match="x.nt is neither"):
        FactMapping("p", "x.nt", TEMPERATURE, options={"skip": 1})


# --- types ----------------------------------------------------------------------------------------

GOOD = {
    Type.SYMBOL: {"x y": "x y"},
    Type.INT: {"12": 12, "-3": -3, " 4 ": 4},
    Type.FLOAT: {"1.5": 1.5, "-1e3": -1000.0, ".5": 0.5, "inf": float("inf"), "7": 7.0},
    Type.BOOL: {"true": True, "F": False, "1": True, "0": False},
    Type.DATE: {"2024-02-29": dt.date(2024, 2, 29)},
    Type.TIMESTAMP: {
        "2024-02-29": dt.datetime(2024, 2, 29),
        "2024-02-29 12:00": dt.datetime(2024, 2, 29, 12),
        "2024-02-29T12:00:00.25": dt.datetime(2024, 2, 29, 12, 0, 0, 250_000),
        "2024-02-29T12:00:00+02:00": dt.datetime(2024, 2, 29, 10),
        "2024-02-29T12:00:00Z": dt.datetime(2024, 2, 29, 12),
        "2024-02-29 12:00:00 Europe/Berlin": dt.datetime(2024, 2, 29, 11),
    },
}
BAD = {
    Type.INT: ["1.5", "9223372036854775808", "1e3", "x"],
    Type.FLOAT: ["12d", "0x1p3", "1.5f", "1,5"],
    Type.BOOL: ["2", "maybe"],
    Type.DATE: ["2024", "2023-02-29", "2024-02-29 12:00", "29.02.2024"],
    Type.TIMESTAMP: ["2024", "12:00", "2024-02-30 12:00", "2024-02-29 25:00", "now"],
}


def test_types(spark: SparkSession) -> None:
    """Each text in a column of its own type, next to good ones of the others."""
    fields = tuple(Field(type_.value, type_) for type_ in GOOD)
    usual = {type_: next(iter(texts)) for type_, texts in GOOD.items()}
    values = {type_: texts[usual[type_]] for type_, texts in GOOD.items()}
    good = [(type_, text) for type_, texts in GOOD.items() for text in texts]
    wrong = [(type_, text) for type_, texts in BAD.items() for text in texts]
    given = [tuple({**usual, type_: text}[of] for of in GOOD) for type_, text in [*good, *wrong]]
    frame = spark.createDataFrame(given, [type_.value for type_ in GOOD])
    prepared = prepare_facts(spark, [FactMapping("p", frame, fields)])
    expected = {
        tuple({**values, type_: GOOD[type_][text]}[of] for of in GOOD) for type_, text in good
    }
    assert set(rows(prepared.facts["p"])) == expected
    articles = {Type.INT: "an int"}
    assert sorted(reason for reason, _ in bad(prepared)) == sorted(
        f"{type_}: '{text}' is not {articles.get(type_, f'a {type_}')}" for type_, text in wrong
    )


# --- runs -----------------------------------------------------------------------------------------


def test_a_run_applies_the_difference(spark: SparkSession, open_kb: OpenKb, tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    raw.mkdir()
    write(raw / "1.csv", "turbine,fahrenheit,sensor", "wt1,212,gear", "wt2,32,gear", "wt3,50,hub")
    write(raw / "2.csv", "turbine,fahrenheit,sensor", "wt2,32,gear", "wt2,?,gear")
    write(tmp_path / "more.jsonl", '{"celsius": 10, "id": "wt9"}')
    (tmp_path / "facts.toml").write_text("""
        [[facts]]
        predicate = "hasTemperature"
        source = "raw/*.csv"
        where = "sensor = 'gear'"
        [facts.columns]
        turbine = "symbol"
        celsius = { type = "float", from = "(try_cast(fahrenheit AS DOUBLE) - 32) / 1.8" }

        [[facts]]
        predicate = "hasTemperature"
        source = ["more.jsonl"]
        columns = { celsius = "float", turbine = { type = "symbol", from = "id" } }

        [[facts]]
        predicate = "turbine"
        source = "raw/*.csv"
        columns = { turbine = "symbol" }
    """)
    mappings = read_mappings(tmp_path / "facts.toml")
    table = tmp_path / "quarantine"
    with open_kb() as kb:
        kb.add_rules("hot(X) :- hasTemperature(X, T), T > 50 .")
        report = run_pipeline(kb, spark, mappings, quarantine=table)
        assert report.change.inserted == {"hasTemperature": 3, "turbine": 3, "hot": 1}
        assert sorted(kb.table("hasTemperature").fetchall()) == [
            ("wt1", 100.0), ("wt2", 0.0), ("wt9", 10.0),
        ]  # fmt: skip
        assert report.read == {"hasTemperature": 5, "turbine": 5}
        assert report.loaded == {"hasTemperature": 3, "turbine": 3}
        assert report.bad == {"hasTemperature": 1, "turbine": 0}
        assert report.reasons == {"hasTemperature": {"celsius is empty (NULL)": 1}}

        assert not run_pipeline(kb, spark, mappings).change

        write(raw / "2.csv", "sensor,fahrenheit,turbine", "gear,32,wt2", "gear,x,wt5")
        write(raw / "1.csv", "turbine,fahrenheit,sensor", "wt4,212,gear", "wt3,50,hub")
        again = run_pipeline(kb, spark, mappings, quarantine=table)
        assert again.change.inserted == {"hasTemperature": 1, "turbine": 2, "hot": 1}
        assert again.change.deleted == {"hasTemperature": 1, "turbine": 1, "hot": 1}
        (fact,) = again.change.inserted_facts("hasTemperature").to_pylist()
        assert tuple(fact.values()) == ("wt4", 100.0)
        assert kb.verify()
    kept = spark.read.parquet(str(table))
    assert kept.columns == ["predicate", "file", "reason", "row", "run"]
    assert rows(kept) == sorted(rows(report.quarantine) + rows(again.quarantine))
    assert [row.row for row in kept.orderBy("run").collect()] == ["wt2,?,gear", "gear,x,wt5"]


def test_a_failure_changes_nothing(spark: SparkSession, open_kb: OpenKb, tmp_path: Path) -> None:
    source = write(tmp_path / "r.csv", "turbine,celsius", "wt1,1", "wt2,x")
    (tmp_path / "file").touch()
    with open_kb() as kb:
        kb.add_rules(".decl p(s: symbol, o: float)")
        kb.insert("p", [("wt1", 7.5)])
        mapping = FactMapping("p", source, TEMPERATURE)
        with pytest.raises(SparkError):
            run_pipeline(kb, spark, [mapping], quarantine=tmp_path / "file")
        clash = FactMapping("p", source, (TURBINE, Field("celsius", Type.SYMBOL)))
        with pytest.raises(DataError, match="p: column o has the type float, the data have symbol"):
            run_pipeline(kb, spark, [clash], quarantine=tmp_path / "never")
        assert kb.table("p").fetchall() == [("wt1", 7.5)]
    assert not (tmp_path / "never").exists()


def test_nothing_stays_cached(spark: SparkSession, tmp_path: Path) -> None:
    source = write(tmp_path / "r.csv", "turbine,celsius", "wt1,1")
    before = spark._jsc.getPersistentRDDs().keys()  # type: ignore[union-attr]
    mapping = FactMapping("p", source, TEMPERATURE)
    other = FactMapping("q", source, TEMPERATURE, where="1 / (celsius - 1) > 0")
    with pytest.raises(SparkError, match=r"q, from .*r.csv: \[DIVIDE_BY_ZERO\].*quarantine"):
        prepare_facts(spark, [mapping, other])
    assert not spark._jsparkSession.sharedState().cacheManager().numCachedEntries()
    assert spark._jsc.getPersistentRDDs().keys() == before  # type: ignore[union-attr]


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "more", "said"),
    [
        ([Field("a", Type.INT, "b + 1")], {},
         r"p: column a, b \+ 1, does not fit .*r.csv: .*`b` cannot be.* are: turbine, celsius\."),
        ([Field("a", Type.INT, "1 +")], {},
         r"p: column a, 1 \+, does not fit .*PARSE_SYNTAX_ERROR"),
        ([Field("a", Type.INT, "sum(celsius)")], {}, r"p: column a, sum\(celsius\), does not fit"),
        ([TURBINE], {"where": "x > 1"}, r"p: the filter, x > 1, does not fit .*`x` cannot be"),
        ([TURBINE], {"where": "turbine"}, r"p: the filter, turbine, does not fit .*BOOLEAN"),
        ([Field("a", Type.SYMBOL, "array(1)")], {}, r"p: column a has the type array<int>"),
        ([Field("a", Type.DATE, "1.5D")], {}, r"p: column a as date, 1.5D, does not fit"),
    ],
)  # fmt: skip
def test_expressions_that_do_not_fit(
    spark: SparkSession, tmp_path: Path, fields: list[Field], more: dict[str, str], said: str
) -> None:
    source = write(tmp_path / "r.csv", "turbine,celsius", "wt1,1")
    with pytest.raises(DataError, match=said):
        prepared_from(spark, source, *fields, **more)


def test_sources_that_do_not_fit(spark: SparkSession, tmp_path: Path) -> None:
    for name in ("x*.csv", "x.parquet", "x.jsonl", "x.nt"):
        with pytest.raises(DataError, match="p: there is no file .*x"):
            prepared_from(spark, str(tmp_path / name))
    with pytest.raises(SparkError):
        prepared_from(spark, write(tmp_path / "no.parquet", "text"))
    with pytest.raises(DataError, match="p: there is no line in"):
        prepared_from(spark, write(tmp_path / "empty.csv"))
    with pytest.raises(DataError, match="twice.csv has more than one column a "):
        prepared_from(spark, write(tmp_path / "twice.csv", "a,b,A"))
    source = write(tmp_path / "r.csv", "turbine,celsius")
    mappings = [
        FactMapping("p", source, TEMPERATURE),
        FactMapping("p", source, (TURBINE, Field("celsius", Type.INT))),
    ]
    with pytest.raises(DataError, match=r"p: its mappings give .*float.*celsius: int\)"):
        prepare_facts(spark, mappings)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = [", r"facts.toml: .*\(at line 1, column 6\)|facts.toml: .*at end of document"),
        ("", r"each predicate's facts are a table \[\[facts\]\]"),
        ("fact = 1\n[[facts]]", r"facts.toml: the key fact is unknown. Known are facts\."),
        ("[[facts]]", r"facts.toml: \[\[facts\]\] 1: predicate is missing"),
        ("[[facts]]\npredicate = 'p'\nsource = 'x.csv'", r"\[\[facts\]\] 1 \(p\): columns is miss"),
        ("[[facts]]\npredicate = 'p'\ncolumns = {}",
         r"1 \(p\): source is missing, or not .* a path"),
        ("[[facts]]\npredicate = 'p'\nsource = 'x.csv'\ncolumns = {}",
         "needs columns, and has none"),
        ("[[facts]]\npredicate = 'p'\nfilter = ''",
         "the key filter is unknown. Known are predicate"),
        ("[[facts]]\npredicate = 'p'\nsource = 1\ncolumns = {}", "source is missing, or not what"),
        ("[[facts]]\npredicate = 'p'\nsource = 'x.csv'\nwhere = 1\ncolumns = {}",
         "where is missing"),
        ("[[facts]]\npredicate = 'p'\nsource = 'x'\ncolumns = {a = 'int'}", "x tells no format"),
        ("[[facts]]\npredicate = 'p'\nsource = ['x.nt', 'x.csv']\ncolumns = {a = 'int'}",
         "the formats csv and nt"),
        ("[[facts]]\npredicate = 'p'\nsource = 'x'\nformat = 'xml'\ncolumns = {a = 'int'}",
         "the format 'xml' is unknown. Known are csv, tsv, parquet, jsonl, nt"),
        ("[[facts]]\npredicate = 'p'\nsource = 'x.csv'\ncolumns = {a = 'text'}",
         r"1 \(p\): column a: there is no type 'text'. The types are symbol, int, decimal, float"),
        ("[[facts]]\npredicate = 'p'\nsource = 'x.csv'\ncolumns = {a = 1}", "column a: what it is"),
        ("[[facts]]\npredicate = 'p'\nsource = 'x.csv'\ncolumns = {a = {type='int', form='b'}}",
         "column a: the key form is unknown. Known are type, from"),
        ("[[facts]]\npredicate = 'p'\nsource = 'x.csv'\ncolumns = {a = 'int', A = 'int'}",
         "the columns a and A have the same name"),
    ],
)  # fmt: skip
def test_files_that_are_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "facts.toml"
    path.write_text(text)
    with pytest.raises(DataError, match=said):
        read_mappings(path)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="facts.toml cannot be read: No such file"):
        read_mappings(tmp_path / "facts.toml")
    (tmp_path / "facts.toml").write_bytes(b"\xff")
    with pytest.raises(DataError, match="is not UTF-8"):
        read_mappings(tmp_path / "facts.toml")


def test_paths_and_formats(tmp_path: Path) -> None:
    (tmp_path / "facts.toml").write_text(
        "[[facts]]\npredicate = 'p'\ncolumns = {a = 'int'}\nformat = 'csv'\n"
        "source = ['raw', '/data/x', 's3a://b/x', '../x']"
    )
    (mapping,) = read_mappings(tmp_path / "facts.toml")
    assert (
        FactMapping("p", list(mapping.paths), mapping.columns, format="csv").paths == mapping.paths
    )
    with pytest.raises(DataError, match="p: a mapping needs a source"):
        FactMapping("p", [], mapping.columns)
    here = f"file://{tmp_path}"
    assert mapping.paths == (f"{here}/raw", "/data/x", "s3a://b/x", f"{here}/../x")
    for path, format_ in {"x.NT.gz": "nt", "x.ndjson": "jsonl", "a.gz/*.{csv}": None}.items():
        if format_:
            assert FactMapping("p", path, (TURBINE,)).read_as == format_
        else:
            with pytest.raises(DataError, match="tells no format"):
                FactMapping("p", path, (TURBINE,))
