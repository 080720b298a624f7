"""No name that a user can choose is ever that of an object of ours, and none of ours is seen."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from random import Random

import duckdb
import pyarrow as pa
import pytest

import zodiac_sql


@pytest.mark.parametrize(
    "name", ["found", "h1_p", "asked", "term", "raw", "plus_h1_p", "gone_h1_p"]
)
def test_sql_sees_no_temporary_table(name: str) -> None:
    with zodiac_sql.connect(threads=1) as kb:
        kb.add_rules(f"p(X, Z) :- p(X, Y), e(Y, Z). p(X, Y) :- e(X, Y). p(Y, X) :- {name}(X, Y).")
        kb.insert("e", [("a", "b"), ("b", "c")])
        kb.insert(name, [("u", "v")])
        kb.delete("e", [("a", "b")])
        assert kb.sql(f"SELECT * FROM {name}").fetchall() == [("u", "v")]
        assert kb.sql("SELECT count(*) FROM duckdb_tables() WHERE temporary").fetchone() == (0,)
        kb.insert(name, [("w", "v")])
        assert sorted(kb.sql(f"SELECT * FROM main.{name}").fetchall()) == [("u", "v"), ("w", "v")]


_MACROS = [
    "abs(x) AS 666", '"+"(a, b) AS 666', '"||"(a, b) AS \'?\'', "upper(x) AS '?'",
    "count(x) AS 666", "count_star() AS 666", "list(x) AS [666]", "round(x) AS 666",
    "sum(x) AS 666", "unnest(x) AS 666", "row_number() AS 666", "now() AS NULL",
    "coalesce(a, b) AS 666", "starts_with(a, b) AS true", "lower(x) AS '?'", "max(x) AS 666",
    "min(x) AS 666", "greatest(a, b) AS 666", "arg_min(a, b) AS 6",
    "duckdb_tables() AS TABLE SELECT 1 AS x", "duckdb_views() AS TABLE SELECT 1 AS x",
    "duckdb_databases() AS TABLE SELECT 1 AS x", "current_database() AS '?'", "py_twice(x) AS 666",
    "strftime(a, b) AS '?'", "map_from_entries(m) AS NULL", "list_transform(l, f) AS NULL",
    "repeat(a, b) AS '?'", "replace(a, b, c) AS '?'", "contains(a, b) AS false", "chr(x) AS '?'",
]  # fmt: skip


def test_no_macro_of_the_file_is_a_function_of_ours(tmp_path: Path) -> None:
    path = tmp_path / "macros.duckdb"
    rules = """
        q(Y) :- p(X), BIND(abs(X) AS Y).  q(Y) :- p(X), Y = X + 1.  q(Y) :- p(X), Y = twice(X).
        n(C) :- AGGREGATE(p(X)) WITH COUNT(X) AS C.  m(M) :- AGGREGATE(p(X)) WITH MIN(X) AS M.
        u(T) :- s(X), BIND(concat(upper(X), "!") AS T).
    """

    def ask(kb: zodiac_sql.KnowledgeBase) -> dict[str, list[tuple[object, ...]]]:
        return {name: sorted(kb.table(name).fetchall()) for name in "qnmu"}

    twice = zodiac_sql.connect(tmp_path / "plain.duckdb", threads=1)
    with duckdb.connect(str(path)) as connection:
        for macro in _MACROS:
            connection.execute("CREATE MACRO main." + macro)
    with twice, zodiac_sql.connect(path, threads=1) as kb:
        for one in (twice, kb):
            one.register_function("twice", lambda x: 2 * x, ["int"], "int")
            one.add_rules(rules)
            one.insert("p", [(-3,), (4,)])
            one.insert("s", [("a",), ('"b"@en',)])
            one.delete("p", [(4,)])
            assert one.verify()
        assert ask(kb) == ask(twice)
        assert kb.query("p(X), Y = abs(X)").fetchall() == [(-3, 3)]
    with pytest.warns(zodiac_sql.MissingFunctionWarning):
        kb = zodiac_sql.connect(path, read_only=True, threads=1)
    with kb:
        assert ask(kb)["n"] == [(1,)]
        assert kb.query("p(X), Y = abs(X)").fetchall() == [(-3, 3)]


_PROGRAM = """
    a1: {p}(X, Y) :- {a}(X, Y).
    a2: {p}(X, Z) :- {p}(X, Y), {p}(Y, Z).
    a3: {q}(X, Y) :- {b}(X, Y).
    a4: {q}(X, Z) :- {q}(X, Y), {b}(Y, Z).
    a5: {s}(X, Y) :- {s}(Y, X).
    a6: {s}(X, Z) :- {s}(X, Y), {s}(Y, Z), X != Z.
    a7: {s}(X, Y) :- {a}(X, Y), {b}(Y, X).
    {r}: {t}(X) :- {a}(X, Y), {a}(Y, Z), {a}(Z, W), {a}(W, X).
    a9: {t}(X) :- {b}(X, X).
    a10: {p}(X, Y) :- {q}(X, Y), {t}(X).
    a11: {q}(X, Y) :- {a}(X, Y), not {t}(Y).
