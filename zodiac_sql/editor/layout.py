"""A text of rules in one style. Only the space between tokens changes, so its meaning cannot.

A clause stands on one line if that has at most WIDTH characters. Else its head is followed by a
line for each literal, and of a literal that is too long, what stands in its longest parentheses has
a line for each part. A comment stays before and after the tokens where it stood.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from zodiac_sql.language.tokens import Comment, Token, Tokens, tokens

WIDTH = 100
_INDENT = "    "


def formatted(text: str, name: str = "<rules>") -> str:
    """A text in our style. Raises ProgramError if its syntax is wrong."""
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    text = text.removeprefix(mark)
    found = tokens(text, name)
    page = _Page()
    for clause in found.clauses:
        page.clause(clause)
    for comment in found.last:
        page.comment(comment, 0)
    new = "".join(f"{line}\n" for line in page.lines)
    if new != text and _told(tokens(new, name)) != _told(found):
        return f"{mark}{text}"  # better untidy than of another meaning
    return mark + (new.replace("\n", "\r\n") if "\r\n" in text else new)


def _told(found: Tokens) -> list[object]:
    """All that a text says: its tokens and comments, in order."""
    told: list[object] = []
    for token in (token for clause in found.clauses for token in clause):
        told += [*(_lines(comment) for comment in token.comments), (token.kind, token.text)]
    return [*told, *(_lines(comment) for comment in found.last)]


def _lines(comment: Comment) -> list[str]:
    return [line.rstrip() for line in re.split(r"\r\n|\n|\r", comment.text)]


class _Page:
    """The lines of the new text."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def clause(self, clause: Sequence[Token]) -> None:
        first, *others = clause
        self.before(first, 0)
        if first.apart and self.lines:
            self.lines.append("")
        head = next((n for n, token in enumerate(clause) if token.kind in _ARROWS), len(clause)) + 1
        if not any(token.comments for token in others) and len(_flat(clause)) <= WIDTH:
            self.lines.append(_flat(clause))
            return
        self.part(clause[:head], 0)
        for literal in _parts(clause[head:]):
            self.before(literal[0], 1)
            self.part(literal, 1)

    def comment(self, comment: Comment, level: int) -> None:
        """Write a comment on a line of its own, or at the end of the last one."""
        text = "\n".join(_lines(comment))
        if not comment.alone and self.lines:
            self.lines[-1] += f"{'  ' if self.lines[-1].strip() else ''}{text}"
            return
        if comment.apart and self.lines:
            self.lines.append("")
        self.lines.append(_INDENT * level + text)

    def before(self, token: Token, level: int) -> None:
        """Write the comments before a token."""
        for comment in token.comments:
            self.comment(comment, level)

    def part(self, part: Sequence[Token], level: int) -> None:
        """Write some tokens on lines of their own. What stands before the first is written."""
        remarked = any(token.comments for token in part[1:])
        split = None
        if remarked or len(_INDENT * level + _flat(part)) > WIDTH:
            split = _parentheses(part)
        if split is None:
            self.run(part, level)
            return
        start, end = split
        self.run(part[: start + 1], level)
        for inner in _parts(part[start + 1 : end]):
            self.before(inner[0], level + 1)
            self.part(inner, level + 1)
        self.before(part[end], level + 1)
        self.part(part[end:], level)

    def run(self, part: Sequence[Token], level: int) -> None:
        """Write some tokens on one line, as far as the comments between them allow."""
        self.lines.append(_INDENT * level + part[0].text)
        for number in range(1, len(part)):
            token = part[number]
            self.before(token, level + 1)
            if token.comments and token.alone:
                self.lines.append(_INDENT * (level + 1) + token.text)
            else:
                gap = " " if token.comments or _is_apart(part, number) else ""
                self.lines[-1] += gap + token.text


_ARROWS = frozenset({"_ARROW", "NEVER"})
_SEPARATORS = frozenset({"COMMA", "_AND", "∧", "AMPERSAND", "SEMICOLON"})
_ENDS = frozenset({
    "NAME", "VARIABLE", "NUMBER", "RPAR", "TEXT", "QNAME", "IRI", "BOOLEAN", "QUOTED", "LANGUAGE",
})  # fmt: skip
"""What an operand may end with: a sign after it has two operands."""
_CALLED = frozenset({
    "NAME", "VARIABLE", "QNAME", "IRI", "QUOTED", "_COMP", "_BIND", "_AGGREGATE"
})  # fmt: skip
"""What a parenthesis is attached to."""
_TIGHT = frozenset({"^^", "_TO"})
_NEGATIONS = frozenset({"BANG", "TILDE"})


def _flat(part: Sequence[Token]) -> str:
    """Tokens on one line."""
    return "".join(
        f"{' ' if number and _is_apart(part, number) else ''}{token.text}"
        for number, token in enumerate(part)
    )


def _is_apart(part: Sequence[Token], number: int) -> bool:
    """Whether a space belongs before a token that is not the first."""
    before, token = part[number - 1], part[number]
    if token.kind in ("RPAR", "COMMA", "COLON", "LANGUAGE") or before.kind == "LPAR":
        return False
    if token.kind == "DOT":
        return part[0].kind == "@prefix"  # as in Turtle
    if token.kind in _TIGHT or before.kind in _TIGHT:
        return False
    if token.kind == "LPAR" and before.kind in _CALLED:
        return False
    if before.kind in _NEGATIONS:
        return token.kind == "SIGN"  # `!-` begins a constraint
    signs = before.kind == "SIGN" and (number == 1 or part[number - 2].kind not in _ENDS)
    return not signs


def _parts(part: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """Tokens, cut after the separators that stand in no parentheses."""
    depth, start, grouping = 0, 0, False
    for number, token in enumerate(part):
        depth += (token.kind == "LPAR") - (token.kind == "RPAR")
        if depth == 0:
            grouping = token.kind == "_ON" or (grouping and token.kind != "_WITH")
            if token.kind in _SEPARATORS and not grouping:
                yield part[start : number + 1]
                start = number + 1
    if start < len(part):
        yield part[start:]


def _parentheses(part: Sequence[Token]) -> tuple[int, int] | None:
    """The places of the parentheses whose content is to be cut: the longest, or with comments.

    A parenthesis that closes what stands before `part` does not count.
    """
    found: list[tuple[bool, int, tuple[int, int]]] = []
    opened: list[int] = []
    for number, token in enumerate(part):
        if token.kind == "LPAR":
            opened.append(number)
        elif token.kind == "RPAR" and opened:
            start = opened.pop()
            inside = part[start + 1 : number + 1]
            if not opened and len(inside) > 1:
                remarked = any(one.comments for one in inside)
                found.append((remarked, len(_flat(inside)), (start, number)))
    return max(found, default=(False, 0, None))[2]
