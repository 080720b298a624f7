"""What a backslash in a text in quotes stands for; one that stands for nothing is refused."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from zodiac_sql import ProgramError, connect
from zodiac_sql.language.escapes import ESCAPES, unquoted, with_backslashes
from zodiac_sql.language.parse import parse, parse_goals
from zodiac_sql.language.symbols import quoted


@pytest.mark.parametrize(
    ("text", "place", "escape", "right"),
    [
        (r'p(X) :- s(X), matches(X, "^\d+$") = true.', "1:28", r"\d", r'"^\\d+$"'),
        (r'p("C:\data\log").', "1:6", r"\d", r'"C:\\data\\log"'),
        ('p(X) :- q(X),\n  X != "a\\.b".', "2:10", r"\.", r'"a\\.b"'),
        (r'p(X) :- s(X), X = "\bfoo\b".', "1:20", r"\b", r'"\\bfoo\\b"'),
        (r'p(X) :- s(X), X = "say \"\f\" \\ \n".', "1:26", r"\f", r'"say \"\\f\" \\ \\n"'),
        (r'p(X) :- s(X), X = "\s"@de.', "1:20", r"\s", r'"\\s"'),
        (r'p(X) :- s(X), X = "\-1"^^xsd:int.', "1:20", r"\-", r'"\\-1"'),
        (r'r: !- p(X), X = "\p{Lu}".', "1:18", r"\p", r'"\\p{Lu}"'),
    ],
)
def test_an_unknown_escape_is_refused(text: str, place: str, escape: str, right: str) -> None:
    with pytest.raises(ProgramError) as raised:
        parse(text)
    problem = raised.value.problems[0]
    assert str(problem.span) == f"<rules>:{place}"
    assert problem.message == f"{escape} is no escape"
    assert f"written twice: {right}." in problem.hint


@pytest.mark.parametrize(
    ("escape", "said"),
    [
        (r"\u12", r"four hexadecimal digits follow \u"),
        (r"\U0001F60", r"eight hexadecimal digits follow \U"),
        (r"\ud83d", r"there is no character \ud83d"),
    ],
)
def test_numbers_that_are_none(escape: str, said: str) -> None:
    with pytest.raises(ProgramError) as raised:
        parse(f'p("{escape}x").')
    assert raised.value.problems[0].message == said


def test_goals_queries_and_why_refuse_it_too() -> None:
    with pytest.raises(ProgramError, match=r"<query>:1:4: \\d is no escape"):
        parse_goals(r'p("\d")')
    with connect(threads=1) as kb:
        kb.insert("p", [("12",)])
        for verb in (kb.query, kb.why, kb.why_not):
            with pytest.raises(ProgramError, match=r"\\d is no escape"):
                verb(r'p("\d")')


def test_an_iri_has_no_backslash() -> None:
    for text in (r"p(<http://e/\d>).", r"@prefix e: <http://e\x/> ."):
        with pytest.raises(ProgramError, match="An IRI has no backslash"):
            parse(text)


def test_what_stands_in_backquotes_has_no_escapes() -> None:
    (declaration,) = parse(r".decl p(`a\d`: int)").declarations
    assert declaration.columns[0].name == r"a\d"


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_what_is_written_in_quotes_is_read(text: str) -> None:
    assert unquoted(quoted(text)) == (text, [])
    if "\n" not in text and "\r" not in text:
        (fact,) = parse(f"p({quoted(text)}@x).").facts
        assert fact.terms[0].value == f"{quoted(text)}@x"


@given(st.text(st.sampled_from('ab\\"nud19. ')))
@example(r"\1\ud911")
def test_the_advice_is_right(inner: str) -> None:
    """It is read without a complaint, and what was an escape of a quote is one still."""
    text = f'"{inner}"'
    try:
        parse(f"p({text}).")
    except ProgramError as error:
        if "is no escape" in str(error.problems[0].message):
            parse(f"p({with_backslashes(text)}).")


def test_each_escape_stands_for_its_character() -> None:
    for escape, character in ESCAPES.items():
        assert unquoted(f'"\\{escape}"') == (character, [])
