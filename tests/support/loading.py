"""Load a text as if it were a file."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from zodiac_sql.database.store import Store
from zodiac_sql.facts.load.load_file import Loaded, load_file
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.syntax import Column, Type


def facts(store: Store, loaded: Loaded) -> dict[str, list[tuple[Any, ...]]]:
    """Predicate -> its facts with symbols as text, sorted."""
    texts = dict(store.rows('SELECT id, text FROM temp."zodiac$known_symbol"'))
    found = {}
    for staged in loaded.staged:
        symbolic = [column.type is Type.SYMBOL for column in staged.columns]
        found[staged.predicate] = sorted(
            tuple(texts[v] if symbol else v for v, symbol in zip(row, symbolic, strict=True))
            for row in store.rows(f'SELECT * FROM temp."{staged.table}"')
        )
    return found


def load(
    store: Store, path: Path, text: str | bytes, known: Mapping[str, Predicate] = {}, **options: Any
) -> Loaded:
    data = text.encode() if isinstance(text, str) else text
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return load_file(store, path, known, **options)


def predicate(name: str, *types: Type, datatype: str | None = None) -> Predicate:
    columns = tuple(Column(n, t) for n, t in zip(("s", "o"), types, strict=False))
    datatypes = (None, datatype)[: len(types)]
    return Predicate(name, name, columns, types, datatypes, declared=True)


GOOD = "<http://e.org/a> <http://e.org/p> <http://e.org/b> .\n"
