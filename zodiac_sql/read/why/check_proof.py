"""Looks at each step of a proof once more before it is shown.

A step must be an instance of a rule of the program, or a path of facts; no fact may rest on itself;
the facts that need no step must be explicit, and those that must be absent, absent. (Comparisons
and computed values were tested by the statement that found the instance.)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from zodiac_sql.language.syntax import Atom, Constant, Negation, Term, Variable
from zodiac_sql.read.why.absent import Pattern, are_absent
from zodiac_sql.read.why.asked import Instance, Key, Known, head_of, stored, uses
from zodiac_sql.read.why.paths import Path
from zodiac_sql.read.why.search import Derivation, Search
from zodiac_sql.sql.forms import is_text


def is_proof(search: Search, goals: Sequence[Key], found: Mapping[Key, Derivation]) -> bool:
    """Whether derivations prove the goals."""
    return (
        all(_is_step(search, fact, derivation) for fact, derivation in found.items())
        and _ends(search, goals, found)
        and are_absent(search.known, _absences(search.known, found))
    )


def _is_step(search: Search, fact: Key, derivation: Derivation) -> bool:
    by = derivation.by
    if isinstance(by, Path):
        return _is_path(fact, by) and derivation.uses == by.uses
    if by.rule not in search.rules_of(by.rule.head.predicate):
        return False
    if by.rule.head.predicate != fact[0] or tuple(uses(search.known, by)) != derivation.uses:
        return False
    return head_of(search.known, by) == fact[1] or all(
        _is_text(term, by) or _is_same(stored(search.known, term, by), value)
        for term, value in zip(by.rule.head.terms, fact[1], strict=True)
    )


def _is_same(derived: object, value: object) -> bool:
    """Whether a value that a rule derives is one of a fact, where an int can become a float."""
    if isinstance(value, float) and isinstance(derived, int):
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


def _ends(search: Search, goals: Sequence[Key], found: Mapping[Key, Derivation]) -> bool:
    """Whether every way down ends in explicit facts."""
    waiting = [(goal, False) for goal in goals]
    above: set[Key] = set()
    done: set[Key] = set()
    while waiting:
        fact, below = waiting.pop()
        if below:
            above.discard(fact)
            done.add(fact)
        elif fact in above:
            return False  # it rests on itself
        elif fact not in done and not search.is_explicit(fact):
            if fact not in found:
                return False
            above.add(fact)
            waiting.append((fact, True))
            waiting += [(use, False) for use in found[fact].uses]
    return True


# --- what must be absent --------------------------------------------------------------------------


def _absences(known: Known, found: Mapping[Key, Derivation]) -> dict[str, list[Pattern]]:
    """What no fact may match, by predicate."""
    absent: dict[str, list[Pattern]] = defaultdict(list)
    for derivation in found.values():
        if isinstance(derivation.by, Instance):
            for predicate, pattern in _patterns(known, derivation.by):
                if pattern is not None:
                    absent[predicate].append(pattern)
    return absent


def _patterns(known: Known, instance: Instance) -> Iterator[tuple[str, Pattern | None]]:
    for literal in instance.rule.body:
        if isinstance(literal, Negation):
            yield literal.atom.predicate, _pattern(known, literal.atom, instance)


def _pattern(known: Known, atom: Atom, instance: Instance) -> Pattern | None:
    """The values of a negated atom; None for text that a function made, which has no number."""
    values: list[object | Variable] = []
    for term in atom.terms:
        if isinstance(term, Constant) or term.name in instance.values:
            if _is_text(term, instance):
                return None
            values.append(stored(known, term, instance))
        else:
            values.append(term)
    return tuple(values)
