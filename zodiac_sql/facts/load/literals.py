"""Which RDF literals become native values, and of which type.

The object column of a property is native if every object is a literal of one datatype below, and is
written as the native column writes its value:

    INT        xsd:integer and what is derived from it, within 64 bits and the datatype's own range
    DECIMAL    xsd:decimal with at most 20 digits before the point and 18 after it
    FLOAT      xsd:double, xsd:float
    BOOL       xsd:boolean
    DATE       xsd:date without a time zone
    TIMESTAMP  xsd:dateTime, all without a time zone, or all with the same one

So what is exported is what was loaded. If none of them has such a datatype, it is a column of
symbols, else of terms of all kinds; every literal keeps its text.

Columns that are declared, or that `alter` makes native, take more: literals of all these datatypes
whose values fit without loss, such as integers and decimals as floats.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from zodiac_sql.facts.load import cells
from zodiac_sql.language.datatypes import INTEGER_BOUNDS
from zodiac_sql.language.decimals import is_widened
from zodiac_sql.language.symbols import XSD
from zodiac_sql.language.syntax import Type
from zodiac_sql.language.zones import ZONED, in_zone, is_zoned

TYPES: Mapping[str, Type] = {
    **dict.fromkeys((XSD + local for local in INTEGER_BOUNDS), Type.INT),
    XSD + "decimal": Type.DECIMAL, XSD + "double": Type.FLOAT, XSD + "float": Type.FLOAT,
    XSD + "boolean": Type.BOOL,
    XSD + "date": Type.DATE,
    XSD + "dateTime": Type.TIMESTAMP, XSD + "dateTimeStamp": Type.TIMESTAMP,
}  # fmt: skip
"""The native type of each datatype that has one."""

MACROS = (
    cells.WRITTEN_AS
    + r"""
-- The datatype of a literal; 'node' and 'text' for objects without one.
CREATE OR REPLACE TEMP MACRO zodiac_datatype(o) AS
    CASE WHEN NOT starts_with(o, '"') THEN 'node'
         WHEN ends_with(o, '>') THEN regexp_extract(o, '"\^\^<([^<>]*)>$', 1)
         ELSE 'text' END;

CREATE OR REPLACE TEMP MACRO zodiac_value(o, datatype) AS
    substring(o, 2, length(o) - length(datatype) - 6);

-- Whether a decimal has the digits with which its double d is written, which are the fewest.
CREATE OR REPLACE TEMP MACRO zodiac_shortest(v, d) AS
    CASE WHEN NOT isfinite(d) THEN false
         WHEN d = 0 THEN zodiac_digits(v) = ''
         WHEN length(v) <= 15 THEN true
         ELSE rtrim(zodiac_digits(CAST(d AS VARCHAR)), '0') = rtrim(zodiac_digits(v), '0') END;

CREATE OR REPLACE TEMP MACRO zodiac_zoned(v) AS regexp_matches(v, '(Z|[+-][0-9]{2}:[0-9]{2})$');

CREATE OR REPLACE TEMP MACRO zodiac_moment(v) AS
    CASE WHEN zodiac_zoned(v) THEN make_timestamp(epoch_us(TRY_CAST(v AS TIMESTAMPTZ)))
         ELSE TRY_CAST(v AS TIMESTAMP) END;

CREATE OR REPLACE TEMP MACRO zodiac_moment_fits(v) AS
    regexp_full_match(v, '[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,6}0*)?'
                         || '(Z|[+-](0[0-9]|1[0-3]):[0-5][0-9]|[+-]14:00)?')
    AND NOT starts_with(v, '0000') AND zodiac_moment(v) IS NOT NULL;

-- The time zone of a moment that fits: Z, an offset, or nothing.
CREATE OR REPLACE TEMP MACRO zodiac_offset(v) AS
    CASE WHEN ends_with(v, 'Z') THEN 'Z'
         WHEN substring(v, -6, 1) IN ('+', '-') THEN substring(v, -6, 6)
         ELSE '' END;

