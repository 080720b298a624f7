"""Rules made of those that have variables for predicates (language/templates.py).

A variable stands for the predicates that the facts of other atoms in the body name: of `?P(X, Y) :-
subPropertyOf(Q, P), ?Q(X, Y)`, a rule is made for each fact of subPropertyOf. Which rules are made
depends on nothing but the program and the explicit facts after a change, so it does not matter in
which order these came.

A rule is made only if its positive atoms are of predicates that are there, with as many columns: an
atom of another one has no facts. A predicate is there if it has explicit facts, or is declared, or
if a rule mentions it that is there in any case, or derives it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from zodiac_sql.errors import Problem
from zodiac_sql.language.binding import variables
from zodiac_sql.language.syntax import Atom, Negation, Rule
from zodiac_sql.language.templates import (
    assumed_atoms,
    binding_atoms,
    made_of,
    predicate_name,
    predicate_variables,
    template_problems,
    varying_atoms,
)
from zodiac_sql.program.possible_facts import Explicit, PossibleFacts, Row
from zodiac_sql.program.set_facts import brings_facts

_Made = tuple[Sequence[Atom], Rule]
"""A rule made of a template, and its atoms of predicates that were put in."""


@dataclass(frozen=True, slots=True)
class Expanded:
    """The rules made of templates, and the predicates whose facts say for which predicates."""

    rules: tuple[Rule, ...] = ()
    read: frozenset[str] = frozenset()
    problems: tuple[Problem, ...] = ()


def expand(
    templates: Sequence[Rule], others: Sequence[Rule], there: Mapping[str, int], explicit: Explicit
) -> Expanded:
    """The rules made of `templates`, beside which there are `others`.

    `there` has the arities of the predicates that are there whatever is made.
    """
    if not templates:
        return Expanded()
    problems = [problem for template in templates for problem in template_problems(template)]
    if problems:
        return Expanded(problems=tuple(problems))
    possible = PossibleFacts(others, explicit)
    is_certain = certain((rule.head.predicate, rule.name) for rule in others)
    wanted: list[_Made] = []
    for template in templates:
        rows = _predicates(template, possible, is_certain)
        if any(None in row for row in rows) or not _are_symbols(template, possible, is_certain):
            problems.append(_no_symbols(template))
            continue
        symbols = {tuple(filter(None, row)) for row in rows}
        named = sorted(row for row in symbols if all(map(predicate_name, row)))
        if len(named) > MOST_MADE:
            problems.append(_too_many(template, len(named)))
            continue
        wanted += _made(template, named, is_certain)
    rules = _possible(wanted, there)
    problems += _circles(rules, possible.read)
    return Expanded(tuple(rules), frozenset(possible.read), tuple(problems))


MOST_MADE = 10_000
"""No template stands for more rules than this: to plan so many takes many seconds."""


def _made(
    template: Rule, rows: Iterable[tuple[str, ...]], is_certain: Callable[[str], bool]
) -> Iterator[_Made]:
    """What is made of a template for some predicates."""
    made = _made_before(template, template.text, assumed_atoms(template, is_certain))
    if len(made) > 2 * MOST_MADE:
        made.clear()
    for row in rows:
        if row not in made:
            rule = made_of(template, row, is_certain)
            made[row] = tuple(varying_atoms(template, row)), rule
        yield made[row]


@lru_cache(maxsize=200)
def _made_before(
    template: Rule, text: str, assumed: tuple[Atom, ...]
) -> dict[tuple[str, ...], _Made]:
    """What was made of a template so far: a change of facts makes nearly all of it once more."""
    return {}


def _too_many(template: Rule, count: int) -> Problem:
    names = ", ".join(predicate_variables(template))
    return Problem(
        f"{template.name} would stand for {count:,} rules, and {MOST_MADE:,} are the most",
        template.span,
        f"A rule is made for each value of {names} that facts name. Let a positive atom of the "
        "body name fewer, as kind(P) does in ?P(X, Z) :- kind(P), ?P(X, Y), ?P(Y, Z), or say what "
        "is alike for all in facts: link(P, X, Y) needs one rule.",
    )


def certain(rules: Iterable[tuple[str, str]]) -> Callable[[str], bool]:
    """Whether the facts of a predicate are known before anything is evaluated: they are explicit,
    also in sets. The rules are given by what they derive and their names.
    """
    derived = frozenset(head for head, name in rules if not brings_facts(name))
    return lambda predicate: predicate not in derived


def _predicates(
    template: Rule, possible: PossibleFacts, is_certain: Callable[[str], bool]
) -> set[Row]:
    """The predicates that the variables of a template may stand for, as symbols.

    Atoms of predicates that are certain tell it, if these are enough.
    """
    names = predicate_variables(template)
    atoms = binding_atoms(template)
    sure = tuple(atom for atom in atoms if is_certain(atom.predicate))
    bound = {v.name for atom in sure for v in variables(*atom.terms)}
    return possible.solutions(sure if bound.issuperset(names) else atoms, names)


def _are_symbols(
    template: Rule, possible: PossibleFacts, is_certain: Callable[[str], bool]
) -> bool:
    """Whether all facts that are assumed have symbols alone."""
    atoms = assumed_atoms(template, is_certain)
    names = [[v.name for v in variables(*atom.terms)] for atom in atoms]
    rows = (possible.solutions((a,), n) for a, n in zip(atoms, names, strict=True))
    return not any(None in row for found in rows for row in found)


def _no_symbols(template: Rule) -> Problem:
    names = " or ".join(predicate_variables(template))
    return Problem(
        f"what {names} stands for in {template.name} is not known before rules are evaluated",
        template.span,
        "Predicates are named by symbols that stand in facts, or that rules pass on: not by "
        "numbers, and not by what BIND or an aggregate computes.",
    )


def _possible(wanted: Sequence[_Made], there: Mapping[str, int]) -> list[Rule]:
    """Those of the rules made of templates whose positive atoms are of predicates that are there.

    Each has the atoms in question beside it. What a rule derives is there, too.
    """
    arities = dict(there)
    made: dict[int, Rule] = {}
    while True:
        before = len(made)
        for place, (atoms, rule) in enumerate(wanted):
            if place not in made and all(_is_there(atom, arities) for atom in atoms):
                made[place] = rule
                for atom in _mentioned(rule):
                    arities.setdefault(atom.predicate, len(atom.terms))
        if len(made) == before:
            return [made[place] for place in sorted(made)]


def _is_there(atom: Atom, arities: Mapping[str, int]) -> bool:
    return arities.get(atom.predicate) == len(atom.terms)


def _mentioned(rule: Rule) -> Iterator[Atom]:
    """The atoms by which a rule makes a predicate be there."""
    yield rule.head
    yield from (literal.atom for literal in rule.body if isinstance(literal, Negation))


def _circles(rules: Sequence[Rule], read: frozenset[str] | set[str]) -> Iterator[Problem]:
    """A rule with variables for predicates must not derive what says what they stand for."""
    for rule in rules:
        assert rule.origin is not None
        if rule.head.predicate in read:
            yield Problem(
                f"{rule.origin.rule} derives {rule.head.predicate} (as {rule.name}), which says "
                "what variables for predicates stand for",
                rule.span,
                "Let the facts that say so be explicit, or derived by rules without such "
                "variables: they must be known before.",
            )
