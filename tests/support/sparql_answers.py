"""Answers of SPARQL engines as bags that can be compared."""

from __future__ import annotations

import datetime
import math
import re
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pyoxigraph

from zodiac_sql.facts.load.literals import TYPES
from zodiac_sql.knowledge_base import KnowledgeBase
from zodiac_sql.language import symbols
from zodiac_sql.read.query import Answer

_LITERAL = re.compile(r'"(.*)"\^\^<([^<>]*)>', re.DOTALL)
_NUMERIC = {iri for iri, type_ in TYPES.items() if type_.numeric}


def ours(kb: KnowledgeBase, query: str) -> Counter[object]:
    """The solutions that a knowledge base finds: variables and values."""
    answer = kb.sparql(query)
    if answer.column_names == ["holds"]:
        return Counter([("holds", bool(answer))] if "ASK" in query else [frozenset()] * len(answer))
    rows = (zip(answer.column_names, row, strict=True) for row in answer)
    return Counter(
        frozenset((name, _plain(value)) for name, value in row if value is not None) for row in rows
    )


def theirs(store: pyoxigraph.Store, query: str) -> Counter[object]:
    """The solutions that pyoxigraph finds."""
    found = store.query(query)
    if isinstance(found, pyoxigraph.QueryBoolean):
        return Counter([("holds", bool(found))])
    assert isinstance(found, pyoxigraph.QuerySolutions)
    names = [variable.value for variable in found.variables]
    return Counter(
        frozenset((name, _plain(_symbol(row[name]))) for name in names if row[name] is not None)
        for row in found
    )


def in_order(answer: Answer) -> list[list[object]]:
    """The rows of an answer of ours."""
    return [[None if value is None else _plain(value) for value in row] for row in answer]


def in_order_theirs(store: pyoxigraph.Store, query: str) -> list[list[object]]:
    """The rows that pyoxigraph finds."""
    found = store.query(query)
    assert isinstance(found, pyoxigraph.QuerySolutions)
    names = [variable.value for variable in found.variables]
    return [
        [None if row[name] is None else _plain(_symbol(row[name])) for name in names]
        for row in found
    ]


def loaded(turtle: Path) -> pyoxigraph.Store:
    """The graph of a file."""
    store = pyoxigraph.Store()
    store.load(path=turtle)
    return store


def _symbol(term: object) -> str:
    if isinstance(term, pyoxigraph.NamedNode):
        return symbols.iri(term.value)
    if isinstance(term, pyoxigraph.BlankNode):
        return f"_:{term.value}"
    assert isinstance(term, pyoxigraph.Literal)
    return symbols.literal(term.value, term.language or "", term.datatype.value)


def _plain(value: object) -> object:
    """A value with one form, whether it is native or a text."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float | Decimal):
        return "NaN" if math.isnan(value) else float(value)
    if isinstance(value, datetime.datetime | datetime.date):
        return value.isoformat()
    if (found := _LITERAL.fullmatch(str(value))) is None:
        return _of_number(str(value))
    if found[2] in _NUMERIC:
        return _number(found[1], value)
    if found[2] == f"{symbols.XSD}dateTime":
        return _in_utc(found[1])
    if found[2] == f"{symbols.XSD}boolean":
        return found[1] in ("true", "1")
    return _of_number(found[1]) if found[2].startswith(symbols.XSD) else value


def _in_utc(moment: str) -> str:
    """A moment as a native column has it."""
    try:
        value = datetime.datetime.fromisoformat(moment)
    except ValueError:
        return moment
    zoned = value.tzinfo is not None
    return (value.astimezone(datetime.UTC).replace(tzinfo=None) if zoned else value).isoformat()


def _number(digits: str, value: object) -> object:
    """The number of a literal; the literal if it has none."""
    try:
        return "NaN" if digits == "NaN" else float(digits)
    except ValueError:
        return value


def _of_number(text: str) -> str:
    """A text with one form if it was made of a number: pyoxigraph writes 1.0 as 1."""
    return text.removesuffix(".0") if re.fullmatch(r"-?\d+\.0", text) else text
