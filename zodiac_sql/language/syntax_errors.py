"""Says in plain words, and with a hint, what is wrong with a text that cannot be parsed."""

from __future__ import annotations

import re

from lark import UnexpectedInput
from lark.exceptions import UnexpectedCharacters, UnexpectedEOF, UnexpectedToken

from zodiac_sql.errors import Problem, Source, Span, shortened
from zodiac_sql.language.escapes import WHOLE_CHARACTER

_EXPECTED = {
    "DOT": "a period", "_ARROW": "`:-`", "RPAR": "`)`", "LPAR": "`(`", "COMMA": "a comma",
    "OPERATOR": "a comparison", "_AS": "`AS`", "_WITH": "`WITH`", "VARIABLE": "a variable",
    "NAME": "a name", "COLON": "`:`", "IRI": "an <iri>", "PREFIX": "a prefix",
}  # fmt: skip


def syntax_problem(error: UnexpectedInput, source: Source, line: int, column: int) -> Problem:
    """An error of lark as a problem; `line` and `column` say how much stands before the clause."""
    found, width, expected = _found(error)
    if error.line < 1:
        at_line, at_column = source.place(len(source.text.rstrip()))
    else:
        at_line = error.line + line
        at_column = error.column + (column if error.line == 1 else 0)
    words = [_EXPECTED[name] for name in _EXPECTED if name in expected]
    right = f"Expected here: {', '.join(words)}." if words else ""
    span = Span(source, at_line, at_column, at_line, at_column + width)
    rest = source.lines[at_line - 1][at_column - 1 :] if at_line <= len(source.lines) else ""
    if rest.startswith("/*"):
        return Problem("syntax error: this comment does not end", span, "It ends with */.")
    if rest.startswith(":-") and not expected & {"COLON", "COMMA", "RPAR"}:
        right = "A constraint begins with !-, as in  !- body."
    for sign, needed, written in _ELSEWHERE:
        if re.match(sign, rest) and (not needed or needed in expected):
            right = written
    return Problem(f"syntax error: {found}", span, _hint(source, at_line, right))


_ELSEWHERE = (
    (r'"(?:[^"\\]|\\.)*$', "", 'This text does not end: it ends with " on the same line.'),
    (r"<[^\s<>]*\\", "", "An IRI has no backslash: write / or %5C."),
    (r"[\u201c\u201d\u201e\u00ab]", "", 'Text stands in straight double quotes: "wt1".'),
    (r"(or\b|\|)", "COMMA", "Alternatives stand between semicolons: p(X) ; q(X)."),
    (r"is\b", "", "A value is computed by =, as in Y = X + 1."),
    (r"(\\\+|\u00ac)", "", "What is absent is written not p(X)."),
    (r"(<=|:=|:)", "_ARROW", "A rule is written head :- body."),
)
"""How other languages write something, the token that must be possible there, and how it is
written here."""


def _found(error: UnexpectedInput) -> tuple[str, int, set[str]]:
    """What was found, how many characters it has, and the tokens that were expected instead."""
    if isinstance(error, UnexpectedToken):
        token = error.token
        expected = set(error.accepts or error.expected)
        if token.type == "$END":
            return "the text ends in the middle of a clause", 1, expected
        return f"unexpected `{shortened(token)}`", len(str(token).split("\n")[0]) or 1, expected
    if isinstance(error, UnexpectedCharacters):
        return f"unexpected `{error.char}`", 1, set(error.allowed or ())
    assert isinstance(error, UnexpectedEOF)
    return "the text ends in the middle of a clause", 1, set(error.expected)


def _hint(source: Source, line: int, right: str) -> str:
    text = source.lines[line - 1] if line <= len(source.lines) else ""
    if "'" in text:
        return 'Text stands in double quotes: "wt1". ' + right
    if re.search(r"\S\s*%\s", text):
        return "After a value % is an operator; a comment there begins with //. " + right
    return right


def half_a_character(source: Source) -> Problem | None:
    """The problem of a string with half of a surrogate pair: it can be neither stored nor shown."""
    found = _SURROGATE.search(source.text)
    if found is None:
        return None
    shown = Source(source.name, _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", source.text))
    line, column = shown.place(found.start())
    span = Span(shown, line, column, line, column + 1)
    return Problem(f"U+{ord(found[0]):04X} is half of a character", span, WHOLE_CHARACTER)


_SURROGATE = re.compile("[\ud800-\udfff]")
