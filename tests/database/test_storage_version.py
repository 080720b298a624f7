"""In which form DuckDB writes files: so that older clients can read them, unless told otherwise."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from support.command_line import answered

import zodiac_sql


def form(file: Path) -> str:
    """The storage version of a file that nobody has open."""
    with duckdb.connect(file, read_only=True) as connection:
        found = connection.execute(
            "SELECT tags['storage_version'] FROM duckdb_databases() WHERE NOT internal"
        ).fetchall()
    return str(found[0][0])


@pytest.mark.parametrize("version", [None, "v1.5.0", "v2.0.0"])
def test_a_new_file_gets_it_and_keeps_it(tmp_path: Path, version: str | None) -> None:
    file = tmp_path / "made.duckdb"
    with zodiac_sql.connect(
        file, **({} if version is None else {"storage_version": version})
    ) as kb:
        kb.add_rules("p(X) :- e(X, _).")
    with zodiac_sql.connect(file, storage_version="v1.4.0") as kb:
        kb.insert("e", [(1, 2)])
    assert form(file) == f"{version or 'v1.0.0'}+"
    with zodiac_sql.connect(file) as kb:
        kb.compact()
        assert kb.verify()
    assert form(file) == f"{version or 'v1.0.0'}+"


def test_compact_can_change_it(tmp_path: Path) -> None:
    file = tmp_path / "made.duckdb"
    with zodiac_sql.connect(file) as kb:
        kb.insert("e", [(1, 2)])
        kb.compact(storage_version="v2.0.0")
        assert kb.table("e").fetchall() == [(1, 2)]
    assert form(file) == "v2.0.0+"
    answered("compact", str(file), "--storage-version", "v1.5.0")
    assert form(file) == "v1.5.0+"


def test_an_unknown_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="storage_version is one of v1.0.0, "):
        zodiac_sql.connect(tmp_path / "made.duckdb", storage_version="v9")
    assert not list(tmp_path.iterdir())
    with zodiac_sql.connect(tmp_path / "made.duckdb") as kb:
        with pytest.raises(ValueError, match="not '1.5'"):
            kb.compact(storage_version="1.5")
        assert kb.verify()


def test_duckdb_draws_no_progress(tmp_path: Path) -> None:
    """It would do so on stdout, where a process has no script."""
    text = """
import sys
import zodiac_sql
from zodiac_sql.database.other_connections import connect_aside, connect_outside, for_users_sql
kb = zodiac_sql.connect(sys.argv[1])
store = kb._session.store
with connect_aside(store) as other, connect_outside(store) as outside:
    for one in (store, other, outside, for_users_sql(store)):
        print(one.rows("SELECT current_setting('enable_progress_bar')"))
with zodiac_sql.connect(sys.argv[1]) as second:
    print(second._session.store.rows("SELECT current_setting('enable_progress_bar')"))
"""
    done = subprocess.run(
        [sys.executable, "-c", text, str(tmp_path / "p.duckdb")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["[(False,)]"] * 5
