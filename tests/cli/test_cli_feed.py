"""The commands keep-feed and changes, and show feed."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from support.command_line import ZODIAC, answered, refused, told

from zodiac_sql import connect


@pytest.fixture
def db(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A database in the current directory, with a feed and two changes in it."""
    monkeypatch.chdir(tmp_path)
    with connect("f.duckdb") as kb:
        kb.add_rules("hot(X) :- at(X, T), T > 30.")
    answered("keep-feed", "f.duckdb", "hot", "--count", 100)
    with connect("f.duckdb") as kb:
        kb.insert("at", [("wt1", 31.0), ("wt2", 3.0)])
        kb.replace("at", [("wt2", 33.0)])
    return "f.duckdb"


def lines(text: str) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in text.splitlines()]
    for line in found:
        assert line.pop("_time").endswith("+00:00")
    return found


def entry(number: int, kind: str, turbine: str) -> dict[str, Any]:
    return {
        "_commit": number, "_change_type": kind, "predicate": "hot", "fact": {"s": turbine}
    }  # fmt: skip


def test_json_lines(db: str) -> None:
    assert lines(answered("changes", db)) == [
        entry(1, "insert", "wt1"), entry(2, "delete", "wt1"), entry(2, "insert", "wt2")
    ]  # fmt: skip
    assert len(lines(answered("changes", db, "hot", "--since", 1))) == 2
    assert answered("changes", db, "--since", 2) == ""


def test_what_is_refused(db: str) -> None:
    assert "no change number 9" in refused("changes", db, "--since", 9)
    assert "at is not in the feed" in refused("changes", db, "at")
    assert "--all" in refused("keep-feed", db, status=2)
    assert "--off" in refused("keep-feed", db, "hot", "--off", status=2)
    assert "no database" in refused("keep-feed", "nowhere.duckdb", "hot")


def test_what_is_kept(db: str) -> None:
    (row,) = json.loads(answered("show", db, "feed", "--json"))
    assert (row["predicate"], row["position"], row["count"]) == ("hot", 2, 100)
    assert told("keep-feed", db, "--all", "--days", 0.5)["inserted"] == {}
    (row,) = json.loads(answered("show", db, "feed", "--json"))
    assert (row["predicate"], row["since"], row["days"]) == (None, 2, 0.5)
    answered("keep-feed", db, "--off")
    assert "no changes are kept" in refused("changes", db)


def test_follow(db: str) -> None:
    """It goes on with what comes, also while another process has the file open now and then."""
    command = [str(ZODIAC), "changes", db, "--since", "2", "--follow"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            for number, turbine in enumerate(("wt3", "wt4"), 3):
                _insert(db, turbine)
                assert lines(process.stdout.readline()) == [entry(number, "insert", turbine)]
        finally:
            process.kill()


def _insert(db: str, turbine: str) -> None:
    """Insert a reading, as soon as nobody reads the file."""
    from zodiac_sql import LockedError

    while True:
        try:
            with connect(db) as kb:
                kb.insert("at", [(turbine, 40.0)])
            return
        except LockedError:
            continue
