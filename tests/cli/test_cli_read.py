"""`zodiac query`, `sparql`, `show`, `graph`, `verify` and `export`: what only reads."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import duckdb
import pytest
from support.command_line import TEMPERATURE, answered, called, digest, refused, zodiac
from support.old_files import FOLDER, unpacked

from zodiac_sql.cli.read_commands import is_sql


def test_query_goals(farm: Path) -> None:
    out = answered("query", farm, "hot(X), temperature(X, T)")
    assert out == "X       T\n---  ----\nwt2  30.0\n(1 row)\n"
    assert answered("query", farm, "hot(wt2)") == "holds\n-----\ntrue\n(1 row)\n"
    assert answered("query", farm, "hot(wt1)").endswith("(0 rows)\n")


def test_query_with_rules_of_its_own(farm: Path) -> None:
    rules = farm.parent / "mild.rules"
    rules.write_text("mild(X) :- temperature(X, T), not hot(X).\n")
    before = digest(farm)
    out = answered("query", farm, "mild(X)", "--rules", rules)
    assert out == "X\n---\nwt1\n(1 row)\n"
    assert json.loads(answered("query", farm, "mild(wt1)", "-r", rules, "--json")) == [
        {"holds": True}
    ]
    assert "mild" in refused("query", farm, "mild(X)")
    assert "there is no file" in refused("query", farm, "mild(X)", "-r", "absent.rules")
    assert "--rules are for goals" in refused("query", farm, "FROM hot", "-r", rules, status=2)
    assert digest(farm) == before


def test_query_sql(farm: Path) -> None:
    text = "SELECT * FROM temperature ORDER BY celsius"
    assert answered("query", farm, text, "--csv") == TEMPERATURE
    assert json.loads(answered("query", farm, text, "--json")) == [
        {"turbine": "wt1", "celsius": 20.5},
        {"turbine": "wt2", "celsius": 30.0},
    ]
    assert json.loads(answered("query", farm, "FROM hot LIMIT 0", "--json")) == []
    assert "Projection" in answered("query", farm, "EXPLAIN SELECT 1")


def test_values_of_all_kinds(farm: Path) -> None:
    text = (
        "SELECT 12::HUGEINT h, 1.5::DECIMAL(3, 1) d, 'nan'::DOUBLE n, NULL u, [1, 2] l, "
        "DATE '2025-01-31' t, true b, 1 AS x, 2 AS x, 'a,\"b' || chr(10) || chr(27) AS s"
    )
    (row,) = json.loads(answered("query", farm, text, "--json"))
    assert row == {
        "h": 12, "d": 1.5, "n": "NaN", "u": None, "l": [1, 2], "t": "2025-01-31", "b": True,
        "x": 1, "x_1": 2, "s": 'a,"b\n\x1b',
    }  # fmt: skip
    names, values = csv.reader(io.StringIO(answered("query", farm, text, "--csv")))
    assert names == ["h", "d", "n", "u", "l", "t", "b", "x", "x", "s"]
    expected = ["12", "1.5", "nan", "", "[1, 2]", "2025-01-31", "true", "1", "2", 'a,"b\n\x1b']
    assert values == expected
    shown = answered("query", farm, text)
    assert "\x1b" not in shown  # data must not steer the terminal
    assert 'a,"b\\n\\x1b' in shown


def test_json_keeps_apart_what_is_no_json_number(farm: Path) -> None:
    text = (
        "SELECT 'inf'::DOUBLE i, '-inf'::DOUBLE j, NULL::DOUBLE n, 0.25::DECIMAL(3, 2) q, "
        "12345678901234567890.5::DECIMAL(22, 1) d"
    )
    (row,) = json.loads(answered("query", farm, text, "--json"))
    assert row == {
        "i": "Infinity", "j": "-Infinity", "n": None, "q": 0.25, "d": "12345678901234567890.5",
    }  # fmt: skip


def test_all_rows_are_printed(farm: Path) -> None:
    out = answered("query", farm, "SELECT range AS r FROM range(25000) ORDER BY r")
    lines = out.splitlines()
    assert len(lines) == 25_003
    assert (lines[2].strip(), lines[-2].strip(), lines[-1]) == ("0", "24999", "(25000 rows)")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1",
        "  select\n1",
        "from p",
        "WITH a AS (SELECT 1) FROM a",
        "SELECT*FROM p",
        "SELECT'x'",
        "(SELECT 1)",
        "-- all\nSELECT 1",
        "/* all */ SELECT 1",
        "VALUES (1)",
        "Describe p",
        "SHOW TABLES",
        'SUMMARIZE "p"',
        "TABLE p",
        "EXPLAIN SELECT 1",
        "DESCRIBE",
    ],
)
def test_what_is_sql(text: str) -> None:
    assert is_sql(text)


@pytest.mark.parametrize(
    "text",
    ["p(X)", "table(X)", "show(X, Y), not p(X)", "from:p(X)", "selected(X)", "values_of(X)",
     "not p(a)", "X = 1", "p", "show, p(X)"],
)  # fmt: skip
def test_what_is_goals(text: str) -> None:
    assert not is_sql(text)


@pytest.mark.parametrize("what", ["rules", "predicates", "hypernodes"])
def test_show(farm: Path, what: str) -> None:
    plain = answered("show", farm, what).splitlines()
    rows: list[dict[str, Any]] = json.loads(answered("show", farm, what, "--json"))
    assert plain[0].split() == [name for name in rows[0] if name != "trees"]  # no rule is cyclic
    assert len(plain) == 2 + len(rows)


def test_show_tells_what_was_decided_for_cyclic_rules(farm: Path) -> None:
    ring = "ring: ring(X) :- hasNeighbour(X, Y), hasNeighbour(Y, Z), hasNeighbour(Z, X)."
    answered("add-rules", farm, "-e", ring)
    header, _, *rows = answered("show", farm, "hypernodes").splitlines()
    assert header.split()[-1] == "trees"
    assert any("ring: as a whole (little to read)" in row for row in rows)


def test_show_prints_a_rule_on_one_line(farm: Path) -> None:
    assert "hot(X) :- temperature(X, T), T > 25." in answered("show", farm, "rules")


def test_show_tells_the_modules_at_work(farm: Path) -> None:
    assert answered("show", farm, "hypernodes").splitlines() == [
        "hypernode  stratum  recursive  modules    rules   derives  reads        rows",
        "---------  -------  ---------  ---------  ------  -------  -----------  ----",
        "h1               0  true       stc(near)  r1, r2  near     near            6",
        "h2               0  false                 hot     hot      temperature     1",
    ]
    rows = json.loads(answered("show", farm, "hypernodes", "--json"))
    assert [row["modules"] for row in rows] == [["stc(near)"], []]


def test_graph(farm: Path) -> None:
    assert answered("graph", farm).splitlines() == [
        "h1  stratum 0  recursive  r1, r2  derives near  modules stc(near)",
        "h2  stratum 0             hot  derives hot",
    ]
    for suffix, begin in ((".svg", "<svg"), (".mmd", "---"), (".dot", "digraph")):
        path = farm.with_suffix(suffix)
        assert answered("graph", farm, "-o", path) == f"wrote {path}\n"
        assert path.read_text().startswith(begin)
    assert "suffix must be .svg, .mmd or .dot" in refused("graph", farm, "-o", "graph.png")
    assert "no/graph.svg: No such file" in refused("graph", farm, "-o", "no/graph.svg")


def test_export(farm: Path) -> None:
    out = farm.parent / "out"
    assert answered("export", farm, out) == f"wrote 3 files to {out}\n"
    assert sorted(p.name for p in out.iterdir()) == [
        "hot.parquet", "near.parquet", "temperature.parquet",
    ]  # fmt: skip
    told = json.loads(answered("export", farm, out, "hot", "--format", "csv", "--json"))
    assert told == {"files": [str(out / "hot.csv")], "skipped": []}
    assert "there is no predicate hott. Did you mean hot?" in refused("export", farm, out, "hott")


def test_export_of_what_is_inferred(farm: Path) -> None:
    out = farm.parent / "out"
    assert answered("export", farm, out, "--inferred", "--format", "csv").startswith("wrote ")
    assert sorted(path.name for path in out.iterdir()) == ["hot.csv", "near.csv"]
    answered("export", farm, out, "--inferred", "--format", "ttl")
    assert "<urn:zodiac:temperature>" not in (out / "facts.ttl").read_text()


def test_sparql(farm: Path) -> None:
    query = "SELECT ?x ?t { ?x a <urn:zodiac:hot> ; <urn:zodiac:temperature> ?t }"
    assert answered("sparql", farm, query) == "x       t\n---  ----\nwt2  30.0\n(1 row)\n"
    standard = json.loads(answered("sparql", farm, query, "--json"))
    assert standard["head"]["vars"] == ["x", "t"]
    double = "http://www.w3.org/2001/XMLSchema#double"
    assert standard["results"]["bindings"] == [
        {
            "x": {"type": "literal", "value": "wt2"},
            "t": {"type": "literal", "value": "30.0", "datatype": double},
        }
    ]
    assert answered("sparql", farm, query, "--csv") == "x,t\nwt2,30.0\n"
    assert answered("sparql", farm, "ASK { ?x a <urn:zodiac:hot> }").endswith("(1 row)\n")
    graph = "CONSTRUCT { <urn:a> <urn:is> ?x } WHERE { ?x a <urn:zodiac:hot> }"
    assert answered("sparql", farm, graph).strip().endswith(':a ns1:is "wt2" .')
    assert json.loads(answered("sparql", farm, graph, "--json"))[0]["@id"] == "urn:a"
    assert answered("sparql", farm, graph, "--csv").splitlines()[1] == "urn:a,urn:is,wt2"


def test_verify(farm: Path) -> None:
    run = zodiac("verify", farm, cwd=farm.parent)
    assert (run.returncode, run.stderr) == (0, "")
    said = "farm.duckdb is exactly what its rules and facts entail: 3 predicates, 9 facts, in "
    assert said in run.stdout and run.stdout.count("\n") == 1
    told = json.loads(answered("verify", farm, "--json"))
    assert told.pop("seconds") > 0
    assert told == {
        "exact": True, "predicates": 3, "facts": 9,
        "missing": {}, "surplus": {}, "samples": {}, "tables": {}, "unsupported": {},
    }  # fmt: skip


def test_verify_finds_what_differs(farm: Path) -> None:
    with duckdb.connect(str(farm)) as plain:
        plain.execute('DELETE FROM idb."h1_near classes"')
        plain.execute("INSERT INTO idb.h2_hot SELECT * FROM idb.h2_hot")
        plain.execute("INSERT INTO idb.h2_hot SELECT id FROM zodiac.symbol WHERE text = 'wt1'")
    before = digest(farm)
    run = zodiac("verify", farm, cwd=farm.parent)
    assert (run.returncode, run.stderr) == (1, "")
    assert run.stdout.startswith("""\
