"""An explanation as the lines of an outline, each with its depth: what text and HTML show.

A part that several facts share stands where it comes first, and is referred to afterwards, so
cycles end by themselves. What is too deep, too wide or too much is folded: a line says how much
that is, and how to see it. Nothing here recurs, as proofs can be deep.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from zodiac_sql.read.why.show_parts import (
    above,
    ask,
    backwards,
    by,
    cut,
    listed,
    shown,
    size_below,
    unlisted,
)

if TYPE_CHECKING:
    from zodiac_sql.read.why.proof import Explanation, Fact, Step

Kind = Literal["fact", "step", "absent", "group", "member", "bound", "test", "fold"]


@dataclass(frozen=True, slots=True)
class OutlineLimits:
    """How much is shown: facts with what they rest on, levels, and entries of one kind in a row.

    `ask` says what to type for what is not shown.
    """

    facts: int
    depth: int
    wide: int
    ask: Callable[..., str] = ask


@dataclass(frozen=True, slots=True)
class Line:
    """A line of an outline: a fact, or something that a step says besides facts.

    `by` is the rule that derives a fact, if it is shown here by one step only.
    `explicit` is for facts that are explicit, which the note says, too.
    """

    depth: int
    kind: Kind
    text: str
    note: str = ""
    by: str = ""
    explicit: bool = False


@dataclass(frozen=True, slots=True)
class _Place:
    """A fact that is to be shown; what stands below it depends on what was shown before."""

    depth: int
    fact: Fact
    note: str = ""


def outline(explanation: Explanation, limits: OutlineLimits) -> Iterator[Line]:
    """The lines from top to bottom."""
    writer = _Writer(explanation, limits, _nearest(explanation, limits))
    entries: list[_Place | Line] = [
        *(_Place(0, goal, _bound(goal, explanation)) for goal in explanation.goals),
        *(Line(0, "fold", f"note: {note}") for note in explanation.notes),
    ]
    waiting = entries[::-1]
    while waiting:
        entry = waiting.pop()
        if isinstance(entry, Line):
            yield entry
            continue
        line, below = writer.place(entry)
        yield line
        waiting += reversed(below)


def _bound(goal: Fact, explanation: Explanation) -> str:
    """What is said of a goal that was asked for with variables."""
    values = explanation.bound(goal).items()
    texts = (f"{name} = {shown(value, explanation)}" for name, value in values)
    return f"with {', '.join(texts)}" if values else ""


def _nearest(explanation: Explanation, limits: OutlineLimits) -> frozenset[Fact]:
    """The facts whose steps are shown: those nearest to the goals."""
    found: dict[Fact, None] = {}
    waiting = deque(explanation.goals)
    while waiting and len(found) < limits.facts:
        fact = waiting.popleft()
        if fact in found or fact not in explanation.derivations:
            continue
        found[fact] = None
        for step in explanation.derivations[fact][: limits.wide]:
            waiting.extend(above(step, explanation)[: limits.wide])
    return frozenset(found)


@dataclass(slots=True)
class _Writer:
    """Knows what was shown already, and the facts that the present line is below."""

    explanation: Explanation
    limits: OutlineLimits
    opened: frozenset[Fact]
    shown: set[Fact] = field(default_factory=set)
    path: list[tuple[int, Fact]] = field(default_factory=list)

    def place(self, entry: _Place) -> tuple[Line, list[_Place | Line]]:
        """The line of a fact, and the entries below it."""
        fact, depth = entry.fact, entry.depth
        while self.path and self.path[-1][0] >= depth:
            self.path.pop()
        explicit = fact in self.explanation.explicit
        marks = [entry.note, "explicit" if explicit else "", self._passed(fact)]
        steps = self.explanation.derivations.get(fact, ())
        marks.append(self._instead(fact, depth, steps))
        below: list[_Place | Line] = []
        rule = ""
        if steps and not marks[-1]:
            self.shown.add(fact)
            self.path.append((depth, fact))
            rule, below = self._opened(fact, depth, steps)
        note = ", ".join(filter(None, marks))
        return Line(depth, "fact", cut(self._shown(fact)), note, rule, explicit), below

    def _passed(self, fact: Fact) -> str:
        """What is said of a value that is not the best of its group any more."""
        now = self.explanation.passed.get(fact)
        return "" if now is None else f"until {self._shown(now)} came"

    def _instead(self, fact: Fact, depth: int, steps: tuple[Step, ...]) -> str:
        """What is said of a fact instead of its steps, if they are not to be shown here."""
        if not steps:
            explicit = fact in self.explanation.explicit
            return "" if explicit else f"not explained here: {self._ask(fact)}"
        if any(fact == other for _, other in self.path):
            return "a cycle, see above"
        if fact in self.shown:
            return "see above"
        if fact not in self.opened or depth >= self.limits.depth:
            return f"… {size_below(fact, self.explanation)} below: {self._ask(fact)}"
        return ""

    def _opened(
        self, fact: Fact, depth: int, steps: tuple[Step, ...]
    ) -> tuple[str, list[_Place | Line]]:
        """The rule of a fact and what stands below; several derivations are numbered there."""
        more = fact in self.explanation.cut
        if len(steps) == 1 and not more:
            return cut(by(steps[0])), self._parts(fact, depth + 1, steps[0])
        entries: list[_Place | Line] = []
        for number, step in enumerate(steps[: self.limits.wide], 1):
            entries.append(Line(depth + 1, "step", cut(f"{number}. {by(step)}")))
            entries += self._parts(fact, depth + 2, step)
        entries += self._rest(fact, depth + 1, len(steps), "derivations")
        if more:
            text = "… there are more derivations: a higher limit shows them"
            entries.append(Line(depth + 1, "fold", text))
        return "", entries

    def _parts(self, fact: Fact, depth: int, step: Step) -> list[_Place | Line]:
        """What a step rests on: facts, absent facts, groups, values, comparisons."""
        wide = self.limits.wide
        turned = backwards(fact, step)
        entries: list[_Place | Line] = [
            _Place(depth, use, "backwards" if place in turned else "")
            for place, use in enumerate(step.uses[:wide])
        ]
        entries += self._rest(fact, depth, len(step.uses), "facts")
        for absent in step.absent[:wide]:
            entries.append(Line(depth, "absent", cut(self._shown(absent)), "absent"))
        entries += self._rest(fact, depth, len(step.absent), "absent")
        entries += self._groups(depth, step)
        for bound in step.bindings:
            entries.append(Line(depth, "bound", cut(self._shown(bound))))
        for test in step.tests:
            rule = "" if test.rule_text == test.text else cut(self._shown(test.rule_text))
            entries.append(Line(depth, "test", cut(self._shown(test)), rule))
        return entries

    def _rest(self, fact: Fact, depth: int, count: int, what: str) -> Iterator[Line]:
        """What is said if a step has more of something than is shown."""
        if count > self.limits.wide:
            text = f"… {count - self.limits.wide:,} more {what}"
            yield Line(depth, "fold", text, f"all of them: {self._ask(fact, whole=True)}")

    def _shown(self, part: object) -> str:
        return shown(part, self.explanation)

    def _ask(self, fact: Fact, whole: bool = False) -> str:
        return self.limits.ask(fact, self.explanation, whole)

    def _groups(self, depth: int, step: Step) -> Iterator[_Place | Line]:
        """The groups of a step, each with its first solutions, and what explains those."""
        for group in step.groups:
            yield Line(depth, "group", cut(self._shown(group)))
            members = group.members[: self.limits.wide]
            for member in members:
                yield Line(depth + 1, "member", cut(self._shown(listed(member))))
                inside = (fact for fact in member if fact in self.explanation.derivations)
                yield from (_Place(depth + 2, fact) for fact in inside)
            if rest := unlisted(group, len(members)):
                yield Line(depth + 1, "fold", rest)
