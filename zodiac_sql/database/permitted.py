"""Which functions may be called by SQL that a user writes or that a stranger's file holds.

read/query.py ensures that SQL only reads, and open_store.py that DuckDB reaches no other file. But
some table functions have effects of their own: they write a profile or a log, change the whole
process, or hide in a string what they run. So only table functions that list things or make rows
are allowed; all others are refused, and so are views and macros that call them.

A text without any refused name is allowed without parsing. Otherwise its tree tells whether a
refused function is called.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from weakref import WeakKeyDictionary

from zodiac_sql.database.check_file import Listed, list_functions, own_functions
from zodiac_sql.database.store import Store
from zodiac_sql.errors import QueryError, StoreError

_LISTING = ("duckdb_", "pragma_")
"""The prefixes of table functions that list what there is."""

_ROWS = frozenset(
    (
        "unnest",
        "range",
        "generate_series",
        "repeat",
        "repeat_row",
        "json_each",
        "json_tree",
        "summary",
        "test_all_types",
        "test_vector_types",
        "icu_calendar_names",
        "pg_timezone_names",
    )
)
"""Other table functions that may be called."""

_PRAGMAS = frozenset(
    (
        "collations",
        "database_list",
        "database_size",
        "functions",
        "platform",
        "show",
        "show_databases",
        "show_tables",
        "show_tables_expanded",
        "storage_info",
        "table_info",
        "user_agent",
        "version",
    )
)

_PRAGMA = re.compile(r"\s*PRAGMA\s+(\w+)", re.IGNORECASE)

_FILES = re.compile(r"read_.*|parquet_.*|sniff_csv|glob")
"""Table functions that may be called only with external access."""

_VOLATILE = frozenset(
    (
        "random",
        "uuid",
        "uuidv4",
        "uuidv7",
        "gen_random_uuid",
        "error",
        "stats",
        "current_transaction_id",
        "current_connection_id",
        "current_query",
        "current_query_id",
        "txid_current",
    )
)
"""Functions that may return another value each time, but have no effects."""


@dataclass(frozen=True, slots=True)
class _Refused:
    """The refused names, in lower case: functions, and views, tables and macros that call them.

    `words` finds any of them in a text.
    """

    functions: frozenset[str]
    objects: frozenset[str]
    words: re.Pattern[str]


_refused: WeakKeyDictionary[Store, _Refused] = WeakKeyDictionary()


def require_permitted(store: Store, text: str, statement: str) -> None:
    """Raise QueryError if SQL calls a refused name; `statement` is the one inside an EXPLAIN."""
    refused = _refused_in(store)
    if not (word := refused.words.search(text)):
        return
    tree = _tree(store, statement)
    called = {name.lower() for name in _named(tree, "function_name")} if tree else {word[0].lower()}
    for name in sorted(called & (refused.functions | refused.objects)):
        advice = " connect(external_access=True) allows it." if _FILES.fullmatch(name) else ""
        raise QueryError(
            f"sql() does not call {name}: it reaches outside of the knowledge base, or has effects "
            f"that stay.{advice}"
        )
    read = {name.lower() for name in _named(tree, "table_name")}
    for name in sorted(read & refused.objects):
        raise QueryError(
            f"sql() does not read {name}: what it calls reaches outside of the knowledge base, or "
            "has effects that stay. Somebody else has put it into this file."
        )


def is_listing_pragma(statement: str) -> bool:
    """Whether a PRAGMA only lists something."""
    found = _PRAGMA.match(statement)
    return found is not None and found[1].lower() in _PRAGMAS


def require_harmless(store: Store, view: str) -> None:
    """Raise StoreError if the view that stands for one of ours calls a refused name."""
    if view.lower() in _refused_in(store).objects:
        raise StoreError(
            f"main.{view} is not the view that zodiac_sql made: it calls what reaches outside of "
            "the knowledge base, or has effects that stay. Drop it, and change its facts or rules."
        )


def _refused_in(store: Store) -> _Refused:
    if store not in _refused:
        _refused[store] = _all_refused(store)
    return _refused[store]


def tables_in(store: Store, statement: str) -> set[str]:
    """The tables and views that a SELECT names without their schema, as it names them."""
    tree = _tree(store, statement)
    read = (n for n in _nodes(tree) if n.get("type") == "BASE_TABLE" and not n["schema_name"])
    return {n["table_name"] for n in read} - {*_named(tree, "key")}  # a key is the name of a WITH


def _tree(store: Store, statement: str) -> object:
    """The syntax tree of a SELECT; None for a PRAGMA, which has none."""
    ((answer,),) = store.rows("SELECT json_serialize_sql($1::VARCHAR)", [statement])
    tree = json.loads(answer)
    return None if tree["error"] else tree


def _named(tree: object, key: str) -> Iterator[str]:
    """The values of a key anywhere in a tree."""
    return (node[key] for node in _nodes(tree) if isinstance(node.get(key), str))


def _nodes(tree: object) -> Iterator[dict[str, Any]]:
    """The dictionaries anywhere in a tree."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            yield node
            waiting += node.values()
        elif isinstance(node, list):
            waiting += node


