"""`zodiac run`: what it prints, what it refuses, and how much memory it takes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.command_line import answered, called, digest, refused, write_edges, zodiac

from zodiac_sql.cli.options import Format


def test_run_prints_a_plain_summary(here: Path) -> None:
    run = zodiac(
        "run", "farm.duckdb", "-r", "wind.rules", "-d", "near.csv", "-d", "temperature.csv",
        "--threads", 1, "--temp-directory", "spill", cwd=here,
    )  # fmt: skip
    assert (run.returncode, run.stderr) == (0, "")
    lines = [line.split() for line in run.stdout.splitlines()]
    assert lines[0] == ["predicate", "explicit", "derived", "extension"]
    assert ["near", "2", "6", "6"] in lines
    assert ["temperature", "2", "0", "2"] in lines
    assert ["hot", "0", "1", "1"] in lines
    assert "hypernodes: 2, 1 recursive, 2 evaluated" in run.stdout
    assert "\x1b" not in run.stdout
    assert "reason" in lines[-1]


def test_a_plan_evaluates_nothing_and_makes_no_file(here: Path) -> None:
    files = ("-r", "wind.rules", "-d", "near.csv", "-d", "temperature.csv")
    run = zodiac("run", "farm.duckdb", *files, "--plan", cwd=here)
    assert (run.returncode, run.stderr) == (0, "")
    assert not (here / "farm.duckdb").exists()
    lines = [line.split() for line in run.stdout.splitlines()]
    assert lines[0][:4] == ["hypernode", "derives", "facts", "one"]
    assert [line[:2] for line in lines[2:4]] == [["h1", "near"], ["h2", "hot"]]
    assert "explicit facts: 4, derived: about" in run.stdout
    zodiac("run", "farm.duckdb", *files, cwd=here)
    told = json.loads(zodiac("run", "farm.duckdb", *files, "--plan", "--json", cwd=here).stdout)
    assert told["hypernodes"][0]["how"] == "bounds" and told["hypernodes"][1]["how"] == "joins"
    assert told["problem"] is None and told["free"] > 0


def test_run_as_json(here: Path) -> None:
    run = zodiac(
        "run", ":memory:", "-r", "wind.rules", "-d", "near.csv",
        "--json", "--out", "o", "--format", "nt", cwd=here,
    )  # fmt: skip
    assert (run.returncode, run.stderr) == (0, "")
    told = json.loads(run.stdout)
    near = next(row for row in told["predicates"] if row["predicate"] == "near")
    assert near == {
        "predicate": "near",
        "sql_name": "near",
        "columns": "s: symbol, o: symbol",
        "explicit": 2,
        "derived": 6,
        "extension": 6,
    }
    assert [row["rules"] for row in told["hypernodes"]] == [["r1", "r2"], ["hot"]]
    assert told["hypernodes"][0]["evaluated"] and told["hypernodes"][0]["iterations"] == 1
    phases = ["stage", "check", "reason", "compare", "publish", "total"]
    assert list(told["seconds"]) == phases
    assert (told["inserted"], told["deleted"]) == ({"near": 6}, {})
    assert told["notes"] == ["nothing derives, declares or states temperature"]
    assert told["exported"]["files"] == ["o/facts.nt"]
    assert sorted(p.name for p in here.iterdir()) == [
        "near.csv", "o", "temperature.csv", "wind.rules",
    ]  # fmt: skip


def test_run_again_adds_to_the_file(farm: Path) -> None:
    (farm.parent / "cool.rules").write_text("cool(X) :- temperature(X, T), not hot(X).")
    answered("run", farm, "-r", "cool.rules")
    assert json.loads(answered("query", farm, "cool(X)", "--json")) == [{"X": "wt1"}]


@pytest.mark.parametrize("format", list(Format))
def test_run_exports(here: Path, format: Format) -> None:
    out = answered("run", ":memory:", "-d", "near.csv", "--out", "out", "--format", format)
    (file,) = (here / "out").iterdir()
    assert file.suffix == f".{format}"
    assert f"wrote {Path('out', file.name)}" in out


def test_a_failed_export_does_not_undo_the_change(here: Path) -> None:
    said = refused("run", "farm.duckdb", "-d", "near.csv", "--out", "near.csv")
    assert "near.csv cannot be made: File exists" in said
    assert "The change itself is complete in farm.duckdb." in said
    assert "(2 rows)" in answered("query", "farm.duckdb", "near(X, Y)")


def test_a_refused_run_leaves_no_file(here: Path) -> None:
    (here / "bad.rules").write_text("ok: p(X) :- q(X).\n  bad: p(X) :- not [red]q(X).\n")
    said = refused("run", "new.duckdb", "-r", "wind.rules", "-r", "bad.rules")
    lines = said.splitlines()
    assert lines[0].startswith("bad.rules:2:20: ")
    assert lines[1] == "      bad: p(X) :- not [red]q(X)."
    assert lines[2] == " " * (4 + 19) + "^"
    assert not (here / "new.duckdb").exists()


def test_a_refused_run_leaves_the_file_as_it_was(farm: Path) -> None:
    before = digest(farm)
    (farm.parent / "bad.csv").write_text("s,o\nonly\n")
    said = refused("run", farm, "-d", "near.csv", "-d", "bad.csv")
    assert said.startswith("bad.csv: 1 bad line")
    assert digest(farm) == before


def test_missing_files_are_all_named(here: Path) -> None:
    said = refused("run", "new.duckdb", "-r", "no.rules", "-d", "near.csv", "-d", "no.nt")
    assert said == "there is no file no.rules, no.nt. Nothing was changed.\n"
    assert not (here / "new.duckdb").exists()


def test_bad_lines_can_be_skipped(here: Path) -> None:
    (here / "some.csv").write_text("s,o\na,b\nonly\nc,d\n")
    result = called("run", ":memory:", "-d", "some.csv", "--skip-bad")
    assert result.exit_code == 0
    assert "note: some.csv: 1 bad line was left out\n    line 3: only" in result.stderr
    told = json.loads(answered("run", ":memory:", "-d", "some.csv", "--skip-bad", "--json"))
    assert told["inserted"] == {"some": 2}
    assert "line 3: only" in told["notes"][0]


def test_how_tables_are_read(here: Path) -> None:
    (here / "log.csv").write_text("id;note;t\na;x;1.5\nb;y;-\n")
    told = json.loads(answered(
        "run", "log.duckdb", "-d", "log.csv", "--columns", "id=turbine,t=celsius", "--delimiter",
        ";", "--null-string", "-", "--nulls", "skip-row", "--json",
    ))  # fmt: skip
    assert told["inserted"] == {"log": 1}
    assert told["predicates"][0]["columns"] == "turbine: symbol, celsius: float"
    (here / "one.nt").write_text("<urn:a> <urn:p> <urn:b> .\n")
    said = refused("run", "log.duckdb", "-d", "one.nt", "--delimiter", ";")
    assert "one.nt is no table" in said


def test_too_little_memory_spills_or_fails_cleanly(here: Path) -> None:
    zodiac("run", "e.duckdb", "-d", write_edges(here / "e.csv", 3000, 24_000), cwd=here)
    before = digest(here / "e.duckdb")
    (here / "closure.rules").write_text("p(X, Y) :- e(X, Y). p(X, Z) :- p(X, Y), e(Y, Z).")
    run = zodiac(
        "run", "e.duckdb", "-r", "closure.rules", "--memory-limit", "50MB", "--threads", 1,
        cwd=here,
    )  # fmt: skip
    assert run.returncode in (0, 1)
    if run.returncode == 1:
        assert "Out of memory. Nothing was changed." in run.stderr
        assert digest(here / "e.duckdb") == before
    else:
        count = zodiac("query", "e.duckdb", "SELECT count(*) > 1e6 AS c FROM p", "--csv", cwd=here)
        assert count.stdout == "c\ntrue\n"


def test_far_too_little_memory_fails_cleanly(here: Path) -> None:
    write_edges(here / "e.csv", 300, 2000)
    run = zodiac("run", "e.duckdb", "-d", "e.csv", "--memory-limit", "2MB", cwd=here)
    assert (run.returncode, run.stdout) == (1, "")
    assert "Out of memory. Nothing was changed." in run.stderr
    assert "Traceback" not in run.stderr
    assert not (here / "e.duckdb").exists()


def test_strict(here: Path) -> None:
    (here / "typo.rules").write_text("warm(X) :- temperatur(X, T), T > 20.")
    call = (
        "run",
        here / "strict.duckdb",
        "-d",
        here / "temperature.csv",
        "-r",
        here / "typo.rules",
    )
    assert "temperatur" in refused(*call, "--strict")
    assert not (here / "strict.duckdb").exists()
    answered(*call)


@pytest.mark.parametrize(("rules", "said"), [
    (".decl p(a: symbol, b: symbol) best(X, MIN(Y)) :- p(X, Y).", "not symbols"),
    ("q(X, Y) :- p(X, _).", "unsafe: Y"),
    ("q(X) :- p(X,", "syntax error"),
    ("q(X) :- p(X, _), not r(X). r(X) :- q(X).", "inside a cycle"),
])  # fmt: skip
def test_rules_are_refused_before_files_are_read(tmp_path: Path, rules: str, said: str) -> None:
    (tmp_path / "a.rules").write_text(rules)
    (tmp_path / "p.csv").write_text('a,b\n"x')
    told = called("run", ":memory:", "-r", str(tmp_path / "a.rules"), "-d", str(tmp_path / "p.csv"))
    assert told.exit_code == 1 and said in told.output


def test_what_facts_complete_is_not_refused_before_they_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.rules").write_text(
        "best(X, MIN(Y)) :- p(b: Y, a: X). ?P(Y, X) :- turned(P), ?P(X, Y). turned(p)."
        " q(X) :- p(X, Y), Y > 1.5."
    )
    (tmp_path / "p.csv").write_text("a,b\n1,2\n1,3\n")
    files = ("-r", str(tmp_path / "a.rules"), "-d", str(tmp_path / "p.csv"))
    assert "best" in answered("run", ":memory:", *files, "--json")
