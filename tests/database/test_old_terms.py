"""The values of literals in files whose dictionary had texts alone (migration 18), or had values in
the table of symbols (migration 19).
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

from support.contents import extensions
from support.old_files import FOLDER, MIXED, TERMS, fill_mixed, unpacked

from zodiac_sql import KnowledgeBase
from zodiac_sql.database.term_values import VALUE_COLUMNS, value_of_term

OpenKb = Callable[..., KnowledgeBase]

(OLD,) = FOLDER.glob("terms_*.xz")
(WITH_VALUES,) = FOLDER.glob("mixed_*.xz")


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


def test_a_file_with_values_beside_the_texts(tmp_path: Path, open_kb: OpenKb) -> None:
    """Its views read numbers from where they are now.

    What its rules derived of "0.1"^^xsd:float, as which 32 bits were read, is derived anew.
    """
    shown = [f"SELECT * FROM {name} ORDER BY ALL" for name in ("value", "less", "three", "greater")]
    with open_kb(unpacked(WITH_VALUES, tmp_path)) as kb, open_kb() as new:
        fill_mixed(new, tmp_path)
        for one in (kb, new):
            one.drop_rules("three")
            one.add_rules(next(line for line in MIXED.splitlines() if line.startswith("three")))
        assert extensions(kb) == extensions(new)
        assert _symbols(new).items() <= _symbols(kb).items()
        assert _views(kb) == _views(new)
        assert [repr(kb.sql(one).fetchall()) for one in shown] == [
            repr(new.sql(one).fetchall()) for one in shown
        ]
        assert kb.verify()
        for one in (kb, new):
            one.insert("value", [(7,), ("b",)])
            one.drop_rules("less")
        assert extensions(kb) == extensions(new)
        assert kb.verify()


def _views(kb: KnowledgeBase) -> list[tuple[str, ...]]:
    views = "SELECT view_name, sql FROM duckdb_views() WHERE NOT internal AND schema_name = 'main'"
    found = kb.sql(f"{views} ORDER BY 1").fetchall()
    return [(name, text.replace("AS TEXT", "AS VARCHAR")) for name, text in found]


def _symbols(kb: KnowledgeBase) -> dict[str, tuple[object, ...]]:
    columns = ", ".join(VALUE_COLUMNS)
    joined = "zodiac.symbol LEFT JOIN zodiac.symbol_value USING (id)"
    rows = kb.sql(f"SELECT text, {columns} FROM {joined}").fetchall()
    return {text: _compared(values) for text, *values in rows}


def _compared(values: Any) -> tuple[object, ...]:
    """There is one NaN, and -0.0 is none of the floats that are kept."""
    return tuple(
        repr(v) if isinstance(v, float) else v + 0 if isinstance(v, Decimal) else v for v in values
    )
