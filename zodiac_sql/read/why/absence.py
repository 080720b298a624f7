"""Why facts do not hold: what each rule that could derive them lacks.

All of it is plain frozen data, with values as people see them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from zodiac_sql.language.syntax import Value

if TYPE_CHECKING:
    from zodiac_sql.read.why.proof import Explanation


Kind = Literal["no fact", "comparison", "blocked", "no group", "no value", "other value", "head"]
"""What fails in a rule: see Attempt."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A rule that could derive a fact, and what it lacks.

    `holds` is the largest part of its body that can hold at once, with the values put in; `values`
    are those of its variables. `fails` says what fails then, and `literal` is that literal of the
    body as written: a fact that is not there ("no reading(wt3, _)"), a comparison ("24.0 > 30 is
    false"), a negated fact that is there ("blocked by maintenance(wt3)"), an aggregate without a
    group, or a computed value that is another one.
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

    def __str__(self) -> str:
        return "\n".join(_lines(self))

    __repr__ = __str__

    def to_dict(self) -> dict[str, Any]:
        """As plain data, for JSON: `goal`, `holds`, `notes` and `attempts` with their fields."""
        return {
            "goal": self.goal,
            "holds": self.holds is not None,
            "notes": list(self.notes),
            "attempts": [
                {
                    "rule": one.rule,
                    "text": one.text,
                    "kind": one.kind,
                    "literal": one.literal,
                    "fails": one.fails,
                    "part_that_holds": list(one.holds),
                    "below": None if one.below is None else one.below.to_dict(),
                }
                for one in self.attempts
            ],
        }


def _lines(told: WhyNot) -> Iterator[str]:
    if told.holds is not None:
        yield f"{told.goal} holds:"
        yield str(told.holds)
        return
    yield f"{told.goal} does not hold"
    rows: list[tuple[str, list[str]]] = []
    for one in told.attempts:
        rows.append((f"{one.rule}: {one.text}", [*one.holds, f"✗ {one.fails}"]))
    for (head, below), one in zip(rows, told.attempts, strict=True):
        yield f"├─ {head}"
        for line in below:
            yield f"│    {line}"
        if one.below is not None:
            for line in _lines(one.below):
                yield f"│      {line}"
    for note in told.notes:
        yield f"└─ {note}"
