"""The commands of zodiac on a file that another process serves: as on the file itself."""

from __future__ import annotations

import gc
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.command_line import ZODIAC, called, write_farm, zodiac

import zodiac_sql
from zodiac_sql.serve.place import place_of

COMMANDS: tuple[tuple[str, ...], ...] = (
    ("query", "farm.duckdb", "near(wt1, X)"),
    ("query", "farm.duckdb", "near(wt1, X)", "--json"),
    ("query", "farm.duckdb", "SELECT * FROM temperature ORDER BY ALL", "--csv"),
    ("query", "farm.duckdb", "near(wt1,"),
    ("query", "farm.duckdb", "near(X, Y)", "--max-rows", "1"),
    ("query", "farm.duckdb"),
    ("sparql", "farm.duckdb", "SELECT ?x { ?x a <urn:zodiac:hot> }"),
    *(("show", "farm.duckdb", what) for what in ("predicates", "hypernodes", "feed", "sets")),
    ("why", "farm.duckdb", "hot(wt2)"),
    ("why", "farm.duckdb", "hot(wt2)", "-o", "why.svg"),
    ("why-not", "farm.duckdb", "hot(wt1)", "--json"),
    ("graph", "farm.duckdb", "-o", "graph.svg"),
    ("insert", "farm.duckdb", "more.csv", "-p", "temperature"),
    ("insert", "farm.duckdb", "bad.csv", "-p", "temperature"),
    ("insert", "farm.duckdb", "missing.csv"),
    ("query", "farm.duckdb", "hot(X)"),
    ("delete", "farm.duckdb", "more.csv", "-p", "temperature", "--preview"),
    (
        "delete",
        "farm.duckdb",
        "m?re.csv",
        "-p",
        "temperature",
        "--skip",
        "1",
        "--no-header",
        "--preview",
    ),
    ("insert", "farm.duckdb", "none*.csv"),
    ("delete", "farm.duckdb", "more.csv", "-p", "temperature"),
    ("add-rules", "farm.duckdb", "more.rules", "--set", "more"),
    ("add-rules", "farm.duckdb", "-e", "p(X) :- nope(X"),
    ("drop-rules", "farm.duckdb", "more.rules", "--set", "more", "--preview"),
    ("drop-rules", "farm.duckdb", "--set", "more"),
    ("alter", "farm.duckdb", "temperature", "celsius=symbol"),
    ("alter", "farm.duckdb", "temperature", "celsius=float"),
    ("keep-feed", "farm.duckdb", "hot"),
    ("changes", "farm.duckdb"),
    ("verify", "farm.duckdb", "--json"),
    ("run", "farm.duckdb", "-r", "wind.rules", "--out", "out", "--format", "csv"),
    ("run", "farm.duckdb", "-d", "more.csv", "--plan"),
    ("export", "farm.duckdb", "exported", "--format", "nt"),
    ("backup", "farm.duckdb", "copy.duckdb"),
    ("backup", "farm.duckdb", "copy.duckdb"),
    ("inconsistencies", "farm.duckdb"),
    ("check", "wind.rules"),
)


def folder(path: Path) -> Path:
    path.mkdir()
    run = zodiac("run", "farm.duckdb", *write_farm(path), cwd=path)
    assert run.returncode == 0, run.stderr
    (path / "more.csv").write_text("turbine,celsius\nwt3,40.0\n")
    (path / "bad.csv").write_text("turbine,celsius\nwt3\n")
    (path / "more.rules").write_text("cold(X) :- temperature(X, T), T < 25.\n")
    return path


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Path]:
    """A folder with a farm that a process serves."""
    path = folder(tmp_path / "served")
    with subprocess.Popen([ZODIAC, "serve", "farm.duckdb"], cwd=path) as process:
        wait_for(path / "farm.duckdb")
        yield path
        process.terminate()
        assert process.wait(20) == 0


def wait_for(db: Path) -> None:
    until = time.monotonic() + 30
    while place_of(db) is None:
        assert time.monotonic() < until
        time.sleep(0.05)


def masked(text: str) -> str:
    """What a command prints, without how long it took, and when."""
    text = re.sub(r"\d+\.\d+(e-\d+)?( ms| s\b)?", "#", text)
    return re.sub(r"\d{4}-\d\d-\d\dT[\d:.+#]+", "@", text)


