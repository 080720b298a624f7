"""RDF -> Staged facts: one predicate per property, one unary predicate per class.

    lines -> zodiac_triple (ntriples.py) -> a profile of all properties -> a type for each
          (properties.py) -> zodiac_fact -> encoded -> one Staged per predicate

`s rdf:type C` is C(s); if C is a blank node or a literal, it stays rdf:type(s, o). IRIs under
urn:zodiac:, which export writes, are read as the predicates and subjects that they stand for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from zodiac_sql.database import dictionary
from zodiac_sql.database.statements import create_temp, temp_table
from zodiac_sql.database.store import Store
from zodiac_sql.errors import DataError
from zodiac_sql.facts.load import (
    blanks,
    kept_as_text,
    literals,
    ntriples,
    properties,
    same_value,
    syntaxes,
    urns,
)
from zodiac_sql.facts.load.ntriples import LineFile
from zodiac_sql.facts.load.properties import LoadedProperty
from zodiac_sql.facts.load.result import MOST_LISTED, Loaded, Skipped
from zodiac_sql.facts.load.source import SourceFile
from zodiac_sql.facts.rdf_values import native_value
from zodiac_sql.facts.stage import scratch
from zodiac_sql.language.schema import Predicate, Staged
from zodiac_sql.language.syntax import Type

SUFFIXES = (".nt", ".nq", *syntaxes.SUFFIXES)

_TABLES = ("zodiac_triple", "zodiac_key", "zodiac_form", "zodiac_fact", "zodiac_fact_id")

_FACTS = """
CREATE OR REPLACE TEMP TABLE zodiac_fact AS
SELECT number, s, CASE WHEN symbolic THEN o ELSE s END AS o,
       value
FROM (
    SELECT number, doubtful, symbolic, form,
           zodiac_scoped(zodiac_from_urn(s), $tag) AS s,
           zodiac_scoped(zodiac_blank_from_urn(o), $tag) AS o,
           CASE WHEN native THEN zodiac_value(o, datatype) END AS value
    FROM zodiac_statements() AS statement
    JOIN temp.zodiac_key USING (term, class)
    LEFT JOIN temp.zodiac_form USING (term, datatype)
)
WHERE NOT doubtful OR zodiac_fits(value, form)
"""
# If a fact has no symbol as object, o repeats s, because the dictionary takes no NULLs.


def load_rdf(
    store: Store,
    source: SourceFile,
    suffix: str,
    known: Mapping[str, Predicate],
    skip_bad: bool,
    enters: bool,
) -> Loaded:
    """Stage the facts of an RDF file, whose syntax the suffix tells. Raises DataError.

    They are to be inserted if the file `enters`, else deleted.
    """
    if suffix == ".nt":
        return _load(store, LineFile(source, "nt"), source, known, skip_bad, enters)
    if suffix == ".nq":
        return _load(store, LineFile(source, "nq"), source, known, skip_bad, enters)
    with syntaxes.as_nquads(source, suffix, skip_bad) as (converted, prefixes):
        file = LineFile(converted, "nq", (syntaxes.FORMATS[suffix], source))
        loaded = _load(store, file, source, known, skip_bad, enters)
        return replace(loaded, prefixes=prefixes)


def _load(
    store: Store,
    file: LineFile,
    source: SourceFile,
    known: Mapping[str, Predicate],
    skip_bad: bool,
    enters: bool,
) -> Loaded:
    """Stage the facts of the statements in `file`, which are those of `source`."""
    with scratch(store, *_TABLES):
        reading = ntriples.read(store, file, skip_bad)
        store.run(literals.MACROS + properties.MACROS + urns.MACROS + blanks.MACROS)
        found = properties.profiled(store, file.name, known, enters)
        misfits = _misfits(store, file, found, skip_bad)
        remarks = (
            *kept_as_text.notes(store, file, found, reading),
            *same_value.notes(store, file.name, found),
            *(_moved(file.name, property_) for property_ in found if property_.moved),
        )
        tag = blanks.tag(store, source, numbered=not file.written)
        store.run(_FACTS, {"tag": tag})
        store.run("DROP TABLE temp.zodiac_triple")
        dictionary.encode(store, "zodiac_fact", ["s", "o"], "zodiac_fact_id")
        staged = tuple(_staged(store, property_) for property_ in found)
    dropped = sum(property_.misfits for property_ in found if property_.is_strict)
    skipped = sorted({*reading.skipped, *misfits}, key=lambda bad: bad.line or 0)[:MOST_LISTED]
    notes = (*remarks, *(("graph names were ignored",) if reading.graphs else ()))
    return Loaded(
        staged, reading.triples - dropped, tuple(skipped), reading.skipped_count + dropped, notes
    )


def _moved(file: str, property_: LoadedProperty) -> str:
    return (
        f"{file}: the objects of {property_.name} are moments of several time zones. The column "
        "has instants, which are written in UTC: SPARQL's DAY and HOURS are those of UTC."
    )


def _misfits(
    store: Store, file: LineFile, found: Sequence[LoadedProperty], skip_bad: bool
) -> list[Skipped]:
    """The first statements whose objects do not fit a column of a known type.

    Raises DataError, unless `skip_bad`.
    """
    bad: list[Skipped] = []
    for property_ in found:
        if property_.misfits and property_.is_strict:
            reason = f"no {property_.type} for {property_.name}"
            values = {
                "term": property_.term,
                "datatypes": list(property_.forms),
                "forms": list(property_.forms.values()),
            }
            lines = ntriples.located(store, file, properties.MISFIT, values, reason)
            if not skip_bad:
                said = (
                    f"The column {property_.columns[1].name} of {property_.name} has the type "
                    f"{property_.type}: correct these objects, or give it another type first, by "
                    "`alter`, or by a declaration before the first facts."
                )
                raise DataError(ntriples.refusal(file, lines, property_.misfits, said))
            bad += lines
    return bad


def _staged(store: Store, property_: LoadedProperty) -> Staged:
    """The facts of one predicate, selected from those of the file."""
    values: list[exp.Expr] = [exp.column("s"), _object(property_.type)]
    names = [column.name for column in property_.columns]
    picked = [v.as_(name, quoted=True) for v, name in zip(values, names, strict=False)]
    mine = exp.column("number").eq(exp.Literal.number(property_.number))
    table = store.temporary.fresh("staged")
    store.run(
        create_temp(table, exp.select(*picked).from_(temp_table("zodiac_fact_id")).where(mine))
    )
    datatypes = (None, property_.datatype)[: len(names)]
    absent = 0 if property_.is_strict else property_.misfits
    columns = property_.columns
    return Staged(property_.name, columns, datatypes, table, named=False, absent=absent)


def _object(type_: Type) -> exp.Expr:
    """The object of a fact of zodiac_fact_id, which has a form that fits the type."""
    if type_ in (Type.SYMBOL, Type.ANY):
        return exp.column("o")
    return native_value(exp.column("value"), type_)
