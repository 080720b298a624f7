"""Changes of few facts, which are parameters of the statements that need them, and no table."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from zodiac_sql import DataError, KnowledgeBase
from zodiac_sql.database import remembered
from zodiac_sql.facts import stage

OpenKb = Callable[..., KnowledgeBase]
Row = tuple[Any, ...]


@pytest.fixture(params=[True, False], ids=["as parameters", "in tables"])
def few(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Each test runs both ways, and has to find the same."""
    if not request.param:
        monkeypatch.setattr(stage, "MOST_AS_PARAMETERS", 0)
    return bool(request.param)


@pytest.fixture
def kb(few: bool, open_kb: OpenKb, tmp_path: Path) -> Any:
    with open_kb(tmp_path / "few.duckdb") as opened:
        yield opened


def facts(kb: KnowledgeBase, predicate: str) -> set[Row]:
    return set(kb.table(predicate))


def seen(kb: KnowledgeBase, call: Callable[[], object]) -> list[str]:
    """The statements of a call."""
    statements: list[str] = []
    kb.trace(lambda text, _: statements.append(text))
    call()
    kb.trace(None)
    return statements


def test_no_table_is_made_for_few_rows(kb: KnowledgeBase, few: bool) -> None:
    kb.insert("p", [("a", 1), ("b", 2)])
    kb.add_rules("q(X) :- p(X, _).")
    statements = seen(kb, lambda: kb.insert("p", [("c", 3), ("d", 4)]))
    assert any('"zodiac_staged' in text for text in statements) is not few
    assert facts(kb, "q") == {("a",), ("b",), ("c",), ("d",)} and kb.verify()


@pytest.mark.parametrize("count", [1, 3])
def test_rows_that_are_there_or_come_twice(kb: KnowledgeBase, count: int) -> None:
    kb.insert("p", [(0, "there"), (9, "there")])
    rows = [(n, "there") for n in range(count)] * 2
    change = kb.insert("p", rows)
    assert change.inserted == ({"p": count - 1} if count > 1 else {})
    assert set(zip(*change.inserted_facts("p").to_pydict().values(), strict=True)) == {
        *rows[1:count]
    }
    change = kb.delete("p", [*rows, (7, "there"), (0, "nowhere")])
    assert change.deleted == {"p": count} and facts(kb, "p") == {(9, "there")}
    assert kb.delete("p", rows).deleted == {} and kb.verify()


def test_every_type(kb: KnowledgeBase) -> None:
    row = (
        "a",
        -(2**63),
        math.inf,
        True,
        dt.date(1, 1, 1),
        dt.datetime(9999, 12, 31, 23, 59, 59, 9),
    )
    other = ("b", 2**63 - 1, 5e-324, False, dt.date(9999, 12, 31), dt.datetime(1, 1, 1))
    for rows in ([row], [other], [row, other]):
        kb.insert("p", rows)
    assert facts(kb, "p") == {row, other}
    assert kb.delete("p", [row]).deleted == {"p": 1} and facts(kb, "p") == {other}
    assert kb.insert("p", [row, other]).inserted == {"p": 1}
    assert kb.delete("p", [row, other]).deleted == {"p": 2} and kb.verify()


def test_floats(kb: KnowledgeBase) -> None:
    """Zero has no sign, NaN is one value, and an int becomes the nearest float."""
    kb.add_rules(".decl p(x: float)")
    assert kb.insert("p", [(0.0,), (-0.0,)]).inserted == {"p": 1}
    assert kb.insert("p", [(-0.0,)]).inserted == {} and kb.insert("p", [(0,)]).inserted == {}
    assert kb.insert("p", [(2**53,), (2**53 + 1,)]).inserted == {"p": 1}
    assert kb.delete("p", [(2**53 + 1,)]).deleted == {"p": 1}
    assert kb.insert("p", [(math.nan,), (1.5,)]).inserted == {"p": 2}
    assert kb.insert("p", [(math.nan,)]).inserted == {}
    assert kb.delete("p", [(math.nan,)]).deleted == {"p": 1}
    assert facts(kb, "p") == {(0.0,), (1.5,)} and kb.verify()


