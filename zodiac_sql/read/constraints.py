"""Constraints in tables: what they say, and what violates them."""

from __future__ import annotations

from sqlglot import exp

from zodiac_sql.database.answers import answer
from zodiac_sql.database.store import Store
from zodiac_sql.errors import QueryError
from zodiac_sql.language.syntax import Variable
from zodiac_sql.language.written import on_one_line
from zodiac_sql.names import is_constraint
from zodiac_sql.program.state import State, StoredRule, parsed
from zodiac_sql.read.describe import table_of
from zodiac_sql.read.query import Answer
from zodiac_sql.read.why.why_violated import fact_of
from zodiac_sql.sql.relations import columns_of
from zodiac_sql.storage.extensions import count, decoded, distinct_query
from zodiac_sql.storage.sources import sources_of


def constraints(store: Store, state: State) -> Answer:
    """The constraints, in the order in which they came.

    name: string          what it is called: it is dropped by that
    constraint: string    its text
    sets: list<string>    the rule sets that it stands in
    violations: int64     how often it is violated now
    """
    rules = _constraints(state)
    sources = sources_of(state)
    sets: dict[str, list[str]] = {}
    for one in state.sets:
        for _, rule in one.members:
            sets.setdefault(rule, []).append(one.name)
    return table_of(
        name=("string", [rule.name for rule in rules]),
        constraint=("string", [on_one_line(rule.text) for rule in rules]),
        sets=("list<string>", [sets[rule.name] for rule in rules]),
        violations=("int64", [count(store, sources.relation(rule.head)) for rule in rules]),
    )


def violations(store: Store, state: State, name: str | None, limit: int) -> Answer:
    """What violates constraints, at most `limit` times each. Raises QueryError."""
    rules = [rule for rule in _constraints(state) if name in (None, rule.name)]
    if name is not None and not rules:
        known = ", ".join(rule.name for rule in _constraints(state)) or "none"
        raise QueryError(f"there is no constraint {name}. The constraints are: {known}")
    found = [row for rule in rules for row in _violations(store, state, rule, limit)]
    return table_of(
        constraint=("string", [row[0] for row in found]),
        violation=("string", [row[1] for row in found]),
        fact=("string", [row[2] for row in found]),
    )


def _constraints(state: State) -> list[StoredRule]:
    return [rule for rule in state.written if is_constraint(rule.head)]


def _violations(
    store: Store, state: State, rule: StoredRule, limit: int
) -> list[tuple[str, str, str]]:
    relation = sources_of(state).relation(rule.head)
    variables = [str(term) for term in parsed(rule).head.terms]
    facts = decoded(relation, distinct_query(relation), "zodiac.symbol")
    columns = columns_of(relation, "v")
    first = exp.select(*columns).from_(facts.subquery("v")).order_by(*columns).limit(limit)
    table = answer(store, first)
    rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
    found = []
    for row in rows:
        values = row if variables else ()
        pairs = zip(variables, values, strict=True)
        told = ", ".join(f"{name} = {value}" for name, value in pairs if Variable(name).written)
        found.append((rule.name, told, fact_of(state.schema[rule.head], values)))
    return found
