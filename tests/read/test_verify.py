"""`verify`: whatever differs from what rules and facts entail is found, exactly, and only read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from support.tampering import found, id_of, tamper

import zodiac_sql
from zodiac_sql import FunctionError, KnowledgeBase, LockedError, MissingFunctionWarning, QueryError

OpenKb = Callable[..., KnowledgeBase]

RULES = """
path(X, Y) :- edge(X, Y).
path(X, Z) :- path(X, Y), edge(Y, Z).
likes(X, Y) :- edge(X, Y), ready().
likes(X, Y) :- likes(Y, X).
ends(X, Y) :- path(X, Y), not edge(Y, _).
reach(X, N) :- AGGREGATE(path(X, Y)) ON X WITH COUNT(Y) AS N.
weight(X, W) :- size(X, S), W = S * 2.0, W > 2.
text(T) :- weight(X, _), T = concat("weight of ", X).
go() :- ready().
named("a new constant", X) :- size(X, _).
nothing(X) :- unheard(X).
edge(X, Y) :- bridge(X, Y).
edge(Y, X) :- bridge(X, Y), twoWay(X).
"""
"""Recursion, negation, aggregation, text, arity 0, open columns, one predicate derived twice."""

FACTS: dict[str, list[tuple[Any, ...]]] = {
    "edge": [("a", "b"), ("b", "c"), ("c", "d")],
    "bridge": [("c", "d"), ("d", "e")],
    "twoWay": [("d",)],
    "size": [("a", 1.0), ("b", 2.5)],
    "ready": [()],
}


@pytest.fixture
def file(open_kb: OpenKb, tmp_path: Path) -> Path:
    """A knowledge base in a file, closed."""
    path = tmp_path / "some.duckdb"
    with open_kb(path) as kb:
        fill(kb)
    return path


@pytest.fixture
def kb(open_kb: OpenKb) -> Iterator[KnowledgeBase]:
    with open_kb() as opened:
        fill(opened)
        yield opened


def fill(kb: KnowledgeBase) -> None:
    with kb.update() as update:
        update.add_rules(RULES)
        for predicate, rows in FACTS.items():
            update.insert(predicate, rows)


def table_of(path: Path, predicate: str) -> str:
    """The largest table that rules derive a predicate into."""
    with duckdb.connect(str(path), read_only=True) as connection:
        rows = connection.execute(
            "SELECT table_name FROM duckdb_tables()"
            " WHERE schema_name = 'idb' AND table_name LIKE '%\\_' || $1 ESCAPE '\\'"
            " ORDER BY estimated_size DESC",
            [predicate],
        ).fetchall()
    return f'idb."{rows[0][0]}"'


def tuples(table: pa.Table) -> list[tuple[Any, ...]]:
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def temporary(kb: KnowledgeBase) -> list[tuple[str, ...]]:
    return kb._session.store.rows(
        "SELECT table_name FROM duckdb_tables() WHERE temporary ORDER BY ALL"
    )


# --- nothing differs ------------------------------------------------------------------------------


def test_a_file_as_it_should_be(file: Path) -> None:
    result = found(file)
    assert result, result
    assert (result.missing, result.surplus, result.tables) == ({}, {}, {})
    assert result.predicates == 15
    with zodiac_sql.connect(file) as kb:
        assert result.facts == sum(row["extension"] for row in kb.predicates().to_pylist())
    assert result.seconds > 0


def test_in_memory_and_after_changes(kb: KnowledgeBase) -> None:
    assert kb.verify()
    kb.delete("edge", [("b", "c")])
    kb.insert("edge", [("b", "a")])
    kb.drop_rules("r6")
    kb.add_rules("reach(X, N) :- AGGREGATE(path(Y, X)) ON X WITH COUNT(Y) AS N.")
    assert kb.verify()


def test_an_empty_knowledge_base(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        result = kb.verify()
        assert result
        assert (result.predicates, result.facts) == (0, 0)


# --- something differs ----------------------------------------------------------------------------


def test_a_derived_fact_is_missing(file: Path) -> None:
    table = table_of(file, "path")
    where = f"s = {id_of('a')} AND o = {id_of('e')}"
    tamper(file, f"DELETE FROM {table} WHERE {where}")
    result = found(file)
    assert not result
    assert (result.missing, result.surplus) == ({"path": 1}, {})
    assert result.tables == {table.replace('"', ""): (1, 0)}
    assert tuples(result.missing_facts("path")) == [("a", "e")]
    assert tuples(result.surplus_facts("path")) == []


def test_a_derived_fact_is_surplus(file: Path) -> None:
    table = table_of(file, "path")
    tamper(file, f"INSERT INTO {table} BY NAME SELECT {id_of('e')} AS s, {id_of('a')} AS o")
    result = found(file)
    assert (result.missing, result.surplus) == ({}, {"path": 1})
    assert result.tables == {table.replace('"', ""): (0, 1)}
    assert tuples(result.surplus_facts("path")) == [("e", "a")]


def test_a_derived_fact_stands_twice(file: Path) -> None:
    table = table_of(file, "weight")
    tamper(file, f"INSERT INTO {table} SELECT * FROM {table}")
    result = found(file)
    assert (result.missing, result.surplus) == ({}, {"weight": 1})
    assert result.tables == {table.replace('"', ""): (0, 1)}
    assert tuples(result.surplus_facts("weight")) == [("b", 5.0)]


def test_one_fact_in_place_of_another(file: Path) -> None:
    table = table_of(file, "reach")
    tamper(file, f"UPDATE {table} SET o = 77 WHERE s = {id_of('a')}")
    result = found(file)
    assert (result.missing, result.surplus) == ({"reach": 1}, {"reach": 1})
    assert tuples(result.missing_facts("reach")) == [("a", 4)]
    assert tuples(result.surplus_facts("reach")) == [("a", 77)]


def test_an_explicit_fact_that_was_taken_away(file: Path) -> None:
    """Explicit facts are what is true: what followed from this one is surplus."""
    tamper(file, f"DELETE FROM edb.size WHERE s = {id_of('b')}")
    result = found(file)
    assert result.missing == {}
    assert result.surplus == {"named": 1, "text": 1, "weight": 1}
    assert tuples(result.surplus_facts("text")) == [("weight of b",)]


def test_an_explicit_fact_that_was_added(file: Path) -> None:
    """Also one whose consequences hold text that the file does not know."""
    tamper(file, f"INSERT INTO edb.size VALUES ({id_of('c')}, 9)")
    result = found(file)
    assert result.missing == {"named": 1, "text": 1, "weight": 1}
    assert result.surplus == {}
    assert tuples(result.missing_facts("text")) == [("weight of c",)]
    with zodiac_sql.connect(file) as kb:
        assert kb.sql("FROM zodiac.symbol WHERE text = 'weight of c'").fetchall() == []


def test_an_explicit_fact_that_stands_twice(file: Path) -> None:
    """It derives nothing twice."""
    tamper(file, "INSERT INTO edb.size SELECT * FROM edb.size")
    result = found(file)
    assert (result.missing, result.surplus) == ({}, {"size": 2})
    assert result.tables == {"edb.size": (0, 2)}
    assert tuples(result.surplus_facts("size")) == [("a", 1.0), ("b", 2.5)]


def test_an_explicit_fact_without_a_value(file: Path) -> None:
    tamper(file, f"INSERT INTO edb.size VALUES ({id_of('c')}, NULL)")
    result = found(file)
    assert (result.missing, result.surplus) == ({}, {"size": 1})
    assert tuples(result.surplus_facts("size")) == [("c", None)]


def test_without_columns(file: Path) -> None:
    tamper(file, "DELETE FROM edb.ready")
    result = found(file)
    assert result.surplus == {"go": 1, "likes": 8}
    assert tuples(result.surplus_facts("go")) == [(True,)]


def test_a_fault_that_an_extension_hides(file: Path) -> None:
    """bridge(c, d) derives edge(c, d), which is an explicit fact, too."""
    table = table_of(file, "edge")
    tamper(file, f"DELETE FROM {table} WHERE s = {id_of('c')}")
    result = found(file)
    assert not result
    assert (result.missing, result.surplus) == ({}, {})
    assert result.tables == {table.replace('"', ""): (1, 0)}


def test_a_view_of_somebody_else(file: Path) -> None:
    tamper(file, "CREATE OR REPLACE VIEW main.go AS SELECT true AS holds WHERE false")
    result = found(file)
    assert (result.missing, result.surplus, result.tables) == ({"go": 1}, {}, {})


@pytest.mark.parametrize("body", ["[1, 2]", "{'a': 1}", "MAP {'a': 1}", "'[1]'::JSON", "1", "NULL"])
def test_a_view_with_other_types(file: Path, body: str) -> None:
    tamper(
        file,
        f"CREATE OR REPLACE VIEW main.text AS SELECT {body} AS s",
        f"CREATE OR REPLACE VIEW main.weight AS SELECT 'b' AS s, {body} AS o",
    )
    result = found(file)
    assert (result.missing, result.tables) == ({"text": 1, "weight": 1}, {})
    assert result.surplus == {"text": 1, "weight": 1}
    assert result.missing_facts("text").num_rows == result.surplus_facts("text").num_rows == 1


def test_a_view_that_is_gone(file: Path) -> None:
    tamper(file, "DROP VIEW main.nothing", "DROP VIEW main.weight")
    result = found(file)
    assert (result.missing, result.surplus) == ({"weight": 1}, {})
    assert result.tables == {"main.nothing": (0, 0), "main.weight": (1, 0)}
    assert tuples(result.missing_facts("weight")) == [("b", 5.0)]


def test_the_view_of_triples(open_kb: OpenKb, tmp_path: Path) -> None:
    path = tmp_path / "triples.duckdb"
    with open_kb(path) as kb:
        kb.insert("http://e.org/size", [("http://e.org/a", 1.5), ("http://e.org/b", 2.0)])
        kb.insert("plain", [("http://e.org/a",)])
        kb.add_rules("<http://e.org/Large>(X) :- <http://e.org/size>(X, S), S > 1.8.")
        assert kb.sql("SELECT * FROM triple").num_rows == 3
        assert kb.verify()
        ((body,),) = kb.sql("SELECT sql FROM duckdb_views() WHERE view_name = 'triple'").fetchall()
    assert found(path)
    broken = body.replace("CREATE VIEW", "CREATE OR REPLACE VIEW main.").replace("main. ", "main.")
    tamper(path, broken.replace("http://e.org/Large", "http://e.org/Small"))
    assert found(path).tables == {"main.triple": (1, 1)}
    tamper(path, broken.rstrip(";\n ") + " WHERE NOT contains(o, 'Large')")
    assert found(path).tables == {"main.triple": (1, 0)}
    tamper(path, "CREATE OR REPLACE VIEW main.triple AS SELECT 1 AS own")
    assert found(path), "it is somebody else's"


def test_a_table_that_is_gone(file: Path) -> None:
    table = table_of(file, "weight")
    tamper(file, f"DROP TABLE {table}")
    result = found(file)
    assert result.missing == {"weight": 1}
    assert result.tables == {table.replace('"', ""): (1, 0), "main.weight": (1, 0)}


def test_tables_that_belong_to_nothing(file: Path) -> None:
    tamper(
        file, "CREATE TABLE idb.h99_path AS SELECT 1 AS s", "CREATE TABLE edb.x AS SELECT 1 AS s"
    )
    result = found(file)
    assert (result.missing, result.surplus) == ({}, {})
    assert result.tables == {"idb.h99_path": (0, 1), "edb.x": (0, 1)}


def test_symbols_that_are_gone_or_stand_twice(file: Path) -> None:
    tamper(file, "DELETE FROM zodiac.symbol WHERE text = 'weight of b'")
    result = found(file)
    assert (result.missing, result.surplus) == ({"text": 1}, {})
    assert tuples(result.missing_facts("text")) == [("weight of b",)]
    again = "INSERT INTO zodiac.symbol SELECT * FROM zodiac.symbol WHERE text = 'e'"
    tamper(file, again)
    result = found(file)
    assert result.tables["zodiac.symbol"] == (0, 1)
    assert result.surplus["path"] == 8  # five with e, of which one twice, and two from e


def test_samples_are_limited_and_in_order(open_kb: OpenKb, tmp_path: Path) -> None:
    path = tmp_path / "many.duckdb"
    with open_kb(path) as kb:
        kb.insert("http://example.org/n", [(number,) for number in range(1000)])
        kb.add_rules("@prefix ex: <http://example.org/> . ex:m(X) :- ex:n(X).")
    tamper(path, "DELETE FROM idb.h1_m WHERE s % 2 = 0")
    result = found(path)
    assert result.missing == {"http://example.org/m": 500}
    expected = [(number,) for number in range(0, 200, 2)]
    for name in ("http://example.org/m", "<http://example.org/m>", "ex:m", "m"):
        assert tuples(result.missing_facts(name)) == expected
    assert tuples(result.surplus_facts("m")) == []
    assert result.missing_facts("n").column_names == ["s"]
    with pytest.raises(QueryError, match="there is no predicate o"):
        result.missing_facts("o")


# --- nothing else happens -------------------------------------------------------------------------


def test_the_facts_of_a_change_stay(kb: KnowledgeBase) -> None:
    change = kb.delete("edge", [("c", "d"), ("b", "c")])
    before = temporary(kb)
    assert kb.verify()
    assert temporary(kb) == before
    assert tuples(change.deleted_facts("edge")) == [("b", "c")]
    assert ("b", "e") in tuples(change.deleted_facts("path"))


def test_within_an_update(kb: KnowledgeBase) -> None:
    """What is staged is not there yet, and is not disturbed."""
    with kb.update() as update:
        update.insert("edge", [("e", "z")])
        assert kb.verify()
    assert update.change.inserted["edge"] == 1
    assert ("a", "z") in kb.table("path").fetchall()
    assert kb.verify()


def test_progress(kb: KnowledgeBase) -> None:
    seen: list[tuple[str, int, int]] = []
    kb.verify(progress=lambda *step: seen.append(step))
    hypernodes = [row["hypernode"] for row in kb.hypernodes().to_pylist()]
    assert seen == [(name, number, len(hypernodes)) for number, name in enumerate(hypernodes)]


def test_functions_are_called(kb: KnowledgeBase) -> None:
    factor = 2.0
    kb.register_function("scaled", lambda x: x * factor, ["float"], "float")
    kb.register_function("said", lambda x: f"about {x}", ["float"], "symbol")
    kb.register_aggregate("most", max, "float", "float")
    kb.add_rules("""
        f(X, Y) :- size(X, S), Y = scaled(S).
        g(T) :- f(_, Y), T = said(Y).
        h(M) :- AGGREGATE(f(_, Y)) WITH most(Y) AS M.
    """)
    assert kb.verify()
    factor = 3.0
    result = kb.verify()
    assert result.missing == {"f": 2, "g": 2, "h": 1}
    assert result.surplus == {"f": 2, "g": 2, "h": 1}
    assert tuples(result.missing_facts("g")) == [("about 3.0",), ("about 7.5",)]
    assert kb.sql("FROM zodiac.symbol WHERE text = 'about 7.5'").fetchall() == []
    kb.register_function("scaled", lambda x: x * 2.0, ["float"], "float")
    assert kb.verify()


def test_a_failing_function_leaves_nothing_behind(kb: KnowledgeBase) -> None:
    answers: list[float] = [1.0]
    kb.register_function("scaled", lambda x: answers[0] * x, ["float"], "float")
    change = kb.add_rules("f(X, Y) :- size(X, S), Y = scaled(S).")
    before = temporary(kb)
    answers.clear()
    with pytest.raises(FunctionError, match="a registered function failed"):
        kb.verify()
    assert temporary(kb) == before
    assert change.inserted_facts("f").num_rows == 2
    answers.append(1.0)
    assert kb.verify()


def test_a_missing_function_is_named(open_kb: OpenKb, tmp_path: Path) -> None:
    path = tmp_path / "f.duckdb"
    with open_kb(path) as kb:
        kb.register_function("scaled", lambda x: 2 * x, ["float"], "float")
        kb.add_rules("doubled: f(X, Y) :- size(X, S), Y = scaled(S).")
        kb.insert("size", [("a", 1.0)])
    with pytest.warns(MissingFunctionWarning):
        kb = open_kb(path)
    with kb:
        with pytest.raises(FunctionError, match="rule doubled needs the function scaled"):
            kb.verify()
        kb.register_function("scaled", lambda x: 2 * x, ["float"], "float")
        assert kb.verify()


def test_a_change_from_elsewhere_while_it_runs(open_kb: OpenKb, tmp_path: Path) -> None:
    path = tmp_path / "two.duckdb"
    with open_kb(path) as kb, open_kb(path) as other:
        fill(kb)
        with pytest.raises(LockedError, match="while it was verified"):
            kb.verify(progress=lambda name, number, total: other.insert("x", [(number,)]))
        assert kb.verify()
        kb.sql("SELECT count(*) FROM path")  # the connection still works


def test_tampering_while_it_is_open(open_kb: OpenKb, tmp_path: Path) -> None:
    """Nothing that is remembered of the file is believed."""
    path = tmp_path / "open.duckdb"
    with open_kb(path) as kb:
        fill(kb)
        kb._session.store.run("DELETE FROM idb.h1_path")
        kb._session.store.run("DELETE FROM edb.size")
        result = kb.verify()
        assert not result
        assert result.surplus["weight"] == 1


def test_every_statement_can_be_traced(kb: KnowledgeBase) -> None:
    seen: list[str] = []
    kb.trace(lambda statement, parameters: seen.append(statement))
    kb.verify()
    assert any("ANTI JOIN" in statement for statement in seen)
