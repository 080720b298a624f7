"""Texts in the cells of CSV and JSON -> values of one type per column, never rounded.

A cell has a kind, which is a bit, so that one bit_or finds the kinds in a column:

    INT LONG        an integer; LONG is one that a double does not hold
    BIG             an integer beyond 64 bits
    FLOAT           a decimal, with or without exponent, that equals its double written with as many
                    digits; NaN and inf
    ROUNDED         a decimal that differs from its double written so
    BOOL            true or false
    DATE            YYYY-MM-DD
    LOCAL ZONED     YYYY-MM-DD HH:MM[:SS[.ffffff]], also with T, without and with a time zone
    FINE            either, with digits beyond microseconds
    TEXT            anything else; 007 is a code, not the number 7
    TEXTUAL         a string in JSON that is none of the above moments
    NESTED          an object or array in JSON

The type of a column is the one that holds all of its kinds, each as it is: ANY if no other does. A
declared column keeps its type, and cells that do not fit it are refused one by one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from zodiac_sql.database.column_types import SQL_TYPES
from zodiac_sql.database.statements import without_sign_of_zero
from zodiac_sql.facts.native_text import term_text
from zodiac_sql.language.decimals import ROOM
from zodiac_sql.language.symbols import XSD
from zodiac_sql.language.syntax import Type
from zodiac_sql.language.zones import ZONED as ZONED_DATATYPE

INT, LONG, BIG, FLOAT, ROUNDED, BOOL, DATE, LOCAL, ZONED, FINE, TEXT, TEXTUAL, NESTED = (
    1 << place for place in range(13)
)

WRITTEN_AS = r"""
-- The digits of a number, from the first that is not 0.
CREATE OR REPLACE TEMP MACRO zodiac_digits(t) AS
    ltrim(regexp_replace(regexp_replace(t, '[eE].*$', ''), '[^0-9]', '', 'g'), '0');

-- Whether a decimal is what its double d is written as, with as many digits.
CREATE OR REPLACE TEMP MACRO zodiac_written_as(t, d) AS
    CASE WHEN NOT isfinite(d) THEN false
         WHEN d = 0 THEN zodiac_digits(t) = ''
         WHEN length(t) <= 16 AND abs(d) >= 2.3e-308::DOUBLE THEN true
         WHEN CAST(d AS VARCHAR) = t THEN true
         ELSE zodiac_digits(printf('%.*e', greatest(length(zodiac_digits(t)) - 1, 0)::INTEGER, d))
              = zodiac_digits(t)
              OR (abs(d) >= 2.3e-308::DOUBLE AND length(rtrim(zodiac_digits(t), '0')) <= 15) END;
"""

UNSURE = 1 << 13
"""No kind: other tests must tell it."""


@dataclass(frozen=True, slots=True)
class Marks:
    """The marks in numbers of a file: before decimals, and between groups of three digits.

    Both are some of those that options allow, and no other text (options.py).
    """

    decimal: str = "."
    thousands: str | None = None

    @property
    def number(self) -> str:
        """The regular expression of a number."""
        groups = f"|[1-9][0-9]{{0,2}}([{self.thousands}][0-9]{{3}})+" if self.thousands else ""
        return f"[+-]?([0-9]+{groups})?([{self.decimal}][0-9]*)?([eE][+-]?[0-9]+)?"

    def usual(self, cell: exp.Expr) -> exp.Expr:
        """A cell with the point, and no other mark, if it is a number by these marks.

        What would be a number only with a point gets a sign before it that no number has.
        """
        if self == Marks():
            return cell
        plain = _replaced(cell, self.thousands, "") if self.thousands else cell
        cases = exp.case().when(_matches(cell, self.number), _replaced(plain, self.decimal, "."))
        if self.decimal != ".":
            foreign = exp.func("concat", exp.Literal.string(":"), cell.copy(), dialect="duckdb")
            cases = cases.when(_matches(cell, POINTED), foreign)
        return cases.else_(cell.copy())

    def written(self, number: float) -> str:
        """A number with these marks."""
        return str(number).replace(".", self.decimal)


POINTED = "[+-]?[0-9]*[.][0-9]*([eE][+-]?[0-9]+)?"
"""The regular expression of a number with a point."""


def _matches(cell: exp.Expr, pattern: str) -> exp.Expr:
    text = exp.Literal.string(pattern)
    return exp.func("regexp_full_match", cell.copy(), text, dialect="duckdb")


def _replaced(cell: exp.Expr, mark: str, other: str) -> exp.Expr:
    old, new = exp.Literal.string(mark), exp.Literal.string(other)
    return exp.func("replace", cell.copy(), old, new, dialect="duckdb")


MACROS = rf"""
{WRITTEN_AS}
-- The terms of numbers that no native column holds: integers beyond 64 bits, and decimals with more
-- digits than a double. Others of these, with an exponent, are texts.
CREATE OR REPLACE TEMP MACRO zodiac_big_term(t) AS
    '"' || ltrim(t, '+') || '"^^<{XSD}integer>';
