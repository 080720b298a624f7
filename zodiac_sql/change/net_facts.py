"""Which explicit facts a change adds and removes: E+ without E, and (E- within E) without E+.

E is the set of a predicate's explicit facts before the change. E+ and E- are the sets of facts that
the update inserts and deletes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from sqlglot import exp

from zodiac_sql.change.staged_rows import (
    is_each_once,
    is_one,
    is_the_fact,
    parameters_of,
    shape,
    staged_query,
    values_of,
    without_none,
)
from zodiac_sql.database.runner import Runner
from zodiac_sql.database.statement_cache import StatementCache
from zodiac_sql.database.statements import anti_join, temp_table, union_all
from zodiac_sql.database.store import Store
from zodiac_sql.evaluate.cache_keys import relation_key
from zodiac_sql.evaluate.make_tables import make_part
from zodiac_sql.language.schema import Predicate, Staged
from zodiac_sql.names import CHANGE_FACTS, EXPLICIT_SCHEMA, whole
from zodiac_sql.program.state import State
from zodiac_sql.sql.relations import Part, Relation, columns_of, table


def net_changes(
    store: Store,
    state: State,
    schema: Mapping[str, Predicate],
    inserts: Mapping[str, list[Staged]],
    deletes: Mapping[str, list[Staged]],
    seen: Mapping[str, Part],
    cache: StatementCache,
) -> NetFacts:
    """What enters and leaves the explicit facts of each predicate, as temporary tables.

    `seen` has the deletes of which the previous update has already found the explicit facts.
    """
    plus = {}
    minus = {}
    coming = without_none(inserts)
    for name, staged in coming.items():
        there = bool(state.rows.get((EXPLICIT_SCHEMA, schema[name].sql_name)))
        plus_table = f"{CHANGE_FACTS}edb_plus_{whole(schema[name].sql_name)}"
        query = partial(net_inserts, schema[name], staged, there)
        key = (there, shape(schema[name], staged))
        part = make_part(
            Runner(store, cache.of(name)), key, plus_table, query, parameters=parameters_of(staged)
        )
        if part:
            plus[name] = part
    for name, staged in without_none(deletes).items():
        same = len(staged) == 1 and schema[name] == state.schema.get(name)
        if name in seen and same and _all_new(inserts.get(name, []), plus.get(name)):
            minus[name] = seen[name]
        elif (EXPLICIT_SCHEMA, schema[name].sql_name) in state.rows:
            minus_table = f"{CHANGE_FACTS}edb_minus_{whole(schema[name].sql_name)}"
            back = coming.get(name, [])
            query = partial(net_deletes, schema[name], staged, back)
            shapes = shape(schema[name], staged), shape(schema[name], back)
            given = parameters_of([*staged, *back])
            part = make_part(
                Runner(store, cache.of(name)), shapes, minus_table, query, parameters=given
            )
            if part:
                minus[name] = part
    return NetFacts(plus, minus)


def _all_new(staged: list[Staged], inserted: Part | None) -> bool:
    """Whether no staged fact was explicit before. Then no delete is cancelled by an insert."""
    rows = [one.rows for one in staged]
    return None not in rows and sum(filter(None, rows)) == (inserted.rows if inserted else 0)


def deleted_next(
    store: Store,
    predicate: Predicate,
    explicit: Relation,
    staged: Staged,
    name: str,
    cache: StatementCache,
) -> Part | None:
    """The facts that the next update deletes, as far as they are explicit after this one."""

    def query() -> exp.Query:
        there = columns_of(explicit, "t")
        queries = [exp.select(*there).from_(table(part).as_("t")) for part in explicit.parts]
        columns = columns_of(explicit, "c")
        rows = exp.select(*columns)
        rows = rows.from_(staged_query(predicate, [staged]).subquery("c", copy=False))
        rows = _present(rows, columns, union_all(queries).subquery(copy=False))
        for part in explicit.parts:
            if part.read.minus:
                rows = anti_join(rows, columns, temp_table(part.read.minus), "m")
        return rows.distinct(copy=False)

    if not explicit.parts or staged.rows == 0:
        return None
    key = (relation_key(explicit), shape(predicate, [staged]))
    runner = Runner(store, cache.of(predicate.name))
    given = parameters_of([staged])
    return make_part(runner, key, name, query, parameters=given)


def net_inserts(predicate: Predicate, staged: list[Staged], there: bool) -> exp.Select:
    """Staged facts, each once, without those that are explicit, if any are `there`."""
    if len(staged) == 1 and is_one(staged[0]):
        return _fact(predicate, staged[0], there)
    columns = columns_of(Relation(predicate.columns, ()), "c")
    query = _each_once(predicate, staged, columns)
    return _absent(query, columns, explicit_table(predicate)) if there else query


def net_deletes(predicate: Predicate, staged: list[Staged], inserted: list[Staged]) -> exp.Select:
    """Staged facts that are explicit, each once, without those that are inserted."""
    columns = columns_of(Relation(predicate.columns, ()), "c")
    if len(staged) == 1 and is_one(staged[0]):
        query = exp.select(*columns).from_(explicit_table(predicate).as_("c"))
        query = query.where(is_the_fact(predicate, staged[0], "c"), copy=False).limit(1)
    else:
        query = _each_once(predicate, staged, columns)
        query = _present(query, columns, explicit_table(predicate))
    if inserted:
        query = anti_join(query, columns, staged_query(predicate, inserted).subquery(copy=False))
    return query


def _fact(predicate: Predicate, staged: Staged, there: bool) -> exp.Select:
    """One fact that is given, unless it is there."""
    columns = Relation(predicate.columns, ()).stored
    values = zip(values_of(predicate, staged), columns, strict=True)
    query = exp.select(*(value.as_(column.name, quoted=True) for value, column in values))
    if not there:
        return query
    known = exp.select(exp.Literal.number(1)).from_(explicit_table(predicate).as_("e"))
    known = known.where(is_the_fact(predicate, staged, "e"), copy=False)
    return query.where(exp.not_(exp.Exists(this=known), copy=False), copy=False)


def _each_once(predicate: Predicate, staged: list[Staged], columns: list[exp.Column]) -> exp.Select:
    """Staged facts, each once."""
    query = exp.select(*columns)
    query = query.from_(staged_query(predicate, staged).subquery("c", copy=False), copy=False)
    return query if is_each_once(predicate, staged) else query.distinct(copy=False)


# In an inner or outer join with few facts, DuckDB passes a filter on the join keys to the scan of
# the large table; in a semi or anti join it does not. Looking up one fact among 3 million, in the
# order they came, takes 2 ms against 23.


def _present(query: exp.Select, columns: Sequence[exp.Column], facts: exp.Expr) -> exp.Select:
    """Only the rows that are among some facts. The facts have no duplicates."""
    return anti_join(query, columns, facts, "e", kind="")


def _absent(query: exp.Select, columns: Sequence[exp.Column], facts: exp.Expr) -> exp.Select:
    """Only the rows that are not among some facts."""
    query = anti_join(query, columns, facts, "e", kind="LEFT")
    first = exp.column(columns[0].name, table="e", quoted=True)
    return query.where(first.is_(exp.null()), copy=False)


def explicit_table(predicate: Predicate) -> exp.Table:
    return exp.table_(predicate.sql_name, db=EXPLICIT_SCHEMA, quoted=True)


@dataclass(frozen=True, slots=True)
class Retyped:
    """The explicit facts of a predicate in other types, and whether they can be compared with those
    that were there: else all of them leave, and others enter.
    """

    now: Part | None
    same: bool


@dataclass(frozen=True, slots=True)
class NetFacts:
    """Net changes of explicit facts: temporary tables by predicate, none of them empty."""

    inserts: Mapping[str, Part] = field(default_factory=dict)
    deletes: Mapping[str, Part] = field(default_factory=dict)
    retyped: Mapping[str, Retyped] = field(default_factory=dict)
    """The explicit facts of predicates whose columns get other types."""
