"""Hypernodes whose rules only copy facts, perhaps with columns in another order.

Equivalent classes and properties of an ontology, its inverse properties, and a relation that is
symmetric are of this kind: p(X, Y) :- q(Y, X). q(X, Y) :- p(Y, X). All that such rules derive of a
predicate are facts that reach one of them from outside, each in some order of its columns. So the
rules themselves say which facts these are, and no recursion is needed. (RS2, w = 200: 16 ms for p20
to p22 instead of 45.)

The rank of a fact is the number of rules that copy it, one after the other, at least. So before the
last of them it had a lower one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from zodiac_sql.database.statements import create_temp, union_all
from zodiac_sql.database.store import Store
from zodiac_sql.evaluate.semi_naive import Fixpoint, table_name
from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.language.schema import Schema
from zodiac_sql.language.syntax import Atom, Column, Rule, Variable
from zodiac_sql.names import RANK
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.plan import Version
from zodiac_sql.sql.relations import Part, Relation, columns_of, relation_query

MOST_SOURCES = 16
"""Where a predicate has more sources than this, rounds do it: a statement would unite them all."""

Order = tuple[int, ...]
"""For each column of a copy, the place of that column in what is copied."""

Sources = Mapping[tuple[str, Order], int]
"""From which predicates the facts come, in which order, and by how many rules at least."""


def copied(store: Store, hypernode: Hypernode, schema: Schema, context: Context) -> Fixpoint | None:
    """The facts that rules copy, or None if they do anything else."""
    sources = sources_in(hypernode, schema)
    if sources is None:
        return None
    given = {name: context.relation(name, Version.ALL) for name in hypernode.derives}
    parts: dict[str, Part] = {}
    once: dict[tuple[str, Order], Relation] = {}
    for predicate in hypernode.derives:
        there = {key: number for key, number in sources[predicate].items() if given[key[0]].rows}
        if not there:
            continue
        own = Relation(schema[predicate].columns, ())
        name = table_name(hypernode, predicate, schema)
        if rows := store.count(create_temp(name, _copies(own, there, given, once))):
            parts[predicate] = Part("temp", name, rows, ranked=True)
            if len(there) == 1:
                once.setdefault(next(iter(there)), Relation(own.columns, (parts[predicate],)))
    return Fixpoint(parts, 1, "copies")


def shared(rule: Rule, schema: Schema, context: Context) -> Part | None:
    """The table of the facts that a rule copies, if it can be that of the copies, too.

    Of an ontology's rules, many do nothing else.
    """
    order = _order(rule, schema)
    if order is None:
        return None
    (body,) = rule.positive_atoms()
    facts = context.relation(body.predicate, Version.ALL)
    return table_of_copies(facts, order, schema[rule.head.predicate].columns)


def table_of_copies(facts: Relation, order: Order, columns: tuple[Column, ...]) -> Part | None:
    """The table of some facts, if that is a temporary one and has them as their copies are."""
    if len(facts.parts) != 1 or order != tuple(range(len(order))) or facts.columns != columns:
        return None
    (part,) = facts.parts
    return part if part.is_temporary else None


def sources_in(hypernode: Hypernode, schema: Schema) -> dict[str, Sources] | None:
    """The sources of each predicate, or None if rules do anything else than copy."""
    if hypernode.bests:
        return None
    orders = [order for rule in hypernode.rules if (order := _order(rule, schema)) is not None]
    if len(orders) < len(hypernode.rules):
        return None
    steps = [
        _Step(rule.head.predicate, next(rule.positive_atoms()).predicate, order)
        for rule, order in zip(hypernode.rules, orders, strict=True)
    ]
    sources = {name: _sources(name, steps) for name in hypernode.derives}
    return None if any(len(s) > MOST_SOURCES for s in sources.values()) else sources


@dataclass(frozen=True, slots=True)
class _Step:
    """A rule: what it derives, of what, and in which order of columns."""

    head: str
    body: str
    order: Order


def _order(rule: Rule, schema: Schema) -> Order | None:
    """The order in which a rule copies columns; None if that is not all that it does."""
    if len(rule.body) != 1 or not isinstance(rule.body[0], Atom):
        return None
    body, head = rule.body[0].terms, rule.head.terms
    if len(set(body)) < len(body) or not all(isinstance(term, Variable) for term in body):
        return None
    if len(head) != len(body) or set(head) != set(body):
        return None
    order = tuple(body.index(term) for term in head)
    there, here = (schema[name].columns for name in (rule.body[0].predicate, rule.head.predicate))
    same = all(there[place].type == column.type for place, column in zip(order, here, strict=True))
    return order if same else None


def _sources(predicate: str, steps: list[_Step]) -> Sources:
    """Where the facts of a predicate come from."""
    found: dict[tuple[str, Order], int] = {}
    last = [(step.body, step.order) for step in steps if step.head == predicate]
    while last and len(found) <= MOST_SOURCES:
        number = max(found.values(), default=0) + 1
        found.update({source: number for source in last if source not in found})
        last = [
            source
            for name, order in [key for key, after in found.items() if after == number]
            for step in steps
            if step.head == name
            if (source := (step.body, tuple(step.order[place] for place in order))) not in found
        ]
    return found


def _copies(
    own: Relation,
    sources: Sources,
    given: Mapping[str, Relation],
    once: Mapping[tuple[str, Order], Relation],
) -> exp.Select:
    """The facts of a predicate from its sources, each once, with the least of its ranks.

    `once` has tables with the facts of one source, which are then read instead of it.
    """
    names = columns_of(own)
    if len(sources) == 1:
        ((source, number),) = sources.items()
        if source in once:
            same = copy_query(own, once[source], tuple(range(len(own.columns))))
            return same.select(_rank_column(number), copy=False)
    queries = [copy_query(own, given[name], order) for name, order in sources]
    if len(queries) == 1:
        rows = exp.select(*names).distinct().from_(queries[0].subquery("c", copy=False))
        return exp.select(*names, _rank_column(number)).from_(rows.subquery("d", copy=False))
    ranked = [
        query.select(_rank_column(number), copy=False)
        for query, number in zip(queries, sources.values(), strict=True)
    ]
    least = exp.Min(this=exp.column(RANK, quoted=True)).as_(RANK, quoted=True)
    rows = exp.select(*names, least).from_(union_all(ranked).subquery("c", copy=False))
    return rows.group_by(*(name.copy() for name in names))


def _rank_column(number: int) -> exp.Expr:
    """A rank that all rows of a query get."""
    return exp.cast(exp.Literal.number(number), "BIGINT").as_(RANK, quoted=True)


def copy_query(own: Relation, given: Relation, order: Order) -> exp.Select:
    """The facts of one source, with the columns of the copy."""
    there = columns_of(given, "g")
    taken = [there[place] for place in order] if own.columns else there
    named = [
        value.as_(column.name, quoted=True) for value, column in zip(taken, own.stored, strict=True)
    ]
    return exp.select(*named).from_(relation_query(given).subquery("g", copy=False))
