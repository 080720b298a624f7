"""Making a file is all or nothing; and a file without its log is not taken for a new one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from zodiac_sql import ResourceError, StoreError, connect

KILLED = """
import os, sys, duckdb, zodiac_sql
from zodiac_sql.database.store import Store
left = int(sys.argv[2])
def counted(call):
    def called(*args, **named):
        global left
        left -= 1
        if left < 0:
            os._exit(9)
        return call(*args, **named)
    return called
Store.run, os.replace, os.link = counted(Store.run), counted(os.replace), counted(os.link)
duckdb.connect = counted(duckdb.connect)
zodiac_sql.connect(sys.argv[1]).close()
"""


@pytest.mark.parametrize("done", [0, 1, 4, 9, 18, 21, 22, 23, 24, 25, 26, 36])
def test_a_kill_while_a_file_is_made(done: int, tmp_path: Path) -> None:
    file = tmp_path / "new.duckdb"
    command = [sys.executable, "-c", KILLED, str(file), str(done)]
    assert subprocess.run(command, check=False).returncode == 9
    with connect(file) as kb:
        assert kb.insert("p", [("a", "b")]).inserted == {"p": 1}
        assert kb.verify()
    for left in tmp_path.glob(".zodiac-new-*"):
        for part in (*left.iterdir(), left):
            os.utime(part, (0, 0))
    file.unlink()
    with connect(file) as kb:
        assert kb.predicates().num_rows == 0
    assert os.listdir(tmp_path) == ["new.duckdb"]


def test_what_is_left_of_another_database_is_not_taken_over(tmp_path: Path) -> None:
    file, log = tmp_path / "new.duckdb", tmp_path / "new.duckdb.wal"
    with connect(file) as kb:
        kb.insert("p", [("a", "b")])
        shutil.copy(log, tmp_path / "log")
    file.unlink()
    shutil.copy(tmp_path / "log", log)
    with connect(file) as kb:
        assert kb.predicates().num_rows == 0
        kb.insert("q", [("c", "d")])
    with connect(file) as kb:
        assert kb.predicates()["predicate"].to_pylist() == ["q"]


@pytest.mark.parametrize("read_only", [True, False])
def test_a_copy_without_its_log(tmp_path: Path, read_only: bool) -> None:
    file, copy = tmp_path / "open.duckdb", tmp_path / "copy.duckdb"
    with connect(file) as kb:
        kb.insert("p", [("a", "b")])
        shutil.copy(file, copy)
        with pytest.raises(StoreError, match=r"a copy of one that is open.*copy\.duckdb\.wal"):
            connect(copy, read_only=read_only)
        shutil.copy(f"{file}.wal", f"{copy}.wal")
        with connect(copy, read_only=read_only) as copied:
            assert list(copied.table("p")) == [("a", "b")]
        if not read_only:
            assert kb.sql(" checkpoint ; -- now it can be copied alone").num_rows == 0
            shutil.copy(file, copy)
            with connect(copy) as copied:
                assert list(copied.table("p")) == [("a", "b")]


def test_a_disk_that_is_full_while_a_file_is_made(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    file = tmp_path / "new.duckdb"
    for size in (0, 4096, 10_000):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
        try:
            with pytest.raises(ResourceError, match="The disk is full"):
                connect(file)
        finally:
            resource.setrlimit(
                resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
            )
        assert os.listdir(tmp_path) == []
    with connect(file) as kb:
        assert kb.insert("p", [("a", "b")]).inserted == {"p": 1}


def test_a_directory_in_use_is_old_but_not_abandoned(tmp_path: Path) -> None:
    """A compaction takes minutes: what it writes is new, though its directory is old."""
    used = tmp_path / ".zodiac-new-used"
    used.mkdir()
    (used / "a.duckdb").write_bytes(b"")
    os.utime(used, (0, 0))
    connect(tmp_path / "new.duckdb").close()
    assert used.exists()
