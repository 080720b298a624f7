"""The symbol dictionary: text -> INTEGER id, for whole tables at a time, or for a few texts.

New symbols wait until the change that brought them is published: in a temporary table, or if there
are only a few, in memory. A statement that looks for texts brings those into the table first
(`Store.run`); most statements do not, because facts hold ids.

Symbols of changes that wait in the journal (storage/journal.py) are in memory, too, until they are
in the table. So looking for symbols settles nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager

from sqlglot import exp

from zodiac_sql.database.known_symbols import (
    KNOWN_SYMBOLS,
    NEW_TABLES,
    PUBLISHED_TABLES,
    entering,
)
from zodiac_sql.database.statements import create_temp, temp_table
from zodiac_sql.database.store import Store, rows_apart
from zodiac_sql.database.term_values import with_values
from zodiac_sql.database.together import Together
from zodiac_sql.language.symbols import NATIVE_LITERAL

NEW = ("zodiac$new_symbol", "zodiac$new_value")
"""Temporary tables of symbols not yet published, and of their values, as zodiac.symbol and
zodiac.symbol_value have them."""

KNOWN = KNOWN_SYMBOLS


def prepare(store: Store) -> None:
    """Make room for new symbols on a connection."""
    for name in ("symbol", "value"):
        table = PUBLISHED_TABLES.symbols if name == "symbol" else PUBLISHED_TABLES.values
        new = f'"zodiac$new_{name}"'
        store.run(
            f"CREATE TEMP TABLE {new} AS SELECT * FROM {table} LIMIT 0;"
            f' CREATE TEMP VIEW "zodiac$known_{name}" AS SELECT * FROM {table}'
            f" UNION ALL SELECT * FROM temp.{new}"
        )


def waits(store: Store) -> bool:
    """Whether there are symbols to be published."""
    return store.symbols.wait


def forget_new(store: Store) -> None:
    """Drop the symbols of a change that will not be published, or was."""
    store.symbols.few.clear()
    if store.symbols.in_table:
        store.run('TRUNCATE temp."zodiac$new_symbol"')
        store.symbols.in_table = False
    if store.symbols.has_values:
        store.run('TRUNCATE temp."zodiac$new_value"')
        store.symbols.has_values = False


@contextmanager
def nothing_new(store: Store) -> Iterator[None]:
    """Forget at the end the symbols that are added inside the block.

    Their ids are given to other symbols afterwards, so nothing may keep them: they may only be
    used to look for facts, of which there are none.
    """
    known = store.count(_LAST_KNOWN)
    try:
        yield
    finally:
        store.run('DELETE FROM temp."zodiac$new_symbol" WHERE id > $1', [known])
        if store.symbols.has_values:
            store.run('DELETE FROM temp."zodiac$new_value" WHERE id > $1', [known])


def ids_of(store: Store, texts: Collection[str]) -> dict[str, int]:
    """The ids of symbols by their canonical text; new symbols are added."""
    if not texts:
        return {}
    store.run("CREATE OR REPLACE TEMP TABLE asked AS SELECT unnest($1) AS text", [sorted(texts)])
    encode(store, "asked", ["text"], "asked_id")
    found = store.rows(
        'SELECT text, id FROM temp."zodiac$known_symbol"'
        " WHERE text IN (SELECT text FROM temp.asked)"
    )
    store.run("DROP TABLE temp.asked; DROP TABLE temp.asked_id")
    return dict(found)


def size(store: Store) -> int:
    """How many symbols there are, about."""
    return _last(store) + len(store.symbols.few)


def publish(writes: Together) -> None:
    """Make new symbols permanent. This is part of the publishing transaction."""
    add_to_file(writes, writes.store.symbols.few)
    if writes.store.symbols.in_table:
        writes.add('INSERT INTO zodiac.symbol SELECT * FROM temp."zodiac$new_symbol"')
    if writes.store.symbols.has_values:
        writes.add('INSERT INTO zodiac.symbol_value SELECT * FROM temp."zodiac$new_value"')


def add_to_file(writes: Together, symbols: Mapping[str, int]) -> None:
    """Write symbols to the tables in the file, as part of a transaction."""
    for statement, parameters in entering(PUBLISHED_TABLES, symbols) if symbols else ():
        writes.add(statement, parameters)


def published(store: Store) -> None:
    """Note that all new symbols are in the file."""
    store.symbols.enter_file()
    forget_new(store)


def encode(
    store: Store, source: str, columns: Sequence[str], into: str, canonical: bool = False
) -> None:
    """Create temporary table `into`: `source` with the text in `columns` replaced by ids.

    The text is as in language/symbols.py, or an N-Triples term that may be written in another way
    if it is not `canonical`. Other columns are copied, and no rows are added or dropped. `source`
    is a temporary table without NULLs in `columns`.
    """
    found = _collect_terms(store, source, columns, canonical)
    _add_terms(store, bool(found & (_TYPED | _NATIVE)))
    store.run(
        "CREATE OR REPLACE TEMP TABLE term_id AS"
        ' SELECT raw, id FROM temp.term JOIN temp."zodiac$known_symbol" USING (text)'
    )
    store.run(create_temp(into, _replaced(store, source, columns)))
    store.run("DROP TABLE temp.term")
    store.run("DROP TABLE temp.term_id")


def stands_as_it_is(text: str) -> bool:
    """Whether a symbol's text from outside is the only way to write it (zodiac.canonical)."""
    return not text.startswith(("<", '"'))


