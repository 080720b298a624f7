"""Texts that are nearly rules: those of our cases, examples and pages, with something odd in them;
and clauses by the grammar, with odd literals, names and depths. And expressions of odd values."""

from __future__ import annotations

import re
from random import Random

from support.pages import pages
from support.places import ROOT

LONGEST = 3_000
"""Longer texts are left out of what is mutated: they take their time already."""


def corpus() -> list[str]:
    """All rules that we have written down."""
    paths = [*ROOT.glob("tests/cases/*/*/*.rules"), *ROOT.glob("examples/**/*.rules")]
    texts = [path.read_text(encoding="utf-8") for path in sorted(paths)]
    blocks = [block.text for page in pages() for block in page.blocks()]
    texts += [text for text in blocks if ":-" in text]
    return [text for text in texts if len(text) <= LONGEST]


ODD = [
    *"(){}[]<>\"'.,;:!?~&|^%#@$/\\*+-=_",
    *"\0\t\n\r\x0b\x0c\x1b\x7f\x85\xa0\u2028\ufeff\u202e\ud800\udfff",
    *"éßİıſΩж中あ𝒳😀²٣０∧←≠≤≥", ":-", "<-", ".\n", "//", "%", "/*", "*/", '""', '"', "^^", "@en",
    "not ", "and ", "AND", "COMP(", "BIND(", "AGGREGATE(", " ON ", " WITH ", " AS ", "true",
    "false", "TRUE", "null", "NULL", "_", "__", "?x", "$y", "X", "Y", "p", "P", "select", "zodiac",
    "main.p", "h1_p", "p external", "idb", "-0", "0", "1", "-1", "0.0", "-0.0", "1e308", "1e309",
    "1e-324", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
    "-9223372036854775809", "9" * 5_000, "0" * 5_000 + "1", "1e" + "9" * 400,
    "0." + "0" * 400 + "1", "1e999999999", '"\\u0000"', '"\\ud800"', '"\\UFFFFFFFF"',
    '"\\U0010FFFF"', '"\\x"', '"\\', '"' + "a" * 5_000 + '"', '"NaN"^^xsd:double',
    '"INF"^^xsd:double', '"-INF"^^xsd:double', '"x"^^xsd:integer',
    '"99999999999999999999"^^xsd:integer', '"1_0"^^xsd:int', '"0001-01-01"^^xsd:date',
    '"2024-W01-1"^^xsd:date', '"20240101T000000"^^xsd:dateTime', '"2024-01-01"^^xsd:dateTime',
    '"2024-01-01T00:00:00.123456789Z"^^xsd:dateTime',
    '"9999-12-31"^^xsd:date', '"2024-02-30"^^xsd:date', '"0001-01-01T00:00:00+14:00"^^xsd:dateTime',
    '"9999-12-31T23:59:59.999999-14:00"^^xsd:dateTime', '"x"^^<y>', '"x"@en-GB-x', "<http://a#b>",
    "<>", "<a b>", "_:b0", "ex:", ":x", "rdf:type", "xsd:date", "@prefix : <x> .",
    "@prefix ex: <> .", ".decl p(a: int)", ".decl p(a: float, A: float)", ".decl q()",
    ".decl p(a: nothing) .", "p(X) :- p(X).", "r1: ", "r1:r1: ", "((((((((((", "))))))))))",
    "if(", "if(X > 1, ", " or ", "; ", " ELSE 0", "s: ", "c0: X", ", SUM(Y) AS S", "matches(X, ",
    "-" * 300, "!" * 300, "+ 1 " * 260, "abs(" * 260, "(" * 3_000, "X" * 3_000, "é" * 300,
]  # fmt: skip

TOKEN = re.compile(r'"[^"\n]*"|<[^>\s]*>|\w+|\s+|.', re.DOTALL)


def mutated(rng: Random, texts: list[str]) -> str:
    """A text of the corpus, changed in one to five places."""
    tokens = TOKEN.findall(rng.choice(texts))
    for _ in range(rng.choice((1, 1, 2, 3, 5))):
        at = rng.randrange(len(tokens) + 1)
        to = min(len(tokens), at + rng.choice((1, 1, 2, 5, 20)))
        what = rng.randrange(7)
        if what == 0:
            del tokens[at:to]
        elif what == 1:
            tokens[at:at] = tokens[at:to] * rng.choice((1, 2, 30))
        elif what == 2:
            tokens[at:to] = [rng.choice(ODD)]
        elif what == 3:
            tokens.insert(at, rng.choice(ODD))
        elif what == 4:
            other = TOKEN.findall(rng.choice(texts))
            start = rng.randrange(len(other) + 1)
            tokens[at:to] = other[start : start + rng.choice((1, 3, 20))]
        elif what == 5:
            words = [token for token in tokens if token[:1].isalnum()] or ["p"]
            tokens[at:to] = [rng.choice(words)]
        elif rng.random() < 0.2:
            del tokens[at:]
    return "".join(tokens)


# --- by the grammar -------------------------------------------------------------------------------

