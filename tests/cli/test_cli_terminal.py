"""The program on a terminal: progress, and Control-C."""

from __future__ import annotations

import errno
import json
import os
import pty
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from support.command_line import ZODIAC, digest, refused, write_edges, zodiac

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
