"""Programs whose rules join, negate, compare, compute and aggregate, over columns of all types.

Such rules are looked up where changes are small (zodiac_sql/lookups/). Here they are data of our
own: joining_random.py makes them, and joining_answers.py evaluates them.
"""

from __future__ import annotations

import datetime as dt
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Row = tuple[Any, ...]
Facts = dict[str, set[Row]]

VALUES: dict[str, list[Any]] = {
    "symbol": ["a", "b", "c", "d", "<tag:x>", '"7"@en'],
    "int": [-(2**63), -1, 0, 1, 2, 2**53 + 1, 2**63 - 1],
    "float": [float("-inf"), -1.5, 0.0, 0.5, 7.721860817761383, 1e300],
    "bool": [False, True],
    "date": [dt.date(1, 1, 1), dt.date(1969, 12, 31), dt.date(2024, 2, 29), dt.date(9999, 12, 31)],
    "timestamp": [
        dt.datetime(1, 1, 1),
        dt.datetime(1969, 12, 31, 23, 59, 59, 999999),
        dt.datetime(2024, 2, 29, 12, 0, 0, 1),
    ],
}
"""The values of each type, few enough for joins to find some."""

WRITTEN = {**VALUES, "float": VALUES["float"][1:]}
"""Those that a rule can have: infinity has no text."""

NOWHERE = {"symbol": ["nowhere", '"8"@en']}
"""Values that no fact has until a rule computes them."""

ORDERED = ("int", "float", "date", "timestamp")
OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le,
    ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


@dataclass(frozen=True)
class Var:
    name: str


ANY = Var("_")
Term = Var | Any
"""A variable, or a value."""


@dataclass(frozen=True)
class Atom:
    predicate: str
    terms: tuple[Term, ...]


@dataclass(frozen=True)
class Expr:
    """A function of values."""

    function: str
    arguments: tuple[Term, ...]


Test = tuple[Term, str, Term]
Computed = tuple[tuple[Var, Expr], ...]
"""New variables and their values."""


@dataclass(frozen=True)
class Wanted:
    """An aggregate. `otherwise` is its value for a group without solutions, if it has one there.

    If it is `distinct`, each value counts once in a group.
    """

    function: str
    argument: Term
    result: Var
    otherwise: Any = None
    distinct: bool = False

    def __str__(self) -> str:
        other = "" if self.otherwise is None else f" ELSE {_term_text(self.otherwise)}"
        argument = "DISTINCT " * self.distinct + _term_text(self.argument)
        return f"{self.function}({argument}) AS {self.result.name}{other}"


@dataclass(frozen=True)
class Grouping:
    """Aggregates over the same solutions."""

    positive: tuple[Atom, ...]
    negative: tuple[Atom, ...]
    tests: tuple[Test, ...]
    group: tuple[Var, ...]
    wanted: tuple[Wanted, ...]
    computed: Computed = ()

    def __str__(self) -> str:
        body = ", ".join(_body_texts(self.positive, self.negative, self.tests, self.computed))
        on = f" ON {', '.join(var.name for var in self.group)}" if self.group else ""
        return f"AGGREGATE({body}){on} WITH {', '.join(map(str, self.wanted))}"


@dataclass(frozen=True)
class Rule:
    name: str
    head: Atom
    positive: tuple[Atom, ...]
    negative: tuple[Atom, ...] = ()
    tests: tuple[Test, ...] = ()
    grouping: Grouping | None = None
    computed: Computed = ()


@dataclass(frozen=True)
class Program:
    """`types` are those of the columns of each predicate. Those without rules begin with b.

    Columns of predicates that are not `declared` get these types from the first facts, or rules.
    """

    types: Mapping[str, tuple[str, ...]]
    rules: tuple[Rule, ...]
    declared: frozenset[str]

    def text(self) -> str:
        declared = [name for name in self.types if name in self.declared]
        return "\n".join([*map(self._declaration, declared), *map(rule_text, self.rules)])

    def _declaration(self, name: str) -> str:
        columns = ", ".join(f"c{n}: {type_}" for n, type_ in enumerate(self.types[name]))
        return f".decl {name}({columns})"


# --- text -----------------------------------------------------------------------------------------


def rule_text(rule: Rule) -> str:
    body = _body_texts(rule.positive, rule.negative, rule.tests, rule.computed)
    body += [str(rule.grouping)] if rule.grouping else []
    return f"{rule.name}: {_atom_text(rule.head)} :- {', '.join(body)}."


def _body_texts(
    positive: Sequence[Atom], negative: Sequence[Atom], tests: Sequence[Test], computed: Computed
) -> list[str]:
    return [
        *(f"BIND({_term_text(value)} AS {var.name})" for var, value in computed),
        *map(_atom_text, positive),
        *(f"not {_atom_text(atom)}" for atom in negative),
        *(f"{_term_text(a)} {sign} {_term_text(b)}" for a, sign, b in tests),
    ]


def _atom_text(atom: Atom) -> str:
    return f"{atom.predicate}({', '.join(map(_term_text, atom.terms))})"


def _term_text(term: Term) -> str:
    match term:
        case Var(name):
            return name
        case Expr("not", (condition,)):
            return f"not {_term_text(condition)}"
        case Expr(sign, (left, right)) if sign in ("and", "or") or not sign.isidentifier():
            return f"({_term_text(left)} {sign} {_term_text(right)})"
        case Expr(function, arguments):
            return f"{function}({', '.join(map(_term_text, arguments))})"
        case str() if " " in term:  # an interval; all other texts are names
            return f'"{term}"'
        case bool():
            return str(term).lower()
        case dt.datetime():
            return f'"{term.isoformat()}"^^<http://www.w3.org/2001/XMLSchema#dateTime>'
        case dt.date():
            return f'"{term.isoformat()}"^^<http://www.w3.org/2001/XMLSchema#date>'
    return str(term)


def level_of(predicate: str) -> int:
    """A rule negates only predicates of lower levels; the level is in the name: d2_0."""
    return int(predicate[1]) if predicate[0] == "d" else -1
