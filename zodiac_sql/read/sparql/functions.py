"""SPARQL's functions as SQL."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from sqlglot import exp

from zodiac_sql.database.column_types import SQL_TYPES
from zodiac_sql.database.statements import text
from zodiac_sql.facts.native_text import wall_clock
from zodiac_sql.language.symbols import XSD
from zodiac_sql.language.syntax import Type
from zodiac_sql.language.zones import is_zoned, without_zone
from zodiac_sql.read.sparql import made_terms
from zodiac_sql.read.sparql.context import refused
from zodiac_sql.read.sparql.solutions import TermForm
from zodiac_sql.read.sparql.values import (
    SparqlValue,
    as_number,
    as_string,
    as_term,
    boolean,
    call,
    catalogued,
    decimal,
    error,
    exact_of,
    exactly,
    native,
    number,
    parsed,
    sparql,
    string,
    term,
    truth,
)

Values = Sequence[SparqlValue]


def builtin(name: str, arguments: Values, expression: Any) -> SparqlValue:
    """The value of a function that SPARQL has by itself. Raises QueryError for one we have not."""
    called = name.removeprefix("Builtin_")
    if called in ("IRI", "URI"):
        return made_terms.iri(arguments, expression)
    found = _BUILTINS.get(called)
    if found is None:
        raise refused(f"{called}" if name != called else f"the expression {name}")
    if called in ("REGEX", "REPLACE") and expression.flags is not None:
        return found([*arguments[:-1], _flagged(arguments[-1])])
    if called == "BNODE" and arguments:
        raise refused("BNODE with an argument")
    return found(arguments)


def _flagged(flags: SparqlValue) -> SparqlValue:
    """The flags of a regular expression, which must be known beforehand."""
    if flags.kind != "string" or not isinstance(flags.sql, exp.Literal):
        raise refused("a regular expression whose flags are not a constant")
    wrong = set(flags.sql.name) - set("imsxq")
    if wrong:
        raise refused(f"the flag {min(wrong)} of a regular expression")
    return flags


def _str(arguments: Values) -> SparqlValue:
    (value,) = arguments
    if value.kind == "string":
        return value
    return string(sparql("str", as_term(value)))


def _lang(arguments: Values) -> SparqlValue:
    (value,) = arguments
    return string(sparql("language", as_term(value)))


def _datatype(arguments: Values) -> SparqlValue:
    (value,) = arguments
    if value.kind == "string":
        return term(_if_any(value, text(f"{XSD}string")))
    if value.kind != "term" and value.rank is None:
        return term(_if_any(value, text(without_zone(value.form.datatype))))
    return term(sparql("datatype", as_term(value)))


def _if_any(value: SparqlValue, result: exp.Expr) -> exp.Expr:
    return exp.Case().when(exp.not_(value.copy.is_(exp.null())), result)


def _of_class(*classes: str) -> Callable[[Values], SparqlValue]:
    def test(arguments: Values) -> SparqlValue:
        (value,) = arguments
        if value.kind != "term":
            literal = "literal" in classes or value.kind in classes
            return boolean(_if_any(value, exp.convert(literal)))
        found = call("struct_extract", parsed(value), text("c"))
        if "literal" in classes:
            return boolean(exp.not_(exp.paren(found.isin(text("iri"), text("blank")))))
        return boolean(found.isin(*(text(class_) for class_ in classes)))

    return test


def _same_term(arguments: Values) -> SparqlValue:
    first, second = arguments
    return boolean(as_term(first).eq(as_term(second)))


def _text_function(make: Callable[..., exp.Expr]) -> Callable[[Values], SparqlValue]:
    """A function that returns a string with the language of its first argument."""

    def apply(arguments: Values) -> SparqlValue:
        first, *others = arguments
        result = make(as_string(first), *others)
        return (
            string(result)
            if first.kind == "string"
            else term(sparql("alike", as_term(first), result))
        )

    return apply


def _substr(
    characters: exp.Expr, start: SparqlValue, length: SparqlValue | None = None
) -> exp.Expr:
    first = exp.cast(as_number(start).copy, "BIGINT")
    if length is None:
        return call("substr", characters, call("greatest", first, exp.convert(1)))
    end = exp.Add(this=first.copy(), expression=exp.cast(as_number(length).copy, "BIGINT"))
    begin = call("greatest", first, exp.convert(1))
    count = call("greatest", exp.Sub(this=end, expression=begin.copy()), exp.convert(0))
    return call("substr", characters, begin, count)


def _comparing(name: str) -> Callable[[Values], SparqlValue]:
    def compare(arguments: Values) -> SparqlValue:
        first, second = arguments
        same = boolean(call(name, as_string(first), as_string(second)))
        if "term" not in (first.kind, second.kind):
            return same
        # The second has no language, or that of the first.
        allowed = exp.or_(
            sparql("language", as_term(second)).eq(text("")),
            sparql("language", as_term(second)).eq(sparql("language", as_term(first))),
        )
        return boolean(exp.Case().when(allowed, same.sql))

    return compare


def _concat(arguments: Values) -> SparqlValue:
    if not arguments:
        return string(text(""))
    result = as_string(arguments[0])
    for other in arguments[1:]:
        result = exp.DPipe(this=result, expression=as_string(other))
    if all(value.kind == "string" for value in arguments):
        return string(result)
    languages = [sparql("language", as_term(value)) for value in arguments]
    same = exp.and_(*(language.eq(languages[0].copy()) for language in languages))
    tagged = sparql("alike", as_term(arguments[0]), result)
    plain = catalogued("quote_where_needed", result)
    return term(exp.Case().when(same, tagged).else_(plain))


def _regex(arguments: Values) -> SparqlValue:
    return boolean(call("regexp_matches", as_string(arguments[0]), _pattern(arguments[1:])))


def _pattern(arguments: Values) -> exp.Expr:
    """A regular expression, after the flags that it has."""
    written, *flags = arguments
    found = as_string(written)
    marks = set(flags[0].sql.name) if flags else set()
    if "q" in marks:  # each character stands for itself
        found, marks = call("regexp_escape", found), marks & {"i"}
    elif "x" in marks:
        if not isinstance(found, exp.Literal):
            raise refused("the flag x of a regular expression that is not a constant")
        found = text(_without_spaces(found.name))
    known = "".join(sorted(marks - {"x"}))
    return exp.DPipe(this=text(f"(?{known})"), expression=found) if known else found


def _without_spaces(pattern: str) -> str:
    """A regular expression without the spaces that stand outside of sets of characters."""
    return re.sub(r"(\\.|\[(?:\\.|[^\]\\])*\])|\s+", lambda found: found[1] or "", pattern)


def _replace(arguments: Values) -> SparqlValue:
    first, written, other, *flags = arguments
    # $1 of SPARQL is \1 in DuckDB.
    by = call("regexp_replace", as_string(other), text(r"\$([0-9])"), text(r"\\\1"), text("g"))
    result = call("regexp_replace", as_string(first), _pattern([written, *flags]), by, text("g"))
    return (
        string(result) if first.kind == "string" else term(sparql("alike", as_term(first), result))
    )


def _numeric(
    make: Callable[[exp.Expr], exp.Expr], of_integers: bool = False
) -> Callable[[Values], SparqlValue]:
    """A function of a number that keeps its datatype; most leave integers as they are."""

    def apply(arguments: Values) -> SparqlValue:
        value = as_number(arguments[0])
        rank = value.static_rank
        if rank == 0 and not of_integers:
            return number(value.copy, 0)
        if value.is_decimal:
            return decimal(call("try", exp.cast(make(value.copy), SQL_TYPES[Type.DECIMAL])))
        if rank is None:
            exact = exact_of(value)
            return exactly(exact and make(exact), make(value.copy), value.ranked)
        return number(make(value.copy), rank)

    return apply


def _rounded(value: exp.Expr) -> exp.Expr:
    """Half-way cases go up."""
    half = exp.Add(this=value, expression=exp.Literal.number("0.5"))
    return call("floor", half)


def _strlen(arguments: Values) -> SparqlValue:
    return number(exp.cast(call("length", as_string(arguments[0])), "BIGINT"), 0)


def _if(arguments: Values) -> SparqlValue:
    test, yes, no = arguments
    if _are_alike((yes, no)):
        return SparqlValue(yes.kind, _chosen(test, yes.copy, no.copy), yes.form)
    return term(_chosen(test, as_term(yes), as_term(no)))


def _are_alike(values: Values) -> bool:
    """Whether values have one form, in which one can take the place of another."""
    forms = {(value.kind, value.form) for value in values}
    return len(forms) == 1 and not any(value.rank for value in values)


def _chosen(test: SparqlValue, yes: exp.Expr, no: exp.Expr) -> exp.Expr:
    return exp.Case(this=truth(test)).when(exp.true(), yes).when(exp.false(), no)


def _coalesce(arguments: Values) -> SparqlValue:
    if not arguments:
        return error()
    first = arguments[0]
    if _are_alike(arguments):
        return SparqlValue(first.kind, call("coalesce", *(v.sql for v in arguments)), first.form)
    return term(call("coalesce", *(as_term(value) for value in arguments)))


def _lang_matches(arguments: Values) -> SparqlValue:
    language, range_ = (as_string(value) for value in arguments)
    low, wanted = call("lower", language), call("lower", range_)
    prefix = exp.DPipe(this=wanted.copy(), expression=text("-"))
    some = exp.or_(low.eq(wanted), call("starts_with", low, exp.paren(prefix)))
    any_ = exp.Case().when(range_.copy().eq(text("*")), language.copy().neq(text("")))
    return boolean(any_.else_(some))


def _part(name: str) -> Callable[[Values], SparqlValue]:
    timed = name in ("hour", "minute", "second")

    def apply(arguments: Values) -> SparqlValue:
        (value,) = arguments
        if value.kind == "date" and timed:
            return error()
        if value.kind in ("date", "moment"):
            moment = wall_clock(value.sql, value.form.datatype)
        else:
            moment = sparql("wall", parsed(value), exp.convert(timed))
        if name == "second":
            micros = exp.cast(call("microsecond", moment), "DOUBLE")
            return number(exp.Div(this=micros, expression=exp.Literal.number("1e6")), 1)
        return number(exp.cast(call(name, moment), "BIGINT"), 0)

    return apply


def cast_to(iri: str, arguments: Values) -> SparqlValue:
    """A value cast to a datatype, written as a call of the datatype."""
    local = iri.removeprefix(XSD)
    if not iri.startswith(XSD) or local not in _CASTS or len(arguments) != 1:
        raise refused(f"the function <{iri}>")
    return _CASTS[local](arguments[0])


def _to_string(value: SparqlValue) -> SparqlValue:
    return value if value.kind == "string" else string(sparql("to_string", parsed(value)))


def _to_boolean(value: SparqlValue) -> SparqlValue:
    if value.kind in ("bool", "number"):
        return boolean(truth(value))
    return boolean(sparql("to_boolean", parsed(value)))


def _to_integer(value: SparqlValue) -> SparqlValue:
    if value.kind != "number":
        return number(sparql("to_integer", parsed(value)), 0)
    if value.static_rank == 0:
        return number(value.copy, 0)
    exact = exact_of(value)
    ways = [exp.cast(value.copy, "DOUBLE"), *([] if exact is None else [exact])]
    wholes = [call("try", exp.cast(call("trunc", way), "BIGINT")) for way in reversed(ways)]
    return number(call("coalesce", *wholes), 0)


def _to_number(datatype: str, rank: int) -> Callable[[SparqlValue], SparqlValue]:
    def cast(value: SparqlValue) -> SparqlValue:
        if value.kind != "number" and rank == 1:
            return decimal(sparql("to_decimal", parsed(value)))
        if value.kind != "number":
            return number(sparql("to_number", parsed(value), text(datatype)), rank)
        if rank == 1 and value.form.type in (Type.INT, Type.DECIMAL):
            return decimal(value.copy)
        if rank == 1 and value.rank is not None:
            exact = exact_of(value) or exp.null()
            return decimal(call("coalesce", exact, sparql("as_decimal", value.sql)))
        found: exp.Expr = exp.cast(value.copy, "DOUBLE")
        if rank == 1:
            found = exp.Case().when(call("isfinite", found), found.copy())
        return number(found, rank)

    return cast


def _to_date(value: SparqlValue) -> SparqlValue:
    if value.kind == "date":
        return value
    if value.kind == "moment" and not is_zoned(value.form.datatype):
        return native(exp.cast(value.copy, "DATE"), TermForm(Type.DATE, f"{XSD}date"))
    return term(sparql("to_date", parsed(value)))


_CASTS: dict[str, Callable[[SparqlValue], SparqlValue]] = {
    "string": _to_string, "boolean": _to_boolean, "integer": _to_integer, "date": _to_date,
    "decimal": _to_number("decimal", 1), "float": _to_number("float", 2),
    "double": _to_number("double", 3), "dateTime": made_terms.to_moment,
}  # fmt: skip

_BUILTINS: dict[str, Callable[[Values], SparqlValue]] = {
    "STR": _str,
    "LANG": _lang,
    "DATATYPE": _datatype,
    "isIRI": _of_class("iri"),
    "isURI": _of_class("iri"),
    "isBLANK": _of_class("blank"),
    "isLITERAL": _of_class("literal"),
    "isNUMERIC": _of_class("number"),
    "sameTerm": _same_term,
    "REGEX": _regex,
    "REPLACE": _replace,
    "UCASE": _text_function(lambda s: call("upper", s)),
    "LCASE": _text_function(lambda s: call("lower", s)),
    "SUBSTR": _text_function(_substr),
    "STRLEN": _strlen,
    "STRSTARTS": _comparing("starts_with"),
    "STRENDS": _comparing("ends_with"),
    "CONTAINS": _comparing("contains"),
    "CONCAT": _concat,
    "LANGMATCHES": _lang_matches,
    "IF": _if,
    "COALESCE": _coalesce,
    "ABS": _numeric(lambda x: call("abs", x), of_integers=True),
    "CEIL": _numeric(lambda x: call("ceil", x)),
    "FLOOR": _numeric(lambda x: call("floor", x)),
    "ROUND": _numeric(_rounded),
    "YEAR": _part("year"),
    "MONTH": _part("month"),
    "DAY": _part("day"),
    "HOURS": _part("hour"),
    "MINUTES": _part("minute"),
    "SECONDS": _part("second"),
    "TZ": made_terms.zone,
    "TIMEZONE": made_terms.time_zone,
    "NOW": made_terms.now,
    "RAND": made_terms.random_number,
    "STRLANG": made_terms.with_language,
    "STRDT": made_terms.with_datatype,
    "STRBEFORE": made_terms.before,
    "STRAFTER": made_terms.after,
    "ENCODE_FOR_URI": made_terms.encoded,
    "BNODE": made_terms.blank_node,
    "UUID": made_terms.uuid_iri,
    "STRUUID": made_terms.uuid_text,
    "MD5": made_terms.text_function("md5"),
    "SHA1": made_terms.text_function("sha1"),
    "SHA256": made_terms.text_function("sha256"),
}
