"""The program on a terminal: progress, and Control-C."""

from __future__ import annotations

import errno
import json
import os
import pty
import re
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest
from support.command_line import ZODIAC, digest, refused, write_edges, zodiac

from zodiac_sql.change.plan_sizes import Expected, PlannedSizes
from zodiac_sql.cli.progress import Report

CLOSURE = "p(X, Y) :- e(X, Y). p(X, Z) :- p(X, Y), p(Y, Z)."


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


def test_progress_of_much_tells_what_is_expected(tmp_path: Path) -> None:
    """Many facts are estimated before they are reasoned over."""
    file = tmp_path / "e.parquet"
    duckdb.sql("SELECT i AS a, i % 1000 AS b FROM range(200000) t(i)").write_parquet(str(file))
    (tmp_path / "two.rules").write_text("p(X, Y) :- e(X, Y). q(Y) :- p(X, Y).")
    _, _, seen = on_terminal("run", ":memory:", "-r", "two.rules", "-d", file.name, cwd=tmp_path)
    assert re.search("of 2: about [0-9,]+ facts", seen)


@pytest.mark.parametrize(
    ("begun", "said"),
    [(0.5, "3 s left"), (10, "30 s left"), (100, "5 min left"), (7200, "6 h left")],
)
def test_time_left(begun: float, said: str) -> None:
    """A quarter of the facts are there; what that has taken counts once a second has passed."""
    one = Expected("h1", ("p",), 1, False, 5_000_000, 5_000_000, 5_000_000, 8_000, "joins")
    report = Report()
    assert report.left() == ""
    report.expects(
        PlannedSizes((one, replace(one, hypernode="h2", rows=15_000_000)), 0, 0, 0, None)
    )
    report._begun -= begun
    report("h2", 1, 2)
    assert report.left() == said


def test_time_left_of_a_single_hypernode() -> None:
    """Nothing was seen yet: a closure is expected to take a second for a million facts."""
    one = Expected("h1", ("p",), 1, True, 40_000_000, 0, None, 8_000, "closure, from a sample")
    report = Report()
    report.expects(PlannedSizes((one,), 0, 0, 0, None))
    report("h1", 0, 1)
    assert report.left() == "40 s left"
    report._seen -= 30
    assert report.left() == "10 s left"
    report._seen -= 30
    assert report.left() == "overdue"


@pytest.mark.parametrize(
    ("done", "total", "said"),
    [
        (10_000_000, None, "30 s left"),  # of 40 million facts, in 10 s, as expected
        (20_000_000, None, "10 s left"),
        (5_000_000, None, "70 s left"),
        (64, 256, "30 s left"),
        (128, 256, "10 s left"),
        (1, 256, "40 s left"),  # too few to tell
        (50_000_000, None, ""),  # nobody knows
    ],
)
def test_time_left_is_corrected_inside_a_hypernode(done: int, total: int | None, said: str) -> None:
    one = Expected("h1", ("p",), 1, True, 40_000_000, 0, None, 8_000, "closure, from a sample")
    report = Report()
    report.expects(PlannedSizes((one,), 0, 0, 0, None))
    report("h1", 0, 1)
    report._entered -= 10
    report.comes(done, total)
    assert report.left() == said


def test_what_comes_after_a_hypernode_is_corrected_by_it() -> None:
    """A quarter of the first one took 5 s instead of 10: the others will be as fast."""
    one = Expected("h1", ("p",), 1, True, 40_000_000, 0, None, 8_000, "closure, from a sample")
    report = Report()
    report.expects(
        PlannedSizes((one, replace(one, hypernode="h2", rows=50_000_000)), 0, 0, 0, None)
    )
    report("h1", 0, 2)
    assert report.left() == "90 s left"
    report._begun -= 5
    report._entered -= 5
    report.comes(1, 4)
    assert report.left() == "40 s left"


def test_components_are_expected_to_be_fast() -> None:
    how = "components, from a sample"
    report = Report()
    report.expects(
        PlannedSizes((Expected("h1", ("p",), 1, True, 10**9, 0, None, 8_000, how),), 0, 0, 0, None)
    )
    report("h1", 0, 1)
    assert report.left() == "10 s left"


