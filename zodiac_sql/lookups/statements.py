"""The statements that apply the rules of a hypernode to what a change has moved.

Each begins with a small table: what entered or left an extension, what may be lost, what is new.
Then it looks up one atom after the other, each time the one that finds fewest facts. SQLite keeps
the order of a CROSS JOIN, and each atom has an index for the columns that are known by then.

A fact may be lost if a body that derived it has a fact that left, or refutes it now. Bodies are
looked for among all facts that were there or are there; too many candidates do no harm, because
each is checked by the bodies that are left (DRed and B/F, papers 2 and 3, do the same). In a
recursive hypernode only such bodies count there whose facts have lower ranks, as in
maintain/support.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from sqlglot import exp

from zodiac_sql.language.syntax import (
    Atom,
    Comparison,
    Constant,
    Expression,
    Negation,
    Term,
    Type,
    Variable,
)
from zodiac_sql.lookups.rule_forms import Form
from zodiac_sql.lookups.tables import (
    DELTA,
    ENTERED,
    FACT,
    GONE,
    LEFT,
    LOST,
    RANK,
    WON,
    Copy,
    has,
    holds,
    render,
)
from zodiac_sql.lookups.values import encoded_value

_OPERATORS: Mapping[str, type[exp.Binary]] = {
    "=": exp.EQ, "!=": exp.NEQ, "<": exp.LT, "<=": exp.LTE, ">": exp.GT, ">=": exp.GTE,
}  # fmt: skip


class Seen(Enum):
    """Which facts an atom is looked up among."""

    EVER = "all that were there before the change, or are there now"
    NOW = "those that are there now"
    LOWER = "those that are there now, and come before the candidate"


@dataclass(frozen=True, slots=True)
class Step:
    """A statement that fills a table of the predicate of a rule's head."""

    head: str
    text: str


@dataclass(frozen=True, slots=True)
class Statements:
    """What a hypernode does when facts move, by the predicate that has moved.

    `lost` and `won` are for what left and entered extensions, `refuted` and `freed` for what
    entered and left those under a negation. `checks` take back candidates that are still derived.
    A recursive hypernode also has `losing` and `winning`, for each round, and `again`, for facts
    that it has lost too many of.
    """

    lost: Mapping[str, Sequence[Step]]
    won: Mapping[str, Sequence[Step]]
    refuted: Mapping[str, Sequence[Step]]
    freed: Mapping[str, Sequence[Step]]
    checks: Mapping[str, Sequence[str]]
    losing: Mapping[str, Sequence[Step]]
    winning: Mapping[str, Sequence[Step]]
    again: Mapping[str, Sequence[Step]]
    lookups: frozenset[tuple[str, tuple[int, ...]]]
    """The columns by which facts of a predicate are looked up."""


