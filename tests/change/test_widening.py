"""Columns that nobody declared become wider by themselves, as one exact change."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import zodiac_sql
from zodiac_sql import UpdateQueue
from zodiac_sql.errors import DataError, ProgramError
from zodiac_sql.knowledge_base import KnowledgeBase

XSD = "http://www.w3.org/2001/XMLSchema#"


@pytest.fixture
def kb() -> KnowledgeBase:
    return zodiac_sql.connect()


def integer(value: int) -> str:
    return f'"{value}"^^<{XSD}integer>'


def types(kb: KnowledgeBase, name: str = "p") -> list[str]:
    ((found,),) = kb.sql(f"SELECT types FROM zodiac.predicate WHERE name = '{name}'").fetchall()
    return list(found)


def facts(kb: KnowledgeBase, name: str = "p") -> set[tuple[Any, ...]]:
    return set(kb.table(name).fetchall())


def test_a_text_makes_a_column_of_ints_one_of_terms(kb: KnowledgeBase) -> None:
    kb.insert("p", [("a", 1), ("b", 2)])
    change = kb.insert("p", [("c", "x")])
    assert change.notes == ("p: column o was int, and becomes any: there is a text",)
    assert facts(kb) == {("a", integer(1)), ("b", integer(2)), ("c", "x")}
    assert kb.insert("p", [("d", 3)]).notes == ()
    assert ("d", integer(3)) in facts(kb)
    assert kb.verify()


def test_fractions_make_ints_floats_if_none_is_lost(kb: KnowledgeBase) -> None:
    kb.insert("p", [("a", 1)])
    (note,) = kb.insert("p", [("b", 0.5)]).notes
    assert note == "p: column o was int, and becomes float: there is a fraction"
    assert facts(kb) == {("a", 1.0), ("b", 0.5)}
    (note,) = kb.insert("p", [("c", 2**53 + 1)]).notes
    assert note == "p: column o was float, and becomes any: there is a whole number"
    assert facts(kb) == {
        ("a", integer(1)),
        ("b", f'"0.5"^^<{XSD}double>'),
        ("c", integer(2**53 + 1)),
    }
    assert kb.verify()


def test_facts_come_and_go_in_the_change_that_widens(kb: KnowledgeBase) -> None:
    kb.insert("p", [("a", 1), ("b", 2)])
    kb.add_rules("q(X, V) :- p(X, V). large(X) :- p(X, V), V > 1.")
    with kb.update() as update:
        update.delete("p", [("a", 1)])
        update.insert("p", [("c", 3)])
        update.insert("p", [("d", "x"), ("e", True)])
        update.delete("p", [("b", "y")])
    true = f'"true"^^<{XSD}boolean>'
    assert facts(kb) == {("b", integer(2)), ("c", integer(3)), ("d", "x"), ("e", true)}
    assert facts(kb, "q") == facts(kb)
    assert facts(kb, "large") == {("b",), ("c",)}
    assert kb.verify()


def test_a_fact_that_is_deleted_and_inserted_stays(kb: KnowledgeBase) -> None:
    kb.insert("p", [("a", 1), ("b", 2)])
    with kb.update() as update:
        update.delete("p", [("a", 1), ("b", 2)])
        update.insert("p", [("a", 1), ("c", "x")])
    assert facts(kb) == {("a", integer(1)), ("c", "x")}


def test_replace_widens(kb: KnowledgeBase) -> None:
    kb.insert("p", [("a", 1), ("b", 2)])
    kb.replace("p", [("a", 1), ("c", "x")])
    assert facts(kb) == {("a", integer(1)), ("c", "x")}
    assert kb.verify()


@pytest.mark.parametrize("form", [list, lambda rows: rows])
def test_deletes_never_widen(kb: KnowledgeBase, form: Callable[[Any], Any]) -> None:
    kb.insert("p", [("a", 1), ("b", 2), ("c", 3)])
    rows = [("a", "x"), ("b", 2.0), ("c", 3.5), ("a", True), ("c", 2**64)]
    (note,) = kb.delete("p", form(rows)).notes
    assert note == (
        "p: 4 facts that are to be deleted cannot be there, because the predicate's columns have "
        "other types"
    )
    assert facts(kb) == {("a", 1), ("c", 3)}
    assert types(kb) == ["symbol", "int"]


def test_rules_widen_what_facts_have_settled(kb: KnowledgeBase) -> None:
    kb.insert("p", [("a", 1), ("b", 2)])
    (note,) = kb.add_rules('r1: p(X, "text") :- p(X, 1).').notes
    assert note.startswith("p: column o was int, and becomes any: rules, or facts in their texts")
    assert facts(kb) == {("a", integer(1)), ("b", integer(2)), ("a", "text")}
    assert kb.verify()
    kb.drop_rules("r1")
    assert types(kb) == ["symbol", "any"]
    assert facts(kb) == {("a", integer(1)), ("b", integer(2))}
    assert kb.verify()


def test_facts_in_texts_of_rules_widen(kb: KnowledgeBase) -> None:
    kb.insert("p", [("a", 1)])
    kb.add_rules('p(b, "x"). p(c, true).')
    assert facts(kb) == {("a", integer(1)), ("b", "x"), ("c", f'"true"^^<{XSD}boolean>')}
    kb.add_rules("p(d, 4). p(e, 4.5).", set="more")
    assert kb.verify()
    kb.drop_rules(set="more")
    assert len(facts(kb)) == 3


def test_a_rule_and_facts_widen_at_once(kb: KnowledgeBase) -> None:
    kb.insert("p", [("a", 1)])
    with kb.update() as update:
        update.insert("p", [("b", 2)])
        update.add_rules('p(X, "text") :- q(X).')
        update.insert("q", [("c",)])
        update.delete("p", [("a", 1)])
    assert facts(kb) == {("b", integer(2)), ("c", "text")}
    assert kb.verify()


def test_a_declared_column_stays_what_it_is(kb: KnowledgeBase) -> None:
    kb.add_rules(".decl p(s: symbol, o: int)")
    kb.insert("p", [("a", 1)])
    for value in ("x", 0.5, True):
        with pytest.raises(DataError, match="row 1"):
            kb.insert("p", [("b", value)])
    with pytest.raises(ProgramError, match="type clash"):
        kb.add_rules('p(c, "x").')
    assert facts(kb) == {("a", 1)}


def test_alter_goes_there_and_back(kb: KnowledgeBase) -> None:
    for name, value in (("i", 5), ("f", 5.5), ("b", True), ("s", "x")):
        kb.insert(name, [("a", value)])
        before = types(kb, name)[1]
        kb.alter(name, {"o": "any"})
        assert types(kb, name)[1] == "any"
        kb.alter(name, {"o": before})
        assert facts(kb, name) == {("a", value)}
        kb.alter(name, {"o": "any"})
        kb.alter(name, {"o": "symbol"})
        assert types(kb, name)[1] == "symbol"
    assert kb.verify()
    kb.insert("m", [("a", 5), ("b", "x")])
    with pytest.raises(DataError, match="holds x, which cannot become int"):
        kb.alter("m", {"o": "int"})


def test_a_widened_file_is_opened_again(tmp_path: Path) -> None:
    with zodiac_sql.connect(tmp_path / "a.duckdb") as kb:
        kb.insert("p", [("a", 1)])
        kb.insert("p", [("b", "x")])
    with zodiac_sql.connect(tmp_path / "a.duckdb") as kb:
        assert facts(kb) == {("a", integer(1)), ("b", "x")}
        kb.delete("p", [("a", 1.0)])
        assert facts(kb) == {("b", "x")}
        assert kb.verify()


def test_a_preview_widens_nothing(kb: KnowledgeBase) -> None:
    kb.insert("p", [("a", 1)])
    with kb.preview() as preview:
        preview.insert("p", [("b", "x")])
    assert len(preview.change.notes) == 1
    assert facts(kb) == {("a", 1)}
    assert kb.insert("p", [("c", 2)]).notes == ()


@pytest.mark.parametrize("coalesce", [1, 4, 100])
@pytest.mark.parametrize("declared", [False, True])
def test_streams_have_terms(kb: KnowledgeBase, coalesce: int, declared: bool) -> None:
    if declared:
        kb.add_rules(".decl p(s: symbol, o: any)")
    queue = UpdateQueue()
    rows = [("a", 1), ("b", 2.5), ("c", "x"), ("d", True), ("a", 1), ("e", 5), ("f", "http://e/x")]
    for row in rows:
        queue.put({"insert": {"p": [row]}})
    queue.put({"delete": {"p": [("b", 2.5), ("c", "y"), ("d", 1), ("e", "5")]}})
    queue.put({"delete": {"p": [("f", "<http://e/x>")]}})
    queue.close()
    for _ in kb.stream(queue, coalesce=coalesce):
        pass
    true = f'"true"^^<{XSD}boolean>'
    assert facts(kb) == {("a", integer(1)), ("c", "x"), ("d", true), ("e", integer(5))}
    assert kb.verify()


@pytest.mark.parametrize("value", ["x", integer(1), 0.5, 2, Decimal("0.75")])
def test_a_stream_widens_a_column_of_decimals_as_rows_do(value: object) -> None:
    with zodiac_sql.connect() as kb, zodiac_sql.connect() as other:
        for one in (kb, other):
            one.insert("p", [("a", Decimal("0.25"))])
        kb.insert("p", [("b", value)])
        list(other.stream([{"insert": {"p": [("b", value)]}}]))
        assert facts(other) == facts(kb)
        assert types(other) == types(kb)
