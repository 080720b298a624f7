"""Transitive closures, turned to the end that is known.

What goals ask of a closure are mostly the paths from one node, or to it. The rule

    path(X, Z) :- path(X, Y), edge(Y, Z).

finds those from X without asking for any other paths, and `path(X, Z) :- edge(X, Y), path(Y, Z).`
those to Z. The other way round, and by `path(X, Z) :- path(X, Y), path(Y, Z).`, all paths of all
nodes on the way would be asked for: along a chain, n * n of them.

So where one rule closes a predicate, whichever way it is written, the rules that are asked for its
parts are those of the right direction: each of the other rules derives steps, and a rule that has
its body prolongs paths by them. If the closing rule is linear, the only other one must copy its
edges. Steps of stored facts, and of aggregates, get a predicate of their own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from zodiac_sql.language.binding import variables_of
from zodiac_sql.language.functions import Functions
from zodiac_sql.language.syntax import Aggregate, Atom, Rule, Type, Variable
from zodiac_sql.language.types import body_types
from zodiac_sql.names import steps
from zodiac_sql.rewrite.closures.shapes import paths


@dataclass(frozen=True, slots=True)
class Closure:
    """A predicate that is the transitive closure of what some rules for it derive."""

    predicate: str
    others: tuple[Rule, ...]
    own: tuple[Rule, ...] | None = None
    """The rules for the steps, if these are a predicate of their own."""

    def rules(self, places: Sequence[int]) -> tuple[Rule, ...]:
        """The rules that find what is asked for by an end, or by both."""
        return tuple(rule for one in self.others for rule in (one, _prolonging(one, 0 in places)))


def _prolonging(rule: Rule, forwards: bool) -> Rule:
    """The rule that prolongs paths by the steps of a rule."""
    taken = {variable.name for variable in variables_of(rule.body)}
    end = Variable(next(name for n in range(len(taken) + 1) if (name := f"W{n}") not in taken))
    first, second = rule.head.terms
    if forwards:
        path, head = replace(rule.head, terms=(end, first)), replace(rule.head, terms=(end, second))
        return replace(rule, head=head, body=(path, *rule.body))
    path, head = replace(rule.head, terms=(second, end)), replace(rule.head, terms=(first, end))
    return replace(rule, head=head, body=(*rule.body, path))


def closures_among(
    deriving: Mapping[str, Sequence[Rule]],
    mutual: Mapping[str, Collection[str]],
    columns: Mapping[str, Sequence[Type | None]],
    stored: Collection[str],
    functions: Functions,
) -> Iterator[Closure]:
    """The predicates that one rule closes, and on which no other rule for them depends."""
    for predicate, rules in deriving.items():
        types = columns[predicate]
        if mutual.get(predicate) != {predicate} or len(types) != 2 or types[0] is not types[1]:
            continue
        if types[0] in (None, Type.ANY, Type.FLOAT):  # equal values must be the same
            continue
        closing = [rule for rule in rules if predicate in rule.positive()]
        form = paths(closing[0]) if len(closing) == 1 else None
        if form is None or form.unequal or closing[0].best:
            continue
        others = tuple(rule for rule in rules if rule is not closing[0])
        scopes = [body_types(rule.body, columns, functions).types for rule in others]
        ends = (_has_two_ends(r, types, s) for r, s in zip(others, scopes, strict=True))
        if predicate not in stored and all(ends):
            if form.own or _copies(others, form.edges):
                yield Closure(predicate, others)
        elif form.own:
            yield _over_own_steps(predicate, others)


def _over_own_steps(predicate: str, others: Sequence[Rule]) -> Closure:
    step = Atom(steps(predicate), (Variable("X"), Variable("Y")))
    own = (replace(rule, head=replace(rule.head, predicate=step.predicate)) for rule in others)
    copy = Rule(f"{predicate} step", replace(step, predicate=predicate), (step,), predicate)
    return Closure(predicate, (copy,), tuple(own))


def _has_two_ends(
    rule: Rule, types: Sequence[Type | None], scope: Mapping[str, Type | None]
) -> bool:
    """Whether a rule derives steps between two variables, by a body that can be prolonged.

    They must be of the types of the columns: to join wider ones would widen what it computes.
    """
    terms = rule.head.terms
    if len({*terms}) < 2 or any(isinstance(literal, Aggregate) for literal in rule.body):
        return False
    pairs = zip(terms, types, strict=True)
    return all(
        isinstance(term, Variable) and scope.get(term.name) is type_ for term, type_ in pairs
    )


def _copies(rules: Sequence[Rule], edges: str) -> bool:
    """Whether the only one of some rules copies a predicate."""
    return len(rules) == 1 and rules[0].body == (Atom(edges, rules[0].head.terms),)