NAMES = [
    "p",
    "q",
    "s",
    "P",
    "Größe",
    "main",
    "select",
    "h1_p",
    "zodiac",
    "ex:p",
    "<http://a/p>",
    "x" * 300,
]
VARIABLES = ["X", "Y", "Z", "_", "?x", "_X", "Ärger"]
FUNCTIONS = [
    "abs", "round", "floor", "ceil", "sqrt", "power", "exp", "ln", "least", "greatest", "length",
    "concat", "lower", "upper", "trim", "substr", "replace", "contains", "starts_with", "ends_with",
    "year", "month", "day", "hour", "minute", "second", "nothing",
    "int", "float", "text", "matches", "regex_replace", "regex_extract", "add_days", "add_seconds",
    "days_between", "seconds_between", "epoch", "date", "time_bucket", "format_time", "if",
    "and", "or", "not",
]  # fmt: skip
LITERALS = [odd for odd in ODD if re.fullmatch(r'-?\d.*|".*"(\^\^\S+|@\S+)?|true|false', odd)]
LITERALS += ["1", "2", "0.5", "a", "b", '"a b"', "ex:a", "<http://a/b>", "-3", "1e3"]


def clause(rng: Random) -> str:
    """A fact, a rule or a declaration that the grammar allows, and mostly nothing else does."""
    if rng.random() < 0.1:
        columns = ", ".join(
            f"c{i}: {rng.choice(['int', 'float', 'symbol', 'date', 'bool', 'timestamp', 'odd'])}"
            for i in range(rng.randrange(4))
        )
        return f".decl {rng.choice(NAMES)}({columns})"
    head = _atom(rng)
    if rng.random() < 0.2:
        return f"{head}."
    label = rng.choice(["", "", "r1: ", "r2 : ", "Ünï: "])
    return f"{label}{head} :- {body(rng)}."


def body(rng: Random) -> str:
    """What may stand behind :- and in a query."""
    sign = " ; " if rng.random() < 0.05 else ", "
    return sign.join(_literal(rng) for _ in range(rng.choice((1, 2, 2, 3, 5))))


def _literal(rng: Random) -> str:
    what = rng.randrange(11)
    if what < 5:
        return _atom(rng)
    if what == 10:
        return f"({body(rng)}{rng.choice([' ; ', ', '])}{body(rng)})"
    if what == 5:
        return f"not {_atom(rng)}"
    if what == 6:
        return f"BIND({_expression(rng)} AS {rng.choice(VARIABLES)})"
    if what == 7:
        values = (_value(rng) for _ in range(rng.choice((1, 1, 1, 2, 3))))
        return f"AGGREGATE({body(rng)}) ON X WITH {', '.join(values)}"
    return f"{_expression(rng)} {rng.choice(['=', '=', '!=', '<', '>='])} {_expression(rng)}"


def _value(rng: Random) -> str:
    """A value of an aggregate."""
    function = rng.choice(["COUNT", "SUM", "MED", "MAX"])
    other = f" ELSE {rng.choice(['0', '-1', '0.5', 'a', '1e308'])}" if rng.random() < 0.3 else ""
    return f"{function}({rng.choice(['Y', 'Y', 'X + 1'])}) AS {rng.choice(['Z', 'Z', 'W'])}{other}"


def _condition(rng: Random, depth: int) -> str:
    if depth and rng.random() < 0.4:
        parts = _condition(rng, depth - 1), _condition(rng, depth - 1)
        return rng.choice(["({} and {})", "{} or {}", "not {}", "not ({} ∧ {})"]).format(*parts)
    return f"{_expression(rng, depth)} {rng.choice(['=', '!=', '<', '>='])} {_expression(rng, 1)}"


def _atom(rng: Random) -> str:
    if rng.random() < 0.1:
        columns = [f"{rng.choice(['s', 'o', 'c0'])}: {rng.choice(VARIABLES)}" for _ in range(2)]
        return f"{rng.choice(NAMES[:3])}({', '.join(columns[: rng.choice((1, 1, 2))])})"
    terms = rng.choices(
        [*VARIABLES[:3] * 4, *VARIABLES, *LITERALS], k=rng.choice((0, 1, 1, 2, 2, 3, 40))
    )
    return f"{rng.choice(NAMES[:3] * 3 + NAMES)}({', '.join(terms)})"


def _expression(rng: Random, depth: int = 4) -> str:
    what = rng.randrange(6) if depth else 0
    if what < 3:
        return rng.choice([*VARIABLES[:3] * 8, *LITERALS])
    if what == 3:
        operator = rng.choice("+-*/%")
        return f"({_expression(rng, depth - 1)} {operator} {_expression(rng, depth - 1)})"
    if rng.random() < 0.15:
        both = _expression(rng, depth - 1), _expression(rng, depth - 1)
        return f"if({_condition(rng, depth - 1)}, {', '.join(both)})"
    arguments = [_expression(rng, depth - 1) for _ in range(rng.choice((0, 1, 1, 1, 2, 2, 3)))]
    return f"{rng.choice(FUNCTIONS)}({', '.join(arguments)})"


def odd_text(rng: Random, texts: list[str]) -> str:
    """By mutation, or by the grammar, or both; some begin with a byte order mark."""
    return ("\ufeff" if rng.random() < 0.03 else "") + _odd_text(rng, texts)


def _odd_text(rng: Random, texts: list[str]) -> str:
    if rng.random() < 0.6:
        return mutated(rng, texts)
    made = "\n".join(
        ["@prefix ex: <http://ex/> .", *(clause(rng) for _ in range(rng.choice((1, 2, 4))))]
    )
    return made if rng.random() < 0.7 else mutated(rng, [made])
