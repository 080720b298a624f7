"""Finds a fact that moved with a change and has to do with a group of an aggregate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from sqlglot import exp

from zodiac_sql.database.statement_cache import StatementCache
from zodiac_sql.database.statements import parameter
from zodiac_sql.language.binding import Arranged, arrange, telling
from zodiac_sql.language.syntax import (
    Aggregate,
    Atom,
    Literal,
    Negation,
    Rule,
    Type,
    atoms_of,
)
from zodiac_sql.read.why.asked import Instance, Key, Known, one_nan, stored
from zodiac_sql.read.why.own_ints import with_own_ints
from zodiac_sql.sql.plan import Plan, Scan, Version, join_order, without_locals
from zodiac_sql.sql.relations import Relation
from zodiac_sql.sql.select import Instances, compile_instances
from zodiac_sql.storage.sources import Sources


def moved_in_group(
    both: tuple[Known, Known],
    aggregate: Aggregate,
    instance: Instance,
    alone: Sources,
    opposite: Sources,
) -> tuple[bool, Key] | None:
    """The first fact that is on one side of a change alone and that a group's solutions tell from.

    `both` are this side of the change and the other, `alone` the facts that only this one has, and
    `opposite` those that only the other has. A solution of the group on this side either uses one
    of the former, or is refuted on the other side by one of the latter. Returns whether it is of
    the former kind, and the fact; None if there is none.
    """
    for is_use, driver, others, sources in _drivers(aggregate, alone, opposite):
        relation = sources.relation(driver.predicate)
        if relation.rows and (fact := _first(both, driver, others, relation, instance, aggregate)):
            return is_use, fact
    return None


def _drivers(
    aggregate: Aggregate, alone: Sources, opposite: Sources
) -> Iterator[tuple[bool, Atom, tuple[Literal, ...], Sources]]:
    """Each atom of a body that facts which moved can match, the other literals, and those facts."""
    bound = arrange(aggregate.body).bound
    for place, literal in enumerate(aggregate.body):
        if isinstance(literal, Atom) and literal.predicate in alone.schema:
            others = (*aggregate.body[:place], *aggregate.body[place + 1 :])
            yield True, literal, others, alone
        elif isinstance(literal, Negation) and literal.atom.predicate in opposite.schema:
            yield False, without_locals(literal, bound, "moved"), aggregate.body, opposite


def _first(
    both: tuple[Known, Known],
    driver: Atom,
    others: tuple[Literal, ...],
    moved: Relation,
    instance: Instance,
    aggregate: Aggregate,
) -> Key | None:
    """The first fact among those that moved which stands in a solution of the group.

    A solution that the other side has, too, counts only if there is no other: with DISTINCT, a fact
    can move without a value that does.
    """
    known, other = _with_all(*both), both[1]
    atoms = (literal for literal in others if isinstance(literal, Atom))
    if not all(known.sources.relation(atom.predicate).parts for atom in atoms):
        return None
    body, compiled = _solutions(known, (driver, *others), moved)
    driver = body.atoms[0]
    query = exp.select(exp.Star()).from_(compiled.query.subquery("q", copy=False))
    given: dict[str, object] = {}
    for name, value in _group(aggregate, instance, compiled.kinds):
        given[f"v{len(given)}"] = value
        column = exp.column(name, quoted=True)
        query = query.where(column.eq(parameter(f"v{len(given) - 1}")), copy=False)
    names = [*compiled.kinds]
    query = query.order_by(*(exp.column(name, quoted=True) for name in names), copy=False)
    new = query.where(_lacks(other, aggregate, compiled.kinds), copy=True)
    rows = known.store.rows(new.limit(1), given or None)
    rows = rows or known.store.rows(query.limit(1), given or None)
    if not rows:
        return None
    values = dict(zip(names, map(one_nan, rows[0]), strict=False))
    found = Instance(instance.rule, body.atoms, values, compiled.kinds)
    return driver.predicate, tuple(stored(known, term, found) for term in driver.terms)


def _with_all(known: Known, other: Known) -> Known:
    """A side of a change, with predicates and symbols that only the other one knows.

    It has no facts of such predicates, nor of those whose columns have no types.
    """
    typed = {n: p for n, p in known.schema.items() if all(c.type for c in p.columns)}
    schema, ids = {**known.schema, **other.schema, **typed}, {**other.ids, **known.ids}
    if schema == known.schema and ids == known.ids:
        return known
    sources = replace(known.sources, schema=schema)
    return replace(known, schema=schema, sources=sources, ids=ids, cache=StatementCache())


def _solutions(
    known: Known, literals: tuple[Literal, ...], moved: Relation | None = None
) -> tuple[Arranged, Instances]:
    """The solutions of literals. The first one reads only facts that moved, if they are given."""
    body = arrange(with_own_ints(literals, known.types, known.functions))
    scans = [Scan(atom, Version.ALL) for atom in body.atoms]
    if moved is not None:
        scans[0] = replace(scans[0], version=Version.DELTA)

    def read(name: str, version: Version) -> Relation:
        return known.sources.relation(name) if moved is None or version is Version.ALL else moved

    plan = Plan(Rule("", Atom("", ()), literals), join_order(scans), body)
    return body, compile_instances(plan, known.context(read))


def _lacks(
    other: Known, aggregate: Aggregate, kinds: Mapping[str, tuple[Type | None, int]]
) -> exp.Expr:
    """Whether the other side has no solution like that of q."""
    for atom in atoms_of(aggregate.body):
        columns = other.types.get(atom.predicate)
        if columns is None or len(columns) != len(atom.terms) or None in columns:
            return exp.true()  # it knows no facts of the predicate, or as another one
    _, there = _solutions(other, aggregate.body)
    told = telling(aggregate, arrange(aggregate.body))
    same = [
        exp.column(name, table="o", quoted=True).eq(exp.column(name, table="q", quoted=True))
        for name, (_, text) in there.kinds.items()
        if name in told and name in kinds and kinds[name][1] == text
    ]
    like = exp.select("1").from_(there.query.subquery("o", copy=False)).where(*same)
    return exp.not_(exp.Exists(this=like))


def _group(
    aggregate: Aggregate, instance: Instance, kinds: Mapping[str, tuple[Type | None, int]]
) -> Iterator[tuple[str, object]]:
    """The values of the group.

    Text that stands on one side for a number on the other cannot be compared, and is left open.
    """
    for variable in aggregate.group:
        if instance.kinds[variable.name][1] == kinds[variable.name][1]:
            yield variable.name, instance.values[variable.name]
