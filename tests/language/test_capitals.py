"""A name that begins with a capital of any alphabet is a variable."""

from __future__ import annotations

import re
import sys
import unicodedata

import pytest

from zodiac_sql.language.kept_texts import as_kept
from zodiac_sql.language.parse import parse, parser_of_rules
from zodiac_sql.language.syntax import Constant, Variable

(CAPITAL,) = (one.pattern for one in parser_of_rules().terminals if one.name == "VARIABLE")
BEGINS_A_NAME = re.compile(r"[^\W\d_]")


def is_capital(one: str) -> bool:
    return one.isupper() or unicodedata.category(one) == "Lt"


def test_the_capitals_are_those_of_unicode() -> None:
    """A newer Python may know some more: a letter that this one does not know begins no name."""
    variable = re.compile(CAPITAL.to_regexp())
    letters = (chr(code) for code in range(sys.maxunicode + 1))
    names = [one for one in letters if BEGINS_A_NAME.fullmatch(one)]
    wrong = [one for one in names if bool(variable.match(one)) is not is_capital(one)]
    assert not wrong, wrong


@pytest.mark.parametrize("name", ["Ω", "É", "Ж", "İ", "ǅ", "Übung", "Äa1", "Ⅷ", "𝐀x"])
def test_such_names_are_variables(name: str) -> None:
    (rule,) = parse(f"p({name}) :- q({name}).").rules
    assert rule.head.terms == (Variable(name),)
    assert rule.text == f"p({name}) :- q({name})."
    assert as_kept(rule.text, {}) == f"p(?{name}) :- q(?{name})."
    assert parse(as_kept(rule.text, {})).rules[0] == rule


@pytest.mark.parametrize("name", ["ω", "é", "ж", "ı", "ß", "ª", "中", "ا"])
def test_other_names_are_constants(name: str) -> None:
    (rule,) = parse(f"p({name}) :- q({name}).").rules
    (term,) = rule.head.terms
    assert isinstance(term, Constant) and term.value == name
    assert as_kept(rule.text, {}) == rule.text


def test_predicates_columns_and_labels_begin_with_any_letter() -> None:
    text = """
        .decl Ä(Ö: int)
        Ü: Ä(X) :- Ж(Ö: X), Ω, not `É`(X), Π:x(Σ).
    """
    program = parse(text, prefixes={"Π": "http://example.org/"})
    (rule,) = program.rules
    assert (rule.name, rule.head.predicate) == ("Ü", "Ä")
    assert rule.positive() == {"http://example.org/x", "Ж", "Ω"} and rule.negative() == {"É"}
    kept = as_kept(rule.text, dict(rule.prefixes))
    assert kept == "Ä(X) :- Ж(Ö: X), Ω, not `É`(X), Π:x(?Σ)."
