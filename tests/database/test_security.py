"""What a stranger's file or query can do: docs/explanation/security.md, promise by promise."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import httpx
import pytest

import zodiac_sql
from zodiac_sql.errors import QueryError, StoreError

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory with a secret, in which nothing may be written."""
    folder = tmp_path / "place"
    folder.mkdir()
    (folder / "secret.csv").write_text("word\nopensesame\n")
    monkeypatch.chdir(folder)
    yield folder
    assert [path.name for path in folder.iterdir()] == ["secret.csv"]


# --- a query --------------------------------------------------------------------------------------

READING = [
    "SELECT * FROM read_csv('secret.csv')",
    "SELECT * FROM read_text('secret.csv')",
    "SELECT * FROM read_blob('secret.csv')",
    "SELECT * FROM 'secret.csv'",
    "SELECT * FROM sniff_csv('secret.csv')",
    "SELECT * FROM glob('*')",
    "DESCRIBE SELECT * FROM 'secret.csv'",
    "SUMMARIZE 'secret.csv'",
    "SELECT * FROM query('SELECT * FROM ''secret.csv''')",
    "SELECT * FROM query_table('secret.csv')",
    "SELECT * FROM read_csv('https://example.org/a.csv')",
    "SELECT * FROM duckdb_secrets()",
    "EXPLAIN ANALYZE SELECT * FROM read_csv('secret.csv')",
    "SELECT * FROM of_the_program",
]


@pytest.mark.parametrize("text", READING)
def test_a_query_reads_no_file_and_no_variable(open_kb: OpenKb, place: Path, text: str) -> None:
    import pyarrow as pa

    of_the_program = pa.table({"word": ["opensesame"]})
    with open_kb() as kb, pytest.raises(QueryError) as error:
        kb.sql(text)
    assert "opensesame" not in str(error.value) and of_the_program


def test_with_external_access_a_query_may_read_files(open_kb: OpenKb, place: Path) -> None:
    with open_kb(external_access=True) as kb:
        assert kb.sql("SELECT * FROM 'secret.csv'").fetchall() == [("opensesame",)]


EFFECTS = [
    "SELECT * FROM enable_profiling(format = 'json', save_location = 'x.json')",
    "SELECT * FROM Enable_Logging(storage = 'file', storage_path = 'logs')",
    "SELECT * FROM enable_logging /* ! */ ()",
    "SELECT * FROM disable_logging()",
    "SELECT * FROM truncate_duckdb_logs()",
    "SELECT * FROM force_checkpoint()",
    "SELECT write_log('x')",
    "SELECT sleep_ms(100000)",
    "SELECT setseed(0.5)",
    "SELECT * FROM query('SELECT * FROM enable_logging()')",
    "SELECT * FROM query_table('p')",
    "SELECT * FROM json_execute_serialized_sql(json_serialize_sql('SELECT 1'))",
    "EXPLAIN ANALYZE SELECT * FROM enable_logging()",
    "WITH x AS (SELECT * FROM enable_profiling()) SELECT 1 WHERE EXISTS (FROM x)",
]


@pytest.mark.parametrize("external", [False, True])
@pytest.mark.parametrize("text", EFFECTS)
def test_a_query_has_no_effects(open_kb: OpenKb, place: Path, text: str, external: bool) -> None:
    with open_kb(external_access=external) as kb:
        kb.insert("p", [(1,)])
        with pytest.raises(QueryError, match="does not call|only reads"):
            kb.sql(text)
        assert kb.sql("SELECT * FROM p").fetchall() == [(1,)]


def test_a_server_refuses_the_same(open_kb: OpenKb, place: Path) -> None:
    """By HTTP, with the token that may only read, and with the one that may change."""
    with open_kb() as kb, kb.serve() as server:
        kb.insert("p", [(1,)])
        for token in (server.reading_token, server.writing_token):
            headers = {"authorization": f"Bearer {token}"}
            for text in (*READING, *EFFECTS, "DROP VIEW p", "SET threads = 1", "COMMIT"):
                answer = httpx.post(f"{server.url}/sql", content=text, headers=headers)
                assert answer.status_code == 400 and "opensesame" not in answer.text, text
        assert kb.sql("SELECT * FROM p").fetchall() == [(1,)]


