"""The statements that apply the rules of a hypernode to what a change has moved.

Each begins with a small table: what entered or left an extension, what may be lost, what is new.

A fact may be lost if a body that derived it has a fact that left, or refutes it now. Bodies are
looked for among all facts that were there or are there; too many candidates do no harm, because
each is checked by the bodies that are left (DRed and B/F, papers 2 and 3, do the same). In a
recursive hypernode only such bodies count there whose facts have lower ranks, as in
maintain/support.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from zodiac_sql.lookups.body import LookupBody, Scope, Seen
from zodiac_sql.lookups.checks import Check, check_of, derivation
from zodiac_sql.lookups.deep import Deep, deep_of
from zodiac_sql.lookups.groups import Groups, groups_of
from zodiac_sql.lookups.heads import derived_heads, new_heads
from zodiac_sql.lookups.rule_forms import RuleForm
from zodiac_sql.lookups.tables import (
    DELTA,
    ENTERED,
    GONE,
    LEFT,
    LOST,
    RANK,
    WON,
    insertion,
)
from zodiac_sql.sql.plan import without_locals


@dataclass(frozen=True, slots=True)
class Filling:
    """A statement that fills a table of the predicate of a rule's head."""

    rule: str
    text: str


@dataclass(frozen=True, slots=True)
class Statements:
    """What a hypernode does when facts move, by the predicate that has moved.

    `lost` and `won` are for what left and entered extensions, `refuted` and `freed` for what
    entered and left those under a negation. `checks` take back candidates that are still derived.
    A recursive hypernode also has `losing` and `winning`, for each round, and `again`, for facts
    that it has lost too many of, and `deep` for many rounds at once.
    """

    lookups: frozenset[tuple[str, tuple[int, ...]]]
    """The columns by which facts of a predicate are looked up."""
    lost: Mapping[str, Sequence[Filling]] = field(default_factory=dict)
    won: Mapping[str, Sequence[Filling]] = field(default_factory=dict)
    refuted: Mapping[str, Sequence[Filling]] = field(default_factory=dict)
    freed: Mapping[str, Sequence[Filling]] = field(default_factory=dict)
    checks: Mapping[str, Sequence[Check]] = field(default_factory=dict)
    losing: Mapping[str, Sequence[Filling]] = field(default_factory=dict)
    winning: Mapping[str, Sequence[Filling]] = field(default_factory=dict)
    again: Mapping[str, Sequence[Filling]] = field(default_factory=dict)
    deep: Deep | None = None
    groups: Groups | None = None
    """What one does that has aggregates, instead of all that."""


@dataclass(frozen=True, slots=True)
class Compiler:
    """Makes the statements of one hypernode."""

    scope: Scope

    def compile(self, forms: Sequence[RuleForm]) -> Statements:
        for form in forms:
            if form.grouped is not None:  # its head belongs to this rule alone
                groups = groups_of(self.scope, form, form.grouped)
                return Statements(frozenset(self.scope.lookups), groups=groups)
        lost = _grouped(step for form in forms for step in self._driven(form, LEFT, lost=True))
        won = _grouped(step for form in forms for step in self._driven(form, ENTERED, lost=False))
        refuted = _grouped(s for form in forms for s in self._negated(form, ENTERED, lost=True))
        freed = _grouped(s for form in forms for s in self._negated(form, LEFT, lost=False))
        losing = _grouped(step for form in forms for step in self._driven(form, DELTA, lost=True))
        winning = _grouped(step for form in forms for step in self._driven(form, DELTA, lost=False))
        checks: dict[str, list[Check]] = {}
        again: dict[str, list[Filling]] = {}
        for form in forms:
            head = form.rule.head.predicate
            checks.setdefault(head, []).append(check_of(self.scope, form))
            if self.scope.recursive:
                again.setdefault(head, []).append(Filling(form.rule.name, self._again(form)))
        deep = deep_of(self.scope, forms) if self.scope.recursive else None
        lookups = frozenset(self.scope.lookups)
        return Statements(lookups, lost, won, refuted, freed, checks, losing, winning, again, deep)

    # --- heads that may be lost or won ------------------------------------------------------------

    def _driven(self, form: RuleForm, source: str, lost: bool) -> Iterator[tuple[str, Filling]]:
        """A statement for each atom of which facts may have moved."""
        atoms = form.body.atoms
        for place, atom in enumerate(atoms):
            if source == DELTA and atom.predicate not in self.scope.recursive:
                continue
            body = LookupBody(self.scope, form.body.steps)
            body.scan(atom, source)
            body.join([*atoms[:place], *atoms[place + 1 :]], Seen.EVER if lost else Seen.NOW)
            yield self.scope.named(atom), self._heads(form, body, lost, below=source == DELTA)

    def _negated(self, form: RuleForm, source: str, lost: bool) -> Iterator[tuple[str, Filling]]:
        """A statement for each negation that facts may refute now, or no longer."""
        for negation in form.body.negations:
            body = LookupBody(self.scope, form.body.steps)
            body.scan(without_locals(negation, form.body.bound), source)
            body.join(form.body.atoms, Seen.EVER if lost else Seen.NOW)
            yield negation.atom.predicate, self._heads(form, body, lost, below=False)

    def _heads(self, form: RuleForm, body: LookupBody, lost: bool, below: bool) -> Filling:
        """The heads of the bodies that are found: those that are derived, or not yet."""
        head = form.rule.head
        copy = self.scope.copies[head.predicate]
        if lost:
            derived_heads(self.scope, form, body, below)
            values = [*copy.columns("t"), exp.column(RANK, table="t")]
            return Filling(form.rule.name, insertion(copy, LOST, body.select(values)))
        heads = new_heads(self.scope, form, body)
        return Filling(form.rule.name, insertion(copy, WON, body.select(heads)))

    def _again(self, form: RuleForm) -> str:
        """Facts that were lost, and that a body derives all the same."""
        copy = self.scope.copies[form.rule.head.predicate]
        found = derivation(self.scope, form, GONE, Seen.NOW)
        query = exp.select(*copy.columns()).from_(exp.table_(copy.name(GONE)))
        return insertion(copy, WON, query.where(exp.Exists(this=found)))


def _grouped(steps: Iterator[tuple[str, Filling]]) -> dict[str, list[Filling]]:
    found: dict[str, list[Filling]] = {}
    for predicate, step in steps:
        found.setdefault(predicate, []).append(step)
    return found
