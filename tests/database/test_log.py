"""A file that was copied while it was open, without the log beside it, is recognised."""

from __future__ import annotations

import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import duckdb
import pytest
from support import full_disk
from typer.testing import CliRunner

from zodiac_sql import MissingLogWarning, connect
from zodiac_sql.cli.main import app
from zodiac_sql.database.log import has_log


def copied(file: Path, log: bool) -> Path:
    """A copy of a file, with its log or without."""
    copy = file.with_name("copy.duckdb")
    for left in (copy, copy.with_name("copy.duckdb.wal")):
        left.unlink(missing_ok=True)
    shutil.copy(file, copy)
    if log:
        shutil.copy(f"{file}.wal", f"{copy}.wal")
    return copy


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file that was closed once."""
    path = tmp_path / "farm.duckdb"
    with connect(path) as kb:
        kb.insert("p", [("a",)])
    return path


LACKS = r"copy\.duckdb lacks its log: what was changed after 20..-..-.. ..:..:.. UTC is not in it"


def test_a_copy_without_its_log_is_said_to_be_one(file: Path) -> None:
    with connect(file) as kb:
        kb.insert("p", [("b",)])
        copy = copied(file, log=False)
    for read_only in (True, False):
        with pytest.warns(MissingLogWarning, match=LACKS), connect(copy, read_only=read_only) as kb:
            assert list(kb.table("p")) == [("a",)]
    shown = CliRunner().invoke(app, ["show", str(copy), "predicates"])
    assert "warning:" in shown.output
    assert "lacks its log" in " ".join(shown.output.split())


def test_the_next_change_ends_the_warning(file: Path) -> None:
    with connect(file) as kb:
        kb.insert("p", [("b",)])
        copy = copied(file, log=False)
    with pytest.warns(MissingLogWarning), connect(copy) as kb:
        kb.insert("p", [("c",)])
    with connect(copy) as kb:
        assert sorted(kb.table("p")) == [("a",), ("c",)]


def test_nothing_is_said_where_nothing_is_missing(file: Path) -> None:
    with connect(file) as kb:
        unchanged = copied(file, log=False)
        with connect(unchanged) as other:
            assert list(other.table("p")) == [("a",)]
        kb.insert("p", [("b",)])
        for read_only in (True, False):
            with connect(copied(file, log=True), read_only=read_only) as other:
                assert sorted(other.table("p")) == [("a",), ("b",)]
        backup = file.with_name("backup.duckdb")
        kb.backup(backup)
        with connect(backup) as other:
            assert sorted(other.table("p")) == [("a",), ("b",)]
    with connect(file) as kb:
        assert sorted(kb.table("p")) == [("a",), ("b",)]


def test_each_checkpoint_ends_a_log_and_the_next_change_begins_another(file: Path) -> None:
    with connect(file) as kb:
        kb.insert("p", [("b",)])
        kb.sql("CHECKPOINT")
        with connect(copied(file, log=False)) as other:
            assert sorted(other.table("p")) == [("a",), ("b",)]
        kb.insert("p", [("c",)])
        copy = copied(file, log=False)
        with pytest.warns(MissingLogWarning, match=LACKS), connect(copy) as other:
            assert sorted(other.table("p")) == [("a",), ("b",)]


def test_a_log_that_duckdb_ends_because_it_is_long(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(duckdb, "connect", duckdb.connect)
    full_disk.checkpoint_after("100KB")
    lacked = []
    with connect(file) as kb:
        for number in range(14):
            kb.insert("p", [(f"{number} " * 10_000,)])
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                with connect(copied(file, log=False), read_only=True) as other:
                    lacked.append(len(list(other.table("p"))) < number + 2)
            assert [w.category for w in told] == [MissingLogWarning] * lacked[-1]
    assert set(lacked) == {True, False}


def test_a_reader_does_not_keep_a_change_back(file: Path) -> None:
    """DuckDB refuses a checkpoint then; such a log cannot be told."""
    with connect(file) as kb, connect(file) as other:
        rows = iter(other.sql("SELECT range FROM range(1000000)"))
        next(rows)
        other.insert("p", [("c",)])
        assert kb.insert("p", [("b",)]).inserted == {"p": 1}
    with connect(file) as kb:
        assert sorted(kb.table("p")) == [("a",), ("b",), ("c",)]


KILLED = """
import os, sys, zodiac_sql
from zodiac_sql.database.store import Store
run, seen = Store.run, []
kb = zodiac_sql.connect(sys.argv[1])
def counted(self, text, *args):
    seen.append(str(text))
    kill = sys.argv[2]
    if kill in seen[-1]:
        os._exit(9)
    return run(self, text, *args)
Store.run = counted
kb.insert("p", [("b",)])
os._exit(9)
"""


@pytest.mark.parametrize(
    "before", ["MERGE INTO zodiac.log", "checkpoint", "INSERT INTO", "nothing"]
)
def test_a_kill_while_a_log_is_begun(before: str, file: Path) -> None:
    command = [sys.executable, "-c", KILLED, str(file), before]
    assert subprocess.run(command, check=False).returncode == 9
    assert has_log(file) == (before != "MERGE INTO zodiac.log")
    kept = [("a",), ("b",)] if before == "nothing" else [("a",)]
    for _ in range(2):
        with connect(file) as kb:
            assert sorted(kb.table("p")) == kept
    with connect(file) as kb:
        kb.insert("p", [("c",)])
    with connect(file) as kb:
        assert sorted(kb.table("p")) == [*kept, ("c",)]


def test_a_checkpoint_that_is_interrupted(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from zodiac_sql.database.store import Store

    run = Store.run

    def interrupted(self: Store, text: object, *args: object) -> object:
        if "checkpoint" in str(text):
            raise KeyboardInterrupt
        return run(self, text, *args)  # type: ignore[arg-type]

    with connect(file) as kb:
        with monkeypatch.context() as patch:
            patch.setattr(Store, "run", interrupted)
            with pytest.raises(KeyboardInterrupt):
                kb.insert("p", [("b",)])
        assert list(kb.table("p")) == [("a",)]
    with connect(file) as kb:
        assert list(kb.table("p")) == [("a",)]


def test_a_link_to_a_file(file: Path, tmp_path: Path) -> None:
    """DuckDB puts the log beside the file itself, so that is where it is looked for."""
    link = tmp_path / "links" / "link.duckdb"
    link.parent.mkdir()
    link.symlink_to(file)
    texts: list[str] = []
    with connect(link) as kb:
        kb.trace(lambda text, _: texts.append(text))
        for name in ("b", "c"):
            kb.insert("p", [(name,)])
        assert sum("checkpoint" in text for text in texts) == 1
        with pytest.warns(MissingLogWarning), connect(copied(file, log=False)) as other:
            assert list(other.table("p")) == [("a",)]
        kb.compact()
        assert link.is_symlink()
    with connect(file) as kb:
        assert sorted(kb.table("p")) == [("a",), ("b",), ("c",)]


@pytest.mark.parametrize(
    "made", ["DELETE FROM zodiac.log", "INSERT INTO zodiac.log (begun) VALUES ('infinity'), (NULL)"]
)
@pytest.mark.filterwarnings("ignore::zodiac_sql.MissingLogWarning")
def test_a_file_with_another_mark_can_be_opened(made: str, file: Path) -> None:
    with duckdb.connect(file) as plain:
        plain.execute(made)
    for name in ("b", "c"):
        with connect(file) as kb:
            assert kb.insert("p", [(name,)]).inserted == {"p": 1}
            assert kb.verify()
