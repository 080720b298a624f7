"""Changes of closed relations that fail, or that meet a second connection."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from support.closed_relations import (
    FED,
    NEAR,
    PATH_FED,
    UNEQUAL,
    differences,
    everything,
    extensions,
    facts_told,
    fill,
    modules_of,
    open_with,
    square,
)

from zodiac_sql import FunctionError, KnowledgeBase, LockedError

OpenKb = Callable[..., KnowledgeBase]


def temporary(kb: KnowledgeBase) -> list[tuple[str, ...]]:
    return kb._session.store.rows(
        "SELECT table_name FROM duckdb_tables() WHERE temporary UNION ALL"
        " SELECT view_name FROM duckdb_views() WHERE temporary AND NOT internal ORDER BY ALL"
    )


# --- nothing half done ----------------------------------------------------------------------------


@pytest.mark.parametrize("rules", [FED + PATH_FED], ids=["all"])
def test_an_update_that_fails_above_a_closure_changes_nothing(
    file: Path, open_kb: OpenKb, rules: str
) -> None:
    with open_kb(file) as kb:
        fill(kb, rules)
        kb.register_function("failing", _fails_at_d, ["symbol"], "symbol")
        kb.add_rules("above(X, Z) :- near(X, Y), Y != e, Z = failing(Y), near(X, a).")
        before, left = everything(kb), temporary(kb)
        for verb in (kb.update, kb.preview):
            with (
                pytest.raises(FunctionError, match="a registered function failed"),
                verb() as update,
            ):
                update.insert("near", [("c", "d"), ("new", "symbol")])
                update.delete("edge", [("a", "b")])
            assert everything(kb) == before
            assert len(temporary(kb)) <= len(left)
        assert kb.verify()
        change = kb.delete("near", [("b", "c")])
        assert change.deleted["near"] == 5
        assert kb.verify()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = open_kb(file)
    with again:
        assert set(again.table("near").fetchall()) >= square("ab") | square("de")
        assert ("a", "c") not in set(again.table("near").fetchall())


def _fails_at_d(text: str) -> str:
    if text == "d":
        raise ValueError(text)
    return text


class Stopped(Exception):
    """What happens in the middle of a change."""


@pytest.mark.parametrize("rules", [NEAR, FED], ids=["stc", "fed"])
def test_a_change_that_stops_anywhere_changes_nothing(
    tmp_path: Path, open_kb: OpenKb, rules: str
) -> None:
    """Stopped at every other statement, and at each one of its publication."""
    kb = open_kb(tmp_path / "some.duckdb")
    fill(kb, rules)
    before, at, publishing, stops = everything(kb), 1, False, 0
    while True:
        statements: list[str] = []

        def stop(text: str, parameters: object) -> None:
            statements.append(text)  # noqa: B023
            if len(statements) == at and "COMMIT" not in statements:  # noqa: B023
                raise Stopped

        kb.trace(stop)
        try:
            with kb.update() as update:
                update.delete("near", [("b", "c")])
                update.insert("near", [("c", "d"), ("new", "symbol")])
                update.insert("edge", [("c", "a")])
        except Stopped:
            kb.trace(None)
            assert everything(kb) == before
            publishing = "BEGIN TRANSACTION" in statements
            at += 1 if publishing else 2
            stops += 1
        else:
            break
    kb.trace(None)
    assert publishing and stops > 5
    assert update.change.inserted["near"] == 8 and update.change.deleted["near"] == 4
    assert kb.verify()


# --- two connections ------------------------------------------------------------------------------


def test_two_connections(file: Path, open_kb: OpenKb) -> None:
    with open_kb(file) as first, open_kb(file) as second:
        assert first.insert("near", [("c", "d")]).inserted == {"near": 12}
        assert second.delete("near", [("b", "c")]).deleted == {"near": 12}
        assert first.insert("near", [("f", "a")]).inserted == {"near": 4}
        second.drop_rules("join")
        assert modules_of(first) == []
        assert first.add_rules(UNEQUAL)
        assert second.insert("near", [("x", "y"), ("y", "z")]).inserted == {"near": 6}
        assert second.verify() and first.verify()
        assert set(first.table("near").fetchall()) == set(second.table("near").fetchall())


def test_one_with_modules_and_one_without(file: Path) -> None:
    with open_with(True, file) as first, open_with(False, file) as second:
        for number in range(2):
            for kb, expected in ((second, []), (first, ["stc(near)"])):
                before = extensions(kb)
                change = kb.insert("near", [(f"x{number}", f"y{number}"), ("a", f"x{number}")])
                change = change or kb.delete("near", [("a", f"x{number}")])
                assert facts_told(change) == differences(before, extensions(kb))
                assert modules_of(first) == modules_of(second) == expected
        assert first.verify() and second.verify()


def test_a_change_from_elsewhere_during_an_update(file: Path, open_kb: OpenKb) -> None:
    with open_kb(file) as first, open_kb(file) as second:
        with pytest.raises(LockedError), first.update() as update:
            update.insert("near", [("c", "d")])
            second.insert("near", [("e", "f")])
        assert set(first.table("near").fetchall()) == square("abc") | square("def")
        assert first.verify()
        assert first.insert("near", [("c", "d")]).inserted == {"near": 18}
