"""Answers goals and SQL with Arrow tables. It only reads: updates change the materialisation."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from sqlglot import exp

from zodiac_sql.database import dictionary
from zodiac_sql.database.answers import answer
from zodiac_sql.database.clock import let_now_be
from zodiac_sql.database.duckdb_errors import ReadOnlyError
from zodiac_sql.database.other_connections import connect_aside, for_users_sql
from zodiac_sql.database.permitted import is_listing_pragma, require_harmless, require_permitted
from zodiac_sql.database.render import render
from zodiac_sql.database.statements import shown
from zodiac_sql.database.store import Store
from zodiac_sql.errors import EvaluationError, ProgramError, QueryError, ResourceError, StoreError
from zodiac_sql.language.binding import functions_in, symbols_in
from zodiac_sql.language.constraints import named_variables
from zodiac_sql.language.decimals import widest_number
from zodiac_sql.language.functions import Functions, require
from zodiac_sql.language.moment_constants import goals_with_moments
from zodiac_sql.language.named_columns import goal
from zodiac_sql.language.parse import parse_choices
from zodiac_sql.language.schema import Predicate, local_name, resolve
from zodiac_sql.language.syntax import (
    Aggregate,
    Atom,
    Literal,
    Negation,
    Rule,
    Type,
    Variable,
    atoms_of,
)
from zodiac_sql.language.types import body_types
from zodiac_sql.names import is_constraint
from zodiac_sql.program.check import Candidate, arities, functions, in_order, nesting, safety
from zodiac_sql.program.clock import time_of
from zodiac_sql.program.state import State
from zodiac_sql.read.notes_on_goals import notes_on_goals
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.emptiness import goals_are_empty
from zodiac_sql.sql.relations import HOLDS, Part, Relation
from zodiac_sql.sql.select import compile_goals
from zodiac_sql.storage.extensions import decoded, distinct_query
from zodiac_sql.storage.sources import sources_of
from zodiac_sql.tables import ROWS_SHOWN, boxed, html_table

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

_Kept = TypeVar("_Kept")


@dataclass(frozen=True, slots=True)
class Answer:
    """A result: an Arrow table that prints well in a terminal and in a notebook.

    Anything that reads Arrow accepts an Answer (pyarrow.table, polars.from_arrow, DuckDB, insert).
    The types of a predicate become these Arrow types: `symbol: string` (its text), `int: int64`,
    `float: double`, `bool: bool`, `date: date32[day]`, `timestamp: timestamp[us]`, `any: string`
    (the text of the term); decimals are decimal128(38, 18).
    """

    _table: pa.Table
    notes: tuple[str, ...] = ()
    """What looks like a mistake in the goals that are answered."""

    def arrow(self) -> pa.Table:
        """The Arrow table."""
        return self._table

    def df(self) -> pd.DataFrame:
        """A pandas data frame; needs pandas."""
        return self._table.to_pandas()

    def pl(self) -> pl.DataFrame:
        """A polars data frame; needs polars."""
        import polars

        return polars.from_arrow(self._table)  # type: ignore[return-value]

    def fetchall(self) -> list[tuple[Any, ...]]:
        """All rows as tuples."""
        columns = [column.to_pylist() for column in self._table.columns]
        return list(zip(*columns, strict=True))

    def fetchone(self) -> tuple[Any, ...] | None:
        """The first row, or None."""
        return next(iter(Answer(self._table.slice(0, 1)).fetchall()), None)

    def to_pylist(self) -> list[dict[str, Any]]:
        """All rows as dictionaries."""
        rows: list[dict[str, Any]] = self._table.to_pylist()
        return rows

    def to_pydict(self) -> dict[str, list[Any]]:
        """All columns as lists."""
        columns: dict[str, list[Any]] = self._table.to_pydict()
        return columns

    @property
    def column_names(self) -> list[str]:
        """The names of the columns, in order."""
        names: list[str] = self._table.column_names
        return names

    @property
    def num_rows(self) -> int:
        """How many rows there are."""
        return len(self)

    @property
    def schema(self) -> pa.Schema:
        """The names of the columns with their Arrow types."""
        return self._table.schema

    def __len__(self) -> int:
        rows: int = self._table.num_rows
        return rows

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.fetchall())

    def __getitem__(self, column: str | int) -> pa.ChunkedArray:
        return self._table[column]

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        notes = "".join(f"\nnote: {note}" for note in self.notes)
        return f"{boxed(self.column_names, self._first())}\n{self._caption()}{notes}"

    def _repr_html_(self) -> str:
        from html import escape

        table = html_table(self.column_names, self._first())
        notes = "".join(f"<p>note: {escape(note)}</p>" for note in self.notes)
        return f"{table}<p>{escape(self._caption())}</p>{notes}"

    def _first(self) -> list[tuple[Any, ...]]:
        return Answer(self._table.slice(0, ROWS_SHOWN)).fetchall()

    def _caption(self) -> str:
        rows = "1 row" if len(self) == 1 else f"{len(self):,} rows"
        return f"{rows}, {ROWS_SHOWN} shown" if len(self) > ROWS_SHOWN else rows


def answer_sql(store: Store, text: str, parameters: Sequence[object] | None) -> Answer:
    """Run one SQL statement that only reads, or CHECKPOINT (then the file can be copied alone).

    Raises QueryError for any other statement, and for statements that DuckDB refuses.
    """
    reader = for_users_sql(store)
    if _CHECKPOINT.fullmatch(text):
        return Answer(reader.arrow("CHECKPOINT"))
    try:
        kinds = reader.statement_kinds(text)
    except StoreError as error:
        raise QueryError(str(error)) from error
    if len(kinds) != 1:
        raise QueryError(f"one statement at a time: this text has {len(kinds)}")
    statement = text
    if kinds[0] == "EXPLAIN":
        statement = _explained(text)
        kinds = reader.statement_kinds(statement)
    if kinds != ["SELECT"] and not (kinds == ["PRAGMA"] and is_listing_pragma(statement)):
        raise QueryError(_ONLY_READS.format(_kind(kinds)))
    require_permitted(reader, text, statement)
    try:
        with reader.transaction(read_only=True):
            return Answer(answer(reader, text, parameters))
    except ResourceError:
        raise
    except ReadOnlyError as error:
        raise QueryError(_ONLY_READS.format("one whose WITH writes")) from error
    except (EvaluationError, StoreError) as error:
        raise QueryError(str(error)) from error


_ONLY_READS = (
    "sql() only reads (and takes CHECKPOINT), and this is {}. Facts and rules change through "
    "insert, delete, load, add_rules and drop_rules; files are written by export."
)


def _kind(kinds: Sequence[str]) -> str:
    return f"a statement of kind {kinds[0]}" if kinds else "none"


def _explained(text: str) -> str:
    """The statement inside an EXPLAIN; it is checked because EXPLAIN ANALYZE runs it."""
    explained = _EXPLAIN.match(text)
    return "" if explained is None else text[explained.end() :]


_GAP = r"(?:\s|--[^\n]*(?:\n|$)|/\*.*?\*/)*"
_CHECKPOINT = re.compile(rf"{_GAP}CHECKPOINT{_GAP};?{_GAP}", re.IGNORECASE | re.DOTALL)
_EXPLAIN = re.compile(rf"{_GAP}EXPLAIN\b{_GAP}(?:ANALYZE\b)?", re.IGNORECASE | re.DOTALL)


def answer_table(store: Store, state: State, predicate: str) -> Answer:
    """The extension of a predicate, each fact once. Raises QueryError if there is none.

    The answer has the columns of the predicate, with types as in `Answer`. For a predicate without
    columns it has one, `holds: bool`, with one row if the predicate holds.
    """
    return Answer(answer(store, _extension(store, state, known_predicate(predicate, state))))


def _extension(store: Store, state: State, name: str) -> exp.Query:
    if state.schema[name].open:
        require_harmless(store, state.schema[name].sql_name)
        return exp.select(exp.Star()).from_(shown(store.file.name, state.schema[name].sql_name))
    relation = sources_of(state).relation(name)
    return decoded(relation, distinct_query(relation), "zodiac.symbol")


@contextmanager
def stream_table(
    store: Store, state: State, predicate: str, rows: int
) -> Iterator[pa.RecordBatchReader]:
    """The extension of a predicate in Arrow batches, on a connection of its own.

    Raises QueryError if there is no such predicate.
    """
    query = _extension(store, state, known_predicate(predicate, state))
    with connect_aside(store) as other:
        reader = other.batches(query, rows)
        try:
            yield reader
        finally:
            reader.close()  # else it keeps the file open for as long as somebody refers to it


def known_predicate(name: str, state: State) -> str:
    """The predicate that a user's name means. Raises QueryError, with similar names, if none."""
    found = resolve(name, state.schema, state.prefixes)
    if found in state.schema:
        return found
    names = [p.sql_name for p in state.schema.values()]
    close = difflib.get_close_matches(local_name(name), names, n=3, cutoff=0.5)
    hint = f" Did you mean {' or '.join(close)}?" if close else ""
    raise QueryError(f"there is no predicate {name}.{hint}")


