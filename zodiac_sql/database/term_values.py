"""The values of terms, which the dictionary keeps in a table of their own.

So SQL compares terms of a mixed column, and computes with them, without parsing any text. Only a
literal with a datatype that has native values has one:

    number   of numbers; `exact` too where it is an integer or a decimal that DECIMAL(38, 18) holds
    moment   of dates and times: when a date begins; in UTC where there is a time zone
    truth    of booleans

`sort` says what the value is. An xsd:float is the number as which it is written, as in native
columns: it is not rounded to 32 bits, so 0.1 is one number in all datatypes. IRIs, blank nodes, and
texts have no row there, and neither have literals that are not written as their datatype asks for.
"""

from __future__ import annotations

import datetime
import decimal
import re
from collections.abc import Iterable

from zodiac_sql.language.datatypes import INTEGER_BOUNDS, float_of, value_of
from zodiac_sql.language.decimals import NUMBER
from zodiac_sql.language.symbols import XSD

WHOLE, DECIMAL, FLOAT, BOOL, DATE, LOCAL, ZONED = range(1, 8)
"""What the column `sort` holds: LOCAL and ZONED are times without and with a time zone."""

EXACT_TYPE = "DECIMAL(38, 18)"
"""The type of exact numbers."""

VALUE_COLUMNS = ("sort", "exact", "number", "moment", "truth")


def with_values(rows: str) -> str:
    """A query of (id, sort, exact, number, moment, truth) for one of (id, text).

    It has only the symbols that have a value.

    It is text, and so is what it is given: constants of this package, without anything of a user.
    No regular expression takes a literal apart: that was two thirds of the time.
    """
    return (
        f"SELECT id, sort, {_EXACT} AS exact, {_NUMBER} AS number,"
        f" {_MOMENT_OF_SORT} AS moment, {_TRUTH} AS truth"
        f" FROM (SELECT id, d, f, ({_SORT})::TINYINT AS sort"
        f" FROM (SELECT id, {_DATATYPE} AS d, {_FORM} AS f"
        f" FROM (SELECT id, text, {_MIDDLE} AS middle FROM ({rows}) AS r) AS m"
        " WHERE middle IS NOT NULL) AS q) AS s WHERE sort IS NOT NULL"
    )


# Where the form of a literal ends, and the name of its datatype begins after so many characters.
_BETWEEN = f'"^^<{XSD}'
_MIDDLE = (
    "CASE WHEN starts_with(text, '\"') AND ends_with(text, '>')"
    f" THEN nullif(strpos(text, '{_BETWEEN}'), 0) END"
)
_FORM = "trim(substr(text, 2, middle - 2))"
_DATATYPE = f"substr(text, middle + {len(_BETWEEN)}, length(text) - middle - {len(_BETWEEN)})"


def _listed(names: Iterable[str]) -> str:
    return "(" + ", ".join(f"'{name}'" for name in names) + ")"


def _bounds() -> str:
    """Whether an integer is one of the values of its datatype."""
    cases = []
    for name, (least, most) in INTEGER_BOUNDS.items():
        limits = [f"f::HUGEINT >= {least}"] if least is not None else []
        limits += [f"f::HUGEINT <= {most}"] if most is not None else []
        if limits:
            cases.append(f"WHEN '{name}' THEN {' AND '.join(limits)}")
    return f"CASE d {' '.join(cases)} ELSE true END"


def _is_large() -> str:
    """Whether an integer beyond 64 bits is one of the values of its datatype."""
    below, above = (_listed(names) for names in (_WITHOUT_LEAST, _WITHOUT_MOST))
    return (
        f"CASE WHEN starts_with(f, '-') THEN d IN {below}"
        f" ELSE d IN {above} OR (d = 'unsignedLong' AND TRY_CAST(f AS UBIGINT) IS NOT NULL) END"
    )


