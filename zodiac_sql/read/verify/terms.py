"""What terms of all kinds are worth, for rule_body.py alone: macros over structs.

A struct has the text of a term, and what the dictionary keeps beside it. What a rule computes has
no text before it is written. The sort 0 is that of a native timestamp, of which nobody knows
whether it had a time zone.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from zodiac_sql.database import dictionary
from zodiac_sql.database.known_symbols import KNOWN_VALUES
from zodiac_sql.database.statements import temp_table, text
from zodiac_sql.facts.native_text import datatype_of, literal_text
from zodiac_sql.language.symbols import XSD
from zodiac_sql.language.syntax import Type
from zodiac_sql.sql.decimals import product
from zodiac_sql.sql.functions import built, typed

MACROS = f"""
CREATE OR REPLACE TEMP MACRO zodiac_verify_decimal(given) AS
    list_transform([given], lambda t: CASE WHEN t.exact IS NOT NULL THEN t.exact
        WHEN TRY_CAST(t.number::VARCHAR AS DECIMAL(38, 18))::DOUBLE = t.number
        THEN TRY_CAST(t.number::VARCHAR AS DECIMAL(38, 18)) END)[1];

CREATE OR REPLACE TEMP MACRO zodiac_verify_int(given) AS
    list_transform([given], lambda t: CASE
        WHEN t.exact = trunc(t.exact) THEN TRY_CAST(t.exact AS BIGINT)
        WHEN t.exact IS NULL AND t.number = trunc(t.number) THEN TRY_CAST(t.number AS BIGINT)
    END)[1];

CREATE OR REPLACE TEMP MACRO zodiac_verify_cut_off(given) AS
    list_transform([given], lambda t: CASE
        WHEN t.exact IS NOT NULL THEN TRY_CAST(trunc(t.exact) AS BIGINT)
        WHEN t.number < 9223372036854775808 THEN TRY_CAST(trunc(t.number) AS BIGINT) END)[1];

-- The order of two values: -1, 0 or 1; NULL where there is none.
CREATE OR REPLACE TEMP MACRO zodiac_verify_sign(a, b) AS
    CASE WHEN a < b THEN -1 WHEN a = b THEN 0 WHEN a > b THEN 1 END;

CREATE OR REPLACE TEMP MACRO zodiac_verify_order(first, second) AS
    list_transform([{{'a': first, 'b': second}}], lambda p: CASE
        WHEN p.a.exact IS NOT NULL AND p.b.exact IS NOT NULL
        THEN zodiac_verify_sign(p.a.exact, p.b.exact)
        WHEN p.a.number IS NOT NULL AND p.b.number IS NOT NULL
        THEN zodiac_verify_sign(p.a.number, p.b.number)
        WHEN p.a.truth IS NOT NULL AND p.b.truth IS NOT NULL
        THEN zodiac_verify_sign(p.a.truth, p.b.truth)
        WHEN p.a.moment IS NOT NULL AND p.b.moment IS NOT NULL
             AND (p.a.sort = 0 OR p.b.sort = 0 OR (p.a.sort = 7) = (p.b.sort = 7))
        THEN zodiac_verify_sign(p.a.moment, p.b.moment)
        WHEN p.a.sort IS NULL AND p.b.sort IS NULL AND zodiac.kind(p.a.text) = 'plain'
             AND zodiac.kind(p.b.text) = 'plain'
        THEN zodiac_verify_sign(zodiac.lexical(p.a.text), zodiac.lexical(p.b.text))
    END)[1];

CREATE OR REPLACE TEMP MACRO zodiac_verify_stored(given) AS
    list_transform([given], lambda t: CASE WHEN t.sort = 0 THEN {{
        'text': t.text, 'sort': 6::TINYINT, 'exact': t.exact, 'number': t.number,
        'moment': t.moment, 'truth': t.truth}} ELSE t END)[1];

CREATE OR REPLACE TEMP MACRO zodiac_verify_least(first, second) AS
    list_transform([{{'a': first, 'b': second}}], lambda p: CASE
        WHEN p.a.number IS NULL AND p.a.moment IS NULL THEN NULL
        WHEN zodiac_verify_order(p.a, p.b) <= 0 THEN p.a
        WHEN zodiac_verify_order(p.a, p.b) > 0 THEN p.b END)[1];

CREATE OR REPLACE TEMP MACRO zodiac_verify_greatest(first, second) AS
    list_transform([{{'a': first, 'b': second}}], lambda p: CASE
        WHEN p.a.number IS NULL AND p.a.moment IS NULL THEN NULL
        WHEN zodiac_verify_order(p.a, p.b) >= 0 THEN p.a
        WHEN zodiac_verify_order(p.a, p.b) < 0 THEN p.b END)[1];

