"""Answers goals by rules of the question's own, which are forgotten afterwards.

The answer is the one that the goals would have if the rules and facts were added to the knowledge
base. But nothing is added, and only what the goals ask for is derived (rewrite/demand/):

1. The text is read and checked as that of a change.
2. The rules that can make a difference are the question's own, and those of the knowledge base that
   depend on what these derive or state. All others have been applied: their facts are there.
3. Of these rules, `demanded_by` makes those that derive what the goals ask for.
4. They are evaluated as new hypernodes are, over the facts that are there, in temporary tables of a
   connection aside.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from sqlglot import exp

from zodiac_sql.change.baseline import Baseline
from zodiac_sql.change.begin import begin
from zodiac_sql.change.check import check
from zodiac_sql.change.choose_rewrites import types_of
from zodiac_sql.change.collected import Collected, nothing_collected
from zodiac_sql.change.materialise import materialise
from zodiac_sql.change.net_facts import NetFacts
from zodiac_sql.change.prepared import Prepared
from zodiac_sql.change.settings import Settings
from zodiac_sql.change.staged import stage
from zodiac_sql.database import dictionary
from zodiac_sql.database.other_connections import connect_aside
from zodiac_sql.database.statements import create_temp
from zodiac_sql.database.store import Store
from zodiac_sql.errors import EvaluationError, QueryError
from zodiac_sql.graph.hypergraph import Hypergraph, hypergraph
from zodiac_sql.graph.restructuring import restructure
from zodiac_sql.language.binding import symbols_in, used_functions
from zodiac_sql.language.constraints import says_never
from zodiac_sql.language.functions import Functions
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.syntax import Column, Rule, Type, atoms_of
from zodiac_sql.names import ALWAYS
from zodiac_sql.program.build import Planned
from zodiac_sql.program.rule_sets import MAIN, SetLabels
from zodiac_sql.program.state import State
from zodiac_sql.read.notes_on_goals import notes_on_goals
from zodiac_sql.read.query import Answer, ReadyGoals, answer_ready, checked_goals
from zodiac_sql.rewrite.demand.rewrite import Asking, Demanded, demanded_by
from zodiac_sql.sql.relations import HOLDS, Part
from zodiac_sql.storage.sources import Sources, sources_of


def answer_with_rules(
    store: Store, state: State, registered: Functions, text: str, rules: str | Path
) -> Answer:
    """Answer goals by what is there and by rules, given as a text or a file. Changes nothing.

    Raises the errors of `add_rules` for the rules, and those of `answer_goals`.
    """
    with connect_aside(store) as aside:
        if aside is not store:
            dictionary.prepare(aside)
        try:
            return _answered(aside, state, registered, text, rules)
        finally:
            dictionary.forget_new(aside)


def _answered(
    store: Store, state: State, registered: Functions, text: str, rules: str | Path
) -> Answer:
    question = _read(store, state, registered, rules)
    planned = question.prepared.planned
    prefixes = question.collected.edits.prefixes
    asked = replace(state, schema=planned.schema, prefixes=prefixes)
    ready = checked_goals(asked, registered, text)
    notes = notes_on_goals(store, asked, ready.choices)
    demanded = demanded_by(
        Asking(
            ready.choices,
            question.rules,
            types_of(planned.schema),
            ready.known,
            {name for name, parts in question.given.items() if any(part.rows for part in parts)},
        )
    )
    return _evaluated(question, ready, demanded, notes)


@dataclass(frozen=True, slots=True)
class _Question:
    """The rules of a question, with what there is before they are applied."""

    collected: Collected
    prepared: Prepared
    """The program with these rules."""
    rules: tuple[Rule, ...]
    """Those that can make a difference."""
    given: Mapping[str, tuple[Part, ...]]
    """The facts that they begin with."""


def _read(store: Store, state: State, registered: Functions, rules: str | Path) -> _Question:
    """Check rules and the facts among them, and stage these."""
    before = Baseline(store, state, dict(registered), Settings(), None, None)
    collected = nothing_collected(before, check=False)
    program, into = collected.parsed(rules, MAIN)
    if any(map(says_never, program.rules)):
        raise QueryError("the rules of a question derive facts: a constraint (!-) says nothing")
    collected.add_program(program, into)
    prepared = check(collected)
    net = stage(collected, prepared)
    _require_same_types(state, prepared.planned)
    there = {rule.name for rule in state.rules}
    own = [rule for rule in prepared.planned.rules if rule.name not in there]
    others = [rule for rule in prepared.planned.rules if rule.name in there]
    again = _depending(others, {*(rule.head.predicate for rule in own), *net.inserts})
    derived = {rule.head.predicate for rule in again}
    # What was the best value may be the best no longer.
    derived |= {rule.head.predicate for rule in own if rule.best}
    again = [rule for rule in others if rule.head.predicate in derived]
    given = dict(_given(state, derived))
    for name, part in net.inserts.items():
        given[name] = (*given.get(name, ()), part)
    return _Question(collected, prepared, (*own, *again), given)


def _depending(rules: Iterable[Rule], changed: Collection[str]) -> list[Rule]:
    """The rules that depend on predicates, or on what such rules derive."""
    found: dict[str, Rule] = {}
    touched = set(changed)
    while True:
        more = {
            rule.name: rule
            for rule in rules
            if rule.name not in found
            and not (says_never(rule) or touched.isdisjoint(rule.positive() | rule.negative()))
        }
        if not more:
            return list(found.values())
        found |= more
        touched |= {rule.head.predicate for rule in more.values()}


def _given(state: State, derived: Collection[str]) -> Iterator[tuple[str, tuple[Part, ...]]]:
    """The facts that rules begin with: explicit ones of what is derived anew, else all."""
    there = sources_of(state)
    for name in state.schema:
        parts = there.explicit.get(name, ()) if name in derived else there.relation(name).parts
        yield name, tuple(replace(part, ranked=False, covers=False) for part in parts)


def _require_same_types(state: State, planned: Planned) -> None:
    """Refuse rules that give columns other types: the facts that are there would be other ones."""
    for name, known in state.schema.items():
        now = planned.schema[name]
        for old, new in zip(known.columns, now.columns, strict=True):
            if old.meant is not None and old.meant is not new.meant:
                raise QueryError(
                    f"by the rules of the question, column {old.name} of {name} would be "
                    f"{new.meant} and not {old.meant}: let them derive another predicate"
                )


def _evaluated(
    question: _Question, ready: ReadyGoals, demanded: Demanded, notes: tuple[str, ...]
) -> Answer:
    """Apply the rules that goals ask, and answer the goals by what these derive."""
    before, prepared = question.collected.before, question.prepared
    store, planned = before.store, prepared.planned
    stated = _with_datatypes(planned.schema, prepared)
    schema = {**stated, **dict(_made(stated, demanded))}
    given = {**question.given, ALWAYS: (_always(store),)}
    base = {name: known for name, known in schema.items() if name in given}
    state = _facts_alone(before.state, base, given)
    graph = hypergraph(demanded.rules, {}, 1)
    used = used_functions(demanded.rules)
    functions = {name: one for name, one in ready.known.items() if name in used}
    structure = restructure(Hypergraph(), graph, lambda _, __: 0)
    program = Planned(demanded.rules, graph, schema, functions, structure, SetLabels())
    goals = tuple(replace(ready.rules[0], body=body) for body in demanded.choices)
    ids = dictionary.ids_of(store, symbols_in((*demanded.rules, *goals)))
    work = begin(
        replace(before, state=state, _graph=Hypergraph()),
        Prepared(None, {}, before.functions, program),
        NetFacts(),
        ids,
    )
    try:
        materialise(work)
    except EvaluationError as error:
        raise EvaluationError(f"the query cannot be answered: {error}") from error
    after = replace(state, schema=schema)
    after.once("sources", lambda: work.extensions.new)
    types = {name: [column.meant for column in known.columns] for name, known in schema.items()}
    read = {atom.predicate for body in demanded.choices for atom in atoms_of(body)}
    asked = replace(
        ready,
        choices=demanded.choices,
        rules=goals,
        types=types,
        predicates=sorted(read),
        statements={},
    )
    return answer_ready(store, after, asked, notes)


def _facts_alone(
    state: State, schema: Mapping[str, Predicate], given: Mapping[str, tuple[Part, ...]]
) -> State:
    """A state without rules, in which all facts that there are stand as they are."""
    alone = replace(
        state,
        rules=(),
        templates=(),
        sets=(),
        hypernodes=(),
        positive=frozenset(),
        negative=frozenset(),
        schema=schema,
        rows={},
        aside=(),
        former=(),
        next_hypernode=1,
    )
    there = {name: parts for name, parts in given.items() if parts}
    alone.once("sources", lambda: Sources(schema, there))
    return alone


def _always(store: Store) -> Part:
    """The fact that holds always."""
    store.run(create_temp("always", exp.select(exp.true().as_(HOLDS.name, quoted=True))))
    return Part("temp", "always", 1)


def _with_datatypes(schema: Mapping[str, Predicate], prepared: Prepared) -> dict[str, Predicate]:
    """Predicates that say of themselves which literals their values are, as rules pass them on."""
    found = dict(schema)
    for name, entries in prepared.datatypes.items():
        types = tuple(column.meant for column in schema[name].columns)
        found[name] = replace(schema[name], settled=types, datatypes=tuple(entries))
    return found


def _made(schema: Mapping[str, Predicate], demanded: Demanded) -> Iterator[tuple[str, Predicate]]:
    """The predicates that are made for a question."""
    yield ALWAYS, Predicate(ALWAYS, "always", (), (), ())
    taken = {known.sql_name.lower() for known in schema.values()} | {"always"}
    for number, (name, made) in enumerate(demanded.made.items()):
        of = schema.get(made.of)
        sql_name = f"{of.sql_name if of else 'goal'} {number}"
        while sql_name.lower() in taken:
            sql_name += " "
        taken.add(sql_name.lower())
        names = [of.columns[n].name for n in made.places] if of and made.places else None
        names = names or [f"c{n}" for n in range(len(made.types))]
        columns = tuple(Column(n, t) for n, t in zip(names, made.types, strict=True))
        literals: tuple[str | None, ...] = (None,) * len(columns)
        settled: tuple[Type | None, ...] = (None,) * len(columns)
        if of and made.places:  # its values are the literals that they are in the other one
            literals = tuple(of.datatypes[n] for n in made.places)
            settled = made.types
        yield name, Predicate(name, sql_name, columns, settled, literals)