def test_the_same_output_and_status(
    served: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = folder(tmp_path / "alone")
    for command in COMMANDS:
        gc.collect()  # a refusal holds what it was about, and so the file, until it is forgotten
        monkeypatch.chdir(served)
        ours = called(*command)
        monkeypatch.chdir(alone)
        theirs = called(*command)
        assert ours.exit_code == theirs.exit_code, (command, ours.stderr, theirs.stderr)
        assert masked(ours.stderr) == masked(theirs.stderr), command
        if command[0] not in ("run", "verify"):
            assert masked(ours.stdout) == masked(theirs.stdout), command
    for name in ("why.svg", "graph.svg"):
        assert (served / name).read_bytes() == (alone / name).read_bytes()
    assert sorted(p.name for p in (served / "out").iterdir()) == sorted(
        p.name for p in (alone / "out").iterdir()
    )
    assert zodiac("verify", "copy.duckdb", cwd=served).returncode == 0


def test_what_only_an_open_file_can_do(served: Path) -> None:
    for command, said in (
        (("compact", "farm.duckdb"), "nobody else has it open"),
        (("run", "farm.duckdb", "-r", "wind.rules", "--threads", "1"), "settings of its own"),
        (("serve", "farm.duckdb"), "is served already"),
        (("stream", "farm.duckdb", "-"), "--serve"),
    ):
        run = zodiac(*command, cwd=served)
        assert (run.returncode, run.stdout) == (1, "")
        assert said in run.stderr


def test_standard_input_does_not_reach_the_server(served: Path) -> None:
    for arguments in (("insert", "-", "-p", "p"), ("run", "-d", "-", "-p", "p")):
        done = zodiac(arguments[0], "farm.duckdb", *arguments[1:], cwd=served)
        assert done.returncode == 1 and "standard input does not reach it" in done.stderr


def test_by_another_name(served: Path) -> None:
    """A symbolic link, and a path from elsewhere."""
    link = served.parent / "link.duckdb"
    link.symlink_to(served / "farm.duckdb")
    for name in ("link.duckdb", "served/farm.duckdb"):
        run = zodiac("query", name, "hot(X)", "--csv", cwd=served.parent)
        assert run.stdout == "X\nwt2\n"


def test_following_until_the_client_ends(served: Path) -> None:
    assert zodiac("keep-feed", "farm.duckdb", "hot", cwd=served).returncode == 0
    command = [ZODIAC, "changes", "farm.duckdb", "--follow"]
    with subprocess.Popen(command, cwd=served, stdout=subprocess.PIPE, text=True) as following:
        assert following.stdout is not None
        zodiac("insert", "farm.duckdb", "more.csv", "-p", "temperature", cwd=served)
        assert "wt3" in following.stdout.readline()
        following.send_signal(signal.SIGINT)
        assert following.wait(20) == 130


def test_a_server_that_was_killed(tmp_path: Path) -> None:
    """What it left is no hindrance, and nothing that it said was there is lost."""
    path = folder(tmp_path / "served")
    for number in range(3):
        with subprocess.Popen([ZODIAC, "serve", "farm.duckdb"], cwd=path) as process:
            wait_for(path / "farm.duckdb")
            name = f"more{number}.csv"
            (path / name).write_text(f"turbine,celsius\nw{number},4{number}.0\n")
            run = zodiac("insert", "farm.duckdb", name, "-p", "temperature", cwd=path)
            assert run.returncode == 0
            process.kill()
            process.wait(20)
        assert (path / "farm.duckdb.server").exists()
        run = zodiac("query", "farm.duckdb", f"hot(w{number})", "--csv", cwd=path)
        assert run.stdout == "holds\ntrue\n"
    assert zodiac("verify", "farm.duckdb", cwd=path).returncode == 0


def test_a_client_that_was_killed(served: Path) -> None:
    """Its change ends, and the server goes on."""
    rule = "n(0). n(Y) :- n(X), Y = X + 1, Y < 1000000000."
    command = [ZODIAC, "add-rules", "farm.duckdb", "-e", rule]
    with subprocess.Popen(command, cwd=served) as process:
        time.sleep(1.5)
        process.kill()
    run = zodiac("add-rules", "farm.duckdb", "more.rules", cwd=served)
    assert run.returncode == 0
    assert "n(" not in zodiac("show", "farm.duckdb", "rules", cwd=served).stdout


def test_a_stream_that_serves(tmp_path: Path) -> None:
    command = [ZODIAC, "stream", "a.duckdb", "-", "--serve", "--json"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=tmp_path, **pipes) as stream:  # type: ignore[call-overload]
        wait_for(tmp_path / "a.duckdb")
        for number in range(5):
            stream.stdin.write(f'{{"insert": {{"v": [[{number}]]}}}}\n')
            stream.stdin.flush()
            assert '"v": 1' in stream.stdout.readline()
            run = zodiac("query", "a.duckdb", "v(X)", "--csv", cwd=tmp_path)
            assert len(run.stdout.splitlines()) == number + 2
        stream.stdin.close()
        assert stream.wait(20) == 0
    assert place_of(tmp_path / "a.duckdb") is None
    assert not (tmp_path / "a.duckdb.socket").exists()


def test_help_and_missing_parts(tmp_path: Path) -> None:
    run = zodiac("serve", "--help", cwd=tmp_path)
    assert "curl" in run.stdout
    run = zodiac("serve", "x.duckdb", "--timeout", "0", cwd=tmp_path)
    assert run.returncode == 2
    assert not (tmp_path / "x.duckdb").exists()
    assert os.listdir(tmp_path) == []
    assert shutil.which("zodiac", path=str(ZODIAC.parent))


def test_a_served_clock_ticks(tmp_path: Path) -> None:
    """Also where a constraint would refuse that time goes on."""
    with zodiac_sql.connect(tmp_path / "farm.duckdb") as kb:
        kb.add_rules(".decl seen(x: symbol, at: int) .window seen(at: 1 hour). seen(a, 7).")
        kb.add_rules("x(a). !- x(X), not seen(X, _).")
    command = [ZODIAC, "serve", "farm.duckdb", "--tick", "100ms"]
    with subprocess.Popen(command, cwd=tmp_path) as process:
        try:
            left = ""
            for _ in range(100):
                found = zodiac("query", "farm.duckdb", "seen(X, T)", "--json", cwd=tmp_path)
                left = found.stdout
                if '"a"' not in left:
                    break
                time.sleep(0.1)
            assert '"a"' not in left
        finally:
            process.terminate()
