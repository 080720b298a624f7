"""Numbers of mixed columns are exact where they have room, against Python's decimals."""

from __future__ import annotations

import operator
import random
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from pathlib import Path

import pytest

import zodiac_sql
from zodiac_sql.knowledge_base import KnowledgeBase
from zodiac_sql.language.symbols import XSD

NUMBERS = [
    "0.1", "0.7", "-0.3", "2.5", "-2.5", "0", "3", "-7", "9007199254740992", "9007199254740993",
    "9223372036854775807", "-9223372036854775808", "12345678901234.000000000000000001",
]  # fmt: skip
PREFIXES = f"PREFIX : <http://e/> PREFIX xsd: <{XSD}> "


def literal(number: str | Decimal, whole: bool) -> str:
    """A number as a literal that is written as ours are."""
    if whole:
        return f'"{Decimal(number):f}"^^<{XSD}integer>'
    digits = f"{Decimal(number):f}"
    digits = digits.rstrip("0") if "." in digits else f"{digits}."
    return f'"{digits}{"0" if digits.endswith(".") else ""}"^^<{XSD}decimal>'


def is_whole(number: str) -> bool:
    return "." not in number


def has_room(number: Decimal) -> bool:
    """Whether a number has 20 digits before the point and 18 after it."""
    exponent = number.as_tuple().exponent
    return abs(number) < 10**20 and isinstance(exponent, int) and exponent >= -18


def mixed(tmp_path: Path, *literals: str) -> KnowledgeBase:
    """A knowledge base with a mixed column of literals: subjects are numbered."""
    file = tmp_path / "mixed.nt"
    lines = [f"<http://e/{i}> <http://e/v> {v} .\n" for i, v in enumerate([*literals, '"n/a"'])]
    file.write_text("".join(lines))
    kb = zodiac_sql.connect()
    kb.load(file)
    return kb


@pytest.fixture
def kb(tmp_path: Path) -> KnowledgeBase:
    return mixed(tmp_path, *(literal(n, is_whole(n)) for n in NUMBERS))


def answers(kb: KnowledgeBase, expression: str) -> list[object]:
    """The values of an expression of each of the NUMBERS, in order."""
    query = f"SELECT ?x ({expression} AS ?w) {{ ?x :v ?v FILTER(isNumeric(?v)) }}"
    rows = kb.sparql(PREFIXES + query).fetchall()
    return [value for _, value in sorted(rows, key=lambda row: int(row[0].rsplit("/", 1)[1]))]


@pytest.mark.parametrize("other", ["1", "0.2", "-1.5", "3", "1000.001"])
@pytest.mark.parametrize("op", ["+", "-", "*"])
def test_arithmetic(kb: KnowledgeBase, op: str, other: str) -> None:
    """Sums, differences and products are the exact ones."""
    do = {"+": operator.add, "-": operator.sub, "*": operator.mul}[op]
    with localcontext(prec=60):
        results = [do(Decimal(n), Decimal(other)) + 0 for n in NUMBERS]
    expected = [
        literal(r, is_whole(n) and is_whole(other))
        for n, r in zip(NUMBERS, results, strict=True)
        if has_room(r)
    ]
    found = answers(kb, f"?v {op} {other}")
    assert [f for f, r in zip(found, results, strict=True) if has_room(r)] == expected


FUNCTIONS: dict[str, Callable[[Decimal], Decimal]] = {
    "-?v": operator.neg,
    "+?v": operator.pos,
    "abs(?v)": abs,
    "floor(?v)": lambda n: n.to_integral_value(ROUND_FLOOR),
    "ceil(?v)": lambda n: n.to_integral_value(ROUND_CEILING),
    "round(?v)": lambda n: (n + Decimal("0.5")).to_integral_value(ROUND_FLOOR),
}


@pytest.mark.parametrize("expression", FUNCTIONS)
def test_functions(kb: KnowledgeBase, expression: str) -> None:
    """Functions that keep the datatype of a number keep all of its digits."""
    with localcontext(prec=60):
        results = [FUNCTIONS[expression](Decimal(n)) + 0 for n in NUMBERS]
    written = [literal(r, is_whole(n)) for r, n in zip(results, NUMBERS, strict=True)]
    assert answers(kb, expression) == written


