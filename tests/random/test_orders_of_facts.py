"""In which order facts and files come makes no difference: columns widen to the same in the end.

Batches of facts of a predicate without a declaration come by different verbs, in several orders:
the facts, the types of the columns, and what a rule derives of them must be the same. And they are
the terms that came, whatever was there before them.
"""

from __future__ import annotations

import csv
import datetime
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyarrow import parquet
from support import budget
from support.mixed_terms import XSD, Term, as_type, compare, term_of, undeclared_term
from support.mixed_types import joined, value_type
from support.naive_values import NoValue

from zodiac_sql import UpdateQueue

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

PROPERTY = "http://example.org/value"
KEPT = f"kept: kept(X, N) :- <{PROPERTY}>(N, X), not none(X)."
BIG = f"big: big(X) :- <{PROPERTY}>(_, X), X > 2."
COMPARED = ("int", "decimal", "float", "any")
ORDERS = 3
TRIES = budget.either(ci=4, fuzz=10)

POOLS: dict[str, Sequence[Any]] = {
    "int": (1, 2, 5, -3, 2**40),
    "float": (0.5, 2.5, 5.0, -1.25),
    "bool": (True, False),
    "date": (datetime.date(2026, 1, 31), datetime.date(2024, 2, 29)),
    "timestamp": (datetime.datetime(2026, 1, 31, 12), datetime.datetime(2026, 1, 31)),
    "symbol": ("a", "b", "5", "n/a", "http://example.org/a", "2026-01-31", "2026-01-31T12:00:00"),
}
ISO = ("2026-01-31", "2026-01-31T12:00:00")
READ = {
    "csv": ("5", *ISO),
    **dict.fromkeys(("json", "queue", "insert", "text", "arrow", "parquet"), ISO),
}
"""The texts that verbs read as other values: some where a column holds these just then."""
LITERALS = tuple(
    f'"{form}"^^<{XSD}{name}>'
    for form, name in (
        ("5", "integer"), ("05", "integer"), ("7", "int"), ("2.50", "decimal"), ("5", "double"),
        ("0.5", "double"), ("true", "boolean"), ("1", "boolean"), ("2026-01-31", "date"),
        ("2026-01-31T12:00:00", "dateTime"), ("2026-01-31T12:00:00Z", "dateTime"),
        ("2026-01-31T13:00:00+01:00", "dateTime"), ("x", "integer"), ("300", "byte"),
    )
)  # fmt: skip


@dataclass(frozen=True)
class Batch:
    """Facts that come together, by a verb."""

    verb: str
    rows: tuple[tuple[str, Any], ...]
    is_empty: bool = False
    """It has no rows, but columns of the types of these."""

    @property
    def facts(self) -> tuple[tuple[str, Any], ...]:
        return () if self.is_empty else self.rows

    @property
    def table(self) -> pa.Table:
        """The rows as a table with types."""
        table = pa.table({"s": [s for s, _ in self.rows], "o": [o for _, o in self.rows]})
        return table.slice(0, 0) if self.is_empty else table


@pytest.mark.fuzz(share=2)
def test_all_orders_lead_to_the_same(open_kb: OpenKb) -> None:
    chance = Random(budget.seed(5518))
    for _ in range(TRIES):
        seed = chance.randrange(2**32)
        try:
            check(open_kb, seed)
        except BaseException as error:
            error.add_note(f"check(open_kb, {seed})")
            raise
        budget.tried("orders of facts", ORDERS)


def check(open_kb: OpenKb, seed: int) -> None:
    rng = Random(seed)
    batches = random_batches(rng)
    first: str | None = None
    asks = rng.random() < 0.5
    for _ in range(ORDERS):
        rng.shuffle(batches)
        print("% order", *batches, sep="\n%   ")
        streams = any(batch.verb == "queue" for batch in batches)
        with TemporaryDirectory() as directory, open_kb(Path(directory) / "case.duckdb") as kb:
            if rng.random() < 0.5:
                kb.add_rules(KEPT)
            if asks:
                kb.add_rules(BIG)
            bring(kb, batches, Path(directory), together=rng.random() < 0.3 and not streams)
            kb.add_rules(KEPT)
            type_ = column_type(kb)
            assert type_ == (first := first or type_)
            assert type_ in possible(batches) or (asks and type_ == "any")
            facts = {(s, _stored(o, type_)) for batch in batches for s, o in batch.facts}
            found = {(s, repr(o)) for s, o in kb.table(PROPERTY).fetchall()}
            assert found == {(s, repr(o)) for s, o in facts}
            kept = {(s, repr(o)) for o, s in kb.table("kept").fetchall()}
            assert kept == found
            if type_ in COMPARED:
                kb.add_rules(BIG)
                big = {repr(x) for (x,) in kb.table("big").fetchall()}
                assert big == {repr(o) for _, o in facts if _is_big(o)}
            assert kb.verify()


