"""What is wrong with a text of rules, in words that say what would be right."""

from __future__ import annotations

import pytest

from zodiac_sql import connect
from zodiac_sql.errors import ProgramError
from zodiac_sql.language.written import on_one_line


@pytest.mark.parametrize(
    ("text", "said", "unsaid"),
    [
        (
            "p(1).\n.decl p(a: int, b: int)",
            "p is used with 1 column, but it has 2 in its declaration at <rules>:2:1",
            "database",
        ),
        ("p(f(1)).", "`f(1)` cannot stand in a fact", "V1"),
        ("s(X :- p(X).", "Expected here: `)`, a comma", "constraint"),
        ("s(X) :- p(X) :- q(X).", "unexpected `:-`", "constraint"),
        (":- p(X).", "A constraint begins with !-", "Expected"),
        ("c(X, COUNT(Y)) :- p(X, Y).", "COUNT is an aggregate, which stands in the body", "Regis"),
        ('p("abc).', "This text does not end", "Expected"),
        ('p("a" "b").', "Expected here", "does not end"),
        ("p(X) :- e(X, \u201ca\u201d).", "Text stands in straight double quotes", "Expected"),
        ("p(X) :- e(X) or f(X).", "Alternatives stand between semicolons", "Expected"),
        ("p(X) :- e(Y), X is Y + 1.", "A value is computed by =", "Expected"),
        ("p(X) :- e(X), \\+ f(X).", "What is absent is written not p(X)", "Expected"),
        ("p(X) := e(X).", "A rule is written head :- body", "Expected"),
        ("p(X) <= e(X).", "A rule is written head :- body", "Expected"),
        (".decl e(`a\0b`: int)", "a name has no NUL character", "Parser"),
        ("p(X) :- e(name:X).", "name of a rule or of a column, put a space", "Expected"),
        ("p(X) :- e(X) f(X).", "Expected here: a period, a comma", "written"),
        ("p(X) :- q(X), not (s(X), X > 0).", "A negation is of one atom or comparison", "Expected"),
        ("p(X) :- q(X), !(s(X) ; r(X)).", "A negation is of one atom or comparison", "Expected"),
        ('p(X) :- not (a("(") and b(X)).', "A negation is of one atom or comparison", "Expected"),
        ("p(X) :- not (a(X)), (b(X), c(X) d(X)).", "Expected here: `)`", "negation"),
        ("p(X), r(X) :- q(X).", "A rule has one head", "Expected"),
        ("p(a), r(b).", "each fact ends with a period", "Expected"),
        ("p(X) | r(X) :- q(X).", "A rule has one head", "Alternatives"),
        ('p(1).\n#include "b.dl"\nq(1).', '#include "b.dl" is a comment here', "syntax"),
        (".input edge\nedge(1, 2).", "Facts come from outside by load", "Expected"),
        (".decl p(x: int)\n.output p", "leave by query or export", "Expected"),
        (".type T = number", "There are no types of your own", "Expected"),
        (".comp A { }", "There are no components", "Expected"),
        ('.pragma "a"', "there are only .decl and .window", "Expected"),
        ("p(X) :- q([X, Y]).", "There are no lists and records", "Expected"),
        ("n(N) :- N = count : { q(X) }.", "An aggregate is written AGGREGATE(", "Expected"),
        (
            "l(X, 0) :- r(X). l(X, Z) :- c(X, Y), AGGREGATE(l(Y, U)) ON Y WITH MIN(U) AS Z.",
            "written with MIN in heads: dist(Y, MIN(D + W))",
            "belongs to its rule alone",
        ),
        (
            "e(1, 2). m(X, Z) :- e(X, _), AGGREGATE(m(Y, U)) ON Y WITH MAX(U) AS Z, e(X, Y).",
            "written with MAX in heads: dist(Y, MAX(D + W))",
            "Recursion over the least",
        ),
        (
            '.decl d(x: date) p(X) :- d(X), X > "2026-02-30".',
            'A date is written "2026-01-31", or "2026-01-31"^^xsd:date.',
            "has one type",
        ),
        (
            '.decl d(x: timestamp) p(X) :- d(X), X > "1.2.2026".',
            'A time is written "2026-01-31T12:30:00", or "2026-01-31T12:30:00"^^xsd:dateTime.',
            "has one type",
        ),
        ('.decl d(x: date) p(X) :- d("today"), s(X).', '"2026-01-31"^^xsd:date', "has one type"),
        ('.decl d(x: date) d("31.1.2026").', '"2026-01-31"^^xsd:date', "has one type"),
        ('.decl d(x: date) d("2026-1-31") :- s(X).', '"2026-01-31"^^xsd:date', "has one type"),
        ('p(X) :- s(X), D = year("20260131").', '"2026-01-31"^^xsd:date', "has one type"),
        (".decl d(x: date) p(X) :- d(X), X > wt1.", '"2026-01-31"^^xsd:date', "has one type"),
        ("c(X, risk(Y)) :- p(X, Y).", "Register it with kb.register_function", "aggregate"),
    ],
)
def test_messages(text: str, said: str, unsaid: str) -> None:
    with connect() as kb, pytest.raises(ProgramError) as caught:
        kb.add_rules(text)
    assert said in str(caught.value)
    assert unsaid not in str(caught.value)


def test_what_only_looks_like_an_inclusion_is_a_comment_or_a_text() -> None:
    text = '# include all\n%#include "x"\np("x\\"\\n#include").\n/*\n#include "x"\n*/'
    with connect() as kb:
        assert kb.add_rules(text).inserted == {"p": 1}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("q(X) :- p(X), # why\n  r(X).", "q(X) :- p(X), r(X)."),
        ("q(X) :- % why\n  p(X), // where\n r(X).", "q(X) :- p(X), r(X)."),
        ("q(X) :- p(X) /* this\n and that */.", "q(X) :- p(X) ."),
        ("% all\nq(X) :- p(X), Y = X % 2,\n Y > 0.", "q(X) :- p(X), Y = X % 2, Y > 0."),
        ('q(X) :- p(X, "a # b // c % d").', 'q(X) :- p(X, "a # b // c % d").'),
        ("q(X) :- p(X, <http://e.org/#a>).", "q(X) :- p(X, <http://e.org/#a>)."),
        ("q(X) :- `p # q`(X).", "q(X) :- `p # q`(X)."),
    ],
)
def test_a_rule_on_one_line(text: str, line: str) -> None:
    assert on_one_line(text) == line
