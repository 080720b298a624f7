"""Triples: the facts of all RDF predicates, and the view `triple` of them in main."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, starmap

from sqlglot import exp

from zodiac_sql.database.statements import shown, text
from zodiac_sql.database.store import Store
from zodiac_sql.facts.native_text import datatype_of, literal_text
from zodiac_sql.language import symbols
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.syntax import Type
from zodiac_sql.language.urns import predicate_iri
from zodiac_sql.names import TRIPLES, is_constraint, is_expression
from zodiac_sql.program.derived_datatypes import with_datatypes
from zodiac_sql.program.state import State
from zodiac_sql.storage.sources import sources_of


def rdf_predicates(state: State) -> tuple[Predicate, ...]:
    """The predicates that are classes and properties: their names are IRIs.

    What a rule set states of such a predicate is among the facts of that predicate already.
    """
    of_sets = set(chain.from_iterable(state.of_sets().values()))
    schema = with_datatypes(state)
    return tuple(p for name, p in schema.items() if name not in of_sets and is_rdf(p))


def is_rdf(known: Predicate) -> bool:
    """Whether a predicate is a class or a property."""
    if is_expression(known.name) or is_constraint(known.name):
        return False
    return known.arity in (1, 2) and not known.open and predicate_iri(known.name) == known.name


TRIPLE = "triple"
"""The view of all triples."""

Shape = tuple[tuple[object, ...], ...]

_THERE = """
SELECT CASE WHEN contains(sql, $2) THEN 'ours' ELSE 'other' END
FROM duckdb_views() WHERE lower(view_name) = 'triple' AND schema_name = 'main'
AND database_name = $1
UNION ALL
SELECT 'other' FROM duckdb_tables() WHERE lower(table_name) = 'triple' AND schema_name = 'main'
AND database_name = $1
"""


def make_way(store: Store, old: State, new: State) -> None:
    """Drop the view of triples where a new predicate gets its name."""
    if _has_the_name(new.schema) and not _has_the_name(old.schema) and whose_view(store) == "ours":
        store.run(exp.Drop(tables=[shown(store.file.name, TRIPLE)], kind="VIEW"))


def refresh_triples(store: Store, old: State, new: State) -> None:
    """Create, replace or drop the view of triples where RDF predicates have changed.

    It reads the views of predicates, so it stays right while these have other tables. Those of
    predicates without any table are left out: of the thousands in an ontology, few have facts. A
    predicate, table or view of somebody else's that is called `triple` stays, and there is no view
    of ours. In an older file it may have other datatypes than rules pass on today.
    """
    if (shape := _shape(new)) == _shape(old) and not old.former:
        return
    there = whose_view(store)
    if there == "other" or _has_the_name(new.schema):
        return
    name = shown(store.file.name, TRIPLE)
    if shape:
        body = _triples(_read(new))
        store.run(exp.Create(this=name, kind="VIEW", expression=body, replace=there == "ours"))
    elif there == "ours":
        store.run(exp.Drop(tables=[name], kind="VIEW"))


def _has_the_name(schema: Mapping[str, Predicate]) -> bool:
    return any(known.sql_name.lower() == TRIPLE for known in schema.values())


def _shape(state: State) -> Shape:
    """All that the view depends on; nothing if there is to be none."""
    if _has_the_name(state.schema):
        return ()
    return tuple((k.name, k.sql_name, k.columns, k.datatypes) for k in _read(state))


def _read(state: State) -> tuple[Predicate, ...]:
    """The RDF predicates that have tables. If none has: one of the others, for its columns."""
    sources = sources_of(state)
    there = sources.explicit.keys() | sources.derived.keys()
    known = rdf_predicates(state)
    return tuple(one for one in known if one.name in there) or known[:1]


def whose_view(store: Store) -> str | None:
    """Whose view or table has the name: "ours" or "other"; None if there is none."""
    found = store.rows(_THERE, [store.file.name, TRIPLES])
    return found[0][0] if found else None


def _triples(predicates: Iterable[Predicate]) -> exp.Select:
    """The triples of predicates, each as three texts."""
    by_types: dict[_Types, list[Predicate]] = defaultdict(list)
    for known in predicates:
        by_types[_types_of(known)].append(known)
    parts = [*chain.from_iterable(starmap(_triples_of, by_types.items()))]
    columns = (exp.column(name) for name in "spo")
    return (
        exp.select(*columns)
        .from_(exp.to_table(f'"{TRIPLES}"'))
        .with_(f'"{TRIPLES}"', as_=_union(parts), copy=False)
    )


def _union(parts: Sequence[exp.Select]) -> exp.Query:
    return parts[0] if len(parts) == 1 else exp.union(*parts, distinct=False, copy=False)


_Types = tuple[tuple[Type, str | None], ...]
"""The types of the two values of a triple that a predicate gives, with the datatypes of natives."""


def _types_of(known: Predicate) -> _Types:
    types: list[tuple[Type, str | None]] = []
    for column, kept in zip(known.columns, known.datatypes, strict=True):
        assert column.type is not None
        native = column.type is not Type.SYMBOL
        types.append((column.type, datatype_of(column.type, kept) if native else None))
    return (*types, _TEXT) if known.arity == 1 else tuple(types)


_TEXT = (Type.SYMBOL, None)


def _triples_of(types: _Types, predicates: Sequence[Predicate]) -> Sequence[exp.Select]:
    """The triples of predicates whose values have the same types.

    How native values become texts is written once for all of them: for a decimal that is long, and
    there may be hundreds of properties.
    """
    if types == (_TEXT, _TEXT):
        return [_facts_of(known, _columns_of(known)) for known in predicates]
    if len(predicates) == 1:
        (known,) = predicates
        columns = zip(_columns_of(known), types, strict=True)
        return [_facts_of(known, [_text(value, *type_) for value, type_ in columns])]
    facts = _union([_facts_of(known, _columns_of(known)) for known in predicates])
    subject, object_ = (
        _text(exp.column(name), *type_) for name, type_ in zip("so", types, strict=True)
    )
    named = [exp.alias_(subject, "s"), exp.column("p"), exp.alias_(object_, "o")]
    return [exp.select(*named, copy=False).from_(facts.subquery("t", copy=False), copy=False)]


def _columns_of(known: Predicate) -> list[exp.Expr]:
    """The subject and the object of a predicate's triples. A class is the object itself."""
    columns: list[exp.Expr] = [exp.column(column.name, quoted=True) for column in known.columns]
    return [*columns, text(symbols.iri(known.name))] if known.arity == 1 else columns


def _facts_of(known: Predicate, values: Sequence[exp.Expr]) -> exp.Select:
    """The facts of a predicate as triples of a subject and an object."""
    subject, object_ = values
    property_ = text(symbols.RDF_TYPE if known.arity == 1 else symbols.iri(known.name))
    named = (
        exp.alias_(*one, copy=False)
        for one in zip((subject, property_, object_), "spo", strict=True)
    )
    # The database is not named: the file may get another name.
    there = exp.table_(known.sql_name, db="main", quoted=True)
    return exp.select(*named, copy=False).from_(there, copy=False)


def _text(value: exp.Expr, type_: Type, datatype: str | None) -> exp.Expr:
    return value if datatype is None else literal_text(value, type_, datatype)
