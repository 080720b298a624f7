"""The RDF datatypes of what rules derive in native columns, where they only pass values on.

A native column of an explicit predicate keeps what its literals were (Predicate.datatypes): floats
of xsd:float, or times that are written with a Z. If a rule passes such values on, as one for a
subproperty does, they are the same literals in its head: in exports, triples and SPARQL.

What rules compute has the datatype of its type, and so has a column that gets values of several
datatypes; times of several zones are in UTC.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from zodiac_sql.language.schema import NO_DATATYPE, Predicate
from zodiac_sql.language.symbols import XSD
from zodiac_sql.language.syntax import Aggregate, Atom, Binding, Literal, Term, Type, Variable
from zodiac_sql.language.zones import common_zone, in_zone, without_zone, zone_of
from zodiac_sql.program.state import State, parsed_rules

Column = tuple[str, int]
"""A predicate, and the place of a column."""

Datatypes = dict[Column, str | None]
"""The entry of each column of which something is known."""

_PLAIN = frozenset(
    XSD + name for name in ("integer", "decimal", "double", "boolean", "date", "dateTime")
)
"""What native types stand for by themselves."""


def with_datatypes(state: State) -> Mapping[str, Predicate]:
    """The predicates of a state, with the datatypes of what rules derive."""
    kept = {datatype for known in state.schema.values() for datatype in known.datatypes}
    if kept <= _PLAIN | {None, NO_DATATYPE}:
        return state.schema
    return _found(_Same(state))


class _Same:
    """A state that is equal to those with the same rules and predicates: facts may differ."""

    __slots__ = ("state",)

    def __init__(self, state: State) -> None:
        self.state = state

    def __hash__(self) -> int:
        return hash((id(self.state.rules), id(self.state.schema)))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _Same)
            and self.state.rules is other.state.rules
            and self.state.schema is other.state.schema
        )


@lru_cache(maxsize=8)
def _found(same: _Same) -> Mapping[str, Predicate]:
    schema, rules = same.state.schema, parsed_rules(same.state)
    stated: Datatypes = {
        (name, place): datatype
        for name, known in schema.items()
        for place, datatype in enumerate(known.datatypes)
        if known.settled[place] is not None
    }
    passed_on: dict[Column, list[list[Column]]] = defaultdict(list)
    for rule in rules:
        for place, term in enumerate(rule.head.terms):
            head = (rule.head.predicate, place)
            if head not in stated and _is_native(schema, head):
                passed_on[head].append([c for c in _sources(rule.body, term) if c[0] in schema])
    found = dict(stated)
    while True:
        derived = {
            head: _common(entries)
            for head, sources in passed_on.items()
            if (entries := {e for some in sources for e in _entries(schema, head, some, found)})
        }
        if found == (found := stated | derived):
            break
    changed = {
        name: replace(
            schema[name],
            datatypes=tuple(
                derived.get((name, n), d) for n, d in enumerate(schema[name].datatypes)
            ),
        )
        for name in {name for name, _ in derived}
    }
    return {**schema, **changed}


def _is_native(schema: Mapping[str, Predicate], column: Column) -> bool:
    name, place = column
    return name in schema and schema[name].columns[place].type not in (None, Type.SYMBOL)


def _sources(body: Iterable[Literal], term: Term) -> Iterator[Column]:
    """The columns from which a head has the values of a term."""
    if not isinstance(term, Variable):
        return
    for literal in body:
        match literal:
            case Atom():
                for place, other in enumerate(literal.terms):
                    if other == term:
                        yield literal.predicate, place
            case Binding(variable=variable, expression=Variable() as other) if variable == term:
                yield from _sources(body, other)
            case Aggregate():
                if term in literal.group:
                    yield from _sources(literal.body, term)
                elif term == literal.result and literal.function in ("min", "max"):
                    yield from _sources(literal.body, literal.argument)


def _entries(
    schema: Mapping[str, Predicate], head: Column, sources: Sequence[Column], found: Datatypes
) -> Iterator[str | None]:
    """What one rule says of a column of its head, as far as anything is known yet."""
    name, place = head
    type_ = schema[name].columns[place].type
    native = [c for c in sources if schema[c[0]].columns[c[1]].type is type_]
    if not native:
        yield None  # the rule computes it, or its type is another
    known = {found[column] for column in native if column in found}
    if known:
        yield _common(known)


def _common(entries: Collection[str | None]) -> str | None:
    """The datatype of a column with values of these."""
    if len(entries) == 1:
        return next(iter(entries))
    zones = [zone_of(entry) for entry in entries]
    plain = {without_zone(entry) for entry in entries if entry}
    if len(plain) > 1 or not all(zones):
        return None
    zone = common_zone([zone for zone in zones if zone])
    return in_zone(plain.pop(), zone) if zone else None
