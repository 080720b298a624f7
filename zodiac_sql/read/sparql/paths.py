"""Property paths. `/`, `|` and `^` become patterns; `*`, `+` and `?` have each pair once."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from zodiac_sql.database.statements import text
from zodiac_sql.read.sparql.context import Context, is_variable, refused
from zodiac_sql.read.sparql.solutions import (
    ID,
    TEXT,
    Column,
    Form,
    Solutions,
    column,
    in_form,
    select,
    united,
)
from zodiac_sql.read.sparql.terms import symbol
from zodiac_sql.read.sparql.triples import Triple, pattern, together


def basic(triples: list[Triple], context: Context) -> Solutions:
    """The solutions of a basic graph pattern, whose properties can be paths."""
    return together([part for triple in triples for part in parts_of(triple, context)], context)


def parts_of(triple: Triple, context: Context) -> list[Solutions]:
    """Patterns whose join has the solutions of a triple pattern."""
    from rdflib import BNode, URIRef
    from rdflib.paths import AlternativePath, InvPath, MulPath, NegatedPath, SequencePath

    subject, path, object_ = triple
    if isinstance(path, URIRef) or is_variable(path):
        return [pattern(triple, context)]
    if isinstance(path, InvPath):
        return parts_of((object_, path.arg, subject), context)
    if isinstance(path, SequencePath):
        nodes = [subject, *(BNode() for _ in path.args[1:]), object_]
        steps = zip(nodes, path.args, nodes[1:], strict=False)
        return [part for step in steps for part in parts_of(step, context)]
    if isinstance(path, AlternativePath):
        ways = [(subject, arg, object_) for arg in path.args]
        return [united([basic([way], context) for way in ways], context.names)]
    if isinstance(path, NegatedPath):
        return [_negated(subject, path, object_, context)]
    if isinstance(path, MulPath):
        return [_repeated(subject, path, object_, context)]
    raise refused(f"the property path {path.n3()}")


def _negated(subject: Any, path: Any, object_: Any, context: Context) -> Solutions:
    """Triples whose property is none of some."""
    from rdflib import BNode, URIRef

    if not all(isinstance(arg, URIRef) for arg in path.args):
        raise refused("an inverse property in a negated set, !(^p), which rdflib cannot parse,")
    node = BNode()
    found = pattern((subject, node, object_), context)
    name, alias = context.variable(node), context.names.fresh()
    others = [n for n in found.columns if n != name]
    named = in_form(found, {name: TEXT}, context.names)
    query = select((n, column(n, alias)) for n in others)
    query = query.from_(named.subquery(alias), copy=False)
    excluded = column(name, alias).isin(*(text(symbol(arg)) for arg in path.args))
    return Solutions(
        query.where(exp.not_(excluded), copy=False), {n: found.columns[n] for n in others}
    )


def _repeated(subject: Any, path: Any, object_: Any, context: Context) -> Solutions:
    """The pairs of a path with `*`, `+` or `?`, each once."""
    ends = (subject, object_)
    edges = _edges(path.path, context)
    form = edges.columns["a"].form
    constants = [term for term in ends if not is_variable(term)]
    if path.mod != "+" and not constants:
        form = TEXT
    if any(form == ID and symbol(term) not in context.ids for term in constants):
        form = TEXT
    if form.type not in (None, ID.type):
        form = TEXT
    edges = in_form(edges, {"a": form, "b": form}, context.names)
    query: exp.Query = _once(edges) if path.mod == "?" else _closure(edges, ends, form, context)
    if path.mod != "+":
        query = exp.union(query, _zero_steps(ends, form, context), distinct=True, copy=False)
    return _bound(query, ends, form, context)


def _edges(path: Any, context: Context) -> Solutions:
    """The pairs of the path that is repeated: columns a and b, of one form."""
    from rdflib import BNode

    first, last = BNode(), BNode()
    found = basic([(first, path, last)], context)
    renamed = [("a", context.variable(first)), ("b", context.variable(last))]
    alias = context.names.fresh()
    query = select((new, column(old, alias)) for new, old in renamed)
    query = query.from_(found.subquery(alias), copy=False)
    edges = Solutions(query, {new: found.columns[old] for new, old in renamed})
    forms = {known.form for known in edges.columns.values()}
    if len(forms) > 1:
        edges = in_form(edges, dict.fromkeys(("a", "b"), TEXT), context.names)
    return edges


def _value(term: Any, form: Form, context: Context) -> exp.Expr:
    """A constant in one of the forms TEXT and ID."""
    wanted = symbol(term)
    return exp.convert(context.ids[wanted]) if form == ID else text(wanted)


def _once(edges: Solutions) -> exp.Select:
    return (
        exp.select("*")
        .distinct()
        .from_(
            edges.subquery(
                "e",
            ),
            copy=False,
        )
    )


def _closure(edges: Solutions, ends: tuple[Any, Any], form: Form, context: Context) -> exp.Select:
    """The pairs a, b with a way of one or more edges, from or to a constant if there is one."""
    subject, object_ = ends
    edge, path, alias = (context.names.fresh() for _ in range(3))
    backwards = is_variable(subject) and not is_variable(object_)
    near, far = ("b", "a") if backwards else ("a", "b")
    start = exp.select("a", "b").from_(exp.to_table(edge))
    known = object_ if backwards else subject
    if not is_variable(known):
        start = start.where(exp.column(near).eq(_value(known, form, context)))
    step = (
        select(((near, column(near, path)), (far, column(far, alias))))
        if near == "a"
        else select(((far, column(far, alias)), (near, column(near, path))))
    )
    step = step.from_(exp.to_table(path)).join(
        exp.to_table(edge).as_(alias), on=column(far, path).eq(column(near, alias))
    )
    way = exp.union(start, step, distinct=True, copy=False)
    return (
        exp.select("a", "b")
        .from_(exp.to_table(path))
        .with_(edge, as_=edges.query, recursive=True)
        .with_(path, as_=way, recursive=True)
    )


def _zero_steps(ends: tuple[Any, Any], form: Form, context: Context) -> exp.Query:
    """The pairs of no step: constants with themselves, else all terms of the graph."""
    constants = [term for term in ends if not is_variable(term)]
    if constants:
        first = _value(constants[0], form, context)
        query = select((("a", first), ("b", first.copy())))
        return query if len({*map(symbol, constants)}) == 1 else query.where(exp.false())
    from rdflib import Variable

    spo = Variable("\0s"), Variable("\0p"), Variable("\0o")
    found = pattern(spo, context)
    texts = in_form(found, dict.fromkeys(found.columns, TEXT), context.names)
    sides = []
    for term in (spo[0], spo[2]):
        alias, name = context.names.fresh(), context.variable(term)
        query = select((("a", column(name, alias)), ("b", column(name, alias))))
        sides.append(query.from_(texts.query.copy().subquery(alias), copy=False))
    return exp.union(*sides, distinct=True, copy=False)


def _bound(query: exp.Query, ends: tuple[Any, Any], form: Form, context: Context) -> Solutions:
    """Pairs as solutions of the terms at their ends."""
    alias = context.names.fresh()
    values: dict[str, exp.Expr] = {}
    conditions: list[exp.Expr] = []
    for name, term in zip(("a", "b"), ends, strict=True):
        value = column(name, alias)
        if not is_variable(term):
            conditions.append(value.eq(_value(term, form, context)))
        elif (variable := context.variable(term)) in values:
            conditions.append(values[variable].copy().eq(value))
        else:
            values[variable] = value
    result = select(values.items()).from_(query.subquery(alias, copy=False), copy=False)
    if conditions:
        result = result.where(*conditions, copy=False)
    return Solutions(result, {name: Column(form, True) for name in values})
