"""Says where different literals of a file become one fact, because their values are equal.

    :a :v 1 , 1.0 , 1e0 .          "01"^^xsd:integer and 1          12:00Z and 14:00+02:00

Not looked for: decimals and doubles of one datatype that differ only in zeros or exponents. Many
files have such, and looking would take a good part of the time that loading takes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from zodiac_sql.database.statements import parameter, temp_table
from zodiac_sql.database.store import Store
from zodiac_sql.facts.load.properties import Property
from zodiac_sql.facts.rdf_values import Literals
from zodiac_sql.language.prefixed import prefixed
from zodiac_sql.language.symbols import XSD
from zodiac_sql.language.syntax import Type


def notes(store: Store, file: str, found: Sequence[Property]) -> Iterator[str]:
    """A note for each property of which several statements become one fact.

    It reads zodiac_triple, as it was read from the file.
    """
    for property_ in found:
        if property_.type is not Type.SYMBOL and (len(property_.forms) > 1 or property_.respelled):
            yield from _notes(store, file, property_)


def _notes(store: Store, file: str, property_: Property) -> Iterator[str]:
    way = Literals(property_.type, property_.forms, None)
    object_, subject = exp.column("o"), exp.column("s")
    statements = (
        exp.select(subject, object_.as_("o"), way.value(object_).as_("value"))
        .from_(temp_table("zodiac_triple"))
        .where(exp.column("p").eq(parameter("term")), way.fits(object_))
    )
    least, greatest = exp.func("min", exp.column("o")), exp.func("max", exp.column("o"))
    several = (
        exp.select(least.as_("one"), greatest.as_("other"))
        .from_(statements.subquery("t"))
        .group_by(exp.column("s"), exp.column("value"))
        .having(least.copy() < greatest.copy())
    )
    counted = exp.select(
        exp.Count(this=exp.Star()),
        exp.func("min", exp.column("one")),
        exp.func("arg_min", exp.column("other"), exp.column("one"), dialect="duckdb"),
    ).from_(several.subquery("t"))
    ((count, *example),) = store.rows(counted, {"term": property_.term})
    if count:
        one, other = (prefixed(text, {"xsd": XSD}) for text in example)
        facts = "1 fact" if count == 1 else f"{count} facts"
        yield (
            f"{file}: {facts} of {property_.name} stand{'s' if count == 1 else ''} for several "
            f"literals of the file, such as {one} and {other}: their values are equal"
        )