def as_written(store: Store, texts: Collection[str], doubtful: bool = False) -> dict[str, int]:
    """The ids of those texts that are symbols just as they are written.

    If it is `doubtful` that they are, blocks of the table without any of them are passed over.

    Published symbols never change, so they are remembered: most changes mention symbols that were
    mentioned before, and need not ask. A symbol that waits can still be forgotten.
    """
    found = {
        text: known[text]
        for known in (store.symbols.remembered.ids, store.symbols.few, store.journal.symbols)
        for text in texts
        if text in known
    }
    asked = [text for text in texts if text not in found]
    if asked and not _remembers_all(store):
        few = len(asked) <= _FEW_TEXTS and not doubtful
        there = dict(rows_apart(store, _FEW if few else _MANY, [asked]))
        store.symbols.remembered.add(there)
        found |= there
        if store.symbols.remembered.should_be_all(store.symbols.last):
            _remember_all(store)
    if asked and store.symbols.in_table:
        found |= dict(store.rows(_WAITING, [asked]))
    return found


def alike(store: Store, beginning: str) -> str | None:
    """A symbol that has nothing but digits after a beginning, if one is found soon."""
    pattern = f"{re.escape(beginning)}[0-9]+"
    known = [store.symbols.few, store.journal.symbols]
    if is_all := _remembers_all(store):
        known.append(store.symbols.remembered.ids)
    matching = re.compile(pattern).fullmatch
    found = min((text for texts in known for text in texts if matching(text)), default=None)
    if found is not None or (is_all and not store.symbols.in_table):
        return found
    limits = [f"{beginning}0", f"{beginning}:", pattern]  # ":" comes after "9"
    rows = rows_apart(store, _ALIKE_AND_NEW if store.symbols.in_table else _ALIKE, limits)
    return next((text for (text,) in rows), None)


_ALIKE = (
    "SELECT text FROM (SELECT text FROM zodiac.symbol WHERE text >= $1 AND text < $2 LIMIT 1000)"
    " WHERE regexp_full_match(text, $3) LIMIT 1"
)
_ALIKE_AND_NEW = _ALIKE.replace("zodiac.symbol", 'temp."zodiac$known_symbol"')

_FEW_TEXTS = 8
"""At most this many texts are compared with each symbol one by one, which takes no join."""

_FEW = "SELECT text, id FROM zodiac.symbol WHERE list_contains($1, text)"

