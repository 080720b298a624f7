"""What a body knows of the atoms that it asks for: sideways information passing, bound first.

Literals are taken one after the other: comparisons and bindings as soon as they can be computed,
then atoms of which a column is known, those of stored predicates before derived ones, from left to
right. The values that a derived atom is asked for are those that the literals before it have for
its known columns.

Rule: a computed value is asked for only if it is computed of values that stand in facts.
Reason: what is asked for can make a rule ask for more. `p(N, X) :- p(M, X), q(N), M = N + 1` would
ask for every number, if it did not look for `q(N)` first.

Rule: of two parts of a body that share no variable, each asks for itself.
Reason: in `far(X, Y) :- node(X), node(Y), not path(X, Y)`, asked for one X, to ask for all paths
from X is less than to ask for each pair.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from zodiac_sql.language.binding import expressions_of, needed, variables
from zodiac_sql.language.syntax import (
    Aggregate,
    Atom,
    Binding,
    Comparison,
    Constant,
    Expression,
    Literal,
    Negation,
    Variable,
)

Fits = Callable[[Atom, int], bool]
"""Whether a column of an atom can be asked for by its value: it must be of the very same type."""


@dataclass(frozen=True, slots=True)
class Passed:
    """What is known of a literal when its turn comes.

    `known` are places of columns of an atom, or of variables in the group of an aggregate; the
    literals `before` have their values.
    """

    known: tuple[int, ...]
    before: tuple[Literal, ...]


def passing(
    body: Sequence[Literal], asked: Atom | None, derived: Collection[str], fits: Fits
) -> dict[int, Passed]:
    """What each derived atom and each aggregate of a body knows, by their places in the body.

    `asked` is the atom that has the values which the head is asked for.
    """
    walk = _Walk(body, derived, fits)
    if asked is not None:
        walk.begin(asked)
    walk.through()
    return walk.found


@dataclass(slots=True)
class _Walk:
    body: Sequence[Literal]
    derived: Collection[str]
    fits: Fits
    found: dict[int, Passed] = field(default_factory=dict)
    before: list[Literal] = field(default_factory=list)
    """The literals whose turn has come, comparisons that give a value as bindings."""
    bound: set[str] = field(default_factory=set)
    """The variables that have values."""
    usable: set[str] = field(default_factory=set)
    """Those that may be asked for."""
    apart: set[str] = field(default_factory=set)
    """Those in parts of the body that nothing connects with the first part."""
    grounded: set[str] = field(default_factory=set)
    """Those whose values stand in facts, or are computed of such values."""

    def begin(self, asked: Atom) -> None:
        names = _names(asked)
        self.bound |= names
        self.usable |= names
        self.before.append(asked)

    def through(self) -> None:
        atoms = [place for place, one in enumerate(self.body) if isinstance(one, Atom)]
        tests = [one for one in self.body if isinstance(one, Comparison | Binding)]
        tests = self._compute(tests)
        while atoms:
            place = min(atoms, key=self._rank)
            atoms.remove(place)
            self._take(place)
            tests = self._compute(tests)
        for place, one in enumerate(self.body):
            if isinstance(one, Negation):
                self.found[place] = self._passed(one.atom)
            elif isinstance(one, Aggregate):
                self.found[place] = self._of_group(one)

    def _rank(self, place: int) -> tuple[bool, bool, int]:
        """Connected atoms first, of these the stored ones, and else from left to right."""
        atom = self._atom(place)
        return not self._is_connected(atom), atom.predicate in self.derived, place

    def _atom(self, place: int) -> Atom:
        atom = self.body[place]
        assert isinstance(atom, Atom)
        return atom

    def _is_connected(self, atom: Atom) -> bool:
        return any(isinstance(term, Constant) or self._connects(term.name) for term in atom.terms)

    def _connects(self, name: str) -> bool:
        return name in self.usable and name not in self.apart

    def _take(self, place: int) -> None:
        atom = self._atom(place)
        if atom.predicate in self.derived:
            self.found[place] = self._passed(atom)
        names = _names(atom)
        if self.bound and not any(map(self._connects, names)):
            self.apart |= names - self.bound
        self.bound |= names
        self.usable |= names
        self.grounded |= names
        self.before.append(atom)

    def _compute(self, tests: Sequence[Comparison | Binding]) -> list[Comparison | Binding]:
        """Let comparisons and bindings test and give values, as far as they can be computed."""
        while True:
            left = [test for test in tests if not self._computes(test)]
            if len(left) == len(tests):
                break
            tests = left
        for name in [n for n in self.bound - self.usable if self._is_grounded(n)]:
            self.usable.add(name)
            self.grounded.add(name)
        return list(tests)

    def _computes(self, test: Comparison | Binding) -> bool:
        if needed(test) <= self.bound and isinstance(test, Comparison):
            self.before.append(test)
            return True
        for target, value in _gives(test):
            if {v.name for v in variables(value)} <= self.bound:
                self._give(target.name, value)
                self.before.append(Binding(value, target, test.span))
                return True
        return False

    def _give(self, name: str, value: Expression) -> None:
        of = {v.name for v in variables(value)}
        if name not in self.bound:
            if of & self.apart:
                self.apart.add(name)
            if of <= self.grounded:
                self.grounded.add(name)
                self.usable.add(name)
            elif isinstance(value, Variable) and value.name in self.usable:
                self.usable.add(name)
        self.bound.add(name)

    def _is_grounded(self, name: str) -> bool:
        """Whether what a value is computed of stands in facts by now."""
        return any(
            isinstance(one, Binding)
            and one.variable.name == name
            and {v.name for v in variables(one.expression)} <= self.grounded
            for one in self.before
        )

    def _passed(self, atom: Atom) -> Passed:
        """The known columns of an atom: those connected with the first part, if there are any."""
        known = [place for place, term in enumerate(atom.terms) if self._is_known(atom, place)]
        own = [n for n in known if _connected(atom.terms[n], self.apart)]
        if any(isinstance(atom.terms[n], Variable) for n in own):
            known = own
        names = {str(term.name) for n in known if isinstance(term := atom.terms[n], Variable)}
        return Passed(tuple(known), tuple(telling(self.before, names)))

    def _is_known(self, atom: Atom, place: int) -> bool:
        term = atom.terms[place]
        return (isinstance(term, Constant) or term.name in self.usable) and self.fits(atom, place)

    def _of_group(self, aggregate: Aggregate) -> Passed:
        names = {v.name for v in aggregate.group} & self.usable - self.apart
        known = [place for place, v in enumerate(aggregate.group) if v.name in names]
        return Passed(tuple(known), tuple(telling(self.before, names)))


def telling(before: Sequence[Literal], names: Collection[str]) -> Iterator[Literal]:
    """The literals that have to do with the values of variables, and tests of these.

    What is left out could only say that nothing is asked for; it would be a product with the rest.
    """
    wanted = set(names)
    while True:
        more = {name for one in before for name in _concerned(one, wanted)} - wanted
        if not more:
            break
        wanted |= more
    for one in before:
        if isinstance(one, Atom):
            if not wanted.isdisjoint(_names(one)):
                yield one
        elif isinstance(one, Comparison | Binding) and _all_names(one) <= wanted:
            yield one


def _concerned(literal: Literal, wanted: Collection[str]) -> Iterable[str]:
    """The variables that a literal needs to tell some of those that are wanted."""
    if isinstance(literal, Atom):
        names = _names(literal)
        return () if names.isdisjoint(wanted) else names
    if isinstance(literal, Binding) and literal.variable.name in wanted:
        return needed(literal)
    return ()


def _gives(test: Comparison | Binding) -> Iterator[tuple[Variable, Expression]]:
    """The variables that a literal can give a value, each with the value."""
    if isinstance(test, Binding):
        yield test.variable, test.expression
    elif test.operator == "=":
        for target, value in ((test.left, test.right), (test.right, test.left)):
            if isinstance(target, Variable):
                yield target, value


def _connected(term: Variable | Constant, apart: Collection[str]) -> bool:
    return isinstance(term, Constant) or term.name not in apart


def _names(atom: Atom) -> set[str]:
    return {v.name for v in variables(*atom.terms)}


def _all_names(test: Comparison | Binding) -> set[str]:
    names = {v.name for v in variables(*expressions_of(test))}
    return names | {test.variable.name} if isinstance(test, Binding) else names
