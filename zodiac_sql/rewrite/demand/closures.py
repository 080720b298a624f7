"""Transitive closures, turned to the end that is known.

What goals ask of a closure are mostly the paths from one node, or to it. The rule

    path(X, Z) :- path(X, Y), edge(Y, Z).

finds those from X without asking for any other paths, and `path(X, Z) :- edge(X, Y), path(Y, Z).`
those to Z. The other way round, and by `path(X, Z) :- path(X, Y), path(Y, Z).`, all paths of all
nodes on the way would be asked for: along a chain, n * n of them.

So where one rule closes a predicate, whichever way it is written, the rules that are asked for its
parts are those of the right direction. The steps are what the other rules derive; if the closing
rule is linear, the only other one must copy its edges.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from zodiac_sql.language.syntax import Atom, Rule, Type, Variable
from zodiac_sql.names import steps
from zodiac_sql.rewrite.closures.shapes import paths

_X, _Y, _Z = Variable("X"), Variable("Y"), Variable("Z")


@dataclass(frozen=True, slots=True)
class Closure:
    """A predicate that is the transitive closure of another one."""

    predicate: str
    edges: str
    closing: Rule
    others: tuple[Rule, ...]
    """The rules for the edges, if these are a predicate that is made for the closure."""

    def rules(self, places: Sequence[int]) -> tuple[Rule, Rule]:
        """The rules that find what is asked for by an end, or by both."""
        ends = (self.predicate, self.edges) if 0 in places else (self.edges, self.predicate)
        first, second = ends
        step = Rule(
            f"{self.closing.name} step",
            Atom(self.predicate, (_X, _Y)),
            (Atom(self.edges, (_X, _Y)),),
            self.closing.text,
        )
        body = (Atom(first, (_X, _Y)), Atom(second, (_Y, _Z)))
        return step, replace(self.closing, head=Atom(self.predicate, (_X, _Z)), body=body)


def closures_among(
    deriving: Mapping[str, Sequence[Rule]],
    mutual: Mapping[str, Collection[str]],
    columns: Mapping[str, Sequence[Type | None]],
    stored: Collection[str],
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
        copied = _copied(others) if predicate not in stored else None
        if copied and (form.own or copied == form.edges) and [*columns[copied]] == [*types]:
            yield Closure(predicate, copied, closing[0], ())
        elif form.own:
            made = steps(predicate)
            renamed = (replace(r, head=replace(r.head, predicate=made)) for r in others)
            yield Closure(predicate, made, closing[0], tuple(renamed))


def _copied(rules: Sequence[Rule]) -> str | None:
    """The predicate that rules copy, if there is one rule, and it does nothing else."""
    if len(rules) != 1 or len(rules[0].body) != 1:
        return None
    atom, terms = rules[0].body[0], rules[0].head.terms
    if not isinstance(atom, Atom) or atom.terms != terms or len({*terms}) < len(terms):
        return None
    return atom.predicate if all(isinstance(term, Variable) for term in terms) else None