def test_names_that_are_not_calls(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        kb.insert("p", [(1,)])
        for name in ("query", "sniff_csv", "force_checkpoint"):
            kb.add_rules(f".decl {name}(enable_logging: int)  {name}(1).")
            assert kb.sql(f"SELECT enable_logging FROM {name}").fetchall() == [(1,)]
        for text in (
            "SELECT * FROM range(1)",
            "SELECT 'enable_logging()'",
            "SELECT random() < 2, uuid() IS NOT NULL",
            "PRAGMA table_info('p')",
            "SELECT * FROM duckdb_settings()",
            "DESCRIBE query",
            "SUMMARIZE query",
            "EXPLAIN SELECT * FROM query",
            "SHOW TABLES",
        ):
            assert kb.sql(text).num_rows


# --- a file ---------------------------------------------------------------------------------------

VIEWS = [
    "CREATE VIEW trap AS SELECT * FROM enable_profiling(save_location = 'x.json')",
    "CREATE VIEW inner_ AS SELECT * FROM enable_logging(); CREATE VIEW trap AS FROM inner_",
    "CREATE MACRO f(x) AS TABLE SELECT * FROM enable_logging(); CREATE VIEW trap AS FROM f(1)",
    "CREATE MACRO f() AS write_log('x'); CREATE VIEW trap AS SELECT f()",
    "CREATE VIEW trap AS SELECT * FROM query('SELECT * FROM enable_logging()')",
    "CREATE TABLE trap (a INTEGER, b VARCHAR AS (write_log('x')))",
    "CREATE VIEW trap AS SELECT * FROM read_text('secret.csv')",
    "CREATE VIEW trap AS SELECT word::INTEGER FROM 'secret.csv'",
]


@pytest.mark.parametrize("made", VIEWS)
def test_a_query_is_not_led_there_by_the_file(
    open_kb: OpenKb, tmp_path: Path, place: Path, made: str
) -> None:
    with duckdb.connect(tmp_path / "x.duckdb") as stranger:
        stranger.execute(made)
    for _ in range(2):
        with open_kb(tmp_path / "x.duckdb") as kb:
            kb.insert("p", [(1,)])
            for text in ("SELECT * FROM trap", "SELECT count(*) FROM (FROM main.trap)"):
                with pytest.raises(QueryError) as error:
                    kb.sql(text)
                assert "opensesame" not in str(error.value)
            assert kb.sql("SELECT * FROM p").fetchall() == [(1,)]


NOT_OURS = [
    "CREATE OR REPLACE MACRO zodiac.kind(t) AS 'plain'",
    "CREATE OR REPLACE MACRO zodiac.unescape_text(t) AS (SELECT count(*) FROM duckdb_tables())",
    "DROP MACRO zodiac.kind",
    "CREATE MACRO edb.abs(x) AS 1",
    "CREATE VIEW zodiac.other AS SELECT 1",
    """DROP TABLE zodiac.prefix; CREATE VIEW zodiac.prefix AS
       SELECT * FROM enable_profiling(format = 'json', save_location = 'x.json')""",
    """DROP TABLE zodiac.counter; CREATE VIEW zodiac.counter AS
       SELECT (content::INTEGER) AS next_hypernode FROM read_text('secret.csv')""",
    "CREATE VIEW edb.other AS SELECT 1",
    'DROP SCHEMA edb CASCADE; CREATE SCHEMA "EDB"; CREATE VIEW "EDB".p AS SELECT 1 AS s',
    'DROP SCHEMA hd; CREATE SCHEMA "HD"; CREATE MACRO "HD".abs(x) AS 1',
    'CREATE TABLE edb.other (a INTEGER, "b INTEGER, c" INTEGER AS (a + 1))',
    "CREATE TABLE edb.other (a INTEGER DEFAULT (1 + length('a')))",
    "CREATE TABLE zodiac.other (a VARCHAR COLLATE NOCASE)",
    "CREATE VIEW idb.other AS SELECT 1",
    "CREATE SEQUENCE q; ALTER TABLE edb.p ALTER s SET DEFAULT nextval('q')",
    "CREATE TABLE edb.other (a INTEGER, b INTEGER AS (a + 1))",
    "CREATE TABLE edb.other (a INTEGER CHECK (a > 1))",
    "CREATE TABLE edb.other (a INTEGER UNIQUE)",
    "CREATE TABLE hd.other (a VARCHAR)",
    "CREATE TABLE zodiac.other (a DECIMAL(3, 1))",
    "CREATE INDEX i ON edb.p ((abs(s)))",
    "CREATE TYPE zodiac.e AS ENUM ('a'); CREATE TABLE edb.other (a zodiac.e)",
]


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("made", NOT_OURS)
def test_a_file_that_is_not_as_we_made_it_is_not_read(
    open_kb: OpenKb, tmp_path: Path, place: Path, made: str, read_only: bool
) -> None:
    file = tmp_path / "x.duckdb"
    with open_kb(file) as kb:
        kb.insert("p", [(1,)])
    with duckdb.connect(file) as stranger:
        stranger.execute(made)
    written = file.read_bytes()
    with pytest.raises(StoreError, match="is not as zodiac_sql makes its files") as error:
        zodiac_sql.connect(file, read_only=read_only)
    assert "opensesame" not in str(error.value)
    assert file.read_bytes() == written


@pytest.mark.parametrize("read_only", [False, True])
def test_a_file_with_a_trigger_is_not_read(tmp_path: Path, read_only: bool) -> None:
    """Only files of DuckDB 2 can have them."""
    file = tmp_path / "x.duckdb"
    with zodiac_sql.connect(file, storage_version="v2.0.0") as kb:
        kb.insert("p", [(1,)])
    with duckdb.connect(file) as stranger:
        stranger.execute(
            "CREATE TRIGGER t AFTER INSERT ON edb.p FOR EACH STATEMENT DELETE FROM zodiac.symbol"
        )
    with pytest.raises(StoreError, match="it has the trigger edb.t. "):
        zodiac_sql.connect(file, read_only=read_only)


def test_a_view_of_ours_that_was_replaced_is_not_read(
    open_kb: OpenKb, tmp_path: Path, place: Path
) -> None:
    file = tmp_path / "x.duckdb"
    with open_kb(file) as kb:
        kb.add_rules(".decl p(a: int)  p(1).  empty(X) :- nothing(X).")
    with duckdb.connect(file) as stranger:
        for name in ("p", "empty"):
            stranger.execute(
                f"CREATE OR REPLACE VIEW {name} AS SELECT 1 AS a, 1 AS s FROM enable_logging()"
            )
    with open_kb(file) as kb:
        for name in ("parquet", "csv"):
            with pytest.raises(StoreError, match=r"main\.p is not the view"):
                kb.export(tmp_path / "out", name, "p")
        with pytest.raises(StoreError, match=r"main\.empty is not the view"):
            kb.table("empty")
        assert kb.table("p").fetchall() == [(1,)]
        assert kb.query("p(X)").fetchall() == [(1,)]
        assert not kb.verify()


@pytest.mark.parametrize("name", ["md:x", "s3://a/b.duckdb", "https://example.org/x", "sqlite:x"])
def test_a_path_is_a_file(place: Path, name: str) -> None:
    with pytest.raises(StoreError, match="is no file here"):
        zodiac_sql.connect(name)


def test_the_configuration_is_locked(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        for statement in (
            "SET enable_external_access = true",
            "SET autoload_known_extensions = true",
            "SET lock_configuration = false",
            "SET profiling_output = 'x.json'",
        ):
            with pytest.raises(StoreError, match="locked"):
                kb._session.store.run(statement)


# --- loading and writing go by another way ------------------------------------------------------


def test_loading_and_export_hold_the_memory_limit(tmp_path: Path) -> None:
    rows = "".join(f"{n},text {n}\n" for n in range(300_000))
    (tmp_path / "p.csv").write_text("a,b\n" + rows)
    with zodiac_sql.connect(tmp_path / "x.duckdb", memory_limit="200MB", threads=1) as kb:
        before = kb._session.store.rows("SELECT current_setting('memory_limit')")
        assert kb.load(tmp_path / "p.csv").inserted == {"p": 300_000}
        assert kb.export(tmp_path / "out", "parquet").files
        assert kb._session.store.rows("SELECT current_setting('memory_limit')") == before
        with pytest.raises(zodiac_sql.DataError):
            (tmp_path / "q.parquet").write_text("no parquet")
            kb.load(tmp_path / "q.parquet")
        assert kb._session.store.rows("SELECT current_setting('memory_limit')") == before


# --- an edited catalog ----------------------------------------------------------------------------

PROGRAM = """
inside(X, Y) :- door(X, Y).  inside(X, Y) :- inside(Y, X).
inside(X, Z) :- inside(X, Y), inside(Y, Z), X != Z.
four: four(X, Y) :- door(X, A), door(A, Y), door(Y, B), door(B, X).
count: n(X, C) :- AGGREGATE(inside(X, Y)) ON X WITH COUNT(Y) AS C.
"""

EDITED = [
    "UPDATE zodiac.rule SET head = 'nothing'",
    "UPDATE zodiac.rule SET hypernode = 99",
    "UPDATE zodiac.rule SET name = 'four'",
    "DELETE FROM zodiac.hypernode",
    "UPDATE zodiac.hypernode SET id = 1",
    "UPDATE zodiac.hypernode SET position = -position",
    """UPDATE zodiac.hypernode SET modules = [{'kind': 'x', 'predicate': 'inside', 'fed': true,
       'parted': true, 'unequal': true, 'covers': true}]""",
    """UPDATE zodiac.hypernode SET modules = [{'kind': 'tc', 'predicate': 'nothing', 'fed': true,
       'parted': true, 'unequal': true, 'covers': true}]""",
    "UPDATE zodiac.hyperedge SET source = target",
    "UPDATE zodiac.counter SET next_hypernode = 1",
    "UPDATE zodiac.predicate SET sql_name = 'same'",
    "UPDATE zodiac.predicate SET sql_name = ''",
    "UPDATE zodiac.predicate SET sql_name = 'a' || chr(0)",
    "UPDATE zodiac.predicate SET columns = ['s', 'S']",
    "UPDATE zodiac.predicate SET columns = ['$rank', 'o']",
    "UPDATE zodiac.predicate SET columns = []",
    "UPDATE zodiac.predicate SET types = ['symbol; DROP TABLE', 'int']",
    "UPDATE zodiac.predicate SET settled = ['int']",
    "DELETE FROM zodiac.predicate WHERE name = 'inside'",
    ("UPDATE zodiac.hypertree"
     " SET nodes = list_transform(nodes, lambda n: struct_update(n, parent := 7))"),
    ("UPDATE zodiac.hypertree"
     " SET nodes = list_transform(nodes, lambda n: struct_update(n, types := ['x']))"),
    "INSERT INTO zodiac.function VALUES ('f', false, ['nothing'], 'int')",
]  # fmt: skip


@pytest.mark.parametrize("edit", EDITED)
def test_an_edited_catalog_is_refused(open_kb: OpenKb, tmp_path: Path, edit: str) -> None:
    file = tmp_path / "x.duckdb"
    with zodiac_sql.connect(file, threads=1, hypertree=True) as kb:
        kb.insert("door", [("hall", "kitchen"), ("kitchen", "hall"), ("shed", "yard")])
        kb.add_rules(PROGRAM)
    with duckdb.connect(file) as stranger:
        stranger.execute(edit)
    with pytest.raises(StoreError, match="was edited"):
        open_kb(file)


RULES = [
    "p(X, Y) :- door(X, Y), BIND(getenv(\"HOME\") AS Z).",
    "four(X, Y) :- door(X, Y).  four(Y, X) :- door(X, Y).",
    "four(X, Y) :- ",
    "other(X, Y) :- door(X, Y).",
]  # fmt: skip


@pytest.mark.parametrize("text", RULES)
def test_an_edited_rule_is_refused_when_it_is_needed(
    open_kb: OpenKb, tmp_path: Path, text: str
) -> None:
    file = tmp_path / "x.duckdb"
    with open_kb(file) as kb:
        kb.insert("door", [("hall", "kitchen")])
        kb.add_rules(PROGRAM)
    with duckdb.connect(file) as stranger:
        stranger.execute("UPDATE zodiac.rule SET source = $1 WHERE name = 'four'", [text])
    with open_kb(file) as kb:
        assert kb.table("door").fetchall() == [("hall", "kitchen")]
        with pytest.raises(zodiac_sql.ZodiacError):
            kb.insert("door", [("shed", "yard")])
        assert kb.table("door").fetchall() == [("hall", "kitchen")]


def test_names_in_an_edited_catalog_are_only_names(open_kb: OpenKb, tmp_path: Path) -> None:
    file = tmp_path / "x.duckdb"
    with open_kb(file) as kb:
        kb.add_rules("p(X) :- q(X).  q(1).")
    name = 'x" AS SELECT 1; DROP TABLE zodiac.rule; --'
    with duckdb.connect(file) as stranger:
        stranger.execute("UPDATE zodiac.predicate SET sql_name = $1 WHERE name = 'p'", [name])
        stranger.execute("UPDATE zodiac.predicate SET columns = [$1] WHERE name = 'p'", [name])
    with open_kb(file) as kb:
        for call in (kb.rules, kb.verify, lambda: kb.insert("q", [(2,)]), lambda: kb.table("p")):
            with contextlib.suppress(zodiac_sql.ZodiacError):
                call()
    with duckdb.connect(file) as stranger:
        assert stranger.sql("SELECT count(*) FROM zodiac.rule").fetchall() == [(1,)]


@pytest.mark.parametrize(
    "function", ["getenv", "read_text", "query", "current_setting", "write_log"]
)
def test_a_rule_calls_no_function_of_duckdb(open_kb: OpenKb, function: str) -> None:
    with open_kb() as kb:
        kb.insert("p", [("a",)])
        for text in (f'BIND({function}("HOME") AS V)', f'V = {function}("HOME")'):
            with pytest.raises(zodiac_sql.ProgramError):
                kb.add_rules(f"q(V) :- p(_), {text}.")
            with pytest.raises(zodiac_sql.ProgramError):
                kb.query(f"p(X), {text}")
