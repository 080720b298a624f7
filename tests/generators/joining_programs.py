"""Random programs whose rules only join, negate and compare, over columns of all types.

Such rules are looked up where changes are small (zodiac_sql/lookups/). Here they are data of our
own, with an evaluator in plain Python that knows nothing but loops.
"""

from __future__ import annotations

import datetime as dt
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

Row = tuple[Any, ...]
Facts = dict[str, set[Row]]

VALUES: dict[str, list[Any]] = {
    "symbol": ["a", "b", "c", "d", "<tag:x>", '"7"@en'],
    "int": [-(2**63), -1, 0, 1, 2, 2**53 + 1, 2**63 - 1],
    "float": [float("-inf"), -1.5, 0.0, 0.5, 1.0, 1e300],
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

ORDERED = ("int", "float", "date", "timestamp")
OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le,
    ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


@dataclass(frozen=True)
class Var:
    name: str


Term = Var | Any
"""A variable, or a value."""


@dataclass(frozen=True)
class Atom:
    predicate: str
    terms: tuple[Term, ...]


@dataclass(frozen=True)
class Rule:
    name: str
    head: Atom
    positive: tuple[Atom, ...]
    negative: tuple[Atom, ...] = ()
    tests: tuple[tuple[Term, str, Term], ...] = ()


@dataclass(frozen=True)
class Program:
    """`types` are those of the columns of each predicate. Those without rules begin with b."""

    types: Mapping[str, tuple[str, ...]]
    rules: tuple[Rule, ...]

    def text(self) -> str:
        return "\n".join([*map(self._declaration, self.types), *map(rule_text, self.rules)])

    def _declaration(self, name: str) -> str:
        columns = ", ".join(f"c{n}: {type_}" for n, type_ in enumerate(self.types[name]))
        return f".decl {name}({columns})"


# --- text -----------------------------------------------------------------------------------------


def rule_text(rule: Rule) -> str:
    body = [
        *map(_atom_text, rule.positive),
        *(f"not {_atom_text(atom)}" for atom in rule.negative),
        *(f"{_term_text(a)} {sign} {_term_text(b)}" for a, sign, b in rule.tests),
    ]
    return f"{rule.name}: {_atom_text(rule.head)} :- {', '.join(body)}."


def _atom_text(atom: Atom) -> str:
    return f"{atom.predicate}({', '.join(map(_term_text, atom.terms))})"


def _term_text(term: Term) -> str:
    match term:
        case Var(name):
            return name
        case bool():
            return str(term).lower()
        case dt.datetime():
            return f'"{term.isoformat()}"^^<http://www.w3.org/2001/XMLSchema#dateTime>'
        case dt.date():
            return f'"{term.isoformat()}"^^<http://www.w3.org/2001/XMLSchema#date>'
    return str(term)


# --- evaluation -----------------------------------------------------------------------------------


def evaluated(program: Program, explicit: Mapping[str, set[Row]]) -> Facts:
    """All facts: stratum by stratum, all rules again and again until nothing is new."""
    known: Facts = {name: set(explicit.get(name, ())) for name in program.types}
    for level in sorted({_level(rule.head.predicate) for rule in program.rules}):
        rules = [rule for rule in program.rules if _level(rule.head.predicate) == level]
        grows = True
        while grows:
            found = [(rule.head.predicate, row) for rule in rules for row in _heads(rule, known)]
            grows = any(row not in known[name] for name, row in found)
            for name, row in found:
                known[name].add(row)
    return known


def _level(predicate: str) -> int:
    """A rule negates only predicates of lower levels; the level is in the name: d2_0."""
    return int(predicate[1]) if predicate[0] == "d" else -1


def _heads(rule: Rule, known: Facts) -> Iterator[Row]:
    for found in _solutions(rule.positive, known, {}):
        if any(_is_refuted(atom, known, found) for atom in rule.negative):
            continue
        if all(OPERATORS[s](_value(a, found), _value(b, found)) for a, s, b in rule.tests):
            yield tuple(_value(term, found) for term in rule.head.terms)


def _solutions(atoms: Sequence[Atom], known: Facts, found: Row_) -> Iterator[Row_]:
    if not atoms:
        yield found
        return
    for row in known[atoms[0].predicate]:
        more = _matched(atoms[0], row, found)
        if more is not None:
            yield from _solutions(atoms[1:], known, more)


Row_ = dict[str, Any]


def _matched(atom: Atom, row: Row, found: Row_) -> Row_ | None:
    more = dict(found)
    for term, value in zip(atom.terms, row, strict=True):
        if isinstance(term, Var):
            if more.setdefault(term.name, value) != value:
                return None
        elif term != value:
            return None
    return more


def _is_refuted(atom: Atom, known: Facts, found: Row_) -> bool:
    return any(_matched(atom, row, found) is not None for row in known[atom.predicate])


def _value(term: Term, found: Row_) -> Any:
    return found[term.name] if isinstance(term, Var) else term


# --- making them ----------------------------------------------------------------------------------


def random_program(rng: Random) -> Program:
    """Up to three levels of predicates, with recursion inside a level, and some closures."""
    kinds = rng.sample(sorted(VALUES), rng.randint(1, 3))
    if rng.random() < 0.8 and "symbol" not in kinds:
        kinds.append("symbol")
    types: dict[str, tuple[str, ...]] = {}
    for number in range(rng.randint(2, 4)):
        types[f"b{number}"] = _types(rng, kinds)
    rules: list[Rule] = []
    for level in range(rng.randint(1, 3)):
        names = [f"d{level}_{number}" for number in range(rng.randint(1, 2))]
        types |= {name: _types(rng, kinds) for name in names}
        for name in names:
            for _ in range(rng.randint(1, 3)):
                rules.append(_rule(rng, f"r{len(rules)}", name, types, level))
            if len(types[name]) == 2 and len({*types[name]}) == 1 and rng.random() < 0.5:
                rules.append(_closure(rng, f"r{len(rules)}", name))
    return Program(types, tuple(rules))


def _types(rng: Random, kinds: Sequence[str]) -> tuple[str, ...]:
    if rng.random() < 0.5:
        return (rng.choice(kinds),) * 2
    return tuple(rng.choice(kinds) for _ in range(rng.choice([1, 1, 2, 2, 3])))


def _closure(rng: Random, name: str, predicate: str) -> Rule:
    x, y, z = Var("X"), Var("Y"), Var("Z")
    atoms = (Atom(predicate, (x, y)), Atom(predicate, (y, z)))
    unequal = ((x, "!=", z),) if rng.random() < 0.4 else ()
    if rng.random() < 0.2:
        return Rule(name, Atom(predicate, (y, x)), atoms[:1])
    return Rule(name, Atom(predicate, (x, z)), atoms, (), unequal)


def _rule(
    rng: Random, name: str, head: str, types: Mapping[str, tuple[str, ...]], level: int
) -> Rule:
    """A safe rule: the head takes its terms from positive atoms, or constants."""
    bound: dict[str, str] = {}
    readable = [p for p in types if _level(p) <= level]
    positive = [_atom(rng, rng.choice(readable), types, bound) for _ in range(rng.randint(1, 3))]
    lower = [p for p in types if _level(p) < level]
    negative = [
        _atom(rng, rng.choice(lower), types, dict(bound), local=True)
        for _ in range(rng.choice([0, 0, 1]))
    ]
    terms = tuple(_term(rng, type_, bound) for type_ in types[head])
    tests = [test for _ in range(rng.choice([0, 0, 1])) if (test := _test(rng, bound))]
    return Rule(name, Atom(head, terms), tuple(positive), tuple(negative), tuple(tests))


def _atom(
    rng: Random,
    predicate: str,
    types: Mapping[str, tuple[str, ...]],
    bound: dict[str, str],
    local: bool = False,
) -> Atom:
    terms: list[Term] = []
    for type_ in types[predicate]:
        known = [name for name, other in bound.items() if other == type_]
        if rng.random() < 0.1:
            terms.append(rng.choice(WRITTEN[type_]))
        elif known and rng.random() < 0.6:
            terms.append(Var(rng.choice(known)))
        else:
            name = f"{'L' if local else 'V'}{len(bound)}"
            bound[name] = type_
            terms.append(Var(name))
    return Atom(predicate, tuple(terms))


def _term(rng: Random, type_: str, bound: Mapping[str, str]) -> Term:
    known = [name for name, other in bound.items() if other == type_]
    return Var(rng.choice(known)) if known and rng.random() < 0.9 else rng.choice(WRITTEN[type_])


def _test(rng: Random, bound: Mapping[str, str]) -> tuple[Term, str, Term] | None:
    if not bound:
        return None
    left = rng.choice(sorted(bound))
    type_ = bound[left]
    signs = [*OPERATORS] if type_ in ORDERED else ["=", "!="]
    return Var(left), rng.choice(signs), _term(rng, type_, bound)


def random_row(rng: Random, types: Sequence[str]) -> Row:
    return tuple(rng.choice(VALUES[type_]) for type_ in types)