# xsd:long has 64 bits, and xsd:unsignedLong has them without a sign.
_ENDLESS = {name: INTEGER_BOUNDS[name] for name in INTEGER_BOUNDS if not name.endswith("ong")}
_WITHOUT_LEAST = [name for name, (least, _) in _ENDLESS.items() if least is None]
_WITHOUT_MOST = [name for name, (_, most) in _ENDLESS.items() if most is None]

_PLAIN = "[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)"
_SPECIAL = "CASE f WHEN 'INF' THEN 'inf' WHEN '+INF' THEN 'inf' WHEN '-INF' THEN '-inf' ELSE f END"
_IS_DOUBLE = f"regexp_full_match(f, '{_PLAIN}([eE][+-]?[0-9]+)?|[+-]?INF|NaN')"
_IS_MOMENT = (
    "regexp_full_match(f, '[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,6}0*)?"
    "(Z|[+-](0[0-9]|1[0-3]):[0-5][0-9]|[+-]14:00)?') AND NOT starts_with(f, '0000')"
)
_IS_ZONED = "regexp_matches(f, '(Z|[+-][0-9]{2}:[0-9]{2})$')"


def _is_known(moment: str) -> str:
    """Whether a moment is in the calendar of Python: from the year 1 to 9999, in UTC if zoned."""
    return f"epoch_us({moment}) BETWEEN -62135596800000000 AND 253402300799999999"


_SORT = (
    f"CASE WHEN d IN {_listed(INTEGER_BOUNDS)} THEN CASE"
    " WHEN NOT regexp_full_match(f, '[+-]?[0-9]+') THEN NULL"
    f" WHEN TRY_CAST(f AS BIGINT) IS NOT NULL THEN CASE WHEN {_bounds()} THEN {WHOLE} END"
    f" WHEN {_is_large()} THEN {DECIMAL} END"
    f" WHEN d = 'decimal' THEN CASE WHEN regexp_full_match(f, '{_PLAIN}') THEN {DECIMAL} END"
    f" WHEN d IN ('double', 'float') THEN CASE WHEN {_IS_DOUBLE} THEN {FLOAT} END"
    f" WHEN d = 'boolean' THEN CASE WHEN f IN ('true', 'false', '1', '0') THEN {BOOL} END"
    f" WHEN d = 'date' THEN CASE WHEN regexp_full_match(f, '[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}')"
    f" AND NOT starts_with(f, '0000') AND TRY_CAST(f AS DATE) IS NOT NULL THEN {DATE} END"
    f" WHEN d IN ('dateTime', 'dateTimeStamp') AND {_IS_MOMENT} THEN CASE WHEN {_IS_ZONED}"
    f" THEN CASE WHEN {_is_known('TRY_CAST(f AS TIMESTAMPTZ)')} THEN {ZONED} END"
    f" WHEN {_is_known('TRY_CAST(f AS TIMESTAMP)')} AND d = 'dateTime' THEN {LOCAL} END END"
)
# An integer or decimal is exact if nothing of it is cut off; 20 digits stand before its point.
_EXACT = (
    f"CASE WHEN sort <= {DECIMAL} AND regexp_full_match(f, '[+-]?[0-9]*([.][0-9]{{0,18}}0*)?')"
    f" THEN TRY_CAST(f AS {EXACT_TYPE}) END"
)
_NUMBER = (
    f"CASE WHEN sort <= {DECIMAL} THEN f::DOUBLE + 0.0"
    f" WHEN sort = {FLOAT} THEN ({_SPECIAL})::DOUBLE + 0.0 END"
)
_MOMENT_OF_SORT = (
    f"CASE sort WHEN {DATE} THEN f::DATE::TIMESTAMP WHEN {LOCAL} THEN f::TIMESTAMP"
    f" WHEN {ZONED} THEN make_timestamp(epoch_us(f::TIMESTAMPTZ)) END"
)
_TRUTH = f"CASE WHEN sort = {BOOL} THEN f IN ('true', '1') END"