OPERATORS: dict[str, Callable[[Decimal, Decimal], bool]] = {
    "=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge,
}  # fmt: skip


@pytest.mark.parametrize("op", OPERATORS)
def test_comparisons(kb: KnowledgeBase, op: str) -> None:
    """Also with what is computed, and of two columns."""
    compare = OPERATORS[op]
    numbers = [Decimal(n) for n in NUMBERS]
    for other in ("9007199254740992", "9007199254740992.0", "0.1"):
        expected = [compare(n, Decimal(other)) for n in numbers]
        assert answers(kb, f"?v {op} {other}") == expected
        assert answers(kb, f"?v + 0.2 {op} {Decimal(other) + Decimal('0.2')}") == expected
        assert answers(kb, f"IF(true, ?v, 'x') {op} {other}") == expected
    both = f"isNumeric(?v) && isNumeric(?w) && ?v {op} ?w"
    query = f"SELECT * {{ ?x :v ?v . ?y :v ?w FILTER({both}) }}"
    pairs = sum(compare(a, b) for a in numbers for b in numbers)
    assert len(kb.sparql(PREFIXES + query)) == pairs


def test_sums(tmp_path: Path) -> None:
    """Sums do not depend on an order, take each number once if they are to, and have a mean."""
    drawn = random.Random(5)
    numbers = [Decimal(drawn.randrange(-(10**9), 10**9)).scaleb(-3) for _ in range(500)] * 2
    kb = mixed(tmp_path, *(literal(n, False) for n in numbers), literal("7", True))
    query = """SELECT (SUM(?v) AS ?s) (SUM(DISTINCT ?v) AS ?d) (SUM(?v * 1.5) AS ?p) (AVG(?v) AS ?a)
        { ?x :v ?v FILTER(isNumeric(?v)) }"""
    ((total, once, product, mean),) = kb.sparql(PREFIXES + query).fetchall()
    added = sum(numbers) + 7
    assert total == literal(added, False)
    assert once == literal(sum(set(numbers)) + 7, False)
    assert product == literal(added * Decimal("1.5"), False)
    assert float(mean.split('"')[1]) == float(added) / 1001
    assert mean.endswith(f"{XSD}decimal>")


def test_order(kb: KnowledgeBase) -> None:
    """Numbers that are one float are told apart by ORDER BY, MIN and MAX."""
    query = "SELECT ?v { ?x :v ?v FILTER(?v > 9007199254740991 && ?v < 9007199254740994) }"
    found = kb.sparql(f"{PREFIXES} {query} ORDER BY DESC(?v)").fetchall()
    assert found == [(literal(n, True),) for n in ("9007199254740993", "9007199254740992")]


def test_no_room(tmp_path: Path) -> None:
    """Integers and decimals that have no room become doubles, which are written as such."""
    large = "10000000000000000000000.5"
    kb = mixed(tmp_path, literal(large, False), literal("9" * 20, True))
    as_double = f'"1e+22"^^<{XSD}double>', f'"1e+20"^^<{XSD}double>'
    assert answers(kb, "?v + 1") == [*as_double]
    assert answers(kb, "datatype(?v + 1)") == [f"{XSD}double"] * 2
    total = f'"1.01e+22"^^<{XSD}double>'
    query = "SELECT (SUM(?v) AS ?s) (SUM(DISTINCT ?v) AS ?d) { ?x :v ?v FILTER(isNumeric(?v)) }"
    assert kb.sparql(PREFIXES + query).fetchall() == [(total, total)]


def test_casts(kb: KnowledgeBase) -> None:
    """Casts to decimal and integer take the exact number."""
    assert answers(kb, "xsd:decimal(?v)") == [Decimal(n) for n in NUMBERS]
    assert answers(kb, "xsd:decimal(?v + 0)") == [Decimal(n) for n in NUMBERS]
    assert answers(kb, "xsd:integer(?v * 1.0)") == [int(Decimal(n)) for n in NUMBERS]


def test_beside_doubles(tmp_path: Path) -> None:
    """Beside a double, an exact number is the nearest one."""
    kb = mixed(tmp_path, literal("0.1", False), f'"0.1"^^<{XSD}double>')
    assert answers(kb, "?v + 0.2 = 3e-1") == [True, False]
    assert answers(kb, "?v * 1e0") == [f'"0.1"^^<{XSD}double>'] * 2