def test_ints_that_become_floats_after_they_were_given(kb: KnowledgeBase) -> None:
    """The first verb gives ints, the second floats: two facts would be one, so they are terms."""
    for count in (2, 500):
        with kb.update() as update:
            update.insert(f"p{count}", [(2**53 + n,) for n in range(count)])
            update.insert(f"p{count}", [(0.5,)])
        assert kb.table(f"p{count}").num_rows == count + 1 and kb.verify()
    kb.add_rules("p(X) :- q(X). .decl q(x: float)")
    change = kb.insert("p", [(2**53,), (2**53 + 1,)])
    assert change.inserted == {"p": kb.table("p").num_rows} and kb.verify()


def test_symbols_in_another_form(kb: KnowledgeBase) -> None:
    kb.insert("p", [("http://x/a",), ("plain",), ("<tag:b>",)])
    assert kb.insert("p", [("<http://x/a>",)]).inserted == {}
    assert kb.insert("p", [('"plain"',), ("<tag:b>",)]).inserted == {}
    assert kb.delete("p", [('"plain"',)]).deleted == {"p": 1}
    assert kb.delete("p", [('"nobody"',), ("<tag:b>",)]).deleted == {"p": 1}
    assert facts(kb, "p") == {("http://x/a",)}
    assert kb.insert("p", [('"7"@EN',)]).inserted == {"p": 1}
    assert facts(kb, "p") == {("http://x/a",), ('"7"@en',)} and kb.verify()


def test_deleting_adds_no_symbols(kb: KnowledgeBase) -> None:
    kb.insert("p", [("a", "b")])
    assert kb.delete("p", [("a", "nobody"), ("nowhere", "b")]).deleted == {}
    assert kb.delete("p", [("nobody", "nobody")]).deleted == {}
    assert kb.sql("SELECT count(*) FROM zodiac.symbol").fetchone() == (2,)


def test_several_verbs(kb: KnowledgeBase) -> None:
    """What is inserted in the same update stays."""
    kb.insert("p", [("a", 1), ("b", 2), ("c", 3)])
    with kb.update() as update:
        update.delete("p", [("a", 1), ("b", 2)])
        update.insert("p", [("b", 2), ("d", 4)])
        update.insert("p", [("d", 4), ("e", 5)])
        update.delete("p", [("e", 5)])
        update.delete("p", [("nobody", 6)])
        update.insert("q", [("new",)])
    assert update.change.inserted == {"p": 2, "q": 1} and update.change.deleted == {"p": 1}
    assert facts(kb, "p") == {("b", 2), ("c", 3), ("d", 4), ("e", 5)}
    assert update.change.deleted_facts("p").to_pylist() == [{"s": "a", "o": 1}]
    change = kb.replace("p", [("b", 2), ("z", 7)])
    assert change.inserted == {"p": 1} and change.deleted == {"p": 3}
    assert kb.replace("p", []).deleted == {"p": 2} and kb.verify()


def test_errors_come_from_the_verb(kb: KnowledgeBase) -> None:
    kb.insert("p", [("a", 1)])
    with kb.update() as update:
        for rows in ([("b", None)], [("b",)], [("b", b"c")], [("\ud800", 1)]):
            with pytest.raises(DataError):
                update.insert("p", rows)
            with pytest.raises(DataError):
                update.delete("p", rows)
        update.insert("p", [("b", 2)])
    assert facts(kb, "p") == {("a", 1), ("b", 2)}


