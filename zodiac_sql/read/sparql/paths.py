"""Property paths. `/`, `|` and `^` become patterns; `*`, `+` and `?` have each pair once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlglot import exp

from zodiac_sql.database.statements import text
from zodiac_sql.read.sparql.context import QueryContext, is_variable, refused
from zodiac_sql.read.sparql.solutions import (
    ID,
    TEXT,
    Solutions,
    TermColumn,
    TermForm,
    column,
    in_form,
    select,
    united,
)
from zodiac_sql.read.sparql.terms import symbol
from zodiac_sql.read.sparql.triples import Triple, pattern, together


@dataclass(frozen=True, slots=True)
class _Seed:
    """Subjects or objects that the variable at an end of a path is known to be one of."""

    end: int
    """0 for the subject of the path, 1 for its object."""
    terms: Solutions
    """They are in the column n."""

    def query(self) -> exp.Query:
        return self.terms.query.copy()


def basic(triples: Iterable[Triple], context: QueryContext) -> Solutions:
    """The solutions of a basic graph pattern, whose properties can be paths.

    A path begins with the terms that other triples have for one of its ends, if any do.
    """
    steps = [step for triple in triples for step in _steps(triple)]
    plain = [step for step in steps if _is_plain(step[1])]
    found = [(step, pattern(step, context)) for step in plain]
    parts = [part for _, part in found]
    for step in steps:
        if not _is_plain(step[1]):
            parts.append(_part(step, found, context))
    return together(parts, context)


def _is_plain(path: Any) -> bool:
    from rdflib import URIRef

    return isinstance(path, URIRef) or is_variable(path)


def _steps(triple: Triple) -> Iterator[Triple]:
    """A triple as triples without `/` and `^`, joined by new variables."""
    from rdflib import BNode
    from rdflib.paths import InvPath, SequencePath

    subject, path, object_ = triple
    if isinstance(path, InvPath):
        yield from _steps((object_, path.arg, subject))
    elif isinstance(path, SequencePath):
        nodes = [subject, *(BNode() for _ in path.args[1:]), object_]
        for step in zip(nodes, path.args, nodes[1:], strict=False):
            yield from _steps(step)
    else:
        yield triple


def _part(
    triple: Triple, others: Sequence[tuple[Triple, Solutions]], context: QueryContext
) -> Solutions:
    """The solutions of a triple with a path, given those of others in the same pattern."""
    from rdflib.paths import AlternativePath, MulPath, NegatedPath

    subject, path, object_ = triple
    if isinstance(path, AlternativePath):
        ways = [(subject, arg, object_) for arg in path.args]
        return united([basic([way], context) for way in ways], context.names)
    if isinstance(path, NegatedPath):
        return _negated(subject, path, object_, context)
    if isinstance(path, MulPath):
        return _repeated(triple, _seed(subject, object_, others, context), context)
    raise refused(f"the property path {path.n3()}")


def _seed(
    subject: Any, object_: Any, others: Sequence[tuple[Triple, Solutions]], context: QueryContext
) -> _Seed | None:
    """What other triples tell of one end of a path, if both are variables: rather as numbers."""
    if not (is_variable(subject) and is_variable(object_)):
        return None
    known = [
        (found.columns[name].form != ID, len(found.columns), end, name, found)
        for end, term in enumerate((subject, object_))
        for other, found in others
        if term in (other[0], other[2]) and (name := context.variable(term)) in found.columns
    ]
    if not known:
        return None
    *_, end, name, found = min(known, key=lambda each: each[:3])
    alias = context.names.fresh()
    query = select((("n", column(name, alias)),)).distinct(copy=False)
    query = query.from_(found.query.copy().subquery(alias, copy=False), copy=False)
    return _Seed(end, Solutions(query, {"n": found.columns[name]}))


def _negated(subject: Any, path: Any, object_: Any, context: QueryContext) -> Solutions:
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


def _repeated(triple: Triple, seed: _Seed | None, context: QueryContext) -> Solutions:
    """The pairs of a path with `*`, `+` or `?`, each once."""
    subject, path, object_ = triple
    ends = (subject, object_)
    edges = _edges(path.path, context)
    form = _form(edges, path, ends, seed, context)
    edges = in_form(edges, {"a": form, "b": form}, context.names)
    if seed is not None:
        seed = replace(seed, terms=in_form(seed.terms, {"n": form}, context.names))
    query: exp.Query
    if path.mod == "?":
        query = exp.select(exp.Star()).distinct().from_(edges.subquery("e"))
    else:
        query = _closure(edges, ends, form, seed, context)
    if path.mod != "+":
        zero = _zero_steps(ends, form, seed, context)
        query = exp.union(query, zero, distinct=True, copy=False)
    return _bound(query, ends, form, context)


def _form(
    edges: Solutions, path: Any, ends: tuple[Any, Any], seed: _Seed | None, context: QueryContext
) -> TermForm:
    """The form of the pairs of a path: numbers if all its terms are in the dictionary."""
    constants = [symbol(term) for term in ends if not is_variable(term)]
    forms = {edges.columns["a"].form}
    if seed is not None:
        forms.add(seed.terms.columns["n"].form)
    elif path.mod != "+" and not constants:
        return TEXT
    return ID if forms == {ID} and all(text_ in context.ids for text_ in constants) else TEXT


def _edges(path: Any, context: QueryContext) -> Solutions:
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


def _value(term: Any, form: TermForm, context: QueryContext) -> exp.Expr:
    """A constant in one of the forms TEXT and ID."""
    wanted = symbol(term)
    return exp.convert(context.ids[wanted]) if form == ID else text(wanted)


def _closure(
    edges: Solutions,
    ends: tuple[Any, Any],
    form: TermForm,
    seed: _Seed | None,
    context: QueryContext,
) -> exp.Select:
    """The pairs a, b with a way of one or more edges, from or to what is known of an end."""
    subject, object_ = ends
    edge, path, alias = (context.names.fresh() for _ in range(3))
    backwards = is_variable(subject) and not is_variable(object_)
    if seed is not None:
        backwards = seed.end == 1
    near, far = ("b", "a") if backwards else ("a", "b")
    start = exp.select("a", "b").from_(exp.to_table(edge))
    known = object_ if backwards else subject
    if not is_variable(known):
        start = start.where(exp.column(near).eq(_value(known, form, context)))
    elif seed is not None:
        start = start.where(exp.column(near).isin(query=seed.query()))
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


def _zero_steps(
    ends: tuple[Any, Any], form: TermForm, seed: _Seed | None, context: QueryContext
) -> exp.Query:
    """The pairs of no step: constants with themselves, else what is known, else all terms."""
    constants = [term for term in ends if not is_variable(term)]
    if constants:
        first = _value(constants[0], form, context)
        query = select((("a", first), ("b", first.copy())))
        return query if len({*map(symbol, constants)}) == 1 else query.where(exp.false())
    if seed is not None:
        alias = context.names.fresh()
        query = select((("a", column("n", alias)), ("b", column("n", alias))))
        return query.from_(seed.query().subquery(alias, copy=False), copy=False)
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


def _bound(
    query: exp.Query, ends: tuple[Any, Any], form: TermForm, context: QueryContext
) -> Solutions:
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
    return Solutions(result, {name: TermColumn(form, True) for name in values})