predicate  missing  surplus
---------  -------  -------
hot              0        2
near             6        0

surplus  hot(wt1)
surplus  hot(wt2)
missing  near(wt1, wt2)
missing  near(wt1, wt3)
missing  near(wt2, wt1)
missing  near: 3 more

table        missing  surplus
-----------  -------  -------
idb.h1_near        6        0
idb.h2_hot         0        2

""")
    last = run.stdout.splitlines()[-1]
    assert "farm.duckdb is not what its rules and facts entail: 3 predicates, 9 facts" in last
    result = called("verify", farm, "--json")
    assert (result.exit_code, result.stderr) == (1, "")
    told = json.loads(result.stdout)
    assert not told["exact"]
    assert (told["missing"], told["surplus"]) == ({"near": 6}, {"hot": 2})
    assert told["samples"]["hot"] == {"missing": [], "surplus": [{"s": "wt1"}, {"s": "wt2"}]}
    assert told["tables"]["idb.h2_hot"] == {"missing": 0, "surplus": 2}
    assert digest(farm) == before
    answered("drop-rules", farm, "r1", "r2", "hot")
    answered("add-rules", farm, "wind.rules")
    assert json.loads(answered("verify", farm, "--json"))["exact"]


@pytest.mark.parametrize(
    "arguments",
    [("query", "p(X)"), ("show", "rules"), ("graph",), ("verify",), ("export", "out")],
    ids=lambda arguments: arguments[0],
)
def test_reading_makes_no_database(here: Path, arguments: tuple[str, ...]) -> None:
    command, *rest = arguments
    said = refused(command, "no.duckdb", *rest)
    assert said.startswith("there is no database no.duckdb. `zodiac run no.duckdb")
    assert not (here / "no.duckdb").exists()
    assert "it is for `zodiac run`" in refused(command, ":memory:", *rest)


def test_reading_changes_nothing(farm: Path) -> None:
    before = digest(farm)
    for arguments in (
        ("query", "hot(X)"), ("show", "predicates"), ("graph",), ("verify",), ("export", "out")
    ):  # fmt: skip
        answered(arguments[0], farm, *arguments[1:])
    assert digest(farm) == before


def test_refused_queries(farm: Path) -> None:
    assert "there is no predicate nope" in refused("query", farm, "nope(X)")
    assert "^" in refused("query", farm, "hot(X), [bold]x[/bold]")
    assert '"nope" not found' in refused("query", farm, "SELECT nope FROM hot")
    assert "one statement at a time" in refused("query", farm, "SELECT 1; SELECT 2")
    assert "syntax error" in refused("query", farm, "DELETE FROM near")


def test_a_file_that_is_no_database(here: Path) -> None:
    before = digest(here / "wind.rules")
    for arguments in (("query", "wind.rules", "p(X)"), ("insert", "wind.rules", "near.csv")):
        assert "wind.rules is not a DuckDB database file" in refused(*arguments)
    assert digest(here / "wind.rules") == before


def test_a_missing_function_is_a_warning_on_one_line(here: Path) -> None:
    import zodiac_sql

    with zodiac_sql.connect(here / "f.duckdb") as kb:
        kb.register_function("twice", lambda x: 2 * x, ["float"], "float")
        kb.add_rules("t: big(X, D) :- temperature(X, T), D = twice(T).")
    result = called("query", "f.duckdb", "SELECT 1 AS one", "--csv")
    assert (result.exit_code, result.stdout) == (0, "one\n1\n")
    assert result.stderr.startswith("warning: rules of f.duckdb use functions")
    assert result.stderr.count("\n") == 1
    assert "twice" in refused("insert", "f.duckdb", "temperature.csv")
    assert "rule t needs the function twice, which is not registered" in refused(
        "verify", "f.duckdb"
    )


def test_rules_that_mean_something_else_are_a_warning_on_one_line(here: Path) -> None:
    (packed,) = FOLDER.glob("aggregates_*.xz")
    file = unpacked(packed, here)
    result = called("drop-rules", str(file), "highest")
    assert result.exit_code == 0, result.stderr
    warning, note = result.stderr.splitlines()
    assert warning.startswith("warning: ")
    assert "mean something else now: usual, readings, summary. Every column" in warning
    assert note.startswith("note: evaluated anew")
    assert "readings          1        1\n" in result.stdout
    assert not called("query", str(file), "warm(X)").stderr
