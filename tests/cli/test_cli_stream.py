"""The command `zodiac stream`."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.edge_streams import PATHS, edge, gone, start
from typer.testing import CliRunner, Result

import zodiac_sql
from zodiac_sql import KnowledgeBase
from zodiac_sql.cli.main import app

OpenKb = Callable[..., KnowledgeBase]

ZODIAC = Path(sys.executable).with_name("zodiac")


def called(*arguments: object, given: str | bytes | None = None) -> Result:
    return CliRunner().invoke(app, ["stream", *map(str, arguments)], input=given)


def lines(*updates: object) -> str:
    return "".join(json.dumps(update) + "\n" for update in updates)


@pytest.fixture
def db(open_kb: OpenKb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A database in the current directory."""
    monkeypatch.chdir(tmp_path)
    with open_kb("e.duckdb") as kb:
        start(kb)
    return "e.duckdb"


def test_the_command_sums_up(db: str) -> None:
    Path("u.jsonl").write_text(lines(edge("cd"), gone("ab")))
    result = called(db, "u.jsonl", "--name", "u")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("2 updates, 4 facts in, 4 out, ")
    assert result.stdout.endswith(" updates/s\n")
    Path("u.jsonl").write_text(lines(edge("cd"), gone("ab"), edge("de"), 7))
    result = called(db, "u.jsonl", "--name", "u", "--skip-bad")
    assert result.stdout.startswith("2 updates (1 passed over), 4 facts in, 0 out, ")
    going_on, note = result.stderr.splitlines()
    assert going_on == "going on after update 2"
    assert note.startswith("note: update 4 (u.jsonl:4) was passed over: an update is an object")


def test_the_command_prints_json_lines(db: str) -> None:
    result = called(db, "-", "--json", "--coalesce", 5, "--queue", 7, given=lines(edge("cd")))
    (told,) = map(json.loads, result.stdout.splitlines())
    assert told["updates"] == [1, 1] and told["inserted"] == {"edge": 1, "path": 3}
    assert told["deleted"] == {} and told["notes"] == [] and told["waiting"] == 0
    assert 0 < told["seconds"] < 60 and 0 < told["lag"] < 60


def test_what_is_passed_over_is_printed_at_once(db: str) -> None:
    """Each of them, although a stream may never end, and prints only ten other notes then."""
    told = lines(*range(12), edge("cd"))
    result = called(db, "-", "--skip-bad", given=told)
    notes = result.stderr.splitlines()
    assert len(notes) == 12 and result.stdout.startswith("13 updates (12 passed over), 4 facts")
    for number, note in enumerate(notes, 1):
        assert note.startswith(f"note: update {number} (<stdin>:{number}) was passed over: an upd")
    result = called(db, "-", "--skip-bad", "--json", given=lines(7))
    assert "was passed over" in result.stderr and len(result.stdout.splitlines()) == 1
    process = subprocess.Popen(
        [ZODIAC, "stream", db, "-", "--skip-bad"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    with process:
        assert process.stdin is not None and process.stderr is not None
        process.stdin.write("7\n")
        process.stdin.flush()
        assert process.stderr.readline().startswith("note: update 1 (<stdin>:1) was passed over: ")
        process.stdin.close()
    assert process.returncode == 0


def test_the_command_tells_what_was_applied(db: str) -> None:
    result = called(db, "-", given=lines(edge("cd"), edge("de")).encode() + b'{"insert": 7, "\xff')
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("update 3 (<stdin>:3): not JSON: ")
    assert result.stderr.endswith("\n2 updates are in e.duckdb\n")
    assert called("new.duckdb", "-", given="7").stderr.endswith("\nno update is in new.duckdb\n")
    assert not Path("new.duckdb").exists()
    for arguments in (("missing.jsonl",), ("-", "--strategy", "x"), ("-", "--coalesce", 0)):
        assert called(db, *arguments, given="").exit_code in (1, 2)
    assert called(":memory:", "-", given="").exit_code == 1


def test_constraints_may_be_let_pass(db: str) -> None:
    with zodiac_sql.connect(db) as kb:
        kb.add_rules("!- edge(X, X).")
    Path("u.jsonl").write_text(lines(edge("aa")))
    refused = called(db, "u.jsonl")
    assert refused.exit_code == 1 and "--no-check" in refused.stderr
    passed = called(db, "u.jsonl", "--no-check")
    assert passed.exit_code == 0 and "let pass" in passed.stderr


def test_a_database_is_made(db: str) -> None:
    updates = lines({"add_rules": PATHS}, edge("ab", "bc"))
    assert called("new.duckdb", "-", "--strategy", "dred", given=updates).exit_code == 0
    assert Path("new.duckdb").exists()


def test_control_c_keeps_what_is_in_the_file(db: str, open_kb: OpenKb) -> None:
    """The real program, which gives each line at once and then waits for more in its pipe."""
    command = [str(ZODIAC), "stream", db, "-", "--json", "--name", "s"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as process:  # type: ignore[call-overload]
        for ends in ("cd", "de"):
            process.stdin.write(lines(edge(ends)))
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["inserted"]["edge"] == 1
        process.send_signal(signal.SIGINT)
        said = process.stderr.read()
        assert (process.wait(10), said) == (130, "interrupted; 2 updates are in e.duckdb\n")
    with open_kb(db) as kb:
        assert kb.position("s") == 2 and kb.verify()


def test_the_clock_ticks_by_itself(db: str, open_kb: OpenKb) -> None:
    """At once when the stream begins: what fell out since the last one is told."""
    with open_kb(db) as kb:
        kb.add_rules(".decl seen(x: symbol, at: int) .window seen(at: 1 hour). seen(a, 7).")
    Path("u.jsonl").write_text(lines(edge("cd")))
    result = called(db, "u.jsonl", "--tick", "1m", "--json")
    (told,) = map(json.loads, result.stdout.splitlines())
    assert told["updates"] == [1, 1] and told["deleted"] == {"seen": 1}
    assert told["notes"] == ["seen: 1 fact left the window of seen (at: 1 hour)"]
    for wrong in ("0s", "soon", "1 y"):
        assert "--tick is a time such as 1s" in called(db, "u.jsonl", "--tick", wrong).stderr
