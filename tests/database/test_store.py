"""The database file: opening, refusing, sharing, and reading from outside."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from support.contents import described, extensions
from support.paths_with_all import EDGES, RULES

from zodiac_sql import (
    KnowledgeBase,
    LimitError,
    LockedError,
    NewerFileError,
    QueryError,
    StoreError,
    ZodiacError,
    connect,
)
from zodiac_sql.change.settings import Settings
from zodiac_sql.database.migrate import migrations
from zodiac_sql.database.one_thread import one_thread
from zodiac_sql.database.open_store import open_store
from zodiac_sql.session import Session

OpenKb = Callable[..., KnowledgeBase]


def run(code: str, *arguments: object) -> str:
    """What a fresh Python process prints."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


# --- opening --------------------------------------------------------------------------------------


def test_opening_imports_little(file: Path) -> None:
    """DuckDB's module imports pandas, where it is installed, for the first parameter of a
    statement.
    """
    code = "import sys, zodiac_sql; zodiac_sql.connect(sys.argv[1]); print(*sys.modules)"
    command = [sys.executable, "-c", code, str(file)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert not {"pandas", "pyarrow"} & {*done.stdout.split()}


def test_migrations_are_applied_once(file: Path, open_kb: OpenKb) -> None:
    for _ in range(2):
        open_kb(file).close()
    with duckdb.connect(file) as connection:
        rows = connection.sql("SELECT version, name FROM zodiac.migration ORDER BY version")
        assert rows.fetchall() == [(version, name) for version, name, _ in migrations()]
    assert [version for version, _, _ in migrations()] == [*range(1, len(migrations()) + 1)]


def test_a_file_of_a_newer_version(file: Path, open_kb: OpenKb) -> None:
    with duckdb.connect(file) as connection:
        connection.execute("INSERT INTO zodiac.migration VALUES (9999, 'later', now()::TIMESTAMP)")
    with pytest.raises(NewerFileError, match=r"9999.*pip install --upgrade zodiac-sql"):
        open_kb(file)
    with duckdb.connect(file) as connection:  # closed again, and as it was
        assert connection.sql("SELECT * FROM path").fetchall()


def test_not_a_database(tmp_path: Path, open_kb: OpenKb) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a database\n" * 500, encoding="utf-8")
    with pytest.raises(StoreError, match="not a DuckDB database"):
        open_kb(path)
    assert path.read_text(encoding="utf-8").startswith("not a database")


def test_places_where_no_file_can_be(tmp_path: Path, open_kb: OpenKb) -> None:
    for path in (tmp_path, tmp_path / "none" / "x.duckdb"):
        with pytest.raises(StoreError):
            open_kb(path)


@pytest.mark.parametrize("settings", [{"memory_limit": "a lot"}, {"threads": 0}])
def test_settings_that_make_no_sense(settings: dict[str, Any]) -> None:
    with pytest.raises(StoreError):
        connect(**settings)


def test_settings_arrive(tmp_path: Path) -> None:
    with connect(threads=1, memory_limit="200MB", temp_directory=tmp_path / "spill") as kb:
        found = kb.sql(
            "SELECT current_setting('threads'), current_setting('temp_directory'),"
            " current_setting('memory_limit')"
        ).fetchone()
    assert found == (1, str(tmp_path / "spill"), "190.7 MiB")


def test_a_second_process_is_refused_at_once(file: Path, open_kb: OpenKb) -> None:
    code = (
        "import sys, zodiac_sql\n"
        "for read_only in (False, True):\n"
        "    try: zodiac_sql.connect(sys.argv[1], read_only=read_only)\n"
        "    except zodiac_sql.LockedError as error: print(error)"
    )
    with open_kb(file) as kb:
        said = run(code, file).splitlines()
        assert kb.insert("edge", [("d", "e")])
    assert len(said) == 2
    for line in said:
        assert str(file) in line and "another process" in line and "PID" in line
        assert "read_only=True" in line


def test_the_other_way_round(file: Path, open_kb: OpenKb) -> None:
    code = (
        "import sys, zodiac_sql\n"
        "kb = zodiac_sql.connect(sys.argv[1])\n"
        "print('open', flush=True)\n"
        "sys.stdin.read()\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code, str(file)], text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    with child:
        assert child.stdout is not None and child.stdin is not None
        assert child.stdout.readline() == "open\n"
        with pytest.raises(LockedError, match="another process"):
            open_kb(file)
        child.stdin.close()
    with open_kb(file) as kb:
        assert kb.insert("edge", [("d", "e")])


def test_reading_while_nobody_writes(file: Path) -> None:
    with connect(file, read_only=True) as first, connect(file, read_only=True) as second:
        assert described(first) == described(second)
        assert first.query("far(a, X)").fetchall() == [("d",)]
        assert second.sql("SELECT count(*) FROM path").fetchone() == (6,)
        code = (
            "import sys, zodiac_sql\n"
            "kb = zodiac_sql.connect(sys.argv[1], read_only=True)\n"
            "print(len(kb.table('path')))"
        )
        assert run(code, file) == "6"
        changes: list[Callable[[], object]] = [
            lambda: first.insert("edge", [("x", "y")]),
            lambda: first.add_rules("p(X) :- edge(X, _)."),
            lambda: first.drop_rules("r1"),
        ]
        for change in changes:
            with pytest.raises(StoreError, match="read_only"):
                change()


def test_reading_what_is_not_there_or_not_ours(tmp_path: Path) -> None:
    with pytest.raises(StoreError):
        connect(tmp_path / "none.duckdb", read_only=True)
    with duckdb.connect(tmp_path / "plain.duckdb") as plain:
        plain.execute("CREATE TABLE t (a INTEGER)")
    with pytest.raises(StoreError, match="without a knowledge base") as error:
        connect(tmp_path / "plain.duckdb", read_only=True)
    assert "Open it once" not in str(error.value)  # that would make an empty one


def test_two_writers_in_one_process_do_not_lose_changes(file: Path, open_kb: OpenKb) -> None:
    """Each knows the state it began with: the second is refused, or sees what the first did."""
    with open_kb(file) as first:
        try:
            second = open_kb(file)
        except LockedError:
            return
        with second:
            first.add_rules("first: one(X) :- edge(X, _).")
            try:
                second.add_rules("second: two(X) :- edge(_, X).")
            except ZodiacError:
                names = {"first"}
            else:
                names = {"first", "second"}
    with open_kb(file) as kb:
        assert names <= set(kb.rules()["name"].to_pylist())
        assert len(kb.table("one")) == 3


def test_closed_means_closed(file: Path, open_kb: OpenKb) -> None:
    kb = open_kb(file)
    kb.close()
    kb.close()
    with pytest.raises(StoreError):
        kb.insert("edge", [("x", "y")])
    with pytest.raises(ZodiacError):
        kb.sql("SELECT 1")


# --- the same state again -------------------------------------------------------------------------


def test_reopening_gives_the_same_state(file: Path, open_kb: OpenKb) -> None:
    with open_kb(file) as kb:
        kb.add_rules(".decl wanted(name: symbol, level: float)\nlater(X) :- wanted(X, L), L > 1.")
        kb.delete("edge", [("a", "b")])
        kb.delete("edge", [("b", "c")])
        kb.drop_rules("r7")
        before = described(kb)
    with open_kb(file) as kb:
        assert described(kb) == before
        after = kb.delete("edge", EDGES)
        assert after.deleted["edge"] == 2
        assert not any(rows for rows in extensions(kb).values())


def test_a_predicate_that_lost_its_last_fact_goes(file: Path, open_kb: OpenKb) -> None:
    """Also after reopening, when DuckDB's estimates of table sizes still count deleted rows."""
    with open_kb(file) as kb:
        kb.insert("alone", [(1,), (2,), (3,)])
        kb.delete("alone", [(1,), (2,)])
    with open_kb(file) as kb:
        assert kb.table("alone").fetchall() == [(3,)]
        kb.delete("alone", [(3,)])
        assert "alone" not in kb.predicates()["predicate"].to_pylist()


def test_reopening_and_reading_recompute_nothing(file: Path) -> None:
    store = open_store(file)
    seen: list[str] = []
    store.connection.tracer = lambda text, parameters: seen.append(text)
    with KnowledgeBase(Session(lambda: store), Settings()) as kb:
        opened = len(seen)
        described(kb)
        kb.query("far(X, Y), edge(Y, Z)")
        kb.sql("SELECT * FROM path")
        graph = kb.graph()
        assert graph
    written = [text for text in seen if not text.lstrip().startswith(("SELECT", "BEGIN", "COMMIT"))]
    # Only the place for new symbols, on this connection alone.
    assert [text.split("(")[0].split(" AS ")[0].strip() for text in written] == [
        'CREATE TEMP TABLE "zodiac$new_symbol"', 'CREATE TEMP TABLE "zodiac$new_value"',
    ]  # fmt: skip
    assert opened < 20


def test_the_tracer_sees_every_statement_and_ends(file: Path, open_kb: OpenKb) -> None:
    seen: list[tuple[str, object]] = []
    with open_kb(file) as kb:
        kb.trace(lambda text, parameters: seen.append((text, parameters)))
        kb.sql("SELECT ? + 1", [41])
        kb.trace(None)
        kb.sql("SELECT 2")
    assert [entry for entry in seen if entry[1]] == [("SELECT ? + 1", [41])]
    assert not any("SELECT 2" in text for text, _ in seen)


# --- other clients --------------------------------------------------------------------------------


def test_views_are_read_without_zodiac_sql(file: Path) -> None:
    code = (
        "import sys, duckdb\n"
        "c = duckdb.connect(sys.argv[1], read_only=True)\n"
        "print(sorted(c.sql('SELECT * FROM far').fetchall()))\n"
        "print(sorted(c.sql('SELECT s, o FROM named').fetchall()))\n"
        "print(c.sql('SELECT * FROM alarm').fetchall(), c.sql('FROM big').fetchall())\n"
        "print(any(name.startswith('zodiac') for name in sys.modules))\n"
    )
    assert run(code, file).splitlines() == [
        "[('a', 'd'), ('b', 'd')]",
        "[('a', 'A!'), ('b', 'B!'), ('c', 'C!')]",
        "[(True,)] [('a',)]",
        "False",
    ]


def test_views_are_read_when_attached(file: Path) -> None:
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{file}' AS other (READ_ONLY)")
        assert connection.execute("SELECT count(*) FROM other.path").fetchone() == (6,)
        assert connection.execute("SELECT count(*) FROM other.main.named").fetchone() == (3,)


def test_a_moved_file(file: Path, open_kb: OpenKb) -> None:
    moved = file.rename(file.with_name("elsewhere.db"))
    with duckdb.connect(moved) as connection:
        assert connection.execute("SELECT count(*) FROM path").fetchone() == (6,)
    with open_kb(moved) as kb:
        assert kb.insert("edge", [("d", "e")]).inserted["path"] == 4


def test_tables_of_somebody_else_stay(tmp_path: Path, open_kb: OpenKb) -> None:
    path = tmp_path / "shared.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE Path AS SELECT 1 AS mine")
        connection.execute("CREATE VIEW edge AS SELECT 2 AS mine")
        connection.execute("CREATE SCHEMA other; CREATE TABLE other.far AS SELECT 3 AS mine")
    for _ in range(2):
        with open_kb(path) as kb:
            kb.add_rules(RULES)
            kb.insert("edge", EDGES)
            names = dict(kb.sql("SELECT name, sql_name FROM zodiac.predicate").fetchall())
            assert names["path"] == "path_2" and names["edge"] == "edge_2"
            assert names["far"] == "far"
            assert kb.sql("SELECT * FROM main.Path").fetchall() == [(1,)]
            assert kb.sql("SELECT * FROM main.edge").fetchall() == [(2,)]
            assert kb.sql("SELECT * FROM other.far").fetchall() == [(3,)]
            assert len(kb.sql("SELECT * FROM path_2")) == len(kb.table("path")) == 6


@pytest.mark.parametrize("kind", ["TABLE", "VIEW"])
def test_a_name_taken_in_the_meantime(file: Path, open_kb: OpenKb, kind: str) -> None:
    """By another connection of this process: it is not replaced, and nothing is half done."""
    same = {"threads": 1}  # as open_kb has it: DuckDB wants the same settings
    with (
        open_kb(file, external_access=True) as kb,
        duckdb.connect(file, config=same) as other,
    ):
        before = described(kb)
        other.execute(f"CREATE {kind} late AS SELECT 42 AS mine")
        try:
            kb.add_rules("late(X) :- edge(X, _).")
        except StoreError:
            assert described(kb) == before
        assert other.sql("SELECT mine FROM late").fetchall() == [(42,)]
        assert kb.insert("edge", [("d", "e")])
        assert kb.add_rules("early(X) :- edge(X, _).").inserted == {"early": 4}


# --- reading statements only ----------------------------------------------------------------------


CHANGING = [
    "INSERT INTO edb.edge VALUES (1, 2)", "UPDATE edb.edge SET s = 1", "DELETE FROM edb.edge",
    "DROP VIEW path", "CREATE TABLE t (a INTEGER)", "CREATE TEMP TABLE t (a INTEGER)",
    "CREATE MACRO f() AS 1", "ALTER TABLE edb.edge RENAME TO e", "TRUNCATE edb.edge",
    "COPY path TO 'leak.csv'", "EXPORT DATABASE 'leak'", "ATTACH ':memory:' AS m", "DETACH graph",
    "USE memory", "SET threads = 1", "RESET threads", "SET VARIABLE a = 1", "PRAGMA threads = 1",
    "PRAGMA enable_profiling", "CALL force_checkpoint()", "VACUUM", "LOAD json",
    "BEGIN", "COMMIT", "ROLLBACK", "PREPARE q AS SELECT 1",
    "MERGE INTO edb.edge USING path ON false WHEN NOT MATCHED THEN INSERT VALUES (1, 2)",
    "EXPLAIN ANALYZE INSERT INTO edb.edge VALUES (1, 2)",
    "EXPLAIN ANALYZE INSERT INTO temp.\"zodiac$new_symbol\" VALUES (99, 'plain', 'poison')",
    "EXPLAIN ANALYZE CREATE TEMP TABLE t AS SELECT 1", "EXPLAIN ANALYZE SET threads = 1",
    "EXPLAIN ANALYZE COPY (SELECT 1) TO 'leak.csv'", "EXPLAIN ANALYZE DROP TABLE edb.edge",
    "explain /* ! */ analyze delete from temp.\"zodiac$new_symbol\"",
    "WITH x AS (INSERT INTO edb.edge VALUES (1, 2) RETURNING 1) SELECT * FROM x",
    "WITH x AS (DELETE FROM edb.edge RETURNING 1) SELECT * FROM x",
    "EXPLAIN ANALYZE WITH x AS (DELETE FROM edb.edge RETURNING 1) SELECT * FROM x",
    "WITH x AS (DELETE FROM temp.\"zodiac$new_symbol\" RETURNING 1) SELECT * FROM x",
    "SELECT 1; DROP VIEW path", "SELECT 1; SELECT 2", "", ";", "-- nothing", "SELECT", "no sql",
]  # fmt: skip


def test_sql_refuses_what_is_not_reading(
    file: Path, open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    settings = "SELECT name, value FROM duckdb_settings() WHERE name <> 'memory_usage'"
    tables = "SELECT schema_name, table_name FROM duckdb_tables() ORDER BY ALL"
    with open_kb(file) as kb:
        before = (kb.sql(settings).fetchall(), kb._session.store.rows(tables), extensions(kb))
        new_symbols = 'SELECT count(*) FROM temp."zodiac$new_symbol"'
        for statement in CHANGING:
            with pytest.raises(QueryError):
                kb.sql(statement)
            assert (
                kb.sql(settings).fetchall(),
                kb._session.store.rows(tables),
                extensions(kb),
            ) == before, statement
            assert not list(work.iterdir()), statement
            assert kb._session.store.rows(new_symbols) == [(0,)], statement


@pytest.mark.parametrize("statement", [
    "SELECT * FROM path", "FROM path", "WITH p AS (FROM path) SELECT count(*) FROM p", "VALUES (1)",
    "DESCRIBE path", "SHOW TABLES", "SUMMARIZE path", "EXPLAIN SELECT * FROM path",
    "PRAGMA table_info('path')", "PRAGMA show_tables", "pragma\nversion;", "SELECT 1;",
])  # fmt: skip
def test_sql_reads(file: Path, open_kb: OpenKb, statement: str) -> None:
    with open_kb(file) as kb:
        assert len(kb.sql(statement)) > 0


@pytest.mark.parametrize("name", ["a'b", 'c"d', "e,f", "g'; DROP SCHEMA edb; --"])
def test_the_name_of_a_file_is_no_sql(name: str, tmp_path: Path) -> None:
    """It stands in the search path, which is a text of SQL."""
    file = tmp_path / f"{name}.duckdb"
    with connect(file) as kb:
        kb.add_rules("p(X) :- q(X). q(a).")
    with connect(file) as kb:
        kb.insert("q", [("b",)])
        assert sorted(kb.table("p")) == [("a",), ("b",)] and kb.verify()


THREADS = "SELECT current_setting('threads')"
SQUARES = """
WITH RECURSIVE r(n, square) USING KEY (n) AS (
    SELECT 1, 1
    UNION SELECT r.n + 1, (r.n + 1) * (r.n + 1) FROM r ANTI JOIN RECURRING.r AS k ON k.n = r.n + 1
    WHERE r.n < 5
) SELECT max(square), any_value(current_setting('threads')) FROM r
"""


def test_one_thread_for_a_while(file: Path) -> None:
    """An interrupted recursion of DuckDB's may never end with more (ARCHITECTURE.md)."""
    with connect(file, threads=3) as kb:
        store = kb._session.store
        with pytest.raises(KeyboardInterrupt), one_thread(store.connection):
            assert store.rows(THREADS) == [(1,)]
            raise KeyboardInterrupt
        assert store.rows(THREADS) == [(3,)]
        with store.transaction(), one_thread(store.connection):
            assert store.rows(THREADS) == [(1,)]
        assert store.rows(THREADS) == [(3,)]


def test_one_thread_for_several_at_once(file: Path) -> None:
    with connect(file, threads=3) as first, connect(file, threads=3) as second:
        one, other = first._session.store, second._session.store
        with one_thread(one.connection):
            with one_thread(other.connection):
                pass
            assert one.rows(THREADS) == [(1,)]
        assert one.rows(THREADS) == [(3,)]


def test_one_thread_while_an_answer_is_not_fetched(file: Path) -> None:
    with connect(file, threads=3) as kb:
        kb.insert("n", [(i,) for i in range(5000)])
        with kb.batches("n", rows=100) as batches:
            next(batches)
            with one_thread(kb._session.store.connection):
                assert sum(batch.num_rows for batch in batches) == 4900
        assert kb.sql(THREADS).fetchall() == [(3,)]


def test_sql_that_reads_what_its_recursion_has_found(file: Path) -> None:
    with connect(file, threads=3) as kb:
        assert kb.sql(SQUARES).fetchall() == [(25, 1)]
        assert kb.sql(SQUARES, max_rows=5).fetchall() == [(25, 1)]
        assert kb.sql(THREADS).fetchall() == [(3,)]
        with pytest.raises(LimitError):
            kb.sql("SELECT * FROM range(100000)", max_rows=10)
        assert kb.sql(SQUARES).fetchall() == [(25, 1)]
