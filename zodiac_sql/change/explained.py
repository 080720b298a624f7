"""Why a fact entered or left its extension with a change: plain data, facts as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from zodiac_sql.folds import DEEPEST, GREEN, GREY, RED, coloured, fold, framed
from zodiac_sql.language.prefixed import prefixed
from zodiac_sql.language.written import on_one_line


@dataclass(frozen=True, slots=True)
class Event:
    """A fact that entered its extension, or left it. The fact's text is a goal for `why`."""

    kind: Literal["entered", "left"]
    fact: str

    def __str__(self) -> str:
        return f"{self.fact} {self.kind}"


@dataclass(frozen=True, slots=True)
class Cause:
    """What made an event.

    Either the change itself inserted or deleted the explicit fact, or the fact left the window of
    its predicate, which `text` names; or a rule derives the fact since the change, or derived it
    before. Then `rule` and `text` are its name and text. `rule_moved` says that the rule itself
    came or went with the change: if the fact entered, the change added the rule; if it left, the
    change dropped it. `uses` are the facts of its body, `absent` what it negates, `others` its
    computed values and comparisons, all with the values put in. `because` are the events that made
    its body hold, or broke it.
    """

    kind: Literal["inserted", "deleted", "window", "rule"]
    rule: str = ""
    text: str = ""
    rule_moved: bool = False
    uses: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    because: tuple[Event, ...] = ()


@dataclass(frozen=True, slots=True)
class ChangeExplanation:
    """Why a fact entered or left its extension with a change.

    `causes` has a cause for each event that the goal goes back to. It ends in facts that the change
    inserted or deleted, and in rules that it added or dropped.
    """

    goal: Event
    causes: Mapping[Event, Cause]
    prefixes: Mapping[str, str] = field(default_factory=dict, compare=False)
    """Prefixes, each with its IRI: the text has them, to_dict has not."""

    def events(self) -> Iterator[Event]:
        """All events, each once: the goal first, then what it goes back to."""
        seen: dict[Event, None] = {}
        waiting = [self.goal]
        while waiting:
            event = waiting.pop()
            if event not in seen:
                seen[event] = None
                waiting += reversed(self.causes[event].because)
        yield from seen

    def __str__(self) -> str:
        return "\n".join(self._lines())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """What a notebook shows: events fold and unfold."""
        return framed(self._as_html(self.goal, set(), 0))

    def to_dict(self) -> dict[str, Any]:
        """As plain data, for JSON: `goal`, and `events` with their causes; an event is the number
        of its place in `events`.
        """
        events = list(self.events())
        numbers = {event: number for number, event in enumerate(events)}
        return {
            "goal": 0,
            "events": [
                {
                    "fact": event.fact,
                    "event": event.kind,
                    "cause": cause.kind,
                    "rule": cause.rule,
                    "text": cause.text,
                    "rule_moved": cause.rule_moved,
                    "uses": list(cause.uses),
                    "absent": list(cause.absent),
                    "others": list(cause.others),
                    "because": [numbers[other] for other in cause.because],
                }
                for event, cause in ((event, self.causes[event]) for event in events)
            ],
        }

    def _as_html(self, event: Event, told: set[Event], depth: int) -> str:
        """An event, and below it the rule that has made it, and its causes."""
        cause = self.causes[event]
        name = coloured(self._shown(str(event)), GREEN if event.kind == "entered" else RED)
        if event in told or depth > DEEPEST:
            return fold(f"{name} {coloured('(see above)' if event in told else '…', GREY)}", "", 0)
        told.add(event)
        if cause.kind != "rule":
            done = _done(cause).removeprefix(":").strip()
            return fold(f"{name} {coloured(done, GREY)}", "", 0)
        inside = f"<div>{coloured(_derivation(event, cause), GREY)}</div>"
        inside += "".join(f"<div>{coloured(text)}</div>" for text in self._beside(cause))
        inside += "".join(self._as_html(other, told, depth + 1) for other in cause.because)
        return fold(name, inside, depth)

    def _beside(self, cause: Cause) -> Iterator[str]:
        """What else the body has than what moved."""
        others = {other.fact for other in cause.because}
        for text in (*cause.uses, *cause.absent, *cause.others):
            if text.removeprefix("not ") not in others:
                yield self._shown(text)

    def _lines(self) -> Iterator[str]:
        told: set[Event] = set()
        waiting = [(self.goal, 0)]
        while waiting:
            event, depth = waiting.pop()
            indent = "   " * depth
            cause = self.causes[event]
            name = self._shown(str(event))
            if event in told:
                yield f"{indent}{name} (see above)"
                continue
            told.add(event)
            if cause.kind != "rule":
                yield f"{indent}{name}{_done(cause)}"
                continue
            yield f"{indent}{name}"
            yield f"{indent}└─ {_derivation(event, cause)}"
            yield from (f"{indent}   {text}" for text in self._beside(cause))
            waiting += [(other, depth + 1) for other in reversed(cause.because)]

    def _shown(self, text: str) -> str:
        return prefixed(text, self.prefixes)


def _done(cause: Cause) -> str:
    """How an explicit fact has entered or left."""
    if cause.kind == "window":
        return f" the window of {cause.text}"
    return f": {cause.kind} by the change"


def _derivation(event: Event, cause: Cause) -> str:
    """Which rule derives, or derived, the fact of an event."""
    verb = "derives" if event.kind == "entered" else "derived"
    moved = "added" if event.kind == "entered" else "dropped"
    note = f" ({moved} by the change)" if cause.rule_moved else ""
    return f"{cause.rule} {verb} it{note}: {on_one_line(cause.text)}"
