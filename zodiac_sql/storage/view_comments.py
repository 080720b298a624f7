"""Comments on the views in main: what any DuckDB client is told of a predicate.

They say under which name rules know it, whether it has explicit facts, and which rules derive it.
A comment costs as much as its view, half a millisecond, so a change of many views makes none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from sqlglot import exp

from zodiac_sql.database.statements import shown
from zodiac_sql.database.store import Store
from zodiac_sql.names import EXPLICIT_SCHEMA, is_constraint
from zodiac_sql.program.state import State

MOST_RULES = 5
"""So many rules are named; the others are counted."""

MOST_VIEWS = 50
"""A change that would comment more views comments none."""


_THERE = """
SELECT view_name FROM duckdb_views() WHERE schema_name = 'main' AND database_name = $1
"""
"""Somebody may have dropped a view of ours, or put a table in its place."""


def comment_views(store: Store, old: State, new: State, made: Collection[str]) -> None:
    """Comment the views of some predicates, which are new, and those that are told otherwise now.

    (DuckDB forgets a comment when a view is replaced.)
    """
    before = _comments(old) if not new.is_same_program(old) else {}
    after = _comments(new)
    new_views = {*made}
    others = [
        name
        for name in before
        if name in after and before[name] != after[name] and name not in new_views
    ]
    if len(made) + len(others) > MOST_VIEWS:
        return
    there = {view for (view,) in store.rows(_THERE, [store.file.name])} if others else ()
    for name in (*made, *(name for name in others if new.schema[name].sql_name in there)):
        view = shown(store.file.name, new.schema[name].sql_name)
        text = exp.Literal.string(after[name])
        store.run(exp.Comment(this=view, kind="VIEW", expression=text))


def _comments(state: State) -> dict[str, str]:
    deriving: dict[str, list[str]] = defaultdict(list)
    for rule in state.rules:
        deriving[rule.head].append(rule.name)
    return {
        name: _comment(
            name, (EXPLICIT_SCHEMA, known.sql_name) in state.rows, deriving.get(name, [])
        )
        for name, known in state.schema.items()
        if not is_constraint(name)
    }


def _comment(name: str, explicit: bool, rules: list[str]) -> str:
    said = ["explicit facts"] if explicit else []
    if rules:
        more = len(rules) - MOST_RULES
        rest = [f"{more} more rules"] if more > 0 else []
        said.append(f"derived by {', '.join([*rules[:MOST_RULES], *rest])}")
    return f"{name}: {'; '.join(said) or 'no facts'}"
