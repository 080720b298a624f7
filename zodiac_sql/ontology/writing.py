"""Rules as texts that can be read again, and the terms and predicates that IRIs stand for."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any, TypeVar

from zodiac_sql.errors import DataError, shortened
from zodiac_sql.language import symbols
from zodiac_sql.language.datatypes import value_of, written, xsd_type
from zodiac_sql.language.decimals import ROOM
from zodiac_sql.language.moments import is_finer
from zodiac_sql.language.prefixed import prefixed
from zodiac_sql.language.syntax import Atom, Comparison, Constant, Term, Type, Variable
from zodiac_sql.language.urns import predicate_name
from zodiac_sql.language.written import spelled_predicate
from zodiac_sql.ontology.triples import Literal, Object


def predicate(iri: str) -> str:
    """The predicate that a class or property is here."""
    return predicate_name(iri)


def constant(value: Object) -> Constant:
    """The constant that an individual or a literal is here. Raises DataError for a bad literal."""
    if isinstance(value, str):
        blank = value.startswith("_:")
        return Constant(Type.SYMBOL, value if blank else symbols.iri(value))
    type_ = xsd_type(value.datatype)
    if type_ is None:
        return Constant(Type.SYMBOL, symbols.literal(value.text, value.language, value.datatype))
    try:
        found = value_of(value.datatype, value.text)
    except (ValueError, OverflowError) as error:
        if type_ is Type.DECIMAL and isinstance(error, OverflowError):
            raise DataError(f"the decimal {shortened(value.text)} has no room: {ROOM}") from None
        said = value.datatype.removeprefix(symbols.XSD)
        raise DataError(f"{value.text!r} is not an xsd:{said}") from None
    if type_ is Type.TIMESTAMP and is_finer(value.text.strip()):
        raise DataError(f'"{shortened(value.text)}" is finer than microseconds')
    if type_ is Type.INT and not -(2**63) <= found < 2**63:
        raise DataError(f"the integer {value.text} has more than 64 bits")
    return Constant(type_, found)


def why_no_constant(value: Object) -> str:
    """Why a literal is no constant here; an empty text if it is one."""
    try:
        constant(value)
    except DataError as error:
        return str(error)
    return ""


T = TypeVar("T")

MOST_KEPT = 50_000
"""So many rules and names are remembered."""


class Writing:
    """Writes rules with the prefixes of an ontology."""

    def __init__(self, prefixes: Mapping[str, str]) -> None:
        self._prefixes = prefixes
        self._short = lru_cache(None)(lambda iri: prefixed(f"<{iri}>", prefixes))
        self._made: dict[Hashable, Any] = {}

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """What was made when this key was first asked for, which depends on the prefixes alone.

        A new version of an ontology has nearly all rules of the one before.
        """
        if key not in self._made:
            if len(self._made) >= MOST_KEPT:
                self._made.clear()
            self._made[key] = make()
        found: T = self._made[key]
        return found

    def rule(
        self, head: Atom, body: Sequence[Atom | Comparison]
    ) -> tuple[str, tuple[tuple[str, str], ...]]:
        """The text of a rule, and the prefixes that it uses."""
        used: dict[str, str] = {}
        parts = ", ".join(self._part(part, used) for part in body)
        return f"{self._part(head, used)} :- {parts}.", tuple(sorted(used.items()))

    def _part(self, part: Atom | Comparison, used: dict[str, str]) -> str:
        if isinstance(part, Comparison):
            return f"{part.left} {part.operator} {part.right}"
        spelled = spelled_predicate(part.predicate)
        name = self._iri(part.predicate, used) if spelled.startswith("<") else spelled
        return f"{name}({', '.join(self._term(term, used) for term in part.terms)})"

    def _iri(self, iri: str, used: dict[str, str]) -> str:
        short = self._short(iri)
        if not short.startswith("<"):
            prefix = short.partition(":")[0]
            used[prefix] = self._prefixes[prefix]
        return short

    def _term(self, term: Term, used: dict[str, str]) -> str:
        if isinstance(term, Variable):
            return str(term)
        if term.type is not Type.SYMBOL:
            return _native(term)
        text = str(term.value)
        if symbols.iri(text) == text:
            return self._iri(text, used)
        if text.startswith("<"):
            return self._iri(text[1:-1], used)
        return text if text.startswith('"') else symbols.quoted(text)


def _native(term: Constant) -> str:
    """A number, a truth value or a time as text."""
    if term.type in (Type.DATE, Type.TIMESTAMP):
        kind = "date" if term.type is Type.DATE else "dateTime"
        moment = str(term.value).replace(" ", "T")
        return f'"{moment}"^^<{symbols.XSD}{kind}>'
    if isinstance(term.value, Decimal):
        return written(term.value, Type.DECIMAL)
    if term.type is Type.FLOAT:
        return f'"{term.value!r}"^^<{symbols.XSD}double>'
    return str(term)


def typed(literal: Literal) -> Type:
    """The type of the column that a literal alone would get."""
    return xsd_type(literal.datatype) or Type.SYMBOL


def writing_with(prefixes: Mapping[str, str]) -> Writing:
    """What writes rules with these prefixes; it remembers what it has written."""
    return _writing(tuple(prefixes.items()))


@lru_cache(maxsize=2)
def _writing(prefixes: tuple[tuple[str, str], ...]) -> Writing:
    return Writing(dict(prefixes))
