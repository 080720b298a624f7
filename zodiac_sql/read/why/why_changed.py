"""Answers why a fact entered or left its extension with a change.

A fact enters because a rule derives it now, and did not before: the change added the rule, or
brought a fact of its body, or took away what the rule negates, or changed a group that it
aggregates. A fact leaves for the reverse reasons. Each of those facts has moved for a reason of its
own, and so on, down to what the user did.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from sqlglot import exp

from zodiac_sql.change.change import Change
from zodiac_sql.change.explained import Cause, ChangeExplanation, Event
from zodiac_sql.change.sides import Side
from zodiac_sql.database.dictionary import as_written
from zodiac_sql.database.statement_cache import StatementCache
from zodiac_sql.database.statements import parameter
from zodiac_sql.database.store import Store
from zodiac_sql.errors import ProgramError, QueryError, StoreError
from zodiac_sql.language.binding import symbols_in
from zodiac_sql.language.functions import Functions
from zodiac_sql.language.named_columns import goal as in_columns
from zodiac_sql.language.parse import parse_goals
from zodiac_sql.language.schema import resolve
from zodiac_sql.language.syntax import Aggregate, Atom, Constant, Negation, Rule
from zodiac_sql.program.clock import reads_clock
from zodiac_sql.program.state import State
from zodiac_sql.read.why.asked import (
    Instance,
    Key,
    Known,
    is_encoded,
    one_nan,
    stored,
    uses,
)
from zodiac_sql.read.why.better import is_better, of_group
from zodiac_sql.read.why.explain import Words, step_of, words
from zodiac_sql.read.why.known import prefixes_of
from zodiac_sql.read.why.moved import Way
from zodiac_sql.read.why.moved_groups import moved_in_group
from zodiac_sql.read.why.search import Derivation
from zodiac_sql.read.why.why import key_of, of_types
from zodiac_sql.read.why.why_best_moved import steps_below, with_all_values
from zodiac_sql.sql.forms import is_text
from zodiac_sql.sql.relations import columns_of, relation_query

MOST_EVENTS = 20_000
"""If more facts than this take part, no explanation is given."""

_Event = tuple[str, Key]
"""A fact that "entered" or "left"."""


@dataclass(frozen=True, slots=True)
class _Cause:
    """What made an event: the change itself, or an instance of a rule and other events."""

    instance: Instance | None
    rule_moved: bool = False
    because: tuple[_Event, ...] = ()


def why_changed(
    store: Store, state: State, functions: Functions, change: Change, goal: str
) -> ChangeExplanation:
    """Why a fact entered or left with a change. Raises QueryError if it did neither."""
    sides = change.sides()
    functions = {**state.functions, **functions}
    ways = {}
    for name, side, other in (
        ("left", sides.before, sides.after), ("entered", sides.after, sides.before)
    ):  # fmt: skip
        known = Known(
            store, side.facts.schema, side.graph, side.facts, functions, {}, StatementCache()
        )
        symbols = sorted(symbols_in(side.graph.rules()))
        ids = as_written(store, symbols)
        known = Known(
            store, side.facts.schema, side.graph, side.facts, functions, ids, StatementCache()
        )
        clock = None
        if (moved := change._ticked) is not None:
            clock = moved.before if name == "left" else moved.after
        ways[name] = Way(known, side, other, clock)
    event = _goal(ways, state, goal)
    causes = _causes(ways, event)
    if causes is None:
        raise StoreError(
            f"why {goal.strip()} {event[0]} cannot be told: more than {MOST_EVENTS:,} facts moved "
            "with it, or the file is not as it should be, which verify tells"
        )
    told = _told(ways, event, causes, change._left_window)
    return replace(told, prefixes=prefixes_of(state))


def _goal(ways: Mapping[str, Way], state: State, goal: str) -> _Event:
    literals = parse_goals(goal, state.prefixes)
    if len(literals) != 1 or not isinstance(literals[0], Atom):
        raise QueryError(f"{goal.strip()}: a fact is explained by its name, as in anomaly(wt2)")
    atom = literals[0]
    if not all(isinstance(term, Constant) for term in atom.terms):
        raise QueryError(f"{goal.strip()}: only a fact without variables has a reason to move")
    clash: ProgramError | None = None
    for name, way in ways.items():
        predicate = resolve(atom.predicate, way.known.schema, state.prefixes)
        if predicate not in way.known.schema:
            continue
        known = way.known.schema[predicate]
        asked = in_columns(replace(atom, predicate=predicate), known)
        if known.arity != len(asked.terms):
            continue
        try:
            asked = of_types(asked, way.known.schema)
        except ProgramError as error:  # on the other side, its columns may have other types
            clash = error
            continue
        key = key_of(way.known, asked)
        if key is not None:
            way.look_up([key])
            if way.found[key]:
                return name, key
    if clash is not None:
        raise clash
    raise QueryError(
        f"{goal.strip()} neither entered nor left its extension with this change: ask why, or "
        "why_not"
    )


# --- the search -----------------------------------------------------------------------------------


def _causes(ways: Mapping[str, Way], goal: _Event) -> dict[_Event, _Cause] | None:
    """A cause for each event that a goal goes back to; None if that is too much."""
    found: dict[_Event, list[_Cause]] = {}
    proven: set[_Event] = set()
    frontier = [goal]
    while frontier:
        further = [
            (name, fact)
            for name, way in ways.items()
            for fact in way.further([key for kind, key in frontier if kind == name])
        ]
        frontier = [one for one in dict.fromkeys((*frontier, *further)) if one not in found]
        for event in frontier:
            found[event] = []
        for event, cause in _possible(ways, frontier):
            found[event].append(cause)
        settled = _settled(found)
        if goal in settled:
            return settled
        if len(found) > MOST_EVENTS:
            return None
        below = (e for event in frontier for cause in found[event] for e in cause.because)
        frontier = list(dict.fromkeys(event for event in below if event not in found))
        while not frontier and (more := _by_proof(ways, found, settled, proven)):
            for event, cause in more.items():
                found.setdefault(event, []).append(cause)
            settled = _settled(found)
            if goal in settled:
                return settled
            below = (e for cause in more.values() for e in cause.because)
            frontier = list(dict.fromkeys(event for event in below if event not in found))
    return None


def _by_proof(
    ways: Mapping[str, Way],
    found: Mapping[_Event, Sequence[_Cause]],
    settled: Mapping[_Event, _Cause],
    proven: set[_Event],
) -> dict[_Event, _Cause]:
    """The cause of the first move of a best value that has none yet, by its proof."""
    for event in found:
        name, fact = event
        way = ways[name]
        best = way.side.graph.with_best.get(fact[0])
        if best is None or event in settled or event in proven:
            continue
        proven.add(event)
        (hypernode,) = way.side.graph.derivers[fact[0]]
        if hypernode.id not in way.orders:
            way.orders[hypernode.id] = with_all_values(way.known, hypernode.id)
        steps = steps_below(way.orders[hypernode.id], fact)
        if steps and (causes := _of_proof(ways, event, steps)):
            return causes
    return {}


def _of_proof(
    ways: Mapping[str, Way], event: _Event, steps: Mapping[Key, Instance]
) -> dict[_Event, _Cause]:
    """The cause of an event by the rule instances that derive its fact, and what is below it.

    If nothing of all that has moved, the fact was not there because a better one was.
    """
    name, fact = event
    own = {key[0] for key in steps}
    causes = {key: _cause(ways, name, instance, key) for key, instance in steps.items()}
    because: list[_Event] = []
    for key, cause in causes.items():
        others = cause.because if cause else ()
        because += [one for one in others if one[1][0] not in own]
        if cause and cause.rule_moved and key != fact:
            because.append((name, key))
    top = causes[fact]
    if not because and top:
        because += [one for one in top.because if one[0] != name and one[1][0] == fact[0]]
    moved = top is not None and top.rule_moved
    if not because and not moved:
        return {}
    found = {event: _Cause(steps[fact], moved, tuple(dict.fromkeys(because)))}
    for key, cause in causes.items():
        if cause and cause.rule_moved and key != fact:
            found[name, key] = _Cause(steps[key], True)
    return found


def _settled(found: Mapping[_Event, Sequence[_Cause]]) -> dict[_Event, _Cause]:
    """The events that go back to the change itself, each with a cause that does so soonest."""
    settled: dict[_Event, _Cause] = {}
    above: dict[_Event, list[_Event]] = defaultdict(list)
    for event, causes in found.items():
        for other in chain.from_iterable(cause.because for cause in causes):
            above[other].append(event)
    waiting: Iterable[_Event] = found
    while True:
        new = {}
        for event in waiting:
            if event in settled:
                continue
            for cause in found[event]:
                if all(other in settled for other in cause.because):
                    new[event] = cause
                    break
        if not new:
            return settled
        settled |= new
        waiting = dict.fromkeys(chain.from_iterable(above[event] for event in new))


def _possible(ways: Mapping[str, Way], events: Sequence[_Event]) -> Iterator[tuple[_Event, _Cause]]:
    """All that can have made some events."""
    for name, way in ways.items():
        facts = [key for kind, key in events if kind == name]
        way.look_up(facts)
        for key in facts:
            if way.explicit[key] or not way.side.graph.derivers.get(key[0]):
                yield (name, key), _Cause(None)
        by_predicate: dict[str, list[Key]] = {}
        for key in facts:
            by_predicate.setdefault(key[0], []).append(key)
        derived = [
            one
            for predicate, some in by_predicate.items()
            for hypernode in way.side.graph.derivers.get(predicate, ())
            for one in way.instances(hypernode, some)
        ]
        way.look_up([use for _, instance in derived for use in uses(way.known, instance)])
        for key, instance in derived:
            if cause := _cause(ways, name, instance, key):
                yield (name, key), cause


def _rules(side: Side, predicate: str) -> list[Rule]:
    hypernodes = side.graph.derivers.get(predicate, ())
    return [rule for h in hypernodes for rule in h.rules if rule.head.predicate == predicate]


def _cause(ways: Mapping[str, Way], name: str, instance: Instance, fact: Key) -> _Cause | None:
    """An instance as the cause of a move; None if nothing in it has changed."""
    way, opposite = ways[name], "left" if name == "entered" else "entered"
    body = uses(way.known, instance)
    way.look_up(body)
    because: list[_Event] = [(name, fact) for fact in body if way.found[fact]]
    for literal in instance.rule.body:
        if isinstance(literal, Negation):
            because += _matching(ways[opposite], opposite, literal.atom, instance)
        elif isinstance(literal, Aggregate):
            because += _in_group(ways, literal, instance)
    if best := instance.rule.best:
        there = ways[opposite].known, ways[opposite].side.alone
        other = of_group(*there, fact, best)
        beaten = other is not None and is_better(*there, other, fact, best)
        because += [(opposite, other)] if other and beaten else []
    rule_moved = not _has_rule(way.other, instance.rule)
    if not (because or rule_moved or way.clock is not None and reads_clock([instance.rule])):
        return None
    return _Cause(instance, rule_moved, tuple(dict.fromkeys(because)))


def _has_rule(side: Side, rule: Rule) -> bool:
    return any(other == rule for other in _rules(side, rule.head.predicate))


def _in_group(ways: Mapping[str, Way], aggregate: Aggregate, instance: Instance) -> list[_Event]:
    """The first fact that moved in a group that is aggregated."""
    for name, opposite in (("left", "entered"), ("entered", "left")):
        here, there = ways[name], ways[opposite]
        both = here.known, there.known
        found = moved_in_group(both, aggregate, instance, here.side.alone, there.side.alone)
        if found is not None:
            is_use, fact = found
            return [(name if is_use else opposite, fact)]
    return []


def _matching(way: Way, name: str, atom: Atom, instance: Instance) -> list[_Event]:
    """The first fact that moved this way and is an instance of an atom."""
    relation = way.side.alone.relation(atom.predicate) if atom.predicate in (
        way.side.alone.schema
    ) else None  # fmt: skip
    if relation is None or not relation.rows:
        return []
    query = exp.select(*columns_of(relation, "t"))
    query = query.from_(relation_query(relation).subquery("t", copy=False), copy=False)
    given: dict[str, object] = {}
    first: dict[str, exp.Expr] = {}
    types = way.known.types[atom.predicate]
    for column, term, type_ in zip(columns_of(relation, "t"), atom.terms, types, strict=False):
        if isinstance(term, Constant) or term.name in instance.values:
            if not isinstance(term, Constant) and is_text(*instance.kinds[term.name]):
                return []
            if is_encoded(term, instance, type_):
                return []
            given[f"v{len(given)}"] = stored(way.known, term, instance)
            query = query.where(column.eq(parameter(f"v{len(given) - 1}")), copy=False)
        elif term.name in first:
            query = query.where(column.eq(first[term.name].copy()), copy=False)
        else:
            first[term.name] = column
    rows = way.known.store.rows(query.order_by(*columns_of(relation, "t")).limit(1), given or None)
    if not rows:
        return []
    values = map(one_nan, rows[0]) if way.side.alone.schema[atom.predicate].columns else ()
    return [(name, (atom.predicate, tuple(values)))]


# --- what people see ------------------------------------------------------------------------------


def _told(
    ways: Mapping[str, Way],
    goal: _Event,
    causes: Mapping[_Event, _Cause],
    left_window: Callable[[str, tuple[object, ...]], bool],
) -> ChangeExplanation:
    needed: dict[_Event, _Cause] = {}
    waiting = [goal]
    while waiting:
        event = waiting.pop()
        if event not in needed:
            needed[event] = causes[event]
            waiting += causes[event].because
    said: dict[str, Words] = {}
    for name, way in ways.items():
        mine = {event: cause for event, cause in needed.items() if event[0] == name}
        used = [c.instance for c in mine.values() if c.instance is not None]
        keys = [key for _, key in mine] + [u for i in used for u in uses(way.known, i)]
        said[name] = words(way.known, keys, used)
    events = {
        event: Event(
            "entered" if event[0] == "entered" else "left", str(said[event[0]].fact(event[1]))
        )
        for event in needed
    }
    told = {}
    for event, cause in needed.items():
        if event[0] == "left" and cause.instance is None and left_window(*event[1]):
            told[events[event]] = Cause("window", text=event[1][0])
            continue
        told[events[event]] = _cause_told(
            ways[event[0]], said[event[0]], event[0], cause, tuple(events[e] for e in cause.because)
        )
    return ChangeExplanation(events[goal], told)


def _cause_told(
    way: Way, said: Words, name: str, cause: _Cause, because: tuple[Event, ...]
) -> Cause:
    if cause.instance is None:
        return Cause("inserted" if name == "entered" else "deleted")
    step = step_of(said, Derivation(cause.instance, tuple(uses(way.known, cause.instance))))
    others = (*step.groups, *step.bindings, *step.tests)
    return Cause(
        "rule",
        step.rule,
        step.text,
        cause.rule_moved,
        tuple(map(str, step.uses)),
        tuple(map(str, step.absent)),
        tuple(map(str, others)),
        because,
    )
