"""Looks at each step of a proof once more before it is shown.

A step must be an instance of a rule of the program, or a path of facts; no fact may rest on itself;
the facts that need no step must be explicit, and those that must be absent, absent. (Comparisons
and computed values were tested by the statement that found the instance.)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from decimal import Decimal

from zodiac_sql.language.syntax import Atom, Constant, Negation, Term, Variable
from zodiac_sql.read.why.absent import Pattern, are_absent
from zodiac_sql.read.why.asked import (
    Instance,
    Key,
    Known,
    body_of,
    head_of,
    is_encoded,
    stored,
)
from zodiac_sql.read.why.paths import Path
from zodiac_sql.read.why.search import Derivation, ProofSearch
from zodiac_sql.sql.forms import is_text

Steps = Mapping[int, list[tuple[Key, Instance, tuple[Key, ...]]]]
"""Facts with the instances that derive them and what these use, by the identity of the rule."""


def is_proof(search: ProofSearch, goals: Sequence[Key], found: Mapping[Key, Derivation]) -> bool:
    """Whether derivations prove the goals."""
    steps: dict[int, list[tuple[Key, Instance, tuple[Key, ...]]]] = defaultdict(list)
    for fact, derivation in found.items():
        by = derivation.by
        if isinstance(by, Instance):
            steps[id(by.rule)].append((fact, by, derivation.uses))
        elif not _is_path(fact, by) or derivation.uses != by.uses:
            return False
    return (
        all(_are_steps(search, some) for some in steps.values())
        and _ends(search, goals, found)
        and are_absent(search.known, _absences(search.known, steps))
    )


def _are_steps(search: ProofSearch, some: Sequence[tuple[Key, Instance, tuple[Key, ...]]]) -> bool:
    """Whether instances of one rule derive some facts from what they use."""
    known, rule = search.known, some[0][1].rule
    predicate = rule.head.predicate
    if rule not in search.rules_of(predicate):
        return False
    body, head = body_of(known, some[0][1]), head_of(known, some[0][1])
    for fact, instance, used in some:
        values = instance.values
        if fact[0] != predicate or tuple([(name, of(values)) for name, of in body]) != used:
            return False
        if head(values) != fact[1] and not _is_head(known, instance, fact):
            return False
    return True


def _is_head(known: Known, instance: Instance, fact: Key) -> bool:
    head = instance.rule.head
    columns = known.types[head.predicate]
    return all(
        _is_text(term, instance)
        or is_encoded(term, instance, column)
        or _is_same(stored(known, term, instance), value)
        for term, value, column in zip(head.terms, fact[1], columns, strict=True)
    )


def _is_same(derived: object, value: object) -> bool:
    """Whether a value that a rule derives is one of a fact, where a number can become a float."""
    if isinstance(value, float) and isinstance(derived, int | Decimal):
        return float(derived) == value
    return derived is value or derived == value


def _is_text(term: Term, instance: Instance) -> bool:
    """Whether a term is text that a function made, which has been compared as text."""
    return isinstance(term, Variable) and is_text(*instance.kinds[term.name])


def _is_path(fact: Key, path: Path) -> bool:
    """Whether facts lead from the first value of a fact to the second."""
    predicate, (start, end) = fact
    if not path.closure.can_close(fact):
        return False
    if fact in path.facts or any(name != predicate for name, _ in path.facts):
        return False
    ends = {start}
    for _, (left, right) in path.facts:
        turned = {left} if path.closure.symmetric and right in ends else set()
        ends = ({right} if left in ends else set()) | turned
    return end in ends


def _ends(search: ProofSearch, goals: Sequence[Key], found: Mapping[Key, Derivation]) -> bool:
    """Whether every way down ends in explicit facts."""
    waiting = [(goal, False) for goal in goals]
    above: set[Key] = set()
    done = set(search.explicit)
    while waiting:
        fact, below = waiting.pop()
        if below:
            above.discard(fact)
            done.add(fact)
        elif fact in above:
            return False  # it rests on itself
        elif fact not in done:
            if fact not in found:
                return False
            above.add(fact)
            waiting.append((fact, True))
            waiting += [(use, False) for use in found[fact].uses if use not in done]
    return True


# --- what must be absent --------------------------------------------------------------------------


def _absences(known: Known, steps: Steps) -> dict[str, list[Pattern]]:
    """What no fact may match, by predicate."""
    absent: dict[str, list[Pattern]] = defaultdict(list)
    for some in steps.values():
        rule = some[0][1].rule
        for atom in [literal.atom for literal in rule.body if isinstance(literal, Negation)]:
            patterns = (_pattern(known, atom, instance) for _, instance, _ in some)
            absent[atom.predicate] += [one for one in patterns if one is not None]
    return absent


def _pattern(known: Known, atom: Atom, instance: Instance) -> Pattern | None:
    """The values of a negated atom; None for text that a function made, which has no number, and
    for values that are not stored as they are in the atom's columns.
    """
    values: list[object | Variable] = []
    for term, column in zip(atom.terms, known.types[atom.predicate], strict=True):
        if isinstance(term, Constant) or term.name in instance.values:
            if _is_text(term, instance) or is_encoded(term, instance, column):
                return None
            values.append(stored(known, term, instance))
        else:
            values.append(term)
    return tuple(values)
