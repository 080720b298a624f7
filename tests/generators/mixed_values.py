"""Values for mixed and native columns: from small pools, so that they join."""

from __future__ import annotations

import datetime
import math
from contextlib import suppress
from decimal import Decimal
from random import Random

from generators.random_rules import chance
from support.mixed_terms import (
    XSD,
    Elsewhere,
    MixedValue,
    Term,
    meaning,
    narrowed,
    term_of,
)


def literal(form: str, datatype: str) -> str:
    return f'"{form}"^^<{XSD}{datatype}>'


D = datetime.datetime

POOLS: dict[str, tuple[MixedValue, ...]] = {
    "symbol": ("a", "b", "A", "C d", "", "É", "5", "true", "http://e/x", "urn:x", '"Haus"@de',
               '"5"^^<http://e/t>', "_:b1"),
    "int": (1, 2, 3, 5, 0, -2, 2**53, 2**53 + 1),
    "float": (1.0, 2.0, 0.5, 2.5, -0.0, -0.5, math.nan, math.inf, -math.inf, 2.0**53),
    "decimal": tuple(map(Decimal, ("5", "0.5", "2.50", "-2", "0.1", "3.75"))),
    "bool": (True, False),
    "date": (datetime.date(2026, 1, 31), datetime.date(2024, 2, 29), datetime.date(2026, 2, 1)),
    "timestamp": (D(2026, 1, 31), D(2026, 1, 31, 12), D(2026, 1, 31, 11, 0, 0, 500000)),
}  # fmt: skip

ZONED = (
    D(2026, 1, 31, 12, tzinfo=datetime.UTC),
    D(2026, 1, 31, 13, tzinfo=datetime.timezone(datetime.timedelta(hours=1))),
    D(2026, 1, 31, 11, 0, 0, 250000, datetime.timezone(datetime.timedelta(hours=-3, minutes=-30))),
)
"""Times with a zone, for mixed columns: a native column would have them in UTC."""

SUBJECTS = ("http://e/x", "urn:x", "http://e/z")

MARKS: dict[str, tuple[str, ...]] = {
    "int": ("long", "byte", "integer"),
    "float": ("float", "float", "double"),
    "timestamp": ("dateTimeZ", "dateTime+01:00", "dateTime+01:00", "dateTime-03:30",
                  "dateTimeStampZ", "dateTimeStamp+01:00", "dateTime"),
}  # fmt: skip
"""Which literals of RDF a native column may have (support/mixed_literals.py)."""

MARKED: dict[str, tuple[MixedValue, ...]] = {
    kind: tuple(v for v in POOLS[kind] if not (kind == "int" and abs(v) > 127)) for kind in MARKS
}


def written_as(value: object) -> tuple[str, ...]:
    """The marks of the literals as which rules may write a native value."""
    kind = {int: "int", float: "float", datetime.datetime: "timestamp"}.get(type(value))
    fits = not isinstance(value, int) or abs(value) <= 127
    marks = MARKS[kind] if kind else ()
    return tuple(
        mark for mark in marks if not mark.startswith("dateTimeStamp") and (fits or mark != "byte")
    )


LITERALS = (
    *(literal(form, "integer") for form in ("05", "5", "+2", "9007199254740993",
      "18446744073709551616", "-1", "1234567890123456789012345")),
    *(literal(form, name) for form, name in (
        ("5", "int"), ("2", "byte"), ("300", "byte"), ("x", "integer"), ("1", "positiveInteger"),
        ("5", "long"), ("-1", "unsignedInt"), ("0", "unsignedByte"),
    )),
    *(literal(form, "decimal") for form in ("5.0", "5", "2.50", "0.5", "-2.0", "0.1",
      "0.1234567890123456789012345678901234567890", "12345678901234567890.5", ".5", "1e3",
      "0.000000000000000001", "9007199254740993.5")),
    *(literal(form, "double") for form in ("5", "5.0", "5.0E0", "0.5", "-0.0", "NaN", "INF", "-INF",
      "1e300", "0.1", "y")),
    *(literal(form, "float") for form in ("2.5", "0.1", "1e39")),
    *(literal(form, "boolean") for form in ("true", "1", "0", "yes")),
    *(literal(form, "date") for form in ("2026-01-31", "2026-02-30")),
    *(literal(form, "dateTime") for form in ("2026-01-31T12:00:00", "2026-01-31T12:00:00Z",
      "2026-01-31T13:00:00+01:00", "2026-01-31T00:00:00", "2026-01-31T12:00:00.000", "noon",
      "2026-01-30T24:00:00", "2026-01-31T12:00:00.1234567", "0001-01-01T00:00:00+01:00")),
    '"5"^^<http://e/t>', '"Haus"@en', '"5"@de', "_:b2", "http://e/y", "9 m", "0x5",
)  # fmt: skip
"""Terms that only a column of symbols or a mixed one can hold: several spellings of one value."""


def stands_for(term: Term, type_: str) -> bool:
    """Whether a value of the type stands for this term alone."""
    if type_ == "symbol":
        return True
    with suppress(Elsewhere):
        return term_of(narrowed(term, type_)) == term
    return False


NATIVE = ("int", "decimal", "float", "bool", "date", "timestamp")


def spellings(term: MixedValue) -> list[MixedValue]:
    """A term, the native values that it is, and other literals of the same value."""
    found = [term]
    for type_ in NATIVE:
        with suppress(Elsewhere):
            found.append(narrowed(term, type_))
    if not isinstance(meaning(term), str):
        found += [Term(text) for text in LITERALS if meaning(Term(text)) == meaning(term)]
    return found


def random_value(rng: Random, kind: str) -> MixedValue:
    """A value for a column: of a mixed one, a native value, a symbol or a literal's text."""
    if kind == "any":
        if chance(rng, 50):
            return rng.choice(ZONED) if chance(rng, 10) else rng.choice(LITERALS)
        kind = rng.choice(("int", "int", "decimal", "float", "bool", "date", "timestamp", "symbol"))
    pool = POOLS[kind]
    return rng.choice(pool[:3] if chance(rng, 50) else pool)
