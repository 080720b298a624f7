"""The order in which rows and files come makes no difference to what a knowledge base holds."""

from __future__ import annotations

import datetime as dt
import itertools
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support import budget

import zodiac_sql
from zodiac_sql.change.update import Update
from zodiac_sql.knowledge_base import KnowledgeBase

P = "http://e/p"
XSD = "http://www.w3.org/2001/XMLSchema#"
KEPT = f"kept: kept(X, N) :- <{P}>(N, X)."

Rows = list[tuple[str, Any]]
Target = KnowledgeBase | Update

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
    ("n/a", "a b", "http://e/x", '"chat"@fr'),
    (2**53 + 1,), (10**20 - 1, 2**63, -(10**40)),
    (float("inf"), float("nan"), 1e300), (Decimal("2.50"), Decimal(3)), (Decimal("1e-30"),),
)  # fmt: skip

JSON: tuple[tuple[Any, ...], ...] = (
    (1, 2, 2**53 + 1), (2.5, 3.0), (True,), ("n/a", "x"), ("2026-01-02",),
    ("2026-01-02T03:04:00Z",),
)  # fmt: skip

STREAMED = (*JSON[:4], (10**20,))
"""Streams, rows and facts of rules read an ISO text as its column is just then."""

LITERALS = (
    ('"1"^^<{}integer>', '"2"^^<{}integer>'), ('"2.5"^^<{}double>', '"3.0"^^<{}double>'),
    ('"2.5"^^<{}decimal>', '"3.0"^^<{}decimal>'), ('"true"^^<{}boolean>',),
    ('"2026-01-02"^^<{}date>',), ('"2026-01-02T03:04:00"^^<{}dateTime>',),
    ('"2026-01-02T03:04:00Z"^^<{}dateTime>',), ('"2026-01-02T03:04:00+02:00"^^<{}dateTime>',),
    ('"n/a"', '"chat"@fr', "<http://e/x>", '"2026-01-02"'), ('"01"^^<{}integer>',),
    ('"2.50"^^<{}decimal>',), ('"5"^^<{}int>',), ('"x"^^<{}integer>',), ('"1"^^<{}boolean>',),
)  # fmt: skip

WRITTEN = (
    ("1", "2"), ("2.5", "3.0"), ("9007199254740993",), ("true",), ('"n/a"', "<http://e/x>"),
    ('"2.5"^^<{}decimal>', '"3.0"^^<{}decimal>'),
    ('"2026-01-02"^^<{}date>',), ('"2026-01-02T03:04:00"^^<{}dateTime>',),
)  # fmt: skip
"""Values in facts of rules."""

UTC, NAIVE = pa.timestamp("us", "UTC"), pa.timestamp("us")
ARROW: tuple[tuple[pa.DataType, tuple[Any, ...]], ...] = (
    (pa.int64(), (1, 2, 2**53 + 1)), (pa.int8(), (1, 2)), (pa.uint64(), (1, 2)),
    (pa.uint64(), (1, 2**63, 2**64 - 1)), (pa.float64(), (2.5, 3.0)), (pa.float32(), (2.5,)),
    (pa.bool_(), (True,)), (pa.date32(), (dt.date(2026, 1, 2),)), (NAIVE, VALUES[4]),
    (UTC, VALUES[5]), (pa.string(), ("n/a", "a b")),
    (pa.dictionary(pa.int8(), pa.string()), ("n/a", "x")),
    (pa.decimal128(10, 2), (Decimal("2.50"), Decimal(3))),
    (pa.decimal128(38, 2), (Decimal(10**30), Decimal(3))),
    (pa.decimal256(60, 2), (Decimal(10**50), Decimal("2.50"))),
    (pa.decimal256(60, 2), (Decimal(3), Decimal("2.50"))),
)  # fmt: skip


@dataclass(frozen=True)
class Come:
    """Facts that come together. Those of some verbs cannot come in an update with others."""

    form: str
    path: Path
    rows: Any = None

    def __str__(self) -> str:
        if isinstance(self.rows, pa.Table):
            return f"{self.form}: {self.rows.schema.types} {self.rows.to_pylist()}"
        return f"{self.form}: {self.path.read_text() if self.path.is_file() else self.rows}"


