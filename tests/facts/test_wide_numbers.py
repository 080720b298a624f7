"""Numbers of tables that no native column holds are terms, whatever comes before or after."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import zodiac_sql
from zodiac_sql.errors import DataError

XSD = "http://www.w3.org/2001/XMLSchema#"
WIDE = {
    "uint64": (pa.uint64(), 2**64 - 1, f'"{2**64 - 1}"^^<{XSD}integer>'),
    "decimal256": (pa.decimal256(60, 2), Decimal(10**50), f'"1{"0" * 50}.0"^^<{XSD}decimal>'),
    "decimal128": (pa.decimal128(38, 2), Decimal(10**30), f'"1{"0" * 30}.0"^^<{XSD}decimal>'),
}
FORMS: dict[str, Callable[[Any], Any]] = {
    "table": lambda table: table,
    "stream": lambda table: table.to_reader(),
    "frame": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "file": lambda table: table,
}


def put(kb: zodiac_sql.KnowledgeBase, form: str, table: pa.Table, verb: str = "insert") -> Any:
    if form != "file":
        return getattr(kb, verb)("p", FORMS[form](table))
    pq.write_table(table, "p.parquet")
    return kb.load("p.parquet") if verb == "insert" else kb.unload("p.parquet")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", WIDE)
def test_any_order(tmp_path: Path, monkeypatch: Any, kind: str, form: str) -> None:
    monkeypatch.chdir(tmp_path)
    type_, value, term = WIDE[kind]
    wide, small = (pa.table({"n": pa.array([one], type_)}) for one in (value, value * 0 + 7))
    parts = [
        lambda kb: put(kb, form, wide),
        lambda kb: put(kb, form, small),
        lambda kb: kb.insert("p", [(5,)]),
    ]
    for order in itertools.permutations(parts):
        with zodiac_sql.connect() as kb:
            for part in order:
                part(kb)
            seven = f'"7"^^<{XSD}integer>'
            assert {n for (n,) in kb.table("p").fetchall()} == {
                term, seven, f'"5"^^<{XSD}integer>',
            }  # fmt: skip
            put(kb, form, wide, "delete")
            assert {n for (n,) in kb.table("p").fetchall()} == {seven, f'"5"^^<{XSD}integer>'}
            assert kb.verify()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", WIDE)
def test_what_a_column_has_no_room_for_is_not_there(
    tmp_path: Path, monkeypatch: Any, kind: str, form: str
) -> None:
    """A delete widens nothing, and takes the rows that can be there."""
    monkeypatch.chdir(tmp_path)
    type_, value, _ = WIDE[kind]
    with zodiac_sql.connect() as kb:
        put(kb, form, pa.table({"n": pa.array([value * 0 + 7, value * 0 + 8], type_)}))
        put(kb, form, pa.table({"n": pa.array([value, value * 0 + 7], type_)}), "delete")
        assert [n for (n,) in kb.table("p").fetchall()] == [8]


@pytest.mark.parametrize("kind", WIDE)
def test_declared_columns_say_what_is_wrong(kind: str) -> None:
    type_, value, _ = WIDE[kind]
    with zodiac_sql.connect() as kb:
        kb.add_rules(".decl p(n: int) .decl q(n: any) .decl d(n: decimal)")
        for name in ("p", "d"):
            with pytest.raises(DataError, match=f"{name}: column n h"):
                kb.insert(name, pa.table({"n": pa.array([value], type_)}))
        kb.insert("q", pa.table({"n": pa.array([value], type_)}))
        assert len(kb.table("q").fetchall()) == 1


def test_decimals_delete_the_ints_that_they_are_and_no_others() -> None:
    with zodiac_sql.connect() as kb:
        kb.insert("p", [(2**53,), (2**53 + 1,)])
        kb.delete("p", pa.table({"n": [Decimal(2**53 + 1)]}))
        assert kb.table("p").fetchall() == [(2**53,)]
