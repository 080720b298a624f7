"""What the draft of SHACL 1.2 Rules, or SPARQL, has, and cannot be read here: it is named."""

from __future__ import annotations

import re
from dataclasses import replace

from zodiac_sql.errors import Problem, Source, Span


def named(problem: Problem, source: Source) -> Problem:
    """A problem of syntax that says what was found, if that is known."""
    if problem.span is None:
        return problem
    at = source.offset(problem.span.line, problem.span.column)
    before, rest = source.text[max(0, at - _LOOKED_AT) : at], source.text[at:]
    for ending, beginning, message, hint in _CONSTRUCTS:
        found = re.match(beginning, rest, re.IGNORECASE)
        if found and re.search(ending, before, re.IGNORECASE):
            span = _widened(problem.span, len(found[0]))
            return Problem(message.format(found[0]), span, hint)
    return replace(problem, hint=_hint(rest) or problem.hint)


_LOOKED_AT = 200
"""So many characters before the place are looked at."""

_DATA_ONLY = (
    "It would see only what is stated, and nothing that rules derive. Leave DATA out, if what is "
    "derived may count, too; or state the facts with a property that no rule derives."
)

_CONSTRUCTS = (
    (r"\bWHERE\s*\Z", r"DATA\b", "WHERE DATA is not supported", _DATA_ONLY),
    (r"\bNOT\s*\Z", r"DATA\b", "NOT DATA is not supported", _DATA_ONLY),
    (
        r"\bRULE\s*\Z", r"<[^\s<>]*>|[^\s{}<>]*:[^\s{}]*", "a name of a rule, {}, is not supported",
        "Leave it out: rules get names here, r1, r2 and so on, which kb.rules() lists.",
    ),
    (
        r"@[A-Za-z0-9-]+\Z", r"--?[A-Za-z]+", "a base direction, {}, is not supported",
        'Leave it out: "text"@en has a language alone.',
    ),
    (
        r"", r"<(?![<\s=])[^<>\n?$]*>", "{} is no IRI",
        'An IRI has no spaces, and none of " { } | \\ ^ `: they are written as %20 and the like.',
    ),
)  # fmt: skip
"""What stands before the place, what stands there, and what is said of it."""

_HINTS = {
    "<": "Triple terms and reification, `<<..>>`, are not supported.",
    "~": "Reification, `~`, is not supported.",
    "{": "Annotations, `{|..|}`, are not supported.",
    "(": "Lists, `( .. )`, are not supported as nodes: write their triples.",
    "*": "A path has `/`, `^` and parentheses; for more steps, let a rule derive them.",
    "+": "A path has `/`, `^` and parentheses; for more steps, let a rule derive them.",
    "|": "A path has `/`, `^` and parentheses; for alternatives, write several rules.",
}

_OF_SPARQL = ("NOT", "EXISTS", "OPTIONAL", "UNION", "MINUS", "VALUES", "GRAPH", "SERVICE", "SELECT")
"""Words that the draft has not, or not where they were found."""


def _widened(span: Span, width: int) -> Span:
    return replace(span, end_line=span.line, end_column=span.column + width)


def _hint(rest: str) -> str:
    found = re.match(r"[A-Za-z]+|.?", rest, re.DOTALL)
    word = found[0].upper() if found else ""
    if word in _OF_SPARQL:
        return f"{word} is of SPARQL. A body has triples, FILTER, NOT {{ .. }} and SET."
    return _HINTS.get(word[:1], "")
