"""Accepts or rejects explanations: an independent judge of what `why` says.

    check(explanation, world)       raises WrongProof, which says what is wrong, or returns

It knows the classes in which explanations are written (read/why/proof.py), and nothing else of the
library: all that an explanation claims is compared with the world (proof_world.py).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from generators.programs import (
    Aggregate,
    Atom,
    Bind,
    Compare,
    Not,
    Rule,
    Var,
    every_column_named,
)
from support import naive, naive_types
from support.naive_values import Environment, Value, equal
from support.proof_world import (
    Ground,
    World,
    is_instance,
    pattern,
    positive,
    shared,
    typed,
)

from zodiac_sql.read.why.proof import Absent, Explanation, Fact, Group, Step


class WrongProof(AssertionError):
    """What is wrong with an explanation."""


def check(explanation: Explanation, world: World) -> None:
    """Raises WrongProof unless all that an explanation says is so."""
    checker = Checker(world)
    facts = reached(explanation)
    for fact in {**dict.fromkeys(facts), **dict.fromkeys(explanation.explicit)}:
        checker.ground(fact)
    if sorted(map(str, explanation.facts())) != sorted(map(str, facts)):
        raise WrongProof(f"facts() are {_texts(facts)}, not {_texts(list(explanation.facts()))}")
    if len(set(explanation.goals)) < len(explanation.goals):
        raise WrongProof(f"a goal is there twice: {_texts(explanation.goals)}")
    for fact in explanation.derivations:
        if fact not in facts:
            raise WrongProof(f"{fact} has a derivation, and no goal rests on it")
    for fact in facts:
        _check_count(fact, explanation, world.is_explicit(checker.ground(fact)))
        for step in explanation.derivations.get(fact, ()):
            try:
                checker.step(fact, step)
            except WrongProof as error:
                raise WrongProof(f"{fact}, by {step.rule}: {error}") from None
    if not explanation.every:
        height = _height(explanation)
        if height != explanation.height:
            raise WrongProof(f"its height is {height}, not {explanation.height}")


def reached(explanation: Explanation) -> list[Fact]:
    """The goals and all that they rest on, each once."""
    found: dict[Fact, None] = dict.fromkeys(explanation.goals)
    waiting = list(explanation.goals)
    while waiting:
        for step in explanation.derivations.get(waiting.pop(), ()):
            new = [use for use in step.uses if use not in found]
            found.update(dict.fromkeys(new))
            waiting += new
    return list(found)


def _check_count(fact: Fact, explanation: Explanation, is_explicit: bool) -> None:
    """Whether there are as many steps for a fact as there should be."""
    steps = explanation.derivations.get(fact, ())
    if is_explicit != (fact in explanation.explicit):
        raise WrongProof(f"{fact} is {'' if is_explicit else 'not '}explicit")
    if len(set(steps)) < len(steps):
        raise WrongProof(f"{fact} has the same step twice")
    if explanation.every:
        if not steps and not is_explicit and fact in explanation.goals:
            raise WrongProof(f"{fact} has no step")
        return
    if fact in explanation.cut:
        raise WrongProof(f"{fact} is cut, though one proof is all that was asked for")
    if len(steps) != (not is_explicit):
        raise WrongProof(f"{fact} has {len(steps)} steps, and should have {int(not is_explicit)}")


def _height(explanation: Explanation) -> int:
    """The longest way from a goal to a leaf. Raises WrongProof if there is a cycle."""
    heights: dict[Fact, int] = {}
    for goal in explanation.goals:
        way: list[Fact] = [goal]
        while way:
            fact = way[-1]
            uses = {u for s in explanation.derivations.get(fact, ()) for u in s.uses}
            left = [use for use in uses if use not in heights]
            if not left:
                steps = bool(explanation.derivations.get(fact))
                heights[fact] = steps + max((heights[use] for use in uses), default=0)
                way.pop()
                continue
            if left[0] in way:
                raise WrongProof(f"a cycle: {_texts([*way[way.index(left[0]) :], left[0]])}")
            way.append(left[0])
    return max((heights[goal] for goal in explanation.goals), default=0)


@dataclass(frozen=True)
class Checker:
    """Checks one step at a time."""

    world: World

    def ground(self, fact: Fact) -> Ground:
        """The fact, which must hold, as the world has it."""
        types = self.world.types.get(fact.predicate)
        if types is None or tuple(map(str, fact.types)) != types:
            raise WrongProof(f"{fact} has the types {fact.types}, and should have {types}")
        for value, type_ in zip(fact.values, types, strict=True):
            if naive_types.value_type(value) != type_:
                raise WrongProof(f"{fact} has the value {value!r} in a column of type {type_}")
        found = (fact.predicate, typed(fact.values, types))
        if not self.world.holds(found):
            raise WrongProof(f"{fact} does not hold")
        return found

    def step(self, fact: Fact, step: Step) -> None:
        """Whether a step derives a fact."""
        if step.kind == "path":
            self._path(fact, step)
        else:
            self._rule(fact, step)

    # --- a rule -----------------------------------------------------------------------------------

    def _rule(self, fact: Fact, step: Step) -> None:
        rule = self.world.rules.get(step.rule)
        if rule is None or rule.head.predicate != fact.predicate:
            raise WrongProof(f"there is no such rule for {fact.predicate}")
        solution = self._solution(rule, fact, step)
        self._absent(rule, solution, step.absent)
        _check_computed(rule, solution, step)
        aggregates = [literal for literal in rule.body if isinstance(literal, Aggregate)]
        _compare("the number of groups", len(step.groups), len(aggregates))
        for literal, group in zip(aggregates, step.groups, strict=True):
            self._group(literal, solution, group)

    def _solution(self, rule: Rule, fact: Fact, step: Step) -> Environment:
        """The values of all named variables that a body binds."""
        head = self.ground(fact)[1]
        found = self._solutions(rule.body, step.uses)
        if not found:
            raise WrongProof(f"the body does not hold with {_texts(step.uses)}")
        found = [one for one in found if self.world.head(rule, one) == head]
        if not found:
            raise WrongProof(f"another fact follows from {_texts(step.uses)}")
        told = {variable(name): value for name, value in step.values}
        if len(told) != len(step.values):
            raise WrongProof(f"a variable has two values: {step.values}")
        _compare("the variables", sorted(told), sorted(v.name for v in found[0]))
        found = [e for e in found if all(equal(told[v.name], value) for v, value in e.items())]
        if len(found) != 1:
            raise WrongProof(f"the variables have other values than {step.values}")
        return found[0]

    def _solutions(self, body: Sequence[naive.Literal], uses: Sequence[Fact]) -> list[Environment]:
        """Those of a body with these facts for its positive atoms, in this order."""
        _compare("the predicates", [use.predicate for use in uses], _predicates(body))
        return self.world.solutions(body, [self.ground(use)[1] for use in uses])

    def _absent(self, rule: Rule, solution: Environment, told: Sequence[Absent]) -> None:
        """Whether what is said to be absent is what the rule negates. (It holds: `_solutions`.)"""
        negated = [literal.atom for literal in rule.body if isinstance(literal, Not)]
        _compare("negated", [one.predicate for one in told], [atom.predicate for atom in negated])
        for atom, one in zip(negated, told, strict=True):
            wanted = pattern(atom, solution)
            if len(one.values) != len(wanted) or not all(map(_same, one.values, wanted)):
                raise WrongProof(f"what must be absent is {atom.predicate}{wanted}, not {one}")
            same = shared(atom, solution)
            names = tuple(t.name if t in same else None for t in atom.terms)  # type: ignore[union-attr]
            if tuple(n and variable(n) for n in one.names) != (names if same else ()):
                raise WrongProof(f"{one}, and not the same values where {names} stand")
            if there := [
                r for r in self.world.known[atom.predicate] if is_instance(r, atom, solution)
            ]:
                raise WrongProof(f"{one}, but there is {there[0]}")

    # --- aggregates -------------------------------------------------------------------------------

    def _group(self, literal: Aggregate, solution: Environment, told: Group) -> None:
        """Whether a group has that function, result, and number of solutions, and these members."""
        distinct = "DISTINCT " * literal.distinct
        function = f"{literal.function}({distinct}{literal.argument.name})".lower()
        _compare("the function", told.function.replace("?", "").lower(), function)
        _compare("the result's variable", variable(told.variable), literal.result.name)
        on = [variable(name) for name, _ in told.on]
        _compare("the group", on, [v.name for v in literal.group])
        if not equal(told.result, solution[literal.result]):
            raise WrongProof(f"the result is {solution[literal.result]!r}, not {told.result!r}")
        every = naive.told_apart(literal, self.world.known, self.world.types)  # type: ignore[arg-type]
        inside = {
            key
            for key, (e, *_) in every.items()
            if all(equal(e[v], solution[v]) for v in literal.group)
        }
        _compare("the number of solutions", told.count, len(inside))
        members = set()
        body = every_column_named(literal.body)
        for facts in told.members:
            uses = self._solutions(body, facts)
            found = inside.intersection(naive.telling(literal, one) for one in uses)
            if not found:
                raise WrongProof(f"{_texts(facts)} is no member of {told}")
            members |= found
        if not inside and literal.otherwise is not None:
            return
        if not members or len(members) < len(told.members):
            raise WrongProof(f"{told} has no members, or the same one twice")

    # --- a path -----------------------------------------------------------------------------------

    def _path(self, fact: Fact, step: Step) -> None:
        """Whether these facts are a path, and follow one from the other by the rules told."""
        rows = [self.ground(use)[1] for use in step.uses]
        rules = [self._closing_rule(name, fact.predicate) for name in step.rule.split(", ")]
        read = {atom.predicate for rule in rules for atom in positive(rule.body)}
        used = {use.predicate for use in step.uses}
        if not used or not used <= read or fact in step.uses:
            raise WrongProof(f"a path of other facts of {fact.predicate}, not {_texts(step.uses)}")
        if not any(len(positive(rule.body)) == 2 for rule in rules):
            raise WrongProof("no rule makes it transitive")
        turns = any(len(positive(rule.body)) == 1 for rule in rules)
        first, last = self.ground(fact)[1]
        here = [first]
        for start, end in rows:
            here = [end] * (start in here) + [start] * (turns and end in here)
        if last not in here:
            raise WrongProof(f"{_texts(step.uses)} do not lead from end to end")
        types = {name: self.world.types[name] for name in read}
        facts = {
            name: [row for use, row in zip(step.uses, rows, strict=True) if use.predicate == name]
            for name in read
        }
        follow = naive.extensions(rules, facts, types)
        if (first, last) not in follow[fact.predicate]:
            raise WrongProof(f"it does not follow from {_texts(step.uses)}")

    def _closing_rule(self, name: str, predicate: str) -> Rule:
        """The rule of that name, which must close a predicate."""
        rule = self.world.rules.get(name)
        known = rule is not None and (closing(rule) or prolonging(rule))
        if rule is None or not known or rule.head.predicate != predicate:
            raise WrongProof(f"{name} is no rule that makes {predicate} transitive or symmetric")
        return rule


def closing(rule: Rule) -> bool:
    """Whether a rule makes its predicate transitive or symmetric, perhaps with an inequality."""
    atoms, guards = positive(rule.body), [x for x in rule.body if not isinstance(x, Atom)]
    if any(atom.predicate != rule.head.predicate for atom in (*atoms, rule.head)):
        return False
    terms = [term for atom in (rule.head, *atoms) for term in atom.terms]
    if len(rule.head.terms) != 2 or not all(isinstance(t, Var) and not t.anonymous for t in terms):
        return False
    x, z = rule.head.terms
    for guard in guards:
        unequal = isinstance(guard, Compare) and guard.operator == "!="
        if not unequal or {guard.left, guard.right} != {x, z}:  # type: ignore[union-attr]
            return False
    if x == z or len(guards) > 1:
        return False
    if len(atoms) == 1:
        return atoms[0].terms == (z, x)
    middle = set(terms) - {x, z}
    ways = [{(x, y), (y, z)} for y in middle]
    return len(atoms) == 2 and len(middle) == 1 and {atom.terms for atom in atoms} in ways


def prolonging(rule: Rule) -> bool:
    """Whether a rule is R(x, z) :- R(x, y), E(y, z), or E(x, y), R(y, z)."""
    atoms = positive(rule.body)
    if len(atoms) != 2 or len(rule.body) != 2:
        return False
    if [atom.predicate for atom in atoms].count(rule.head.predicate) != 1:
        return False
    alike = replace(rule, body=tuple(replace(a, predicate=rule.head.predicate) for a in atoms))
    return closing(alike)


# --- what a rule computes -------------------------------------------------------------------------


def _check_computed(rule: Rule, solution: Environment, step: Step) -> None:
    """Whether each comparison and each computed variable is told, with the right value.

    (That they hold, `_solutions` has found out.)
    """
    compared = [literal for literal in rule.body if isinstance(literal, Compare)]
    _compare("the number of comparisons", len(step.tests), len(compared))
    computed = [literal.variable for literal in rule.body if isinstance(literal, Bind)]
    told = [variable(one.variable) for one in step.bindings]
    _compare("what is computed", told, [v.name for v in computed])
    for one, v in zip(step.bindings, computed, strict=True):
        if not equal(one.value, solution[v]):
            raise WrongProof(f"{one}: the value is {solution[v]!r}")
    for text in [test.text for test in step.tests] + [
        f"{one.expression} = {one.value}" for one in step.bindings
    ]:
        if _numbers(text) and not _true(text):
            raise WrongProof(f"{text} is not true")


def _numbers(text: str) -> bool:
    """Whether a text is a comparison of ints."""
    return re.fullmatch(r"[-+*()\d ]+(=|!=|<|<=|>|>=)[-+*()\d ]+", text) is not None


def _true(text: str) -> bool:
    left, operator, right = re.split(r"(!=|<=|>=|<|>|=)", text)
    return bool(eval(f"{left}{'==' if operator == '=' else operator}{right}"))


# --- texts ----------------------------------------------------------------------------------------


def variable(name: str) -> str:
    """The name of a variable as programs.py has it, however the text of the rule spells it."""
    return name.removeprefix("?").upper()


def _predicates(body: Sequence[naive.Literal]) -> list[str]:
    return [atom.predicate for atom in positive(body)]


def _same(one: Value | None, other: Value | None) -> bool:
    return one is other if one is None or other is None else equal(one, other)


def _compare(what: str, told: object, expected: object) -> None:
    if told != expected:
        raise WrongProof(f"{what}: {told}, and should be {expected}")


def _texts(facts: Sequence[Fact]) -> str:
    return ", ".join(map(str, facts)) or "no facts"
