"""What is wrong with a text, and what looks like a mistake: what `zodiac check` says of it.

A predicate of which the text says nothing is passed over if a file beside it knows it, or the
database that is named.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import IntEnum

from zodiac_sql.editor.documents import Document
from zodiac_sql.editor.positions import offsets
from zodiac_sql.errors import Problem, ZodiacError
from zodiac_sql.language.mentions import Kind
from zodiac_sql.program.check_files import check_programs


class Severity(IntEnum):
    """How bad something is, by the numbers of the protocol."""

    ERROR = 1
    WARNING = 2
    INFORMATION = 3


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """Something to be said of a part of a text."""

    start: int
    end: int
    severity: Severity
    message: str


def diagnose(document: Document, elsewhere: Collection[str]) -> list[Diagnostic]:
    """What is to be said of a document. The predicates `elsewhere` are known, too."""
    try:
        checked = check_programs([document.program], document.problems)
    except ZodiacError as error:
        return [Diagnostic(0, len(document.text), Severity.ERROR, str(error))]
    doubts = [one for one in checked.doubts if not _is_known(one, document, elsewhere)]
    return [
        *(_told(problem, Severity.ERROR) for problem in checked.errors),
        *(_told(problem, Severity.WARNING) for problem in doubts),
        *(_told(problem, Severity.INFORMATION) for problem in checked.remarks),
    ]


def _is_known(problem: Problem, document: Document, elsewhere: Collection[str]) -> bool:
    """Whether a doubt is about a predicate that is known elsewhere."""
    if problem.span is None:
        return False
    start, _ = offsets(problem.span)
    return any(
        name.start == start and name.kind is Kind.PREDICATE and name.name in elsewhere
        for name in document.mentions.names
    )


def _told(problem: Problem, severity: Severity) -> Diagnostic:
    start, end = offsets(problem.span) if problem.span else (0, 0)
    message = f"{problem.message}\n{problem.hint}" if problem.hint else problem.message
    return Diagnostic(start, end, severity, message)
