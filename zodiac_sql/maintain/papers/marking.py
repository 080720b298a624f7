"""Marking: what one update of a stream finds out about the next (paper 4, Algorithm 1).

Facts that the next update deletes are marked. A mark on an explicit fact in a rule's body passes to
the facts that the rule derives, as far as this update has found them. The next update then begins
with the marked facts among those to be checked, so its own search has fewer to find.

The paper passes marks on while facts are derived. Here one look at the facts that were found does
it afterwards, so all strategies are as they are without marking. A fact is marked if any instance
that derives it has a marked fact; the paper looks only at the first. With `implicit`, marks also
pass through derived facts. That is right for DRed, which takes out whatever may be lost, but not
for B/F (paper 4, section 4).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from sqlglot import exp

from zodiac_sql.cost.operator import Declined
from zodiac_sql.database.statement_cache import StatementCache
from zodiac_sql.database.statements import create_temp, temp_table
from zodiac_sql.evaluate.cache_keys import relation_key
from zodiac_sql.evaluate.run_plans import Target, found_by
from zodiac_sql.maintain.contract import Maintained, Task
from zodiac_sql.maintain.operators.candidates import CANDIDATES, run_candidates
from zodiac_sql.maintain.steps.change_plans import checks
from zodiac_sql.maintain.weighed import Maintains, Weighed
from zodiac_sql.names import CHANGE_FACTS
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.emptiness import is_empty
from zodiac_sql.sql.plan import Plan, Scan, Version, join_order
from zodiac_sql.sql.relations import Part, Relation, relation_query
from zodiac_sql.sql.set_difference import unknown


@dataclass(frozen=True, slots=True)
class Marks:
    """What an update has found out about the one after it.

    It holds for the state of that `generation`, and only if the next update deletes just the facts
    of `ahead`, which has for each predicate the rows as they were given, and a temporary table of
    those that are explicit. `found` are derived facts that the update has marked, by predicate and
    hypernode.
    """

    generation: int
    turn: int
    """The tables of two updates that follow each other have different names: 0 or 1."""
    ahead: Mapping[str, tuple[object, Part]] = field(default_factory=dict)
    found: Mapping[tuple[str, int], Part] = field(default_factory=dict)

    def tables(self) -> set[str]:
        """The temporary tables that the next update reads."""
        parts = [*(part for _, part in self.ahead.values()), *self.found.values()]
        return {part.table for part in parts}


@dataclass(frozen=True, slots=True)
class Marking:
    """The marks that concern one hypernode, by predicate.

    `next` are facts that it reads and that are marked for the next update, `given` its own facts
    that were marked for this one. With `implicit`, marks also pass through derived facts.
    """

    next: Mapping[str, tuple[Part, ...]] = field(default_factory=dict)
    given: Mapping[str, Part] = field(default_factory=dict)
    implicit: bool = False

    @property
    def rows(self) -> int:
        """How many facts were marked for this update."""
        return sum(part.rows for part in self.given.values())


NO_MARKS = Marking()


def with_marks(
    done: Maintained, task: Task, marking: Marking, context: Context, found: Mapping[str, Relation]
) -> Maintained:
    """The outcome of a task with those of the facts that it has `found` that are marked.

    `context` has what is known after the update. Facts that were marked for it were not found by
    rules, but are counted so.
    """
    marked: dict[str, Part] = {}
    fresh, turn = marking.next, 0
    while fresh:
        new = {
            name: part
            for name, facts in found.items()
            if (part := _reached(task, context, name, facts, fresh, marked.get(name), turn))
        }
        for name, part in new.items():
            marked[name] = _together(task, name, marked.get(name), part)
        fresh = {name: (part,) for name, part in new.items()} if marking.implicit else {}
        turn = 1 - turn
    work = done.work.plus(
        forward=-marking.rows,
        deletions=-marking.rows,
        marked=sum(part.rows for part in marked.values()),
    )
    return replace(done, work=work, marked=marked)


def _reached(
    task: Task,
    context: Context,
    predicate: str,
    facts: Relation,
    fresh: Mapping[str, tuple[Part, ...]],
    marked: Part | None,
    turn: int,
) -> Part | None:
    """Those of some facts that follow from fresh marks, and are not marked yet."""

    def relation(name: str, version: Version) -> Relation:
        if version is Version.CANDIDATE:
            return facts
        if version is Version.DELTA:
            return Relation(task.columns(name), fresh[name])
        return context.relation(name, version)

    inside = replace(context, relation=relation)
    plans = [
        plan
        for check in checks(task.runner.cache, task.hypernode, predicate)
        for plan in _through_marks(task.runner.cache, check, fresh)
        if not is_empty(plan, inside)
    ]
    if not plans:
        return None
    known = Relation(facts.columns, (marked,) if marked else ())
    table = f"{CHANGE_FACTS}marks_{turn}_{task.stem(predicate)}"
    key = ("marks", relation_key(known))
    target = Target(table, facts.columns, key, partial(unknown, known=known))
    return found_by(task.runner, plans, inside, target)


def _through_marks(cache: StatementCache, check: Plan, marked: Collection[str]) -> tuple[Plan, ...]:
    """A plan that checks candidates, once for each atom that can read a marked fact."""
    places = [place for place, scan in enumerate(check.scans) if scan.atom.predicate in marked]
    return tuple(
        cache.get(("through marks", check.rule.name, place), partial(_through, check, place))
        for place in places
        if check.scans[place].version is Version.ALL
    )


def _through(check: Plan, place: int) -> Plan:
    scans = list(check.scans)
    scans[place] = Scan(scans[place].atom, Version.DELTA)
    return replace(check, scans=join_order(scans))


def _together(task: Task, predicate: str, marked: Part | None, new: Part) -> Part:
    """All marked facts of a predicate, in a table that lasts until the next update has read it."""
    name = f"{CHANGE_FACTS}marked_{task.stem(predicate)}"
    rows = relation_query(Relation(task.columns(predicate), (new,)))
    if marked is None:
        task.runner.store.run(create_temp(name, rows))
        return replace(new, table=name)
    task.runner.store.run(exp.insert(rows, temp_table(name)))
    return replace(marked, rows=marked.rows + new.rows)


def candidates_with(marking: Marking) -> Maintains:
    """How a hypernode that is not recursive is maintained with marking."""

    def run(weighed: Weighed, next_ms: float) -> Maintained | Declined:
        task = weighed.task
        (predicate,) = task.hypernode.derives
        done = run_candidates(weighed, next_ms, marking.given.get(predicate))
        if isinstance(done, Declined):
            return done
        edit = done.edits.get(predicate)
        new = (edit.inserted,) if edit and edit.inserted else ()
        found = {predicate: Relation(task.columns(predicate), new)}
        return with_marks(done, task, marking, task.context, found)

    return replace(CANDIDATES, run=run)
