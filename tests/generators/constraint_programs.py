"""Random programs with constraints: some rules of a random program lose their heads.

For the oracle, a constraint is a rule for a predicate of its own, with all variables that the body
gives values: each fact of it is a violation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

from generators.programs import Aggregate, Atom, Bind, Compare, Literal, Program, Rule, Var
from generators.random_programs import random_program
from generators.random_rules import chance


def constrained_program(rng: Random, max_rules: int = 7) -> Program:
    """A program some rules of which are constraints.

    No two of them have bodies of the same shape: one that says the same as another is passed over.
    """
    program = random_program(rng, max_rules)
    rules, shapes = [], set()
    for rule in program.rules:
        shape = tuple(sorted(map(_shape, rule.body)))
        if chance(rng, 45) and shape not in shapes:
            shapes.add(shape)
            rule = as_constraint(rule)
        rules.append(rule)
    return replace(program, rules=tuple(rules))


def _shape(literal: Literal) -> tuple[str, str]:
    return type(literal).__name__, literal.predicate if isinstance(literal, Atom) else ""


def as_constraint(rule: Rule) -> Rule:
    """A constraint with the body of a rule."""
    variables = dict.fromkeys(v for literal in rule.body for v in _bound(literal))
    named = tuple(v for v in variables if not v.anonymous)
    return replace(rule, head=Atom(f"never_{rule.name}", named), never=True)


def _bound(literal: Literal) -> Iterator[Var]:
    """The variables that a part of a body gives values."""
    if isinstance(literal, Atom):
        yield from (term for term in literal.terms if isinstance(term, Var))
    elif isinstance(literal, Aggregate):
        yield from (*literal.group, literal.result)
    elif isinstance(literal, Bind):
        yield literal.variable
    elif isinstance(literal, Compare):
        return