CREATE OR REPLACE TEMP MACRO zodiac_rounded_term(t) AS
    CASE WHEN regexp_full_match(t, '[+-]?[0-9]*[.][0-9]+')
         THEN '"' || regexp_replace(rtrim(regexp_replace(ltrim(t, '+'), '^(-?)[.]', '\10.'), '0'),
                                    '[.]$', '.0') || '"^^<{XSD}decimal>'
         ELSE t END;

CREATE OR REPLACE TEMP MACRO zodiac_number_kind(t) AS
    CASE WHEN regexp_full_match(t, '[+-]?(0|[1-9][0-9]*)')
         THEN CASE WHEN TRY_CAST(t AS BIGINT) IS NULL THEN {BIG}
                   WHEN length(t) > 15
                        AND CAST(CAST(t AS DOUBLE) AS HUGEINT) <> CAST(t AS BIGINT)::HUGEINT
                   THEN {LONG}
                   ELSE {INT} END
         WHEN regexp_full_match(
                  t, '[+-]?((0|[1-9][0-9]*)([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?')
         THEN CASE WHEN zodiac_written_as(t, TRY_CAST(t AS DOUBLE)) THEN {FLOAT} ELSE {ROUNDED} END
         ELSE {TEXT} END;

CREATE OR REPLACE TEMP MACRO zodiac_cell_zoned(t) AS
    regexp_matches(t, '(Z|[+-][0-9]{{2}}(:?[0-9]{{2}})?)$') AND length(t) > 12;

CREATE OR REPLACE TEMP MACRO zodiac_cell_moment(t) AS
    CASE WHEN zodiac_cell_zoned(t) THEN make_timestamp(epoch_us(TRY_CAST(t AS TIMESTAMPTZ)))
         ELSE TRY_CAST(t AS TIMESTAMP) END;

CREATE OR REPLACE TEMP MACRO zodiac_moment_kind(t) AS
    CASE WHEN NOT regexp_matches(t, '^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}') THEN {TEXT}
         WHEN length(t) = 10
         THEN CASE WHEN year(TRY_CAST(t AS DATE)) BETWEEN 1 AND 9999 THEN {DATE} ELSE {TEXT} END
         WHEN NOT regexp_full_match(t, '.{{10}}[ T]([01][0-9]|2[0-3]):[0-9]{{2}}'
                  || '(:[0-9]{{2}}([.][0-9]+)?)?(Z|[+-][0-9]{{2}}(:?[0-9]{{2}})?)?')
              OR NOT coalesce(year(zodiac_cell_moment(t)) BETWEEN 1 AND 9999, false) THEN {TEXT}
         WHEN regexp_matches(t, '[.][0-9]{{6}}0*[1-9]') THEN {FINE}
         WHEN zodiac_cell_zoned(t) THEN {ZONED}
         ELSE {LOCAL} END;

