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
        ("c(X, risk(Y)) :- p(X, Y).", "Register it with kb.register_function", "aggregate"),
    ],
)
def test_messages(text: str, said: str, unsaid: str) -> None:
    with connect() as kb, pytest.raises(ProgramError) as caught:
        kb.add_rules(text)
    assert said in str(caught.value)
    assert unsaid not in str(caught.value)


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
