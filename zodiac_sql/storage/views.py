"""The views in main: what any DuckDB client sees of a predicate."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from functools import lru_cache
from itertools import count

from sqlglot import exp

from zodiac_sql.database.column_types import SQL_TYPES
from zodiac_sql.database.render import render
from zodiac_sql.database.statements import data_type, shown
from zodiac_sql.database.store import Store
from zodiac_sql.database.templates import filled, place_for
from zodiac_sql.language.syntax import Column, Type
from zodiac_sql.names import is_constraint
from zodiac_sql.program.state import State
from zodiac_sql.sql.class_pairs import pairs_query
from zodiac_sql.sql.relations import Part, Relation, table
from zodiac_sql.storage.extensions import decoded, distinct_query
from zodiac_sql.storage.sources import Sources, sources_of
from zodiac_sql.storage.triples import make_way, refresh_triples
from zodiac_sql.storage.view_comments import comment_views


def _decoded_pairs(part: Part, relation: Relation) -> exp.Query:
    """Pairs as people see them. Nodes are decoded before pairs are made of them.

    A query for one node then finds it at once: 5 ms where decoded pairs took 190 (4 million).
    """
    assert part.read.pairs is not None
    names = [column.name for column in relation.columns]
    if relation.columns[0].type is not Type.SYMBOL:
        return pairs_query(part.read.pairs, table(part), names)
    same = exp.column("id", table="t").eq(exp.column("node", table="c"))
    columns = [exp.column(name, table="c", quoted=True) for name in ("node", "class", "loop")]
    nodes = exp.select(*columns, exp.column("text", table="t")).from_(table(part).as_("c"))
    nodes = nodes.join(exp.to_table("zodiac.symbol").as_("t"), on=same)
    return pairs_query(part.read.pairs, nodes.subquery(), names, "text")


def number_names(columns: Iterable[Column]) -> dict[str, str]:
    """The columns that a view has beside those of terms of all kinds: the values of numbers.

    So SQL sums and filters them without parsing texts. Where there is no number, there is NULL.
    """
    columns = list(columns)
    taken, names = {column.name.lower() for column in columns}, dict[str, str]()
    for column in columns:
        if column.mixed:
            name = f"{column.name}_number"
            while name.lower() in taken:
                name += "_"
            taken.add(name.lower())
            names[column.name] = name
    return names


def view(
    sql_name: str,
    relation: Relation,
    or_replace: bool,
    database: str,
    numbers: dict[str, str] | None = None,
) -> exp.Create:
    """CREATE VIEW main."p": the extension, decoded, for any DuckDB client.

    Use `or_replace` only for a view that is ours: a new view must never replace somebody else's.
    `numbers` are the names of the columns of numbers, if they are not to be those of the relation.
    """
    body: exp.Expr
    numbers = number_names(relation.columns) if numbers is None else numbers
    if not relation.parts:
        shown_types = [(c.name, _shown_type(c.meant)) for c in relation.stored]
        body = exp.Var(this=_nothing(_with_numbers(shown_types, numbers)))
    elif not numbers and (covering := [part for part in relation.parts if part.covers]):
        body = _decoded_pairs(covering[0], relation)
    else:
        body = decoded(relation, distinct_query(relation), "zodiac.symbol", numbers=numbers)
    name = shown(database, sql_name)
    return exp.Create(this=name, kind="VIEW", expression=body, replace=or_replace)


def _creation(sql_name: str, relation: Relation, or_replace: bool, database: str) -> str:
    """The text of `view`. Most views differ only in names."""
    parts = sorted(relation.parts, key=lambda part: -part.rows)
    if any(replace(p, ranked=False) != Part(p.schema, p.table, p.rows) for p in parts):
        return render(view(sql_name, relation, or_replace, database))
    types = tuple(column.meant for column in relation.columns)
    template = _template(types, tuple(part.schema for part in parts), or_replace)
    columns = (column.name for column in relation.columns)
    numbers = number_names(relation.columns).values()
    tables = (part.table for part in parts)
    return filled(template, [database, sql_name, *tables, *columns, *numbers])


@lru_cache(maxsize=1_000)
def _template(types: tuple[Type | None, ...], schemas: tuple[str, ...], or_replace: bool) -> str:
    """The text for columns of some types and tables in some schemas, of which the first is the
    largest. The names are those of `_creation`, in its order.
    """
    names = map(place_for, count())
    database, sql_name = next(names), next(names)
    parts = tuple(Part(s, next(names), rows=-i) for i, s in enumerate(schemas))
    columns = tuple(Column(next(names), type_) for type_ in types)
    numbers = {column.name: next(names) for column in columns if column.mixed}
    return render(view(sql_name, Relation(columns, parts), or_replace, database, numbers))


def _with_numbers(
    columns: Iterable[tuple[str, str]], numbers: dict[str, str]
) -> tuple[tuple[str, str], ...]:
    """Columns and their types in SQL, each with the column of its numbers after it."""
    found = list[tuple[str, str]]()
    for name, type_ in columns:
        found.append((name, type_))
        found += [(numbers[name], SQL_TYPES[Type.FLOAT])] if name in numbers else []
    return tuple(found)


@lru_cache(maxsize=1_000)
def _nothing(columns: tuple[tuple[str, str], ...]) -> str:
    """A query without rows. Of the thousands of predicates in an ontology, most have no facts, and
    nearly all have the same columns: it is written once for all of them.
    """
    nothing = [
        exp.alias_(exp.Cast(this=exp.null(), to=data_type(type_)), name, quoted=True)
        for name, type_ in columns
    ]
    return render(exp.select(*nothing, copy=False).where(exp.false(), copy=False))


def _shown_type(type_: Type | None) -> str:
    """The type that a column has in a view. Symbols are shown as text."""
    return "TEXT" if type_ in (None, Type.SYMBOL, Type.ANY) else SQL_TYPES[type_]


def refresh_views(store: Store, old: State, new: State, names: Collection[str]) -> None:
    """Create, replace and drop the views of some predicates, if tables or columns have changed."""
    before, after = sources_of(old), sources_of(new)
    make_way(store, old, new)
    for name, predicate in old.schema.items():
        if name not in new.schema and not is_constraint(name):
            target = shown(store.file.name, predicate.sql_name)
            store.run(exp.Drop(tables=[target], kind="VIEW"))
    made: list[str] = []
    for name, predicate in new.schema.items():
        if name not in names or is_constraint(name):
            continue
        same = name in old.schema and old.schema[name].columns == predicate.columns
        if not same or _have_changed(before, after, name):
            parts = tuple(part for parts in after.owners(name).values() for part in parts)
            relation = Relation(predicate.columns, parts)
            store.run(_creation(predicate.sql_name, relation, name in old.schema, store.file.name))
            made.append(name)
    comment_views(store, old, new, made)
    refresh_triples(store, old, new)


def _have_changed(before: Sources, after: Sources, predicate: str) -> bool:
    """Whether a predicate has other tables than before. For most, nothing at all has changed."""
    if before.explicit.get(predicate) == after.explicit.get(predicate) and (
        before.derived.get(predicate) == after.derived.get(predicate)
    ):
        return False
    return _tables(before, predicate) != _tables(after, predicate)


def _tables(sources: Sources, predicate: str) -> set[tuple[object, ...]]:
    """The tables of a predicate, with all that a view depends on, and so without their sizes."""
    owners = sources.owners(predicate)
    return {(p.schema, p.table, p.read.pairs, p.covers) for parts in owners.values() for p in parts}