def test_verify_shows_progress_on_a_terminal(farm: Path) -> None:
    status, out, seen = on_terminal("verify", farm, cwd=farm.parent)
    assert status == 0
    assert "2 of 2" in seen
    assert "is exactly what" in out


def test_reading_shows_no_progress(farm: Path) -> None:
    status, out, seen = on_terminal("query", farm, "hot(X)", cwd=farm.parent)
    assert (status, out, seen) == (0, "X\n---\nwt2\n(1 row)\n", "")


def test_a_table_fits_the_terminal_and_is_whole_in_a_pipe(tmp_path: Path) -> None:
    (tmp_path / "farm.ttl").write_text(
        "@prefix ex: <http://example.org/a/long/namespace#> .\n"
        "ex:wt1 ex:near ex:wt2 ; ex:remark 'it stands on the hill behind the old farm' .\n"
    )
    zodiac("insert", "farm.duckdb", "farm.ttl", cwd=tmp_path)
    asked = ("query", "farm.duckdb", "SELECT * FROM triple ORDER BY p")
    assert printed_on_terminal(*asked, columns=40, cwd=tmp_path) == [
        "s       p          o",
        "------  ---------  ---------------------",
        "ex:wt1  ex:near    ex:wt2",
        "ex:wt1  ex:remark  it stands on the hill",
        "                   behind the old farm",
        "(2 rows)",
    ]
    piped = zodiac(*asked, cwd=tmp_path).stdout
    assert "http://example.org/a/long/namespace#wt1  http://example.org" in piped
    assert "it stands on the hill behind the old farm" in piped


LONG = "http://example.org/a/long/namespace#"


def test_iris_have_prefixes_in_every_table_of_a_terminal(tmp_path: Path) -> None:
    """In lists, in names of modules, and where facts would come and go."""
    (tmp_path / "near.rules").write_text(
        f"@prefix ex: <{LONG}> .\n"
        "c: ex:near(X, Z) :- ex:near(X, Y), ex:near(Y, Z).\n"
        "b: ex:near(X, Y) :- ex:near(Y, X).\n"
        "h: ex:hot(X) :- ex:near(X, Y), ex:warm(Y).\n"
    )
    (tmp_path / "farm.ttl").write_text(
        f"@prefix ex: <{LONG}> . ex:wt1 ex:near ex:wt2 . ex:wt2 a ex:warm .\n"
    )
    (tmp_path / "more.ttl").write_text(f"@prefix ex: <{LONG}> . ex:wt3 a ex:warm .\n")
    run = ("run", "farm.duckdb", "-r", "near.rules", "-d", "farm.ttl")
    preview = ("insert", "farm.duckdb", "more.ttl", "--preview")
    calls = [run, ("show", "farm.duckdb", "hypernodes"), preview]
    calls += [(command, "farm.duckdb") for command in ("profile", "explain", "graph")]
    for call in calls:
        seen = printed_on_terminal(*call, columns=100, cwd=tmp_path)
        lines = [line for line in seen if "\x1b" not in line]  # without progress
        assert not any("example.org" in line for line in lines), lines
        assert any("ex:" in line for line in lines) and max(map(len, lines)) <= 100
    shown = " ".join(printed_on_terminal(*calls[1], columns=200, cwd=tmp_path))
    assert "stc(ex:near)" in shown and "ex:near, ex:warm" in shown
    assert f"{LONG}near" in zodiac("show", "farm.duckdb", "hypernodes", cwd=tmp_path).stdout
    previewed = printed_on_terminal(*preview, columns=100, cwd=tmp_path)
    assert "+ ex:warm(ex:wt3)" in previewed
    assert f"+ {LONG}warm({LONG}wt3)" in zodiac(*preview, cwd=tmp_path).stdout


def printed_on_terminal(*arguments: object, columns: int, cwd: Path) -> list[str]:
    """The lines that a terminal shows of stdout."""
    master, slave = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": str(columns)}
    call = [str(ZODIAC), *map(str, arguments)]
    process = subprocess.Popen(
        call, cwd=cwd, stdin=slave, stdout=slave, stderr=slave, env=environment
    )
    os.close(slave)
    seen = b""
    while part := read_terminal(master):
        seen += part
    os.close(master)
    assert process.wait(timeout=60) == 0
    return seen.decode().splitlines()


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
