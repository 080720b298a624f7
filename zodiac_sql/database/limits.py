"""The limits that users set, and the growth of rules that is measured against them.

    timeout           the seconds that a change or a question may take
    max_rows          the facts that one hypernode may derive in a change beyond those that it has,
                      and the rows of an answer
    max_iterations    how often the rules of one hypernode may be applied in a change

A rule such as `n(Y) :- n(X), Y = X + 1` never ends, so where a limit ends it, the error tells which
rule grew, how far and how fast. Without limits nothing is measured.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, NoReturn, TypedDict

from zodiac_sql.errors import LimitError, shortened

LAST = 10
"""The speed of growth is told of this many iterations, the last ones."""

_MOST_RULES = 3
"""At most this many rules are named."""


class Limiting(TypedDict, total=False):
    """The limits as verbs take them. None: as `connect` was told."""

    timeout: float | None
    max_rows: int | None
    max_iterations: int | None


def limits_of(given: Mapping[str, Any]) -> Limiting:
    """The limits among the arguments of a verb."""
    return {name: given[name] for name in _NAMES if name in given}  # type: ignore[return-value]


_NAMES = tuple(Limiting.__annotations__)


def require_known(given: Iterable[str], known: Collection[str]) -> None:
    """Raise TypeError for a named argument that a verb does not have.

    Verbs take their limits as named arguments of any name, so Python does not look.
    """
    for name in given:
        if name not in known and name not in _NAMES:
            import difflib  # late: a device pays for each import

            close = difflib.get_close_matches(name, (*known, *_NAMES), n=1)
            hint = f"; did you mean {close[0]}?" if close else ""
            raise TypeError(f"there is no argument {name!r} here{hint}")


LONGEST = 100 * 365 * 86_400.0
"""A timeout of more seconds than this, a century, is none."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a knowledge base or of one verb. None: no limit."""

    timeout: float | None = None
    max_rows: int | None = None
    max_iterations: int | None = None

    def __post_init__(self) -> None:
        """Raise ValueError for a limit that is no positive number."""
        for one in fields(self):
            value = getattr(self, one.name)
            whole = one.name != "timeout"
            if value is not None and (
                isinstance(value, bool)
                or not isinstance(value, int if whole else int | float)
                or not value > 0
            ):
                kind = "a whole number above 0" if whole else "a number of seconds above 0"
                raise ValueError(f"{one.name} is {kind}, or None; not {value!r}")

    def __bool__(self) -> bool:
        return any(getattr(self, one.name) is not None for one in fields(self))

    def with_(self, given: Limiting) -> Limits:
        """These limits, but where a verb has its own."""
        own: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        return replace(self, **own) if own else self


NO_LIMITS = Limits()


@dataclass(slots=True)
class Growth:
    """What the rules of one hypernode have derived so far in a change."""

    hypernode: str
    rules: Sequence[tuple[str, str]]
    """Their names and texts."""
    computes: bool
    """Whether one of them is recursive and computes values, so that they may never end."""
    before: int = 0
    """The facts that they had derived before: a change may derive these once more."""
    started: float = field(default_factory=time.monotonic)
    rows: int = 0
    iterations: int = 0
    by_rules: Counter[tuple[str, ...]] = field(default_factory=Counter)
    last: deque[tuple[float, int, int]] = field(default_factory=lambda: deque(maxlen=LAST + 1))
    """When the last iterations ended, and the iterations and rows by then."""

    def __post_init__(self) -> None:
        self.last.append((self.started, 0, 0))

    def found(self, rules: Sequence[str], rows: int) -> None:
        """Note how many facts some of the rules have derived."""
        self.rows += rows
        self.by_rules[tuple(dict.fromkeys(rules))] += rows

    def iterated(self, times: int) -> None:
        """Note that so many iterations have ended."""
        self.iterations += times
        self.last.append((time.monotonic(), self.iterations, self.rows))

    def begins_anew(self) -> None:
        """Forget what was derived: the rules are evaluated from scratch."""
        self.rows = self.iterations = 0
        self.by_rules.clear()
        self.last.clear()
        self.last.append((time.monotonic(), 0, 0))

    @property
    def grown(self) -> tuple[str, ...]:
        """The names of the rules that have derived most: no others have derived twice as much."""
        most = max(self.by_rules.values(), default=0)
        grown = {name for some, rows in self.by_rules.items() if 2 * rows >= most for name in some}
        return tuple(name for name, _ in self.rules if name in grown or not grown)

    def told(self) -> str:
        """How far the rules have come, and how fast."""
        names = self.grown
        texts = dict(self.rules)
        shown = ", ".join(
            f"{name}: {shortened(texts[name])}" if texts.get(name) else name
            for name in names[:_MOST_RULES]
        )
        more = f" and {len(names) - _MOST_RULES} more" if len(names) > _MOST_RULES else ""
        which = "rule" if len(names) == 1 else "rules"
        now = time.monotonic()
        said = f"It was evaluating {which} {shown}{more} (hypernode {self.hypernode})"
        if not self.iterations:
            return f"{said}, in one statement for {now - self.started:.1f} s."
        then, iterations, rows = self.last[0]
        ended = self.last[-1][0]
        seconds = max(ended - then, 1e-6)
        said += f": {_many(self.rows, 'row')} after {_many(self.iterations, 'iteration')}"
        said += f" in {ended - self.started:.1f} s, {_many(self.rows - rows, 'row')} in the last "
        done = self.iterations - iterations
        said += f"{done:,} of these" if done > 1 else "of these"
        said += f" ({(self.rows - rows) / seconds:,.0f} a second)"
        # Many iterations may be one statement, which tells nothing before its end.
        since = now - ended
        return f"{said}; what follows has taken {since:.1f} s." if since >= 0.1 else f"{said}."