"""

_PLAIN = {name: name for name in "abpqst"} | {"r": "r"}


def _steps() -> list[tuple[str, str, list[tuple[str, str]]]]:
    random = Random(15)
    steps = []
    for _ in range(6):
        verb = random.choice(["insert", "insert", "delete"])
        rows = [(random.choice("uvwxy"), random.choice("uvwxy")) for _ in range(3)]
        steps.append((verb, random.choice("aabbpqs"), rows))
    return steps


def _told(kb: zodiac_sql.KnowledgeBase, names: dict[str, str]) -> list[object]:
    """What every step of the same history tells, under the plain names."""
    plain = {odd: name for name, odd in names.items() if name != "r"}
    told: list[object] = []
    kb.add_rules(_PROGRAM.format(**names))
    for verb, predicate, rows in _steps():
        change = getattr(kb, verb)(names[predicate], rows)
        for numbers, facts in (
            (change.inserted, change.inserted_facts), (change.deleted, change.deleted_facts)
        ):  # fmt: skip
            told.append({plain[name]: count for name, count in numbers.items()})
            told.append({plain[n]: sorted(map(str, facts(n).to_pylist())) for n in numbers})
        told.append([sorted(kb.table(names[p]).fetchall()) for p in "abpqst"])
        sql = dict(zip(*(kb.predicates()[c].to_pylist() for c in (0, 1)), strict=True))
        shown = [sorted(kb.sql(f'FROM main."{sql[names[p]]}"').fetchall()) for p in "abpqst"]
        assert shown == told[-1]
    assert kb.verify()
    return told


_ODD = [
    {"a": "p_outside_h2", "b": "p_outside_h1", "q": "p_outside_h5", "s": "p_outside_h3"},
    {"q": "p_outside_h2", "b": "q_outside_h4", "s": "q_outside_h3", "a": "p_outside_h6"},
    {"q": "h2_p", "a": "h1_p", "b": "h4_s", "t": "h5_s", "r": "s"},
    {"a": "h4_p", "b": "h3_s", "q": "h5_s", "t": "x_p", "p": "p", "s": "x2_p"},
    {"t": "t_n1", "r": "t", "q": "t_n2", "b": "t_n3", "a": "r_n1"},
    {"a": "found", "b": "raw", "p": "term", "q": "asked", "s": "heads", "t": "known_symbol"},
    {"a": "edb_plus_p", "b": "plus_h1_p", "p": "p", "q": "gone_h1_p", "s": "new_h1_p"},
    {"a": "main", "b": "temp", "p": "edb", "q": "zodiac", "s": "system", "t": "idb", "r": "hd"},
    {"a": "select", "b": "table", "p": "duckdb_tables", "q": "symbol", "s": "information_schema"},
    {"a": "P", "b": "p", "p": "Q", "q": "q", "s": "É", "t": "é"},
    {"a": "straße", "b": "STRASSE", "p": "ǆ", "q": "Ǆ", "s": "ﬀ", "t": "ff"},
    {"a": "x" * 300, "b": "x" * 299 + "y", "p": "_x", "q": "X0", "s": "x0", "t": "v"},
]


@pytest.mark.parametrize("number", range(len(_ODD)))
def test_names_do_not_matter(number: int) -> None:
    names = _PLAIN | _ODD[number]
    with zodiac_sql.connect(threads=1, hypertree=True) as kb:
        assert _told(kb, names) == _told_of_plain_names()


@cache
def _told_of_plain_names() -> list[object]:
    with zodiac_sql.connect(threads=1, hypertree=True) as kb:
        return _told(kb, {name: name for name in _PLAIN})


_STRANGE = [
    "p external", "p classes", "p given", "p node 1", "s1 node 1", " ", "  ", "a.b", 'q"uote',
    "q'uote", "new\nline", "tab\t", "\x01", "back\\slash", "semi;colon", "-- comment", "/* */", "%",
    "$1", "?", "zodiac$change_x", "zodiac$aside_h1_p", "$rank", "holds", "zodiac$mark", "rowid",
    "h1_p external", "1", "+", "<a>", "x" * 300, "\u00a0", "\u200b", "\U0001f600", "İ", "ı", "ſ",
    "s", "S", "K", "k", "\u212a",
]  # fmt: skip


def test_strange_names_are_names_like_any_other(tmp_path: Path) -> None:
    path = tmp_path / "strange.duckdb"
    with zodiac_sql.connect(path, threads=1) as kb:
        kb.add_rules("s1: p(X, Y) :- p(Y, X). p(X, Z) :- p(X, Y), p(Y, Z). p(X, Y) :- e(X, Y).")
        kb.insert("e", [("a", "b")])
        names = {"p": 4, "e": 1}
        for number, name in enumerate(_STRANGE):
            assert kb.insert(name, [(f"v{number}", "w")]).inserted.popitem()[1] == 1
        assert kb.verify()
    with zodiac_sql.connect(path, threads=1) as kb:
        known = dict(zip(*(kb.predicates()[c].to_pylist() for c in (0, 1)), strict=True))
        assert len(known) == len(names) + len(
            {n.removeprefix("<").removesuffix(">") for n in _STRANGE}
        )
        for number, name in enumerate(_STRANGE):
            sql_name = known[name.removeprefix("<").removesuffix(">")].replace('"', '""')
            assert kb.sql(f'FROM "{sql_name}"').fetchall() == [(f"v{number}", "w")]
        assert sorted(kb.table("p").fetchall()) == [(a, b) for a in "ab" for b in "ab"]
        assert kb.verify()


@pytest.mark.parametrize("name", ["", "a\0b", "\ud800", "<>"])
def test_names_that_no_predicate_can_have(name: str, tmp_path: Path) -> None:
    with zodiac_sql.connect(tmp_path / "none.duckdb", threads=1) as kb:
        kb.insert("p", [("a",)])
        with pytest.raises(zodiac_sql.DataError, match="there cannot be a predicate"):
            kb.insert(name, [("b",)])
        assert kb.predicates()["predicate"].to_pylist() == ["p"]
        assert kb.verify()


def test_a_predicate_called_like_a_table_of_somebody_else(tmp_path: Path) -> None:
    path = tmp_path / "mine.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t AS SELECT 'a' AS x, 'b' AS y")
        connection.execute("CREATE VIEW v AS SELECT * FROM t")
    with zodiac_sql.connect(path, threads=1) as kb:
        change = kb.add_rules("p(X, Y) :- t(X, Y). V(X) :- t(X, _).")
        assert [note.partition(":")[0] for note in change.notes] == [
            "nothing derives, declares or states t",
            "the predicate t is not t, a table or view that was in the file before",
            "the predicate V is not V, a table or view that was in the file before",
        ]
        assert 'kb.insert("t", kb.sql("FROM main.t"))' in change.notes[1]
        change = kb.insert("t", kb.sql("FROM main.t"))
        assert not change.notes
        assert kb.sql("SELECT * FROM p").fetchall() == [("a", "b")]
        assert kb.sql("SELECT x FROM main.t").fetchall() == [("a",)]
        assert kb.verify()
    with zodiac_sql.connect(path, threads=1) as kb:
        assert kb.table("p").fetchall() == [("a", "b")]
        assert kb.insert("q", [("c",)]).notes == ("makes the predicate q",)


@pytest.mark.parametrize("text", [
    "CREATE SCHEMA edb", "CREATE SCHEMA IDB", "CREATE SCHEMA hd; CREATE TABLE hd.p (x INTEGER)",
    "CREATE SCHEMA zodiac; CREATE TABLE zodiac.prefix (x INTEGER)",
    "CREATE SCHEMA zodiac; CREATE TABLE zodiac.migration (version INTEGER)",
])  # fmt: skip
def test_schemas_of_somebody_else(text: str, tmp_path: Path) -> None:
    path = tmp_path / "schemas.duckdb"
    all_ = "SELECT schema_name FROM duckdb_schemas() WHERE NOT internal ORDER BY ALL"
    with duckdb.connect(str(path)) as connection:
        connection.execute(text)
        before = connection.execute(all_).fetchall()
    for read_only in (False, True):
        with pytest.raises(zodiac_sql.StoreError, match="schema|catalog|zodiac_sql makes"):
            zodiac_sql.connect(path, read_only=read_only)
    with pytest.raises(zodiac_sql.StoreError, match="that zodiac_sql has not made"):
        zodiac_sql.connect(path)
    with duckdb.connect(str(path)) as connection:
        assert connection.execute(all_).fetchall() == before


@pytest.mark.parametrize("names", [
    ("holds",), ("x0", "t0"), ("raw", "text"), ("v", "v0"), ("id", "t1"), ("c", "s"),
    ("node", "class"), ("a b", 'q"x'), ("x", "u"), ("rowid", "m"), ("loop", "prev"),
    ("select", "from"),
])  # fmt: skip
def test_names_of_columns(names: tuple[str, ...]) -> None:
    first, second = ["k", '"l"@en'], ["m", "n"]
    columns = dict(zip(names, (first, second), strict=False))
    with zodiac_sql.connect(threads=1) as kb:
        kb.insert("p", pa.table(columns))
        kb.add_rules(
            "q(X) :- p(X)."
            if len(names) == 1
            else "q(X, Y) :- p(X, Y). q(X, Z) :- q(X, Y), q(Y, Z). q(X, Y) :- q(Y, X)."
        )
        kb.delete("p", pa.table(columns).slice(0, 1))
        assert kb.sql("FROM p").to_pylist() == [{n: c[1] for n, c in columns.items()}]
        assert kb.verify()


@pytest.mark.parametrize("name", ["$rank", "$RANK", "zodiac$row", "zodiac$mark", "", "a\0b"])
def test_names_that_no_column_can_have(name: str) -> None:
    with zodiac_sql.connect(threads=1) as kb:
        with pytest.raises(zodiac_sql.DataError):
            kb.insert("p", pa.table({name: ["a"], "b": ["c"]}))
        assert kb.predicates().num_rows == 0


def test_sql_never_reads_another_table_in_silence(tmp_path: Path) -> None:
    path = tmp_path / "other.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t AS SELECT 7 AS s")
    with zodiac_sql.connect(path, threads=1) as kb:
        for name in ("t", "person", "Person"):
            kb.insert(name, [(f"one of {name}",)])
        for text, said in (
            ("FROM T", "T in this SQL is a table or view of your own: .* predicate t is t_2"),
            ("FROM (FROM t)", "t in this SQL is a table or view of your own"),
            ("FROM Person", "is the predicate person: .* predicate Person is Person_2"),
        ):
            with pytest.warns(zodiac_sql.OtherTableWarning, match=said):
                kb.sql(text)
        for text in ("FROM t_2", "FROM person", "FROM Person_2", "WITH t AS (SELECT 1) FROM t"):
            assert len(kb.sql(text)) == 1


def test_views_have_comments(tmp_path: Path) -> None:
    rules = "".join(f"r{n}: near(X, Y) :- link{n % 2}(X, Y), n({n}). " for n in range(1, 9))
    path = tmp_path / "comments.duckdb"

    def comments() -> dict[str, str]:
        asked = "SELECT view_name, comment FROM duckdb_views() WHERE comment IS NOT NULL"
        return dict(kb.sql(asked).fetchall())

    with zodiac_sql.connect(path, threads=1) as kb:
        kb.add_rules(rules)
        kb.insert("link1", [("a", "b")])
        assert comments() == {
            "near": "near: derived by r1, r2, r3, r4, r5, 3 more rules",
            "link0": "link0: no facts",
            "link1": "link1: explicit facts",
            "n": "n: no facts",
        }
        kb.drop_rules("r2", "r3", "r4")
        kb.insert("near", [("c", "d")])
        assert comments()["near"] == "near: explicit facts; derived by r1, r5, r6, r7, r8"
        kb.compact()
        assert comments()["link1"] == "link1: explicit facts"
        assert kb.verify()
    with duckdb.connect(str(path)) as connection:
        connection.execute("DROP VIEW near; CREATE TABLE near AS SELECT 1 AS mine")
    with zodiac_sql.connect(path, threads=1) as kb:
        kb.drop_rules("r1")
        assert kb.sql("FROM main.near").fetchall() == [(1,)]
