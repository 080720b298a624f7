"""Says why a property whose objects are numbers, moments or the like has become one of texts.

One object that is none, or that would lose something as one, is enough. The first is told with its
line: rules compare texts by their letters, 100 before 35 before 9, so this is no small matter.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from zodiac_sql.database.store import Store
from zodiac_sql.facts.load import literals, ntriples
from zodiac_sql.facts.load.ntriples import LineFile, Reading
from zodiac_sql.facts.load.properties import Property
from zodiac_sql.language.prefixed import prefixed
from zodiac_sql.language.symbols import XSD
from zodiac_sql.language.syntax import Type

MOST_TOLD = 5
"""Of so many properties of a file it is told one by one."""

_FIRST = """
SELECT row, o FROM (
    SELECT rowid + 1 AS row, o, zodiac_datatype(o) AS datatype,
           list_position($datatypes::VARCHAR[], zodiac_datatype(o)) AS place,
           zodiac_value(o, zodiac_datatype(o)) AS value
    FROM temp.zodiac_triple
    WHERE p = $term AND o <> '' AND s <> '' AND NOT zodiac_is_class(p, o)
) WHERE {condition} ORDER BY row LIMIT 1
"""

_OTHER = "place IS NULL AND $forms::VARCHAR[] IS NOT NULL"
_LOSSY = "NOT zodiac_fits(value, list_extract($forms::VARCHAR[], place))"
_OUT_OF_RANGE = (
    "$forms::VARCHAR[] IS NOT NULL AND (TRY_CAST(value AS HUGEINT) <"
    " list_extract($least::HUGEINT[], place)"
    " OR TRY_CAST(value AS HUGEINT) > list_extract($most::HUGEINT[], place))"
)
_ZONED = "$forms::VARCHAR[] IS NOT NULL AND zodiac_zoned(value)"


@dataclass(frozen=True, slots=True)
class _Family:
    """The datatypes with which most objects of a property could have been native."""

    type: Type
    datatypes: Sequence[str]

    @property
    def parameters(self) -> dict[str, object]:
        forms = {each: literals.form_of_free(each, self.type) for each in self.datatypes}
        forms = literals.beside_doubles(forms)
        return {"datatypes": list(forms), "forms": list(forms.values())}

    def __str__(self) -> str:
        return " and ".join(each.replace(XSD, "xsd:") for each in self.datatypes)


def notes(
    store: Store, file: LineFile, found: Sequence[Property], reading: Reading
) -> Iterator[str]:
    """A note for each of the first properties that fell back to text, and one for all others.

    It reads zodiac_triple, as it was read from the file.
    """
    fallen = [p for p in found if p.known is None and p.type is Type.SYMBOL and _family(p.kinds)]
    for property_ in fallen[:MOST_TOLD]:
        yield _note(store, file, property_, reading)
    if left := len(fallen) - MOST_TOLD:
        more = "1 more property is" if left == 1 else f"{left} more properties are"
        if left > 0:
            yield f"{file.name}: {more} kept as text, too"


def _family(kinds: Mapping[str, int]) -> _Family | None:
    families: dict[Type, dict[str, int]] = defaultdict(dict)
    for datatype, count in kinds.items():
        if (type_ := literals.TYPES.get(datatype)) is not None:
            families[type_][datatype] = count
    if Type.FLOAT in families:
        families[Type.FLOAT].update(families.pop(Type.INT, {}))
    if not families:
        return None
    type_ = max(families, key=lambda each: sum(families[each].values()))
    return _Family(type_, list(families[type_]))


def _note(store: Store, file: LineFile, property_: Property, reading: Reading) -> str:
    family = _family(property_.kinds)
    assert family is not None
    row, object_, why = _first_odd(store, property_, family)
    line = ntriples.line_of(file, row, reading)
    place = f"line {line} has" if line else "there is"
    object_ = prefixed(object_, {"xsd": XSD})
    shown = object_ if len(object_) <= _MOST_SHOWN else f"{object_[:_MOST_SHOWN]}..."
    return (
        f"{file.name}: the objects of {property_.name} are kept as text, because {place} "
        f"{shown}, {why}. Rules compare them by their letters; SPARQL, by "
        "their values."
    )


_MOST_SHOWN = 160


def _first_odd(store: Store, property_: Property, family: _Family) -> tuple[int, str, str]:
    """The row and the object of the first statement that stands in the way, and how it does."""
    given = {"term": property_.term, **family.parameters}
    if row := _first(store, _OTHER, given):
        return *row, f"and others are {family}"
    if row := _first(store, _LOSSY, given):
        return *row, f"which no {family.type} keeps"
    bounds = [literals.bounds(datatype) for datatype in family.datatypes]
    limits: dict[str, object] = {"least": [b[0] for b in bounds], "most": [b[1] for b in bounds]}
    if row := _first(store, _OUT_OF_RANGE, {**given, **limits}):
        return *row, "which is beyond the range of its datatype"
    row = _first(store, _ZONED, given)
    assert row is not None
    return *row, "and others have no time zone"


def _first(store: Store, condition: str, values: Mapping[str, object]) -> tuple[int, str] | None:
    rows = store.rows(_FIRST.format(condition=condition), dict(values))
    return (rows[0][0], rows[0][1]) if rows else None
