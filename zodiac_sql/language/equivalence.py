"""Whether two rules say the same: equal up to the names of variables and the order of the body.

Labels do not count. Nothing is reasoned about: X < Y and Y > X are different.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import fields, is_dataclass

from zodiac_sql.errors import Span
from zodiac_sql.language.syntax import Aggregate, Atom, Literal, Rule, Variable

Names = Mapping[str, str]
"""For each variable of the first rule its counterpart in the second one: one to one."""


def same(first: Rule, second: Rule) -> bool:
    """Whether two rules are equal up to the names of variables and the order of the body."""
    if first.head.predicate != second.head.predicate or outline(first) != outline(second):
        return False
    if first.head == second.head and first.body == second.body:
        return True
    heads = _things(first.head, second.head, {})
    return any(True for names in heads for _ in _bodies(first.body, second.body, names))


def outline(rule: Rule) -> Hashable:
    """What equal rules have in common: all but names of variables and the order of the body.

    Only rules with equal outlines need to be compared: few, even among many rules for one head.
    """
    if rule._outline is None:
        found = _shape(rule.head), rule.best, _shapes(rule.body)
        object.__setattr__(rule, "_outline", found)
        return found
    return rule._outline


def _shapes(body: tuple[Literal, ...]) -> Hashable:
    return frozenset(Counter(map(_shape, body)).items())


def _shape(thing: object) -> Hashable:
    """A part of a rule without the names of variables."""
    if isinstance(thing, Variable):
        return Variable
    if isinstance(thing, Atom):
        return Atom, thing.predicate, tuple([_shape(term) for term in thing.terms]), thing.names
    if isinstance(thing, Aggregate):
        other = thing.otherwise and thing.otherwise.value
        computed = thing.function, thing.distinct, other
        return *computed, len(thing.group), _shapes(thing.body)
    if isinstance(thing, tuple):
        return tuple(map(_shape, thing))
    if is_dataclass(thing):
        return type(thing), *map(_shape, _parts(thing))
    return type(thing), thing


def _bodies(first: tuple[object, ...], second: tuple[object, ...], names: Names) -> Iterator[Names]:
    """Pair off the parts of two bodies, always the part with the fewest candidates next."""
    if len(first) != len(second):
        return
    if not first:
        yield names
        return
    candidates = [
        [(j, found) for j, b in enumerate(second) for found in _things(a, b, names)] for a in first
    ]
    chosen = min(range(len(first)), key=lambda i: len(candidates[i]))
    for j, found in candidates[chosen]:
        rest = (*first[:chosen], *first[chosen + 1 :])
        yield from _bodies(rest, (*second[:j], *second[j + 1 :]), found)


def _things(first: object, second: object, names: Names) -> Iterator[Names]:
    """Every way to extend `names` so that two parts of rules are equal."""
    if isinstance(first, Variable) and isinstance(second, Variable):
        known = names.get(first.name)
        if known == second.name:
            yield names
        elif known is None and second.name not in names.values():
            yield {**names, first.name: second.name}
    elif isinstance(first, tuple) and isinstance(second, tuple):
        yield from _sequences(first, second, names)
    elif type(first) is not type(second):
        return
    elif isinstance(first, Aggregate) and isinstance(second, Aggregate):
        yield from _aggregates(first, second, names)
    elif is_dataclass(first) and is_dataclass(second):
        yield from _sequences(_parts(first), _parts(second), names)
    elif first == second:
        yield names


def _aggregates(first: Aggregate, second: Aggregate, names: Names) -> Iterator[Names]:
    """Compare aggregates, whatever the order of their bodies and groups."""
    computed = [(one.function, one.distinct, one.otherwise) for one in (first, second)]
    if computed[0] != computed[1]:
        return
    ends = [(one.argument, one.result) for one in (first, second)]
    for found in _sequences(ends[0], ends[1], names):
        for grouped in _bodies(first.group, second.group, found):
            yield from _bodies(first.body, second.body, grouped)


def _sequences(
    first: tuple[object, ...], second: tuple[object, ...], names: Names
) -> Iterator[Names]:
    if len(first) != len(second):
        return
    if not first:
        yield names
        return
    for found in _things(first[0], second[0], names):
        yield from _sequences(first[1:], second[1:], found)


def _parts(thing: object) -> tuple[object, ...]:
    """The fields of a part of a rule, except its place in the text."""
    assert is_dataclass(thing)
    values = (getattr(thing, one.name) for one in fields(thing))
    return tuple(value for value in values if value is not None and not isinstance(value, Span))
