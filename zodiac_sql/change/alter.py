"""Other types for the columns of a predicate: what a user asks for, and the facts that are there in
their new types.

The native values of an RDF property are literals with a datatype: they become the symbols of these
literals, and such symbols become values as if they were read from a file.

Rule: a value becomes another only if it can become that one alone, and back: 5 becomes 5.0 and the
text 5, but 2^53 + 1 does not become a float, nor 5.5 an int, nor the text 05 a number. Reason: no
two facts may become one in silence.

A column that facts have made what it is, not a declaration, becomes wider by itself when others
come (widening.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

from sqlglot import exp

from zodiac_sql.change.as_decimal import converted, is_exact
from zodiac_sql.change.baseline import Baseline
from zodiac_sql.change.collected import Collected
from zodiac_sql.change.net_facts import Retyped
from zodiac_sql.change.staged_rows import parameters_of, staged_query
from zodiac_sql.database import dictionary
from zodiac_sql.database.column_types import SQL_TYPES, TEXT_TYPES
from zodiac_sql.database.statements import (
    anti_join,
    create_temp,
    temp_table,
    without_sign_of_zero,
)
from zodiac_sql.database.store import Store
from zodiac_sql.errors import DataError, QueryError
from zodiac_sql.facts.load import literals
from zodiac_sql.facts.native_text import datatype_of, literal_text, term_text
from zodiac_sql.facts.rdf_values import Literals, literals_in
from zodiac_sql.facts.stage import scratch
from zodiac_sql.language.schema import NO_DATATYPE, Predicate, Staged
from zodiac_sql.language.symbols import XSD
from zodiac_sql.language.syntax import Column, Type
from zodiac_sql.language.zones import without_zone
from zodiac_sql.names import CHANGE_FACTS, EXPLICIT_SCHEMA, whole
from zodiac_sql.program.state import State
from zodiac_sql.sql.relations import Part, Relation, columns_of, part_query
from zodiac_sql.storage.extensions import comparable, decoded
from zodiac_sql.storage.triples import is_rdf

_POSSIBLE = {
    *permutations((Type.INT, Type.DECIMAL, Type.FLOAT), 2),
    (Type.DATE, Type.TIMESTAMP), (Type.TIMESTAMP, Type.DATE),
}  # fmt: skip
"""Besides anything to symbol, and symbol to anything."""


def alter(collected: Collected, predicate: str, types: Mapping[str, str]) -> None:
    """Collect that columns of a predicate get other types. Raises QueryError."""
    before, edits = collected.before, collected.edits
    name = edits.meant(predicate)
    known = edits.provisional.get(name)
    if known is None:
        raise QueryError(f"there is no predicate {predicate}")
    wanted = {column: _type(column, type_) for column, type_ in types.items()}
    there = [column.name for column in known.columns]
    if missing := [column for column in wanted if column not in there]:
        raise QueryError(f"{name} has no column {missing[0]}: it has {', '.join(there)}")
    columns = tuple(Column(c.name, wanted.get(c.name, c.meant)) for c in known.columns)
    for old, new in zip(known.columns, columns, strict=True):
        _require_possible(name, old, new)
    if columns == known.columns:
        collected.report.remarks.append(f"{name} has these types already")
        return
    settled = tuple(
        wanted.get(column.name, type_)
        for column, type_ in zip(known.columns, known.settled, strict=True)
    )
    datatypes = tuple(
        datatype if old.type is new.type else _datatype(before, known, old, new, datatype)
        for old, new, datatype in zip(known.columns, columns, known.datatypes, strict=True)
    )
    edits.retype(replace(known, columns=columns, settled=settled, datatypes=datatypes))
    if not any(known.settled):  # only rules told its types until now
        edits.declare(name)


def _datatype(
    before: Baseline, known: Predicate, old: Column, new: Column, kept: str | None
) -> str | None:
    """The RDF datatype of a column in its new type."""
    if old.type is Type.SYMBOL:
        return _datatype_of_terms(before, known, old, new, kept)
    if new.type is Type.SYMBOL and old.type is not None and is_rdf(known):
        return NO_DATATYPE if kept is None else kept  # the mark that `alter` wrote the literals
    if new.type is Type.SYMBOL:
        return None if new.mixed else kept  # a plain text does not tell
    fractions = new.type in (Type.DECIMAL, Type.FLOAT)
    if fractions and kept is not None and (old.type is Type.INT or kept == f"{XSD}decimal"):
        return f"{XSD}decimal"  # integers are decimals
    return None


def _datatype_of_terms(
    before: Baseline, known: Predicate, old: Column, new: Column, kept: str | None
) -> str | None:
    """The RDF datatype of symbols or terms that become native values.

    It is the one that the column had when it was native, if values of this datatype are written as
    what is there, so that there and back gives what was.
    """
    assert new.type is not None
    explicit = _explicit(before.state, known)
    found = _literals(before.store, known, old, new, explicit) if explicit else None
    former = kept if kept and _is_of(kept, new.type) else None
    if found is None or explicit is None:
        return former
    likely = [found.datatype] if is_rdf(known) and kept is None else [former, found.datatype]
    terms = _texts(known, explicit)
    same = (one for one in likely if _writes_same(before.store, terms, known, old, found, one))
    return next(same, likely[-1] if is_rdf(known) else None)


def _is_of(datatype: str, type_: Type) -> bool:
    """Whether a native column of a type can have a datatype: one of floats can be of decimals."""
    of = literals.TYPES.get(without_zone(datatype))
    return of is type_ or (of is Type.DECIMAL and type_ is Type.FLOAT)


def _writes_same(
    store: Store,
    terms: exp.Select,
    known: Predicate,
    column: Column,
    way: Literals,
    datatype: str | None,
) -> bool:
    """Whether the values of all terms, as values of a datatype, become the terms that are there."""
    term = exp.column(column.name, table="v", quoted=True)
    if column.mixed:
        written = term_text(way.value(term), way.type, datatype, known.declared)
    else:
        written = literal_text(way.value(term), way.type, datatype_of(way.type, datatype))
    readable = exp.Case().when(way.fits(term), written)  # others are refused later
    other = exp.select(exp.true()).from_(terms.copy().subquery("v", copy=False))
    return not store.rows(other.where(exp.NullSafeNEQ(this=term, expression=readable)).limit(1))


def _explicit(state: State, known: Predicate) -> Part | None:
    """The explicit facts of a predicate, if there are any."""
    key = (EXPLICIT_SCHEMA, known.sql_name)
    return Part(*key, state.rows[key]) if key in state.rows else None


def _literals(
    store: Store, known: Predicate, old: Column, new: Column, part: Part
) -> Literals | None:
    """How the RDF literals of a column of symbols become values, if it has nothing else."""
    if old.type is not Type.SYMBOL or new.type in (None, Type.SYMBOL):
        return None
    if not old.mixed and not is_rdf(known):
        return None
    assert new.type is not None
    symbols = exp.select(exp.column(old.name, table="v", quoted=True).as_("o"))
    return literals_in(
        store, symbols.from_(_texts(known, part).subquery("v", copy=False)), new.type
    )


def _type(column: str, type_: str) -> Type:
    try:
        return Type(str(type_))
    except ValueError:
        types = ", ".join(one.value for one in Type)
        raise QueryError(f"{column}: {type_} is no type: they are {types}") from None


def _require_possible(predicate: str, old: Column, new: Column) -> None:
    same = old.type is new.type or None in (old.type, new.type)
    same = same or Type.SYMBOL in (old.type, new.type)
    if not same and (old.type, new.type) not in _POSSIBLE:
        raise QueryError(
            f"{predicate}: column {old.name} has the type {old.type}, which cannot become "
            f"{new.type}. It can become symbol, or any."
        )


# --- the facts ------------------------------------------------------------------------------------


def retyped_facts(
    store: Store,
    state: State,
    schema: Mapping[str, Predicate],
    moved: Mapping[str, Moved],
) -> dict[str, Retyped]:
    """The explicit facts of some predicates in other types, with what a change inserts and deletes.

    Raises DataError for a value that does not become another one exactly.
    """
    found = {}
    for name, moves in moved.items():
        old, new = state.schema.get(name), schema.get(name)
        if old is None or new is None or have_same_tables(old, new):
            continue
        part = _explicit(state, old)
        if part is None:
            continue
        ways = _ways(store, old, new, part)
        _require_exact(store, old, new, part, ways)
        same = is_comparable(old, new)
        table = _table(store, old, new, part, moves, same, ways)
        found[name] = Retyped(table, same)
    return found


def have_same_tables(old: Predicate, new: Predicate) -> bool:
    """Whether the tables of a predicate stay as they are."""
    return [(c.name, c.type) for c in old.columns] == [(c.name, c.type) for c in new.columns]


def is_comparable(old: Predicate, new: Predicate) -> bool:
    """Whether equal values in tables of old and new types mean the same."""
    return comparable(Relation(old.columns, ()), Relation(new.columns, ()))


@dataclass(frozen=True, slots=True)
class Moved:
    """What a change deletes and inserts of a predicate: net, and as it was given."""

    net: tuple[Part | None, Part | None] = (None, None)
    deleted: Sequence[Staged] = ()
    inserted: Sequence[Staged] = ()


Ways = Sequence[Literals | None]
"""For each column how its RDF literals become values, if that is what changes."""


def _ways(store: Store, old: Predicate, new: Predicate, part: Part) -> Ways:
    pairs = zip(old.columns, new.columns, strict=True)
    return [_literals(store, old, one, other, part) for one, other in pairs]


def _table(
    store: Store,
    old: Predicate,
    new: Predicate,
    part: Part,
    moved: Moved,
    same: bool,
    ways: Ways,
) -> Part | None:
    """A temporary table of the facts in their new types."""
    name = f"{CHANGE_FACTS}retyped_{whole(new.sql_name)}"
    symbols = [c.name for c in new.columns if c.type is Type.SYMBOL]
    if [c.name for c in old.columns if c.type is Type.SYMBOL] == symbols:  # they stay, as numbers
        facts = _values(part_query(part, Relation(old.columns, ())), old, new, SQL_TYPES, ways)
        query = _with(facts, new, *moved.net) if same else facts
        rows = store.count(create_temp(name, query))
    else:
        texts = store.temporary.fresh("texts")
        with scratch(store, texts):
            store.run(create_temp(texts, _values(_texts(old, part), old, new, TEXT_TYPES, ways)))
            if symbols:
                dictionary.encode(store, texts, symbols, name)
            else:
                store.run(create_temp(name, exp.select(exp.Star()).from_(temp_table(texts))))
        rows = part.rows
    if not same and (moved.deleted or moved.inserted):
        return _moved(store, new, name, moved)
    return Part("temp", name, rows) if rows else None


def _moved(store: Store, known: Predicate, table: str, moved: Moved) -> Part | None:
    """The facts of a temporary table without those that are deleted, and with the inserted ones."""
    name = f"{table}_after"
    columns = columns_of(Relation(known.columns, ()), "k")
    query: exp.Query = exp.select(*columns).from_(temp_table(table).as_("k"))
    if moved.deleted:
        gone = staged_query(known, moved.deleted).subquery(copy=False)
        query = anti_join(exp.select(*columns).from_(temp_table(table).as_("k")), columns, gone)
    if moved.inserted:
        query = exp.union(query, staged_query(known, moved.inserted), distinct=True)
    given = parameters_of([*moved.deleted, *moved.inserted])
    rows = store.count(create_temp(name, query), given)
    return Part("temp", name, rows) if rows else None


def _with(
    query: exp.Select, known: Predicate, deleted: Part | None, inserted: Part | None
) -> exp.Query:
    """Facts without some, and with others."""
    if deleted:
        columns = columns_of(Relation(known.columns, ()), "k")
        rows = exp.select(*columns).from_(query.subquery("k", copy=False))
        query = anti_join(rows, columns, temp_table(deleted.table), "d")
    if not inserted:
        return query
    added = part_query(inserted, Relation(known.columns, ()))
    return exp.union(query, added, distinct=False)


def _texts(old: Predicate, part: Part) -> exp.Select:
    """The facts with symbols as text."""
    relation = Relation(old.columns, (part,))
    return decoded(relation, part_query(part, relation), "zodiac.symbol")


def _values(
    facts: exp.Query, old: Predicate, new: Predicate, types: Mapping[Type, str], ways: Ways
) -> exp.Select:
    """Facts in other types."""
    picked = []
    for index, (a, b, way) in enumerate(zip(old.columns, new.columns, ways, strict=True)):
        value: exp.Expr = exp.column(a.name, table="v", quoted=True)
        if way is not None:
            value = way.value(value)
        elif b.mixed and a.type is not Type.SYMBOL:
            assert a.type is not None
            value = term_text(value, a.type, old.datatypes[index], new.declared)
        elif b.type is Type.SYMBOL and _is_object(old, index):
            assert a.type is not None
            value = literal_text(value, a.type, datatype_of(a.type, old.datatypes[index]))
        else:
            value = _become(value, a, b, types)
        picked.append(value.as_(b.name, quoted=True))
    return exp.select(*picked).from_(facts.subquery("v", copy=False))


def _is_object(known: Predicate, index: int) -> bool:
    """Whether a column has native values that are RDF literals, and become such symbols."""
    native = known.columns[index].type not in (None, Type.SYMBOL)
    return native and index == 1 and is_rdf(known)


def _become(value: exp.Expr, old: Column, new: Column, types: Mapping[Type, str]) -> exp.Expr:
    if old.type is new.type or new.type is None:
        return value
    other = converted(value, old.type, new.type)
    made = exp.cast(value, types[new.type]) if other is None else other
    return without_sign_of_zero(made) if new.type is Type.FLOAT else made


def _require_exact(store: Store, old: Predicate, new: Predicate, part: Part, ways: Ways) -> None:
    """Raise DataError for the first column with a value that does not convert exactly."""
    for a, b, way in zip(old.columns, new.columns, ways, strict=True):
        if a.type is b.type or b.type in (None, Type.SYMBOL):
            continue
        value = exp.column(a.name, table="v", quoted=True)
        facts = _texts(old, part).subquery("v", copy=False)
        lost = exp.func(
            "coalesce", exp.not_(way.fits(value) if way else _is_exact(value, a, b)), exp.true()
        )
        query = exp.select(exp.cast(value, "VARCHAR")).from_(facts).where(lost).limit(1)
        for (held,) in store.rows(query):
            raise DataError(
                f"{old.name}: column {a.name} holds {held}, which cannot become {b.type} "
                "exactly. Nothing was changed."
            )
        if way is not None:
            _require_apart(store, old, part, a, b, way.value(value))
        elif a.type is Type.SYMBOL and b.type in (Type.DECIMAL, Type.FLOAT):
            _require_apart(store, old, part, a, b, exp.cast(value, SQL_TYPES[b.type]))


def _require_apart(
    store: Store, old: Predicate, part: Part, column: Column, new: Column, number: exp.Expr
) -> None:
    """Refuse texts that are the same value, such as 5 and 5.0: facts might become one."""
    value = exp.column(column.name, table="v", quoted=True)
    facts = _texts(old, part).subquery("v", copy=False)
    query = exp.select(exp.func("min", value), exp.func("max", value)).from_(facts)
    query = query.group_by(number).having(exp.func("min", value) < exp.func("max", value))
    for one, other in store.rows(query.limit(1)):
        raise DataError(
            f"{old.name}: column {column.name} holds {one} and {other}, which are the same "
            f"{new.type}. Nothing was changed."
        )


def _is_exact(value: exp.Expr, old: Column, new: Column) -> exp.Expr:
    """Whether a value becomes one of another type that stands for it alone."""
    assert new.type is not None
    if (of_decimals := is_exact(value, old.type, new.type)) is not None:
        return of_decimals
    made = _try(value, TEXT_TYPES[new.type])
    if new.type is Type.FLOAT and old.type is Type.INT:
        return exp.cast(made, "HUGEINT").eq(exp.cast(value, "HUGEINT"))
    if old.type is not Type.SYMBOL:
        return _try(made, TEXT_TYPES[old.type or Type.SYMBOL]).eq(value)
    exact = exp.cast(made, "VARCHAR").eq(value)
    if new.type is Type.FLOAT:
        whole_number = _try(value, "BIGINT")
        is_int = exp.cast(whole_number, "VARCHAR").eq(value)
        kept = _try(_try(value, "DOUBLE"), "HUGEINT").eq(exp.cast(whole_number, "HUGEINT"))
        not_negative_zero = value.neq(exp.Literal.string("-0.0"))
        return exp.or_(exp.and_(exact, not_negative_zero), exp.and_(is_int, kept))
    if new.type in (Type.DATE, Type.TIMESTAMP):
        year = exp.func("year", made, dialect="duckdb")
        known = exp.Between(this=year, low=exp.Literal.number(1), high=exp.Literal.number(9999))
        return exp.and_(exact, known)
    return exact


def _try(value: exp.Expr, type_: str) -> exp.Expr:
    return exp.TryCast(this=value.copy(), to=exp.DataType.build(type_, dialect="duckdb"))
