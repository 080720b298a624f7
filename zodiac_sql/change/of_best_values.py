"""Predicates with MIN or MAX in their heads have no explicit facts."""

from __future__ import annotations

from zodiac_sql.change.net_facts import NetFacts
from zodiac_sql.errors import DataError
from zodiac_sql.language.schema import Predicate
from zodiac_sql.names import EXPLICIT_SCHEMA
from zodiac_sql.program.best_values import no_facts
from zodiac_sql.program.build import Planned
from zodiac_sql.program.state import State


def require_no_facts_of_best_values(state: State, planned: Planned, net: NetFacts) -> None:
    """Raise DataError if a predicate with MIN or MAX has explicit facts."""
    for name, rule in planned.graph.with_best.items():
        if is_explicit(state, planned.schema[name], net):
            raise DataError(
                f"{name} has explicit facts, but also rules with {rule.best}, and such a predicate "
                f"has no facts of its own. Nothing was changed. {no_facts(name, rule)}"
            )


def is_explicit(before: State, predicate: Predicate, net: NetFacts) -> bool:
    """Whether a predicate has explicit facts after the change."""
    name = predicate.name
    rows = before.rows.get((EXPLICIT_SCHEMA, predicate.sql_name), 0)
    return name in net.inserts or rows > (net.deletes[name].rows if name in net.deletes else 0)
