"""An explanation as boxes and arrows: what all pictures of it share, wherever the boxes stand.

Facts and instances of rules are boxes, and arrows go from what is used to what is derived. There is
no cycle: a fact that an explanation comes back to gets a second box, which says so. Only what is
nearest to the goals is drawn, and boxes say how much is not.
"""

from __future__ import annotations

import textwrap
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from zodiac_sql.read.drawing.layout import Edge
from zodiac_sql.read.drawing.panel import BANDS, CHARACTERS_SHOWN, COLOURS, NEGATIVE, POSITIVE
from zodiac_sql.read.why.show_parts import (
    above,
    by,
    cut,
    listed,
    plain,
    rounded,
    shown,
    size_below,
    unlisted,
)

if TYPE_CHECKING:
    from zodiac_sql.read.why.proof import Explanation, Fact, Step

DRAWN = 120
"""How many boxes a picture has before it leaves out what is far from the goals."""
WIDE = 12
"""How many facts of a step, steps of a fact, and goals are drawn."""
TOOLTIP = 1000
"""Characters of a line of a tooltip."""
LINES = 4
"""On how many lines a rule, a fact or a value is drawn, if it is not what was asked for."""
MEMBERS = 4
"""How many solutions of a group are drawn."""
NOTHING = "nothing to explain"
LEGEND = "solid: facts that a rule uses, dashed: facts that must be absent, and are"

Kind = Literal["explicit", "derived", "rule", "absent", "aside"]


@dataclass(frozen=True, slots=True)
class Style:
    """How boxes of a kind look, and what they are called in a legend."""

    fill: str
    border: str
    dashed: bool
    name: str


STYLES: dict[Kind, Style] = {
    "explicit": Style(BANDS[0], "#333333", False, "explicit fact"),
    "derived": Style("#ffffff", "#333333", False, "derived fact"),
    "rule": Style(BANDS[1], "#999999", False, "rule with its values"),
    "absent": Style("#ffffff", COLOURS[NEGATIVE], True, "must be absent, and is"),
    "aside": Style("#ffffff", "#777777", True, "not drawn here"),
}


@dataclass(frozen=True, slots=True)
class TextBox:
    """A box with its lines, and the texts of which these are.

    The first `head` lines are those of the fact, the rule or what else it is about.
    """

    id: int
    kind: Kind
    lines: tuple[str, ...]
    full: tuple[str, ...]
    goal: bool = False
    head: int = 1


@dataclass(frozen=True, slots=True)
class Picture:
    """Boxes, each after those that have arrows to it."""

    boxes: list[TextBox] = field(default_factory=list)
    arrows: list[Edge] = field(default_factory=list)

    def add(self, kind: Kind, texts: Sequence[str], goal: bool = False) -> int:
        """Add a box; returns its number. What was asked for is never cut."""
        texts = [plain(text) for text in texts]
        head = _wrapped(texts[0], None if goal else LINES)
        rest = [line for text in texts[1:] for line in _wrapped(text, LINES)]
        full = tuple(text if goal else cut(text, TOOLTIP) for text in texts)
        number = len(self.boxes) + 1
        self.boxes.append(TextBox(number, kind, (*head, *rest), full, goal, len(head)))
        return number

    def join(self, source: int, target: int, kind: str = POSITIVE) -> None:
        """Add an arrow."""
        self.arrows.append(Edge(source, target, kind))


def picture(explanation: Explanation) -> Picture:
    """The boxes and arrows of an explanation."""
    drawer = _Drawer(explanation, _nearest(explanation))
    order, closing = _upwards_first(drawer)
    for fact in order:
        drawer.draw(fact, closing)
    if len(explanation.goals) > WIDE:
        drawer.rest(len(explanation.goals) - WIDE, "goals")
    return drawer.drawn


def _nearest(explanation: Explanation) -> frozenset[Fact]:
    """The facts whose steps are drawn: those nearest to the goals."""
    opened: set[Fact] = set()
    known = dict.fromkeys(explanation.goals[:WIDE])
    waiting, boxes = deque(known), len(known)
    while waiting:
        fact = waiting.popleft()
        steps = explanation.derivations.get(fact, ())[:WIDE]
        uses = [use for step in steps for use in above(step, explanation)[:WIDE]]
        new = [use for use in dict.fromkeys(uses) if use not in known]
        boxes += len(new) + sum(1 + len(step.absent[:WIDE]) for step in steps)
        if opened and boxes > DRAWN:
            break
        if steps:
            opened.add(fact)
        known.update(dict.fromkeys(new))
        waiting.extend(new)
    return frozenset(opened)


