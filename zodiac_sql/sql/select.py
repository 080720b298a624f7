"""A plan or a query as one SELECT: a sqlglot tree, which can be written in any dialect.

A rule becomes its body (sql/body.py) with the head as projection. Variables of symbol type are ids;
inside functions and order comparisons they are their text (sql/values.py). No SQL is ever put
together as text.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from zodiac_sql.language.binding import arrange, variables
from zodiac_sql.language.mixed import reads_values
from zodiac_sql.language.syntax import Atom, Call, Column, Literal, Rule, Type, Variable
from zodiac_sql.language.types import body_types, expression_type, is_narrowed
from zodiac_sql.names import RANK
from zodiac_sql.sql.body import Body
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.duplicates import has_duplicates
from zodiac_sql.sql.forms import ENCODED
from zodiac_sql.sql.plan import Plan, Version
from zodiac_sql.sql.relations import HOLDS


@dataclass(frozen=True, slots=True)
class Compiled:
    """A rule's SELECT. `texts` are the head columns that hold text, still to be encoded.

    `duplicates` tells whether the same row may come out twice.
    """

    query: exp.Select
    texts: tuple[str, ...]
    duplicates: bool


def compile_rule(
    plan: Plan,
    head: Sequence[Column],
    context: Context,
    *,
    ranked: bool = False,
    as_text: Collection[str] = (),
    as_ids: bool = False,
) -> Compiled:
    """The SELECT of a plan: one output column for each column of the head's predicate.

    Symbols are ids, except those that a function made, and those in the columns `as_text`; if all
    are wanted `as_ids`, a text that no symbol has is NULL. With
    `ranked`, there is also the column of ranks: the least rank that comes after all facts of ranked
    relations in the body. If a ranked candidate is scanned, only facts of lower ranks than its own
    take part.
    """
    body = Body(context, plan.rule.body, plan.state)
    body.build(plan, {variable.name for variable in variables(*plan.rule.head.terms)})
    texts = []
    query = body.joins.query
    for column, term in zip(head, plan.rule.head.terms, strict=True):
        value = body.values.of(term)
        if column.mixed:
            value = body.as_term(term, value)
        made = (value.text or column.name in as_text) and not as_ids
        if made:
            texts.append(column.name)
        if value.text and as_ids:
            stored = body.values.as_id(value)
        else:
            stored = body.values.shown(value) if made else body.values.stored(value, column)
        query = query.select(stored.as_(column.name, quoted=True, copy=False), copy=False)
    if not head:
        query = query.select(exp.true().as_(HOLDS.name, quoted=True))
    if ranked:
        query = query.select(body.next_rank().as_(RANK, quoted=True), copy=False)
    return Compiled(query, tuple(texts), has_duplicates(plan, head, context))


def compile_goals(
    goals: tuple[Literal, ...], answers: Sequence[str], context: Context
) -> exp.Select:
    """The SELECT DISTINCT that answers a query: one column, decoded, for each variable."""
    body = Body(context, goals)
    body.build_goals(arrange(goals), kept=answers)
    values = [body.values.of(Variable(name)) for name in answers]
    columns = [
        body.values.shown(value).as_(name, quoted=True)
        for name, value in zip(answers, values, strict=True)
    ]
    if not columns:
        columns = [exp.true().as_(HOLDS.name, quoted=True)]
    return body.joins.query.select(*columns, copy=False).distinct(copy=False)


def compile_facts_without_value(atom: Atom, call: Call, context: Context) -> exp.Select:
    """The SELECT of the facts of an atom, as they are stored, for which a call has no value."""
    body = Body(context, (atom,))
    body.build_goals(arrange((atom,)))
    body.joins.where(body.values.of(call).sql.is_(exp.null()))
    body.joins.restrict()
    known = body.values.known.items()
    columns = (value.sql.copy().as_(name, quoted=True) for name, value in known)
    return body.joins.query.select(*columns, copy=False)


@dataclass(frozen=True, slots=True)
class Instances:
    """The SELECT of a rule's instances: a column for each variable, named as it is.

    `kinds` tells for each variable its type, and whether it is text instead of an id (forms.py).
    """

    query: exp.Select
    kinds: dict[str, tuple[Type | None, int]]


def compile_instances(plan: Plan, context: Context) -> Instances:
    """The SELECT of all instances of a plan's rule, with the values of all its variables.

    If ranked relations are scanned, there is also the column of ranks.
    """
    body = Body(context, plan.rule.body, plan.state)
    body.build(plan)
    known = body.values.known
    told = {name: body.values.told(value) for name, value in known.items()}
    columns = [value.sql.copy().as_(name, quoted=True) for name, value in told.items()]
    query = body.joins.query.select(*columns, copy=False)
    query = query.select(body.next_rank().as_(RANK, quoted=True), copy=False)
    return Instances(query, {name: (value.type, value.text) for name, value in told.items()})


@dataclass(frozen=True, slots=True)
class Uses:
    """The SELECT of a rule's instances with some facts of their bodies.

    It has a column for each of the `variables`, that of ranks, and those of each fact: `facts` has
    a predicate and the names of the columns, the last of which is the fact's rank if it has one.
    """

    query: exp.Select
    variables: tuple[str, ...]
    facts: tuple[tuple[str, tuple[str, ...]], ...]


def compile_uses(plan: Plan, predicates: Collection[str], context: Context) -> Uses:
    """The SELECT of all instances of a plan's rule, with the facts of some predicates."""
    body = Body(context, plan.rule.body, plan.state)
    body.build(plan)
    known = body.values.known
    told = [(name, body.values.told(value)) for name, value in known.items()]
    columns = [value.sql.copy().as_(name, quoted=True) for name, value in told]
    query = body.joins.query.select(*columns, body.next_rank().as_(RANK, quoted=True), copy=False)
    ranks = iter(body.ranks)
    facts = []
    for place, scan in enumerate(plan.scans):
        if scan.version is Version.CANDIDATE:
            continue
        relation = context.relation(scan.atom.predicate, scan.version)
        rank = next(ranks) if relation.ranked else None
        if scan.atom.predicate not in predicates:
            continue
        values: list[exp.Expr] = [
            body.values.stored(body.values.of(term), column)
            for term, column in zip(scan.atom.terms, relation.columns, strict=True)
        ]
        values += [] if relation.columns else [exp.true()]
        values += [] if rank is None else [rank.copy()]
        names = tuple(f"zodiac$use{place}_{number}" for number in range(len(values)))
        named = [v.as_(name, quoted=True) for v, name in zip(values, names, strict=True)]
        query = query.select(*named, copy=False)
        facts.append((scan.atom.predicate, names))
    return Uses(query, tuple(known), tuple(facts))


def spells_values(rules: Sequence[Rule], context: Context) -> bool:
    """Whether rules make texts, and read values of terms: in a statement in which symbols are texts
    these are not there.
    """
    return makes_texts(rules, context) and any(
        reads_values(rule, context.columns, context.functions) for rule in rules
    )


def makes_texts(rules: Iterable[Rule], context: Context) -> bool:
    """Whether a rule makes text that must be encoded."""
    return any(makes_text(rule, context) for rule in rules)


def makes_text(rule: Rule, context: Context) -> bool:
    """Whether a rule's head holds text that a function made, so that it must be encoded."""
    bound = {v.name for atom in rule.positive_atoms() for v in variables(*atom.terms)}
    types = body_types(rule.body, context.columns, context.functions).types
    return any(
        is_narrowed(column, expression_type(term, types, context.functions))
        or (
            isinstance(term, Variable)
            and term.name not in bound
            and types.get(term.name) in ENCODED
        )
        for column, term in zip(context.columns[rule.head.predicate], rule.head.terms, strict=True)
    )
