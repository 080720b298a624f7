"""The values that the dictionary keeps of literals: SQL, Python and the oracle read them alike."""

from __future__ import annotations

import math
from decimal import Decimal
from random import Random
from typing import Any

import duckdb
import pytest
from support import budget
from support.mixed_terms import XSD, Moment, Number, meaning_of

from zodiac_sql.database.term_values import (
    BOOL,
    DATE,
    DECIMAL,
    FLOAT,
    LOCAL,
    WHOLE,
    ZONED,
    value_of_term,
    with_values,
)

LITERALS = budget.either(ci=6_000, fuzz=20_000)

DATATYPES = (
    "integer", "long", "int", "short", "byte", "nonNegativeInteger", "positiveInteger",
    "nonPositiveInteger", "negativeInteger", "unsignedLong", "unsignedInt", "unsignedShort",
    "unsignedByte", "decimal", "double", "float", "boolean", "date", "dateTime", "dateTimeStamp",
    "time", "gYear", "anyURI", "Integer",
)  # fmt: skip

EDGES = (
    "0", "-0", "1", "true", "false", "TRUE", "", " ", "-", ".", "+", "5.", ".5", "-.5", "NaN",
    "nan",
    "INF", "+INF", "-INF", "inf", "Infinity", "1e5", "1E-5", "1e400", "-1e400", "1e-400", "0x10",
    "1_000", "٣", "127", "128", "-128", "-129", "255", "256", "32767", "32768", "65535", "65536",
    "2147483647", "2147483648", "-2147483648", "4294967295", "4294967296", "9223372036854775807",
    "+9223372036854775808", "+18446744073709551615", "18446744073709551616",
    "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "18446744073709551615",
    "99999999999999999999", "100000000000000000000", "0.000000000000000001",
    "0.0000000000000000001", "99999999999999999999.999999999999999999", "1.10", "3.4028235e38",
    "3.4028236e38", "1e39", "1e-46", "0.1", "2026-01-31", "2026-02-30", "2024-02-29", "2023-02-29",
    "0000-01-01", "0001-01-01", "9999-12-31", "10000-01-01", "-0001-01-01", "2026-1-1",
    "2026-01-31Z", "2026-01-31+01:00", "2026-01-31T12:00:00", "2026-01-31 12:00:00",
    "2026-01-31T12:00", "2026-01-31T24:00:00", "2026-01-31T24:00:00.0", "2026-01-31T24:00:01",
    "2026-01-31T12:60:00", "2026-01-31T12:00:60", "2026-01-31T12:00:00.5", "2026-01-31T12:00:00.",
    "2026-01-31T12:00:00.123456", "2026-01-31T12:00:00.1234567", "2026-01-31T12:00:00.1234560",
    "2026-01-31T12:00:00Z", "2026-01-31T12:00:00z", "2026-01-31T12:00:00+01:00",
    "2026-01-31T12:00:00-14:00", "2026-01-31T12:00:00+14:01", "2026-01-31T12:00:00+15:00",
    "2026-01-31T12:00:00+0100", "2026-01-31T24:00:00Z", "0001-01-01T00:00:00+01:00",
    "9999-12-31T23:59:59-01:00", "9999-12-31T24:00:00", "2026-01-31T12:00:00+01:60",
)  # fmt: skip


@pytest.mark.fuzz(share=2)
def test_sql_python_and_the_oracle_agree() -> None:
    rng = Random(budget.seed(5517))
    texts = sorted({_literal(rng) for _ in range(LITERALS)} | set(_others()))
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE symbol AS SELECT unnest(range(len($1))) AS id, unnest($1) AS text",
            [texts],
        )
        rows = connection.execute(with_values("SELECT id, text FROM symbol")).fetchall()
    found = {number: values for number, *values in rows}
    assert len(found) == len(rows)
    for number, text in enumerate(texts):
        values = found.get(number, [None] * 5)
        in_python = value_of_term(text) or (None,) * 5
        assert _compared(values) == _compared(in_python), text
        assert _worth(values) == _meant(text), text
    budget.tried("values of literals", len(texts))


def _literal(rng: Random) -> str:
    form = rng.choice(EDGES) if rng.random() < 0.6 else _drawn(rng)
    if rng.random() < 0.1:
        place = rng.randrange(len(form) + 1)
        form = form[:place] + rng.choice(" 0+-.eTZ:9a") + form[place + rng.randrange(2) :]
    return f'"{form}"^^<{XSD}{rng.choice(DATATYPES)}>'


def _drawn(rng: Random) -> str:
    digits = "".join(rng.choice("0123456789") for _ in range(rng.choice((1, 3, 19, 20, 21, 40))))
    what = rng.randrange(4)
    if what == 0:
        return rng.choice(("", "+", "-", "0", "-00")) + digits
    if what == 1:
        places = "".join(rng.choice("0123456789") for _ in range(rng.choice((1, 6, 18, 19, 40))))
        return f"{rng.choice(('', '-'))}{digits[:20]}.{places}{rng.choice(('', '000'))}"
    if what == 2:
        return f"{digits[:1]}.{digits[1:]}e{rng.randint(-330, 320)}"
    day = f"{rng.randint(0, 10000):04}-{rng.randint(0, 13):02}-{rng.randint(0, 32):02}"
    clock = f"{rng.randint(0, 25):02}:{rng.randint(0, 61):02}:{rng.randint(0, 61):02}"
    zone = f"{rng.choice('+-')}{rng.randint(0, 15):02}:{rng.choice((0, 30, 59)):02}"
    return f"{day}T{clock}{rng.choice(('', '.5', '.000001'))}{rng.choice(('', 'Z', zone))}"


def _others() -> list[str]:
    """Symbols that are no literals of XML Schema."""
    return [
        "5", "a", "", "http://e/5", "_:b1", '"5"@en', '"5"', f'"5"^^<{XSD}>', '"5"^^<http://e/integer>',
        f'"5"^^<{XSD}integer', f'x"5"^^<{XSD}integer>',
        f'"a"b"^^<{XSD}integer>', f'"5"^^<{XSD}integer>"^^<{XSD}integer>',
        f'"5"^^<{XSD.replace(".", "x")}integer>',
    ]  # fmt: skip


def _compared(values: Any) -> tuple[object, ...]:
    """Values that can be compared: there is one NaN, and no -0.0 equals 0.0."""
    return tuple(repr(v) if isinstance(v, float) else v for v in values)


def _worth(values: Any) -> object:
    """What the values of a symbol say, as the oracle has it; None for other terms."""
    sort, exact, number, moment, truth = values
    if sort in (WHOLE, DECIMAL, FLOAT):
        kind = {WHOLE: "integer", DECIMAL: "decimal", FLOAT: "double"}[sort]
        return kind, None if exact is None else Decimal(exact), _nan(number)
    if sort == BOOL:
        return truth
    return sort and ({DATE: "date", LOCAL: "local", ZONED: "zoned"}[sort], moment)


def _meant(text: str) -> object:
    found = meaning_of(text)
    if isinstance(found, Number):
        return found.kind, found.exact, _nan(found.double)
    if isinstance(found, Moment):
        return found.kind, found.when
    return found if isinstance(found, bool) else None


def _nan(number: float) -> object:
    return "NaN" if math.isnan(number) else number