-- Quick tests, for what most cells of a column look like.
CREATE OR REPLACE TEMP MACRO zodiac_plain_int(t) AS
    CAST(TRY_CAST(t AS BIGINT) AS VARCHAR) = t AND length(t) <= 15;
CREATE OR REPLACE TEMP MACRO zodiac_plain_float(t) AS
    (length(t) <= 16 AND regexp_full_match(t, '-?(0|[1-9][0-9]*)[.][0-9]+'))
    OR CAST(TRY_CAST(t AS DOUBLE) AS VARCHAR) = t
    OR (length(t) <= 40 AND contains(t, '.')
        AND printf('%.*f', (length(t) - strpos(t, '.'))::INTEGER, TRY_CAST(t AS DOUBLE)) = t);
CREATE OR REPLACE TEMP MACRO zodiac_plain_date(t) AS
    CAST(TRY_CAST(t AS DATE) AS VARCHAR) = t AND length(t) = 10;
CREATE OR REPLACE TEMP MACRO zodiac_plain_local(t) AS
    CAST(TRY_CAST(t AS TIMESTAMP) AS VARCHAR) = t AND t[5] = '-' AND t[11] = ' ';
CREATE OR REPLACE TEMP MACRO zodiac_plain_string(t) AS t >= '":' AND t < '#';
-- Nothing is to be trimmed: that takes as long as all else.
CREATE OR REPLACE TEMP MACRO zodiac_plain_text(t) AS
    t >= ':' AND t < '~' AND right(t, 1) BETWEEN '!' AND '~'
    AND lower(t) NOT IN ('true', 'false', 'nan', 'inf', 'infinity');
CREATE OR REPLACE TEMP MACRO zodiac_plain_word(t) AS t >= ':' OR t < '0';

-- The kind of a cell in a column of decimals.
CREATE OR REPLACE TEMP MACRO zodiac_decimal_kind(t, kind) AS
    CASE WHEN regexp_full_match(
                  t, '[+-]?((0|[1-9][0-9]{{0,19}})([.][0-9]{{0,18}}0*)?|[.][0-9]{{1,18}}0*)')
         THEN {INT}
         WHEN kind & {INT | LONG | BIG | FLOAT | ROUNDED} > 0 THEN {ROUNDED} ELSE kind END;

-- A first look at one or two characters decides for most texts.
CREATE OR REPLACE TEMP MACRO zodiac_bare_kind(t) AS
    CASE WHEN NOT regexp_matches(t, '^[-+.0-9tTfFnNiI]') THEN {TEXT}
         WHEN lower(t) IN ('true', 'false') THEN {BOOL}
         WHEN ltrim(lower(t), '+-') IN ('nan', 'inf', 'infinity') THEN {FLOAT}
         WHEN t[1] > '9' THEN {TEXT}
         WHEN t[5] = '-' AND regexp_matches(t, '^[0-9]{{4}}') THEN zodiac_moment_kind(t)
         ELSE zodiac_number_kind(t) END;

CREATE OR REPLACE TEMP MACRO zodiac_string_kind(t) AS
    CASE WHEN regexp_matches(t, '^[0-9]{{4}}-') AND zodiac_moment_kind(t) <> {TEXT}
         THEN zodiac_moment_kind(t) ELSE {TEXTUAL} END;

CREATE OR REPLACE TEMP MACRO zodiac_json_kind(t) AS
    CASE WHEN starts_with(t, '"') THEN zodiac_string_kind(t[2:-2])
         WHEN starts_with(t, '{{') OR starts_with(t, '[') THEN {NESTED}
         ELSE zodiac_bare_kind(t) END;
