"""Whether rules with MIN or MAX in their heads have one answer.

All rules for such a predicate must say the same, and it has no other facts. If it depends on
itself, then only so that a better value never loses anything: see language/monotone.py. The
predicates that depend on each other with it must be of the same kind, because what another rule has
derived from a value stays when the value gets better.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence

from zodiac_sql.errors import Problem, Span
from zodiac_sql.graph.rule_graph import components, rule_graph
from zodiac_sql.language.binding import Arranged, arrange, variables
from zodiac_sql.language.monotone import (
    FALLING,
    RISING,
    Direction,
    Directions,
    never_negative,
)
from zodiac_sql.language.syntax import Aggregate, Atom, Best, Rule, Variable

_WAYS = (
    "A value may be passed on, have something added or taken away, be multiplied by what is never "
    "negative, go through least, greatest, round, floor, ceil, exp, float and if (but not its "
    "condition), with MIN be moved to a later time (add_seconds of what is never negative), and be "
    "compared by {} with something that does not depend on it."
)


def problems_of(rules: Sequence[Rule], facts: Sequence[Atom]) -> Iterator[Problem]:
    """What is wrong with MIN and MAX in the heads of rules, all of which have different names."""
    bests = {rule.head.predicate: rule for rule in rules if rule.best}
    if not bests:
        return
    deriving: dict[str, list[Rule]] = defaultdict(list)
    for rule in rules:
        if rule.head.predicate in bests:
            deriving[rule.head.predicate].append(rule)
    for predicate, found in deriving.items():
        yield from _agreement(predicate, found)
    for fact in facts:
        if fact.predicate in bests:
            yield Problem(
                f"{fact.predicate} has {bests[fact.predicate].best}, so it has no facts of its own",
                fact.span, no_facts(fact.predicate, bests[fact.predicate]),
            )  # fmt: skip
    yield from _recursions(rules)


def no_facts(predicate: str, rule: Rule) -> str:
    """What to do instead of giving facts to a predicate with MIN or MAX."""
    return (
        f"{rule.name} keeps the best value of each group. Give the facts to another predicate, "
        f"which a rule with {_written(rule.best)} brings to {predicate}."
    )


def _written(best: Best | None) -> str:
    return f"{best.function.upper()}(..)" if best else ""


def _agreement(predicate: str, rules: Sequence[Rule]) -> Iterator[Problem]:
    """All rules of a predicate have the same function at the same place, and no AGGREGATE."""
    first = next(rule for rule in rules if rule.best)
    for rule in rules:
        if rule.best != first.best:
            yield Problem(
                f"{predicate} is derived by {first.name} with {first.best}, and by {rule.name} "
                f"with {rule.best or 'neither MIN nor MAX'}", rule.head.span,
                f"All rules for {predicate} must say the same: write {_written(first.best)} there, "
                "or let one of them derive another predicate.",
            )  # fmt: skip
        for literal in rule.body:
            if rule.best and isinstance(literal, Aggregate):
                yield Problem(
                    f"{rule.name} has {rule.best} of its head, and an AGGREGATE", literal.span,
                    "Let a rule of its own derive what the AGGREGATE computes.",
                )  # fmt: skip


def _recursions(rules: Sequence[Rule]) -> Iterator[Problem]:
    """The problems of rules that depend on each other."""
    by_name = {rule.name: rule for rule in rules}
    for part in components(rule_graph(rules)):
        members = [by_name[name] for name in part]
        first = next((rule for rule in members if rule.best), None)
        if first is None or first.best is None:
            continue
        heads = {rule.head.predicate for rule in members}
        for rule in members:
            if rule.head.predicate == first.head.predicate:
                pass  # whether these agree was asked before
            elif rule.best is None or rule.best.function != first.best.function:
                yield _other_kind(rule, first)
        bests = {rule.head.predicate: rule.best for rule in members if rule.best}
        for rule in members:
            if rule.best and heads & rule.positive():
                yield from _Recursion(rule, bests, arrange(rule.body)).problems()


def _other_kind(rule: Rule, first: Rule) -> Problem:
    assert first.best is not None
    one, other = first.head.predicate, rule.head.predicate
    function = first.best.function.upper()
    return Problem(
        f"{one} ({first.name}) and {other} ({rule.name}) depend on each other, and only {one} has "
        f"{function}", rule.span,
        f"What {other} got from a value would stay when a better value comes. Let {other} have "
        f"{function}, too, or let {one} not depend on it.",
    )  # fmt: skip


class _Recursion:
    """One rule that depends on best values of its own hypernode."""

    def __init__(self, rule: Rule, bests: dict[str, Best], arranged: Arranged) -> None:
        assert rule.best is not None
        self.rule, self.bests, self.body, self.best = rule, bests, arranged, rule.best
        self.better = FALLING if rule.best.function == "min" else RISING
        self.values = {
            atom.terms[bests[atom.predicate].place]
            for atom in arranged.atoms
            if atom.predicate in bests and bests[atom.predicate].place < len(atom.terms)
        }

    def problems(self) -> Iterator[Problem]:
        """What is wrong with it."""
        yield from self._asked()
        known: dict[str, Direction] = {v.name: RISING for v in variables(*self.values)}
        least = self.better == FALLING
        directions = Directions(known, never_negative(self.body.filters), least)
        for step in self.body.steps:
            known[step.variable.name] = way = directions.of(step.expression)
            if way is None:
                known[step.variable.name] = RISING  # one problem is enough
                yield self._problem(f"{step.expression} may get worse", step.span)
        for test in self.body.filters:
            if not directions.holds_on(test, self.better):
                yield self._problem(f"{test} may hold no longer", test.span)
        moving = {name for name, way in known.items() if way}
        yield from self._kept_apart(moving)
        value = self.rule.head.terms[self.best.place]
        if directions.of(value) == FALLING:
            yield self._problem("the value in the head gets worse", value.span or self.rule.span)

    def _asked(self) -> Iterator[Problem]:
        """A value of the recursion is no constant, and stands in one atom only."""
        counted = Counter(t for atom in self.body.atoms for t in atom.terms)
        for value in self.values:
            if not isinstance(value, Variable):
                yield self._problem(f"one that is {value} may be there no longer", value.span)
            elif counted[value] > 1:
                yield self._problem(f"one that equals {value} may be there no longer", value.span)

    def _kept_apart(self, moving: Collection[str]) -> Iterator[Problem]:
        """What depends on a value is neither negated, nor does it tell the group."""
        for negation in self.body.negations:
            for variable in variables(*negation.atom.terms):
                if variable.name in moving:
                    yield self._problem(f"{negation} may hold no longer", negation.atom.span)
                    break
        for place, term in enumerate(self.rule.head.terms):
            if place != self.best.place and isinstance(term, Variable) and term.name in moving:
                message = f"the group with {term} may be there no longer"
                yield self._problem(message, term.span or self.rule.span)

    def _problem(self, what: str, span: Span | None) -> Problem:
        better = "less" if self.better == FALLING else "greater"
        values = " or ".join(sorted(str(v) for v in self.values if isinstance(v, Variable)))
        values = values or "the value"
        operators = "< or <=" if self.better == FALLING else "> or >="
        return Problem(
            f"{self.rule.name} is a recursion through {self.best.function.upper()}: when {values} "
            f"gets {better}, {what}", span or self.rule.span,
            _WAYS.format(operators),
        )  # fmt: skip
