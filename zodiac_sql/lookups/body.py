"""The bodies of rules as FROM and WHERE of statements for SQLite.

Each begins with a small table, and looks up one atom after the other, each time the one that finds
fewest facts. SQLite keeps the order of a CROSS JOIN, and each atom has an index for the columns
that are known by then.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from sqlglot import exp

from zodiac_sql.language.binding import needed
from zodiac_sql.language.syntax import (
    Atom,
    Binding,
    Call,
    Comparison,
    Constant,
    Expression,
    Negation,
    Term,
    Type,
    Variable,
)
from zodiac_sql.lookups.computed_values import EXACTLY, is_partial, is_read_exactly
from zodiac_sql.lookups.tables import FACT, RANK, Copy, has, holds
from zodiac_sql.lookups.values import encoded_value

_OPERATORS: Mapping[str, type[exp.Binary]] = {
    "=": exp.EQ, "!=": exp.NEQ, "<": exp.LT, "<=": exp.LTE, ">": exp.GT, ">=": exp.GTE,
}  # fmt: skip


class Seen(Enum):
    """Which facts an atom is looked up among."""

    EVER = "all that were there before the change, or are there now"
    NOW = "those that are there now"
    LOWER = "those that are there now, and come before the candidate"


@dataclass(slots=True)
class Scope:
    """The hypernode that rules belong to, and the copies of the predicates of its rules."""

    number: int
    recursive: frozenset[str]
    """The predicates that it derives, if it is recursive."""
    copies: Mapping[str, Copy]
    ids: Mapping[str, int]
    outside: Mapping[str, str]
    """The predicates that rules of modules read only as far as they are known from outside, by
    their names inside the hypernode."""
    lookups: set[tuple[str, tuple[int, ...]]] = field(default_factory=set)
    """The columns by which facts of a predicate are looked up, as bodies are made."""

    def named(self, atom: Atom) -> str:
        """The predicate of an atom."""
        return self.outside.get(atom.predicate, atom.predicate)

    def copy(self, atom: Atom) -> Copy:
        """The copy of an atom's predicate."""
        return self.copies[self.named(atom)]