def some(draw: random.Random, kinds: Sequence[Sequence[Any]]) -> list[Any]:
    """Values of one kind, or of two."""
    chosen = draw.sample(kinds, draw.choice((1, 1, 1, 2)))
    return [draw.choice(kind) for kind in chosen for _ in range(draw.choice((1, 2)))]


def drawn(draw: random.Random, folder: Path, number: int) -> Come:
    """Rows, or a file, with a few facts of P, or none."""
    form = draw.choice([*FORMS])
    subjects = [f"http://e/{draw.choice('abcd')}" for _ in range(4)]
    make = MADE.get(form, lambda _draw, _subjects, _path: None)
    path = folder / f"{number}.{form.removeprefix('empty ')}"
    return Come(form, path, make(draw, subjects, path))


def _rows(draw: random.Random, subjects: list[str], path: Path) -> Rows:
    return list(zip(subjects, some(draw, VALUES), strict=False))


def _streamed(draw: random.Random, subjects: list[str], path: Path) -> Rows:
    rows = list(zip(subjects, some(draw, STREAMED), strict=False))
    lines = [json.dumps({"insert": {P: [row]}}) for row in rows]
    path.write_text("\n".join(lines))
    return rows


def _csv(draw: random.Random, subjects: list[str], path: Path) -> None:
    cells = some(draw, CELLS)
    lines = [f"{s},{cell}" for s, cell in zip(subjects, cells, strict=False)]
    path.write_text("s,o\n" + "".join(f"{line}\n" for line in lines))


def _jsonl(draw: random.Random, subjects: list[str], path: Path) -> None:
    values = some(draw, JSON)
    rows = [{"s": s, "o": value} for s, value in zip(subjects, values, strict=False)]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def _json(draw: random.Random, subjects: list[str], path: Path) -> None:
    values = some(draw, JSON)
    rows = [{"s": s, "o": value} for s, value in zip(subjects, values, strict=False)]
    path.write_text(json.dumps(rows))


def _nt(draw: random.Random, subjects: list[str], path: Path) -> None:
    objects = [literal.format(XSD) for literal in some(draw, LITERALS)]
    lines = [f"<{s}> <{P}> {o} ." for s, o in zip(subjects, objects, strict=False)]
    path.write_text("".join(f"{line}\n" for line in lines))


def _text(draw: random.Random, subjects: list[str], path: Path) -> str:
    objects = [literal.format(XSD) for literal in some(draw, WRITTEN)]
    pairs = zip(subjects, objects, strict=False)
    return "\n".join(f"<{P}>(<{s}>, {o})." for s, o in pairs)


def _arrow(draw: random.Random, subjects: list[str], path: Path) -> pa.Table:
    type_, values = draw.choice(ARROW)
    values = draw.sample(values, draw.choice(range(1, len(values) + 1)))
    return pa.table({"s": subjects[: len(values)], "o": pa.array(values, type_)})


def _empty(draw: random.Random, subjects: list[str], path: Path) -> pa.Table:
    return _arrow(draw, subjects, path).slice(0, 0)


def _parquet(draw: random.Random, subjects: list[str], path: Path) -> pa.Table:
    table = _arrow(draw, subjects, path)
    pq.write_table(table, path)
    return table


def _empty_parquet(draw: random.Random, subjects: list[str], path: Path) -> pa.Table:
    table = _empty(draw, subjects, path)
    pq.write_table(table, path)
    return table


def _empty_csv(draw: random.Random, subjects: list[str], path: Path) -> None:
    path.write_text("s,o\n")


MADE: dict[str, Callable[[random.Random, list[str], Path], Any]] = {
    "rows": _rows, "frame": _arrow, "arrow": _arrow, "reader": _arrow, "csv": _csv, "jsonl": _jsonl,
    "json": _json, "nt": _nt, "parquet": _parquet, "text": _text, "queue": _streamed,
    "stream": _streamed, "empty arrow": _empty, "empty parquet": _empty_parquet,
    "empty csv": _empty_csv,
}  # fmt: skip


def _add_stream(kb: KnowledgeBase, come: Come) -> None:
    path = come.path.with_suffix(".jsonl")
    path.write_bytes(come.path.read_bytes())
    list(kb.stream(path))


