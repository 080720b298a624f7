"""A rule and its delta variants as data: which atom reads which version of its predicate.

Semi-naive evaluation applies a rule once per atom that a change can reach: that atom reads the
delta, those before it what was known before the delta, those after it everything. So each instance
of the rule that uses the delta is found exactly once (paper 3, section 3, "Repeating Derivations").
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from zodiac_sql.rules import Atom, Constant, Rule, Variable
from zodiac_sql.safety import Arranged, arrange


class Version(StrEnum):
    """Which part of an extension an atom reads."""

    ALL = "all"
    OLD = "old"
    DELTA = "delta"


@dataclass(frozen=True, slots=True)
class Scan:
    """A positive atom and the version of its predicate's extension that it reads."""

    atom: Atom
    version: Version

    def __str__(self) -> str:
        return f"{self.atom}@{self.version}"


@dataclass(frozen=True, slots=True)
class Plan:
    """One evaluation of a rule: scans in join order, then what else the body holds."""

    rule: Rule
    scans: tuple[Scan, ...]
    body: Arranged

    def __str__(self) -> str:
        rest = (*self.body.aggregates, *self.body.steps, *self.body.filters, *self.body.negations)
        return f"{self.rule.head} <- {', '.join(map(str, (*self.scans, *rest)))}"


def whole(rule: Rule) -> Plan:
    """The rule over all that is known."""
    body = arrange(rule.body)
    return Plan(rule, join_order(Scan(atom, Version.ALL) for atom in body.atoms), body)


def delta_variants(rule: Rule, recursive: Collection[str]) -> tuple[Plan, ...]:
    """One plan for each atom over a recursive predicate, which reads that predicate's delta."""
    body = arrange(rule.body)
    places = [i for i, atom in enumerate(body.atoms) if atom.predicate in recursive]
    return tuple(
        Plan(rule, join_order(_versions(body.atoms, places, place)), body) for place in places
    )


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


def join_order(scans: Iterable[Scan]) -> tuple[Scan, ...]:
    """The delta first, then the atom with most bound terms (paper 1, section 4.6).

    A term is bound if it is a constant or a variable of an atom placed before. DuckDB reorders
    inner joins by its statistics; this order decides where those are equal, and avoids cross
    products that a body written in another order would suggest.
    """
    waiting = list(scans)
    placed: list[Scan] = []
    bound: set[str] = set()
    while waiting:
        best = max(waiting, key=lambda scan: (scan.version is Version.DELTA, _bound(scan, bound)))
        waiting.remove(best)
        placed.append(best)
        bound |= {term.name for term in best.atom.terms if isinstance(term, Variable)}
    return tuple(placed)


def _bound(scan: Scan, bound: Collection[str]) -> int:
    return sum(isinstance(t, Constant) or t.name in bound for t in scan.atom.terms)
