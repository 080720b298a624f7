"""Compares the views that people see with the facts that they should show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlglot import TokenType, exp, tokenize

from zodiac_sql.database import dictionary
from zodiac_sql.database.column_types import SQL_TYPES
from zodiac_sql.database.known_symbols import KNOWN_VALUES
from zodiac_sql.database.permitted import require_harmless
from zodiac_sql.database.statements import create_temp_view, temp_table
from zodiac_sql.database.statements import shown as shown_view
from zodiac_sql.database.store import Store
from zodiac_sql.errors import EvaluationError, StoreError
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.syntax import Type
from zodiac_sql.names import is_constraint
from zodiac_sql.read.verify.together import ComparedRows, batches, same
from zodiac_sql.read.verify.work import Sample, VerifiedFile, count_rows, relation_of, rows_lacking
from zodiac_sql.sql.relations import Relation, columns_of, relation_query
from zodiac_sql.storage.extensions import count, decoded, distinct_query
from zodiac_sql.storage.views import number_names, view

if TYPE_CHECKING:
    import pyarrow as pa


_SAMPLE_SIZE = 100
"""How many facts of each difference a Verification can show; the others are only counted."""


MOST_COMPARED = 10_000_000
"""Compare at most so many facts that classes stand for with those that a view shows."""


def compare_extensions(work: VerifiedFile) -> None:
    """Compare the views of all predicates with their facts."""
    schema = [p for p in work.state.schema.values() if not is_constraint(p.name)]  # no views
    for some in batches(schema, lambda known: work.wanted.relation(known.name)):
        facts = _shown_facts(work, some)
        if facts is not None:
            work.facts += facts
        for known in some:
            if facts is None:
                _compare_extension(work, known)
            if known.name not in work.extensions and number_names(known.columns):
                _compare_numbers(work, known)


def _compare_numbers(work: VerifiedFile, predicate: Predicate) -> None:
    """Note the rows of a view that show another number beside a term than it has."""
    view = shown_view(work.store.file.name, predicate.sql_name)
    wrong: list[exp.Expr] = []
    query = exp.select(exp.Literal.number(1)).from_(view.as_("x"))
    for place, (name, number) in enumerate(number_names(predicate.columns).items()):
        same = exp.column("text", table=f"t{place}").eq(exp.column(name, table="x", quoted=True))
        query = query.join(temp_table(dictionary.KNOWN).as_(f"t{place}"), on=same)
        valued = exp.column("id", table=f"w{place}").eq(exp.column("id", table=f"t{place}"))
        values = temp_table(KNOWN_VALUES).as_(f"w{place}")
        query = query.join(values, on=valued, join_type="LEFT")
        right = exp.column("number", table=f"w{place}")
        shown = exp.column(number, table="x", quoted=True)
        wrong.append(exp.NullSafeNEQ(this=right, expression=shown))
    name = f"main.{predicate.sql_name}"
    try:
        rows = count_rows(work.store, query.where(exp.or_(*wrong)))
    except StoreError as error:
        if type(error) is not StoreError:
            raise
        rows = count(work.store, work.wanted.relation(predicate.name))  # a column is gone
    if name not in work.tables:
        work.note(name, rows, rows)


def _shown_facts(work: VerifiedFile, predicates: Sequence[Predicate]) -> int | None:
    """How many facts several views show; None unless all show exactly those that they should."""
    if len(predicates) == 1:
        return None
    compared = []
    for known in predicates:
        relation = work.wanted.relation(known.name)
        compared.append(ComparedRows(relation, distinct_query(relation), _view(work, known)))
    try:
        for known in predicates:
            require_harmless(work.store, known.sql_name)
        return same(work.store, compared, as_text=True)
    except EvaluationError:
        return None  # one of the views shows what cannot be compared as it is
    except StoreError as error:
        if type(error) is not StoreError:
            raise
        return None  # one of the views is gone, or not ours: compare each by itself


def _view(work: VerifiedFile, predicate: Predicate) -> exp.Select:
    """What the view of a predicate shows."""
    view = shown_view(work.store.file.name, predicate.sql_name)
    return exp.select(*columns_of(relation_of(predicate, ()))).from_(view)


def _compare_extension(work: VerifiedFile, predicate: Predicate) -> None:
    """Compare the view of a predicate with its explicit and derived facts."""
    relation = work.wanted.relation(predicate.name)
    facts = count(work.store, relation)
    work.facts += facts
    if _shows_classes(work, predicate, relation, facts):
        return
    wanted = distinct_query(relation)
    shown, rows = _shown(work, predicate, facts)
    lacking = rows_lacking(relation, wanted, _encoded(relation, shown))
    missing = count_rows(work.store, lacking) if facts else 0
    surplus = rows - (facts - missing)
    if missing or surplus:
        work.extensions[predicate.name] = missing, surplus
        many = exp.except_(shown, _decoded(relation, wanted), distinct=False) if facts else shown
        work.samples[predicate.name] = Sample(
            _first(work.store, relation, _decoded(relation, lacking)),
            _first(work.store, relation, many),
        )


def is_made_of(store: Store, schema: str, name: str, query: exp.Query) -> bool:
    """Whether a view of the file was made of a query."""
    store.run(create_temp_view("zodiac$shown", query))
    texts = store.rows(
        "SELECT sql FROM duckdb_views() WHERE schema_name = $1 AND view_name = $2"
        " AND database_name = $3"
        " UNION ALL SELECT sql FROM duckdb_views() WHERE temporary AND view_name = 'zodiac$shown'",
        [schema, name, store.file.name],
    )
    return len(texts) == 2 and _words(texts[0][0]) == _words(texts[1][0])


def _words(text: str) -> list[tuple[TokenType, str]]:
    """What a view is made of, without parentheses.

    DuckDB 2 puts them around joins, but not in the text of a view that DuckDB 1 has made. In these
    views, which only join tables where columns are equal, they can mean nothing else.
    """
    words = tokenize(text.partition(" AS ")[2], dialect="duckdb")
    return [(w.token_type, w.text) for w in words if w.token_type not in _PARENTHESES]


_PARENTHESES = (TokenType.L_PAREN, TokenType.R_PAREN)


def _shows_classes(
    work: VerifiedFile, predicate: Predicate, relation: Relation, facts: int
) -> bool:
    """Whether a view shows as many facts as it should, of a table of classes that is right.

    Where these are very many, they are not compared one by one: the view tells of which table it
    makes them, and every node of the table has a text if none is lost.
    """
    if facts <= MOST_COMPARED or len(relation.parts) != 1 or not relation.parts[0].read.pairs:
        return False
    there = work.there.relation(predicate.name)
    if not any(part.read.pairs for part in there.parts) or work.tables:
        return False
    made = view(predicate.sql_name, there, False, work.store.file.name).expression
    _, rows = _shown(work, predicate, facts)
    return rows == facts and is_made_of(work.store, "main", predicate.sql_name, made)


def _shown(work: VerifiedFile, predicate: Predicate, facts: int) -> tuple[exp.Query, int]:
    """The rows that people see of a predicate, and their number."""
    relation = Relation(predicate.columns, ())
    try:
        require_harmless(work.store, predicate.sql_name)
        shown = _comparable(work, predicate)
        return shown, count_rows(work.store, shown)
    except StoreError as error:
        if type(error) is not StoreError:
            raise
        # The view, or what it reads, is gone: it shows nothing.
        work.tables[f"main.{predicate.sql_name}"] = facts, 0
        return relation_query(relation), 0


def _comparable(work: VerifiedFile, predicate: Predicate) -> exp.Select:
    """What the view of a predicate shows, with values that can be compared: nested ones as text.

    Somebody else may have put a view in this place that shows lists, structs or JSON.
    """
    shown = _view(work, predicate)
    types = work.store.run(shown.copy().limit(0)).description or []
    columns = Relation(predicate.columns, ()).stored
    if not any(_is_nested(str(type_)) for _, type_, *_ in types):
        return shown
    query = exp.select().from_(shown.subquery("v"))
    for column, (_, type_, *_) in zip(columns, types, strict=True):
        value: exp.Expr = exp.column(column.name, table="v", quoted=True)
        if _is_nested(str(type_)):
            value = exp.cast(value, "TEXT")
            if column.type not in (None, Type.SYMBOL):
                value = exp.TryCast(this=value, to=exp.DataType.build(SQL_TYPES[column.type]))
        query = query.select(value.as_(column.name, quoted=True))
    return query


def _is_nested(type_: str) -> bool:
    """Whether values of one of DuckDB's types are made of others, or have a form of their own."""
    return type_.endswith("]") or type_.startswith(("STRUCT", "MAP", "UNION")) or type_ == "JSON"


def _decoded(relation: Relation, facts: exp.Query) -> exp.Query:
    """Facts as people see them; a symbol that has no text is NULL."""
    return decoded(relation, facts, dictionary.KNOWN, unknown=True)


def _encoded(relation: Relation, shown: exp.Query) -> exp.Select:
    """The rows that people see, with ids for symbols: ids compare three times faster than texts."""
    query = exp.select().from_(shown.subquery("x"))
    for index, column in enumerate(relation.stored):
        value: exp.Column = exp.column(column.name, table="x", quoted=True)
        if column.type is Type.SYMBOL:
            alias = f"t{index}"
            # A view that somebody else has put in this place may show numbers.
            written = exp.column("text", table=alias).eq(exp.cast(value, "TEXT"))
            query = query.join(temp_table(dictionary.KNOWN).as_(alias), on=written)
            value = exp.column("id", table=alias)
        query = query.select(value.as_(column.name, quoted=True))
    return query


def _first(store: Store, relation: Relation, query: exp.Query) -> pa.Table:
    """The first rows of a query, in the order of their columns."""
    columns = columns_of(relation, "f")
    ordered = exp.select(*columns).from_(query.subquery("f")).order_by(*columns)
    return store.arrow(ordered.limit(_SAMPLE_SIZE))
