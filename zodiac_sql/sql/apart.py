"""The parts of a body that have nothing to do with its head: whether they hold is all that matters.

In `h(X) :- a(X), b(Y), c(Z)`, neither b nor c says anything of X. Joined, they would be multiplied
out: each fact of a would come as often as there are pairs of b and c. So each such part becomes one
row, if there is a solution, and none otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace

from zodiac_sql.language.binding import Arranged, needed, variables
from zodiac_sql.language.syntax import Atom, Binding, Comparison, Negation
from zodiac_sql.sql.plan import Plan, Scan, Version

_OF_ROUNDS = (Version.DELTA, Version.OLD)
"""The versions that rounds of a recursion read. There, all is joined."""

_OF_HEADS = (Version.CANDIDATE, Version.TOUCHED)
"""The versions of what a plan is about."""

Step = Scan | Comparison | Binding | Negation


def parts_apart(
    plan: Plan, kept: Collection[str], is_ranked: Callable[[Scan], bool]
) -> tuple[Plan, list[Plan]]:
    """A plan without the parts that have to do with none of the variables that are `kept`, and a
    plan for each of these parts.

    A part with an aggregate stays, and so does one whose facts have ranks, which count in a head.
    """
    body = plan.body
    if any(scan.version in _OF_ROUNDS for scan in plan.scans) or len(plan.scans) < 2 - (not kept):
        return plan, []
    kept = {*kept, *(n for s in plan.scans if s.version in _OF_HEADS for n in _of(s.atom.terms))}
    steps: list[Step] = [*plan.scans, *body.steps, *body.filters, *body.negations]
    bound = {name for aggregate in body.aggregates for name in _of(aggregate.group)}
    bound |= {aggregate.result.name for aggregate in body.aggregates}
    others = _unconnected(steps, {*kept, *bound}, body.bound)
    apart = [one for one in others if not any(isinstance(s, Scan) and is_ranked(s) for s in one)]
    apart = [one for one in apart if any(isinstance(step, Scan) for step in one)]
    if not apart:
        return plan, []
    gone = {id(step) for one in apart for step in one}
    return _only(plan, [step for step in steps if id(step) not in gone]), [
        _alone(plan, one) for one in apart
    ]


def _unconnected(
    steps: Iterable[Step], kept: Collection[str], bound: Collection[str]
) -> list[list[Step]]:
    """The parts that have to do with none of some variables, and share none with each other."""
    found: list[tuple[set[str], list[Step]]] = [(set(kept), [])]
    for step in steps:
        names = _names(step) & set(bound)
        if not names:  # a test of constants
            continue
        joined = [part for part in found if not part[0].isdisjoint(names)]
        for part in joined:
            found.remove(part)
        whole = names.union(*(part[0] for part in joined))
        found.append((whole, [*(one for part in joined for one in part[1]), step]))
    return [part[1] for part in found if part[0].isdisjoint(kept) and part[1]]


def _names(step: Step) -> set[str]:
    if isinstance(step, Scan):
        return set(_of(step.atom.terms))
    if isinstance(step, Negation):
        return needed(step.atom)
    return needed(step) | ({step.variable.name} if isinstance(step, Binding) else set())


def _of(terms: Iterable[object]) -> Iterator[str]:
    return (variable.name for variable in variables(*terms))  # type: ignore[arg-type]


def _only(plan: Plan, steps: Collection[Step]) -> Plan:
    """A plan with some of its steps, and all of its aggregates."""
    there = {id(step) for step in steps}
    body = plan.body
    scans = tuple(scan for scan in plan.scans if id(scan) in there)
    atoms = {id(scan.atom) for scan in scans}
    left = replace(
        body,
        atoms=tuple(atom for atom in body.atoms if id(atom) in atoms),
        steps=tuple(step for step in body.steps if id(step) in there),
        filters=tuple(test for test in body.filters if id(test) in there),
        negations=tuple(test for test in body.negations if id(test) in there),
    )
    return replace(plan, scans=scans, body=left)


def _alone(plan: Plan, steps: Collection[Step]) -> Plan:
    """The plan of a part."""
    part = _only(plan, steps)
    return replace(part, body=replace(part.body, aggregates=()), groups=())


def literals_of(body: Arranged) -> tuple[Atom | Comparison | Binding | Negation, ...]:
    """The literals of a part."""
    return (*body.atoms, *body.steps, *body.filters, *body.negations)
