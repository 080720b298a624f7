"""The tokens of a text, clause by clause, with what stands between them.

They are those that the parser itself has seen, because what a `%` is depends on where it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lark import Token as LarkToken
from lark import UnexpectedInput

from zodiac_sql.errors import ProgramError, Source
from zodiac_sql.language.parse import parse_what_can_be, parser_of_rules
from zodiac_sql.language.syntax_errors import half_a_character


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment. It is `alone` if its line begins with it, and `apart` after an empty line."""

    text: str
    alone: bool
    apart: bool

    @property
    def to_the_end(self) -> bool:
        """Whether it goes on to the end of its line."""
        return not self.text.startswith("/*")


@dataclass(frozen=True, slots=True)
class Token:
    """A token, with the comments before it. It is `alone` if there is a line break between it and
    what stands before it, and `apart` if there is an empty line.

    `kind` is what grammar.lark calls it, or the text of a token that has no name there.
    """

    kind: str
    text: str
    start: int
    comments: tuple[Comment, ...]
    alone: bool
    apart: bool

    @property
    def end(self) -> int:
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of each clause of a text, and the comments after the last one."""

    clauses: Sequence[Sequence[Token]]
    last: Sequence[Comment]


def tokens(text: str, name: str = "<rules>") -> Tokens:
    """The tokens of a text. Raises ProgramError if its syntax is wrong."""
    if half := half_a_character(Source(name, text)):
        raise ProgramError([half])
    try:
        reading: Any = parser_of_rules().parse_interactive(text, start="start")
        seen: list[LarkToken] = list(reading.iter_parse())
        tree = reading.feed_eof(seen[-1] if seen else None)
    except UnexpectedInput:
        raise ProgramError(parse_what_can_be(text, name)[1]) from None
    ends = [clause.meta.end_pos for clause in tree.children]
    found: list[list[Token]] = [[] for _ in ends]
    clause = place = 0
    for token in seen:
        start = token.start_pos or 0
        clause += start >= ends[clause]
        found[clause].append(_token(token, text[place:start], place == 0))
        place = found[clause][-1].end
    return Tokens(found, tuple(_comments(text[place:], place == 0))[:-1])


def _token(token: LarkToken, before: str, first: bool) -> Token:
    """A token, with what stands between it and the one before."""
    *comments, last = _comments(before, first)
    kind = str(token) if token.type.startswith("__ANON") else token.type
    return Token(kind, str(token), token.start_pos or 0, tuple(comments), last.alone, last.apart)


_PART = re.compile(r"/\*.*?\*/|(?://|[%#])[^\n\r]*|\r\n|\n|\r|.", re.DOTALL)


def _comments(gap: str, first: bool) -> Iterator[Comment]:
    """The comments in what stands between two tokens, and an empty one where the second begins.

    Nothing stands before the `first` token.
    """
    breaks = int(first)
    for part in _PART.findall(gap):
        if part[0] in "/%#":
            yield Comment(part.rstrip(), breaks > 0, breaks > 1)
            breaks = 0
        else:
            breaks += part[0] in "\r\n"
    yield Comment("", breaks > 0, breaks > 1)