def _upwards_first(drawer: _Drawer) -> tuple[list[Fact], set[tuple[Fact, Fact]]]:
    """The facts in an order in which each stands after what it rests on, and what closes cycles.

    A pair (fact, use) closes a cycle if `use` rests on `fact`, too.
    """
    order: dict[Fact, None] = {}
    closing: set[tuple[Fact, Fact]] = set()
    for goal in drawer.explanation.goals[:WIDE]:
        path: dict[Fact, Iterator[Fact]] = {} if goal in order else {goal: drawer.uses(goal)}
        while path:
            fact, uses = next(reversed(path.items()))
            use = next(uses, None)
            if use is None:
                order[fact] = None
                del path[fact]
            elif use in path:
                closing.add((fact, use))
            elif use not in order:
                path[use] = drawer.uses(use)
    return list(order), closing


@dataclass(slots=True)
class _Drawer:
    """Adds facts with their steps to a picture; `places` are the boxes that are there."""

    explanation: Explanation
    opened: frozenset[Fact]
    drawn: Picture = field(default_factory=Picture)
    places: dict[Fact | str, int] = field(default_factory=dict)

    def steps(self, fact: Fact) -> tuple[Step, ...]:
        """The steps of a fact that are drawn."""
        return self.explanation.derivations[fact][:WIDE] if fact in self.opened else ()

    def uses(self, fact: Fact) -> Iterator[Fact]:
        """The facts that have arrows to the steps of a fact."""
        for step in self.steps(fact):
            yield from above(step, self.explanation)[:WIDE]

    def draw(self, fact: Fact, closing: set[tuple[Fact, Fact]]) -> None:
        """Draw a fact below its steps, whose facts are drawn."""
        steps = [self._step(fact, step, closing) for step in self.steps(fact)]
        every = self.explanation.derivations.get(fact, ())
        if steps and len(every) > WIDE:
            steps.append(self.rest(len(every) - WIDE, "derivations"))
        elif steps and fact in self.explanation.cut:
            steps.append(self.drawn.add("aside", ["… there are more derivations"]))
        explicit = fact in self.explanation.explicit
        texts = [shown(fact, self.explanation)]
        if explicit and steps:
            texts.append("explicit, too")
        elif every and not steps:
            texts.append(f"… rests on {size_below(fact, self.explanation)} that are not drawn")
        elif not explicit and not steps:
            texts.append("not explained here")
        if now := self.explanation.passed.get(fact):
            texts.append(f"until {shown(now, self.explanation)} came")
        kind: Kind = "explicit" if explicit else "derived" if steps else "aside"
        place = self.drawn.add(kind, texts, fact in self.explanation.goals)
        self.places[fact] = place
        for step in steps:
            self.drawn.join(step, place)

    def rest(self, count: int, what: str) -> int:
        """A box for what is not drawn."""
        return self.drawn.add("aside", [f"… {count:,} more {what}"])

    def _step(self, fact: Fact, step: Step, closing: set[tuple[Fact, Fact]]) -> int:
        """Draw a step, and boxes for what else it rests on; returns its box."""
        uses = above(step, self.explanation)
        sources = [
            self.drawn.add(
                "aside", [shown(use, self.explanation), "a cycle: this fact has a box below"]
            )
            if (fact, use) in closing
            else self.places[use]
            for use in uses[:WIDE]
        ]
        if len(uses) > WIDE:
            sources.append(self.rest(len(uses) - WIDE, "facts"))
        missing = [self._absent(shown(absent, self.explanation)) for absent in step.absent[:WIDE]]
        if len(step.absent) > WIDE:
            missing.append(self.rest(len(step.absent) - WIDE, "absent"))
        rule = by(step).removeprefix("by ")
        place = self.drawn.add("rule", [rule, *_said(step, self.explanation)])
        for source in sources:
            self.drawn.join(source, place)
        for source in dict.fromkeys(missing):
            self.drawn.join(source, place, NEGATIVE)
        return place

    def _absent(self, text: str) -> int:
        """The box of an absence, which several steps may share."""
        if text not in self.places:
            self.places[text] = self.drawn.add("absent", [text])
        return self.places[text]


def _wrapped(text: str, most: int | None) -> list[str]:
    """A text on lines, at most so many: the last one says if more was to come.

    Of numbers, those digits are left out that a float has only by chance.
    """
    return textwrap.wrap(
        rounded(text), CHARACTERS_SHOWN, max_lines=most, placeholder="…", break_on_hyphens=False
    ) or [""]


def _said(step: Step, explanation: Explanation) -> Iterator[str]:
    """What a step computes."""
    for group in step.groups:
        yield shown(group, explanation)
        members = group.members[:MEMBERS]
        yield from (f"· {shown(listed(member), explanation)}" for member in members)
        if rest := unlisted(group, len(members)):
            yield rest
    yield from (shown(part, explanation) for part in (*step.bindings, *step.tests))