@dataclass(slots=True)
class Compiler:
    """Makes the statements of one hypernode."""

    number: int
    recursive: frozenset[str]
    """The predicates that it derives, if it is recursive."""
    copies: Mapping[str, Copy]
    ids: Mapping[str, int]
    outside: Mapping[str, str]
    """The predicates that rules of modules read only as far as they are known from outside, by
    their names inside the hypernode."""
    lookups: set[tuple[str, tuple[int, ...]]] = field(default_factory=set)

    def named(self, atom: Atom) -> str:
        """The predicate of an atom."""
        return self.outside.get(atom.predicate, atom.predicate)

    def copy(self, atom: Atom) -> Copy:
        """The copy of an atom's predicate."""
        return self.copies[self.named(atom)]

    def compile(self, forms: Sequence[Form]) -> Statements:
        lost = _grouped(step for form in forms for step in self._driven(form, LEFT, lost=True))
        won = _grouped(step for form in forms for step in self._driven(form, ENTERED, lost=False))
        refuted = _grouped(s for form in forms for s in self._negated(form, ENTERED, lost=True))
        freed = _grouped(s for form in forms for s in self._negated(form, LEFT, lost=False))
        losing = _grouped(step for form in forms for step in self._driven(form, DELTA, lost=True))
        winning = _grouped(step for form in forms for step in self._driven(form, DELTA, lost=False))
        checks: dict[str, list[str]] = {}
        again: dict[str, list[Step]] = {}
        for form in forms:
            head = form.rule.head.predicate
            checks.setdefault(head, []).append(self._check(form))
            if self.recursive:
                again.setdefault(head, []).append(Step(head, self._again(form)))
        return Statements(
            lost, won, refuted, freed, checks, losing, winning, again, frozenset(self.lookups)
        )

    # --- heads that may be lost or won ------------------------------------------------------------

    def _driven(self, form: Form, source: str, lost: bool) -> Iterator[tuple[str, Step]]:
        """A statement for each atom of which facts may have moved."""
        atoms = form.body.atoms
        for place, atom in enumerate(atoms):
            if source == DELTA and atom.predicate not in self.recursive:
                continue
            body = _Body(self)
            body.scan(atom, source)
            body.join([*atoms[:place], *atoms[place + 1 :]], Seen.EVER if lost else Seen.NOW)
            yield self.named(atom), self._heads(form, body, lost, below=source == DELTA)

    def _negated(self, form: Form, source: str, lost: bool) -> Iterator[tuple[str, Step]]:
        """A statement for each negation that facts may refute now, or no longer."""
        for negation in form.body.negations:
            body = _Body(self)
            body.scan(_without_locals(negation, form.body.bound), source)
            body.join(form.body.atoms, Seen.EVER if lost else Seen.NOW)
            yield negation.atom.predicate, self._heads(form, body, lost, below=False)

    def _heads(self, form: Form, body: _Body, lost: bool, below: bool) -> Step:
        """The heads of the bodies that are found: those that are derived, or not yet."""
        head = form.rule.head
        copy = self.copies[head.predicate]
        body.test(form.body.filters)
        bit = has("t", copy.bits[self.number])
        if lost:
            body.where += [*body.same(head, "t"), bit]
            if below:  # what derives a fact comes before it
                body.where.append(exp.column(RANK, table="t") > exp.column(RANK, table="d"))
            body.items.append(copy.table(FACT, "t"))
            values = [*copy.columns("t"), exp.column(RANK, table="t")]
            return Step(head.predicate, _insert(copy.name(LOST), body.select(values)))
        body.refuse(form.body.negations)
        there = exp.select("1").from_(copy.table(FACT, "t")).where(*body.same(head, "t"), bit)
        body.where.append(exp.not_(exp.Exists(this=there)))
        heads = [body.value(term) for term in head.terms]
        return Step(head.predicate, _insert(copy.name(WON), body.select(heads)))

    # --- other derivations ------------------------------------------------------------------------

    def _check(self, form: Form) -> str:
        """Candidates that a body still derives are none."""
        head = form.rule.head
        copy = self.copies[head.predicate]
        found = self._derivation(form, LOST, Seen.LOWER if self.recursive else Seen.NOW)
        named = exp.table_(copy.name(LOST))
        return render(exp.delete(named).where(exp.Exists(this=found)))

    def _again(self, form: Form) -> str:
        """Facts that were lost, and that a body derives all the same."""
        head = form.rule.head
        copy = self.copies[head.predicate]
        found = self._derivation(form, GONE, Seen.NOW)
        named = exp.table_(copy.name(GONE))
        query = exp.select(*copy.columns()).from_(named).where(exp.Exists(this=found))
        return _insert(copy.name(WON), query)

    def _derivation(self, form: Form, source: str, seen: Seen) -> exp.Select:
        """The bodies that derive a fact of a table, for use in EXISTS."""
        head = form.rule.head
        body = _Body(self)
        body.driver = self.copies[head.predicate].name(source)
        body.bind(head, body.driver, None)
        body.join(form.body.atoms, seen)
        body.test(form.body.filters)
        body.refuse(form.body.negations)
        return body.select([exp.Literal.number(1)])


