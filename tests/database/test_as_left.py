"""A file that this process has closed, and that nobody has touched since, is not looked through."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

import zodiac_sql
from zodiac_sql.database import open_store
from zodiac_sql.errors import QueryError, StoreError

EVIL = "CREATE MACRO main.evil() AS TABLE SELECT * FROM read_csv('/etc/passwd')"


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that were looked through."""
    seen: list[str] = []
    inner = open_store.require_our_tables

    def require(store: open_store.Store) -> None:
        seen.append(store.file.path)
        inner(store)

    monkeypatch.setattr(open_store, "require_our_tables", require)
    return seen


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "farm.duckdb"
    with zodiac_sql.connect(path) as kb:
        kb.add_rules("p(X) :- q(X).")
        kb.insert("q", [(1,)])
    return path


def test_it_is_as_it_was(path: Path, looked: list[str]) -> None:
    for _ in range(2):
        with zodiac_sql.connect(path) as kb, zodiac_sql.connect(path) as other:
            kb.insert("q", [(2,)])
            assert other.sql("SELECT count(*) FROM p").fetchall() == [(2,)]
    with zodiac_sql.connect(path, read_only=True) as kb:
        assert kb.verify()
    assert len(looked) == 2  # the second of two that have it open, twice


@pytest.mark.parametrize("statement", ["CREATE TABLE main.mine (a INT)", EVIL])
def test_somebody_has_opened_it(path: Path, looked: list[str], statement: str) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.execute(statement)
    with zodiac_sql.connect(path) as kb:
        assert kb.verify()
        if statement == EVIL:
            with pytest.raises(QueryError, match="evil"):
                kb.sql("SELECT * FROM evil()")
    assert len(looked) == 1
    with zodiac_sql.connect(path) as kb:  # what is known of it is known again
        if statement == EVIL:
            with pytest.raises(QueryError, match="evil"):
                kb.sql("SELECT * FROM evil()")
    assert len(looked) == 1


def test_another_file_is_in_its_place(path: Path, looked: list[str], tmp_path: Path) -> None:
    other = tmp_path / "other.duckdb"
    other.write_bytes(path.read_bytes())
    other.replace(path)
    with zodiac_sql.connect(path) as kb:
        assert kb.verify()
    assert len(looked) == 1


def test_another_file_is_put_in_its_place_while_it_is_open(
    path: Path, looked: list[str], tmp_path: Path
) -> None:
    other = tmp_path / "other.duckdb"
    other.write_bytes(path.read_bytes())
    with duckdb.connect(str(other)) as connection:
        connection.execute("CREATE VIEW edb.wrong AS SELECT 1 AS a")
    with zodiac_sql.connect(path) as kb:
        other.replace(path)
        assert kb.verify()
    with pytest.raises(StoreError, match="the view edb.wrong"):
        zodiac_sql.connect(path)
    assert len(looked) == 1


def test_a_log_lies_beside_it(path: Path, looked: list[str], tmp_path: Path) -> None:
    other = tmp_path / "other.duckdb"
    other.write_bytes(path.read_bytes())
    connection = duckdb.connect(str(other))
    connection.execute("PRAGMA disable_checkpoint_on_shutdown")
    connection.execute("CREATE VIEW edb.wrong AS SELECT 1 AS a")
    connection.close()
    log = tmp_path / "other.duckdb.wal"
    assert log.exists()
    with zodiac_sql.connect(path, read_only=True) as kb:
        log.replace(tmp_path / "farm.duckdb.wal")
        assert kb.verify()
    with pytest.raises(StoreError, match="the view edb.wrong"):
        zodiac_sql.connect(path)
    assert len(looked) == 1


def test_a_file_that_was_refused_is_refused_again(path: Path, looked: list[str]) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE VIEW edb.wrong AS SELECT 1 AS a")
    for _ in range(2):
        with pytest.raises(StoreError, match="the view edb.wrong"):
            zodiac_sql.connect(path)
    assert len(looked) == 2
