"""What can be written at a place: predicates, columns, functions, variables, types and words.

A text is incomplete where somebody writes, so only its signs are looked at, from the beginning.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from zodiac_sql.editor.documents import Document
from zodiac_sql.editor.known import Schema
from zodiac_sql.editor.signatures import FUNCTIONS, of_function, of_predicate, spelled
from zodiac_sql.editor.stored import Database, Stored
from zodiac_sql.language.functions import AGGREGATES
from zodiac_sql.language.named_columns import known_columns
from zodiac_sql.language.prefixed import WELL_KNOWN_PREFIXES
from zodiac_sql.language.syntax import Type
from zodiac_sql.names import is_constraint


@dataclass(frozen=True, slots=True)
class Completion:
    """Something that can be written. `kind` is what it is, `detail` says more."""

    kind: str
    text: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Completions:
    """What can be written in the place of the text from `start` to the cursor."""

    start: int
    found: Sequence[Completion]


_WORDS = {
    "AGGREGATE": "AGGREGATE(body) ON X WITH COUNT(Y) AS N",
    "BIND": "BIND(expression AS X)",
    "COMP": "COMP(X, <, Y)",
    "not": "not p(X)",
}
_GROUPS = ("", "not", "and", "aggregate")
"""What stands before a parenthesis with literals in it."""


def completions(document: Document, offset: int, schema: Schema, database: Database) -> Completions:
    """What can be written at a place of a document, given what is known of predicates."""
    place = _Place.of(document.text, offset)
    if place.quoted or document.is_shacl:
        return Completions(offset, ())
    return Completions(place.start, tuple(_found(document, place, schema, database)))


def _found(
    document: Document, place: _Place, schema: Schema, database: Database
) -> Iterator[Completion]:
    if place.declares:
        if place.before.endswith(":"):
            yield from (Completion("type", type_.value) for type_ in Type)
        return
    if re.search(r"\bwith$", place.before, re.IGNORECASE):
        yield from _functions(map(str.upper, AGGREGATES))
        return
    yield from (Completion("variable", name) for name in place.variables)
    if re.search(r"\b(as|on)$", place.before, re.IGNORECASE):
        return
    stored, prefixes = database.read(), _prefixes(document.text)
    in_group = place.inside.lower() in _GROUPS
    if not in_group and place.before.endswith(("(", ",")):
        name = _meant(place.inside, prefixes)
        yield from _columns(schema, stored, name)
    yield from _functions(FUNCTIONS)
    if in_group:
        yield from (Completion("word", word, told) for word, told in _WORDS.items())
        yield from _predicates(schema, stored, prefixes)


_PREFIX = re.compile(r"@prefix\s+([\w-]*):\s*<([^<>\s]*)>")


def _prefixes(text: str) -> Mapping[str, str]:
    """The prefixes that a text declares. To parse it takes too long between two keys."""
    return {**WELL_KNOWN_PREFIXES, **dict(_PREFIX.findall(text))}


def _predicates(
    schema: Schema, stored: Mapping[str, Stored], prefixes: Mapping[str, str]
) -> Iterator[Completion]:
    for name, known in schema.items():
        if not is_constraint(name):
            detail = of_predicate(known, prefixes)
            yield Completion("predicate", spelled(name, prefixes), detail)
    for name, there in stored.items():
        if name not in schema:
            shown = spelled(name, prefixes)
            yield Completion("predicate", shown, f"{shown}({there.columns})")


def _columns(schema: Schema, stored: Mapping[str, Stored], name: str) -> Iterator[Completion]:
    """The columns of a predicate, as names of arguments."""
    if names := known_columns(schema).get(name):
        types = {column.name: column.meant for column in schema[name].columns}
        yield from (Completion("column", f"{one}: ", str(types.get(one) or "")) for one in names)
    elif there := stored.get(name):
        pairs = (column.partition(": ") for column in there.columns.split(", ") if column)
        yield from (Completion("column", f"{one}: ", type_) for one, _, type_ in pairs)


def _functions(names: Iterable[str]) -> Iterator[Completion]:
    for name in names:
        yield Completion("function", name, of_function(name.lower()) or "")


def _meant(written: str, prefixes: Mapping[str, str]) -> str:
    """The predicate that is written in front of a parenthesis."""
    if written[:1] in ("<", "`"):
        return written[1:-1]
    prefix, colon, local = written.partition(":")
    return prefixes[prefix] + local if colon and prefix in prefixes else written


_SIGNS = re.compile(
    r"""(?P<quoted>"(?:[^"\\\n]|\\.)*(?:"|\Z|(?=\n))|/\*.*?(?:\*/|\Z)|//[^\n]*
    |(?:(?<=\n)|\A)[ \t]*[%\#][^\n]*|\#[^\n]*|(?<=[,.(\-])[ \t]*%[^\n]*)
    |(?P<name>`[^`\n]*`|<[^\s<>"{}|\\^`]*>|\.decl\b|(?:[^\W\d][\w-]*)?:\w(?:[\w.-]*\w)?|[?$]?\w+)
    |(?P<end>\.(?=\s))|(?P<sign>:-|<-|\S)""",
    re.DOTALL | re.VERBOSE,
)
_BEGUN = re.compile(r"(?:[^\W\d][\w-]*)?:\w*\Z|[?$]?\w*\Z")
_NO_VARIABLES = frozenset({"and", "or", "not", "as", "on", "with", "else", "distinct", "_"})
_LONGEST = 300


@dataclass(slots=True)
class _Place:
    """What stands before a place: what is begun there begins at `start`.

    `before` is the text of the clause until there, `inside` the name in front of the parenthesis
    that is open, `variables` are those of the clause.
    """

    start: int
    before: str = ""
    inside: str = ""
    variables: Sequence[str] = ()
    declares: bool = False
    quoted: bool = False

    @classmethod
    def of(cls, text: str, offset: int) -> _Place:
        begun = _BEGUN.search(text, max(0, offset - _LONGEST), offset)
        place = cls(begun.start() if begun else offset)
        clause, last, opened = 0, "", [""]
        for sign in _SIGNS.finditer(text, 0, offset):
            if sign["quoted"]:
                place.quoted = sign.end() == offset and not _is_closed(sign[0])
                continue
            place.quoted = False
            if sign["end"]:
                clause, last, opened = sign.end(), "", [""]
            elif sign[0] == "(":
                opened.append(last)
            elif sign[0] == ")" and len(opened) > 1:
                opened.pop()
            elif sign[0] == ".decl":
                clause, opened = sign.start(), [""]
            last = sign[0] if sign["name"] else ""
        whole = _end_of(text, offset)
        place.before = text[clause : place.start].rstrip()
        place.inside = opened[-1]
        place.declares = place.before.lstrip().startswith(".decl") and len(opened) > 1
        signs = [sign for sign in _SIGNS.finditer(text, clause, whole) if sign["name"]]
        found = [
            sign[0]
            for sign in signs
            if not place.start <= sign.start() < offset
            and _is_variable(sign[0], text[sign.end() : sign.end() + 1])
        ]
        place.variables = [*dict.fromkeys(found)]
        return place


def _is_variable(word: str, after: str) -> bool:
    """Whether a word is a variable: those before parentheses are predicates and functions."""
    if word[0] in "?$":
        return True
    begins = word[0] == "_" or word[0].isupper() or word[0].istitle()
    return begins and after != "(" and word.lower() not in _NO_VARIABLES


def _is_closed(quoted: str) -> bool:
    """Whether a text or a comment has ended."""
    if quoted.startswith('"'):
        return len(quoted) > 1 and quoted.endswith('"')
    return quoted.startswith("/*") and quoted.endswith("*/") and len(quoted) > len("/*/")


def _end_of(text: str, offset: int) -> int:
    """Where the clause ends that a place is in."""
    found = next((sign for sign in _SIGNS.finditer(text, offset) if sign["end"]), None)
    return found.start() if found else len(text)
