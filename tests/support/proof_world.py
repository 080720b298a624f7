"""What an explanation is checked against: a program, its explicit facts, and all that holds.

Nothing here is the library's: rules are those of the generators, the extensions are those of an
oracle, and all that is computed, naive evaluation computes (naive.py). To try a rule with certain
facts in its body, each positive atom gets a predicate of its own that has just the one fact.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from generators.programs import (
    Aggregate,
    Arithmetic,
    Atom,
    Bind,
    Compare,
    Facts,
    Kind,
    Literal,
    Not,
    Predicate,
    Rule,
    Var,
)
from support import naive
from support.naive_types import Types
from support.naive_values import Call, Environment, Expression, Row, Value, as_type, equal

Ground = tuple[str, Row]
"""A fact: its predicate and its values."""


@dataclass(frozen=True)
class World:
    """Rules by their names, with calls in place of the other kind of arithmetic; facts by their
    predicates, with values as the columns' types have them.
    """

    rules: Mapping[str, Rule]
    explicit: Mapping[str, Collection[Row]]
    known: Mapping[str, Collection[Row]]
    types: Types

    @classmethod
    def of(
        cls,
        rules: Iterable[Rule],
        facts: Mapping[str, Iterable[Row]],
        types: Types,
        known: Mapping[str, Collection[Row]] | None = None,
    ) -> World:
        """`known` are all extensions, if an oracle has computed them."""
        named = {rule.name: _with_calls(rule) for rule in rules}
        explicit = {
            name: {typed(row, types[name]) for row in facts.get(name, ())} for name in types
        }
        if known is None:
            known = naive.extensions(list(named.values()), explicit, types)
        return cls(named, explicit, {name: known.get(name, set()) for name in types}, types)

    def holds(self, fact: Ground) -> bool:
        return fact[1] in self.known[fact[0]]

    def is_explicit(self, fact: Ground) -> bool:
        return fact[1] in self.explicit[fact[0]]

    def facts(self) -> Iterator[Ground]:
        """All facts that hold."""
        for name, rows in self.known.items():
            yield from ((name, row) for row in sorted(rows, key=repr))

    def solutions(self, body: Sequence[Literal], rows: Sequence[Row]) -> list[Environment]:
        """The different solutions of a body whose positive atoms have these rows, in this order."""
        known, types = dict(self.known), dict(self.types)
        changed: list[Literal] = []
        left = list(rows)
        for literal in body:
            if isinstance(literal, Atom):
                name = f"{literal.predicate}, atom {len(left)}"
                known[name] = {left.pop(0)}
                types[name] = self.types[literal.predicate]
                literal = Atom(name, literal.terms)
            changed.append(literal)
        return distinct(naive.solutions(changed, known, types))  # type: ignore[arg-type]

    def head(self, rule: Rule, environment: Environment) -> Row:
        """The fact that a rule derives for a solution of its body."""
        row = [environment[t] if isinstance(t, Var) else t for t in rule.head.terms]
        return typed(row, self.types[rule.head.predicate])  # type: ignore[arg-type]


def types_of(schema: Iterable[Predicate]) -> Types:
    """The types of the columns of programs.py."""
    return {
        p.name: tuple("symbol" if kind is Kind.SYMBOL else "int" for kind in p.kinds)
        for p in schema
    }


def world_of(
    rules: Iterable[Rule],
    facts: Facts,
    schema: Iterable[Predicate],
    known: Mapping[str, Collection[Row]],
) -> World:
    """The world of a program of programs.py, with all extensions as clingo has them."""
    return World.of(rules, facts, types_of(schema), known)  # type: ignore[arg-type]


def typed(row: Iterable[Value], types: Sequence[str | None]) -> Row:
    """A row as its columns hold it: ints become floats, NaN is the one NaN."""
    return tuple(as_type(value, type_) for value, type_ in zip(row, types, strict=True))


def distinct(environments: Iterable[Environment]) -> list[Environment]:
    """Each solution once."""
    found = {tuple(sorted((v.name, value) for v, value in e.items())): e for e in environments}
    return list(found.values())


def positive(body: Iterable[Literal]) -> list[Atom]:
    """The atoms of a body that are neither negated nor aggregated over."""
    return [literal for literal in body if isinstance(literal, Atom)]


def pattern(atom: Atom, environment: Environment) -> tuple[Value | None, ...]:
    """An atom's values: None where any would do."""
    return tuple(environment.get(t) if isinstance(t, Var) else t for t in atom.terms)


def fits(row: Row, wanted: Sequence[Value | None]) -> bool:
    """Whether a row has the values of a pattern."""
    return len(row) == len(wanted) and all(
        value is None or equal(value, here) for value, here in zip(wanted, row, strict=True)
    )


def is_instance(row: Row, atom: Atom, environment: Environment) -> bool:
    """Whether a row is an instance of an atom: what a variable has not yet, it has everywhere."""
    local: dict[Var, Value] = {}
    return fits(row, pattern(atom, environment)) and all(
        equal(local.setdefault(term, value), value)
        for term, value in zip(atom.terms, row, strict=True)
        if isinstance(term, Var) and not term.anonymous and term not in environment
    )


def shared(atom: Atom, environment: Environment) -> list[Var]:
    """The variables that have no value and stand in several places of an atom."""
    unknown = [t for t in atom.terms if isinstance(t, Var) and t not in environment]
    return [t for t in dict.fromkeys(unknown) if not t.anonymous and unknown.count(t) > 1]


# --- arithmetic as calls --------------------------------------------------------------------------


def _with_calls(rule: Rule) -> Rule:
    return replace(rule, body=tuple(map(_literal, rule.body)))


def _literal(literal: Literal) -> Literal:
    if isinstance(literal, Compare):
        return replace(literal, left=_call(literal.left), right=_call(literal.right))
    if isinstance(literal, Bind):
        return replace(literal, expression=_call(literal.expression))
    if isinstance(literal, Aggregate):
        return replace(literal, body=tuple(map(_literal, literal.body)))
    assert isinstance(literal, Atom | Not)
    return literal


def _call(expression: object) -> Expression:
    if isinstance(expression, Arithmetic):
        return Call(expression.operator, (_call(expression.left), _call(expression.right)))
    return expression  # type: ignore[return-value]
