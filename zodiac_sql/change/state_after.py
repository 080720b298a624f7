"""The state of the program after a change, before it is published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from zodiac_sql.change.collected import Collected
from zodiac_sql.change.net_facts import NetFacts
from zodiac_sql.change.of_best_values import is_explicit
from zodiac_sql.change.workspace import Basis, Outcomes
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.templates import fixed_atoms
from zodiac_sql.program.build import Planned, without_unused
from zodiac_sql.program.rule_sets import sets_after
from zodiac_sql.program.state import HypernodeRow, State
from zodiac_sql.program.stored import stored, stored_hypernode, stored_templates


def state_after(collected: Collected, basis: Basis, outcomes: Outcomes, net: NetFacts) -> State:
    """The state that a change makes of the one before it, without numbers of rows."""
    before, planned, prepared = collected.before.state, basis.planned, collected.before.prepared
    rule_edits, prefixes = collected.request.rules, collected.edits.prefixes
    positions = {**before.positions, **collected.request.positions}
    if prepared and planned is prepared.planned:
        return replace(
            before,
            hypernodes=_hypernodes_after(before, planned, outcomes),
            schema=_schema_after(before, planned, net),
            prefixes=prefixes,
            ids=basis.ids,
            former=(),
            positions=positions,
        )
    explicit = {name for name in planned.schema if is_explicit(before, planned.schema[name], net)}
    in_templates = {a.predicate for rule in planned.templates for a in fixed_atoms(rule)}
    schema = without_unused(planned.schema, planned.graph, explicit | in_templates)
    templates = stored_templates(before, planned)
    worked = {planned.graph.by_name[name].id for name in outcomes.evaluated}
    rules, hypernodes = stored(
        before, planned, outcomes.ranked, outcomes.modules, outcomes.trees, worked
    )
    numbers = [h.id for h in planned.graph.hypernodes]
    sets = sets_after(
        before.sets,
        planned.places,
        rule_edits.changed,
        rule_edits.prefixes,
        rule_edits.windows.sets(),
    )
    return replace(
        before,
        rules=before.rules if rules == before.rules else rules,
        templates=before.templates if templates == before.templates else templates,
        sets=before.sets if sets == before.sets else sets,
        windows=rule_edits.windows.after,
        hypernodes=before.hypernodes if hypernodes == before.hypernodes else hypernodes,
        positive=planned.graph.positive,
        negative=planned.graph.negative,
        schema=before.schema if schema == before.schema else schema,
        prefixes=prefixes,
        functions=planned.functions,
        ids=basis.ids,
        former=(),
        positions=positions,
        next_hypernode=max([before.next_hypernode, *(n + 1 for n in numbers)]),
    )


def _schema_after(before: State, planned: Planned, net: NetFacts) -> Mapping[str, Predicate]:
    """The predicates after a change of facts alone: some may have lost their last fact."""
    graph = planned.graph
    in_templates = {a.predicate for template in planned.templates for a in fixed_atoms(template)}
    gone = {
        name
        for name in net.deletes
        if not (before.schema[name].declared or is_explicit(before, before.schema[name], net))
        and name not in graph.readers
        and name not in graph.derivers
        and name not in in_templates
    }
    if not gone:
        return before.schema
    return {name: known for name, known in before.schema.items() if name not in gone}


def _hypernodes_after(
    before: State, planned: Planned, outcomes: Outcomes
) -> tuple[HypernodeRow, ...]:
    """The hypernodes after a change of facts alone. Those that had work may have other modules."""
    rows = before.once("rows", lambda: {row.id: row for row in before.hypernodes})
    worked = [planned.graph.by_name[name] for name in outcomes.evaluated]
    ranked, modules, trees = outcomes.ranked, outcomes.modules, outcomes.trees
    now = {h.id: stored_hypernode(h, ranked, modules, trees) for h in worked}
    if all(row == rows[number] for number, row in now.items()):
        return before.hypernodes
    return tuple(now.get(row.id, row) for row in before.hypernodes)
