"""Copies of a file that is in use."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.contents import described

from zodiac_sql import KnowledgeBase, LockedError, StoreError, connect
from zodiac_sql.database import backup

OpenKb = Callable[..., KnowledgeBase]


def test_a_copy_has_what_the_file_has_now(file: Path, open_kb: OpenKb, tmp_path: Path) -> None:
    with open_kb(file) as kb:
        kb.insert("edge", [("x", "y")])
        kb.backup(tmp_path / "copy.duckdb")
        before = described(kb)
        kb.insert("edge", [("later", "still")])
        assert not (tmp_path / "copy.duckdb.wal").exists()
        with open_kb(tmp_path / "copy.duckdb") as copy:
            assert described(copy) == before
            assert copy.verify()
            copy.insert("edge", [("y", "z")])
        assert sorted(p.name for p in tmp_path.iterdir() if "made" in p.name) == []


def test_the_file_stays_locked(file: Path, open_kb: OpenKb, tmp_path: Path) -> None:
    """Whoever copied the file in this process would take the lock away."""
    with open_kb(file) as kb:
        kb.backup(tmp_path / "copy.duckdb")
        run = subprocess.run(
            [sys.executable, "-c", "import sys, duckdb; duckdb.connect(sys.argv[1])", str(file)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert run.returncode and "Conflicting lock is held" in run.stderr


def test_while_somebody_reads(file: Path, open_kb: OpenKb, tmp_path: Path) -> None:
    """A transaction that reads keeps the .wal from being written to the file."""
    with open_kb(file) as kb, open_kb(file) as other:
        store = other._session.store
        store.run("BEGIN TRANSACTION")
        store.rows("FROM zodiac.rule")
        kb.insert("edge", [("x", "y")])
        kb.backup(tmp_path / "copy.duckdb")
        assert Path(f"{file}.wal").stat().st_size
        store.run("ROLLBACK")
        before = described(kb)
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith("copy")] == ["copy.duckdb"]
    with open_kb(tmp_path / "copy.duckdb") as copy:
        assert described(copy) == before


def test_no_change_comes_between(
    file: Path, open_kb: OpenKb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_kb(file) as kb, open_kb(file) as other:
        copy = subprocess.run

        def meanwhile(*given: object, **named: object) -> object:
            monkeypatch.undo()
            with pytest.raises(LockedError):
                other.insert("edge", [("x", "y")])
            return copy(*given, **named)  # type: ignore[call-overload]

        monkeypatch.setattr(backup.subprocess, "run", meanwhile)
        before = described(kb)
        kb.backup(tmp_path / "copy.duckdb")
        other.insert("edge", [("x", "y")])
        assert kb.insert("edge", [("y", "z")])
    with open_kb(tmp_path / "copy.duckdb") as found:
        assert described(found) == before


def test_read_only(file: Path, open_kb: OpenKb, tmp_path: Path) -> None:
    with connect(file, read_only=True) as kb:
        kb.backup(tmp_path / "copy.duckdb")
        before = described(kb)
    with open_kb(tmp_path / "copy.duckdb") as copy:
        assert described(copy) == before


def test_what_cannot_be_done(file: Path, open_kb: OpenKb, tmp_path: Path) -> None:
    with open_kb(file) as kb:
        (tmp_path / "there").write_text("mine")
        with pytest.raises(StoreError, match="there exists already, and a backup replaces no file"):
            kb.backup(tmp_path / "there")
        assert (tmp_path / "there").read_text() == "mine"
        with pytest.raises(StoreError, match=r"cannot back .* up to .*: No such file or directory"):
            kb.backup(tmp_path / "nowhere" / "copy.duckdb")
        with pytest.raises(StoreError, match="exists already"):
            kb.backup(file)
        assert kb.insert("edge", [("x", "y")])
    with connect() as kb, pytest.raises(StoreError, match="in memory has no file to copy"):
        kb.backup(tmp_path / "copy.duckdb")


def test_a_full_disk(file: Path, open_kb: OpenKb, tmp_path: Path) -> None:
    """A limit for the sizes of files stands for it."""
    resource = pytest.importorskip("resource")
    with open_kb(file) as kb:
        kb.sql("CHECKPOINT")
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (file.stat().st_size // 2, hard))
        try:
            with pytest.raises(StoreError, match="File too large"):
                kb.backup(tmp_path / "copy.duckdb")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert not [p for p in tmp_path.iterdir() if "copy" in p.name]
        assert kb.insert("edge", [("x", "y")])
