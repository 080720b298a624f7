"""Every exception that zodiac_sql raises on purpose.

    ZodiacError
    ├── ProgramError            rules refused; carries every Problem found
    ├── ConstraintError         a change would violate constraints
    ├── DataError               facts refused: malformed, or of the wrong type or arity
    ├── QueryError              a goal or an SQL statement that cannot be answered
    ├── EvaluationError         a rule or a query computes an impossible value: too large an integer
    ├── LimitError              a limit that the user set was reached: seconds, rows or iterations
    ├── FunctionError           a registered function clashes, or failed
    │   └── MissingFunctionError    rules of the file need one that is not registered
    ├── StreamError             an update of a stream is refused; the cause is one of the above
    ├── SparkError              Spark lacks something, refuses a rule, or failed
    └── StoreError              the database file
        ├── NewerFileError      written by a newer zodiac_sql
        ├── LockedError         another process is writing it
        ├── BusyError           another thread or call is using the knowledge base
        ├── ResourceError       out of memory or disk; nothing was changed
        └── PublishedError      a change is in the file, but something failed after that

    MissingFunctionWarning      rules of an opened file use a function that is not registered
    OtherMeaningWarning         rules of an old file mean something else now
    MissingLogWarning           a file was copied without its .wal, so it lacks the last changes
    OtherTableWarning           SQL reads what has the name of a predicate, but is something else

Whatever is raised, nothing was changed, because changes are published whole or not at all. There
are two exceptions: after a PublishedError the change is in the file; and in a stream, the updates
before the refused one are kept, because each was a change.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from traceback import FrameSummary


@dataclass(frozen=True)
class Source:
    """A text and its name for people: a path, or `<rules>` for text given in Python."""

    name: str
    text: str

    @cached_property
    def lines(self) -> list[str]:
        return self.text.split("\n")

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *accumulate(len(line) + 1 for line in self.lines)]

    def offset(self, line: int, column: int) -> int:
        """How many characters are before a place."""
        return self._starts[line - 1] + column - 1

    def place(self, offset: int) -> tuple[int, int]:
        """The line and the column of a place, given the number of characters before it."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a source. Lines and columns count from 1; the end is exclusive."""

    source: Source
    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return f"{self.source.name}:{self.line}:{self.column}"

    def excerpt(self) -> str:
        """The first line of the span, underlined; of a long line only the part around the span."""
        lines = self.source.lines
        text = lines[min(self.line, len(lines)) - 1].expandtabs(1)
        end = self.end_column if self.end_line == self.line else len(text) + 1
        cut = max(0, self.column - 1 - _SHOWN_BEFORE) if len(text) > _MOST_SHOWN else 0
        before, text = (
            "..." * bool(cut),
            text[cut : cut + _MOST_SHOWN] + "..." * (len(text) > cut + _MOST_SHOWN),
        )
        at = len(before) + self.column - 1 - cut
        width = max(1, min(end - self.column, len(before + text) - at))
        return f"    {before}{text}\n    {' ' * at}{'^' * width}"


_MOST_SHOWN, _SHOWN_BEFORE = 400, 60
"""A line or text with more characters is cut. Of a line, this many characters before the place in
question are kept."""


def shortened(text: object) -> str:
    """A text shortened for a message: it may be a million characters long."""
    shown = str(text)
    return shown if len(shown) <= _MOST_SHOWN else f"{shown[:_SHOWN_BEFORE]}..."


@dataclass(frozen=True, slots=True)
class Problem:
    """An error in a program: what is wrong, where, and what would be right."""

    message: str
    span: Span | None = None
    hint: str = ""

    def __str__(self) -> str:
        where = f"{self.span}: " if self.span else ""
        shown = f"\n{self.span.excerpt()}" if self.span else ""
        hint = f"\n    {_without_its_middle(self.hint)}" if self.hint else ""
        return f"{where}{_without_its_middle(self.message)}{shown}{hint}"


def _without_its_middle(said: str) -> str:
    """A sentence without its middle, if it quotes a long fact: its end says what is wrong."""
    if len(said) <= 2 * _MOST_SHOWN:
        return said
    return f"{said[:_MOST_SHOWN]} ... {said[-_MOST_SHOWN:]}"


class ZodiacError(Exception):
    """The root: catch this to catch everything zodiac_sql raises on purpose."""

    def __str__(self) -> str:
        """The message. Halves of surrogate pairs, which no terminal takes, are written \\ud800."""
        return super().__str__().encode("utf-8", "backslashreplace").decode()

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows: the lines of the user that led here, none of ours, and the
        message.
        """
        import traceback

        frames = traceback.extract_tb(self.__traceback__)
        ours = [place for place, frame in enumerate(frames) if _is_ours(frame.filename)]
        theirs = frames[: ours[0]] if ours else frames
        called = [f"line {one.lineno}: {one.line}" for one in theirs if not _is_shell(one)]
        return [*called, *f"{type(self).__name__}: {self}".split("\n")]


def _is_ours(filename: str) -> bool:
    """Whether a file is one of this package."""
    return filename.startswith(os.path.join(os.path.dirname(__file__), ""))


def _is_shell(frame: FrameSummary) -> bool:
    """Whether it is of IPython, which runs the cells."""
    called_by_it = (frame.line or "").startswith("get_ipython()")
    return called_by_it or f"{os.sep}IPython{os.sep}" in frame.filename


class ProgramError(ZodiacError):
    """Rules were refused. `problems` lists all errors, in the order of the text."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        said = [str(problem) for problem in self.problems[:_MOST_PROBLEMS]]
        more = len(self.problems) - _MOST_PROBLEMS
        super().__init__("\n".join([*said, f"... and {more:,} more"] if more > 0 else said))