def known_predicates(names: Sequence[str], state: State) -> list[Predicate]:
    """The predicates that a user's names mean; all if no name is given. Raises QueryError."""
    found = [known_predicate(name, state) for name in names]
    found = found or [name for name in state.schema if not is_constraint(name)]
    return [state.schema[name] for name in found]


def answer_goals(store: Store, state: State, registered: Functions, text: str) -> Answer:
    """Answer goals such as `anomaly(X), hasTemperature(X, T)`.

    The answer has one column for each variable, in the order of their first occurrence, with types
    as in `Answer`. Without variables it has one column, `holds: bool`, with one row if the goals
    hold. If a goal has no facts at all, types may be unknown: then every column is `string`.

    Raises ProgramError for goals that cannot be parsed or are unsafe, QueryError for an unknown
    predicate, EvaluationError for a value that cannot be computed.
    """
    ready = _ready(state, registered, text)
    return answer_ready(store, state, ready, notes_on_goals(store, state, ready.choices))


def answer_ready(store: Store, state: State, ready: ReadyGoals, notes: tuple[str, ...]) -> Answer:
    """Answer goals that have been checked."""
    if any("now" in functions_in(one) for one in ready.choices):
        let_now_be(store, time_of(state))
    statement = _statement(store, state, ready)
    if statement is None:
        return replace(_empty(ready.names), notes=notes)
    try:
        return Answer(answer(store, statement), notes)
    except EvaluationError as error:
        raise EvaluationError(f"the query cannot be answered: {error}") from error


