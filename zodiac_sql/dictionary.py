"""The symbol dictionary: text -> INTEGER id, for whole tables at a time.

New symbols wait in a temporary table until the change that brought them is published.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from zodiac_sql.store import Store
from zodiac_sql.trees import create_temp, temp_table

NEW = "zodiac$new_symbol"
"""Temporary table of symbols not yet published: (id, kind, text)."""

KNOWN = "zodiac$known_symbol"
"""Temporary view of every symbol, published and new."""


def prepare(store: Store) -> None:
    """Make room for new symbols on a connection."""
    store.run('CREATE TEMP TABLE "zodiac$new_symbol" (id INTEGER, kind VARCHAR, text VARCHAR)')
    store.run(
        'CREATE TEMP VIEW "zodiac$known_symbol" AS SELECT id, kind, text FROM zodiac.symbol'
        ' UNION ALL SELECT id, kind, text FROM temp."zodiac$new_symbol"'
    )


def forget_new(store: Store) -> None:
    """Drop the symbols of a change that will not be published."""
    store.run('TRUNCATE temp."zodiac$new_symbol"')


def publish(store: Store) -> None:
    """Make new symbols permanent: part of the publishing transaction."""
    store.run('INSERT INTO zodiac.symbol SELECT id, kind, text FROM temp."zodiac$new_symbol"')


def encode(store: Store, source: str, columns: Sequence[str], into: str) -> None:
    """Create temporary table `into`: `source` with the text in `columns` replaced by ids.

    The text is as in symbols.py or an N-Triples term. Other columns are copied. Rows are kept
    one for one. `source` is a temporary table without NULLs in `columns`.
    """
    _collect_terms(store, source, columns)
    store.run(
        'INSERT INTO temp."zodiac$new_symbol"'
        ' SELECT (SELECT coalesce(max(id), 0) FROM temp."zodiac$known_symbol") + row_number() OVER (),'
        " zodiac.kind(text), text"
        ' FROM (SELECT DISTINCT text FROM temp.term) AS t ANTI JOIN temp."zodiac$known_symbol" USING (text)'
    )
    store.run(
        "CREATE OR REPLACE TEMP TABLE term_id AS"
        ' SELECT raw, id FROM temp.term JOIN temp."zodiac$known_symbol" USING (text)'
    )
    store.run(create_temp(into, _replaced(store, source, columns)))
    store.run("DROP TABLE temp.term")
    store.run("DROP TABLE temp.term_id")


def _collect_terms(store: Store, source: str, columns: Sequence[str]) -> None:
    """Temporary table term: each text of the columns once, and its canonical form."""
    texts = [
        exp.select(exp.column(column, quoted=True).as_("raw")).from_(temp_table(source))
        for column in columns
    ]
    union = texts[0] if len(texts) == 1 else exp.union(*texts, distinct=False)
    canonical = exp.func("zodiac.canonical", exp.column("raw"), dialect="duckdb")
    raw = exp.select("raw").distinct().from_(union.subquery("texts"))
    store.run(
        create_temp("term", exp.select("raw", canonical.as_("text")).from_(raw.subquery("t")))
    )


def _replaced(store: Store, source: str, columns: Sequence[str]) -> exp.Select:
    """The source joined once per text column with the ids of its texts."""
    described = store.run(exp.select("*").from_(temp_table(source)).limit(0)).description or []
    names = [column[0] for column in described]
    query = exp.select().from_(temp_table(source).as_("x"))
    for name in names:
        if name not in columns:
            query = query.select(exp.column(name, table="x", quoted=True))
            continue
        alias = f"t{names.index(name)}"
        query = query.select(exp.column("id", table=alias).as_(name, quoted=True))
        same = exp.column("raw", table=alias).eq(exp.column(name, table="x", quoted=True))
        query = query.join(temp_table("term_id").as_(alias), on=same)
    return query
