"""Where parts of a parse tree stand in the text, and the problems that are found there."""

from __future__ import annotations

from lark import Token, Tree

from zodiac_sql.errors import Problem, Source, Span
from zodiac_sql.language.syntax import Term


class Places:
    """The places and problems of a source. `line` and `column` say how much of it stands before the
    text that is read.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.line = self.column = 0
        self.problems: list[Problem] = []

    def _span(self, tree: Tree[Token]) -> Span:
        meta = tree.meta
        return self._place(meta.line, meta.column, meta.end_line, meta.end_column)

    def _token_span(self, token: Token) -> Span:
        return self._place(
            token.line or 1, token.column or 1, token.end_line or 1, token.end_column or 1
        )

    def _inside(self, token: Token, place: int, width: int) -> Span:
        """The place of a part of a token that stands on one line."""
        line, column = token.line or 1, (token.column or 1) + place
        return self._place(line, column, line, column + width)

    def _place(self, line: int, column: int, end_line: int, end_column: int) -> Span:
        first = self.column
        return Span(
            self.source,
            line + self.line, column + (first if line == 1 else 0),
            end_line + self.line, end_column + (first if end_line == 1 else 0),
        )  # fmt: skip

    def _problem(self, message: str, where: Token | Span | Term, hint: str = "") -> None:
        if isinstance(where, Token):
            span: Span | None = self._token_span(where)
        else:
            span = where if isinstance(where, Span) else where.span
        self.problems.append(Problem(message, span, hint))
