"""The program `zodiac`: the real one for the main ways, a runner in this process for the rest."""

from __future__ import annotations

import csv
import errno
import hashlib
import io
import json
import os
import pty
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
import typer
from typer.testing import CliRunner, Result

from zodiac_sql.cli.main import app
from zodiac_sql.cli.options import Format
from zodiac_sql.cli.read_commands import is_sql

ZODIAC = Path(sys.executable).with_name("zodiac")
COMMANDS = [
    "run", "add-rules", "drop-rules", "insert", "delete", "stream", "query", "show", "graph",
    "verify", "export",
]  # fmt: skip

RULES = """\
r1: near(X, Y) :- near(Y, X).
r2: near(X, Y) :- near(X, Z) and near(Z, Y) and COMP(X, !=, Y).
hot: hot(X) :-
    temperature(X, T), T > 25.
"""
NEAR = "s,o\nwt1,wt2\nwt2,wt3\n"
TEMPERATURE = "turbine,celsius\nwt1,20.5\nwt2,30.0\n"
CLOSURE = "p(X, Y) :- e(X, Y). p(X, Z) :- p(X, Y), p(Y, Z)."


def zodiac(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """The real program; its output goes into pipes."""
    command = [str(ZODIAC), *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, timeout=60)


def called(*arguments: object) -> Result:
    """The program in this process."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments], prog_name="zodiac")


def answered(*arguments: object) -> str:
    """What a call prints that has to go well."""
    result = called(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def refused(*arguments: object, status: int = 1) -> str:
    """What a call says that has to be refused: only on stderr."""
    result = called(*arguments)
    assert (result.exit_code, result.stdout) == (status, "")
    assert "Traceback" not in result.stderr
    return result.stderr


def told(*arguments: object) -> dict[str, Any]:
    """What a call tells as JSON."""
    found: dict[str, Any] = json.loads(answered(*arguments, "--json"))
    return found


def names_of_rules(db: Path) -> list[str]:
    return [row["name"] for row in json.loads(answered("show", db, "rules", "--json"))]


def content(db: Path) -> list[str]:
    """All that a database of the wind farm holds: rules, hypernodes, facts and symbols."""
    shown = [answered("show", db, what) for what in ("rules", "predicates", "hypernodes")]
    tables = ("near", "temperature", "hot", "zodiac.symbol")
    facts = [answered("query", db, f"FROM {table} ORDER BY ALL", "--csv") for table in tables]
    return shown + facts


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def write_edges(path: Path, nodes: int, edges: int) -> Path:
    """A random acyclic graph."""
    choose = random.Random(7)
    pairs = [sorted(choose.sample(range(nodes), 2)) for _ in range(edges)]
    path.write_text("s,o\n" + "".join(f"n{a},n{b}\n" for a, b in pairs))
    return path


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory, the current one, with rules and data."""
    monkeypatch.chdir(tmp_path)
    write_farm(tmp_path)
    return tmp_path


def write_farm(directory: Path) -> list[str]:
    """Rules and data of a wind farm, and the options that give them to `run`."""
    (directory / "wind.rules").write_text(RULES)
    (directory / "near.csv").write_text(NEAR)
    (directory / "temperature.csv").write_text(TEMPERATURE)
    return ["-r", "wind.rules", "-d", "near.csv", "-d", "temperature.csv"]


@pytest.fixture(scope="module")
def farm_made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("farm")
    run = zodiac("run", "farm.duckdb", *write_farm(directory), cwd=directory)
    assert run.returncode == 0, run.stderr
    return directory / "farm.duckdb"


@pytest.fixture
def farm(here: Path, farm_made_once: Path) -> Path:
    """A database of the wind farm."""
    return Path(shutil.copy(farm_made_once, here))


# --- run ------------------------------------------------------------------------------------------


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
    assert (told["inserted"], told["deleted"], told["notes"]) == ({"near": 6}, {}, [])
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
    assert "near.csv: File exists" in said
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


# --- other changes --------------------------------------------------------------------------------


def test_rules_come_and_go(farm: Path) -> None:
    rule = "cool: cool(X) :- temperature(X, T), not hot(X)."
    out = answered("add-rules", farm, "-e", rule)
    assert out.splitlines()[2].split() == ["cool", "1", "0"]
    assert "hypernodes: 1 created (h3), 2 untouched\n" in out
    told = json.loads(answered("drop-rules", farm, "cool", "--json"))
    assert (told["inserted"], told["deleted"]) == ({}, {"cool": 1})
    assert told["hypernodes"] == {
        "created": [], "merged": {}, "split": {}, "dropped": ["h3"], "updated": [],
        "untouched": ["h1", "h2"],
    }  # fmt: skip
    assert names_of_rules(farm) == ["r1", "r2", "hot"]


def test_rules_from_files_of_any_name(here: Path) -> None:
    (here / "more.txt").write_text("p(a).")
    answered("add-rules", "new.duckdb", "wind.rules", "more.txt", "-e", "p(b).")
    assert "(2 rows)" in answered("query", "new.duckdb", "p(X)")


def test_insert_is_one_change(here: Path) -> None:
    told = json.loads(answered("insert", "new.duckdb", "near.csv", "temperature.csv", "--json"))
    assert told["inserted"] == {"near": 2, "temperature": 2}
    before = digest(here / "new.duckdb")
    (here / "more.csv").write_text("s,o\nwt7,wt8\n")
    (here / "bad.csv").write_text("s,o\nonly\n")
    refused("insert", "new.duckdb", "more.csv", "bad.csv")
    assert digest(here / "new.duckdb") == before
    again = answered("insert", "new.duckdb", "near.csv")
    assert again.startswith("no fact came or went\n")
    answered("insert", "new.duckdb", "more.csv", "-p", "near")
    assert "(3 rows)" in answered("query", "new.duckdb", "near(X, Y)")


def test_delete_is_one_change(farm: Path) -> None:
    before = answered("show", farm, "predicates")
    (farm.parent / "more.csv").write_text("s,o\nwt3,wt4\nwt4,wt5\n")
    answered("insert", farm, "more.csv", "-p", "near")
    told = json.loads(answered("delete", farm, "more.csv", "-p", "near", "--json"))
    assert (told["inserted"], told["deleted"]) == ({}, {"near": 14})
    assert answered("show", farm, "predicates") == before
    result = called("delete", farm, "more.csv", "near.csv", "-p", "near")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[2].split() == ["near", "0", "6"]
    note = "note: more.csv: 2 facts are not among the explicit facts, and passed over\n"
    assert result.stderr == note


def test_deleting_what_is_not_there(farm: Path) -> None:
    before = answered("show", farm, "predicates")
    (farm.parent / "other.csv").write_text("a,b,c\n1,new text,2\nonly\n")
    assert "line 3: only" in refused("delete", farm, "other.csv")
    told = json.loads(answered("delete", farm, "other.csv", "--skip-bad", "--json"))
    assert (told["inserted"], told["deleted"]) == ({}, {})
    assert "1 fact is not among the explicit facts" in "".join(told["notes"])
    assert answered("show", farm, "predicates") == before
    assert "(0 rows)" in answered(
        "query", farm, "SELECT * FROM zodiac.symbol WHERE text = 'new text'"
    )


def test_refused_changes(farm: Path) -> None:
    before = digest(farm)
    assert "there is no file no.csv" in refused("insert", farm, "no.csv")
    assert "unsafe" in refused("add-rules", farm, "-e", "bad: p(X) :- hot(Y).")
    assert digest(farm) == before
    for arguments in (["drop-rules", "no.duckdb", "r1"], ["delete", "no.duckdb", "near.csv"]):
        assert "there is no database no.duckdb" in refused(*arguments)
    for command in (
        ["insert", ":memory:", "near.csv"],
        ["delete", ":memory:", "near.csv"],
        ["add-rules", ":memory:", "-e", "p(a)."],
    ):
        assert "it is for `zodiac run`" in refused(*command)


# Rules that go, by name, as text and by file.


def test_rules_are_dropped_by_file(farm: Path) -> None:
    (farm.parent / "same.dl").write_text(
        "other: hot(A) :- B > 25, temperature(A, B). near(A, B) :- near(B, A). "
        "near(wt8, wt9). near(a, b)."
    )
    result = called("drop-rules", farm, "same.dl")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[2].split() == ["hot", "0", "1"]
    assert result.stderr == "note: same.dl: 2 facts stay, for dropping rules deletes none\n"
    assert names_of_rules(farm) == ["r2"]
    answered("drop-rules", farm, "wind.rules")
    assert names_of_rules(farm) == []


def test_rules_are_dropped_as_text(farm: Path) -> None:
    found = told(
        "drop-rules", farm, "r1", "-e", "hot(A) :- temperature(A, B), B > 25.",
        "-e", "near(P, R) :- near(P, Q), near(Q, R), P != R.",
    )  # fmt: skip
    assert found["deleted"] == {"hot": 1, "near": 4}
    assert names_of_rules(farm) == []


def test_rules_that_are_not_there_are_passed_over(farm: Path) -> None:
    given = ["hot", "nope", "-e", "near(X, X) :- hot(X)."]
    result = called("drop-rules", farm, *given)
    assert result.exit_code == 0
    assert "hypernodes: 1 dropped (h2), 1 untouched\n" in result.stdout
    assert result.stderr == (
        "note: there is no rule named nope\nnote: there is no rule near(X, X) :- hot(X).\n"
    )
    assert names_of_rules(farm) == ["r1", "r2"]


def test_rules_that_are_not_there_are_refused_if_strict(farm: Path) -> None:
    before = content(farm)
    for given in (["hot", "nope"], ["r1", "-e", "near(X, X) :- hot(X)."]):
        said = refused("drop-rules", farm, *given, "--strict")
        assert said.startswith("there is no rule n") and said.count("\n") == 1
        assert "The rules are: " in said
    said = refused("drop-rules", farm, "hot", "no.rules", "no.dl")
    assert said == "there is no file no.rules, no.dl. Nothing was changed.\n"
    (farm.parent / "bad.rules").write_text("p(X) :- .")
    assert refused("drop-rules", farm, "hot", "bad.rules").startswith("bad.rules:1:9: ")
    assert content(farm) == before
    answered("drop-rules", farm, "wind.rules", "--strict")
    assert names_of_rules(farm) == []


# Rules that are there already.


def test_equal_rules_are_passed_over(farm: Path) -> None:
    rules = "near(B, A) :- near(A, B). hot: hot(A) :- temperature(A, B), B > 25."
    result = called("add-rules", farm, "-e", rules)
    assert (result.exit_code, result.stdout.splitlines()[0]) == (0, "no fact came or went")
    assert "hypernodes: 2 untouched\n" in result.stdout
    assert result.stderr == (
        "note: near(B, A) :- near(A, B). is there already, as r1\n"
        "note: hot: hot(A) :- temperature(A, B), B > 25. is there already\n"
    )
    before = content(farm)
    said = refused("add-rules", farm, "-e", "cool(X) :- not hot(X), near(X, Y).", "-e", rules,
                   "--strict")  # fmt: skip
    assert said.startswith("<rules>:1:1: near(B, A) :- near(A, B). is there already, as r1\n")
    assert "\n\n" not in said
    assert content(farm) == before


def test_a_rule_in_place_of_another(farm: Path) -> None:
    rule = "hot: hot(X) :- temperature(X, T), T > 20."
    assert "already a rule named hot" in refused("add-rules", farm, "-e", rule)
    assert told("add-rules", farm, "-e", rule, "--replace")["inserted"] == {"hot": 1}
    (farm.parent / "wind.rules").write_text(RULES.replace("25", "99"))
    out = answered("add-rules", farm, "wind.rules", "--replace")
    assert out.splitlines()[2].split() == ["hot", "0", "2"]
    assert names_of_rules(farm) == ["r1", "r2", "hot"]
    assert told("verify", farm)["exact"]


# Hypernodes that merge and split.

CHAIN = "a: p(X) :- e(X). b: q(X) :- p(X). c: s(X) :- q(X)."


def test_hypernodes_merge_and_split(here: Path) -> None:
    answered("add-rules", "h.duckdb", "-e", CHAIN, "-e", "e(1).")
    merge = ("add-rules", "h.duckdb", "-e", "back: p(X) :- s(X). d: t(X) :- s(X).")
    line = "1 created (h4), h2 and h3 merged into h2, 1 untouched\n"
    assert f"\nhypernodes would be: {line}" in answered(*merge, "--preview")
    assert told(*merge, "--preview")["hypernodes"]["merged"] == {"h2": ["h2", "h3"]}
    assert f"\nhypernodes: {line}" in answered(*merge)
    assert "h2  stratum 0  recursive  b, c, back" in answered("graph", "h.duckdb")

    split = ("drop-rules", "h.duckdb", "back", "d")
    line = "h2 split into h2 and h5, 1 dropped (h4), 1 untouched\n"
    assert f"\nhypernodes would be: {line}" in answered(*split, "--preview")
    assert told(*split, "--preview")["hypernodes"]["split"] == {"h2": ["h2", "h5"]}
    assert " split " in answered("graph", "h.duckdb", "--drop", "back")
    assert f"\nhypernodes: {line}" in answered(*split)
    assert told("verify", "h.duckdb")["exact"]


def test_many_hypernodes_are_not_all_named(here: Path) -> None:
    rules = " ".join(f"p{i}(X) :- e(X)." for i in range(12))
    out = answered("add-rules", "many.duckdb", "-e", rules)
    assert "\nhypernodes: 12 created (h1, h2, h3, h4, h5, h6, h7, h8, h9 and others)\n" in out
    assert len(told("drop-rules", "many.duckdb", "-e", rules)["hypernodes"]["dropped"]) == 12
    assert "\nhypernodes: none\n" in answered("drop-rules", "many.duckdb", "r1")


# --- previews -------------------------------------------------------------------------------------

PREVIEWS = [
    ("add-rules", "-e", "cool: cool(X) :- near(X, Y), not hot(X)."),
    ("add-rules", "-e", "hot: hot(X) :- temperature(X, T), T > 20.", "--replace"),
    ("add-rules", "-e", "near(wt3, new). near(X, Y) :- hot(X), hot(Y)."),
    ("drop-rules", "r2", "wind.rules"),
    ("drop-rules", "-e", "near(A, B) :- near(B, A)."),
    ("insert", "temperature.csv", "-p", "near2"),
    ("insert", "more.csv", "-p", "near"),
    ("delete", "near.csv"),
]


@pytest.mark.parametrize("arguments", PREVIEWS, ids=" ".join)
def test_a_preview_tells_what_will_change(farm: Path, arguments: tuple[str, ...]) -> None:
    (farm.parent / "more.csv").write_text("s,o\nwt3,wt4\nwt1,wt2\n")
    command, *rest = arguments
    before = content(farm)
    preview = told(command, farm, *rest, "--preview", "--samples", 99)
    text = answered(command, farm, *rest, "--preview")
    assert content(farm) == before
    assert told("verify", farm)["exact"]

    assert preview["preview"] is True
    assert text.startswith("a preview: nothing was changed\n\npredicate")
    assert "  would enter  would leave\n" in text
    change = told(command, farm, *rest)
    assert "preview" not in change
    for name in ("inserted", "deleted", "hypernodes", "notes"):
        assert preview[name] == change[name]
    assert preview["inserted"] or preview["deleted"]
    for which in ("inserted", "deleted"):
        samples = {p: len(of[which]) for p, of in preview["samples"].items() if of[which]}
        assert samples == preview[which]


def test_a_preview_as_text(farm: Path) -> None:
    rules = "cool: cool(X, T) :- temperature(X, T), not hot(X)."
    result = called("add-rules", farm, "-e", rules, "-e", "near(X, Y) :- near(Y, X).", "--preview")
    assert result.stdout.startswith("""\
a preview: nothing was changed

predicate  would enter  would leave
---------  -----------  -----------
cool                 1            0

+ cool(wt1, 20.5)

hypernodes would be: 1 created (h3), 2 untouched
seconds: """)
    assert result.stderr == "note: near(X, Y) :- near(Y, X). is there already, as r1\n"
    out = answered("drop-rules", farm, "hot", "--preview")
    assert "\n\n- hot(wt2)\n\nhypernodes would be: 1 dropped (h2), 1 untouched\n" in out
    out = answered("add-rules", farm, "wind.rules", "--preview")
    assert "\n\nno fact would come or go\n\nhypernodes would be: 2 untouched\n" in out


def test_samples_of_a_preview(farm: Path) -> None:
    rows = "".join(f"wt{i},{i}\n" for i in range(1007))
    (farm.parent / "many.csv").write_text("a,b\n" + rows + 'wt1,"a\x1b\nb"\n')
    preview = ("insert", farm, "many.csv", "--preview")
    shown = [line for line in answered(*preview).splitlines() if line.startswith("+ many(wt")]
    assert len(shown) == 5
    assert "\n  ... and 1,003 more\n" in answered(*preview)
    out = answered(*preview, "--samples", 2000)
    assert out.count("\n+ many(wt") == 1008
    assert "\n+ many(wt1, a\\x1b\\nb)\n" in out and " more" not in out
    none = answered(*preview, "--samples", 0)
    assert "+ " not in none and " more" not in none
    assert told(*preview, "--samples", 0)["samples"] == {"many": {"inserted": [], "deleted": []}}
    (one,) = told(*preview, "--samples", 1)["samples"]["many"]["inserted"]
    assert len(one) == 2


def test_a_preview_of_what_is_refused(farm: Path) -> None:
    before = content(farm)
    assert "unsafe" in refused("add-rules", farm, "-e", "bad: p(X) :- hot(Y).", "--preview")
    assert "is there already" in refused("add-rules", farm, "wind.rules", "--strict", "--preview")
    assert "no rule named x" in refused("drop-rules", farm, "x", "--strict", "--preview")
    (farm.parent / "bad.csv").write_text("s,o\nonly\n")
    assert "bad.csv: 1 bad line" in refused("insert", farm, "bad.csv", "--preview")
    assert content(farm) == before


@pytest.mark.parametrize(
    "arguments",
    [("add-rules", "wind.rules"), ("drop-rules", "r1"), ("insert", "near.csv"),
     ("delete", "near.csv")],
    ids=lambda arguments: arguments[0],
)  # fmt: skip
def test_a_preview_makes_no_database(here: Path, arguments: tuple[str, ...]) -> None:
    command, *rest = arguments
    said = refused(command, "no.duckdb", *rest, "--preview")
    assert said.startswith("there is no database no.duckdb, so there is nothing to preview against")
    assert not (here / "no.duckdb").exists()
    assert "it is for `zodiac run`" in refused(command, ":memory:", *rest, "--preview")


def test_a_graph_before_and_after(farm: Path) -> None:
    before = content(farm)
    (farm.parent / "more.rules").write_text("cool: cool(X) :- near(X, Y), not hot(X).")
    out = answered("graph", farm, "--add", "more.rules", "--drop", "r1")
    first, second = out.split("\n\n")
    assert first.splitlines()[1:] == [
        "  h1  stratum 0  recursive  changed  - r1, r2  derives near  modules stc(near)",
        "  h2  stratum 0                      hot  derives hot",
    ]
    assert second.splitlines()[1] == (
        "  h1  stratum 0  recursive  changed  r2  derives near  modules tc(near)"
    )
    assert second.splitlines()[-1] == (
        "  h3  stratum 1             created  + cool  derives cool  <- h1, not h2"
    )
    for suffix, begin in ((".svg", "<svg"), (".mmd", "---"), (".dot", "digraph")):
        path = farm.with_suffix(suffix)
        assert answered("graph", farm, "-o", path, "--drop", "wind.rules") == f"wrote {path}\n"
        text = path.read_text()
        assert text.startswith(begin) and "dropped" in text
    assert content(farm) == before
    result = called("graph", farm, "--drop", "nope", "--add", "wind.rules")
    assert result.exit_code == 0
    assert result.stdout.startswith("before\n  h1")
    assert result.stderr.startswith("note: there is no rule named nope\nnote: r1: near(X, Y)")


def test_a_rule_takes_the_name_of_one_that_goes(farm: Path) -> None:
    (farm.parent / "hot.rules").write_text("hot: hot(X) :- temperature(X, T), T > 20.")
    assert "already a rule named hot" in refused("graph", farm, "--add", "hot.rules")
    out = answered("graph", farm, "--add", "hot.rules", "--drop", "hot")
    assert "- hot  derives hot" in out and "+ hot  derives hot" in out


def test_refused_graphs_of_changes(farm: Path) -> None:
    said = "there is no file no.rules. Nothing was changed.\n"
    assert refused("graph", farm, "--add", "no.rules") == said
    assert refused("graph", farm, "--drop", "no.rules") == said
    assert "there is no database no.duckdb. " in refused("graph", "no.duckdb", "--drop", "r1")
    assert "it is for `zodiac run`" in refused("graph", ":memory:", "--drop", "r1")


@pytest.fixture
def locked(farm: Path) -> Iterator[Path]:
    """A database that another process has open."""
    script = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print(flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", script, str(farm)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield farm
        process.communicate("\n")


def test_a_preview_of_a_locked_file(locked: Path) -> None:
    for arguments in (
        ("graph", locked, "--drop", "r1"),
        ("drop-rules", locked, "r1", "--preview"),
        ("insert", locked, "near.csv", "--preview"),
    ):
        said = refused(*arguments)
        assert said.startswith(f"{locked} is open in another process") and said.count("\n") == 1


# --- reading --------------------------------------------------------------------------------------


def test_query_goals(farm: Path) -> None:
    out = answered("query", farm, "hot(X), temperature(X, T)")
    assert out == "X       T\n---  ----\nwt2  30.0\n(1 row)\n"
    assert answered("query", farm, "hot(wt2)") == "holds\n-----\ntrue\n(1 row)\n"
    assert answered("query", farm, "hot(wt1)").endswith("(0 rows)\n")


def test_query_sql(farm: Path) -> None:
    text = "SELECT * FROM temperature ORDER BY celsius"
    assert answered("query", farm, text, "--csv") == TEMPERATURE
    assert json.loads(answered("query", farm, text, "--json")) == [
        {"turbine": "wt1", "celsius": 20.5},
        {"turbine": "wt2", "celsius": 30.0},
    ]
    assert json.loads(answered("query", farm, "FROM hot LIMIT 0", "--json")) == []
    assert "PROJECTION" in answered("query", farm, "EXPLAIN SELECT 1")


def test_values_of_all_kinds(farm: Path) -> None:
    text = (
        "SELECT 12::HUGEINT h, 1.5::DECIMAL(3, 1) d, 'nan'::DOUBLE n, NULL u, [1, 2] l, "
        "DATE '2025-01-31' t, true b, 1 AS x, 2 AS x, 'a,\"b' || chr(10) || chr(27) AS s"
    )
    (row,) = json.loads(answered("query", farm, text, "--json"))
    assert row == {
        "h": 12, "d": 1.5, "n": None, "u": None, "l": [1, 2], "t": "2025-01-31", "b": True,
        "x": 1, "x_1": 2, "s": 'a,"b\n\x1b',
    }  # fmt: skip
    names, values = csv.reader(io.StringIO(answered("query", farm, text, "--csv")))
    assert names == ["h", "d", "n", "u", "l", "t", "b", "x", "x", "s"]
    expected = ["12", "1.5", "nan", "", "[1, 2]", "2025-01-31", "true", "1", "2", 'a,"b\n\x1b']
    assert values == expected
    shown = answered("query", farm, text)
    assert "\x1b" not in shown  # data must not steer the terminal
    assert 'a,"b\\n\\x1b' in shown


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


# --- the program ----------------------------------------------------------------------------------


def test_version() -> None:
    import zodiac_sql

    assert answered("--version") == f"zodiac {zodiac_sql.__version__}\n"


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


# --- terminals and interruptions ------------------------------------------------------------------


def on_terminal(*arguments: object, cwd: Path) -> tuple[int, str, str]:
    """Status, stdout in a pipe, and what a terminal sees of stderr."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [str(ZODIAC), *map(str, arguments)],
        cwd=cwd,
        stdin=slave,
        stdout=subprocess.PIPE,
        stderr=slave,
        env={**os.environ, "TERM": "xterm"},
    )
    os.close(slave)
    seen = b""
    while part := read_terminal(master):
        seen += part
    os.close(master)
    out, _ = process.communicate(timeout=60)
    return process.returncode, out.decode(), seen.decode()


def read_terminal(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError as error:  # how Linux says that the other side has closed
        assert error.errno == errno.EIO
        return b""


def test_progress_appears_on_a_terminal_and_not_in_a_pipe(here: Path) -> None:
    run = ["run", ":memory:", "-r", "wind.rules", "-d", "near.csv", "-d", "temperature.csv"]
    status, out, seen = on_terminal(*run, "--json", cwd=here)
    assert status == 0
    assert "2 of 2" in seen
    assert len(json.loads(out)["hypernodes"]) == 2
    piped = zodiac(*run, "--json", cwd=here)
    assert (piped.returncode, piped.stderr) == (0, "")


def test_verify_shows_progress_on_a_terminal(farm: Path) -> None:
    status, out, seen = on_terminal("verify", farm, cwd=farm.parent)
    assert status == 0
    assert "2 of 2" in seen
    assert "is exactly what" in out


def test_reading_shows_no_progress(farm: Path) -> None:
    status, out, seen = on_terminal("query", farm, "hot(X)", cwd=farm.parent)
    assert (status, out, seen) == (0, "X\n---\nwt2\n(1 row)\n", "")


def interrupted(*arguments: object, cwd: Path, when: Callable[[], bool]) -> tuple[int, str]:
    """Status and stderr of a call in which Control and C are pressed."""
    process = subprocess.Popen(
        [str(ZODIAC), *map(str, arguments)],
        cwd=cwd,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 20
    while not when() and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(1.0)  # into the work
    assert process.poll() is None, "it was too fast to be interrupted"
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    return process.returncode, said


def test_control_c_changes_nothing(here: Path) -> None:
    path = here / "e.duckdb"
    (here / "closure.rules").write_text(CLOSURE)
    write_edges(here / "e.csv", 10_000, 80_000)
    files = ["-r", "closure.rules", "-d", "e.csv"]
    told = interrupted("run", path, *files, cwd=here, when=path.exists)
    assert told == (130, "interrupted; nothing was changed\n")
    assert not path.exists()

    zodiac("insert", path, "e.csv", cwd=here)
    before = digest(path)
    told = interrupted("add-rules", path, "closure.rules", cwd=here, when=path.exists)
    assert told == (130, "interrupted; nothing was changed\n")
    assert digest(path) == before


@pytest.mark.parametrize(
    "arguments",
    [
        ("insert", "near.csv"),
        ("insert", "near.csv", "--preview"),
        ("graph", "--drop", "r1"),
        ("verify",),
        ("query", "hot(X)"),
    ],
)
def test_control_c_that_a_library_loses(
    farm: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    """DuckDB imports pandas and pyarrow as it sees fit, and forgets what is raised meanwhile."""
    before = digest(farm)
    command, *rest = arguments
    monkeypatch.setattr("zodiac_sql.cli.endings._interrupted", [signal.SIGINT])
    assert refused(command, farm, *rest, status=130) == "interrupted; nothing was changed\n"
    assert digest(farm) == before