def test_facts_that_rules_keep(kb: KnowledgeBase) -> None:
    kb.add_rules("p(X) :- q(X).")
    kb.insert("q", [("a",), ("b",)])
    kb.insert("p", [("b",)])
    (note,) = kb.delete("p", [("a",)]).notes
    assert "1 fact kept" in note
    (note,) = kb.delete("p", [("a",), ("b",), ("c",)]).notes
    assert "2 facts kept" in note or "1 fact kept" in note
    assert facts(kb, "p") == {("a",), ("b",)} and kb.verify()


def test_preview(kb: KnowledgeBase) -> None:
    kb.insert("p", [("a",), ("b",)])
    kb.add_rules("q(X) :- p(X).")
    with kb.preview() as update:
        update.insert("p", [("a",), ("new",)])
        update.delete("p", [("b",)])
    assert update.change.inserted == {"p": 1, "q": 1} and update.change.deleted == {"p": 1, "q": 1}
    assert kb.insert("p", [("newer",)]).inserted == {"p": 1, "q": 1}
    assert facts(kb, "q") == {("a",), ("b",), ("newer",)} and kb.verify()


def test_arrow_tables(kb: KnowledgeBase) -> None:
    table = pa.table({"turbine": ["a", "b"], "value": pa.array([1, 2], pa.int64())})
    kb.insert("p", table)
    assert kb.predicates()["columns"].to_pylist() == ["turbine: symbol, value: int"]
    assert kb.delete("p", pa.table({"value": [2], "turbine": ["b"]})).deleted == {"p": 1}
    assert facts(kb, "p") == {("a", 1)}


# --- symbols that are remembered ------------------------------------------------------------------


def test_known_symbols_are_asked_for_once(kb: KnowledgeBase, few: bool) -> None:
    kb.insert("p", [("a", "b"), ("b", "c")])
    kb.insert("p", [("c", "b"), ("c", "a")])
    statements = seen(kb, lambda: kb.delete("p", [("c", "a"), ("a", "b")]))
    assert any("zodiac.symbol" in text or "known_symbol" in text for text in statements) is not few


def test_symbols_of_a_change_that_failed_are_forgotten(kb: KnowledgeBase) -> None:
    kb.insert("p", [("a",)])
    with pytest.raises(ZeroDivisionError), kb.update() as update:
        update.insert("p", [("x",)])
        update.insert("p", [("x",), ("y",)])
        raise ZeroDivisionError
    kb.insert("p", [("y",)])
    kb.insert("p", [("x",)])
    assert facts(kb, "p") == {("a",), ("x",), ("y",)} and kb.verify()


def test_not_all_symbols_are_remembered(open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remembered, "MOST_REMEMBERED", 3)
    with open_kb() as kb:
        kb.insert("p", [(f"a{n}",) for n in range(5)])
        kb.insert("p", [("long" * 100,)])
        for n in range(5):
            kb.delete("p", [(f"a{n}",), ("long" * 100,)])
            kb.insert("p", [(f"a{n}",), ("long" * 100,)])
        assert [*kb._session.store.symbols.remembered.ids] == ["a2", "a3", "a4"]
        assert facts(kb, "p") == {*((f"a{n}",) for n in range(5)), ("long" * 100,)} and kb.verify()


def test_new_symbols_of_every_way(kb: KnowledgeBase, tmp_path: Path) -> None:
    """Of few rows, of many and of a file, in one update and after each other: each has one id."""
    (tmp_path / "p.csv").write_text("s,n\nof a file,1\nfew0,1\n", encoding="utf-8")
    many = [(f"many{n}", n) for n in range(150)]
    for turn in range(3):
        with kb.update() as update:
            update.insert("p", [(f"few{turn}", 1), ("few", turn)])
            update.insert("p", many[: 100 * turn])
            update.insert("p", [(f"few{turn}", 2), (f"later{turn}", 1), ("many7", turn)])
            if turn:
                update.load(tmp_path / "p.csv", "p")
            update.unload(tmp_path / "p.csv", "p")
            update.insert("p", [(f"last{turn}", 1)])
            update.add_rules(f'q{turn}(X) :- p(X, 1), X != "few{turn}", X != "unheard of {turn}".')
        kb.insert("p", [(f"alone{turn}", 1)])
        kb.insert("p", [(f"beside{turn}", 1), (f"alone{turn}", 2)])
    assert kb.verify()
    ((count, ids, texts),) = kb.sql(
        "SELECT count(*), count(DISTINCT id), count(DISTINCT text) FROM zodiac.symbol"
    ).fetchall()
    assert count == ids == texts


