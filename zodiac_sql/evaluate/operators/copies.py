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

from sqlglot import exp

from zodiac_sql.cost.calibration import DERIVED, STATEMENT
from zodiac_sql.cost.operator import Cost, Operator
from zodiac_sql.database.statements import create_temp, union_all
from zodiac_sql.evaluate.evaluation import Evaluates, Evaluation
from zodiac_sql.evaluate.semi_naive import Fixpoint, table_name
from zodiac_sql.language.schema import Schema
from zodiac_sql.language.syntax import Column, Rule
from zodiac_sql.names import RANK
from zodiac_sql.rewrite.copies import Order, Sources, order_of
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.plan import Version
from zodiac_sql.sql.relations import Part, Relation, columns_of, relation_query


def copied(work: Evaluation) -> Fixpoint:
    """The facts that rules copy."""
    store, schema, context = work.store, work.schema, work.context
    hypernode, sources = work.hypernode, work.forms.copies
    assert sources is not None
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
    order = order_of(rule, schema)
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


def _matches(work: Evaluation) -> bool:
    return work.is_recursion and not work.store.watch.counts and work.forms.copies is not None


def _cost(work: Evaluation) -> Cost:
    rows = sum(work.context.relation(p, Version.ALL).rows for p in work.hypernode.derives)
    return Cost(STATEMENT * len(work.hypernode.derives) + DERIVED * rows, "rules only copy facts")


COPIES: Evaluates = Operator("copies", _matches, _cost, lambda work, _: copied(work))
