"""The properties and classes of a file, and the type that each object column gets."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, auto

from zodiac_sql.database.store import Store
from zodiac_sql.errors import DataError
from zodiac_sql.facts.columns import clash
from zodiac_sql.facts.load import literals
from zodiac_sql.facts.native_text import datatype_of
from zodiac_sql.language.schema import Predicate, default_columns
from zodiac_sql.language.syntax import Column, Type
from zodiac_sql.language.urns import predicate_name
from zodiac_sql.language.zones import common_zone, is_zoned, united, without_zone, zone_of

MACROS = r"""
CREATE OR REPLACE TEMP MACRO zodiac_is_class(p, o) AS
    p = '<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>' AND starts_with(o, '<');

-- What zodiac_triple holds without comments and bad lines; term is the property or the class.
CREATE OR REPLACE TEMP MACRO zodiac_statements() AS TABLE
    SELECT s, o, zodiac_is_class(p, o) AS class,
           CASE WHEN zodiac_is_class(p, o) THEN o ELSE p END AS term,
           zodiac_datatype(o) AS datatype
    FROM temp.zodiac_triple WHERE s <> '' AND p <> '' AND o <> '';
"""

MISFIT = """
p = $term AND NOT zodiac_is_class(p, o) AND NOT zodiac_fits(
    zodiac_value(o, zodiac_datatype(o)),
    list_extract($forms::VARCHAR[], list_position($datatypes::VARCHAR[], zodiac_datatype(o))))