_MANY = "SELECT text, id FROM zodiac.symbol WHERE text IN (SELECT unnest($1))"

_WAITING = 'SELECT text, id FROM temp."zodiac$new_symbol" WHERE text IN (SELECT unnest($1))'


def texts_as_written(store: Store, ids: Collection[int]) -> dict[int, str]:
    """The texts of symbols by their ids. Those of published ones are remembered."""
    found = {
        number: known[number]
        for known in (store.symbols.remembered.texts, store.journal.texts)
        for number in ids
        if number in known
    }
    asked = [number for number in ids if number not in found]
    if asked:
        there = dict(rows_apart(store, _TEXTS, [asked]))
        store.symbols.remembered.add_texts(there)
        found |= there
    if waits(store) and len(found) < len(ids):
        found |= dict(store.rows(_WAITING_TEXTS, [[n for n in ids if n not in found]]))
    return found


_TEXTS = "SELECT id, text FROM zodiac.symbol WHERE id IN (SELECT unnest($1))"

_WAITING_TEXTS = 'SELECT id, text FROM temp."zodiac$known_symbol" WHERE id IN (SELECT unnest($1))'


def _remembers_all(store: Store) -> bool:
    """Whether all symbols in the file are remembered, so that any other is a new one."""
    if store.presence is None or not store.symbols.remembers_all():
        return False
    return store.presence.knows()


def _remember_all(store: Store) -> None:
    """Read all symbols, those that wait in the journal included."""
    there = dict(rows_apart(store, "SELECT text, id FROM zodiac.symbol"))
    store.symbols.remembered.add_all({**there, **store.journal.symbols}, store.symbols.last)


def add(store: Store, texts: Sequence[str]) -> dict[str, int]:
    """Add symbols that stand as they are, each given once and none of them known. Their ids."""
    in_table = store.symbols.in_table
    last = store.count(_LAST_KNOWN) if in_table else _last(store) + len(store.symbols.few)
    added = {text: number for number, text in enumerate(texts, last + 1)}
    if in_table:
        store.symbols.has_values = True
        for statement, parameters in entering(NEW_TABLES, added):
            store.run(statement, parameters)
    else:
        store.symbols.few |= added
    return added


def _last(store: Store) -> int:
    """The last id in the file. It is known as long as nobody else can have added symbols."""
    if store.symbols.last is None or not (store.presence and store.presence.knows()):
        store.symbols.last = store.count("SELECT coalesce(max(id), 0) FROM zodiac.symbol")
    return store.symbols.last


_LAST_KNOWN = 'SELECT coalesce(max(id), 0) FROM temp."zodiac$known_symbol"'

# zodiac.kind looks for an IRI first.
_KIND = (
    "CASE WHEN NOT starts_with(text, '\"') THEN zodiac.kind(text)"
    " WHEN ends_with(text, '\"') THEN 'plain' ELSE 'literal' END"
)

_NEW_TERMS = (
    f"SELECT ({_LAST_KNOWN}) + row_number() OVER () AS id, {_KIND} AS kind, text"
    " FROM (SELECT DISTINCT text FROM temp.term) AS t"
    ' ANTI JOIN temp."zodiac$known_symbol" USING (text)'
)

_ADD_PLAIN = f'INSERT INTO temp."zodiac$new_symbol" {_NEW_TERMS}'
_ADD_TYPED = (
    f"WITH added AS ({_ADD_PLAIN} RETURNING id, text), valued AS (INSERT INTO"
    f' temp."zodiac$new_value" {with_values("SELECT id, text FROM added")})'
    " SELECT count(*) FROM added"
)


def _add_terms(store: Store, typed: bool) -> None:
    """Give ids to the symbols in the temporary table term that have none.

    Only literals that are `typed` may have values.
    """
    before, store.symbols.in_table = waits(store), True  # an interruption may come after it
    store.symbols.has_values |= typed
    found = store.count(_ADD_TYPED if typed else _ADD_PLAIN)
    store.symbols.in_table = before or found > 0


