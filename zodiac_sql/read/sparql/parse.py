"""The text of a query -> rdflib's algebra, or a QueryError that says what is wrong."""

from __future__ import annotations

import re
from functools import lru_cache, partial
from typing import Any

from zodiac_sql.errors import QueryError
from zodiac_sql.read.sparql.check import check
from zodiac_sql.read.sparql.context import refused
from zodiac_sql.read.sparql.grammar import parse_tree
from zodiac_sql.read.sparql.prepare import prepare

_UPDATE = re.compile(
    r"(?:\s|#[^\n]*\n|(?:prefix\s+[^\s<>]*|base)\s*<[^<>]*>)*"
    r"(insert|delete|with|load|clear|drop|create|add|move|copy)\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=100)
def parsed(text: str, prefixes: tuple[tuple[str, str], ...]) -> Any:
    """The algebra of a query, as rdflib has it. Nobody may modify it."""
    if found := _UPDATE.match(text):
        raise QueryError(
            f"SPARQL: {found[1].upper()} is SPARQL Update, which is not supported. "
            "Facts are changed by insert, delete and load; a rule derives facts from others."
        )
    try:
        return _algebra(text, dict(prefixes))
    except ImportError as error:
        raise QueryError(
            "SPARQL needs rdflib, which is not installed: pip install 'zodiac-sql[sparql]'"
        ) from error
    except RecursionError:
        raise QueryError("SPARQL: the query is nested too deeply.") from None
    except QueryError:
        raise
    except Exception as error:  # rdflib raises exceptions of many kinds, even plain ones
        raise QueryError(f"SPARQL: {error}") from error


def _algebra(text: str, prefixes: dict[str, str]) -> Any:
    from rdflib.plugins.sparql.algebra import translatePrologue, translateQuery, traverse

    tree = parse_tree(text)
    names = translatePrologue(tree[0], None, prefixes)
    query = tree[1] = traverse(tree[1], visitPost=partial(_whole, names))
    if query.datasetClause:
        raise refused("FROM")
    check(query)
    prepare(query)
    found = _translated(translateQuery(tree, initNs=prefixes).algebra)
    if query.name == "ConstructQuery" and not found.template and "Fake" not in query.where.name:
        found["template"] = []  # `CONSTRUCT {}`: rdflib has the same for `CONSTRUCT WHERE`
    return found


def _whole(names: Any, part: Any) -> Any:
    """An IRI without a prefix; a literal with its datatype or language, in its own spelling."""
    from rdflib import Literal
    from rdflib.plugins.sparql.algebra import translatePName

    if getattr(part, "name", "") in ("Builtin_IRI", "Builtin_URI"):
        part["base"] = str(names.base or "")
    if getattr(part, "name", "") != "literal":
        return translatePName(part, names)
    datatype = None if part.datatype is None else names.absolutize(part.datatype)
    return Literal(part.string, lang=part.lang, datatype=datatype, normalize=False)


def _translated(part: Any) -> Any:
    """The algebra with the patterns of all EXISTS as its items.

    rdflib has translated them, but keeps that as an attribute beside the item.
    """
    if isinstance(part, list | tuple):
        for each in part:
            _translated(each)
    elif isinstance(part, dict):
        if getattr(part, "name", "") in ("Builtin_EXISTS", "Builtin_NOTEXISTS"):
            part["graph"] = getattr(part, "graph")  # noqa: B009
        for key, value in part.items():
            if key != "_vars":
                _translated(value)
    return part
