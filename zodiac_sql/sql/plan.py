"""A rule and its delta variants as data: which atom reads which version of its predicate.

Semi-naive evaluation applies a rule once per atom that a change can reach: that atom reads the
delta, the atoms before it read what was known before the delta, and the atoms after it everything.
So each instance of the rule that uses the delta is found exactly once (paper 3, section 3,
"Repeating Derivations").
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from zodiac_sql.database.statement_cache import StatementCache
from zodiac_sql.language.binding import Arranged, arrange, variables
from zodiac_sql.language.syntax import (
    Aggregate,
    Atom,
    Comparison,
    Constant,
    Negation,
    Rule,
    Term,
    Variable,
    atoms_of,
)


class Version(StrEnum):
    """Which part of an extension an atom reads.

    During evaluation: all that is known, what was known before the delta, the delta. During
    maintenance also: the extension before the change, and what the change inserts and deletes.
    CANDIDATE are facts to check, TOUCHED the groups of an aggregate that a change reaches.
    """

    ALL = "all"
    OLD = "old"
    DELTA = "delta"
    BEFORE = "before"
    INSERTED = "inserted"
    DELETED = "deleted"
    CANDIDATE = "candidate"
    TOUCHED = "touched"


@dataclass(frozen=True, slots=True)
class Scan:
    """A positive atom and the version of its predicate's extension that it reads."""

    atom: Atom
    version: Version

    def __str__(self) -> str:
        return f"{self.atom}@{self.version}"


@dataclass(frozen=True, slots=True)
class Plan:
    """One evaluation of a rule: scans in join order, then what else the body holds.

    Negations and aggregates read `state`. `groups` limits each aggregate to the groups that a scan
    of their variables finds; None stands for all of them.
    """

    rule: Rule
    scans: tuple[Scan, ...]
    body: Arranged
    state: Version = Version.ALL
    groups: tuple[Scan | None, ...] = ()

    def __str__(self) -> str:
        rest = (*self.body.aggregates, *self.body.steps, *self.body.filters, *self.body.negations)
        return f"{self.rule.head} <- {', '.join(map(str, (*self.scans, *rest)))}"


def whole(rule: Rule, version: Version = Version.ALL) -> Plan:
    """The rule over all that is known, or was known before a change."""
    body = arrange(rule.body)
    return Plan(rule, join_order(Scan(atom, version) for atom in body.atoms), body, version)


def delta_variants(rule: Rule, recursive: Collection[str]) -> tuple[Plan, ...]:
    """One plan for each atom over a recursive predicate, which reads that predicate's delta."""
    body = arrange(rule.body)
    places = [i for i, atom in enumerate(body.atoms) if atom.predicate in recursive]
    return tuple(
        Plan(rule, join_order(_versions(body.atoms, places, place)), body) for place in places
    )


def delta_plans(cache: StatementCache, rule: Rule, recursive: Collection[str]) -> tuple[Plan, ...]:
    """The same, made once for each rule and these predicates: some steps know relations that are
    kept as classes as recursive, and some do not.
    """
    names = frozenset(recursive)
    return cache.get(("delta", rule.name, names), lambda: delta_variants(rule, names))


def _versions(atoms: Sequence[Atom], recursive: Sequence[int], delta: int) -> list[Scan]:
    scans = []
    for index, atom in enumerate(atoms):
        if index == delta:
            scans.append(Scan(atom, Version.DELTA))
        elif index in recursive and index < delta:
            scans.append(Scan(atom, Version.OLD))
        else:
            scans.append(Scan(atom, Version.ALL))
    return scans


# --- variants for a change -----------------------------------------------------------------------


def lost_variants(
    rule: Rule, inserted: Collection[str], deleted: Collection[str]
) -> tuple[Plan, ...]:
    """Plans whose heads are all facts that may lose a derivation by a change of some predicates.

    Each finds instances of the rule from before the change that use a deleted fact, are refuted by
    an inserted one under a negation, or rest on a group of an aggregate that the change touches.
    """
    return _changed(rule, deleted, inserted, Version.DELETED, Version.INSERTED, Version.BEFORE)


def gained_variants(
    rule: Rule, inserted: Collection[str], deleted: Collection[str]
) -> tuple[Plan, ...]:
    """Plans whose heads are all facts that may gain a derivation by a change of some predicates."""
    return _changed(rule, inserted, deleted, Version.INSERTED, Version.DELETED, Version.ALL)


def _changed(
    rule: Rule,
    positive: Collection[str],
    negative: Collection[str],
    drives: Version,
    refutes: Version,
    state: Version,
) -> tuple[Plan, ...]:
    body = arrange(rule.body)
    drivers = []
    for index, atom in enumerate(body.atoms):
        if atom.predicate in positive:
            others = (*body.atoms[:index], *body.atoms[index + 1 :])
            drivers.append((Scan(atom, drives), others))
    for negation in body.negations:
        if negation.atom.predicate in negative:
            drivers.append((Scan(without_locals(negation, body.bound), refutes), body.atoms))
    for index, aggregate in enumerate(body.aggregates):
        if any(a.predicate in {*positive, *negative} for a in atoms_of(aggregate.body)):
            drivers.append((touched(rule, index), body.atoms))
    return tuple(
        Plan(
            rule,
            join_order([driver, *(Scan(atom, state) for atom in others)]),
            body,
            state,
            tuple(_guard(driver, aggregate) for aggregate in body.aggregates),
        )
        for driver, others in drivers
    )


