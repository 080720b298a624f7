"""Files of every catalog that ever was: tests/old_files has one of each change of migrations/,
and the last that DuckDB 1.5 wrote; aggregates_*, of the last version for which `_` told no
solutions of an aggregate apart; decimals_*, of the last for which xsd:decimal was a float;
terms_*, of the last whose dictionary had texts alone; and mixed_*, of the last that had the values
of literals in the same table.

    python old_files.py FILE [log|prices|terms|mixed]

with the zodiac_sql of a commit, whose name the file then has.

They are compressed with xz -9e.
"""

from __future__ import annotations

import lzma
import sys
from pathlib import Path
from typing import Any

from support.places import TESTS

FOLDER = TESTS / "old_files"

RULES = """
@prefix ex: <http://example.org/> .
.decl reading(turbine: symbol, celsius: float)
path(X, Y) :- edge(X, Y).
path(X, Z) :- path(X, Y), path(Y, Z).
near(X, Y) :- near(Y, X).
near(X, Z) :- near(X, Y), near(Y, Z).
near(X, Y) :- link(X, Y).
link(X, Y) :- near(X, Y), bond(X, Y).
same(X, Y) :- same(Y, X).
same(X, Z) :- same(X, Y), same(Y, Z).
same(X, Y) :- alike(X, Y).
far(X, Y) :- path(X, Y), not edge(X, Y).
degree(X, N) :- AGGREGATE(edge(X, Y)) ON X WITH COUNT(Y) AS N.
ex:big(X) :- degree(X, N), N > 1.
named(X, L) :- edge(X, _), BIND(concat(upper(X), "!") AS L).
hot(X, D) :- reading(X, T), BIND(abs(T - 0.5) AS D), D > 5.0.
ring(X, Y) :- edge(X, A), link(A, Y), edge(Y, B), link(B, X), X != Y.
alarm() :- far(a, d).
even(X) :- zero(X).
odd(Y) :- even(X), succ(X, Y).
even(Y) :- odd(X), succ(X, Y).
gone1(X) :- edge(X, _).
"""

FACTS: dict[str, list[tuple[Any, ...]]] = {
    "edge": [("a", "b"), ("b", "c"), ("c", "d"), ("a", "c"), ("d", "a")],
    "link": [("a", "c"), ("c", "e"), ("b", "d"), ("c", "b")],
    "alike": [("p", "q"), ("q", "r"), ("s", "t")],
    "bond": [("a", "c"), ("e", "c")],
    "reading": [("wt1", 21.5), ("wt2", 3.25)],
    "zero": [(0,)],
    "succ": [(0, 1), (1, 2), (2, 3)],
    "http://example.org/label": [
        ("http://example.org/x", '"caf\u00e9"@fr'),
        ("_:b1", 'plain "quoted" \\ text'),
    ],
}
LOG = """
.decl reading(turbine: symbol, celsius: int, at: int)
usual: usual(X, M) :- AGGREGATE(reading(turbine: X, celsius: T)) ON X WITH AVG(T) AS M.
readings: readings(N) :- AGGREGATE(reading(_, T, _)) WITH COUNT(T) AS N.
named: named(X, N) :- AGGREGATE(reading(X, T, A)) ON X WITH COUNT(T) AS N.
highest: highest(X, H) :- AGGREGATE(reading(X, T, _)) ON X WITH MAX(T) AS H.
summary: summary(X, N, S) :- turbine(X), AGGREGATE(reading(X, T, _), not broken(X, _)) ON X
    WITH COUNT(T) AS N ELSE 0, SUM(T) AS S ELSE 0.
warm: warm(X) :- usual(X, M), M > 22.0.
"""
"""Rules with aggregates over facts that differ only in columns without names."""

LOGGED: dict[str, list[tuple[Any, ...]]] = {
    "reading": [("wt1", 10, 1), ("wt1", 10, 2), ("wt1", 40, 3), ("wt2", 7, 1)],
    "turbine": [("wt1",), ("wt2",), ("wt3",)],
    "broken": [("wt2", 1)],
}

