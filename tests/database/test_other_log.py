"""A log that was begun on another state of the file beside it is refused; its own never is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from zodiac_sql import StoreError, connect

NAMES = [("a",), ("b",), ("c",), ("d",)]


def change(file: Path, text: str, killed: bool) -> None:
    """Run statements with `kb` in another process, and close the file, or end it as a kill does."""
    end = "os._exit(0)" if killed else "kb.close()"
    code = f"import os, sys, zodiac_sql; kb = zodiac_sql.connect(sys.argv[1]); {text}; {end}"
    subprocess.run([sys.executable, "-W", "ignore", "-c", code, str(file)], check=True)


def log_of(file: Path) -> Path:
    return Path(f"{file}.wal")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file that was closed twice, with a rule."""
    path = tmp_path / "farm.duckdb"
    with connect(path) as kb:
        kb.insert("p", [("a",)])
        kb.add_rules("q(X) :- p(X).")
    with connect(path) as kb:
        kb.insert("p", [("b",)])
    return path


def refused(file: Path, said: str) -> None:
    """Require that a file is refused, and that it and its log stay as they are."""
    before = file.read_bytes(), log_of(file).read_bytes()
    times = r"begun at 20..-..-.. ..:..:.. UTC\. .* 20..-..-.. ..:..:.. UTC"
    for read_only in (True, False):
        with pytest.raises(StoreError, match=said) as raised:
            connect(file, read_only=read_only)
        assert raised.match(times)
    assert before == (file.read_bytes(), log_of(file).read_bytes())
    assert sorted(path.name for path in file.parent.glob(".zodiac-new-*")) == []


def opens(file: Path, names: list[tuple[str]]) -> None:
    for read_only in (True, False):
        with connect(file, read_only=read_only) as kb:
            assert sorted(kb.table("p")) == sorted(kb.table("q")) == names
            assert kb.verify()


@pytest.mark.parametrize("links", [True, False])
def test_a_backup_put_back_beside_the_log_of_a_kill(
    links: bool, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backup = file.with_name("sunday.duckdb")
    with connect(file) as kb:
        kb.backup(backup)
        kb.insert("p", [("c",)])
    change(file, "kb.insert('p', [('d',)]); kb.delete('p', [('a',)])", killed=True)
    shutil.copyfile(backup, file)
    if not links:
        monkeypatch.setattr(os, "link", _no_links)
    refused(file, "is a log of another state of .*The last log of the file was begun at")
    log_of(file).unlink()
    opens(file, NAMES[:2])


def _no_links(*_: object) -> None:
    raise OSError("no links here")


def test_a_backup_from_before_the_first_log(tmp_path: Path) -> None:
    file, backup = tmp_path / "farm.duckdb", tmp_path / "sunday.duckdb"
    with connect(file) as kb:
        kb.insert("p", [("a",)])
        kb.add_rules("q(X) :- p(X).")
        kb.backup(backup)
    change(file, "kb.insert('p', [('d',)])", killed=True)
    shutil.copyfile(backup, file)
    refused(file, "from before its first log")
    log_of(file).unlink()
    opens(file, NAMES[:1])


def test_a_log_that_comes_back_after_the_next_change(file: Path) -> None:
    change(file, "kb.insert('p', [('c',)])", killed=True)
    log_of(file).rename(file.with_name("lost"))
    change(file, "kb.insert('p', [('d',)])", killed=False)
    file.with_name("lost").rename(log_of(file))
    refused(file, "The last log of the file was begun at")


def test_a_log_that_comes_back_before_the_next_change(file: Path) -> None:
    change(file, "kb.insert('p', [('c',)])", killed=True)
    shutil.copy(log_of(file), file.with_name("kept"))
    opens(file, NAMES[:3])
    shutil.copy(file.with_name("kept"), log_of(file))
    refused(file, "has already all that is in it")


BESIDE_A_WRITER = """
other = kb._session.store.connection.duckdb.cursor()
other.execute('BEGIN')
other.execute('CREATE TABLE main.theirs(x INT)')
kb.insert('p', [('c',)])""".strip().replace("\n", "; ")


def test_a_log_that_was_begun_while_another_transaction_wrote(file: Path) -> None:
    """DuckDB refuses a checkpoint then, so the mark of the log stands only in the log."""
    change(file, BESIDE_A_WRITER, killed=True)
    copies = [shutil.copy(path, f"{path}.kept") for path in (file, log_of(file))]
    assert b"zodiac begins log" in Path(copies[1]).read_bytes()
    opens(file, NAMES[:3])
    shutil.copy(copies[1], log_of(file))
    refused(file, "has already all that is in it")
    shutil.copy(copies[0], file)
    opens(file, NAMES[:3])


@pytest.mark.parametrize("beside", [True, False])
@pytest.mark.parametrize("abort", ["before_header", "before_truncate"])
def test_a_kill_while_the_log_is_written_to_the_file(abort: str, beside: bool, file: Path) -> None:
    change(file, BESIDE_A_WRITER if beside else "kb.insert('p', [('c',)])", killed=True)
    code = (
        "import duckdb, os, sys; c = duckdb.connect(sys.argv[1]);"
        f"c.execute(\"SET debug_checkpoint_abort = '{abort}'\");"
        "\ntry: c.execute('CHECKPOINT')\nexcept duckdb.Error: os._exit(9)"
    )
    assert subprocess.run([sys.executable, "-c", code, str(file)], check=False).returncode == 9
    assert log_of(file).stat().st_size
    opens(file, NAMES[:3])


def test_a_log_that_was_cut_off(file: Path) -> None:
    """A power failure may leave any part of it: what is whole counts, and nothing is refused."""
    change(file, "kb.insert('p', [('c',)])", killed=True)
    log = log_of(file).read_bytes()
    copy = file.with_name("copy.duckdb")
    for size in [*range(1, 250, 16), len(log) - 3]:
        shutil.copy(file, copy)
        log_of(copy).write_bytes(log[:size])
        with connect(copy, read_only=True) as kb:
            assert sorted(kb.table("p"))[:2] == NAMES[:2]


def test_the_log_of_another_program(file: Path) -> None:
    code = (
        "import duckdb, os, sys; c = duckdb.connect(sys.argv[1]);"
        "c.execute('CREATE TABLE main.theirs AS SELECT 1 AS x'); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", code, str(file)], check=True)
    assert log_of(file).stat().st_size
    change(file, "kb.insert('p', [('c',)])", killed=True)
    opens(file, NAMES[:3])
    with duckdb.connect(file) as plain:
        assert plain.execute("FROM theirs").fetchall() == [(1,)]


def test_whoever_has_the_file_open_keeps_it_locked(file: Path) -> None:
    """A process that opens and closes a file once more would lose its lock."""
    with connect(file) as kb:
        kb.insert("p", [("c",)])
        assert log_of(file).stat().st_size
        with connect(file) as other:
            assert sorted(other.table("p")) == NAMES[:3]
        code = "import sys, zodiac_sql; zodiac_sql.connect(sys.argv[1])"
        done = subprocess.run(
            [sys.executable, "-c", code, str(file)], check=False, capture_output=True, text=True
        )
        assert "LockedError" in done.stderr