def _add_queue(kb: KnowledgeBase, come: Come) -> None:
    updates = zodiac_sql.UpdateQueue(size=10)
    for row in come.rows:
        updates.put({"insert": {P: [row]}})
    updates.close()
    list(kb.stream(updates, coalesce=3))


def _add_alter(kb: KnowledgeBase, come: Come) -> None:
    """What was altered there and back is what it was.

    But then a column of floats or decimals is one of literals, and has the datatype of these.
    """
    types = {name: text for name, _, text, *_ in kb.predicates().fetchall()}
    type_ = types[P].rpartition(": ")[2] if P in types else None
    if type_ not in (None, "float", "decimal") and kb.table(P).fetchall():
        kb.alter(P, {"o": "any" if type_ != "any" else "symbol"})
        kb.alter(P, {"o": type_})


FORMS: dict[str, Callable[[Any, Come], object]] = {
    "rows": lambda target, come: target.insert(P, come.rows),
    "frame": lambda target, come: target.insert(P, come.rows.to_pandas(types_mapper=pd_type)),
    "arrow": lambda target, come: target.insert(P, come.rows),
    "reader": lambda target, come: target.insert(P, come.rows.to_reader()),
    "csv": lambda target, come: target.load(come.path, P),
    "jsonl": lambda target, come: target.load(come.path, P),
    "json": lambda target, come: target.load(come.path, P),
    "nt": lambda target, come: target.load(come.path),
    "parquet": lambda target, come: target.load(come.path, P),
    "text": lambda target, come: target.add_rules(come.rows),
    "empty arrow": lambda target, come: target.insert(P, come.rows),
    "empty parquet": lambda target, come: target.load(come.path, P),
    "empty csv": lambda target, come: target.load(come.path, P),
    "rule": lambda target, come: target.add_rules(KEPT),
    "queue": _add_queue,
    "stream": _add_stream,
    "alter": _add_alter,
}

ALONE = ("queue", "stream", "alter")
"""They are changes by themselves."""


def pd_type(type_: pa.DataType) -> Any:
    """Types of pandas that keep what Arrow has."""
    import pandas as pd

    return pd.ArrowDtype(type_)


def added(kb: Target, come: Come) -> None:
    FORMS[come.form](kb, come)


def held(kb: KnowledgeBase) -> tuple[str, frozenset[tuple[str, str]]]:
    """The types of the columns, and the facts as they would be in a column of terms."""
    kb.add_rules(KEPT)
    types = str(kb.sql(f"SELECT types FROM zodiac.predicate WHERE name = '{P}'").fetchall())
    kept = kb.table("kept").fetchall()
    facts = kb.table(P).fetchall() if kept else []
    assert {(s, repr(o)) for o, s in kept} == {(s, repr(o)) for s, o in facts}
    if not facts:
        return types, frozenset()
    kb.drop_rules("kept")
    kb.alter(P, {"s": "any", "o": "any"})
    return types, frozenset(kb.table(P).fetchall())


@pytest.mark.fuzz
def test_any_order_of_files_gives_the_same(tmp_path: Path) -> None:
    draw = random.Random(budget.seed(55))
    for number in range(budget.either(ci=4, fuzz=4)):
        (tmp_path / str(number)).mkdir()
        seed = draw.randrange(2**32)
        try:
            check_orders(random.Random(seed), tmp_path / str(number))
        except BaseException as error:
            error.add_note(f"check_orders(random.Random({seed}), tmp_path)")
            raise


def check_orders(draw: random.Random, folder: Path) -> None:
    come = [drawn(draw, folder, number) for number in range(draw.choice((2, 3, 3, 4)))]
    orders = list(itertools.permutations(come))
    draw.shuffle(orders)
    found: dict[Any, Any] = {}
    for order in orders[:4]:
        print("% order", *order, sep="\n%   ")
        with zodiac_sql.connect() as kb:
            if draw.random() < 0.7 or any(one.form in ALONE for one in come):
                for one in order:
                    added(kb, one)
            else:
                with kb.update() as update:
                    for one in order:
                        added(update, one)
            assert kb.verify()
            found[held(kb)] = [one.path.name for one in order]
    assert len(found) == 1, found
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
