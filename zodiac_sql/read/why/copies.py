"""Rules whose heads tell all of their bodies, so that nobody has to look for their instances.

If a fact is derived by `p(X, Y) :- q(Y, X)`, it is derived from that one fact of q. So what such
rules could derive some facts from is written down, and looked for together, in one statement for
many rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from zodiac_sql.language.syntax import Atom, Constant, Rule, Type, Variable
from zodiac_sql.read.why.asked import Instance, Key, Kinds, Known, stored, uses
from zodiac_sql.read.why.search import Derivation, ProofSearch

AT_ONCE = 8
"""For each fact, what so many rules could derive it from is looked for together."""


@dataclass(frozen=True, slots=True)
class Copying:
    """A rule whose head has all variables of its body, which consists of atoms alone."""

    rule: Rule
    atoms: tuple[Atom, ...]
    kinds: Kinds
    constants: tuple[tuple[int, object], ...]
    """The columns of the head that have constants, and these as they are stored."""

    def instance(self, fact: Key) -> Instance | None:
        """The one instance that could derive a fact."""
        values: dict[str, object] = {}
        for term, value in zip(self.rule.head.terms, fact[1], strict=True):
            if isinstance(term, Variable) and values.setdefault(term.name, value) != value:
                return None
        if any(fact[1][place] != constant for place, constant in self.constants):
            return None
        return Instance(self.rule, self.atoms, values, self.kinds)


@dataclass(frozen=True, slots=True)
class Underived:
    """Facts of a hypernode's table that wait for derivations."""

    hypernode: int
    rules: Sequence[Rule]
    waiting: dict[Key, int | None]
    """The facts, and their ranks if the hypernode is recursive."""


def copied(search: ProofSearch, wanted: Iterable[Underived]) -> dict[Key, Derivation]:
    """Derivations by rules whose heads tell their bodies, for those facts that have any."""
    found: dict[Key, Derivation] = {}
    by_copying = [(one, _copying(search.known, one.rules)) for one in wanted]
    most = max((len(rules) for _, rules in by_copying), default=0)
    for first in range(0, most, AT_ONCE):
        possible = [
            (one, fact, Derivation(instance, tuple(uses(search.known, instance))))
            for one, rules in by_copying
            for fact in one.waiting
            if fact not in found
            for rule in rules[first : first + AT_ONCE]
            if (instance := rule.instance(fact))
        ]
        search.locate(use for _, _, derivation in possible for use in derivation.uses)
        for one, fact, derivation in possible:
            if fact not in found and _holds(search, one, fact, derivation):
                found[fact] = derivation
    return found


def _holds(search: ProofSearch, one: Underived, fact: Key, derivation: Derivation) -> bool:
    """Whether all facts of an instance are there, and older than the fact.

    In a recursive hypernode that are those of lower ranks, and those in tables of others.
    """
    hypernode, rank = search.known.graph[one.hypernode], one.waiting[fact]
    for use in derivation.uses:
        there = search.places[use]
        if not there:
            return False
        if not hypernode.recursive or use[0] not in hypernode.derives:
            continue
        if not any(p.owner != hypernode.id or _is_below(p.rank, rank) for p in there):
            return False
    return True


def _is_below(rank: int | None, other: int | None) -> bool:
    return rank is not None and other is not None and rank < other


def _copying(known: Known, rules: Iterable[Rule]) -> list[Copying]:
    """Those among some rules that are such, and read nothing that has no facts."""
    every = (known.cache.get(("copying", r.name), partial(_as_copying, known, r)) for r in rules)
    return [
        one
        for one in every
        if one and all(known.sources.relation(atom.predicate).rows for atom in one.atoms)
    ]


def _as_copying(known: Known, rule: Rule) -> Copying | None:
    atoms = tuple(rule.positive_atoms())
    if not atoms or len(atoms) != len(rule.body) or rule.best:
        return None
    kinds: dict[str, tuple[Type | None, int]] = {}
    for name, type_ in _typed(known, rule.head):
        if kinds.setdefault(name, (type_, 0)) != (type_, 0):
            return None
    if any(kinds.get(n) != (type_, 0) for atom in atoms for n, type_ in _typed(known, atom)):
        return None  # it has a variable of its own, or an int becomes a float
    own = Instance(rule, atoms, {}, kinds)
    constants = [
        (place, stored(known, term, own))
        for place, term in enumerate(rule.head.terms)
        if isinstance(term, Constant)
    ]
    return Copying(rule, atoms, kinds, tuple(constants))


def _typed(known: Known, atom: Atom) -> Iterator[tuple[str, Type | None]]:
    """The variables of an atom, with the types of their columns."""
    for term, type_ in zip(atom.terms, known.types[atom.predicate], strict=True):
        if isinstance(term, Variable):
            yield term.name, type_
