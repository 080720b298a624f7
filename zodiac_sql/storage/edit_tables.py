"""Applying an edit to a table of the file: rows go out and in, or the whole is written anew."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache, partial

from sqlglot import exp

from zodiac_sql.database.render import render
from zodiac_sql.database.statement_cache import StatementCache
from zodiac_sql.database.store import Store
from zodiac_sql.database.templates import filled, place_for
from zodiac_sql.database.together import Together
from zodiac_sql.errors import StoreError
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.syntax import Column, Type
from zodiac_sql.names import EXPLICIT_SCHEMA, RANK
from zodiac_sql.sql.relations import Part, Relation, columns_of, relation_query, table
from zodiac_sql.storage.edits import Edit
from zodiac_sql.storage.owners import EXPLICIT
from zodiac_sql.storage.remove_tables import Remover, Rows
from zodiac_sql.storage.sources import place


def key_of(predicate: Predicate, owner: int) -> tuple[str, str]:
    """Schema and name of a table."""
    if owner == EXPLICIT:
        return EXPLICIT_SCHEMA, predicate.sql_name
    return place(predicate, owner)


def edit_rows(
    writes: Together,
    predicate: Predicate,
    key: tuple[str, str],
    edit: Edit,
    rows: Rows,
    cache: StatementCache,
) -> None:
    """Take rows out of a table and put rows in."""
    if edit.removed:
        removed = edit.removed
        text = cache.get(
            ("delete", key, removed.table, removed.read.picked),
            lambda: _deletion(predicate, key, removed),
        )
        writes.add(text, check=partial(require_rows, writes.store, key, removed.rows))
        rows[key] -= removed.rows
    for added in edit.incoming:
        text = cache.get(
            ("insert", key, replace(added, rows=0)),
            partial(_insertion, predicate, key, added),
        )
        writes.add(text)
        rows[key] += added.rows


def require_rows(store: Store, key: tuple[str, str], known: int, written: int) -> None:
    """Raise StoreError unless as many rows of a table were deleted as there were to be."""
    require_as_known(store, key, written == known)


def require_as_known(store: Store, key: tuple[str, str], is_so: bool) -> None:
    """Raise StoreError unless a table is as this connection knows it."""
    if not is_so:
        raise StoreError(
            f"{key[0]}.{key[1]} in {store.file.path} is not as this connection knows it: it was "
            "changed without zodiac_sql. Nothing was changed by this update. Open the file "
            "anew, and see what `verify` says."
        )


def _deletion(predicate: Predicate, key: tuple[str, str], part: Part) -> str:
    relation = Relation(predicate.columns, (part,))
    same = [
        a.eq(b) for a, b in zip(columns_of(relation, "t"), columns_of(relation, "m"), strict=True)
    ]
    target = exp.table_(key[1], db=key[0], quoted=True, alias="t")
    gone = exp.alias_(table(part), "m", table=True)
    where = exp.Where(this=exp.and_(*same))
    return render(exp.Delete(this=target, using=[gone], where=where))


def _insertion(predicate: Predicate, key: tuple[str, str], part: Part) -> str:
    relation = Relation(predicate.columns, (part,), ranked=part.ranked)
    names = [column.name for column in relation.stored] + ([RANK] if part.ranked else [])
    target = exp.table_(key[1], db=key[0], quoted=True)
    columns = [exp.to_identifier(name, quoted=True) for name in names]
    return render(exp.insert(relation_query(relation), target, columns=columns))


def write_table(
    remover: Remover,
    predicate: Predicate,
    key: tuple[str, str],
    parts: tuple[Part, ...],
    recursive: bool,
    cache: StatementCache,
) -> None:
    """Put a table in place of the one that was there, if any."""
    if key in remover.rows:
        remover.remove(key)
    if predicate.open:
        return
    tables = tuple(replace(part, rows=0) for part in parts)
    text = cache.get(
        ("write", key, predicate.columns, tables, recursive),
        partial(_creation, predicate, key, parts, recursive),
    )
    remover.run(text)
    remover.rows[key] = sum(part.rows for part in parts)


def _creation(
    predicate: Predicate, key: tuple[str, str], parts: tuple[Part, ...], recursive: bool
) -> str:
    """The text that makes a table. Most differ only in names: they have the rows of one other."""
    if len(parts) == 1 and parts[0].is_temporary:
        stored = Relation(predicate.columns, ()).stored
        columns = (column.name for column in stored)
        return filled(_of_one(len(stored), recursive), [*key, parts[0].table, *columns])
    return _making(predicate.columns, key, parts, recursive)


@lru_cache(maxsize=100)
def _of_one(arity: int, recursive: bool) -> str:
    """The text for a table with the rows of one temporary table. The names are those of
    `_creation`, in its order.
    """
    schema, table, temporary, *names = map(place_for, range(3 + arity))
    columns = tuple(Column(name, Type.INT) for name in names)
    return _making(columns, (schema, table), (Part("temp", temporary, 1),), recursive)


def _making(
    columns: tuple[Column, ...], key: tuple[str, str], parts: tuple[Part, ...], recursive: bool
) -> str:
    """The text that makes a table of all rows of some parts."""
    query = relation_query(Relation(columns, parts, ranked=recursive))
    if recursive and not parts:
        assert isinstance(query, exp.Select)
        query = query.select(exp.cast(exp.null(), "BIGINT").as_(RANK, quoted=True))
    target = exp.table_(key[1], db=key[0], quoted=True)
    return render(exp.Create(this=target, kind="TABLE", expression=query))