class LookupBody:
    """The FROM and WHERE of one statement."""

    def __init__(self, scope: Scope, steps: Sequence[Binding] = ()) -> None:
        self.scope = scope
        self.steps = [*steps]
        """The values that are still to be computed, each once that what it needs is known."""
        self.known: dict[str, exp.Expr] = {}
        self.items: list[exp.Expr] = []
        self.where: list[exp.Expr] = []
        self.driver = "d"

    def scan(self, atom: Atom, source: str) -> None:
        """Begin with a small table."""
        self.scan_item(atom, self.scope.copy(atom).table(source, self.driver))

    def scan_item(self, atom: Atom, item: exp.Expr) -> None:
        """Begin with an item of FROM that has the columns of an atom, and the driver's alias."""
        self.items.append(item)
        self.bind(atom, self.driver, None)
        self._compute()

    def join(
        self, atoms: Sequence[Atom], seen: Seen, wanted: Collection[str] | None = None
    ) -> float:
        """Look atoms up, each time the one that finds fewest facts: all of them, or until the
        variables that are wanted are known. Returns about how many bodies that makes of each.
        """
        self._compute()
        waiting, found = list(atoms), 1.0
        while waiting and (wanted is None or not self.knows(wanted)):
            atom = self.next_of(waiting)
            waiting.remove(atom)
            found *= max(1.0, self.found(atom))
            self._look_up(atom, seen)
            self._compute()
        return found

    def _compute(self) -> None:
        """Compute the values for which all is known. One that an atom has, too, is compared.

        A body without one of its values is none, even if nothing else asks for it.
        """
        ready = [step for step in self.steps if self.knows(needed(step))]
        if not ready:
            return
        self.steps = [step for step in self.steps if step not in ready]
        for step in ready:
            name, value = step.variable.name, self.value(step.expression)
            if name in self.known:
                self.where.append(self.known[name].copy().eq(value))
                continue
            self.known[name] = value
            if is_partial(step.expression):
                self.where.append(value.copy().is_(exp.null()).not_())
        self._compute()

    def next_of(self, atoms: Sequence[Atom]) -> Atom:
        """The atom that finds fewest facts."""
        return min(atoms, key=self.found)

    def found(self, atom: Atom) -> float:
        """About how many facts an atom would find, as far as its terms are known."""
        known = (
            place
            for place, term in enumerate(atom.terms)
            if isinstance(term, Constant) or term.name in self.known
        )
        return self.scope.copy(atom).found(known)

    def _look_up(self, atom: Atom, seen: Seen) -> None:
        copy, alias = self.scope.copy(atom), f"a{len(self.items)}"
        self.items.append(copy.table(FACT, alias))
        self.bind(atom, alias, self.scope.named(atom))
        if seen is Seen.EVER:
            return
        own = copy.bits.get(self.scope.number, 0)
        outside = has(alias, sum(copy.bits.values()) - own)
        if atom.predicate in self.scope.outside:
            self.where.append(outside)
        elif seen is Seen.LOWER and atom.predicate in self.scope.recursive:
            lower = exp.column(RANK, table=alias) < exp.column(RANK, table=self.driver)
            self.where.append(exp.or_(outside, exp.and_(has(alias, own), lower)))
        else:
            self.where.append(holds(alias))

    def bind(self, atom: Atom, alias: str, looked_up: str | None) -> None:
        """A row is an instance of an atom. Variables that are not known get their values."""
        places = []
        for place, term in enumerate(atom.terms):
            here = exp.column(f"c{place}", table=alias)
            if isinstance(term, Constant):
                self.where.append(here.eq(self.value(term)))
                places.append(place)
            elif term.name in self.known:
                known = self.known[term.name]
                if not isinstance(known, exp.Column) or known.table != alias:
                    places.append(place)
                self.where.append(here.eq(known.copy()))
            else:
                self.known[term.name] = here
        if looked_up and places:
            self.scope.lookups.add((looked_up, tuple(places)))

    def same(self, atom: Atom, alias: str) -> list[exp.Expr]:
        """A row is the fact that an atom with known terms is."""
        return [
            exp.column(f"c{place}", table=alias).eq(self.value(term))
            for place, term in enumerate(atom.terms)
        ]

    def test(self, filters: Sequence[Comparison]) -> None:
        """Only bodies that pass comparisons."""
        for one in filters:
            left, right = self.value(one.left), self.value(one.right)
            self.where.append(_OPERATORS[one.operator](this=left, expression=right))

    def refuse(self, negations: Sequence[Negation]) -> None:
        """Only bodies that no fact refutes now."""
        for place, negation in enumerate(negations):
            self.where.append(exp.not_(self._finds(negation.atom, f"n{place}")))

    def require(self, atoms: Sequence[Atom]) -> None:
        """Only bodies with which each of some atoms finds a fact now."""
        self.where += [self._finds(atom, f"e{place}") for place, atom in enumerate(atoms)]

    def _finds(self, atom: Atom, alias: str) -> exp.Expr:
        """Whether an atom finds a fact now, by the variables that are known."""
        inner = LookupBody(self.scope)
        inner.known = dict(self.known)
        inner.bind(atom, alias, self.scope.named(atom))
        query = exp.select("1").from_(self.scope.copy(atom).table(FACT, alias))
        return exp.Exists(this=query.where(*inner.where, holds(alias), copy=False))

    def knows(self, names: Collection[str]) -> bool:
        """Whether some variables are known."""
        return all(name in self.known for name in names)

    def value(self, term: Term | Expression) -> exp.Expr:
        """A variable that is known, a constant as it is stored, or a value that is computed."""
        if isinstance(term, Variable):
            return self.known[term.name].copy()
        if isinstance(term, Call):
            arguments = [self.value(argument) for argument in term.arguments]
            return exp.Anonymous(this=term.function, expressions=arguments)
        if term.type is Type.SYMBOL:
            return exp.convert(self.scope.ids.get(str(term.value), -1))
        value = encoded_value(term.type, term.value)
        if isinstance(value, float) and not is_read_exactly(value):
            return exp.Anonymous(this=EXACTLY, expressions=[exp.Literal.string(value.hex())])
        return exp.convert(int(value) if isinstance(value, bool) else value)

    def select(self, values: Sequence[exp.Expr]) -> exp.Select:
        first, *others = self.items
        query = exp.select(*values).from_(first)
        for item in others:
            query = query.join(exp.Join(this=item, kind="CROSS"), copy=False)
        return query.where(*self.where, copy=False) if self.where else query
