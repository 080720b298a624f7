"""Ending a loop of rounds that cannot become one statement, where starting over costs no more."""

from __future__ import annotations

from sqlglot import exp

from zodiac_sql.cost.rounds import evaluated_by_key, rounds_cost
from zodiac_sql.database.statements import union_all
from zodiac_sql.maintain.steps.recursion import Recursion
from zodiac_sql.names import RANK
from zodiac_sql.sql.relations import table
from zodiac_sql.sql.select import makes_texts


def are_too_many(recursion: Recursion, rounds: int) -> str:
    """Says that so many rounds have cost as much as starting over would, if they have.

    Rules with several recursive atoms are evaluated in one statement, but followed in rounds. If
    look-ups can follow them, these are better (Instead.ends_after).
    """
    if recursion.instead.most_rounds is not None or recursion.closures or recursion.forms.linear:
        return ""
    stored = [own.base for own in recursion.owns.values() if own.base and own.ranked]
    facts, read = sum(part.rows for part in stored), recursion.read
    plans = sum(1 for rule in recursion.hypernode.rules for _ in rule.positive_atoms())
    cost = rounds_cost(rounds, rules_make_texts(recursion))
    if not stored or cost < evaluated_by_key(0, read, facts, plans):
        return ""
    rank = exp.column(RANK, quoted=True)
    ranks = union_all([exp.select(rank.copy()).from_(table(part)) for part in stored])
    query = exp.select(exp.Max(this=rank)).from_(ranks.subquery("r", copy=False))
    depth = recursion.store.count(query)  # facts of such rules are ranked by rounds
    if cost >= evaluated_by_key(depth, read, facts, plans):
        return f"{rounds} rounds have cost as much as starting over"
    return ""


def rules_make_texts(recursion: Recursion) -> bool:
    """Whether a rule makes text that must be encoded."""
    hypernode, context = recursion.hypernode, recursion.context
    return recursion.runner.cache.get(
        ("makes texts", hypernode.id), lambda: makes_texts(hypernode.rules, context)
    )
