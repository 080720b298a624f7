"""The program itself: its version, its help, and what it says to wrong usage."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from support.command_line import ZODIAC, answered, refused, zodiac

from zodiac_sql.cli.main import app

COMMANDS = [
    "run", "add-rules", "drop-rules", "ontology", "insert", "delete", "stream", "query", "sparql",
    "show", "graph", "why", "why-not", "inconsistencies", "explain", "profile", "verify", "export",
    "backup", "check", "format", "lsp",
    "keep-feed", "changes", "alter", "compact", "serve", "ui",
]  # fmt: skip


def test_version() -> None:
    import zodiac_sql

    assert answered("--version") == f"zodiac {zodiac_sql.__version__}\n"


def test_a_shell_completes_commands() -> None:
    asked = {"_ZODIAC_COMPLETE": "complete_bash", "COMP_WORDS": "zodiac st", "COMP_CWORD": "1"}
    told = subprocess.run(
        [ZODIAC], env=os.environ | asked, capture_output=True, text=True, check=False
    )
    assert (told.returncode, told.stdout.split()) == (0, ["stream"])


@pytest.mark.parametrize("command", COMMANDS)
def test_help_teaches(command: str) -> None:
    for option in ("--help", "-h"):
        out = answered(command, option)
        assert f"    zodiac {command} " in out


def test_every_argument_and_option_is_explained() -> None:
    group = typer.main.get_command(app)
    for name, command in group.commands.items():  # type: ignore[attr-defined]
        for parameter in command.params:
            assert name == "show" or parameter.help, (name, parameter.name)


def test_help_lists_every_command() -> None:
    out = answered("--help")
    listed = out.partition("Commands:")[2].splitlines()
    assert [line.split()[0] for line in listed if line.strip()] == COMMANDS
    assert "..." not in "".join(listed)  # no sentence is cut


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "new.duckdb"),
        ("run", "new.duckdb", "-d", "near.csv", "--threads", "0"),
        ("run", "new.duckdb", "-d", "near.csv", "--out", "o", "--format", "xml"),
        ("add-rules", "new.duckdb"),
        ("drop-rules", "new.duckdb"),
        ("drop-rules", "new.duckdb", "--strict"),
        ("drop-rules", "new.duckdb", "r1", "--replace"),
        ("add-rules", "new.duckdb", "wind.rules", "--samples", "1"),
        ("insert", "new.duckdb", "near.csv", "--preview", "--samples", "-1"),
        ("insert", "new.duckdb"),
        ("query", "new.duckdb"),
        ("query", "new.duckdb", "p(X)", "--json", "--csv"),
        ("show", "new.duckdb", "everything"),
        ("delete", "new.duckdb"),
        ("verify",),
        ("run", "--nonsense"),
    ],
    ids=" ".join,
)
def test_wrong_usage(here: Path, arguments: tuple[str, ...]) -> None:
    said = refused(*arguments, status=2)
    assert "Usage: zodiac" in said and "Error: " in said
    assert not (here / "new.duckdb").exists()


def test_without_arguments_there_is_help(tmp_path: Path) -> None:
    run = zodiac(cwd=tmp_path)
    assert run.returncode == 2
    assert "Commands:" in run.stdout + run.stderr


def test_the_command_line_itself_imports_nothing_heavy() -> None:
    """What `zodiac --help` imports beyond the package itself."""
    script = """
import sys, zodiac_sql
before = set(sys.modules)
import zodiac_sql.cli.main
try:
    sys.argv = ["zodiac", "--help"]
    zodiac_sql.cli.main.main()
except SystemExit as end:
    assert end.code == 0
new = {name.partition(".")[0] for name in set(sys.modules) - before}
heavy = {"duckdb", "pyarrow", "rich", "pandas", "sqlglot", "lark", "networkx", "pyoxigraph"}
assert not new & heavy, new & heavy
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert run.returncode == 0, run.stderr.decode()


def test_pandas_is_not_imported(tmp_path: Path) -> None:
    """DuckDB would do that with the first statement that has a parameter."""
    (tmp_path / "e.csv").write_text("a,b\n1,2\n")
    run = subprocess.run(
        [str(ZODIAC), "run", "e.duckdb", "-d", "e.csv"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPROFILEIMPORTTIME": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    imported = {line.rpartition("|")[2].strip() for line in run.stderr.splitlines()}
    assert "duckdb" in imported and "pandas.core" not in imported  # it asks for pandas, in vain


def test_a_reader_that_has_seen_enough(farm: Path) -> None:
    query = f"'{ZODIAC}' query farm.duckdb 'SELECT range FROM range(200000)'"
    for options in ("", "--csv", "--json"):
        run = subprocess.run(
            ["bash", "-c", f"{query} {options} | head -n 1; echo ${{PIPESTATUS[0]}}"],
            cwd=farm.parent,
            capture_output=True,
            text=True,
            check=True,
        )
        assert (run.stdout.splitlines()[-1], run.stderr) == ("0", "")


@pytest.mark.parametrize("options", ["", "--csv", "--json"])
def test_an_output_that_is_closed(farm: Path, options: str) -> None:
    run = subprocess.run(
        ["bash", "-c", f"'{ZODIAC}' query farm.duckdb 'hot(X)' {options} >&-"],
        cwd=farm.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has /dev/full")
@pytest.mark.parametrize("arguments", [["query", "farm.duckdb", "hot(X)"], ["--help"]])
def test_output_that_cannot_be_written(farm: Path, arguments: list[str]) -> None:
    with open("/dev/full", "w") as full:
        run = subprocess.run(
            [str(ZODIAC), *arguments],
            cwd=farm.parent,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (run.returncode, run.stderr) == (1, "standard output: No space left on device\n")


def test_shells_complete_commands(tmp_path: Path) -> None:
    typed = {"_ZODIAC_COMPLETE": "complete_bash", "COMP_WORDS": "zodiac ba", "COMP_CWORD": "1"}
    run = subprocess.run(
        [str(ZODIAC)],
        cwd=tmp_path,
        env={**os.environ, **typed},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stdout.split() == ["backup"]
