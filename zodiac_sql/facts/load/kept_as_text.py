"""Says why a property whose objects are numbers, moments or the like has no native column.

One object that is none, or that would lose something as one, is enough. The first is told with its
line: computing with terms of all kinds takes longer than with native values.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from zodiac_sql.database.store import Store
from zodiac_sql.facts.load import literals, ntriples
from zodiac_sql.facts.load.ntriples import LineFile, TriplesReader
from zodiac_sql.facts.load.properties import Fallen, LoadedProperty
from zodiac_sql.language.decimals import widest_number
from zodiac_sql.language.prefixed import prefixed
from zodiac_sql.language.symbols import XSD
from zodiac_sql.language.syntax import Type

MOST_TOLD = 5
"""Of so many properties of a file it is told one by one."""

_OBJECTS = (
    "temp.zodiac_triple WHERE p = $term AND o <> '' AND s <> '' AND NOT zodiac_is_class(p, o)"
)

_OTHER = f"""
SELECT min(rowid) FROM {_OBJECTS} AND NOT list_contains($datatypes::VARCHAR[], zodiac_datatype(o))
"""

_FALLEN = f"""
SELECT min(row) FROM (
    SELECT rowid AS row, list_position($datatypes::VARCHAR[], zodiac_datatype(o)) AS place,
           zodiac_value(o, zodiac_datatype(o)) AS value
    FROM {_OBJECTS}
) WHERE CASE $why
    WHEN 'LOSSY' THEN NOT zodiac_fits(value, list_extract($forms::VARCHAR[], place))
    WHEN 'ZONED' THEN zodiac_zoned(value)
    ELSE TRY_CAST(value AS HUGEINT) < list_extract($least::HUGEINT[], place)
         OR TRY_CAST(value AS HUGEINT) > list_extract($most::HUGEINT[], place) END
"""


@dataclass(frozen=True, slots=True)
class _Family:
    """The datatypes with which most objects of a property could have been native."""

    type: Type
    datatypes: Sequence[str]

    @property
    def datatypes_and_forms(self) -> dict[str, object]:
        forms = {each: literals.form_of_written(each, self.type) for each in self.datatypes}
        return {"datatypes": list(forms), "forms": list(forms.values())}

    def __str__(self) -> str:
        return " and ".join(each.replace(XSD, "xsd:") for each in self.datatypes)


def notes(
    store: Store, file: LineFile, found: Sequence[LoadedProperty], reading: TriplesReader
) -> Iterator[str]:
    """A note for each of the first properties that are not native, and one for all others.

    It reads zodiac_triple, as it was read from the file.
    """
    fallen = [p for p in found if p.known is None and p.type is Type.ANY and _family(p.kinds)]
    for property_ in fallen[:MOST_TOLD]:
        yield _note(store, file, property_, reading)
    if left := len(fallen) - MOST_TOLD:
        more = "1 more property has" if left == 1 else f"{left} more properties have"
        if left > 0:
            yield f"{file.name}: {more} objects of the type any, too"


def _family(kinds: Mapping[str, int]) -> _Family | None:
    """The family of more than half of the objects, if there is one."""
    families: dict[Type, dict[str, int]] = defaultdict(dict)
    for datatype, count in kinds.items():
        if (type_ := literals.TYPES.get(datatype)) is not None:
            families[type_][datatype] = count
    numbers = {type_ for type_ in families if type_.numeric}
    if wide := widest_number(numbers):
        for narrow in numbers - {wide}:
            families[wide].update(families.pop(narrow))
    for type_, counts in families.items():
        if 2 * sum(counts.values()) > sum(kinds.values()):
            return _Family(type_, list(counts))
    return None


def _note(store: Store, file: LineFile, property_: LoadedProperty, reading: TriplesReader) -> str:
    family = _family(property_.kinds)
    assert family is not None
    said = f"{file.name}: the objects of {property_.name} have the type any"
    if len(property_.kinds) > 1 and not set(property_.kinds) - set(family.datatypes):
        return f"{said}: they are literals of {family}"
    row, object_, why = _first_odd(store, property_, family)
    line = ntriples.line_of(file, row, reading)
    place = f"line {line} has" if line else "there is"
    object_ = prefixed(object_, {"xsd": XSD})
    shown = object_ if len(object_) <= _MOST_SHOWN else f"{object_[:_MOST_SHOWN]}..."
    return f"{said}, because {place} {shown}, {why}"


_MOST_SHOWN = 160


def _first_odd(store: Store, property_: LoadedProperty, family: _Family) -> tuple[int, str, str]:
    """The row and the object of the first statement that stands in the way, and how it does."""
    if set(property_.kinds) - set(family.datatypes):
        given: dict[str, object] = {"term": property_.term, "datatypes": list(family.datatypes)}
        ((other,),) = store.rows(_OTHER, given)
        return *_shown(store, other), f"and others are {family}"
    assert property_.fallen is not None
    bounds = [literals.bounds(datatype) for datatype in family.datatypes]
    limits = {"least": [b[0] for b in bounds], "most": [b[1] for b in bounds]}
    given = {"term": property_.term, **family.datatypes_and_forms, **limits}
    ((row,),) = store.rows(_FALLEN, {**given, "why": property_.fallen.name})
    match property_.fallen:
        case Fallen.LOSSY:
            why = f"which a column of the type {family.type} does not write so"
        case Fallen.OUT_OF_RANGE:
            why = "which is beyond the range of its datatype"
        case Fallen.ZONED:
            why = "and others have another time zone, or none"
    return *_shown(store, row), why


def _shown(store: Store, rowid: int) -> tuple[int, str]:
    rows = store.rows("SELECT o FROM temp.zodiac_triple WHERE rowid = $rowid", {"rowid": rowid})
    return rowid + 1, rows[0][0]
