"""Which facts are provable: backward and forward chaining (paper 3, Algorithms 2 and 3).

bf.py asks this for the facts that each round reaches.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from sqlglot import exp

from zodiac_sql.database.statements import create_temp, semi_join, temp_table
from zodiac_sql.evaluate.cache_keys import relation_key
from zodiac_sql.evaluate.run_plans import Shape, Target, found_by
from zodiac_sql.language.syntax import Rule
from zodiac_sql.maintain.papers.fact_sets import (
    Facts,
    Search,
    add_to_set,
    note,
    parts_of,
    set_minus,
    total_rows,
)
from zodiac_sql.maintain.steps.recursion import Recursion
from zodiac_sql.maintain.steps.working_table import WorkingTable
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.emptiness import solvable
from zodiac_sql.sql.plan import Plan, Version, candidate_check
from zodiac_sql.sql.relations import Part, Relation, columns_of, relation_query
from zodiac_sql.sql.set_difference import unknown


def prove_or_disprove(search: Search, facts: Facts) -> None:
    """Find out which facts are provable; afterwards each of them is proved or disproved."""
    roots = set_minus(search, facts, search.checked, "root")
    level = roots
    met: list[Facts] = []
    while level:
        met.append(level)
        for own in search.owns.values():
            add_to_set(search, search.checked, "checked", own, level.get(own.predicate))
        search.work = search.work.plus(checked=total_rows(level))
        _saturate(search, level)
        if not set_minus(search, roots, search.proved, "open"):
            search.checked = _renewed(search)
            return
        level = _supports(search, set_minus(search, level, search.proved, "expand"), len(met))
    if met:
        search.disproved = {}
        for predicate, part in set_minus(search, search.checked, search.proved, "unproved").items():
            add_to_set(search, search.disproved, "disproved", search.owns[predicate], part)


def _renewed(search: Search) -> Facts:
    """The checked facts (C) without the undecided ones: the union of P and S."""
    found: Facts = {}
    for own in search.owns.values():
        parts = (*parts_of(search.proved, own), *parts_of(search.disproved, own))
        if parts:
            # Not into the table itself: S may have been made from it.
            query = relation_query(Relation(own.columns, parts))
            name = f"checked_{own.stem}"
            note(
                found,
                own,
                Part("temp", name, search.recursion.runner.store.count(create_temp(name, query))),
            )
    return found


def _reading(search: Search, of: Callable[[WorkingTable, Version], Relation]) -> Context:
    """What rules read: `of` the hypernode's own predicates, and of the others their inputs."""
    inputs = search.recursion.context

    def relation(name: str, version: Version) -> Relation:
        own = search.owns.get(name)
        return of(own, version) if own else inputs.relation(name, version)

    return replace(inputs, relation=relation)


def _supports(search: Search, facts: Facts, depth: int) -> Facts:
    """Create `level_*`: unchecked facts of bodies that derive some facts (lines 15 to 18)."""

    def relation(own: WorkingTable, version: Version) -> Relation:
        if version is Version.CANDIDATE:
            return Relation(own.columns, parts_of(facts, own))
        stored = own.stored
        gone = search.disproved.get(own.predicate)
        if stored is not None and gone is not None:
            left = stored.rows - gone.rows
            stored = replace(stored.without(gone.table), rows=max(left, 0))
        return Relation(own.columns, (*own.outside.parts, *((stored,) if stored else ())))

    context = _reading(search, relation)
    found: Facts = {}
    for own in search.owns.values():
        rules = search.recursion.hypernode.rules
        plans = [p for r in rules for p in _bodies(search.recursion, r, own.predicate)]
        if plans := solvable(plans, context):
            known = Relation(own.columns, (*parts_of(search.checked, own), *own.outside.parts))
            key = ("supports", relation_key(known))
            shape = partial(unknown, known=known)
            target = Target(f"level{depth % 2}_{own.stem}", own.columns, key, shape)
            note(found, own, found_by(search.recursion.runner, plans, context, target))
    search.work = search.work.plus(backward=total_rows(found))
    return found


def _bodies(recursion: Recursion, rule: Rule, predicate: str) -> tuple[Plan, ...]:
    """Plans that find, for candidates, the facts of a predicate in the bodies that derive them."""

    def make() -> tuple[Plan, ...]:
        plan = candidate_check(rule, recursive=recursion.hypernode.derives)
        return tuple(
            replace(plan, rule=replace(rule, head=atom))
            for atom in plan.body.atoms
            if atom.predicate == predicate
        )

    return recursion.runner.cache.get(("bodies", rule.name, predicate), make)


def _saturate(search: Search, level: Facts) -> None:
    """Prove what can be proved of the checked facts, beginning with a level just added."""
    step = 0
    found = _prove(search, level, {}, step)
    while found:
        for own in search.owns.values():
            add_to_set(search, search.proved, "proved", own, found.get(own.predicate))
        search.work = search.work.plus(forward=total_rows(found))
        unproved = set_minus(search, search.checked, search.proved, "unproved")
        unproved = set_minus(search, unproved, search.disproved, "unsure")
        step += 1
        found = _prove(search, unproved, found, step)


def _prove(search: Search, facts: Facts, new: Facts, step: int) -> Facts:
    """Create `proof*_*`: those of some facts that follow from proved ones.

    After the first step, at least one of the proved ones must come from the last step.
    """

    def relation(own: WorkingTable, version: Version) -> Relation:
        if version is Version.CANDIDATE:
            return Relation(own.columns, parts_of(facts, own))
        if version is Version.DELTA:
            return Relation(own.columns, parts_of(new, own))
        return Relation(own.columns, (*own.outside.parts, *parts_of(search.proved, own)))

    context = _reading(search, relation)
    found: Facts = {}
    for own in search.owns.values():
        candidates = facts.get(own.predicate)
        if candidates is None:
            continue
        recursion = search.recursion
        plans = recursion.onwards() if step else recursion.checks(own.predicate)
        if plans := solvable(plans, context, own.predicate):
            # Two names in turn: a statement cannot read the table that it replaces.
            name = f"proof{step % 2}_{own.stem}"
            shape = among_candidates(own, candidates)
            target = Target(name, own.columns, ("prove", candidates.table), shape)
            note(found, own, found_by(search.recursion.runner, plans, context, target))
    return found


def among_candidates(own: WorkingTable, candidates: Part) -> Shape:
    """The candidates among the heads that are found."""

    def shape(heads: exp.Query | None) -> exp.Query:
        assert heads is not None
        columns = columns_of(own.outside, "c")
        query = exp.select(*columns).from_(temp_table(candidates.table).as_("c"))
        return semi_join(query, columns, heads.subquery(copy=False))

    return shape
