"""The order in which rows and files come makes no difference to what a knowledge base holds."""

from __future__ import annotations

import datetime as dt
import itertools
import json
import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from support import budget

import zodiac_sql
from zodiac_sql.change.update import Update
from zodiac_sql.knowledge_base import KnowledgeBase

P = "http://e/p"
XSD = "http://www.w3.org/2001/XMLSchema#"

Come = list[tuple[str, Any]] | Path
"""Rows of Python, or a file."""

CELLS = (
    ("1", "2", "30"), ("2.5", "3.0", "-0.0"), ("true", "false"), ("2026-01-02", "2025-12-31"),
    ("2026-01-02 03:04", "2026-01-02T03:04:05.25"), ("2026-01-02T03:04:00+02:00",),
    ("n/a", "007", "a b"), ("9007199254740993",), ("99999999999999999999",),
    ("0.12345678901234567890123",), ("1e3", "+5", "nan"),
)  # fmt: skip

VALUES: tuple[tuple[Any, ...], ...] = (
    (1, 2, 30), (2.5, 3.0, -0.0), (True, False), (dt.date(2026, 1, 2),),
    (dt.datetime(2026, 1, 2, 3, 4), dt.datetime(2026, 1, 2, 3, 4, 5, 250_000)),
    (dt.datetime(2026, 1, 2, 3, 4, tzinfo=dt.timezone(dt.timedelta(hours=2))),),
    ("n/a", "a b", "http://e/x", '"chat"@fr'), (2**53 + 1,), (10**20 - 1,),
    (float("inf"), float("nan"), 1e300),
)  # fmt: skip

LITERALS = (
    ('"1"^^<{}integer>', '"2"^^<{}integer>'), ('"2.5"^^<{}double>', '"3.0"^^<{}double>'),
    ('"2.5"^^<{}decimal>', '"3.0"^^<{}decimal>'), ('"true"^^<{}boolean>',),
    ('"2026-01-02"^^<{}date>',), ('"2026-01-02T03:04:00"^^<{}dateTime>',),
    ('"2026-01-02T03:04:00Z"^^<{}dateTime>',), ('"2026-01-02T03:04:00+02:00"^^<{}dateTime>',),
    ('"n/a"', '"chat"@fr', "<http://e/x>"), ('"01"^^<{}integer>',), ('"2.50"^^<{}decimal>',),
    ('"5"^^<{}int>',), ('"x"^^<{}integer>',), ('"1"^^<{}boolean>',),
)  # fmt: skip


def some(draw: random.Random, kinds: tuple[tuple[Any, ...], ...]) -> list[Any]:
    """Values of one kind, or of two."""
    chosen = draw.sample(kinds, draw.choice((1, 1, 1, 2)))
    return [draw.choice(kind) for kind in chosen for _ in range(draw.choice((1, 2)))]


def drawn(draw: random.Random, folder: Path, number: int) -> Come:
    """Rows, or a file, with a few facts of P."""
    form = draw.choice(("rows", "csv", "jsonl", "nt", "parquet"))
    subjects = [f"http://e/{draw.choice('abcd')}" for _ in range(4)]
    path = folder / f"{number}.{form}"
    match form:
        case "rows":
            return list(zip(subjects, some(draw, VALUES), strict=False))
        case "csv":
            cells = some(draw, CELLS)
            lines = [f"{s},{cell}" for s, cell in zip(subjects, cells, strict=False)]
            path.write_text("s,o\n" + "".join(f"{line}\n" for line in lines))
        case "jsonl":
            values = some(draw, ((1, 2), (2.5, 3.0), (True,), ("n/a", "x"), ("2026-01-02",)))
            rows = [{"s": s, "o": value} for s, value in zip(subjects, values, strict=False)]
            path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        case "nt":
            objects = [literal.format(XSD) for literal in some(draw, LITERALS)]
            lines = [f"<{s}> <{P}> {o} ." for s, o in zip(subjects, objects, strict=False)]
            path.write_text("".join(f"{line}\n" for line in lines))
        case "parquet":
            _write_parquet(path, subjects, draw.choice(VALUES[:7]))
    return path


def _write_parquet(path: Path, subjects: list[str], values: tuple[Any, ...]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    values = values[: len(subjects)]
    pq.write_table(pa.table({"s": subjects[: len(values)], "o": values}), path)


def added(kb: KnowledgeBase | Update, come: Come) -> None:
    if isinstance(come, list):
        kb.insert(P, come)
    elif come.suffix == ".nt":
        kb.load(come)
    else:
        kb.load(come, P)


def held(kb: KnowledgeBase) -> tuple[str, frozenset[tuple[str, str]]]:
    """The types of the columns, and the facts as they would be in a column of terms."""
    types = str(kb.sql(f"SELECT types FROM zodiac.predicate WHERE name = '{P}'").fetchall())
    kb.alter(P, {"s": "any", "o": "any"})
    return types, frozenset(kb.table(P).fetchall())


@pytest.mark.fuzz
def test_any_order_of_files_gives_the_same(tmp_path: Path) -> None:
    draw = random.Random(budget.seed(55))
    for number in range(budget.either(ci=12, fuzz=4)):
        (tmp_path / str(number)).mkdir()
        _check_orders(draw, tmp_path / str(number))


def _check_orders(draw: random.Random, folder: Path) -> None:
    come = [drawn(draw, folder, number) for number in range(draw.choice((2, 3, 3, 4)))]
    orders = list(itertools.permutations(come))
    draw.shuffle(orders)
    found = {}
    for order in orders[:4]:
        with zodiac_sql.connect() as kb:
            if draw.random() < 0.7:
                for one in order:
                    added(kb, one)
            else:
                with kb.update() as update:
                    for one in order:
                        added(update, one)
            assert kb.verify()
            found[held(kb)] = order
    shown = [one if isinstance(one, list) else one.read_bytes() for one in come]
    assert len(found) == 1, (shown, found)
    budget.tried("orders of files", len(orders[:4]))


def test_decimals_beside_other_values_come_in_any_order() -> None:
    rows = [("a", Decimal("2.50")), ("b", "x"), ("c", 1)]
    found = set()
    for order in itertools.permutations(rows[1:]):
        with zodiac_sql.connect() as kb:
            kb.insert(P, rows[:2])
            for row in order:
                kb.insert(P, [row])
            found.add(held(kb)[1])
    assert len(found) == 1