@dataclass(frozen=True, slots=True)
class ReadyGoals:
    """Goals that have been checked for a program, and what they are as SQL, by what they read."""

    names: Sequence[str]
    """The variables of the answer."""
    choices: Sequence[tuple[Literal, ...]]
    rules: Sequence[Rule]
    types: Mapping[str, Sequence[Type | None]]
    known: Functions
    predicates: Sequence[str]
    statements: dict[object, str | None] = field(default_factory=dict)


_REMEMBERED = 200
"""So many goals of a program are remembered, and so many statements of each: people and pages ask
the same again and again, and to make a statement takes as long as to answer it."""


def _ready(state: State, registered: Functions, text: str) -> ReadyGoals:
    """Goals, checked. They are checked once for each program: facts make no difference."""
    remembered: dict[object, ReadyGoals] = state.once("goals", dict)
    key = text, *registered.values()
    found = remembered.get(key)
    if found is None:
        found = checked_goals(state, registered, text)
        _remember(remembered, key, found)
    return found


def _remember(remembered: dict[object, _Kept], key: object, found: _Kept) -> None:
    if len(remembered) >= _REMEMBERED:
        remembered.clear()
    remembered[key] = found


def checked_goals(state: State, registered: Functions, text: str) -> ReadyGoals:
    """Goals, checked. Raises ProgramError and QueryError."""
    known = {**state.functions, **registered}
    parsed = parse_choices(text, state.prefixes)
    choices = [tuple(_resolved(literal, state) for literal in goals) for goals in parsed]
    names = _names(choices)
    head = Atom("", tuple(Variable(name) for name in names))
    rules = tuple(Rule("query", head, goals) for goals in choices)
    candidate = Candidate(rules, frozenset({"query"}), (), (), state.schema, known)
    problems = [p for check in (arities, safety, nesting, functions) for p in check(candidate)]
    types = {name: [c.meant for c in p.columns] for name, p in state.schema.items()}
    if not problems:
        choices = [goals_with_moments(goals, types, known) for goals in choices]
        rules = tuple(Rule("query", head, goals) for goals in choices)
        found = [body_types(goals, types, known) for goals in choices]
        problems = [problem for one in found for problem in one.problems]
    if problems:
        raise ProgramError(in_order(list(dict.fromkeys(problems))))
    _require_alike(names, [one.types for one in found])
    require({name for goals in choices for name in functions_in(goals)}, known, "the query")
    predicates = {atom.predicate for goals in choices for atom in atoms_of(goals)}
    return ReadyGoals(names, choices, rules, types, known, sorted(predicates))


