"""Says in plain words, and with a hint, what is wrong with a text that cannot be parsed."""

from __future__ import annotations

import re
from collections.abc import Iterator

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
    if _begins_with(rest, ",", ";", "and", "∧", "&") and _is_negated(source, at_line, at_column):
        right = _ONE_ATOM
    for sign, written in _DIRECTIVES:  # after .decl, whose own period is optional, that is read
        if re.match(sign, source.lines[at_line - 1].lstrip() if at_line else ""):
            right = written
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
    (
        r"(,|;|\||and\b|∧|&)",
        "_ARROW",
        "A rule has one head, and each fact ends with a period: p(X) :- b(X). q(X) :- b(X).",
    ),
    (
        r"\[",
        "",
        "There are no lists and records: let each part be a column of its own, as in p(X, Y).",
    ),
    (r":?\s*\{", "", "An aggregate is written AGGREGATE(q(X, Y)) ON X WITH COUNT(Y) AS N."),
    (r"(<=|:=|:)", "_ARROW", "A rule is written head :- body."),
)
"""How other languages write something, the token that must be possible there, and how it is
written here."""

_DIRECTIVES = (
    (r"\.(input|output|printsize|limitsize)\b",
     "Facts come from outside by load or `zodiac run -d FILE`, and leave by query or export."),
    (r"\.(type|number_type|symbol_type)\b",
     "There are no types of your own. Columns are declared: .decl p(x: symbol, n: int)"),
    (r"\.(comp|init|override)\b",
     'There are no components. Rules are put into sets: add_rules(file, set="heat").'),
    (r"\.(functor|pragma|plan|lattice|domain)\b",
     "Of what begins with a period, there are only .decl and .window. Leave this out."),
)  # fmt: skip
"""Lines of Soufflé's, and how the same is done here."""


_ONE_ATOM = (
    "A negation is of one atom or comparison. Let a rule of its own derive what must not hold: "
    "both(X) :- a(X), X > 0. Then write not both(X)."
)


def _begins_with(rest: str, *signs: str) -> bool:
    return rest.lower().startswith(signs)


def _is_negated(source: Source, line: int, column: int) -> bool:
    """Whether a place is in parentheses that a negation opens."""
    depth = 0
    before = source.text[: source.offset(line, column)]
    for sign in reversed(list(_SIGN.finditer(before))):
        depth += {"(": -1, ")": 1}.get(sign["one"], 0)
        if depth < 0:
            return _NEGATION.search(before[: sign.start()]) is not None
        if sign["end"]:
            return False
    return False


_SIGN = re.compile(
    r'"(?:[^"\\\n]|\\.)*"|<[^\s<>"]*>|`[^`\n]*`|(?P<one>[()])|(?P<end>\.(?=\s)|:-|<-)'
)
_NEGATION = re.compile(r"(\bnot|!|~)\s*\Z", re.IGNORECASE)


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


def included_files(source: Source) -> Iterator[Problem]:
    """A problem for each line that would include another file: it would be a comment."""
    for found in _INCLUDE.finditer(source.text) if "#include" in source.text else ():
        if found["file"]:
            line, column = source.place(found.start("file"))
            span = Span(source, line, column, line, column + len(found["file"]))
            hint = "Add the other file by itself: add_rules takes one, `zodiac run -r` several."
            yield Problem(f"{found['file']} is a comment here, and includes nothing", span, hint)


_INCLUDE = re.compile(
    r'"(?:[^"\\\n]|\\.)*"|`[^`\n]*`|/\*.*?\*/|//[^\n]*'
    r'|(?:\A|(?<=\n))[ \t]*(?P<file>#include[ \t]*["<][^\n">]*[">]?)',
    re.DOTALL,
)