-- Whether two terms are one, or have the same value. Two texts that mean the same are two terms.
CREATE OR REPLACE TEMP MACRO zodiac_verify_equal(first, second) AS
    list_transform([{{'a': first, 'b': second}}], lambda p: CASE
        WHEN p.a IS NOT NULL AND p.b IS NOT NULL THEN coalesce(p.a.text = p.b.text, false)
        OR ((p.a.sort IS NOT NULL OR p.b.sort IS NOT NULL)
            AND coalesce(zodiac_verify_order(p.a, p.b) = 0, false)) END)[1];

-- A number as a struct, with the sort that it has if nothing is rounded.
CREATE OR REPLACE TEMP MACRO zodiac_verify_number(s, e, n) AS
    list_transform([{{'s': s, 'e': e, 'n': n}}], lambda v: CASE WHEN v.n IS NOT NULL THEN {{
        'text': NULL::VARCHAR,
        'sort': (CASE WHEN v.e IS NULL THEN 3 WHEN v.s = 1 AND TRY_CAST(v.e AS BIGINT) IS NULL
                      THEN 2 ELSE v.s END)::TINYINT,
        'exact': v.e::DECIMAL(38, 18), 'number': coalesce(v.e::DOUBLE, v.n),
        'moment': NULL::TIMESTAMP, 'truth': NULL::BOOLEAN}} END)[1];

CREATE OR REPLACE TEMP MACRO zodiac_verify_text(given) AS
    list_transform([given], lambda t: coalesce(t.text, CASE t.sort
        WHEN 1 THEN '"' || t.exact::BIGINT || '"^^<{XSD}integer>'
        WHEN 2 THEN '"' || regexp_replace(rtrim(t.exact::VARCHAR, '0'), '[.]$', '.0')
                    || '"^^<{XSD}decimal>'
        WHEN 3 THEN '"' || CASE WHEN isnan(t.number) THEN 'NaN' WHEN t.number = 'inf' THEN 'INF'
                                WHEN t.number = '-inf' THEN '-INF' ELSE t.number::VARCHAR END
                    || '"^^<{XSD}double>' END))[1];

