"""Accepts or rejects what `change.why` says, as proof_checker.py does for `why`.

Each event is a fact that did enter or leave. Each cause is the change itself, or an instance of a
rule that derives the fact on one side of the change and not on the other, and its events are all
that makes the difference. Nothing goes back to itself, so that all ends in the change.
"""

from __future__ import annotations

from dataclasses import dataclass

from generators.programs import Aggregate, Atom, Not, Rule, every_column_named
from support import naive
from support.naive_values import Environment, Row, equal
from support.proof_checker import WrongProof
from support.proof_world import Ground, World, is_instance, pattern, positive, shared
from support.read_facts import read_absent, read_fact

from zodiac_sql.change.explained import Cause, ChangeExplanation, Event

Moved = tuple[str, Ground]


def check_change(told: ChangeExplanation, before: World, after: World, goal: Moved) -> None:
    """Raises WrongProof unless an explanation of why a fact "entered" or "left" is right."""
    sides = _Sides(before, after)
    if sides.moved(told.goal) != goal:
        raise WrongProof(f"{told.goal} is another event than {goal}")
    reached: dict[Event, None] = {}
    _follow(told, told.goal, reached, ())
    if set(told.causes) != set(reached) or set(told.events()) != set(reached):
        raise WrongProof(f"the events are {list(map(str, reached))}")
    for event in reached:
        cause = told.causes[event]
        try:
            sides.check(event, cause)
        except WrongProof as error:
            raise WrongProof(f"{event}, by {cause.rule or cause.kind}: {error}") from None


def _follow(
    told: ChangeExplanation, event: Event, reached: dict[Event, None], way: tuple[Event, ...]
) -> None:
    if event in way:
        raise WrongProof(f"{event} goes back to itself: {way}")
    if event not in reached:
        for other in told.causes[event].because:
            _follow(told, other, reached, (*way, event))
        reached[event] = None


@dataclass(frozen=True)
class _Sides:
    before: World
    after: World

    def moved(self, event: Event) -> Moved:
        """The fact of an event, which must have moved."""
        fact = self.ground(event.fact)
        here, there = self.sides(event)
        if not here.holds(fact) or there.holds(fact):
            raise WrongProof(f"{event}: it did not")
        return event.kind, fact

    def sides(self, event: Event) -> tuple[World, World]:
        """The world that has the fact of an event, and the other one."""
        entered = event.kind == "entered"
        return (self.after, self.before) if entered else (self.before, self.after)

    def ground(self, text: str) -> Ground:
        found = read_fact(text, {**self.before.types, **self.after.types})
        if found is None or not (self.before.holds(found) or self.after.holds(found)):
            raise WrongProof(f"{text} never was a fact")
        return found

    def check(self, event: Event, cause: Cause) -> None:
        _, fact = self.moved(event)
        here, there = self.sides(event)
        if cause.kind != "rule":
            verb = "inserted" if event.kind == "entered" else "deleted"
            if cause.kind != verb or not here.is_explicit(fact) or there.is_explicit(fact):
                raise WrongProof("the change did no such thing")
            return
        rule = here.rules.get(cause.rule)
        if rule is None or rule.head.predicate != fact[0]:
            raise WrongProof("there is no such rule")
        if cause.rule_moved != (there.rules.get(cause.rule) != rule):
            raise WrongProof(f"{cause.rule_moved=}")
        if not cause.because and not cause.rule_moved:
            raise WrongProof("nothing made a difference")
        solution = self._solution(rule, fact, cause, here)
        uses = [self.ground(text) for text in cause.uses]
        if not cause.rule_moved and self._holds(rule, fact, uses, solution, there):
            raise WrongProof("it holds on the other side of the change, too")
        because = [self.moved(one) for one in cause.because]
        same = {(event.kind, use) for use in uses if not there.holds(use)}
        if not same <= set(because):
            raise WrongProof(f"{same - set(because)} made it, too")
        for one in set(because) - same:
            self._makes_a_difference(rule, solution, one, event.kind)

    def _solution(self, rule: Rule, fact: Ground, cause: Cause, here: World) -> Environment:
        """The values of an instance with these uses and absent facts."""
        uses = [self.ground(text) for text in cause.uses]
        if [name for name, _ in uses] != [atom.predicate for atom in positive(rule.body)]:
            raise WrongProof(f"the body has other predicates than {cause.uses}")
        if not all(map(here.holds, uses)):
            raise WrongProof(f"not all of {cause.uses} held")
        found = here.solutions(rule.body, [row for _, row in uses])
        negated = [literal for literal in rule.body if isinstance(literal, Not)]
        for one in found:
            told = len(negated) == len(cause.absent) and all(
                _reads(text, literal.atom, one)
                for text, literal in zip(cause.absent, negated, strict=True)
            )
            if here.head(rule, one) == fact[1] and told:
                return one
        raise WrongProof(f"no instance with {cause.uses} and {cause.absent} derives it")

    def _holds(
        self, rule: Rule, fact: Ground, uses: list[Ground], solution: Environment, there: World
    ) -> bool:
        """Whether an instance derives the same fact on the other side."""
        if not all(map(there.holds, uses)):
            return False
        found = there.solutions(rule.body, [row for _, row in uses])
        return any(one == solution for one in found)

    def _makes_a_difference(self, rule: Rule, solution: Environment, one: Moved, kind: str) -> None:
        """Whether an event that is no use of the instance has something to do with it."""
        moved, (predicate, row) = one
        for literal in rule.body:
            if isinstance(literal, Not) and moved != kind:
                atom = literal.atom
                if atom.predicate == predicate and is_instance(row, atom, solution):
                    return
            if isinstance(literal, Aggregate) and self._in_group(literal, solution, one):
                return
        raise WrongProof(f"{one} made no difference")

    def _in_group(self, literal: Aggregate, solution: Environment, one: Moved) -> bool:
        """Whether a fact that moved is what brought or took a solution of a group."""
        before, after = (_group(literal, solution, w) for w in (self.before, self.after))
        kind, (predicate, row) = one
        for inner in every_column_named(literal.body):
            atom = inner.atom if isinstance(inner, Not) else inner
            if not isinstance(atom, Atom) or atom.predicate != predicate:
                continue
            gained = (kind == "entered") != isinstance(inner, Not)
            new = after.keys() - before.keys() if gained else before.keys() - after.keys()
            every = {**before, **after}
            if any(is_instance(row, atom, one) for key in new for one in every[key]):
                return True
        return False


def _reads(text: str, atom: Atom, solution: Environment) -> bool:
    """Whether a text is a negated atom with the values of a solution."""
    told = read_absent(text)
    if told is None or told[0] != atom.predicate or len(told[1]) != len(atom.terms):
        return False
    same = shared(atom, solution)
    names = [term.name if term in same else None for term in atom.terms]  # type: ignore[union-attr]
    values = zip(told[1], pattern(atom, solution), strict=True)
    return names == told[2] and all(
        (one is None) == (two is None) and (one is None or two is None or equal(one, two))
        for one, two in values
    )


def _group(literal: Aggregate, solution: Environment, world: World) -> dict[Row, list[Environment]]:
    """The solutions of a group, by what tells them apart."""
    found = naive.told_apart(literal, world.known, world.types)  # type: ignore[arg-type]
    return {
        key: several
        for key, several in found.items()
        if all(several[0][v] == solution[v] for v in literal.group)
    }