"""
"""The condition on s, p, o of a statement whose object does not fit."""


class Fallen(Enum):
    """Why literals of one family cannot be native values."""

    LOSSY = auto()
    OUT_OF_RANGE = auto()
    ZONED = auto()
    """Moments have several time zones, or some have none."""


@dataclass(frozen=True, slots=True)
class LoadedProperty:
    """A property or class of a file, and the predicate that it becomes.

    `kinds` counts its objects by datatype (or 'node', 'text'). `forms` has the form that a literal
    of a datatype must have to enter a native column. `misfits` counts objects without it.
    `respelled` tells that a value may be written in several ways. `fallen` tells why the column is
    not native, although all objects are literals of one datatype. `moved` tells that moments are
    written in UTC, and not in the zone in which the file has them.
    """

    number: int
    name: str
    term: str
    class_: bool
    kinds: Mapping[str, int]
    known: Predicate | None
    type: Type = Type.SYMBOL
    forms: Mapping[str, str] = field(default_factory=dict)
    datatype: str | None = None
    misfits: int = 0
    respelled: bool = False
    fallen: Fallen | None = None
    moved: bool = False
    enters: bool = True
    """Whether its statements are to be inserted: others may be none that its column can hold."""

    @property
    def arity(self) -> int:
        return 1 if self.class_ else 2

    @property
    def known_type(self) -> Type | None:
        """The type that the object column has, and keeps whatever its objects are."""
        if self.known is None or self.class_:
            return None
        type_ = self.known.columns[1].meant
        keeps = self.known.declared or not self.enters or type_ is Type.ANY
        return type_ if keeps else None

    @property
    def is_strict(self) -> bool:
        """Whether objects that its column cannot hold are refused."""
        return self.known is not None and self.known.declared

    @property
    def is_native(self) -> bool:
        """Whether its objects become native values."""
        return self.type not in (Type.SYMBOL, Type.ANY)

    @property
    def columns(self) -> tuple[Column, ...]:
        names = default_columns(self.arity)
        if self.known is not None:
            names = tuple(column.name for column in self.known.columns)
        types = (Type.SYMBOL, self.type)
        return tuple(Column(name, type_) for name, type_ in zip(names, types, strict=False))


def profiled(
    store: Store, file: str, known: Mapping[str, Predicate], enters: bool
) -> list[LoadedProperty]:
    """All properties and classes of zodiac_triple, each with its type.

    Creates the temporary tables zodiac_key and zodiac_form, from which the facts are made. Raises
    DataError if the file contradicts itself or what is known of a predicate.
    """
    found = _counted(store, known, enters)
    _check_arities(file, found)
    found = [_with_forms(property_) for property_ in found]
    _create_forms(store, found)
    fits = _fitting(store) if any(property_.forms for property_ in found) else {}
    found = [_decided(property_, fits) for property_ in found]
    store.run(
        "CREATE OR REPLACE TEMP TABLE zodiac_key AS SELECT unnest($term::VARCHAR[]) AS term,"
        " unnest($class::BOOLEAN[]) AS class, unnest($number::INTEGER[]) AS number,"
        " unnest($symbolic::BOOLEAN[]) AS symbolic, unnest($native::BOOLEAN[]) AS native,"
        " unnest($doubtful::BOOLEAN[]) AS doubtful",
        {
            "term": [p.term for p in found],
            "class": [p.class_ for p in found],
            "number": [p.number for p in found],
            "symbolic": [not p.class_ and not p.is_native for p in found],
            "native": [p.is_native for p in found],
            "doubtful": [p.misfits > 0 for p in found],
        },
    )
    return found


def _counted(store: Store, known: Mapping[str, Predicate], enters: bool) -> list[LoadedProperty]:
    rows = store.rows(
        "SELECT term, class, CASE WHEN class THEN '' ELSE datatype END AS kind, count(*)"
        " FROM zodiac_statements() GROUP BY ALL ORDER BY ALL"
    )
    kinds: dict[tuple[str, bool], dict[str, int]] = {}
    for term, class_, kind, count in rows:
        kinds.setdefault((term, class_), {})[kind] = count
    found = []
    for number, ((term, class_), counts) in enumerate(kinds.items()):
        name = predicate_name(term[1:-1])
        there = known.get(name)
        found.append(LoadedProperty(number, name, term, class_, counts, there, enters=enters))
    return found


def _check_arities(file: str, found: list[LoadedProperty]) -> None:
    both = {p.name for p in found if p.class_} & {p.name for p in found if not p.class_}
    if both:
        raise DataError(
            f"{file}: {min(both)} is used both as a class and as a property. A predicate has one "
            "arity: rename one of the two. Nothing was loaded."
        )
    for property_ in found:
        if property_.known is None:
            continue
        if property_.arity != property_.known.arity:
            noun = "a class (1 column)" if property_.class_ else "a property (2 columns)"
            raise DataError(
                f"{file}: {property_.name} is {noun} there, but has {property_.known.arity} "
                "columns here. Nothing was loaded."
            )
        subject = property_.known.columns[0]
        if property_.is_strict and subject.meant not in (None, Type.SYMBOL, Type.ANY):
            said = clash(property_.name, subject, Type.SYMBOL)
            raise DataError(f"{file}: {said} Nothing was loaded.")


def _with_forms(property_: LoadedProperty) -> LoadedProperty:
    """The property with the type that its column has or could have, and the forms of literals."""
    known_type = property_.known_type
    if property_.class_ or known_type is Type.SYMBOL:
        return property_
    if known_type is Type.ANY:
        return replace(property_, type=Type.ANY)
    if known_type is not None:
        assert property_.known is not None
        before = property_.known.datatypes[1]
        forms: Mapping[str, str | None]
        if property_.is_strict:
            forms = {d: literals.form_of_known(d, known_type, before) for d in property_.kinds}
        else:
            forms = _forms_there(property_.kinds, known_type, before)
        kept = {d: form for d, form in forms.items() if form}
        return replace(property_, type=known_type, forms=kept)
    type_ = literals.common_type(property_.kinds)
    if type_ in (Type.SYMBOL, Type.ANY):
        return replace(property_, type=type_)
    forms_free = {d: literals.form_of_written(d, type_) for d in property_.kinds}
    return replace(property_, type=type_, forms=forms_free)


def _forms_there(
    datatypes: Collection[str], type_: Type, before: str | None
) -> Mapping[str, str | None]:
    """The forms of literals that a native column which nobody declared may have."""
    own = without_zone(datatype_of(type_, before))
    zoned = {"written moment": "written zoned moment" if is_zoned(before) else "written local"}
    forms = {d: literals.form_of_written(d, type_) for d in datatypes if d == own}
    return {d: zoned.get(form, form) for d, form in forms.items()}


def _create_forms(store: Store, found: list[LoadedProperty]) -> None:
    triples = [(p.term, datatype, form) for p in found for datatype, form in p.forms.items()]
    store.run(
        "CREATE OR REPLACE TEMP TABLE zodiac_form AS SELECT unnest($term::VARCHAR[]) AS term,"
        " unnest($datatype::VARCHAR[]) AS datatype, unnest($form::VARCHAR[]) AS form",
        {
            "term": [term for term, _, _ in triples],
            "datatype": [datatype for _, datatype, _ in triples],
            "form": [form for _, _, form in triples],
        },
    )


@dataclass(frozen=True, slots=True)
class _Fitting:
    """How many literals of one property and datatype fit, and what else matters for the type."""

    count: int
    low: int | None
    high: int | None
    zoned: int
    first_zone: str | None
    last_zone: str | None
    respelled: bool

    @property
    def zones(self) -> set[str]:
        """The least and the greatest zone of moments."""
        return {zone for zone in (self.first_zone, self.last_zone) if zone}


def _fitting(store: Store) -> dict[tuple[str, str], _Fitting]:
    rows = store.rows(
        "SELECT term, datatype, count_if(zodiac_fits(value, form)),"
        " min(TRY_CAST(value AS BIGINT)) FILTER (form IN ('integer', 'written integer')),"
        " max(TRY_CAST(value AS BIGINT)) FILTER (form IN ('integer', 'written integer')),"
        " count_if(form LIKE '%moment' AND zodiac_zoned(value)), min(zone), max(zone),"
        " coalesce(min(zone) < max(zone) OR bool_or(zodiac_respelled(value, form))"
        " AND (min(zone) IS NULL OR min(strlen(value)) < max(strlen(value))), false)"
        " FROM (SELECT *, CASE WHEN form LIKE '%moment' THEN zodiac_offset(value) END AS zone"
        " FROM (SELECT term, datatype, form, zodiac_value(o, datatype) AS value"
        " FROM zodiac_statements() JOIN temp.zodiac_form USING (term, datatype) WHERE NOT class))"
        " GROUP BY ALL"
    )
    return {(term, datatype): _Fitting(*counts) for term, datatype, *counts in rows}


def _decided(property_: LoadedProperty, fits: Mapping[tuple[str, str], _Fitting]) -> LoadedProperty:
    """The property with its final type: native if all fit, or if the predicate keeps its type."""
    if not property_.is_native:
        return property_
    found = {d: fits[property_.term, d] for d in property_.forms}
    total = sum(property_.kinds.values())
    misfits = total - sum(fitting.count for fitting in found.values())
    zoned = sum(fitting.zoned for fitting in found.values())
    zones = set().union(*(fitting.zones for fitting in found.values()))
    if property_.known_type is None:
        bounded = all(literals.within_bounds(d, f.low, f.high) for d, f in found.items())
        if misfits or not bounded or zoned not in (0, total) or len(zones) > 1:
            why = Fallen.LOSSY if misfits else Fallen.ZONED if bounded else Fallen.OUT_OF_RANGE
            return replace(property_, type=Type.ANY, forms={}, fallen=why)
    zone = common_zone(zones)
    before = property_.known.datatypes[1] if property_.known and property_.known_type else None
    datatype = united(before, literals.common_datatype(property_.forms, property_.type, zone))
    return replace(
        property_,
        datatype=datatype,
        misfits=misfits,
        respelled=any(fitting.respelled for fitting in found.values()),
        moved=zone_of(datatype) == "Z" and _have_offset({*zones, zone_of(before)}),
    )


def _have_offset(zones: Collection[str | None]) -> bool:
    return any(zone not in ("Z", None) for zone in zones)
