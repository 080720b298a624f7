"""Says where different literals of a file become one fact, because their values are equal.

    :a :v 1 , 1.0 , 1e0 .          "01"^^xsd:integer and 1          12:00Z and 14:00+02:00

One of two such literals is odd: it has another datatype than most objects of its property, or it
is spelled otherwise than values are written. Only the statements beside odd ones are compared.

Not looked for: decimals and doubles of one datatype that differ only in zeros or exponents, and
anything where the odd ones are many. Looking would take a good part of the time that loading takes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from zodiac_sql.database.statements import temp_table
from zodiac_sql.database.store import Store
from zodiac_sql.facts.load.properties import LoadedProperty
from zodiac_sql.facts.rdf_values import Literals
from zodiac_sql.facts.stage import scratch
from zodiac_sql.language.prefixed import prefixed
from zodiac_sql.language.symbols import XSD

MOST_ODD = 10_000
MOST_BESIDE = 100_000
"""With more odd literals in a file, or more statements beside them, none are compared."""

_USUAL = """
CREATE OR REPLACE TEMP TABLE zodiac_usual AS
SELECT unnest($term::VARCHAR[]) AS p, unnest($way::INTEGER[]) AS way,
       unnest($datatype::VARCHAR[]) AS datatype, unnest($form::VARCHAR[]) AS form,
       unnest($respelled::BOOLEAN[]) AS respelled
"""

_ODD = """
CREATE OR REPLACE TEMP TABLE zodiac_odd AS
SELECT p, s FROM (
    SELECT p, s, o, datatype, form, respelled, zodiac_value(o, datatype) AS value
    FROM temp.zodiac_triple JOIN temp.zodiac_usual USING (p)
    WHERE s <> '' AND o <> ''
)
WHERE NOT ends_with(o, '"^^<' || datatype || '>')
   OR (respelled AND (zodiac_respelled(value, form)
                      OR (form LIKE '%moment' AND NOT ends_with(value, 'Z'))))
LIMIT $most
"""

_BESIDE = """
CREATE OR REPLACE TEMP TABLE zodiac_beside AS
SELECT p, s, o, way FROM temp.zodiac_triple JOIN temp.zodiac_usual USING (p)
SEMI JOIN temp.zodiac_odd USING (p, s)
WHERE o <> ''
LIMIT $most
"""


def notes(store: Store, file: str, found: Sequence[LoadedProperty]) -> Iterator[str]:
    """A note for each property of which several statements become one fact.

    It reads zodiac_triple, as it was read from the file.
    """
    asked = [p for p in found if p.is_native and (len(p.forms) > 1 or p.respelled)]
    if not asked or sum(_odd_datatypes(p) for p in asked) > MOST_ODD:
        return
    ways = [Literals(p.type, p.forms, None) for p in asked]
    different = [way for place, way in enumerate(ways) if way not in ways[:place]]
    with scratch(store, "zodiac_usual", "zodiac_odd", "zodiac_beside"):
        usual = [_usual_datatype(property_) for property_ in asked]
        numbers = [different.index(way) for way in ways]
        store.run(
            _USUAL,
            {
                "term": [p.term for p in asked],
                "way": numbers,
                "datatype": usual,
                "form": [p.forms[datatype] for p, datatype in zip(asked, usual, strict=True)],
                "respelled": [p.respelled for p in asked],
            },
        )
        store.run(_ODD, {"most": MOST_ODD + 1})
        if not 0 < _count(store, "zodiac_odd") <= MOST_ODD:
            return
        store.run(_BESIDE, {"most": MOST_BESIDE + 1})
        if _count(store, "zodiac_beside") > MOST_BESIDE:
            return
        told: dict[str, tuple[int, str, str]] = {}
        for number, way in enumerate(different):
            told |= _told(store, number, way)
    for property_ in asked:
        if property_.term in told:
            yield _note(file, property_, *told[property_.term])


def _count(store: Store, table: str) -> int:
    counted = exp.select(exp.Count(this=exp.Star())).from_(temp_table(table))
    return int(store.rows(counted)[0][0])


def _usual_datatype(property_: LoadedProperty) -> str:
    return max(property_.forms, key=lambda datatype: property_.kinds[datatype])


def _odd_datatypes(property_: LoadedProperty) -> int:
    """How many objects are not of the usual datatype."""
    counts = [property_.kinds[datatype] for datatype in property_.forms]
    return sum(counts) - max(counts)


def _told(store: Store, number: int, way: Literals) -> dict[str, tuple[int, str, str]]:
    """For each property that is read in a way: how many facts have several literals, and two."""
    property_, subject, object_ = exp.column("p"), exp.column("s"), exp.column("o")
    statements = (
        exp.select(property_, subject, object_, way.value(object_).as_("value"))
        .from_(temp_table("zodiac_beside"))
        .where(exp.column("way").eq(exp.Literal.number(number)), way.fits(object_))
    )
    least, greatest = exp.func("min", exp.column("o")), exp.func("max", exp.column("o"))
    several = (
        exp.select(property_, least.as_("one"), greatest.as_("other"))
        .from_(statements.subquery("t"))
        .group_by(property_, subject, exp.column("value"))
        .having(least.copy() < greatest.copy())
    )
    counted = (
        exp.select(
            property_,
            exp.Count(this=exp.Star()),
            exp.func("min", exp.column("one")),
            exp.func("arg_min", exp.column("other"), exp.column("one"), dialect="duckdb"),
        )
        .from_(several.subquery("t"))
        .group_by(property_)
    )
    return {term: (count, one, other) for term, count, one, other in store.rows(counted)}


def _note(file: str, property_: LoadedProperty, count: int, *example: str) -> str:
    one, other = (prefixed(text, {"xsd": XSD}) for text in example)
    facts = "1 fact" if count == 1 else f"{count} facts"
    return (
        f"{file}: {facts} of {property_.name} stand{'s' if count == 1 else ''} for several "
        f"literals of the file, such as {one} and {other}: their values are equal"
    )