def known_only(
    rows: exp.Query, names: Sequence[str], columns: Sequence[str], canonical: bool
) -> exp.Select:
    """A query with the text in `columns` replaced by ids; rows with an unknown text are left out.

    With `canonical`, text must be in canonical form already, which is cheaper.
    """
    query = exp.select().from_(rows.subquery("x", copy=False))
    for number, name in enumerate(names):
        value: exp.Expr = exp.column(name, table="x", quoted=True)
        if name in columns:
            alias = f"t{number}"
            if not canonical:
                value = exp.func("zodiac.canonical", value, dialect="duckdb")
            same = exp.column("text", table=alias).eq(value)
            query = query.join(temp_table(KNOWN).as_(alias), on=same)
            value = exp.column("id", table=alias)
        query = query.select(value.as_(name, quoted=True))
    return query


def _collect_terms(store: Store, source: str, columns: Sequence[str], canonical: bool) -> int:
    """Make the temporary table term: each text of the columns once, and its canonical form.

    Return what texts there are: _MARKED, _TYPED, _NATIVE.
    """
    texts = [
        exp.select(exp.column(column, quoted=True).as_("raw")).from_(temp_table(source))
        for column in columns
    ]
    union = texts[0] if len(texts) == 1 else exp.union(*texts, distinct=False)
    raw = exp.select("raw").distinct().from_(union.subquery("texts", copy=False))
    kinds = exp.Anonymous(this="bit_or", expressions=[_text_kind(canonical)])
    # With this condition, DuckDB passes over blocks by their least and greatest texts.
    marked = exp.or_(_begins_with('"'), _begins_with("<"))
    looked = exp.select(kinds).from_(union.copy().subquery("texts", copy=False)).where(marked)
    ((found,),) = store.rows(looked)
    text: exp.Expr = exp.column("raw")
    # All other texts stand as they are. Just planning a statement with this macro takes 15 ms.
    if found and found & (_MARKED | _TYPED):
        written = exp.func("zodiac.canonical", exp.column("raw"), dialect="duckdb")
        kind = exp.paren(_text_kind(canonical)).isin(*map(exp.Literal.number, (_MARKED, _TYPED)))
        text = exp.case().when(kind, written).else_(text)
    terms = exp.select("raw", text.as_("text")).from_(raw.subquery("t", copy=False))
    store.run(create_temp("term", terms))
    return found or 0


_MARKED, _TYPED, _NATIVE = 1, 2, 4
"""Texts that begin with a mark may be written in several ways, and so may literals with a datatype.
Those that columns of native types are written as stand as they are."""


def _text_kind(canonical: bool) -> exp.Expr:
    """What a text is, of which something is to be known; 0 for all others."""
    native = _call("regexp_full_match", exp.column("raw"), exp.Literal.string(NATIVE_LITERAL))
    is_typed = exp.and_(
        _begins_with('"'), _call("ends_with", exp.column("raw"), exp.Literal.string(">"))
    )
    kinds = exp.case().when(is_typed, exp.Literal.number(_NATIVE))
    if not canonical:
        typed = exp.case().when(native, exp.Literal.number(_NATIVE))
        kinds = exp.case().when(is_typed, typed.else_(exp.Literal.number(_TYPED)))
        kinds = kinds.when(
            exp.or_(_begins_with('"'), _begins_with("<")), exp.Literal.number(_MARKED)
        )
    return kinds.else_(exp.Literal.number(0))


def _begins_with(mark: str) -> exp.Expr:
    return _call("starts_with", exp.column("raw"), exp.Literal.string(mark))


def _call(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=list(arguments))


def _replaced(store: Store, source: str, columns: Sequence[str]) -> exp.Select:
    """The source joined once per text column with the ids of its texts."""
    described = (
        store.run(exp.select(exp.Star()).from_(temp_table(source)).limit(0)).description or []
    )
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
