"""What all parts of one query share: the predicates, the ids of constants, names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from zodiac_sql.database.store import Store
from zodiac_sql.errors import QueryError
from zodiac_sql.language.schema import Predicate
from zodiac_sql.program.derived_datatypes import with_datatypes
from zodiac_sql.program.state import State
from zodiac_sql.read.sparql.solutions import Names
from zodiac_sql.read.sparql.terms import symbol
from zodiac_sql.storage.sources import Sources, sources_of
from zodiac_sql.storage.triples import rdf_predicates


@dataclass(frozen=True, slots=True)
class QueryContext:
    """What is known while a query is compiled."""

    schema: Mapping[str, Predicate]
    sources: Sources
    rdf: tuple[Predicate, ...]
    """The predicates that a variable can stand for."""
    ids: Mapping[str, int]
    """The numbers of those constants that are in the dictionary."""
    names: Names = field(default_factory=Names)

    def variable(self, term: Any) -> str:
        """The column of a variable, or of a blank node, which is one."""
        from rdflib import BNode

        return self.names.column(f"\0{term}" if isinstance(term, BNode) else str(term))


def context_of(store: Store, state: State, algebra: Any) -> QueryContext:
    """The context of a query, given as rdflib's algebra."""
    texts = sorted(set(_constants(algebra)))
    found = store.rows(
        "SELECT text, id FROM zodiac.symbol WHERE text IN (SELECT unnest($1::VARCHAR[]))", [texts]
    )
    return QueryContext(
        with_datatypes(state), sources_of(state), rdf_predicates(state), dict(found)
    )


def _constants(part: Any) -> Iterator[str]:
    """The symbols of all IRIs and literals anywhere in a query."""
    from rdflib import Literal, URIRef
    from rdflib.paths import Path

    if isinstance(part, URIRef | Literal):
        yield symbol(part)
    elif isinstance(part, Path):
        return
    elif isinstance(part, Mapping):
        for value in part.values():
            yield from _constants(value)
    elif isinstance(part, list | tuple | set):
        for value in part:
            yield from _constants(value)


def is_variable(term: Any) -> bool:
    """Whether a term of a pattern stands for any term."""
    from rdflib import BNode, Variable

    return isinstance(term, Variable | BNode)


def refused(what: str) -> QueryError:
    """The error for a part of SPARQL that is not supported."""
    return QueryError(f"SPARQL: {what} is not supported.")
