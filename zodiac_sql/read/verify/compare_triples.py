"""Compares the view of all triples with the facts of RDF predicates."""

from __future__ import annotations

from sqlglot import exp

from zodiac_sql.database import dictionary
from zodiac_sql.database.permitted import require_harmless
from zodiac_sql.database.statements import shown, text, union_all
from zodiac_sql.errors import StoreError
from zodiac_sql.facts.native_text import datatype_of, literal_text
from zodiac_sql.language import symbols
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.syntax import Type
from zodiac_sql.read.verify.work import VerifiedFile, count_rows
from zodiac_sql.storage.extensions import decoded, distinct_query
from zodiac_sql.storage.triples import TRIPLE, rdf_predicates, whose_view


def compare_triples(work: VerifiedFile) -> None:
    """Compare the view `triple`, if it is there and ours.

    (It is not there if something else has its name, or in an older file.)
    """
    if whose_view(work.store) != "ours":
        return
    known = [p for p in rdf_predicates(work.state) if work.wanted.relation(p.name).rows]
    wanted = union_all([_triples(work, one) for one in known]) if known else None
    there = exp.select(*(exp.column(name) for name in "spo"))
    there = there.from_(shown(work.store.file.name, TRIPLE))
    try:
        require_harmless(work.store, TRIPLE)
        surplus = count_rows(work.store, there)
    except StoreError as error:
        if type(error) is not StoreError:
            raise
        # The view, or what it reads, is gone: it shows nothing.
        work.note(f"main.{TRIPLE}", max(1, count_rows(work.store, wanted) if wanted else 0), 0)
        return
    if wanted is None:
        work.note(f"main.{TRIPLE}", 0, surplus)
    elif _sum(work, wanted) != _sum(work, there):
        pairs = ((wanted, there), (there, wanted))
        missing, surplus = (
            count_rows(work.store, exp.except_(one, other, distinct=False)) for one, other in pairs
        )
        work.note(f"main.{TRIPLE}", missing, surplus)


def _sum(work: VerifiedFile, triples: exp.Query) -> tuple[object, ...]:
    """How many rows there are, and the sum of their hashes: equal if the rows are, in any order."""
    columns = [exp.column(name) for name in "spo"]
    hashed = exp.cast(exp.Anonymous(this="hash", expressions=columns), "HUGEINT")
    sums = exp.select(exp.Count(this=exp.Star()), exp.Sum(this=hashed))
    return work.store.rows(sums.from_(triples.subquery("t")))[0]


def _triples(work: VerifiedFile, known: Predicate) -> exp.Select:
    """The facts of a predicate that should be there, as triples of texts."""
    relation = work.wanted.relation(known.name)
    facts = decoded(relation, distinct_query(relation), dictionary.KNOWN, unknown=True)
    values = [
        _text(exp.column(column.name, table="f", quoted=True), column.type, datatype)
        for column, datatype in zip(known.columns, known.datatypes, strict=True)
    ]
    name = text(symbols.iri(known.name))
    if known.arity == 1:
        triple = (values[0], text(symbols.RDF_TYPE), name)
    else:
        triple = (values[0], name, values[1])
    columns = (exp.alias_(one, letter) for one, letter in zip(triple, "spo", strict=True))
    return exp.select(*columns).from_(facts.subquery("f"))


def _text(value: exp.Expr, type_: Type | None, datatype: str | None) -> exp.Expr:
    if type_ in (None, Type.SYMBOL):
        return value
    assert type_ is not None
    return literal_text(value, type_, datatype_of(type_, datatype))
