"""A SPARQL query -> an Answer: parsed, and made one SELECT over the tables of facts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from zodiac_sql.database.answers import answer
from zodiac_sql.database.duckdb_errors import PatternError
from zodiac_sql.database.render import render
from zodiac_sql.database.store import Store
from zodiac_sql.errors import EvaluationError, QueryError, StoreError
from zodiac_sql.program.state import State
from zodiac_sql.read.query import Answer
from zodiac_sql.read.sparql.construct import constructed, described, texts_of
from zodiac_sql.read.sparql.context import QueryContext, context_of
from zodiac_sql.read.sparql.macros import MACROS
from zodiac_sql.read.sparql.made_terms import TERM_MACROS
from zodiac_sql.read.sparql.parse import parsed
from zodiac_sql.read.sparql.patterns import Patterns
from zodiac_sql.read.sparql.prepare import HIDDEN
from zodiac_sql.read.sparql.solutions import ID, ORDER, TEXT, Solutions, column, in_form
from zodiac_sql.sql.relations import HOLDS


def answer_sparql(store: Store, state: State, text: str) -> Answer:
    """Answer a query. Raises QueryError for one that is wrong or not supported."""
    return answer_terms(store, state, text, natives=True).answer


@dataclass(frozen=True, slots=True)
class SparqlAnswer:
    """An answer by the SPARQL protocol. Of a graph, it has a row for each triple."""

    kind: str
    """SELECT, ASK, CONSTRUCT or DESCRIBE."""
    answer: Answer

    @property
    def is_graph(self) -> bool:
        """Whether it is a graph, a row for each triple."""
        return self.kind in ("CONSTRUCT", "DESCRIBE")


def answer_terms(store: Store, state: State, text: str, natives: bool = False) -> SparqlAnswer:
    """The same, with all terms written as symbols are; or, as `natives`, values as they are."""
    text = text.removeprefix("\ufeff")  # the byte order mark of a file
    algebra = parsed(text, tuple(sorted(state.prefixes.items())))
    context = context_of(store, state, algebra)
    query = _query(text, algebra, context, natives)
    kind = str(algebra.name).removesuffix("Query").upper()
    return SparqlAnswer(kind, _answered(store, query))


def _query(text: str, algebra: Any, context: QueryContext, natives: bool) -> exp.Query:
    if algebra.name == "ConstructQuery":
        return constructed(algebra, context)
    if algebra.name == "DescribeQuery":
        return described(algebra, context)
    solutions = Patterns(context).solutions(algebra.p)
    if algebra.name == "AskQuery":
        return _asked(solutions)
    if not natives:
        solutions = texts_of(solutions, context)
    return _selected(solutions, _in_order(text, algebra), context)


def _answered(store: Store, query: exp.Query) -> Answer:
    statement = render(query)
    if "zodiac_sparql_" in statement:
        store.run(MACROS + TERM_MACROS)
    try:
        return Answer(answer(store, statement))
    except PatternError as error:
        raise QueryError(f"SPARQL: {error}") from error
    except EvaluationError as error:
        raise EvaluationError(f"the query cannot be answered: {error}") from error
    except StoreError as error:
        if type(error) is not StoreError:
            raise
        raise QueryError(f"SPARQL: {error}") from error


def _in_order(text: str, algebra: Any) -> list[str]:
    """The variables of the answer in the order of the text. (Of * rdflib has them in no order.)"""
    names = [name for name in map(str, algebra.PV) if not name.startswith(HIDDEN)]
    places = {
        n: found.start() if (found := re.search(rf"[?$]{re.escape(n)}\b", text)) else -1
        for n in names
    }
    if re.search(r"select\s+(?:distinct\s+|reduced\s+)?\*", text, re.IGNORECASE):
        return sorted(names, key=lambda name: (places[name], name))
    return names


def _asked(solutions: Solutions) -> exp.Select:
    """One row if there is a solution."""
    query = exp.select(exp.true().as_(HOLDS.name)).from_(solutions.subquery("q"))
    return query.limit(1)


def _selected(solutions: Solutions, variables: list[str], context: QueryContext) -> exp.Select:
    """The variables under their own names, symbols as texts, in the order that is asked for."""
    names = {variable: context.names.column(variable) for variable in variables}
    ids = {name: TEXT for name, known in solutions.columns.items() if known.form == ID}
    shown = in_form(solutions, ids, context.names)
    values = [column(name, "q").as_(variable, quoted=True) for variable, name in names.items()]
    query = exp.select(*(values or [exp.true().as_(HOLDS.name)])).from_(shown.subquery("q"))
    return query.order_by(column(ORDER, "q")) if shown.ordered else query