-- A sum in units of 10^-18, of which there are so many whole ones, as a decimal if it fits.
CREATE OR REPLACE TEMP MACRO zodiac_verify_total(whole, part) AS
    list_transform([CASE WHEN abs(whole) < 160000000000000000000
                         THEN whole * 1000000000000000000::HUGEINT + part END], lambda u:
        TRY_CAST(CASE WHEN u < 0 THEN '-' ELSE '' END || (abs(u) // 1000000000000000000::HUGEINT)
                 || '.' || lpad((abs(u) % 1000000000000000000::HUGEINT)::VARCHAR, 18, '0')
                 AS DECIMAL(38, 18)))[1];

-- What puts terms in order: numbers, booleans, dates and times, and then all others.
CREATE OR REPLACE TEMP MACRO zodiac_verify_place(given) AS
    list_transform([given], lambda t: {{
        'kind': CASE WHEN t.number IS NOT NULL THEN 0 WHEN t.truth IS NOT NULL THEN 1
                     WHEN t.moment IS NOT NULL THEN 2 ELSE 3 END,
        'number': t.number, 'truth': t.truth, 'moment': t.moment,
        'meant': zodiac.lexical(zodiac_verify_text(t)), 'text': zodiac_verify_text(t)}})[1];
"""

_FIELDS = {
    "text": "VARCHAR", "sort": "TINYINT", "exact": "DECIMAL(38, 18)", "number": "DOUBLE",
    "moment": "TIMESTAMP", "truth": "BOOLEAN",
}  # fmt: skip


def looked_up(id_: exp.Expr) -> exp.Expr:
    """The struct of the term with an id."""
    row = of_row("k", "w")
    same = exp.column("id", table="k").eq(id_.copy())
    # The minimum gives one struct even if a damaged dictionary has several.
    found = exp.select(exp.Min(this=row)).from_(temp_table(dictionary.KNOWN).as_("k"))
    valued = exp.column("id", table="w").eq(exp.column("id", table="k"))
    found = found.join(temp_table(KNOWN_VALUES).as_("w"), on=valued, join_type="LEFT")
    return exp.Subquery(this=found.where(same))


def of_row(symbol: str, value: str) -> exp.Expr:
    """The struct of a term: of its row of the dictionary, and that of its value, if it has one."""
    return _struct({n: exp.column(n, table=symbol if n == "text" else value) for n in _FIELDS})


def with_row(query: exp.Select, id_: exp.Expr, symbol: str, value: str) -> exp.Select:
    """A query with these two rows of the term with an id."""
    same = [exp.column("id", table=alias).eq(id_.copy()) for alias in (symbol, value)]
    query = query.join(temp_table(dictionary.KNOWN).as_(symbol), on=same[0], copy=False)
    item = temp_table(KNOWN_VALUES).as_(value)
    return query.join(item, on=same[1], join_type="LEFT", copy=False)


def of_text(written: exp.Expr) -> exp.Expr:
    """The struct of a symbol whose column has no other terms than symbols."""
    return exp.case().when(exp.not_(written.copy().is_(exp.null())), _struct({"text": written}))


def of_native(value: exp.Expr, type_: Type) -> exp.Expr:
    """The struct of a native value."""
    fields = {"text": native_text(value, type_)}
    match type_:
        case Type.INT:
            fields |= {"sort": exp.convert(1), "exact": value, "number": value}
        case Type.DECIMAL:
            fields |= {"sort": exp.convert(2), "exact": value, "number": value}
        case Type.FLOAT:
            fields |= {"sort": exp.convert(3), "number": value}
        case Type.BOOL:
            fields |= {"sort": exp.convert(4), "truth": value}
        case Type.DATE:
            fields |= {"sort": exp.convert(5), "moment": value}
        case Type.TIMESTAMP:
            fields |= {"sort": exp.convert(0), "moment": value}
    there = exp.not_(value.copy().is_(exp.null()))
    return exp.case().when(there, _struct(fields))


def native_text(value: exp.Expr, type_: Type, datatype: str | None = None) -> exp.Expr:
    """The text of the term that a native value is in a column of terms of all kinds."""
    return literal_text(value.copy(), type_, datatype_of(type_, datatype))


def narrowed(term: exp.Expr, type_: Type) -> exp.Expr:
    """The native value that a term is equal to; NULL if there is none of the type."""
    if type_ is Type.INT:
        return _macro("int", term)
    if type_ is Type.DECIMAL:
        return _macro("decimal", term)
    if type_ is Type.FLOAT:
        return _field(term, "number")
    if type_ is Type.BOOL:
        return _field(term, "truth")
    sorts = (5,) if type_ is Type.DATE else (0, 6, 7)
    inside = _field(term, "sort").isin(*map(exp.convert, sorts))
    moment = exp.case().when(inside, _field(term, "moment"))
    return exp.cast(moment, "DATE") if type_ is Type.DATE else moment


def as_stored(term: exp.Expr) -> exp.Expr:
    """A struct as that of its term: a native timestamp is one without a time zone."""
    return _macro("stored", term)


def better(function: str, first: exp.Expr, second: exp.Expr) -> exp.Expr:
    """The least or greatest of two numbers or moments; of equal ones the first."""
    return _macro("stored", _macro(function, first, second))


def moment_of(term: exp.Expr) -> exp.Expr:
    """The moment of a date or a time."""
    return _field(term, "moment")


def cut_off(term: exp.Expr) -> exp.Expr:
    """A number without what follows the point, as an int."""
    return _macro("cut_off", term)


def text_alone(term: exp.Expr) -> exp.Expr:
    """What a term means that has no value."""
    return exp.case().when(_field(term, "sort").is_(exp.null()), meant(term))


def meant(term: exp.Expr) -> exp.Expr:
    """The text that a term means."""
    return exp.Anonymous(this="zodiac.lexical", expressions=[written_term(term)])


def written_term(term: exp.Expr) -> exp.Expr:
    """The text of a term."""
    return _macro("text", term)


def place_of(term: exp.Expr) -> exp.Expr:
    """What puts terms of all kinds in order."""
    return _macro("place", term)


def compared(operator: str, first: exp.Expr, second: exp.Expr) -> exp.Expr:
    """A comparison of two terms."""
    if operator in ("=", "!="):
        same = _macro("equal", first, second)
        return same if operator == "=" else exp.paren(exp.not_(same))
    signs = {"<": (-1,), "<=": (-1, 0), ">": (1,), ">=": (0, 1)}[operator]
    return exp.paren(_macro("order", first, second).isin(*map(exp.convert, signs)))


def number_of(sort: exp.Expr, exact: exp.Expr, number: exp.Expr) -> exp.Expr:
    """A number as a term: exact, if it has an exact value."""
    return _macro("number", sort, exact, number)


def total_of(terms: exp.Expr) -> exp.Expr:
    """The sum of the numbers among terms of a group."""
    number = _field(terms, "number")
    ordered = exp.Order(this=number, expressions=[exp.Ordered(this=number.copy())])
    there = exp.not_(number.copy().is_(exp.null()))
    sorts = exp.Max(this=exp.case().when(there, _field(terms, "sort")))
    exact = _field(terms, "exact")
    counts = exp.Count(this=exact), exp.Count(this=number.copy())
    sums = exp.case().when(counts[0].eq(counts[1]), _exact_total(exact))
    return number_of(sorts, sums, exp.Sum(this=ordered))


def _exact_total(exact: exp.Expr) -> exp.Expr:
    """The sum of exact numbers; NULL if it has no room. Whole numbers are summed in 128 bits."""

    def cut(value: exp.Expr) -> exp.Expr:
        whole = exp.Anonymous(this="trunc", expressions=[value.copy()])
        return exp.cast(whole, "HUGEINT")

    decimal = exp.DataType.build(_FIELDS["exact"], dialect="duckdb")
    wholes = exp.Cast(this=cut(exact), to=decimal)
    rest = exp.Cast(this=exp.Sub(this=exact.copy(), expression=wholes), to=decimal.copy())
    fraction = exp.Sum(this=rest)
    whole = exp.paren(exp.Add(this=exp.Sum(this=cut(exact)), expression=cut(fraction)))
    left = exp.Sub(this=fraction.copy(), expression=exp.Cast(this=cut(fraction), to=decimal.copy()))
    fits = exp.func("abs", whole.copy()) < exp.Literal.number(10**20)
    total = exp.Add(this=exp.Cast(this=whole, to=decimal.copy()), expression=exp.paren(left))
    # 100000000000000000000 has no room, but with a fraction of the other sign, the sum has.
    one = exp.Anonymous(this="sign", expressions=[whole.copy()])
    nearer = exp.paren(exp.Sub(this=whole.copy(), expression=one))
    more = exp.paren(exp.Add(this=exp.paren(left.copy()), expression=one.copy()))
    at_the_end = exp.and_(
        exp.func("abs", whole.copy()).eq(exp.Literal.number(10**20)),
        (exp.paren(left.copy()) * one.copy()) < exp.Literal.number(0),
    )
    at_end = exp.Add(this=exp.Cast(this=nearer, to=decimal.copy()), expression=more)
    return exp.case().when(fits, total).when(at_the_end, exp.Cast(this=at_end, to=decimal.copy()))


def _struct(fields: dict[str, exp.Expr]) -> exp.Expr:
    values = [
        exp.PropertyEQ(
            this=exp.to_identifier(name),
            expression=exp.Cast(
                this=fields[name].copy() if name in fields else exp.null(),
                to=exp.DataType.build(type_, dialect="duckdb"),
            ),
        )
        for name, type_ in _FIELDS.items()
    ]
    return exp.Struct(expressions=values)


def _field(term: exp.Expr, name: str) -> exp.Expr:
    return exp.Anonymous(this="struct_extract", expressions=[term.copy(), text(name)])


def _macro(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(
        this=f"zodiac_verify_{name}", expressions=[one.copy() for one in arguments]
    )


# --- arithmetic -----------------------------------------------------------------------------------


def computed(function: str, operands: Sequence[exp.Expr], places: Sequence[exp.Expr]) -> exp.Expr:
    """A function of numbers that makes a number of their kind. `places` are other arguments, ints.

    It is computed twice: of floats, and exactly. What has no exact value is a float.
    """
    numbers = [_field(one, "number") for one in operands]
    types = [*(Type.FLOAT for _ in operands), *(Type.INT for _ in places)]
    number = typed(Type.FLOAT, built(function, Type.FLOAT, [*numbers, *places], types))
    exacts = [_field(one, "exact") for one in operands]
    types = [*(Type.DECIMAL for _ in operands), *types[len(operands) :]]
    given = [*exacts, *(place.copy() for place in places)]
    exact = (
        product(exacts[0], exacts[1])
        if function == "*"
        else built(function, Type.DECIMAL, given, types)
    )
    found = exp.Anonymous(this="try", expressions=[exact])
    decimal = exp.DataType.build(_FIELDS["exact"], dialect="duckdb")
    there = exp.and_(*(exp.not_(one.copy().is_(exp.null())) for one in exacts))
    exact_value = exp.case().when(there, exp.TryCast(this=found, to=decimal, safe=True))
    sorts = [_field(one, "sort") for one in operands]
    widest = exp.func("greatest", *sorts) if len(sorts) > 1 else sorts[0]
    return number_of(widest, exact_value, number)
