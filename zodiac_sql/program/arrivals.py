"""Rules that arrive: which of them are new, and what they are called.

A rule that its set has already, under whatever name, is not added again, but reported. One that
another set has gets a second place. A rule whose text has no label gets the first free one of r1,
r2, ... in its set.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from zodiac_sql.errors import Problem, Span
from zodiac_sql.language.equivalence import outline, same
from zodiac_sql.language.filters import is_label_of_filter
from zodiac_sql.language.syntax import Program, Rule
from zodiac_sql.language.written import on_one_line
from zodiac_sql.program.rule_sets import INTO_MAIN, Into, SetLabels, qualified
from zodiac_sql.program.set_facts import is_of_facts


@dataclass(frozen=True, slots=True)
class Arrival:
    """A text that is added to a rule set.

    With `strict`, a rule in it that the set has already is a problem, and so is one that looks like
    a mistake (doubts.py); if it `replaces` the whole set, nothing is said of rules it has already.
    """

    program: Program
    strict: bool = False
    into: Into = INTO_MAIN
    replaces: bool = False


@dataclass(frozen=True, slots=True)
class Arrived:
    """The new rules, named, and what is to be said about the others."""

    rules: tuple[Rule, ...]
    remarks: tuple[str, ...]
    problems: tuple[Problem, ...]
    strict: frozenset[str] = frozenset()
    """The names of the rules whose texts were added with `strict`."""


def arrive(
    arrivals: Sequence[Arrival], there: Sequence[Rule], gone: Collection[str], places: SetLabels
) -> Arrived:
    """Sort out the rules of some texts, and give each a place in its set.

    `gone` are names of rules that the same change drops.
    """
    labels: dict[str, set[str]] = defaultdict(set)
    for arrival in arrivals:
        labels[arrival.into.name].update(rule.name for rule in arrival.program.rules)
    sorting = _Sorting(places, set(gone), labels, _outlines(arrivals, there))
    for arrival in arrivals:
        for rule in arrival.program.rules:
            sorting.sort(rule, arrival)
    rules, strict = tuple(sorting.rules), frozenset(sorting.strict)
    return Arrived(rules, tuple(sorting.remarks), tuple(sorting.problems), strict)


def _outlines(arrivals: Sequence[Arrival], there: Sequence[Rule]) -> dict[object, list[Rule]]:
    """The rules that arriving ones can be the same as, by their outlines."""
    known: dict[object, list[Rule]] = defaultdict(list)
    heads = {rule.head.predicate for arrival in arrivals for rule in arrival.program.rules}
    for rule in there:
        if rule.head.predicate in heads:
            known[outline(rule)].append(rule)
    return known


@dataclass(slots=True)
class _Sorting:
    places: SetLabels
    gone: set[str]
    given: Mapping[str, set[str]]
    """The labels that texts give, by set."""
    known: dict[object, list[Rule]]
    rules: list[Rule] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    strict: set[str] = field(default_factory=set)
    """The names of the new rules whose texts are strict."""
    numbers: Counter[str] = field(default_factory=Counter)
    """The number of the last rule of each set that got a name of its own."""
    _whole: tuple[Span | None, str] | None = None
    """The rule with alternatives whose parts are being sorted, and its label."""
    _with_parts: dict[str, set[str]] = field(default_factory=dict)
    """The labels of which parts are there, by set."""

    def sort(self, rule: Rule, arrival: Arrival) -> None:
        """Add a rule, or say why it is passed over."""
        own = arrival.into.name
        alike = self.known[outline(rule)]
        twin = next((other for other in alike if same(rule, other)), None)
        if twin is None:
            label = self._label(rule, own)
            self._require_free(rule, own, qualified(own, label))
            self.rules.append(replace(rule, name=qualified(own, label)))
            self.places.put(own, label, self.rules[-1].name)
            alike.append(self.rules[-1])
            if arrival.strict:
                self.strict.add(self.rules[-1].name)
            return
        here = [label for name, label in self.places.of_rule(twin.name) if name == own]
        if not here:
            self._require_free(rule, own, twin.name)
            self.places.put(own, self._label(rule, own), twin.name)
            if not is_label_of_filter(rule.name):
                self.remarks.append(f"{already_there(rule, twin)}: now {own} has it, too")
        elif not (arrival.replaces or is_of_facts(rule.name) or is_label_of_filter(rule.name)):
            remark = already_there(rule, twin)
            if arrival.strict:
                problem = Problem(remark, rule.span, "Without strict, it is passed over.")
                self.problems.append(problem)
            self.remarks.append(remark)

    def _require_free(self, rule: Rule, own: str, name: str) -> None:
        """Report a label that the set has for another rule than the one of this name.

        (That two rules have one name is reported by check.py.)
        """
        other = self.places.labels(own).get(rule.name)
        if other is not None and other != name:
            self.problems.append(
                Problem(
                    f"the rule set {own} has a rule named {rule.name} already", rule.span,
                    "Choose another name, or replace the rules of the set.",
                )
            )  # fmt: skip

    def _label(self, rule: Rule, own: str) -> str:
        """The label of a new rule: the parts of one share a number, as in r1.1 and r1.2."""
        if rule.name:
            return rule.name
        if not rule.part:
            return self._free_label(own)
        if self._whole is None or self._whole[0] != rule.span:
            self._whole = rule.span, self._free_label(own)
        return f"{self._whole[1]}.{rule.part}"

    def _free_label(self, own: str) -> str:
        """The first free one of r1, r2, ... that no text gives to another rule."""
        if own not in self._with_parts:
            labels = (*self.places.labels(own), *self.given[own])
            self._with_parts[own] = {label.rpartition(".")[0] for label in labels}
        while True:
            self.numbers[own] += 1
            label = f"r{self.numbers[own]}"
            taken = label in self.places.labels(own) or qualified(own, label) in self.gone
            if not taken and label not in self.given[own] | self._with_parts[own]:
                return label


def already_there(rule: Rule, twin: Rule) -> str:
    """What is said of a rule that is not added."""
    under = f", as {twin.name}" if rule.name != twin.name else ""
    shown = on_one_line(rule.text)
    return f"{rule.name + ': ' if rule.name else ''}{shown} is there already{under}"