def touched(rule: Rule, index: int) -> Scan:
    """The scan of the groups of a rule's aggregate that a change touches."""
    aggregate = arrange(rule.body).aggregates[index]
    return Scan(Atom(f"{rule.name}#{index}", aggregate.group), Version.TOUCHED)


def candidate_check(rule: Rule, *leading: Variable, recursive: Collection[str] = ()) -> Plan:
    """The rule over all that is known, as far as it derives facts among the candidates.

    If the candidates have `leading` columns before those of the fact, these become variables.

    Atoms of `recursive` predicates come after others that share as many variables: those others
    tell which recursive facts are asked for. Where a chain is cut, thousands of candidates share
    their first argument with thousands of facts each, and their second with one arc.

    A candidate must meet only bodies that derive just this fact, because its rank is compared with
    theirs. So it gives values to all variables of the head, computed ones too, until the body has
    them. A variable that the head repeats is compared once more, because its columns may differ in
    type.
    """
    body = arrange(rule.body)
    terms: list[Term] = list(leading)
    ties: list[Comparison] = []
    for place, term in enumerate(rule.head.terms):
        if isinstance(term, Variable) and term in terms:
            ties.append(Comparison(repeated := Variable(f"_:head:{place}"), "=", term))
            terms.append(repeated)
        else:
            terms.append(term)
    candidate = Scan(Atom(rule.head.predicate, tuple(terms)), Version.CANDIDATE)
    atoms = sorted(body.atoms, key=lambda atom: atom.predicate in recursive)
    scans = join_order([candidate, *(Scan(atom, Version.ALL) for atom in atoms)])
    groups = tuple(_guard(candidate, aggregate) for aggregate in body.aggregates)
    tied = replace(body, filters=(*body.filters, *ties))
    return Plan(rule, scans, tied, Version.ALL, groups)


def group_check(rule: Rule) -> Plan:
    """The rule over all that is known, as far as it derives facts of the groups of candidates."""
    assert rule.best is not None
    terms = list(rule.head.terms)
    terms[rule.best.place] = Variable("_:best")
    plan = candidate_check(replace(rule, head=replace(rule.head, terms=tuple(terms))))
    return replace(plan, rule=rule)


def _guard(driver: Scan, aggregate: Aggregate) -> Scan | None:
    """A scan of an aggregate's group variables, if the driving scan has them all."""
    group = {variable.name for variable in aggregate.group}
    if not group or not group <= {v.name for v in variables(*driver.atom.terms)}:
        return None
    return Scan(
        Atom(driver.atom.predicate, _only(driver.atom.terms, group, "group")), driver.version
    )


def without_locals(negation: Negation, bound: Collection[str], stem: str = "local") -> Atom:
    """A negated atom to be scanned: its existential variables get names that nothing else has."""
    atom = negation.atom
    return Atom(atom.predicate, _only(atom.terms, bound, stem))


def _only(terms: Sequence[Term], kept: Collection[str], stem: str) -> tuple[Term, ...]:
    """Terms in which each variable that is not kept has a new name, the same wherever it occurs."""
    return tuple(
        Variable(f"_:{stem}:{term.name}")
        if isinstance(term, Variable) and term.name not in kept
        else term
        for term in terms
    )


# --- order ----------------------------------------------------------------------------------------


SMALL_VERSIONS = (
    Version.DELTA, Version.INSERTED, Version.DELETED, Version.CANDIDATE, Version.TOUCHED
)  # fmt: skip
"""Versions that are small: a join begins with them."""


def join_order(scans: Iterable[Scan]) -> tuple[Scan, ...]:
    """The delta first, then the atom with most bound terms (paper 1, section 4.6).

    A term is bound if it is a constant or a variable of an atom placed before; an atom with such a
    variable comes before one with constants alone. DuckDB reorders inner joins by its statistics;
    this order decides where those are equal, and avoids cross products that a body written in
    another order would suggest.
    """
    waiting = list(scans)
    placed: list[Scan] = []
    bound: set[str] = set()
    while waiting:
        best = max(waiting, key=lambda scan: _first_of(scan, bound))
        waiting.remove(best)
        placed.append(best)
        bound |= {term.name for term in best.atom.terms if isinstance(term, Variable)}
    return tuple(placed)


def _first_of(scan: Scan, bound: Collection[str]) -> tuple[bool, bool, int]:
    joined = [isinstance(t, Variable) and t.name in bound for t in scan.atom.terms]
    constants = sum(isinstance(term, Constant) for term in scan.atom.terms)
    return scan.version in SMALL_VERSIONS, any(joined), constants + sum(joined)
