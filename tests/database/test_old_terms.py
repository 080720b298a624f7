"""The values of literals in files whose dictionary had texts alone (migration 18)."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

from support.old_files import FOLDER, TERMS, unpacked

from zodiac_sql import KnowledgeBase
from zodiac_sql.database.term_values import VALUE_COLUMNS, value_of_term, with_values

OpenKb = Callable[..., KnowledgeBase]

MIGRATION = Path(with_values.__code__.co_filename).parent / "migrations" / "0018_values.sql"
(OLD,) = FOLDER.glob("terms_*.xz")


def test_the_migration_reads_values_as_new_symbols_are_read() -> None:
    assert with_values("SELECT id, kind, text FROM zodiac.symbol") in MIGRATION.read_text()


def test_a_migrated_file_has_the_values_of_its_literals(tmp_path: Path, open_kb: OpenKb) -> None:
    with open_kb(unpacked(OLD, tmp_path)) as kb:
        kb.insert("value", [('"5"^^<http://www.w3.org/2001/XMLSchema#byte>',)])
        assert len(kb.table("kept")) == len(TERMS["value"]) + 1
        rows = _symbols(kb)
        assert kb.verify()
    assert {(text,) for text in rows} >= set(TERMS["value"])
    assert rows == {text: _compared(value_of_term(text) or (None,) * 5) for text in rows}


def test_a_new_file_has_the_same_values(tmp_path: Path, open_kb: OpenKb) -> None:
    """Few symbols are read by Python, many by SQL."""
    with open_kb(unpacked(OLD, tmp_path)) as kb:
        expected = _symbols(kb)
    with open_kb() as kb:
        kb.insert("value", TERMS["value"])
        some = _symbols(kb)
    with open_kb() as kb:
        kb.insert("value", [*TERMS["value"], *((f"name{number}",) for number in range(5_000))])
        many = _symbols(kb)
    assert some == expected
    assert {text: values for text, values in many.items() if text in expected} == expected


def _symbols(kb: KnowledgeBase) -> dict[str, tuple[object, ...]]:
    columns = ", ".join(VALUE_COLUMNS)
    rows = kb.sql(f"SELECT text, {columns} FROM zodiac.symbol").fetchall()
    return {text: _compared(values) for text, *values in rows}


def _compared(values: Any) -> tuple[object, ...]:
    """There is one NaN, and -0.0 is none of the floats that are kept."""
    return tuple(
        repr(v) if isinstance(v, float) else v + 0 if isinstance(v, Decimal) else v for v in values
    )