def random_batches(rng: Random) -> list[Batch]:
    numbers = rng.random() < 0.3
    batches = []
    for number in range(rng.choice((2, 2, 3, 4))):
        verb = rng.choice([*VERBS, "insert"])
        kind = rng.choice(("int", "float") if numbers else (*POOLS, "mixed", "mixed"))
        rows = tuple(
            (f"http://example.org/{number}_{i}", _value(rng, verb, kind))
            for i in range(rng.choice((1, 2, 3)))
        )
        batches.append(Batch(verb, rows))
    for _ in range(rng.choice((0, 0, 1, 2))):
        rows = (("", rng.choice(POOLS[rng.choice([*POOLS])])),)
        batches.append(Batch(rng.choice(("arrow", "parquet")), rows, is_empty=True))
    return batches


def _value(rng: Random, verb: str, kind: str) -> Any:
    """A value that a verb can bring: of tables with types, one of these."""
    if kind == "mixed" and verb == "nt":
        return rng.choice(LITERALS)
    if verb in ("csv", "json") and kind in ("mixed", "date", "timestamp"):
        kind = "int"
    if kind == "mixed":
        kind = rng.choice(list(POOLS)) if verb in ("insert", "text", "queue") else "symbol"
    value = rng.choice([one for one in POOLS[kind] if one not in READ.get(verb, ())])
    # RDF says that it is an xsd:double, and no int that has become a float.
    return term_of(value).text if verb == "nt" and kind == "float" else value


def is_literal(value: Any) -> bool:
    return isinstance(value, str) and value.startswith('"')


def possible(batches: Sequence[Batch]) -> tuple[str | None, ...]:
    """The types that the second column may have: literals may be those of one native type."""
    type_: str | None = None
    values = [o for batch in batches for _, o in batch.facts]
    for value in values:
        type_ = joined(type_, None if is_literal(value) else value_type(value))
    if not any(map(is_literal, values)):
        return (type_,)
    return ("any", type_) if type_ else ("any", *POOLS, "decimal")


def _stored(value: Any, type_: str | None) -> Any:
    if is_literal(value):
        value = Term(value)
    found = undeclared_term(value) if type_ == "any" else as_type(value, type_)
    return getattr(found, "text", found)


def _is_big(value: Any) -> bool:
    try:
        return compare(term_of(value), ">", 2)  # a symbol is its text already
    except NoValue:
        return False


def column_type(kb: KnowledgeBase) -> str:
    columns = {name: text for name, _, text, *_ in kb.predicates().fetchall()}
    return columns[PROPERTY].rpartition(": ")[2]


# --- verbs ---------------------------------------------------------------------------------------


def bring(kb: KnowledgeBase, batches: Sequence[Batch], directory: Path, together: bool) -> None:
    if together:
        with kb.update() as update:
            for number, batch in enumerate(batches):
                VERBS[batch.verb](update, batch, directory / f"f{number}")
        return
    for number, batch in enumerate(batches):
        VERBS[batch.verb](kb, batch, directory / f"f{number}")


def _insert(target: Any, batch: Batch, file: Path) -> None:
    target.insert(PROPERTY, list(batch.rows))


def _queue(target: Any, batch: Batch, file: Path) -> None:
    updates = UpdateQueue(size=10)
    for row in batch.rows:
        updates.put({"insert": {PROPERTY: [row]}})
    updates.close()
    list(target.stream(updates, coalesce=2))


def _arrow(target: Any, batch: Batch, file: Path) -> None:
    target.insert(PROPERTY, batch.table)


def _parquet(target: Any, batch: Batch, file: Path) -> None:
    parquet.write_table(batch.table, f"{file}.parquet")
    target.load(f"{file}.parquet", PROPERTY)


def _csv(target: Any, batch: Batch, file: Path) -> None:
    path = file.with_suffix(".csv")
    with path.open("w", newline="") as lines:
        rows = ((s, str(o).lower() if isinstance(o, bool) else o) for s, o in batch.rows)
        csv.writer(lines).writerows([("s", "o"), *rows])
    target.load(path, PROPERTY)


def _json(target: Any, batch: Batch, file: Path) -> None:
    path = file.with_suffix(".json")
    path.write_text("\n".join(json.dumps({"s": s, "o": o}) for s, o in batch.rows))
    target.load(path, PROPERTY)


def _text(target: Any, batch: Batch, file: Path) -> None:
    facts = "\n".join(f"<{PROPERTY}>(<{s}>, {_written(o)})." for s, o in batch.rows)
    target.add_rules(facts)


def _nt(target: Any, batch: Batch, file: Path) -> None:
    path = file.with_suffix(".nt")
    path.write_text("".join(f"<{s}> <{PROPERTY}> {_written(o)} .\n" for s, o in batch.rows))
    target.load(path)


def _written(value: Any) -> str:
    """A value in N-Triples, which rules read, too."""
    text = term_of(value).text
    if text.startswith('"'):
        return text
    return f"<{text}>" if text.startswith("http://") else f'"{text}"'


VERBS: dict[str, Callable[[Any, Batch, Path], None]] = {
    "insert": _insert, "arrow": _arrow, "parquet": _parquet, "csv": _csv, "json": _json,
    "text": _text, "nt": _nt, "queue": _queue,
}  # fmt: skip