-- Whether the value may be there in another spelling, time zones aside. (Of decimals and doubles
-- it is not asked.)
CREATE OR REPLACE TEMP MACRO zodiac_respelled(v, form) AS
    CASE form
    WHEN 'integer' THEN starts_with(v, '+') OR (starts_with(v, '0') AND v <> '0')
                        OR starts_with(v, '-0')
    WHEN 'boolean' THEN length(v) = 1
    WHEN 'date' THEN false
    ELSE form LIKE '%moment'
         AND regexp_matches(v, '[.][0-9]*0([Z+-]|$)') END;

-- Whether a moment is written without zeros that say nothing.
CREATE OR REPLACE TEMP MACRO zodiac_written_moment(v) AS
    NOT regexp_matches(v, '[.][0-9]*0([Z+-]|$)') AND substring(v, 12, 2) <> '24';

-- A form is what a literal must look like to enter a column of a type.
CREATE OR REPLACE TEMP MACRO zodiac_fits(v, form) AS coalesce(
    CASE form
    WHEN 'integer' THEN regexp_full_match(v, '[+-]?[0-9]+') AND TRY_CAST(v AS BIGINT) IS NOT NULL
    WHEN 'short integer' THEN regexp_full_match(v, '[+-]?[0-9]+')
                              AND length(zodiac_digits(v)) <= 15
    WHEN 'exact decimal' THEN regexp_full_match(
                                  v, '[+-]?([0-9]+([.][0-9]{0,18}0*)?|[.][0-9]{1,18}0*)')
                              AND TRY_CAST(v AS DECIMAL(38, 18)) IS NOT NULL
    WHEN 'decimal' THEN regexp_full_match(v, '[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)')
                        AND zodiac_shortest(v, TRY_CAST(v AS DOUBLE))
    WHEN 'known decimal' THEN regexp_full_match(v, '[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)')
                              AND zodiac_written_as(v, TRY_CAST(v AS DOUBLE))
    WHEN 'double' THEN v IN ('INF', '+INF', '-INF', 'NaN')
                       OR (regexp_full_match(v, '[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)'
                                                || '([eE][+-]?[0-9]+)?')
                           AND isfinite(TRY_CAST(v AS DOUBLE)))
    WHEN 'boolean' THEN v IN ('true', 'false', '1', '0')
    WHEN 'date' THEN regexp_full_match(v, '[0-9]{4}-[0-9]{2}-[0-9]{2}')
                     AND NOT starts_with(v, '0000') AND TRY_CAST(v AS DATE) IS NOT NULL
    WHEN 'moment' THEN zodiac_moment_fits(v)
    WHEN 'zoned moment' THEN zodiac_moment_fits(v) AND zodiac_zoned(v)
    WHEN 'local moment' THEN zodiac_moment_fits(v) AND NOT zodiac_zoned(v)
    WHEN 'written integer' THEN CAST(TRY_CAST(v AS BIGINT) AS VARCHAR) = v
    WHEN 'written decimal' THEN regexp_full_match(
                                    v, '-?(0|[1-9][0-9]*)[.]([0-9]|[0-9]{0,17}[1-9])')
                                AND TRY_CAST(v AS DECIMAL(38, 18)) IS NOT NULL AND v <> '-0.0'
    WHEN 'written double' THEN v IN ('INF', '-INF', 'NaN')
                               OR (CAST(TRY_CAST(v AS DOUBLE) AS VARCHAR) = v
                                   AND v NOT IN ('-0.0', 'inf', '-inf', 'nan', '-nan'))
    WHEN 'written boolean' THEN v IN ('true', 'false')
    WHEN 'written date' THEN CAST(TRY_CAST(v AS DATE) AS VARCHAR) = v AND length(v) = 10
                             AND NOT starts_with(v, '0000')
    WHEN 'written moment' THEN zodiac_moment_fits(v) AND zodiac_written_moment(v)
    WHEN 'written zoned moment' THEN zodiac_moment_fits(v) AND zodiac_zoned(v)
                                     AND zodiac_written_moment(v)
    WHEN 'written local' THEN zodiac_moment_fits(v) AND NOT zodiac_zoned(v)
                              AND zodiac_written_moment(v)
    ELSE false END, false);
