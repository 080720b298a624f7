"""The options that say how files are read: the same for `run`, `insert` and `delete`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.command_line import answered, called, refused
from typer.testing import CliRunner

from zodiac_sql.cli.main import app

LOGGED = (
    "Logger;5\nWürzburg\n\n# Kanäle\nAnlage;Wert\n# eins\nwt1;1.234,56\nwt2;7;x\n# zwei\nwt3;n/a\n"
)
OPTIONS = [
    "--encoding", "cp1252", "--decimal", ",", "--thousands", ".", "--comment", "#", "--skip", "2",
    "--null-string", "n/a", "--nulls", "skip-row", "--columns", "Anlage=turbine,Wert=celsius",
    "--skip-bad", "--delimiter", ";", "-p", "reading",
]  # fmt: skip


@pytest.fixture
def logged(here: Path) -> str:
    (here / "log-1.csv").write_bytes(LOGGED.encode("cp1252"))
    (here / "log-2.csv").write_bytes(LOGGED.replace("wt1;1.2", "wt9;9.2").encode("cp1252"))
    return "log-*.csv"


def test_the_commands_read_alike(here: Path, logged: str) -> None:
    told = json.loads(answered("run", "a.duckdb", "-d", logged, *OPTIONS, "--json"))
    assert told["inserted"] == {"reading": 2}
    assert answered("query", "a.duckdb", "reading(turbine: X, celsius: T)", "--csv").split() == [
        "X,T", "wt1,1234.56", "wt9,9234.56",
    ]  # fmt: skip
    told = json.loads(answered("delete", "a.duckdb", logged, *OPTIONS, "--json"))
    assert told["deleted"] == {"reading": 2}
    told = json.loads(
        answered("insert", "a.duckdb", *sorted(here.glob(logged)), *OPTIONS, "--json")
    )
    assert told["inserted"] == {"reading": 2}
    assert answered("delete", "a.duckdb", logged, *OPTIONS, "--preview").count("reading") > 0
    names = [answered(one, "--help") for one in ("run", "insert", "delete")]
    for option in (one for one in OPTIONS if one.startswith("-") and len(one) > 1):
        assert all(option in text for text in names), option


def test_standard_input(here: Path) -> None:
    def given(*arguments: str, text: bytes) -> str:
        result = CliRunner().invoke(app, arguments, input=text)
        assert result.exit_code == 0, result.output
        return result.stdout

    text = "turbine;v\nwt1;ü\n".encode("cp1252")
    options = ("-p", "p", "--encoding", "cp1252", "--json")
    assert json.loads(given("insert", "a.duckdb", "-", *options, text=text))["inserted"] == {"p": 1}
    assert json.loads(given("delete", "a.duckdb", "-", *options, text=text))["deleted"] == {"p": 1}
    told = json.loads(given("run", "a.duckdb", "-d", "-", *options, text=text))
    assert told["inserted"] == {"p": 1}
    result = CliRunner().invoke(app, ["insert", "a.duckdb", "-"], input=text)
    assert result.exit_code == 1 and "give the predicate of its rows" in result.stderr
    assert refused("insert", "a.duckdb", "-", "-p", "q").startswith("standard input is empty: ")


def test_errors_name_the_options_of_the_command(here: Path) -> None:
    (here / "x.csv").write_bytes("a,b\nü,2\n".encode("cp1252"))
    assert 'say which, --encoding "cp1252" (of Windows)' in refused("insert", "a.duckdb", "x.csv")
    (here / "x.csv").write_text("\na,b\n1,2\n")
    assert "or say --skip 1." in refused("insert", "a.duckdb", "x.csv")
    (here / "x.nt").write_text("")
    said = refused("insert", "a.duckdb", "x.jsonl", "--skip", 1, "--no-header")
    assert "no file x.jsonl" in said
    (here / "x.jsonl").write_text('{"a": 1}\n')
    said = refused("insert", "a.duckdb", "x.jsonl", "--skip", 1, "--no-header")
    assert said == "x.jsonl is no CSV: --no-header and --skip are for CSV and TSV.\n"
    assert "no file matches this pattern" in refused("run", "a.duckdb", "-d", "raw/*.csv")
    assert not (here / "a.duckdb").exists()


def test_a_new_predicate_is_told(farm: Path) -> None:
    (farm.parent / "temprature.csv").write_text("turbine,celsius\nwt3,30.0\n")
    result = called("insert", farm, "temprature.csv")
    assert result.stderr == ("note: makes the predicate temprature; did you mean temperature?\n")
    assert called("insert", farm, "temprature.csv").stderr == ""
