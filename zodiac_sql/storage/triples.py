"""Triples: the facts of all RDF predicates, and the view `triple` of them in main."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlglot import exp

from zodiac_sql.database.statements import shown, text
from zodiac_sql.facts.load.urns import predicate_iri
from zodiac_sql.facts.native_text import datatype_of, literal_text
from zodiac_sql.language import symbols
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.syntax import Type


def rdf_predicates(schema: Mapping[str, Predicate]) -> tuple[Predicate, ...]:
    """The predicates that are classes and properties: their names are IRIs."""
    return tuple(known for known in schema.values() if _is_rdf(known))


def _is_rdf(known: Predicate) -> bool:
    return known.arity in (1, 2) and not known.open and predicate_iri(known.name) == known.name