"""
)


def common_type(datatypes: Collection[str]) -> Type:
    """The type of a column that holds literals of these datatypes (and nothing else)."""
    types = {TYPES.get(datatype, Type.SYMBOL) for datatype in datatypes}
    if types == {Type.SYMBOL}:
        return Type.SYMBOL
    return types.pop() if len(datatypes) == 1 else Type.ANY


def form_of_written(datatype: str, type_: Type) -> str:
    """The form that a literal must have if a native column writes its value in the same way."""
    if type_ in (Type.DECIMAL, Type.FLOAT):
        return "written decimal" if type_ is Type.DECIMAL else "written double"
    if datatype == f"{XSD}dateTimeStamp":
        return "written zoned moment"
    return f"written {_FORMS[type_]}"


def form_of_free(datatype: str, type_: Type) -> str:
    """The form that a literal must have to become a value without loss."""
    if type_ is Type.FLOAT:
        if TYPES[datatype] is Type.INT:
            return "short integer"
        return "decimal" if datatype == f"{XSD}decimal" else "double"
    if type_ is Type.DECIMAL:
        return _FORMS[TYPES[datatype]]
    return "zoned moment" if datatype == f"{XSD}dateTimeStamp" else _FORMS[type_]


def form_of_known(datatype: str, type_: Type, known: str | None) -> str | None:
    """The form that a literal must have to enter a column of a known type; None if it cannot.

    If a column is known to be FLOAT, integers of 64 bits become the nearest double, as everywhere;
    a decimal must be written like its double.
    """
    found = TYPES.get(datatype)
    if found is not type_ and not is_widened(found, type_):
        return None
    if type_ is Type.FLOAT and datatype not in (XSD + "double", XSD + "float"):
        return "integer" if found is Type.INT else "known decimal"
    if type_ is Type.DECIMAL and found is not None:
        return _FORMS[found]
    if type_ is Type.TIMESTAMP and known is not None:
        return "zoned moment" if is_zoned(known) else "local moment"
    return _FORMS[type_]


_FORMS = {
    Type.INT: "integer", Type.DECIMAL: "exact decimal", Type.FLOAT: "double",
    Type.BOOL: "boolean", Type.DATE: "date", Type.TIMESTAMP: "moment",
}  # fmt: skip


def bounds(datatype: str) -> tuple[int | None, int | None]:
    """The least and the greatest integer of a datatype; None where there is no limit."""
    return INTEGER_BOUNDS.get(datatype.removeprefix(XSD), (None, None))


def within_bounds(datatype: str, low: int | None, high: int | None) -> bool:
    """Whether integers from low to high are of the datatype."""
    if low is None or high is None:
        return True
    least, most = bounds(datatype)
    return (least is None or least <= low) and (most is None or high <= most)


def common_datatype(datatypes: Collection[str], type_: Type, zone: str | None) -> str | None:
    """The entry of a column in Predicate.datatypes; None stands for the default of its type.

    `zone` is the `common_zone` of its moments.
    """
    if type_ is Type.TIMESTAMP and zone is not None:
        only = next(iter(datatypes)) if len(datatypes) == 1 else ZONED
        return in_zone(only, zone)
    if len(datatypes) == 1:
        (only,) = datatypes
        if is_widened(TYPES.get(only), type_):
            return f"{XSD}decimal"
        return only
    doubles = {f"{XSD}double", f"{XSD}float"}
    fractions = type_ in (Type.DECIMAL, Type.FLOAT)
    return f"{XSD}decimal" if fractions and not doubles & set(datatypes) else None
