"""Triple patterns: which predicates have facts that match, and a query for each.

A fact of a unary predicate is a triple with rdf:type, one of a binary predicate has the predicate
as its property. So each position of a triple is either constant, or a column of the predicate.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from zodiac_sql.database.statements import text
from zodiac_sql.facts.native_text import datatype_of, literal_text
from zodiac_sql.language import symbols
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.syntax import Type
from zodiac_sql.language.urns import predicate_iri, predicate_name
from zodiac_sql.language.zones import is_zoned, without_zone
from zodiac_sql.read.sparql.context import QueryContext, is_variable
from zodiac_sql.read.sparql.solutions import (
    ID,
    TEXT,
    Solutions,
    TermColumn,
    TermForm,
    column,
    forms_in_common,
    in_form,
    none_of,
    one_solution,
    select,
    united,
)
from zodiac_sql.read.sparql.solutions import (
    symbols as dictionary,
)
from zodiac_sql.read.sparql.terms import native, symbol
from zodiac_sql.sql.relations import source
from zodiac_sql.storage.extensions import distinct_query

Triple = tuple[Any, Any, Any]


@dataclass(frozen=True, slots=True)
class _Position:
    """What facts of a predicate have as subject, property or object."""

    form: TermForm
    column: str = ""
    constant: str = ""


def pattern(triple: Triple, context: QueryContext) -> Solutions:
    """The solutions of a triple pattern whose property is no path."""
    parts = [
        found
        for known, positions in _candidates(triple, context)
        if (found := _matching(known, positions, triple, context))
    ]
    if not parts:
        return none_of(context.variable(term) for term in triple if is_variable(term))
    return united(parts, context.names)


def _candidates(
    triple: Sequence[Any], context: QueryContext
) -> Iterable[tuple[Predicate, tuple[_Position, _Position, _Position]]]:
    """The predicates that may have facts for a pattern, with what is in each position of them."""
    _, property_, object_ = triple
    is_type = is_variable(property_) or str(property_) == symbols.RDF_TYPE
    for known in _mentioned(property_, object_, is_type, context):
        subject = _place(known, 0)
        if known.arity == 1:
            positions = (subject, _constant(symbols.RDF_TYPE), _constant(known.name))
        else:
            positions = (subject, _constant(known.name), _place(known, 1))
        yield known, positions


def _mentioned(
    property_: Any, object_: Any, is_type: bool, context: QueryContext
) -> Iterable[Predicate]:
    found: list[Predicate] = []
    if is_type and not is_variable(object_):
        found += _named(object_, 1, context)
    elif is_type:
        found += [known for known in context.rdf if known.arity == 1]
    if is_variable(property_):
        found += [known for known in context.rdf if known.arity == 2]
    else:
        found += _named(property_, 2, context)
    return [known for known in found if context.sources.relation(known.name).parts]


def _named(term: Any, arity: int, context: QueryContext) -> list[Predicate]:
    """The predicate of an IRI, if there is one with so many columns."""
    from rdflib import URIRef

    known = context.schema.get(predicate_name(str(term))) if isinstance(term, URIRef) else None
    return [known] if known is not None and known.arity == arity and not known.open else []


def _place(known: Predicate, index: int) -> _Position:
    type_ = known.columns[index].type
    assert type_ is not None
    if type_ is Type.SYMBOL:
        return _Position(ID, column=known.columns[index].name)
    form = TermForm(type_, datatype_of(type_, known.datatypes[index]))
    return _Position(form, column=known.columns[index].name)


def _constant(name: str) -> _Position:
    return _Position(TEXT, constant=symbols.iri(predicate_iri(name)))


def _matching(
    known: Predicate, positions: Sequence[_Position], triple: Sequence[Any], context: QueryContext
) -> Solutions | None:
    """The facts of a predicate that match a pattern; None if none can."""
    alias = context.names.fresh()
    conditions: list[exp.Expr] = []
    bound: dict[str, tuple[TermForm, exp.Expr]] = {}
    for term, position in zip(triple, positions, strict=True):
        if position.column:
            value: exp.Expr = column(position.column, alias)
        else:
            value = text(position.constant)
        if not is_variable(term):
            condition = _is(value, position, term, context)
            if condition is None:
                return None
            conditions.append(condition)
            continue
        name = context.variable(term)
        if name in bound:
            conditions.append(_same(bound[name], (position.form, value), context))
        else:
            bound[name] = position.form, value
    relation = context.sources.relation(known.name)
    single = len(relation.parts) == 1 and relation.parts[0].read.pairs is None
    rows = source(relation, alias) if single else distinct_query(relation).subquery(alias)
    query = select((name, value) for name, (_, value) in bound.items()).from_(rows, copy=False)
    if conditions:
        query = query.where(*conditions, copy=False)
    return Solutions(query, {name: TermColumn(form, True) for name, (form, _) in bound.items()})


def _is(value: exp.Expr, position: _Position, term: Any, context: QueryContext) -> exp.Expr | None:
    """The condition that a position has a constant; None if it never has."""
    wanted = symbol(term)
    if position.constant:
        return exp.true() if position.constant == wanted else None
    if position.form == ID:
        number = context.ids.get(wanted)
        return None if number is None else value.eq(exp.convert(number))
    found = native(term, position.form.type)
    if found is None or not _are_alike(found[0], position.form):
        return None
    return value.eq(found[1])


def _are_alike(first: TermForm, second: TermForm) -> bool:
    """Whether forms are the same, time zones aside: a query may name an instant in any."""
    if is_zoned(first.datatype) and is_zoned(second.datatype):
        return without_zone(first.datatype) == without_zone(second.datatype)
    return first == second


def _same(
    first: tuple[TermForm, exp.Expr], second: tuple[TermForm, exp.Expr], context: QueryContext
) -> exp.Expr:
    """The condition that two positions have the same term."""
    if first[0] == second[0]:
        return first[1].copy().eq(second[1])
    return as_text(first).eq(as_text(second))


def as_text(known: tuple[TermForm, exp.Expr]) -> exp.Expr:
    """The text of the term that a value of some form is."""
    form, value = known
    if form.type is None:
        return value.copy()
    if form.type is Type.SYMBOL:
        entry = exp.select("text").from_(dictionary("d")).where(column("id", "d").eq(value.copy()))
        return entry.subquery(copy=False)
    return literal_text(value.copy(), form.type, form.datatype)


def together(parts: Sequence[Solutions], context: QueryContext) -> Solutions:
    """The solutions of several patterns at once. All their variables are certain."""
    if not parts:
        return one_solution()
    common = {
        name: ID if any(p.columns[name].form == ID for p in parts if name in p.columns) else TEXT
        for name in forms_in_common(parts)
    }
    alike = [in_form(part, common, context.names, known_only=True) for part in parts]
    if len(alike) == 1:
        return alike[0]
    values: dict[str, exp.Expr] = {}
    columns: dict[str, TermColumn] = {}
    conditions: list[exp.Expr] = []
    tables = []
    for part in alike:
        alias = context.names.fresh()
        tables.append(part.subquery(alias))
        for name, known in part.columns.items():
            if name in values:
                conditions.append(values[name].copy().eq(column(name, alias)))
            else:
                values[name], columns[name] = column(name, alias), known
    query = select(values.items()).from_(tables[0], copy=False)
    for table in tables[1:]:
        query = query.join(table, join_type="CROSS", copy=False)
    if conditions:
        query = query.where(*conditions, copy=False)
    return Solutions(query, columns)
