"""CONSTRUCT and DESCRIBE: queries whose answer is a graph, a row for each triple.

SPARQL 1.1, sections 16.2 and 16.4. What would be no triple, because a variable is unbound or a
literal stands where none can, is left out. A description of a resource has all triples of which it
is the subject, and those of the blank nodes in them (a concise bounded description).
"""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from zodiac_sql.database.statements import text
from zodiac_sql.read.sparql.context import QueryContext, is_variable
from zodiac_sql.read.sparql.patterns import Patterns
from zodiac_sql.read.sparql.solutions import TEXT, Solutions, column, in_form
from zodiac_sql.read.sparql.terms import symbol

TRIPLE = ("subject", "predicate", "object")
"""The columns of the answer: terms, as symbols are written (language/symbols.py)."""

_SOLUTIONS, _NUMBER = "solutions", "number"


def constructed(algebra: Any, context: QueryContext) -> exp.Query:
    """The triples of a CONSTRUCT. Blank nodes of its template are others in each solution."""
    solutions = texts_of(Patterns(context).solutions(algebra.p), context)
    template = _triples(algebra.p) if algebra.template is None else algebra.template
    table = exp.select(exp.Star(), exp.Window(this=exp.RowNumber()).as_(_NUMBER))
    table = table.from_(solutions.subquery("q"))
    parts = [_instances(triple, solutions, context) for triple in template]
    if not parts:
        nothing = (exp.cast(exp.null(), "VARCHAR").as_(name) for name in TRIPLE)
        return exp.select(*nothing).where(exp.false())
    union: exp.Query = parts[0]
    for part in parts[1:]:
        union = exp.union(union, part, distinct=True, copy=False)
    found = exp.select(*TRIPLE).distinct().from_(union.subquery("u"))
    return found.where(*_is_triple("u")).with_(_SOLUTIONS, as_=table, materialized=True)


def texts_of(solutions: Solutions, context: QueryContext) -> Solutions:
    """Solutions whose terms are all written as symbols are, with their datatypes."""
    return in_form(solutions, dict.fromkeys(solutions.columns, TEXT), context.names)


def _triples(part: Any) -> list[Any]:
    """The triples of `CONSTRUCT WHERE { .. }`, which are its pattern, too."""
    while part.name != "BGP":
        part = part.p
    return list(part.triples)


def _instances(triple: Any, solutions: Solutions, context: QueryContext) -> exp.Select:
    """A triple of a template, for each solution."""
    terms = zip(triple, TRIPLE, strict=True)
    values = [_term(term, solutions, context).as_(name) for term, name in terms]
    return exp.select(*values).from_(exp.to_table(_SOLUTIONS))


def _term(term: Any, solutions: Solutions, context: QueryContext) -> exp.Expr:
    from rdflib import BNode

    if isinstance(term, BNode) and context.variable(term) not in solutions.columns:
        return exp.Concat(expressions=[text(f"_:c{term}_"), exp.column(_NUMBER)])
    if is_variable(term):
        name = context.variable(term)
        known = name in solutions.columns
        return column(name, _SOLUTIONS) if known else exp.cast(exp.null(), "VARCHAR")
    return text(symbol(term))


def _kind(name: str, table: str) -> exp.Expr:
    return exp.Anonymous(this="zodiac.kind", expressions=[exp.column(name, table=table)])


def _is_triple(table: str) -> list[exp.Expr]:
    """Conditions that hold for triples only."""
    there = [exp.column(name, table=table).is_(exp.null()).not_() for name in TRIPLE]
    subject = _kind("subject", table).isin(text("iri"), text("blank"))
    return [*there, subject, _kind("predicate", table).eq(text("iri"))]


def described(algebra: Any, context: QueryContext) -> exp.Query:
    """The descriptions of the resources of a DESCRIBE."""
    resources, triples = _resources(algebra, context), _all_triples(context)
    start = exp.select("resource").from_(resources.subquery("r"))
    blank = exp.select(exp.column("object", table="t").as_("resource"))
    blank = blank.from_(exp.to_table("triples").as_("t"))
    blank = blank.join(
        exp.to_table("described").as_("d"),
        on=exp.column("subject", table="t").eq(exp.column("resource", table="d")),
    ).where(_kind("object", "t").eq(text("blank")))
    described_ = exp.union(start, blank, distinct=True, copy=False)
    found = exp.select(*(exp.column(name, table="t") for name in TRIPLE)).distinct()
    found = found.from_(exp.to_table("triples").as_("t")).join(
        exp.to_table("described").as_("d"),
        on=exp.column("subject", table="t").eq(exp.column("resource", table="d")),
        join_type="SEMI",
    )
    return found.with_("triples", as_=triples).with_("described", as_=described_, recursive=True)


def _resources(algebra: Any, context: QueryContext) -> exp.Query:
    """What is to be described: the constants, and what the variables are in the solutions."""
    named = [term for term in algebra.PV if not is_variable(term)]
    parts: list[exp.Query] = [exp.select(text(symbol(term)).as_("resource")) for term in named]
    if algebra.p is not None:
        solutions = texts_of(Patterns(context).solutions(algebra.p), context)
        wanted = [context.variable(term) for term in algebra.PV if is_variable(term)]
        alias = "s"
        for name in wanted:
            if name in solutions.columns:
                value = column(name, alias).as_("resource")
                parts.append(exp.select(value).from_(solutions.subquery(alias)))
    if not parts:
        return exp.select(exp.cast(exp.null(), "VARCHAR").as_("resource")).where(exp.false())
    union = parts[0]
    for part in parts[1:]:
        union = exp.union(union, part, distinct=True)
    return union


def _all_triples(context: QueryContext) -> exp.Query:
    """Every triple, as a pattern of three variables finds it."""
    from rdflib import Variable
    from rdflib.plugins.sparql.parserutils import CompValue

    # Names that no user can write, so that they are no variables of the query.
    variables = [Variable(f"\0{name}") for name in TRIPLE]
    pattern = CompValue("BGP", triples=[tuple(variables)])
    solutions = texts_of(Patterns(context).solutions(pattern), context)
    values = [
        column(context.variable(variable), "q").as_(name)
        for variable, name in zip(variables, TRIPLE, strict=True)
    ]
    return exp.select(*values).from_(solutions.subquery("q"))