def test_rules_see_the_texts_of_new_symbols(kb: KnowledgeBase) -> None:
    kb.add_rules("loud(Y) :- p(X), BIND(upper(X) AS Y).")
    for text in ("a", "b", "c"):
        assert kb.insert("p", [(text,)]).inserted == {"p": 1, "loud": 1}
    with kb.preview() as update:
        update.insert("p", [("d",)])
    assert update.change.inserted_facts("loud").to_pylist() == [{"s": "D"}]
    assert update.change.inserted_facts("p").to_pylist() == [{"s": "d"}]
    assert facts(kb, "loud") == {("A",), ("B",), ("C",)} and kb.verify()


def test_new_symbols_of_two_knowledge_bases(few: bool, open_kb: OpenKb, tmp_path: Path) -> None:
    path = tmp_path / "two.duckdb"
    with open_kb(path) as first:
        for turn in range(3):
            first.insert("p", [(f"first{turn}",)])
            with open_kb(path) as second:
                second.insert("p", [(f"second{turn}",)])
                first.insert("p", [(f"again{turn}",)])
                second.insert("p", [(f"twice{turn}",)])
            first.insert("p", [(f"alone{turn}",), (f"second{turn}",)])
        assert len(first.table("p")) == 15 and first.verify()


def asked_for_symbols(kb: KnowledgeBase, call: Callable[[], object]) -> bool:
    return any("FROM zodiac.symbol" in text for text in seen(kb, call))


def test_all_symbols_of_a_small_file_are_remembered(open_kb: OpenKb, tmp_path: Path) -> None:
    """Who mentions new symbols in each change asks the file for them some times, and then never,
    until another connection may have added some.
    """
    path = tmp_path / "all.duckdb"
    with open_kb(path) as kb:
        kb.insert("p", [("there",)])
        for n in range(remembered.TIMES_ASKED):
            kb.insert("p", [(f"before{n}",)])
        assert not asked_for_symbols(kb, lambda: kb.insert("p", [("new",)]))
        assert not asked_for_symbols(kb, lambda: kb.delete("p", [("unknown",), ("new",)]))
        kb.insert("p", [("long" * 100,)])
        assert asked_for_symbols(kb, lambda: kb.insert("p", [("long" * 100,), ("short",)]))
        with open_kb(path) as other:
            other.insert("p", [("of the other",), ("new",)])
            kb.insert("p", [("of the other",), ("mine",)])
            other.insert("p", [("mine",)])
        kb.insert("p", [("new",), ("there",), ("mine",), ("last",)])
        symbols = "SELECT count(*), count(DISTINCT text) FROM zodiac.symbol"
        assert kb.sql(symbols).fetchall() == [(17, 17)]
        assert kb.verify()


def test_a_fact_that_the_same_update_inserts_does_not_count_as_deleted(open_kb: OpenKb) -> None:
    """One of two that are to be deleted was never there, and comes: only the other one leaves."""
    with open_kb() as kb:
        kb.insert("e", [(0, 4), (1, 2), (4, 1)])
        with kb.update() as update:
            update.delete("e", [(1, 2)])
            update.delete("e", [(3, 4)])
            update.insert("e", [(3, 4)])
        assert update.change.deleted == {"e": 1} and update.change.inserted == {"e": 1}
        assert sorted(kb.table("e").fetchall()) == [(0, 4), (3, 4), (4, 1)]
        assert kb.predicates().to_pylist()[0]["explicit"] == 3
        assert kb.verify()
