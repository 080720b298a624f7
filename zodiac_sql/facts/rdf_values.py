"""Columns of symbols that are RDF literals, as native values, by the rules by which files are read.

A column is read so if it has literals of one family of datatypes that become native values
(facts/load/literals.py), such as `"21"^^<http://www.w3.org/2001/XMLSchema#integer>`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from zodiac_sql.database.column_types import TEXT_TYPES
from zodiac_sql.database.statements import temp_table, text, without_sign_of_zero
from zodiac_sql.database.store import Store
from zodiac_sql.facts.load import literals
from zodiac_sql.facts.native_text import datatype_of, literal_text, moment_text
from zodiac_sql.language.decimals import is_widened
from zodiac_sql.language.symbols import XSD
from zodiac_sql.language.syntax import Type
from zodiac_sql.language.zones import common_zone


@dataclass(frozen=True, slots=True)
class Literals:
    """How the literals of a column become values: the form that each datatype asks for."""

    type: Type
    forms: Mapping[str, str]
    datatype: str | None
    """The entry of the column in Predicate.datatypes."""

    def fits(self, symbol: exp.Expr) -> exp.Expr:
        """Whether a symbol is a literal that becomes a value without loss."""
        datatype = _call("zodiac_datatype", symbol)
        form = exp.Case(this=datatype)
        for name, needed in self.forms.items():
            form = form.when(text(name), text(needed))
        return _call("zodiac_fits", _lexical(symbol), form)

    def value(self, symbol: exp.Expr) -> exp.Expr:
        """The value of a symbol that fits."""
        return native_value(_lexical(symbol), self.type)


def prepare(store: Store) -> None:
    """Make the macros that read literals."""
    store.run(literals.MACROS)


def literals_in(store: Store, symbols: exp.Query, type_: Type) -> Literals | None:
    """How the symbols of a query with the column `o` become values of a type, as far as they fit;
    None if none of them is such a literal.
    """
    prepare(store)
    symbol = exp.column("o", table="v")
    moment = _call("starts_with", _call("zodiac_datatype", symbol), text(f"{XSD}dateTime"))
    zone = exp.Case().when(moment, _call("zodiac_offset", _lexical(symbol)))
    least, greatest = exp.Min(this=zone), exp.Max(this=zone.copy())
    kinds = exp.select(_call("zodiac_datatype", symbol), least, greatest)
    rows = store.rows(kinds.from_(symbols.subquery("v", copy=False)).group_by(exp.convert(1)))
    datatypes = [
        d
        for d, *_ in rows
        if literals.TYPES.get(d) is type_ or is_widened(literals.TYPES.get(d), type_)
    ]
    if not datatypes:
        return None
    common = common_zone({zone for _, *zones in rows for zone in zones if zone})
    datatype = literals.common_datatype(datatypes, type_, common)
    forms = {d: _form(d, type_, common is not None) for d in datatypes}
    return Literals(type_, forms, datatype)


def _form(datatype: str, type_: Type, zoned: bool) -> str:
    if type_ is Type.TIMESTAMP:
        return "zoned moment" if zoned else "local moment"
    return literals.form_of_free(datatype, type_)


def native_value(lexical: exp.Expr, type_: Type) -> exp.Expr:
    """The value of the text of a literal that has a form that fits the type."""
    match type_:
        case Type.BOOL:
            return lexical.isin("true", "1")
        case Type.TIMESTAMP:
            return _call("zodiac_moment", lexical)
        case Type.FLOAT:
            return without_sign_of_zero(exp.cast(lexical, TEXT_TYPES[type_]))
        case _:
            return exp.cast(lexical, TEXT_TYPES[type_])


def _lexical(symbol: exp.Expr) -> exp.Expr:
    return _call("zodiac_value", symbol, _call("zodiac_datatype", symbol))


def _call(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=[argument.copy() for argument in arguments])


def rewritten(store: Store, table: str, column: str) -> exp.Expr | None:
    """For the symbols of a temporary table's column a list of what they may have become, if they
    were native values and became literals again: NULL for others; None if there are only others.
    """
    prepare(store)
    symbol = exp.column(column, quoted=True)
    kinds = exp.select(_call("zodiac_datatype", symbol)).from_(temp_table(table)).distinct()
    found = [datatype for (datatype,) in store.rows(kinds) if datatype in literals.TYPES]
    cases = exp.Case()
    for datatype in sorted(found):
        is_it = _call("zodiac_datatype", symbol).eq(text(datatype))
        for zoned in (True, False) if literals.TYPES[datatype] is Type.TIMESTAMP else (False,):
            written, fits = _written(symbol, datatype, zoned)
            cases = cases.when(exp.and_(is_it.copy(), fits), _call("list_value", *written))
    return cases if found else None


def _written(symbol: exp.Expr, datatype: str, zoned: bool) -> tuple[list[exp.Expr], exp.Expr]:
    """The literals that may have become of one with a datatype, and whether it can."""
    type_ = literals.TYPES[datatype]
    way = Literals(type_, {datatype: _form(datatype, type_, zoned)}, None)
    zone = "Z" if zoned else None
    own = datatype_of(type_, literals.common_datatype([datatype], type_, zone))
    # A column that is declared, or of several datatypes, has none.
    each = dict.fromkeys((own, datatype_of(type_, None)))
    written = [literal_text(way.value(symbol), type_, one) for one in each]
    if zoned:
        written.append(moment_text(_lexical(symbol), datatype))
    if type_.numeric:  # the column may have been one of several datatypes
        number = exp.cast(way.value(symbol), "DOUBLE")
        several = (f"{XSD}decimal", f"{XSD}double")
        written += [
            literal_text(number.copy(), Type.FLOAT, one)
            for one in several
            if one not in each or type_ is Type.DECIMAL
        ]
        if type_ is not Type.FLOAT:
            exact = exp.cast(way.value(symbol), TEXT_TYPES[Type.DECIMAL])
            written.append(literal_text(exact, Type.DECIMAL, several[0]))
    return written, way.fits(symbol)