_MOST_PROBLEMS = 20
"""At most this many problems are shown, because a file in another language has one in each line."""


class DataError(ZodiacError):
    """Facts were refused: a malformed line, a type or an arity that does not fit."""


class QueryError(ZodiacError):
    """A goal or an SQL statement that cannot be answered."""


class EvaluationError(ZodiacError):
    """A rule or a query computes an impossible value from the facts: an integer beyond 64 bits.
    Nothing was changed."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A constraint that a change violates: its name, text and place, and the first `rows` of
    `count`, each with the values of `variables`. `why` tells how the first of them came to be.
    `predicate` is the one that its violations are facts of, `first` are the values of the first.
    """

    constraint: str
    text: str
    place: str
    variables: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    count: int
    predicate: str
    first: tuple[object, ...] = field(default=(), repr=False)
    why: str = ""

    def __str__(self) -> str:
        times = "once" if self.count == 1 else f"{self.count:,} times"
        lines = [f"{self.place}: {self.constraint} is violated {times}: {self.text}"]
        for row in self.rows:
            pairs = zip(self.variables, row, strict=True)
            lines.append(", ".join(f"{name} = {shortened(value)}" for name, value in pairs))
        if self.rows and self.count > len(self.rows):
            lines.append(f"and {self.count - len(self.rows):,} more")
        return "\n    ".join([*lines, *self.why.splitlines()])


class ConstraintError(ZodiacError):
    """A change would violate constraints that held, or in more ways than before. Nothing was
    changed. `violations` has each constraint concerned.
    """

    def __init__(self, violations: Sequence[Violation], may_pass: bool = True) -> None:
        self.violations = tuple(violations)
        said = [str(violation) for violation in self.violations[:_MOST_PROBLEMS]]
        advice = " With check=False (--no-check), the change passes." if may_pass else ""
        said.append(f"Nothing was changed.{advice}")
        super().__init__("\n".join(said))


class LimitError(ZodiacError):
    """A change or a question came to a limit: `timeout`, `max_rows` or `max_iterations`. Nothing
    was changed.

    `limit` is the name of that limit. If rules were being evaluated, `hypernode` is theirs, `rules`
    are the names of those that grew, `rows` is how many facts they had derived, and `iterations`
    how often they had been applied.
    """

    def __init__(
        self,
        message: str,
        limit: str,
        hypernode: str | None = None,
        rules: Sequence[str] = (),
        rows: int = 0,
        iterations: int = 0,
    ) -> None:
        self.limit = limit
        self.hypernode = hypernode
        self.rules = tuple(rules)
        self.rows = rows
        self.iterations = iterations
        super().__init__(message)


class FunctionError(ZodiacError):
    """A function that rules use is not registered, clashes with another, or failed."""


class MissingFunctionError(FunctionError):
    """Rules in the file need a function that is not registered now. Nothing was changed."""


class StreamError(ZodiacError):
    """An update of a stream was refused, or the stream is another one than its name says.

    `update` is the number of the update, from 1. The `__cause__` tells what is wrong: a
    ProgramError, DataError, QueryError, EvaluationError or FunctionError. All earlier updates were
    applied, and nothing of this one.
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


class UnsettledError(StoreError):
    """A file was opened read-only whose last small changes are not in its tables yet.

    A process that was killed has left them in its journal. Whoever opens it without `read_only`
    brings them to the tables.
    """


class LockedError(StoreError):
    """Another process has the file open for writing."""


class BusyError(StoreError):
    """Another thread, process or call is using the knowledge base. Nothing was done."""


class ResourceError(StoreError):
    """Memory or disk ran out. Nothing was changed."""


class PublishedError(StoreError):
    """A change is in the file as a whole, but DuckDB failed after it was written there.

    There is no `Change` to tell what it did. The knowledge base has read the file again.
    """


class MissingFunctionWarning(UserWarning):
    """The rules of a file use a Python function that is not registered on this connection."""


class OtherMeaningWarning(UserWarning):
    """Rules of a file that was just opened mean something else than for the version that wrote it.

    Its facts are those that were derived then, until the next change.
    """


class MissingLogWarning(UserWarning):
    """A file that was just opened was copied while it was in use, without the .wal beside it.

    It is as it was at an earlier moment, which the text names.
    """


class OtherTableWarning(UserWarning):
    """SQL reads a table or view that has a predicate's name, and the predicate has another one.

    The table is the user's own, or the view is that of a predicate whose name differs in case.
    """
