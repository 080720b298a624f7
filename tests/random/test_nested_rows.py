"""Random tables with lists and objects, as files of each format and as rows: the same facts."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from generators.nested_rows import Wish, wish
from support import budget
from support.naive_nested import Refused, facts_of

from zodiac_sql import DataError, KnowledgeBase

OpenKb = Callable[..., KnowledgeBase]


def given(asked: Wish, folder: Path) -> dict[str, object]:
    """The rows in every form; files as paths."""
    table = asked.arrow()
    half = table.num_rows // 2
    forms: dict[str, object] = {
        "table": table,
        "pieces": pa.concat_tables([table.slice(0, half), table.slice(half)]),
        "stream": table.to_reader(max_chunksize=2),
        "parquet": folder / "p.parquet",
    }
    pq.write_table(table, folder / "p.parquet", row_group_size=2)
    if asked.rows:  # of JSON without rows, nothing tells the types
        (folder / "p.json").write_text(json.dumps(asked.rows))
        lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in asked.rows]
        (folder / "p.jsonl").write_text("".join(lines))
        forms |= {"json": folder / "p.json", "jsonl": folder / "p.jsonl"}
    return forms


def attempt(kb: KnowledgeBase, form: str, rows: object, options: dict[str, Any]) -> bool:
    """Whether rows become facts of a predicate of the form's name."""
    try:
        if isinstance(rows, Path):
            kb.load(rows, form, **options)
        else:
            kb.insert(form, rows, **options)
    except DataError:
        return False
    return True


@pytest.mark.fuzz
def test_lists_and_objects_become_the_same_facts_from_everywhere(
    open_kb: OpenKb, tmp_path: Path
) -> None:
    chance = random.Random(budget.seed(55))
    for _ in range(8):
        asked = wish(chance)
        try:
            expected = facts_of(asked.kinds, asked.rows, asked.explode, asked.columns, asked.nulls)
            fits = True
        except Refused:
            expected, fits = set(), False
        with open_kb() as kb:
            types = {"int": "int", "float": "float", "text": "symbol", "bool": "bool"}
            declared = ", ".join(f"`{n}`: {types[k]}" for n, k in asked.declared.items())
            for form, rows in given(asked, tmp_path).items():
                if chance.random() < 0.3:
                    kb.add_rules(f".decl {form}({declared})")
                assert attempt(kb, form, rows, asked.options) == fits, (form, asked)
                if fits:
                    assert set(kb.table(form).fetchall()) == expected, (form, asked)
                else:
                    assert form not in kb.predicates()["predicate"].to_pylist() or not list(
                        kb.table(form)
                    )
            if fits and expected:
                _take_out(kb, asked, tmp_path, expected)
        budget.tried("tables")


def _take_out(kb: KnowledgeBase, asked: Wish, folder: Path, expected: set[tuple[Any, ...]]) -> None:
    """What was inserted can be deleted in the same words."""
    gone = kb.delete("table", asked.arrow(), **asked.options)
    assert gone.deleted == {"table": len(expected)}, asked
    gone = kb.unload(folder / "p.jsonl", "jsonl", **asked.options)
    assert gone.deleted == {"jsonl": len(expected)}, asked