def _all_refused(store: Store) -> _Refused:
    ((external,),) = store.rows("SELECT current_setting('enable_external_access')")
    own, macros = _functions(store, external)
    refused = [f.name.lower() for f in own if not _is_harmless(f.name.lower(), f.kind, external)]
    functions = frozenset(refused)
    defined = [(macro.name.lower(), macro.definition or "") for macro in macros]
    objects = _calling(functions, [*defined, *_views_and_tables(store)])
    return _Refused(functions, objects, _words(functions | objects))


def _functions(store: Store, external: bool) -> tuple[Sequence[Listed], Sequence[Listed]]:
    """DuckDB's functions that are not plain, and all macros."""
    if external:
        listed = list_functions(store, external)
        return [f for f in listed if f.internal], [f for f in listed if not f.internal]
    if store.file.macros is None:
        store.file.macros = tuple(f for f in list_functions(store) if not f.internal)
    return own_functions(store), store.file.macros


@lru_cache(maxsize=16)
def _words(names: frozenset[str]) -> re.Pattern[str]:
    return re.compile(rf"\b{_one_of(names)}\b", re.IGNORECASE)


@lru_cache(maxsize=16)
def _calls(names: frozenset[str]) -> re.Pattern[str]:
    return re.compile(rf'\b{_one_of(names)}"?\(', re.IGNORECASE)


def _is_harmless(name: str, kind: str, external: bool) -> bool:
    if external and _FILES.fullmatch(name):
        return True
    if kind in ("table", "table_macro"):
        return name in _ROWS or (name.startswith(_LISTING) and name != "duckdb_secrets")
    return name in (_PRAGMAS if kind == "pragma" else _VOLATILE)


def _views_and_tables(store: Store) -> list[tuple[str, str]]:
    """Views and tables with their definitions. Tables count because columns can be computed."""
    return store.rows(
        "SELECT lower(view_name), sql FROM system.main.duckdb_views() WHERE NOT internal"
        " UNION ALL SELECT lower(table_name), sql FROM system.main.duckdb_tables()"
        " WHERE NOT internal AND schema_name NOT IN ('zodiac', 'edb', 'idb', 'hd')"
    )


def _calling(functions: frozenset[str], defined: Sequence[tuple[str, str]]) -> frozenset[str]:
    """The names whose definitions call these functions, directly or through others.

    In definitions as DuckDB writes them, the parenthesis of a call follows the name directly.
    """
    calls = _calls(functions)
    found = {name for name, text in defined if calls.search(text)}
    new = found
    while new:
        mentions = _words(frozenset(new))
        new = {name for name, text in defined if name not in found and mentions.search(text)}
        found = found | new
    return frozenset(found)


def _one_of(names: Collection[str]) -> str:
    return f"(?:{'|'.join(map(re.escape, sorted(names)))})"