_XSD = "http://www.w3.org/2001/XMLSchema#"
TERMS: dict[str, list[tuple[Any, ...]]] = {
    "value": [
        *((f'"{form}"^^<{_XSD}{name}>',) for form, name in (
            ("5", "integer"), ("05", "int"), ("-0", "integer"), ("300", "byte"), ("x", "integer"),
            ("18446744073709551616", "integer"), ("5.0", "decimal"), ("-0", "decimal"),
            ("0.1234567890123456789012345678901234567890", "decimal"), ("5", "double"),
            ("-0.0", "double"), ("NaN", "double"), ("-INF", "double"), ("1e400", "double"),
            ("0.1", "float"), ("1", "boolean"), ("yes", "boolean"), ("2026-01-31", "date"),
            ("2026-02-30", "date"), ("2026-01-31T12:00:00", "dateTime"),
            ("2026-01-31T12:00:00.5+01:00", "dateTime"), ("9999-12-31T23:59:59-01:00", "dateTime"),
            ("0001-01-01T00:00:00+01:00", "dateTime"), ("2026-01-31T24:00:00", "dateTime"),
        )),
        ("5",), ("a",), ('"5"@en',), ('"5"^^<http://example.org/t>',), ("http://example.org/5",),
        ("_:b1",),
    ],
}  # fmt: skip
"""Literals of all kinds in a column of symbols."""
PRICES = """
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
.decl price(item: symbol, euro: decimal)
cheap: cheap(X) :- price(X, P), P < "2.5"^^xsd:decimal.
dear: dear(X, P + "0.1"^^xsd:decimal) :- price(X, P), not cheap(X), P != " 1e0"^^xsd:double.
fixed: fixed("0.25"^^<http://www.w3.org/2001/XMLSchema#decimal>) :- price(_, _).
any: says(X) :- measured(P), ?P(X, V), V = "2.5"^^xsd:decimal.
most: !- price(_, P), P > "1000.0"^^xsd:decimal.
text: text(X) :- price(X, _), X != "\\"2.5\\"^^xsd:decimal".
"""
"""Rules with values of xsd:decimal."""

PRICED: dict[str, list[tuple[Any, ...]]] = {
    "measured": [("price",)],
    "price": [("apple", 1.25), ("pear", 2.5), ("fig", 3.0)],
}
WEIGHTS = """
<http://e/a> <http://e/weight> "1.50"^^<http://www.w3.org/2001/XMLSchema#decimal> .
<http://e/b> <http://e/weight> "2"^^<http://www.w3.org/2001/XMLSchema#integer> .
"""

BEFORE_THE_FEED = (
    "DROP TABLE zodiac.journal; DROP TABLE zodiac.log; DROP TABLE zodiac.feed_state;"
    " DROP TABLE zodiac.feed_table; DROP TABLE zodiac.feed; DROP TABLE zodiac.former_rule;"
    " DROP TABLE zodiac.symbol_value; DROP TABLE zodiac.fact_window"
)
"""Takes the change feed, and what came after it, out of a catalog."""

STREAMED = [("d", "e"), ("e", "f")]


def fill(kb: Any) -> None:
    """What each of the files was filled with, as far as its version knew."""
    kb.add_rules(RULES)
    for predicate, rows in FACTS.items():
        kb.insert(predicate, rows)
    kb.drop_rules(next(name for name, text, *_ in kb.rules().fetchall() if "gone1" in text))
    if hasattr(kb, "keep_feed"):
        kb.keep_feed(["path", "http://example.org/label"])
    kb.delete("edge", [("d", "a")])
    if hasattr(kb, "stream"):
        for _ in kb.stream([{"insert": {"edge": [row]}} for row in STREAMED], name="feed"):
            pass
    elif hasattr(kb, "position"):
        with kb.update() as update:
            update.record("feed", len(STREAMED))
            update.insert("edge", STREAMED)


def fill_log(kb: Any) -> None:
    """What the file of aggregates was filled with."""
    kb.add_rules(LOG)
    for predicate, rows in LOGGED.items():
        kb.insert(predicate, rows)


def fill_terms(kb: Any, _: Path) -> None:
    """What the file of literals was filled with."""
    kb.add_rules("kept: kept(X) :- value(X), not odd(X).")
    for predicate, rows in TERMS.items():
        kb.insert(predicate, rows)


MIXED = """
.decl value(term: any)
kept: kept(X) :- value(X), not odd(X).
less: less(X, Y) :- value(X), value(Y), X < Y.
three: three(X, Y, Z) :- value(X), Y = X + 1, Z = X.
greater: greater(X) :- value(X), X > 3.
"""
"""Rules that read what terms are worth."""


def fill_mixed(kb: Any, _: Path) -> None:
    """What the file of a mixed column was filled with."""
    kb.add_rules(MIXED)
    kb.insert("value", TERMS["value"])


def fill_prices(kb: Any, directory: Path) -> None:
    """What the file of decimals was filled with."""
    kb.insert("measured", PRICED["measured"])
    kb.add_rules(PRICES)
    kb.insert("price", PRICED["price"])
    weights = directory / "weights.nt"
    weights.write_text(WEIGHTS)
    kb.load(weights)


def unpacked(packed: Path, directory: Path) -> Path:
    file = directory / packed.name.removesuffix(".xz")
    file.write_bytes(lzma.decompress(packed.read_bytes()))
    return file


if __name__ == "__main__":
    import zodiac_sql

    try:
        kb = zodiac_sql.connect(sys.argv[1], hypertree=True)
    except TypeError:  # it did not know of hypertrees
        kb = zodiac_sql.connect(sys.argv[1])
    other = {"log": lambda kb, _: fill_log(kb), "terms": fill_terms,
             "prices": fill_prices, "mixed": fill_mixed}  # fmt: skip
    if found := other.get("".join(sys.argv[2:])):
        found(kb, Path(sys.argv[1]).parent)
    else:
        fill(kb)
    kb.close()
