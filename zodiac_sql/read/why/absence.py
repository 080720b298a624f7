"""Why facts do not hold: what each rule that could derive them lacks.

All of it is plain frozen data, with values as people see them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from zodiac_sql.language.prefixed import prefixed
from zodiac_sql.language.syntax import Value
from zodiac_sql.read.drawing.panel import printable
from zodiac_sql.read.why.show_json import typed
from zodiac_sql.read.why.show_outline import OutlineLimits
from zodiac_sql.read.why.show_parts import plain
from zodiac_sql.read.why.show_text import LIMITS, Row
from zodiac_sql.read.why.show_text import rows as explanation_rows

if TYPE_CHECKING:
    from zodiac_sql.read.why.proof import Explanation


Kind = Literal["no fact", "comparison", "blocked", "no group", "no value", "other value", "head"]
"""What fails in a rule: see Attempt."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A rule that could derive a fact, and what it lacks.

    `holds` is the largest part of its body that can hold at once, with the values put in; `values`
    are those of its variables. `literal` is the literal of the body that fails then, without
    values, and `fails` says it with them: a fact that is not there ("no reading(wt3, _)"), a
    comparison ("24.0 > 30 is false"), what cannot be compared or computed ("24.0 < n/a has no
    value"), a negated fact that is there ("blocked by maintenance(wt3)"), an aggregate without a
    group ("no group: avg(T) of reading(W, T) with W = wt3"), or a computed value that is another
    one.
    """

    rule: str
    text: str
    kind: Kind
    literal: str
    fails: str
    holds: tuple[str, ...] = ()
    values: tuple[tuple[str, Value], ...] = ()
    below: WhyNot | None = None
    """Why the fact that is not there does not hold, if that was asked for."""


@dataclass(frozen=True, slots=True)
class WhyNot:
    """Why a fact, or any fact like it, does not hold.

    If it does hold, `holds` explains why, and there are no attempts. `notes` say what was left out.
    """

    goal: str
    attempts: tuple[Attempt, ...]
    notes: tuple[str, ...] = ()
    holds: Explanation | None = None
    prefixes: Mapping[str, str] = field(default_factory=dict, compare=False)
    """Prefixes, each with its IRI: the text has them, to_dict has not."""

    def __str__(self) -> str:
        return "\n".join(map(str, rows(self, LIMITS)))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from zodiac_sql.read.why.show_absence import html_form

        return html_form(self)

    def to_dict(self) -> dict[str, Any]:
        """As plain data, for JSON: `goal`, `holds`, `notes`, and `attempts` with their fields.

        If the goal does hold, `why` is its explanation, as that gives it.
        """
        return {
            "goal": self.goal,
            "holds": self.holds is not None,
            "why": None if self.holds is None else self.holds.to_dict(),
            "notes": list(self.notes),
            "attempts": [
                {
                    "rule": one.rule,
                    "text": one.text,
                    "kind": one.kind,
                    "literal": one.literal,
                    "fails": one.fails,
                    "part_that_holds": list(one.holds),
                    "values": [{"variable": name, **typed(value)} for name, value in one.values],
                    "below": None if one.below is None else one.below.to_dict(),
                }
                for one in self.attempts
            ],
        }


def rows(told: WhyNot, limits: OutlineLimits) -> Iterator[Row]:
    """The tree from top to bottom."""
    if told.holds is not None:
        yield Row("", f"{_shown(told.goal, told)} holds:", kind="fact")
        yield from explanation_rows(told.holds, limits)
        return
    yield Row("", f"{_shown(told.goal, told)} does not hold", kind="fact")
    yield from _branches(told, "")


def _branches(told: WhyNot, guides: str) -> Iterator[Row]:
    """The attempts, each with what holds of it, what fails, and why that fails."""
    last = len(told.attempts) + len(told.notes) - 1
    for place, one in enumerate(told.attempts):
        branch, stem = ("└─ ", "   ") if place == last else ("├─ ", "│  ")
        yield Row(guides + branch, f"{one.rule}: {printable(plain(one.text))}", kind="rule")
        for text in one.holds:
            yield Row(f"{guides}{stem}   ", _shown(text, told), kind="test")
        yield Row(f"{guides}{stem}   ", f"✗ {_shown(one.fails, told)}", kind="absent")
        if one.below is not None:
            yield from _branches(one.below, f"{guides}{stem}   ")
    for place, note in enumerate(told.notes, len(told.attempts)):
        yield Row(guides + ("└─ " if place == last else "├─ "), plain(note))


def _shown(text: str, told: WhyNot) -> str:
    return plain(prefixed(text, told.prefixes))
