"""A program as the catalog keeps it."""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Iterable, Mapping

from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.language.kept_texts import as_kept
from zodiac_sql.language.syntax import Rule
from zodiac_sql.names import VARIES
from zodiac_sql.program.build import Planned
from zodiac_sql.program.state import HypernodeRow, State, StoredRule, parsed_templates
from zodiac_sql.rewrite.hypertree.stored import StoredTree
from zodiac_sql.rewrite.rewritten_hypernode import ModuleRow


def stored(
    state: State,
    planned: Planned,
    ranked: Mapping[int, bool],
    modules: Mapping[int, tuple[ModuleRow, ...]],
    trees: Mapping[int, tuple[StoredTree, ...]],
    worked: Iterable[int],
) -> tuple[tuple[StoredRule, ...], tuple[HypernodeRow, ...]]:
    """Rules and hypernodes as the catalog keeps them; new rules are stamped with the time.

    `worked` are the hypernodes that the change has evaluated.
    """
    before = {rule.name: rule for rule in state.rules}
    there = {rule.name: rule for rule in planned.restructuring.before.rules()}
    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    following = itertools.count(_last_position(state) + len(planned.templates) + 1)
    rules = tuple(
        before[rule.name]
        if (other := there.get(rule.name)) is rule or other == rule
        else StoredRule(
            rule.name, _kept(rule), rule.prefixes, rule.head.predicate, now, next(following),
            rule.origin,
        )
        for rule in planned.rules
    )  # fmt: skip
    rows = {row.id: row for row in state.hypernodes}
    same, worked = planned.restructuring.before.by_id, frozenset(worked)
    hypernodes = (
        rows[h.id]
        if h.id not in worked and same.get(h.id) is h
        else stored_hypernode(h, ranked, modules, trees)
        for h in planned.graph.hypernodes
    )
    return rules, tuple(hypernodes)


def stored_templates(state: State, planned: Planned) -> tuple[StoredRule, ...]:
    """Rules with variables for predicates as the catalog keeps them."""
    before = {rule.name: rule for rule in state.templates}
    there = {rule.name: rule for rule in parsed_templates(state)}
    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    following = itertools.count(_last_position(state) + 1)
    return tuple(
        before[rule.name]
        if there.get(rule.name) == rule
        else StoredRule(rule.name, _kept(rule), rule.prefixes, VARIES, now, next(following))
        for rule in planned.templates
    )


def _kept(rule: Rule) -> str:
    return as_kept(rule.text, dict(rule.prefixes))


def _last_position(state: State) -> int:
    return max((rule.position for rule in (*state.rules, *state.templates)), default=-1)


def stored_hypernode(
    hypernode: Hypernode,
    ranked: Mapping[int, bool],
    modules: Mapping[int, tuple[ModuleRow, ...]],
    trees: Mapping[int, tuple[StoredTree, ...]],
) -> HypernodeRow:
    """A hypernode as the catalog keeps it."""
    return HypernodeRow(
        hypernode.id,
        hypernode.stratum,
        hypernode.recursive,
        tuple(rule.name for rule in hypernode.rules),
        hypernode.recursive and ranked.get(hypernode.id, False),
        modules.get(hypernode.id, ()),
        trees.get(hypernode.id, ()),
    )
