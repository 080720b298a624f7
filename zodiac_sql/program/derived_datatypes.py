"""The RDF datatypes of what rules derive in native columns, where they only pass values on.

A native column of an explicit predicate keeps what its literals were (Predicate.datatypes): floats
of xsd:float, or times that are written with a Z. If a rule passes such values on, as one for a
subproperty does, they are the same literals in its head: in exports, triples and SPARQL.

What rules compute has the datatype of its type, and so has a column that gets values of several
datatypes; times of several zones are in UTC.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from zodiac_sql.language.datatypes import datatype_of_constant
from zodiac_sql.language.passed_on import Datatypes, Source, common_datatype, sources_of_term
from zodiac_sql.language.schema import Predicate, Schema
from zodiac_sql.language.symbols import XSD
from zodiac_sql.language.syntax import Constant, Rule, Type
from zodiac_sql.program.state import State, StoredRule, parsed_rules

Column = tuple[str, int]
"""A predicate, and the place of a column."""

Entries = dict[Column, str | None]
"""The entry of each column of which something is known."""

_PLAIN = {
    Type.INT: f"{XSD}integer", Type.DECIMAL: f"{XSD}decimal", Type.FLOAT: f"{XSD}double",
    Type.BOOL: f"{XSD}boolean", Type.DATE: f"{XSD}date", Type.TIMESTAMP: f"{XSD}dateTime",
}  # fmt: skip
"""What native types stand for by themselves."""


def with_datatypes(state: State) -> Mapping[str, Predicate]:
    """The predicates of a state, with the datatypes of what rules derive."""
    has_any = _has_datatypes(state.schema, state.rules)
    return _found_in(_Same(state)) if has_any else state.schema


def datatypes_in(state: State) -> Datatypes:
    """The entries of the columns of a state whose literals are not those of their types."""

    def find() -> Datatypes:
        return _entries_of(with_datatypes(state))

    return state.once("datatypes", find)


def differing(before: Datatypes, after: Datatypes) -> set[str]:
    """The predicates whose columns have other entries."""
    return {name for name in {*before, *after} if before.get(name) != after.get(name)}


def datatypes_after(schema: Schema, rules: Sequence[Rule]) -> Datatypes:
    """The same of a program that is no state yet."""
    return _entries_of(_found(schema, rules)) if _has_datatypes(schema, rules) else {}


def _has_datatypes(schema: Schema, rules: Iterable[Rule | StoredRule]) -> bool:
    """Whether columns or constants may have datatypes that are not those of their types."""
    of_columns = (_entries_told(known) for known in schema.values() if any(known.datatypes))
    return any(map(any, of_columns)) or any(_TYPED in rule.text for rule in rules)


_TYPED = '"^^'
"""What stands between the text and the datatype of a literal in a rule."""


def _entries_of(schema: Schema) -> Datatypes:
    found = {n: _entries_told(known) for n, known in schema.items() if any(known.datatypes)}
    return {name: entries for name, entries in found.items() if any(entries)}


def _entries_told(known: Predicate) -> tuple[str | None, ...]:
    """The entries of native columns whose literals are not those of their types."""
    return tuple(
        datatype if column.type in _PLAIN and datatype != _PLAIN[column.type] else None
        for column, datatype in zip(known.columns, known.datatypes, strict=True)
    )


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
def _found_in(same: _Same) -> Mapping[str, Predicate]:
    return _found(same.state.schema, parsed_rules(same.state))


def _found(schema: Schema, rules: Iterable[Rule]) -> Mapping[str, Predicate]:
    stated: Entries = {
        (name, place): datatype
        for name, known in schema.items()
        for place, datatype in enumerate(known.datatypes)
        if known.settled[place] is not None
    }
    passed_on: dict[Column, list[list[Source]]] = defaultdict(list)
    for rule in rules:
        for place, term in enumerate(rule.head.terms):
            head = (rule.head.predicate, place)
            if head not in stated and _is_native(schema, head):
                sources = sources_of_term(rule.body, term)
                known = (s for s in sources if isinstance(s, Constant) or s[0] in schema)
                passed_on[head].append(list(known))
    found = dict(stated)
    while True:
        derived = {
            head: common_datatype(entries)
            for head, each in passed_on.items()
            if (entries := {e for some in each for e in _entries(schema, head, some, found)})
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


def _entries(
    schema: Mapping[str, Predicate], head: Column, sources: Sequence[Source], found: Entries
) -> Iterator[str | None]:
    """What one rule says of a column of its head, as far as anything is known yet."""
    name, place = head
    type_ = schema[name].columns[place].type
    written = [s for s in sources if isinstance(s, Constant) and s.type is type_]
    constants = {datatype_of_constant(constant) for constant in written}
    columns = [s for s in sources if not isinstance(s, Constant)]
    native = [c for c in columns if schema[c[0]].columns[c[1]].type is type_]
    if not (native or constants):
        yield None  # the rule computes it, or its type is another
    known = {found[column] for column in native if column in found} | constants
    if known:
        yield common_datatype(known)