def _many(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


@dataclass(slots=True)
class Bounds:
    """The limits of one change or one question, while it runs."""

    limits: Limits
    changes: bool
    """Whether it is a change or a preview; else it is a question."""
    started: float = field(default_factory=time.monotonic)
    growth: Growth | None = None
    over: bool = False
    """Whether the limits are over: one was reached, or the change is being written."""
    reached: LimitError | None = None
    """The error that said so."""
    cancelled: bool = False
    """Whether nobody waits for it any more (serve/)."""

    @property
    def deadline(self) -> float | None:
        if self.cancelled and not self.over:
            return self.started
        timeout = self.limits.timeout
        if timeout is None or timeout > LONGEST or self.over:
            return None
        return self.started + timeout

    def check_time(self) -> None:
        """Raise LimitError if time is up."""
        deadline = self.deadline
        if deadline is not None and time.monotonic() >= deadline:
            self.time_is_up()

    def time_is_up(self) -> NoReturn:
        what = "the change" if self.changes else "the answer"
        if self.cancelled:
            self._reached("timeout", f"nobody waits for {what} any more")
        self._reached("timeout", f"{what} takes longer than {self.limits.timeout:g} s")

    def found(self, rules: Sequence[str], rows: int) -> None:
        """Note that rules have derived some facts. Raises LimitError."""
        if self.over:
            return
        if self.growth is not None:
            self.growth.found(rules, rows)
            rows = self.growth.rows
        self._check_rows(rows)

    def found_at_once(self, found: Mapping[tuple[str, ...], int], iterations: int) -> None:
        """Note how many facts some rules each have derived in iterations of one statement. There
        will be another iteration. Raises LimitError.
        """
        if self.growth is None or self.over:
            return
        for rules, rows in found.items():
            self.growth.found(rules, rows)
        if iterations:
            self.growth.iterated(iterations)
        self._check_rows(self.growth.rows)
        self._check_iterations()

    def _check_rows(self, rows: int) -> None:
        most = self.most_rows
        if most is not None and rows > most:
            self._reached("max_rows", f"rules derive more than {self._most_said()}")

    def _most_said(self) -> str:
        said = _many(self.limits.max_rows or 0, "row")
        before = self.growth.before if self.growth else 0
        return f"{said} beyond the {before:,} that they had derived before" if before else said

    @property
    def most_rows(self) -> int | None:
        """The most rows that rules may derive; None if there is no limit."""
        if self.over or self.limits.max_rows is None:
            return None
        return self.limits.max_rows + (self.growth.before if self.growth else 0)

    @property
    def rows_left(self) -> int | None:
        """How many rows rules may still derive; None if there is no limit."""
        most = self.most_rows
        return None if most is None else max(most - (self.growth.rows if self.growth else 0), 0)

    @property
    def iterations_left(self) -> int | None:
        """How many iterations may still end; None if there is no limit."""
        most = self.limits.max_iterations
        if most is None or self.over or self.growth is None:
            return None
        return max(most - self.growth.iterations, 1)

    def iterated(self) -> None:
        """Note that an iteration has ended; there will be another one. Raises LimitError."""
        if self.growth is None or self.over:
            return
        self.growth.iterated(1)
        self._check_iterations()

    def _check_iterations(self) -> None:
        most = self.limits.max_iterations
        if most is not None and self.growth is not None and self.growth.iterations >= most:
            self._reached("max_iterations", f"rules need more than {_many(most, 'iteration')}")

    def too_many_rows(self) -> NoReturn:
        """Raise LimitError: an answer has too many rows."""
        said = f"the answer has more than {_many(self.limits.max_rows or 0, 'row')}"
        self._reached("max_rows", said)

    def _reached(self, limit: str, said: str) -> NoReturn:
        self.over = True
        growth = self.growth
        parts = [f"{said} ({limit})." + " Nothing was changed." * self.changes]
        hint = f"A larger {limit} allows it more."
        if growth is not None:
            parts.append(growth.told())
            if growth.computes:
                hint = (
                    "A rule that computes new values from its own never ends, unless a comparison "
                    f"bounds them, such as Y < 1000. If it does end, it needs a larger {limit}."
                )
        said = f"{' '.join(parts)}\n    {hint}"
        if growth is None:
            self.reached = LimitError(said, limit)
        else:
            self.reached = LimitError(
                said, limit, growth.hypernode, growth.grown, growth.rows, growth.iterations
            )
        raise self.reached
