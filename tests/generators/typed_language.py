"""Kinds of columns, programs with types, and their text."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from random import Random

from generators.programs import Aggregate, Atom, Bind, Compare, Literal, Not, Rule, Var
from support.naive_values import Call, Expression, Row, Value


class Kind(StrEnum):
    """What a column holds. SMALL and INT are both of type int, CENT and DECIMAL of type decimal."""

    SYMBOL = "symbol"
    SMALL = "small"
    INT = "int"
    CENT = "cent"
    DECIMAL = "decimal"
    FLOAT = "float"
    BOOL = "bool"
    DATE = "date"
    TIMESTAMP = "timestamp"

    @property
    def type(self) -> str:
        return {Kind.SMALL: "int", Kind.CENT: "decimal"}.get(self, self.value)

    @property
    def numeric(self) -> bool:
        return self in NUMBERS


NUMBERS = (Kind.SMALL, Kind.INT, Kind.CENT, Kind.DECIMAL, Kind.FLOAT)

LARGE = 2**53
POOLS: dict[Kind, tuple[Value, ...]] = {
    Kind.SYMBOL: (
        "a", "b", "A", "C d", "", "É", "1", "inf", 'x"y\\', "a\nb", "urn:x", '"urn:"', "<tag:x>",
        "http://e/x", '"Haus"@de', '"5"^^<http://e/t>',
    ),
    Kind.SMALL: (0, 1, 2, 3, -1, -2),
    Kind.INT: (
        0, 1, 2, -1, LARGE, LARGE + 1, LARGE + 2, -LARGE - 1, 2**63 - 1, 2**63 - 2, -(2**63),
    ),
    Kind.CENT: tuple(
        map(Decimal, ("0", "1", "0.5", "2", "-1", "0.1", "2.5", "-0.25", "1.75", "3"))
    ),
    Kind.DECIMAL: tuple(
        map(Decimal, (
            "0", "1", "0.5", "2", "-1", "0.1", "2.5", "0.000000000000000001", "0.30000000000000004",
            "99999999999999999999.999999999999999999", "12345678901234567890.123456789012345678",
            "9007199254740993", "9007199254740992", "9223372036854775807.5", "-9223372036854775808",
            "0.100000000000000001", "-0.000001",
        ))
    ),
    Kind.FLOAT: (
        0.0, -0.0, 1.0, 2.0, 0.5, -0.5, 2.5, -1.0, 0.1, 0.30000000000000004, 0.0009221885624698875,
        math.nan, math.inf, -math.inf, 5e-324, 1e300, float(LARGE), float(LARGE + 2), 2.0**63,
    ),
    Kind.BOOL: (True, False),
    Kind.DATE: (
        datetime.date(2026, 1, 31), datetime.date(1, 1, 1), datetime.date(9999, 12, 31),
        datetime.date(2024, 2, 29),
    ),
    Kind.TIMESTAMP: (
        datetime.datetime(2026, 1, 31, 12, 0), datetime.datetime(2026, 1, 31, 12, 0, 0, 500000),
        datetime.datetime(1969, 12, 31, 23, 59, 59, 999999), datetime.datetime(2026, 1, 31),
    ),
}  # fmt: skip

EXPLICIT_NAMES = ("e", "f", "found", "raw", "h1_p", "E", "known", "p_n1", "symbol")
DERIVED_NAMES = ("p", "q", "P", "h2_p", "heads", "p_outside_h1", "term", "r", "x_e")


UNDECLARED = "_u"
"""The names of predicates without a declaration end so: their columns have no names in rules."""


@dataclass(frozen=True)
class Predicate:
    name: str
    kinds: tuple[Kind, ...]
    level: int
    aggregate: bool = False

    @property
    def declared(self) -> bool:
        return not self.name.endswith(UNDECLARED)

    @property
    def settled(self) -> tuple[str | None, ...]:
        """The types of its columns before there are facts."""
        return tuple(kind.type if self.declared else None for kind in self.kinds)


@dataclass(frozen=True)
class Program:
    schema: tuple[Predicate, ...]
    rules: tuple[Rule, ...]
    facts: dict[str, frozenset[Row]]

    @property
    def declarations(self) -> str:
        return "".join(f"{declaration(p)}\n" for p in self.schema if p.declared)


@dataclass(frozen=True)
class Change:
    """One atomic change: facts and rules that leave and come."""

    inserts: tuple[tuple[str, tuple[Row, ...]], ...] = ()
    deletes: tuple[tuple[str, tuple[Row, ...]], ...] = ()
    add: tuple[Rule, ...] = ()
    drop: tuple[str, ...] = ()

    def __str__(self) -> str:
        parts = [f"insert {n}{list(rows)}" for n, rows in self.inserts]
        parts += [f"delete {n}{list(rows)}" for n, rows in self.deletes]
        parts += [f"add {rule_text(rule)}" for rule in self.add]
        return "; ".join([*parts, *(f"drop {name}" for name in self.drop)])


def declaration(predicate: Predicate) -> str:
    columns = ", ".join(f"c{i}: {kind.type}" for i, kind in enumerate(predicate.kinds))
    return f".decl {predicate.name}({columns})"


def rule_text(rule: Rule) -> str:
    """A rule in the language. A second value of an aggregate may follow the first."""
    texts = list(map(literal_text, rule.body))
    pairs = zip(rule.body, rule.body[1:], strict=False)
    for place, (first, second) in enumerate(pairs, 1):
        if isinstance(first, Aggregate) and isinstance(second, Aggregate):
            texts[place] = _value_text(second)
    return f"{rule.name}: {atom_text(rule.head)} :- {', '.join(texts)}."


def atom_text(atom: Atom) -> str:
    """An atom, now and then with the names of its columns, if these are declared (c0, c1, ...)."""
    terms = list(map(_expression, atom.terms))
    rng = Random(f"{atom.predicate} {terms}")
    declared = not atom.predicate.endswith(UNDECLARED)
    if declared:  # its columns tell that texts stand for moments
        terms = [_bare(term, rng) for term in terms]
    named = declared and rng.randrange(4) == 0
    if named and any(term != "_" for term in terms):
        terms = [f"c{i}: {term}" for i, term in enumerate(terms) if term != "_"]
        rng.shuffle(terms)
    return f"{atom.predicate}({', '.join(terms)})"


def literal_text(literal: Literal) -> str:
    if isinstance(literal, Atom):
        return atom_text(literal)
    if isinstance(literal, Not):
        return f"not {atom_text(literal.atom)}"
    if isinstance(literal, Compare):
        return _comparison(literal.left, literal.operator, literal.right)
    if isinstance(literal, Bind):
        return f"BIND({_expression(literal.expression)} AS {literal.variable.name})"
    on = f" ON {', '.join(v.name for v in literal.group)}" if literal.group else ""
    body = ", ".join(map(literal_text, literal.body))
    return f"AGGREGATE({body}){on} WITH {_value_text(literal)}"


def _value_text(literal: Aggregate) -> str:
    other = "" if literal.otherwise is None else f" ELSE {literal.otherwise}"
    distinct = "DISTINCT " * literal.distinct
    return f"{literal.function}({distinct}{literal.argument.name}) AS {literal.result.name}{other}"


def _expression(expression: Expression) -> str:
    if isinstance(expression, Var):
        return expression.name
    if not isinstance(expression, Call):
        return constant_text(expression)
    arguments = [_expression(argument) for argument in expression.arguments]
    if expression.function in ("=", "!=", "<", "<=", ">", ">="):
        left, right = expression.arguments
        return f"({_comparison(left, expression.function, right)})"
    if expression.function in ("and", "or"):
        return f"({arguments[0]} {expression.function} {arguments[1]})"
    if expression.function in ("+", "-", "*", "/", "%"):
        return f"({arguments[0]} {expression.function} {arguments[1]})"
    return f"{expression.function}({', '.join(arguments)})"


def _comparison(left: Expression, operator: str, right: Expression) -> str:
    """A comparison. A text that is compared with a moment may stand for one."""
    first, second = _expression(left), _expression(right)
    rng = Random(f"{first} {operator} {second}")
    if operator != "=" and isinstance(left, Var | Call):
        second = _bare(second, rng)
    elif operator != "=" and isinstance(right, Var | Call):
        first = _bare(first, rng)
    return f"{first} {operator} {second}"


def _bare(written: str, rng: Random) -> str:
    """A constant, now and then without its datatype if it is a moment, or with its zone."""
    found = re.fullmatch(f'"([^"]*)"\\^\\^<{_XSD}(date|dateTime)>', written)
    if found is None or rng.randrange(2):
        return written
    zone = "Z" if found[2] == "dateTime" and rng.randrange(2) else ""
    return f'"{found[1]}{zone}"'


def given_rows(predicate: str, rows: Iterable[Row]) -> list[Row]:
    """Rows as somebody may give them: moments as texts, where a declaration tells what they are."""
    given = list(rows)
    rng = Random(f"{predicate} {given}")
    how = (
        "as they are"
        if predicate.endswith(UNDECLARED)
        else rng.choice(("some", "zoned", "as they are"))
    )

    def written(value: Value) -> Value:
        if isinstance(value, datetime.datetime) and how == "zoned":
            return f"{value.isoformat()}Z"
        text = isinstance(value, datetime.date) and how in ("some", "zoned") and rng.randrange(2)
        return value.isoformat() if text and isinstance(value, datetime.date) else value

    return [tuple(map(written, row)) for row in given]


_XSD = "http://www.w3.org/2001/XMLSchema#"


def constant_text(value: Value) -> str:
    """A constant in the language."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime.datetime):
        return f'"{value.isoformat()}"^^<{_XSD}dateTime>'
    if isinstance(value, datetime.date):
        return f'"{value.isoformat()}"^^<{_XSD}date>'
    if isinstance(value, float) and not math.isfinite(value):
        name = "NaN" if math.isnan(value) else "INF" if value > 0 else "-INF"
        return f'"{name}"^^<{_XSD}double>'
    if isinstance(value, Decimal):
        return f'"{value:f}"^^<{_XSD}decimal>'
    if not isinstance(value, str):
        return repr(value)
    if value.startswith(("http://", "urn:")):
        return f"<{value}>"
    if value.startswith(("<", '"')):
        return value
    bare = value.isascii() and value.isalpha() and value.islower()
    if bare and value not in ("inf", "true", "false"):
        return value
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
