"""The parts of a text, for an editor's outline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from zodiac_sql.editor.documents import Document
from zodiac_sql.language.mentions import Kind, Mention, Role
from zodiac_sql.language.written import on_one_line

_LONGEST = 80


@dataclass(frozen=True, slots=True)
class Part:
    """A rule, a constraint, a declaration, a window, a prefix, or the first fact of a predicate.

    `start` and `end` are those of the clause, `name_start` and `name_end` of what gives its name.
    """

    kind: str
    name: str
    detail: str
    start: int
    end: int
    name_start: int
    name_end: int


def outline(document: Document) -> Iterator[Part]:
    """The parts of a document, in their order."""
    names: dict[int, list[Mention]] = {}
    for name in document.mentions.names:
        names.setdefault(name.clause, []).append(name)
    stated = Counter(n.name for n in document.predicates() if n.role is Role.STATED)
    for number, clause in enumerate(document.mentions.clauses):
        first = next(iter(names.get(number, ())), None)
        text = on_one_line(document.text[clause.start : clause.end])
        detail = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
        if clause.kind == "fact" and first is not None:
            count = stated.pop(first.name, 0)
            if not count:
                continue
            detail = f"{count:,} fact{'' if count == 1 else 's'}"
        start, end = (first.start, first.end) if first else (clause.start, clause.end)
        shown = document.text[start:end] if first and _names(first) else detail
        yield Part(clause.kind, shown, detail, clause.start, clause.end, start, end)


def _names(first: Mention) -> bool:
    """Whether the first name in a clause is its own."""
    return first.kind is Kind.LABEL or first.role is not Role.READ