VALUE_OF_MACROS = (
    f"CREATE TEMP MACRO zodiac_literal(text, middle) AS {{'d': {_DATATYPE}, 'f': {_FORM}}}",
    (f"CREATE TEMP MACRO zodiac_sorted(d, f) AS {{'d': d, 'f': f, 'sort': ({_SORT})::TINYINT}}"),
    (
        "CREATE TEMP MACRO zodiac_literal_value(d, f, sort) AS CASE WHEN sort IS NOT NULL THEN"
        f" {{'sort': sort, 'exact': {_EXACT}, 'number': {_NUMBER}, 'moment': {_MOMENT_OF_SORT},"
        f" 'truth': {_TRUTH}}} END"
    ),
    f"CREATE TEMP MACRO zodiac_middle(text) AS {_MIDDLE}",
    (
        "CREATE TEMP MACRO zodiac_value_of(t) AS list_extract(list_transform(list_transform("
        "list_transform([t], lambda x: zodiac_literal(x, zodiac_middle(x))),"
        " lambda p: zodiac_sorted(p.d, p.f)),"
        " lambda v: zodiac_literal_value(v.d, v.f, v.sort)), 1)"
    ),
)
"""The value of a text, as a struct, for an engine without a dictionary."""


TermValue = tuple[int, decimal.Decimal | None, float | None, datetime.datetime | None, bool | None]
"""The values of a symbol in the VALUE_COLUMNS."""

_TERM = re.compile(rf'"(.*)"\^\^<{re.escape(XSD)}([A-Za-z]+)>', re.DOTALL)


def value_of_term(text: str) -> TermValue | None:
    """The value of the symbol with a text, as `with_values` has it; None if there is none."""
    found = _TERM.fullmatch(text) if text.startswith('"') else None
    if found is None:
        return None
    form, datatype = found[1].strip(" "), found[2]
    try:
        return _value(form, datatype)
    except (KeyError, ValueError, OverflowError):
        return None


def _value(form: str, datatype: str) -> TermValue | None:
    """The value of a literal. Raises errors if it is not written as its datatype asks for."""
    match datatype:
        case "decimal":
            if not re.fullmatch(NUMBER, form):
                return None
            return DECIMAL, _exact(form), float_of(form), None, None
        case "double" | "float":
            return FLOAT, None, value_of(datatype, form), None, None
        case "boolean":
            return BOOL, None, None, None, value_of(datatype, form)
        case "date":
            day = value_of(datatype, form)
            return DATE, None, None, datetime.datetime.combine(day, datetime.time()), None
        case "dateTime" | "dateTimeStamp":
            return _moment(form, datatype)
    number = value_of(datatype, form)
    if -(2**63) <= number < 2**63:
        return WHOLE, _exact(form), float(number), None, None
    is_long = datatype == "long" or (datatype == "unsignedLong" and number >= 2**64)
    return None if is_long else (DECIMAL, _exact(form), float(form), None, None)


def _exact(form: str) -> decimal.Decimal | None:
    """A number if nothing of it is cut off in DECIMAL(38, 18)."""
    before, _, after = form.lstrip("+-").partition(".")
    if len(before.lstrip("0")) > 20 or len(after.rstrip("0")) > 18:
        return None
    return decimal.Decimal(form)


_MOMENT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6}0*)?"
    r"(Z|[+-](0[0-9]|1[0-3]):[0-5][0-9]|[+-]14:00)?"
)


def _moment(form: str, datatype: str) -> TermValue | None:
    found = _MOMENT.fullmatch(form)
    if not found or form.startswith("0000") or (datatype == "dateTimeStamp" and not found[2]):
        return None
    day, _, clock = form.partition("T")
    ends = clock.startswith("24:00:00")  # the end of a day is the begin of the next
    moment = datetime.datetime.fromisoformat(f"{day}T00{clock[2:]}" if ends else form)
    moment += datetime.timedelta(days=int(ends))
    if moment.tzinfo:
        moment = moment.astimezone(datetime.UTC).replace(tzinfo=None)
    return ZONED if found[2] else LOCAL, None, None, moment, None
