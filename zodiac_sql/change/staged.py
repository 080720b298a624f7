"""What an update does to explicit facts, and the ids of the symbols that rules mention."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace

from zodiac_sql.change.alter import Moved, have_same_tables, is_comparable, retyped_facts
from zodiac_sql.change.baseline import Baseline
from zodiac_sql.change.collected import Collected
from zodiac_sql.change.net_facts import NetFacts, net_changes
from zodiac_sql.change.not_explicit import only_derived
from zodiac_sql.change.of_best_values import require_no_facts_of_best_values
from zodiac_sql.change.prepared import Prepared
from zodiac_sql.change.request import Request
from zodiac_sql.change.staged_rows import without_none
from zodiac_sql.change.terms import as_settled
from zodiac_sql.change.update_report import UpdateReport
from zodiac_sql.database import dictionary
from zodiac_sql.database.store import Store
from zodiac_sql.errors import QueryError
from zodiac_sql.facts.stage import stage_rows
from zodiac_sql.language.binding import symbols_in
from zodiac_sql.language.schema import Predicate, Schema, Staged
from zodiac_sql.language.syntax import Atom, Column, Constant, Rule
from zodiac_sql.names import EXPLICIT_SCHEMA
from zodiac_sql.program.former_rules import evaluated_anew
from zodiac_sql.program.state import State


def stage(collected: Collected, prepared: Prepared) -> NetFacts:
    """What enters and leaves the explicit facts, including facts written in rule texts."""
    planned, request, told = prepared.planned, collected.request, collected.report
    store, state = collected.before.store, collected.before.state
    with told.timed("stage"):
        if prepared is not collected.before.prepared:
            as_settled(collected, planned.schema)
        inserts = _with_rule_facts(store, request, planned.schema)
        retyped = _retyped(collected, prepared)
        apart = {n for n in retyped if not is_comparable(state.schema[n], planned.schema[n])}
        for name in apart:
            _require_fitting(
                planned.schema[name], [*inserts.get(name, ()), *request.deletes.get(name, ())]
            )
        net = net_changes(
            store,
            state=state,
            schema=planned.schema,
            inserts={name: each for name, each in inserts.items() if name not in apart},
            deletes={name: each for name, each in request.deletes.items() if name not in apart},
            seen=request.seen,
            cache=prepared.cache,
        )
        require_no_facts_of_best_values(state, planned, net)
        moved = {
            name: Moved(
                (net.deletes.get(name), net.inserts.get(name)),
                without_none({name: request.deletes.get(name, [])}).get(name, ()),
                without_none({name: [*inserts.get(name, [])]}).get(name, ()),
            )
            for name in retyped
        }
        in_other_types = retyped_facts(store, state, planned.schema, moved)
        net = replace(net, retyped=in_other_types) if in_other_types else net
        told.remarks += [*request.rules.remarks, *planned.remarks]
        told.remarks += evaluated_anew(state, planned.rules)
        deletes = {name: each for name, each in request.deletes.items() if name not in apart}
        told.remarks += only_derived(store, state, planned, deletes)
    return net


def _retyped(collected: Collected, prepared: Prepared) -> list[str]:
    """The predicates whose explicit facts get other types, by a verb or by rules."""
    state, schema = collected.before.state, prepared.planned.schema
    if prepared is collected.before.prepared:
        return []
    return [
        name
        for name, known in schema.items()
        if (old := state.schema.get(name)) is not None
        and old.columns is not known.columns
        and state.rows.get((EXPLICIT_SCHEMA, old.sql_name))
        and old.arity == known.arity
        and not have_same_tables(old, known)
    ]


def _require_fitting(known: Predicate, staged: Iterable[Staged]) -> None:
    """Raise QueryError for facts that came before their columns got quite other types."""
    for one in staged:
        pairs = zip(one.columns, known.columns, strict=True)
        if any(a.type not in (None, b.type) for a, b in pairs if not _are_numbers(a, b)):
            raise QueryError(
                f"{known.name} gets other types: its facts change in an update of their own"
            )


def _are_numbers(first: Column, second: Column) -> bool:
    types = first.type, second.type
    return all(type_ is not None and type_.numeric for type_ in types)


def _with_rule_facts(store: Store, request: Request, schema: Schema) -> Mapping[str, list[Staged]]:
    """The facts to be inserted, with those that are written in rule texts."""
    rows: dict[str, list[tuple[object, ...]]] = defaultdict(list)
    for fact in request.rules.facts():
        rows[fact.predicate].append(_values(fact, schema[fact.predicate]))
    if not rows:
        return request.inserts
    inserts = dict(request.inserts)
    for predicate, values in rows.items():
        staged = stage_rows(store, predicate, values, schema[predicate])
        assert staged is not None
        inserts[predicate] = [*inserts.get(predicate, ()), staged]
    return inserts


def _values(fact: Atom, known: Predicate) -> tuple[object, ...]:
    """The values of a fact. A declared column of terms gets the literals that are written.

    Rule: in a column that nobody declared, a literal of a native type is its value. Reason: the
    column may be native or not when the fact comes, and the order in which facts come must make no
    difference.
    """
    return tuple(
        term.literal if term.literal and known.declared and column.mixed else term.value
        for term, column in zip(fact.terms, known.columns, strict=True)
        if isinstance(term, Constant)
    )


def ids_of(before: Baseline, prepared: Prepared, told: UpdateReport) -> Mapping[str, int]:
    """Dictionary ids of all symbols that rules mention."""
    state, planned = before.state, prepared.planned
    if prepared is before.prepared:
        return state.ids
    with told.timed("stage"):
        old = list(planned.restructuring.before.rules())
        rules: Iterable[Rule] = [*planned.rules, *old]
        if before.prepared and before.prepared.rules is state.rules:
            there = {id(rule) for rule in old}  # the last change has asked for their symbols
            rules = (rule for rule in planned.rules if id(rule) not in there)
        return _known_ids(before.store, state, rules)


def _known_ids(store: Store, state: State, rules: Iterable[Rule]) -> dict[str, int]:
    """Dictionary ids of all symbols that rules mention; new ones are added to the dictionary."""
    missing = symbols_in(rules).difference(state.ids)
    return {**state.ids, **dictionary.ids_of(store, missing)}
