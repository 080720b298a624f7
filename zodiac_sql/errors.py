"""Every exception that zodiac_sql raises on purpose.

    ZodiacError
    ├── ProgramError            rules refused; carries every Problem found
    ├── DataError               facts refused: malformed, or of the wrong type or arity
    ├── QueryError              a goal or an SQL statement that cannot be answered
    ├── FunctionError           a registered function is missing, clashes, or failed
    ├── StreamError             an update of a stream is refused; the cause is one of the above
    ├── SparkError              Spark lacks something, refuses a rule, or failed
    └── StoreError              the database file
        ├── NewerFileError      written by a newer zodiac_sql
        ├── LockedError         another process is writing it
        └── ResourceError       out of memory or disk; nothing was changed

    MissingFunctionWarning      a file was opened whose rules use a function not registered now

Whatever is raised, nothing was changed: changes are published whole or not at all. (Of a stream,
the updates before the one refused are kept: each was a change.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Source:
    """A text and the name a person knows it by: a path, or `<rules>` for text given in Python."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Span:
    """Where something stands in a source. Lines and columns count from 1; the end is exclusive."""

    source: Source
    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return f"{self.source.name}:{self.line}:{self.column}"

    def excerpt(self) -> str:
        """The first line of the span, underlined."""
        lines = self.source.text.split("\n")
        text = lines[min(self.line, len(lines)) - 1].expandtabs(1)
        end = self.end_column if self.end_line == self.line else len(text) + 1
        width = max(1, end - self.column)
        return f"    {text}\n    {' ' * (self.column - 1)}{'^' * width}"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with a program: what, where, and what would be right."""

    message: str
    span: Span | None = None
    hint: str = ""

    def __str__(self) -> str:
        where = f"{self.span}: " if self.span else ""
        shown = f"\n{self.span.excerpt()}" if self.span else ""
        hint = f"\n    {self.hint}" if self.hint else ""
        return f"{where}{self.message}{shown}{hint}"


class ZodiacError(Exception):
    """The root: catch this to catch everything zodiac_sql raises on purpose."""


class ProgramError(ZodiacError):
    """Rules were refused. `problems` lists all that is wrong, in the order of the text."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class DataError(ZodiacError):
    """Facts were refused: a malformed line, a type or an arity that does not fit."""


class QueryError(ZodiacError):
    """A goal or an SQL statement that cannot be answered."""


class FunctionError(ZodiacError):
    """A function that rules use is not registered, clashes with another, or failed."""


class StreamError(ZodiacError):
    """An update of a stream was refused, or the stream is another one than its name says.

    `update` is its number, from 1. What is wrong with it is the `__cause__`: a ProgramError,
    DataError, QueryError or FunctionError. All updates before it were applied, and nothing of it.
    """

    def __init__(self, message: str, update: int) -> None:
        self.update = update
        super().__init__(message)


class SparkError(ZodiacError):
    """Java, the extra or a version is missing; a rule cannot run on Spark; or Spark has failed."""


class StoreError(ZodiacError):
    """The database file cannot be opened, read or written."""


class NewerFileError(StoreError):
    """The file was written by a newer zodiac_sql than this one."""


class LockedError(StoreError):
    """Another process has the file open for writing."""


class ResourceError(StoreError):
    """Memory or disk ran out. Nothing was changed."""


class MissingFunctionWarning(UserWarning):
    """The rules of a file use a Python function that is not registered on this connection."""