"""


@dataclass(frozen=True, slots=True)
class Syntax:
    """How the cells of a column are written: the macro of their kinds, and their text.

    Cells that are values already, not texts, have a `type` and no kinds.
    """

    kind: str
    json: bool
    type: Type | None = None
    decimals: bool = False
    """Whether the column is one of decimals: then INT is a decimal, and ROUNDED another number."""
    marks: Marks = Marks()

    def quick_kind(self, cell: exp.Expr, likely: int) -> exp.Expr | None:
        """The kind of a cell if a quick test tells it, else UNSURE; None if none tells anything.

        DuckDB takes 15 ms to plan a statement with the other tests.
        """
        kind = self.kind_of(cell, likely)
        if not isinstance(kind, exp.Case):
            return None
        return exp.Case(ifs=kind.args["ifs"], default=exp.Literal.number(UNSURE))

    def kind_of(self, cell: exp.Expr, likely: int = 0) -> exp.Expr:
        """The kind of a cell; quick if it is one of the kinds that are `likely`."""
        text = exp.cast(cell, "VARCHAR") if self.json else self.marks.usual(cell)
        plain = self._plain(cell) if self.is_csv else text
        kind: exp.Expr = exp.func(self.kind, plain, dialect="duckdb")
        if self.decimals:
            return exp.func("zodiac_decimal_kind", plain.copy(), kind, dialect="duckdb")
        cases = exp.case()
        for bit, test in (_QUICK_STRINGS if self is STRING else _QUICK).items():
            if likely & bit:
                quick = exp.func(test, text.copy(), dialect="duckdb")
                cases = cases.when(quick, exp.Literal.number(bit))
        return cases.else_(kind) if cases.args["ifs"] else kind

    def _plain(self, cell: exp.Expr) -> exp.Expr:
        """A cell of CSV without spaces around it, and with the usual marks in numbers."""
        return self.marks.usual(exp.func("trim", cell, dialect="duckdb"))

    @property
    def is_csv(self) -> bool:
        """Whether cells are those of CSV, which may have spaces around them."""
        return self.kind == CSV.kind

    def suiting(self, known: Type | None) -> Syntax:
        """The syntax of a column that is known to be of a type."""
        return replace(self, decimals=True) if known is Type.DECIMAL and not self.type else self

    def value(self, cell: exp.Expr, type_: Type | None, kinds: int, declared: bool) -> exp.Expr:
        """The value of a cell whose kind fits the type. A column of ANY may be `declared`.

        All cells of the column are of these `kinds`.
        """
        if type_ is Type.ANY and not self.type:
            return self._term(cell, kinds, declared)
        if self.json:
            cell = exp.func("json_extract_string", cell, exp.Literal.string("$"), dialect="duckdb")
        elif self.is_csv and type_ is not Type.SYMBOL:
            cell = self._plain(cell)
        return cell if self.type else _read(cell, type_)

    def _term(self, cell: exp.Expr, kinds: int, declared: bool) -> exp.Expr:
        """The text of the term that a cell is."""
        kind, lexical, plain = self.kind_of(cell, kinds), cell, cell
        if self.json:
            lexical = exp.func(
                "json_extract_string", cell, exp.Literal.string("$"), dialect="duckdb"
            )
            plain = lexical
        elif self.is_csv:
            plain = self._plain(cell)
        term = exp.Case(this=kind)
        for bits, type_, datatype in _TERMS:
            for bit in bits:
                if kinds & bit:
                    value = _read(plain.copy(), type_)
                    written = term_text(value, type_, datatype, declared)
                    term = term.when(exp.Literal.number(bit), written)
        for bit, macro in ((BIG, "zodiac_big_term"), (ROUNDED, "zodiac_rounded_term")):
            if kinds & bit:
                written = exp.func(macro, plain.copy(), dialect="duckdb")
                term = term.when(exp.Literal.number(bit), written)
        return term.else_(lexical.copy()) if term.args.get("ifs") else lexical.copy()

    def accepted(self, type_: Type | None, kinds: int, known: bool) -> int:
        """The kinds that a column of a type takes, of those that are in it.

        Integers enter a declared column of floats as the nearest double.
        """
        match type_:
            case Type.INT:
                return INT | LONG
            case Type.DECIMAL:
                return INT
            case Type.FLOAT:
                return INT | FLOAT | (LONG if known else 0)
            case Type.BOOL:
                return BOOL
            case Type.DATE:
                return DATE
            case Type.TIMESTAMP:
                return LOCAL if kinds & LOCAL else ZONED
            case Type.ANY:
                return ~NESTED
            case _:
                # A number of JSON is read as a double: 1.50 has lost its 0.
                return ~(FLOAT | ROUNDED | NESTED) if self.json else ~0

    def found(self, kinds: int) -> Type | None:
        """The type of a column whose type is not known; None if no cell tells it."""
        kinds &= ~NESTED
        return next((type_ for type_, those in _LOOKS if not kinds & ~those), Type.ANY)


def _read(cell: exp.Expr, type_: Type | None) -> exp.Expr:
    """The value of a cell that is written as a type asks for."""
    match type_:
        case Type.INT:
            return exp.cast(cell, "BIGINT")
        case Type.DECIMAL:
            return exp.cast(cell, SQL_TYPES[Type.DECIMAL])
        case Type.FLOAT:
            return without_sign_of_zero(exp.cast(cell, "DOUBLE"))
        case Type.BOOL:
            return exp.func("lower", cell, dialect="duckdb").eq(exp.Literal.string("true"))
        case Type.DATE:
            return exp.cast(cell, "DATE")
        case Type.TIMESTAMP:
            return exp.func("zodiac_cell_moment", cell, dialect="duckdb")
        case _:
            return cell


_LOOKS: tuple[tuple[Type | None, int], ...] = (
    (None, 0),
    (Type.INT, INT | LONG),
    (Type.FLOAT, INT | FLOAT),
    (Type.BOOL, BOOL),
    (Type.DATE, DATE),
    (Type.TIMESTAMP, LOCAL | FINE),
    (Type.TIMESTAMP, ZONED | FINE),
    (Type.SYMBOL, TEXT | TEXTUAL),
)

_TERMS: tuple[tuple[tuple[int, ...], Type, str | None], ...] = (
    ((INT, LONG), Type.INT, None),
    ((FLOAT,), Type.FLOAT, None),
    ((BOOL,), Type.BOOL, None),
    ((DATE,), Type.DATE, None),
    ((LOCAL,), Type.TIMESTAMP, None),
    ((ZONED,), Type.TIMESTAMP, ZONED_DATATYPE),
)
"""The kinds of cells that are native values, and the datatypes of their literals."""

_QUICK = {
    FLOAT: "zodiac_plain_float", INT: "zodiac_plain_int", DATE: "zodiac_plain_date",
    LOCAL: "zodiac_plain_local", TEXTUAL: "zodiac_plain_string", TEXT: "zodiac_plain_text",
}  # fmt: skip
_QUICK_STRINGS = {
    TEXTUAL: "zodiac_plain_word", DATE: "zodiac_plain_date", LOCAL: "zodiac_plain_local",
}  # fmt: skip

CSV = Syntax("zodiac_bare_kind", json=False)
JSON = Syntax("zodiac_json_kind", json=True)
STRING = Syntax("zodiac_string_kind", json=False)
"""A string of JSON, without its quotes."""


def reason(kind: int, type_: Type | None) -> str:
    """Why a cell of a kind is refused by a column of a type."""
    if kind == NESTED:
        return "is an object or an array, no single value"
    if kind == BIG and type_ is Type.INT:
        return "is beyond 64 bits"
    if kind & (INT | LONG | BIG | FLOAT | ROUNDED) and type_ is Type.DECIMAL:
        return f"is no decimal: {ROOM}"
    if kind & (BIG | LONG | ROUNDED) and type_ is Type.FLOAT:
        return "would be rounded"
    if kind == FINE and type_ is Type.TIMESTAMP:
        return "is finer than microseconds"
    return f"is no {type_}"
