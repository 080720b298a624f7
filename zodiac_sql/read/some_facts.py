"""Some facts of a predicate, as people look through them: filtered, in order, a page at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from zodiac_sql.database.answers import answer
from zodiac_sql.database.store import Store
from zodiac_sql.errors import QueryError
from zodiac_sql.program.state import State
from zodiac_sql.read.query import known_predicate
from zodiac_sql.read.why.why_violated import fact_of
from zodiac_sql.sql.relations import Relation, columns_of
from zodiac_sql.storage.extensions import count, decoded, distinct_query
from zodiac_sql.storage.sources import sources_of

MANY = 200_000
"""More facts, of which no order is wanted, come in the order of their ids: texts need not be looked
up to sort them."""


@dataclass(frozen=True, slots=True)
class Page:
    """Which facts are wanted.

    `text` stands somewhere in them, in small or capital letters. They are in the order of the
    column `sort`, then of all columns. Each fact is on one page.
    """

    text: str = ""
    sort: str | None = None
    descending: bool = False
    limit: int = 50
    offset: int = 0


@dataclass(frozen=True, slots=True)
class SomeFacts:
    """The facts of a page."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    goals: tuple[str, ...]
    """Each row as a fact, which `why` takes for a goal."""
    matching: int
    """How many facts have the text."""
    all: int


def some_facts(store: Store, state: State, predicate: str, page: Page) -> SomeFacts:
    """The facts of a page. Raises QueryError if there is no such predicate, or no such column."""
    known = state.schema[known_predicate(predicate, state)]
    relation = sources_of(state).relation(known.name)
    names = tuple(column.name for column in relation.stored)
    if page.sort is not None and page.sort not in names:
        raise QueryError(f"{predicate} has no column {page.sort}. It has {', '.join(names)}")
    if known.open:
        return SomeFacts(names, (), (), 0, 0)
    everything = count(store, relation)
    found = _having(relation, page.text)
    parameters = [page.text.lower()] if page.text else None
    matching = everything
    if page.text:
        counted = exp.select(exp.Count(this=exp.Star()).as_("n")).from_(found.subquery("c"))
        matching = answer(store, counted, parameters)["n"][0].as_py()
    if everything > MANY and not page.text and page.sort is None:
        ordered = _by_ids(relation, page)
    else:
        ordered = found.order_by(*_order(relation, page)).limit(page.limit).offset(page.offset)
    table = answer(store, ordered, parameters)
    rows = tuple(zip(*(column.to_pylist() for column in table.columns), strict=True))
    goals = tuple(fact_of(known, row if known.columns else ()) for row in rows)
    return SomeFacts(names, rows, goals, matching, everything)


def _having(relation: Relation, text: str) -> exp.Select:
    """The facts of a relation in which a text, the first parameter, stands."""
    columns = columns_of(relation, "v")
    facts = decoded(relation, distinct_query(relation), "zodiac.symbol")
    found = exp.select(*columns).from_(facts.subquery("v"))
    if not text:
        return found
    hits = [
        exp.func("contains", exp.func("lower", exp.cast(c, "VARCHAR")), exp.Parameter(this="1"))
        for c in columns
    ]
    return found.where(exp.or_(*hits))


def _by_ids(relation: Relation, page: Page) -> exp.Select:
    """A page of facts in the order of their ids, within the page in that of their columns."""
    columns = columns_of(relation, "v")
    stored = exp.select(*columns).from_(distinct_query(relation).subquery("v"))
    some = stored.order_by(*columns).limit(page.limit).offset(page.offset)
    facts = decoded(relation, some, "zodiac.symbol")
    return exp.select(*columns).from_(facts.subquery("v")).order_by(*columns)


def _order(relation: Relation, page: Page) -> list[exp.Expr]:
    columns = columns_of(relation, "v")
    if page.sort is None:
        return list(columns)
    first = next(column for column in columns if column.name == page.sort)
    ordered = exp.Ordered(this=first, desc=page.descending, nulls_first=False)
    return [ordered, *(column for column in columns if column is not first)]