def _statement(store: Store, state: State, ready: ReadyGoals) -> str | None:
    """The SQL that answers goals; None if they need something that has no facts.

    It names tables and ids of symbols. How many rows a table has makes no difference to the answer,
    but may to the time that it takes.
    """
    sources, ids = sources_of(state), _ids(store, ready.rules)
    relations = {name: sources.relation(name) for name in ready.predicates}
    key = tuple(ids.items()), *(_as_key(relation) for relation in relations.values())
    if key in ready.statements:
        return ready.statements[key]
    context = Context(lambda name, _: relations[name], ready.types, ready.known, ids)
    asked = [
        compile_goals(goals, ready.names, context)
        for goals in ready.choices
        if not goals_are_empty(goals, context)
    ]
    whole = exp.union(*asked) if len(asked) > 1 else next(iter(asked), None)
    made = None if whole is None else render(whole)
    _remember(ready.statements, key, made)
    return made


def _as_key(relation: Relation) -> tuple[Part, ...]:
    """What SQL depends on: the tables, and about how many rows they have."""
    return tuple(replace(part, rows=part.rows.bit_length()) for part in relation.parts)


def _names(choices: Sequence[tuple[Literal, ...]]) -> list[str]:
    """The variables that an answer has, which are the same in each alternative."""
    several = [
        [name for name in named_variables(goals) if not Variable(name).made] for goals in choices
    ]
    for names in several:
        if missing := sorted({*several[0]} ^ {*names}):
            raise QueryError(f"{', '.join(missing)} must have a value in each alternative")
    return several[0]


def _require_alike(names: Sequence[str], types: Sequence[Mapping[str, Type | None]]) -> None:
    """Refuse variables that have values of other types in other alternatives."""
    for name in names:
        kinds = {one.get(name) for one in types} - {None}
        if len(kinds) > 1 and not widest_number(kinds):
            told = " and of type ".join(sorted(map(str, kinds)))
            raise QueryError(f"{name} has values of type {told} in the alternatives")


def _empty(names: Sequence[str]) -> Answer:
    """An answer without rows. All columns are strings, because their types may be unknown."""
    import pyarrow as pa

    if not names:
        return Answer(pa.table({HOLDS.name: pa.array([], pa.bool_())}))
    return Answer(pa.table({name: pa.array([], pa.string()) for name in names}))


def _resolved(literal: Literal, state: State) -> Literal:
    """A literal with the names that a user wrote replaced by the predicates that they mean."""
    if isinstance(literal, Atom):
        return resolved_atom(literal, state)
    if isinstance(literal, Negation):
        return Negation(resolved_atom(literal.atom, state))
    if isinstance(literal, Aggregate):
        return replace(literal, body=tuple(_resolved(inner, state) for inner in literal.body))
    return literal


def resolved_atom(atom: Atom, state: State) -> Atom:
    """An atom of the predicate that a user means, with all its columns."""
    known = state.schema[known_predicate(atom.predicate, state)]
    return goal(replace(atom, predicate=known.name), known)


def _ids(store: Store, rules: Sequence[Rule]) -> dict[str, int]:
    symbols = sorted(symbols_in(rules))
    if not symbols:
        return {}
    table = f'temp."{dictionary.KNOWN}"' if dictionary.waits(store) else "zodiac.symbol"
    return dict(
        store.rows(
            f"SELECT text, id FROM {table} WHERE text IN (SELECT unnest($1::VARCHAR[]))",
            [symbols],
        )
    )
