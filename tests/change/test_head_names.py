"""Rules name the columns of what they derive: `b(Name, Id) :- ...` gives columns name and id."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

import zodiac_sql
from zodiac_sql import KnowledgeBase, ProgramError


@pytest.fixture
def kb() -> KnowledgeBase:
    kb = zodiac_sql.connect()
    kb.insert("q", [("a", 1), ("b", 2)])
    return kb


def columns(kb: KnowledgeBase, predicate: str = "b") -> list[str]:
    names: list[str] = kb.table(predicate).column_names
    return names


@pytest.mark.parametrize(("rules", "names"), [
    ("b(Name, Id) :- q(Name, Id).", ["name", "id"]),
    ("b(?name, ?turbineId) :- q(?name, ?turbineId).", ["name", "turbineid"]),
    ("b(Name, Id) :- q(Name, Id). b(Name, Id) :- q(Name, Id), Id > 1.", ["name", "id"]),
    # All rules agree, or a column has its usual name. X and Y2 say nothing.
    ("b(Name, Id) :- q(Name, Id). b(Name, No) :- q(Name, No), No > 1.", ["name", "o"]),
    ("b(Name, Id) :- q(Name, Id). b(X, Y2) :- q(X, Y2), Y2 > 1.", ["name", "id"]),
    ("b(X, Y) :- q(X, Y).", ["s", "o"]),
    ("b(_name, Id) :- q(_name, Id).", ["s", "id"]),
    ("b(Name, 1) :- q(Name, _).", ["name", "o"]),
    ("b(Name, Id + 1) :- q(Name, Id).", ["name", "o"]),
    ("b(Name, Id, Name) :- q(Name, Id).", ["c0", "id", "c2"]),
    ("b(Name, Total) :- AGGREGATE(q(Name, Id)) ON Name WITH SUM(Id) AS Total.", ["name", "total"]),
    ("b(Name, MIN(Id)) :- q(Name, Id).", ["name", "id"]),
    (".decl b(who: symbol, no: int) b(Name, Id) :- q(Name, Id).", ["who", "no"]),
    ("b(c, 3). b(Name, Id) :- q(Name, Id).", ["name", "id"]),
])  # fmt: skip
def test_all_rules_agree(kb: KnowledgeBase, rules: str, names: list[str]) -> None:
    kb.add_rules(rules)
    assert columns(kb) == names
    assert kb.verify()


def test_predicates_named_by_iris(kb: KnowledgeBase) -> None:
    kb.add_rules("@prefix ex: <http://e/> . ex:b(Name, Id) :- q(Name, Id).")
    assert columns(kb, "<http://e/b>") == ["s", "o"]


def test_names_stay(tmp_path: Path) -> None:
    """People's SQL reads them: no later rule, and no order of later changes, gives others."""
    kb = zodiac_sql.connect(tmp_path / "names.duckdb")
    kb.insert("q", [("a", 1), ("b", 2)])
    kb.add_rules("r1: b(Name, Id) :- q(Name, Id).")
    kb.add_rules("r2: b(Other, No) :- q(Other, No), No > 1.")
    kb.drop_rules("r1")
    kb.insert("b", [("c", 3)])
    kb.close()
    with duckdb.connect(tmp_path / "names.duckdb", read_only=True) as other:
        assert sorted(other.sql("SELECT name, id FROM b").fetchall()) == [("b", 2), ("c", 3)]


def test_tables_are_put_in_their_order(kb: KnowledgeBase) -> None:
    kb.add_rules("b(Name, Id) :- q(Name, Id).")
    kb.insert("b", pa.table({"id": [3], "name": ["c"]}))
    kb.insert("b", pa.table({"who": ["d"], "no": [4]}))
    assert columns(kb) == ["name", "id"]
    assert sorted(kb.table("b").fetchall()) == [("a", 1), ("b", 2), ("c", 3), ("d", 4)]


def test_names_that_came_with_facts_stay(kb: KnowledgeBase) -> None:
    kb.insert("b", pa.table({"who": ["d"], "no": [4]}))
    kb.insert("c", [("d", 4)])
    kb.add_rules("b(Name, Id) :- q(Name, Id). c(Name, Id) :- q(Name, Id).")
    assert (columns(kb, "b"), columns(kb, "c")) == (["who", "no"], ["s", "o"])


def test_a_predicate_that_is_read_before_it_is_derived(kb: KnowledgeBase) -> None:
    kb.add_rules("c(X) :- b(X, _).")
    kb.add_rules("b(Name, Id) :- q(Name, Id).")
    assert columns(kb) == ["name", "id"]


def test_atoms_can_name_them(kb: KnowledgeBase) -> None:
    kb.add_rules("b(Name, Id) :- q(Name, Id). c(X) :- b(id: X), X > 1.")
    kb.add_rules("d(X) :- b(name: X).")
    assert kb.table("c").fetchall() == [(2,)]
    assert kb.query("b(id: 2, name: X)").fetchall() == [("b",)]
    assert kb.rules()["rule"].to_pylist()[1:] == ["c(X) :- b(_, X), X > 1.", "d(X) :- b(X, _)."]
    with pytest.raises(ProgramError, match="b has no column no"):
        kb.add_rules("d(X) :- b(no: X).")
    with pytest.raises(ProgramError, match="the names of the columns of d are not known"):
        kb.add_rules("e(X) :- d(name: X).")
