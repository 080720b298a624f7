"""Docstrings of public calls name the columns, with types, of the tables that come out of them.

Every `name: type` in such a docstring, with a type of Arrow, is compared with the table itself.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import zodiac_sql
from zodiac_sql.change.change import Change
from zodiac_sql.change.explained import ChangeExplanation
from zodiac_sql.facts.export import Exported
from zodiac_sql.knowledge_base import KnowledgeBase
from zodiac_sql.read import describe, query
from zodiac_sql.read.drawing.draw import Drawing
from zodiac_sql.read.query import Answer
from zodiac_sql.read.verify.verify import Verification
from zodiac_sql.read.why.absence import WhyNot
from zodiac_sql.read.why.proof import Explanation
from zodiac_sql.stream.updates import StreamUpdate

PROGRAM = """
    .decl all(symbol: symbol, int: int, float: float, bool: bool, date: date, timestamp: timestamp,
        any: any)
    r: some(X) :- all(X, _, _, _, _, _, _).
    s: yes() :- some(X).
"""
NOON = datetime.datetime(2026, 1, 2, 12)
_TYPE = r"list<string>|string|int64|double|bool|date32\[day\]|timestamp\[us\]"
_COLUMN = re.compile(rf"(\w+): ({_TYPE})(?!\w)")


def told(documented: object) -> dict[str, str]:
    """The columns that a docstring names."""
    return dict(_COLUMN.findall(documented.__doc__ or ""))


def found(table: pa.Table | Answer) -> dict[str, str]:
    """The columns that a table has."""
    return {f.name: str(f.type).replace("list<item: ", "list<") for f in table.schema}


@pytest.fixture(scope="module")
def known() -> Iterator[tuple[KnowledgeBase, Change]]:
    with zodiac_sql.connect() as kb:
        kb.add_rules(PROGRAM)
        yield kb, kb.insert("all", [("a", 1, 2.5, True, NOON.date(), NOON, "a term")])


@pytest.mark.parametrize("verb", ["rules", "predicates", "hypernodes"])
def test_descriptions(known: tuple[KnowledgeBase, Change], verb: str) -> None:
    """The façade names the columns, and what it calls explains them."""
    columns = told(getattr(describe, verb))
    assert columns and told(getattr(KnowledgeBase, verb)) == columns
    assert found(getattr(known[0], verb)()) == columns
    with zodiac_sql.connect() as empty:
        assert found(getattr(empty, verb)()) == columns


def tables(kb: KnowledgeBase, change: Change, predicate: str) -> Iterator[pa.Table | Answer]:
    """The tables that public calls give of a predicate."""
    yield kb.table(predicate)
    yield change.inserted_facts(predicate)
    yield change.deleted_facts(predicate)
    yield change.marked_facts(predicate)
    yield kb.verify().missing_facts(predicate)
    yield kb.verify().surplus_facts(predicate)
    with kb.batches(predicate) as reader:
        yield reader.read_all()


def test_types(known: tuple[KnowledgeBase, Change]) -> None:
    """The columns of `all` are called as their types are."""
    assert len(told(Answer)) == 7
    for table in tables(*known, "all"):
        assert found(table) == told(Answer)
    goals = known[0].query("all(Symbol, Int, Float, Bool, Date, Timestamp, Any)")
    assert {name.lower(): type_ for name, type_ in found(goals).items()} == told(Answer)


DOCUMENTED: list[Callable[..., Any] | type] = [
    KnowledgeBase.query, query.answer_table, query.answer_goals, Change.inserted_facts,
    Verification.missing_facts, Exported,
]  # fmt: skip


@pytest.mark.parametrize("documented", DOCUMENTED, ids=lambda one: one.__qualname__)
def test_predicates_without_columns(
    known: tuple[KnowledgeBase, Change], documented: object, tmp_path: Path
) -> None:
    holds = told(documented)
    assert list(holds) == ["holds"]
    for table in [*tables(*known, "yes"), known[0].query("yes()")]:
        assert found(table) == holds
    (file,) = known[0].export(tmp_path, "parquet", "yes").files
    assert found(pq.read_table(file)) == holds


def test_steps_of_an_explanation() -> None:
    assert found(Explanation((), {}, frozenset()).arrow()) == told(Explanation.arrow)


def test_keys_of_an_update_of_a_stream() -> None:
    assert StreamUpdate.__doc__
    named = set(re.findall(r"`(\w+)`", StreamUpdate.__doc__))
    assert named == set(StreamUpdate.__optional_keys__) and not StreamUpdate.__required_keys__


WHYS = (Explanation, WhyNot, ChangeExplanation)


def test_every_public_method_says_what_it_does() -> None:
    for class_ in (KnowledgeBase, Change, Answer, Verification, Drawing, *WHYS):
        for name, member in vars(class_).items():
            if not name.startswith("_") and (callable(member) or isinstance(member, property)):
                assert member.__doc__, f"{class_.__name__}.{name}"
