"""Which rules one recursive statement can hold."""

from __future__ import annotations

from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.select import makes_text


def are_linear(hypernode: Hypernode) -> bool:
    """Whether each rule has one recursive atom, if it has any."""
    return all(
        sum(atom.predicate in hypernode.derives for atom in rule.positive_atoms()) <= 1
        for rule in hypernode.rules
    )


def has_linear_rules(hypernode: Hypernode, context: Context) -> bool:
    """The same, and no rule makes text that must be encoded."""
    return are_linear(hypernode) and not makes_texts(hypernode, context)


def makes_texts(hypernode: Hypernode, context: Context) -> bool:
    """Whether a rule makes text that must be encoded."""
    return any(makes_text(rule, context) for rule in hypernode.rules)