class _Body:
    """The FROM and WHERE of one statement."""

    def __init__(self, compiler: Compiler) -> None:
        self.compiler = compiler
        self.known: dict[str, exp.Column] = {}
        self.items: list[exp.Expr] = []
        self.where: list[exp.Expr] = []
        self.driver = "d"

    def scan(self, atom: Atom, source: str) -> None:
        """Begin with a small table."""
        self.items.append(self.compiler.copy(atom).table(source, self.driver))
        self.bind(atom, self.driver, None)

    def join(self, atoms: Sequence[Atom], seen: Seen) -> None:
        """Look atoms up, each time the one that finds fewest facts."""
        waiting = list(atoms)
        while waiting:
            atom = min(waiting, key=self._found)
            waiting.remove(atom)
            self._look_up(atom, seen)

    def _found(self, atom: Atom) -> float:
        """About how many facts an atom would find, as far as its terms are known."""
        known = (
            place
            for place, term in enumerate(atom.terms)
            if isinstance(term, Constant) or term.name in self.known
        )
        return self.compiler.copy(atom).found(known)

    def _look_up(self, atom: Atom, seen: Seen) -> None:
        copy, alias = self.compiler.copy(atom), f"a{len(self.items)}"
        self.items.append(copy.table(FACT, alias))
        self.bind(atom, alias, self.compiler.named(atom))
        if seen is Seen.EVER:
            return
        own = copy.bits.get(self.compiler.number, 0)
        outside = has(alias, sum(copy.bits.values()) - own)
        if atom.predicate in self.compiler.outside:
            self.where.append(outside)
        elif seen is Seen.LOWER and atom.predicate in self.compiler.recursive:
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
                if self.known[term.name].table != alias:
                    places.append(place)
                self.where.append(here.eq(self.known[term.name].copy()))
            else:
                self.known[term.name] = here
        if looked_up and places:
            self.compiler.lookups.add((looked_up, tuple(places)))

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
            atom = negation.atom
            copy, inner = self.compiler.copies[atom.predicate], _Body(self.compiler)
            inner.known = dict(self.known)
            inner.bind(atom, alias := f"n{place}", atom.predicate)
            query = exp.select("1").from_(copy.table(FACT, alias))
            query = query.where(*inner.where, holds(alias), copy=False)
            self.where.append(exp.not_(exp.Exists(this=query)))

    def value(self, term: Term | Expression) -> exp.Expr:
        """A variable that is known, or a constant as it is stored."""
        if isinstance(term, Variable):
            return self.known[term.name].copy()
        assert isinstance(term, Constant)
        if term.type is Type.SYMBOL:
            return exp.convert(self.compiler.ids.get(str(term.value), -1))
        value = encoded_value(term.type, term.value)
        return exp.convert(int(value) if isinstance(value, bool) else value)

    def select(self, values: Sequence[exp.Expr]) -> exp.Select:
        first, *others = self.items
        query = exp.select(*values).from_(first)
        for item in others:
            query = query.join(exp.Join(this=item, kind="CROSS"), copy=False)
        return query.where(*self.where, copy=False) if self.where else query


def _insert(table: str, query: exp.Select) -> str:
    """INSERT OR IGNORE: several bodies may have the same head."""
    return render(exp.Insert(this=exp.table_(table), expression=query, alternative="IGNORE"))


def _grouped(steps: Iterator[tuple[str, Step]]) -> dict[str, list[Step]]:
    found: dict[str, list[Step]] = {}
    for predicate, step in steps:
        found.setdefault(predicate, []).append(step)
    return found


def _without_locals(negation: Negation, bound: frozenset[str]) -> Atom:
    """A negated atom whose existential variables have names that nothing else has."""
    atom = negation.atom
    terms = [
        Variable(f"_:local:{term.name}")
        if isinstance(term, Variable) and term.name not in bound
        else term
        for term in atom.terms
    ]
    return Atom(atom.predicate, tuple(terms))
