"""A table without rows says that its predicate is there, and nothing of the facts that come."""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import zodiac_sql
from zodiac_sql.knowledge_base import KnowledgeBase

EMPTY = pa.table({"s": pa.array([], pa.string()), "o": pa.array([], pa.int64())})
XSD = "http://www.w3.org/2001/XMLSchema#"


def _parquet(kb: KnowledgeBase) -> None:
    pq.write_table(EMPTY, "p.parquet")
    kb.load("p.parquet")


def _csv(kb: KnowledgeBase) -> None:
    Path("p.csv").write_text("s,o\n")
    kb.load("p.csv")


WAYS: dict[str, Callable[[KnowledgeBase], Any]] = {
    "arrow": lambda kb: kb.insert("p", EMPTY),
    "pandas": lambda kb: kb.insert("p", EMPTY.to_pandas()),
    "parquet": _parquet,
    "csv": _csv,
    "names": lambda kb: kb.insert("p", [], columns=["s", "o"]),
    "replace": lambda kb: kb.replace("p", EMPTY) if "p" not in names(kb) else None,
}
FACTS: dict[str, tuple[Callable[[KnowledgeBase], Any], str, Any]] = {
    "text": (lambda kb: kb.insert("p", [("a", "x")]), "symbol", "x"),
    "fraction": (lambda kb: kb.insert("p", [("a", 0.5)]), "float", 0.5),
    "date": (lambda kb: kb.insert("p", [("a", dt.date(2026, 1, 2))]), "date", dt.date(2026, 1, 2)),
    "int": (lambda kb: kb.insert("p", [("a", 5)]), "int", 5),
    "a rule text": (lambda kb: kb.add_rules('p(a, "x").'), "symbol", "x"),
    "a rule": (lambda kb: kb.add_rules('q(a). p(X, "x") :- q(X).'), "symbol", "x"),
}


def names(kb: KnowledgeBase) -> list[str]:
    return kb.predicates()["predicate"].to_pylist()


def types(kb: KnowledgeBase) -> str:
    return {name: text for name, _, text, *_ in kb.predicates().fetchall()}["p"]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", FACTS)
def test_facts_settle_the_types(way: str, kind: str) -> None:
    bring, type_, value = FACTS[kind]
    wide = "any" if kind == "a rule" and way not in ("csv", "names", "pandas") else type_
    for first in (True, False):
        with zodiac_sql.connect("kb.duckdb") as kb:
            for part in (WAYS[way], bring) if first else (bring, WAYS[way]):
                part(kb)
        with zodiac_sql.connect("kb.duckdb") as kb:
            if kind != "a rule":
                assert types(kb) == f"s: symbol, o: {wide}"
            assert kb.table("p").fetchall() == [("a", value)]
            kb.insert("p", [("b", True), ("c", "y")])
            assert len(kb.table("p").fetchall()) == 3 and kb.verify()
        Path("kb.duckdb").unlink()


def test_rules_are_not_refused_for_its_types() -> None:
    parts = [
        lambda kb: kb.insert("p", EMPTY),
        lambda kb: kb.add_rules('q(X) :- p(X, V), V < "n".'),
        lambda kb: kb.insert("p", [("a", "b"), ("b", "x")]),
    ]
    for order in itertools.permutations(parts):
        with zodiac_sql.connect() as kb:
            for part in order:
                part(kb)
            assert kb.table("q").fetchall() == [("a",)]
            assert types(kb) == "s: symbol, o: symbol"


def test_its_types_are_shown_until_facts_come() -> None:
    with zodiac_sql.connect() as kb:
        kb.insert("p", EMPTY)
        assert types(kb) == "s: symbol, o: int" and kb.table("p").schema.field("o").type == "int64"
        kb.add_rules("q(X, V) :- p(X, V), V > 1.")
        floats = pa.table({"s": pa.array([], pa.string()), "o": pa.array([], pa.float64())})
        kb.insert("p", floats)
        assert types(kb) == "s: symbol, o: float"
        kb.delete("p", [("a", "x")])
        with kb.update() as update:
            update.insert("p", [("a", 5), ("b", 0)])
            update.delete("p", [("b", 0)])
        assert kb.table("q").fetchall() == [("a", 5)] and types(kb) == "s: symbol, o: int"


def test_a_predicate_that_loses_its_facts_to_it() -> None:
    with zodiac_sql.connect() as kb:
        kb.insert("p", [("a", 1)])
        kb.replace("p", EMPTY)
        kb.insert("p", [("a", "x")])
        assert kb.table("p").fetchall() == [("a", "x")] and types(kb) == "s: symbol, o: symbol"
        with kb.update() as update:
            update.replace("p", EMPTY)
            update.insert("p", [("a", 2)])
        assert kb.table("p").fetchall() == [("a", f'"2"^^<{XSD}integer>')] and kb.verify()


@pytest.mark.parametrize("type_", [pa.decimal128(10, 2), pa.date32(), pa.timestamp("us")])
def test_streams_bring_other_values(type_: pa.DataType) -> None:
    with zodiac_sql.connect() as kb:
        kb.insert("p", pa.table({"s": pa.array([], pa.string()), "o": pa.array([], type_)}))
        list(kb.stream([{"insert": {"p": [("a", "x"), ("b", "2026-01-02")]}}]))
        assert types(kb) == "s: symbol, o: symbol" and len(kb.table("p").fetchall()) == 2


def test_a_declaration_stands() -> None:
    with zodiac_sql.connect() as kb:
        kb.insert("p", EMPTY)
        kb.add_rules(".decl p(s: symbol, o: float)")
        kb.insert("p", EMPTY)
        kb.insert("p", [("a", 1)])
        assert types(kb) == "s: symbol, o: float"
        with pytest.raises(zodiac_sql.DataError, match="has the type float"):
            kb.insert("p", [("a", "x")])
