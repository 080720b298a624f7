"""What all forms of an explanation share: texts on one line, and what stands below a step."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from zodiac_sql.language.prefixed import prefixed
from zodiac_sql.read.drawing.panel import printable

if TYPE_CHECKING:
    from zodiac_sql.read.why.proof import Explanation, Fact, Group, Step

LONGEST = 200
"""Characters of a line of text; longer ones are cut."""
COUNTED = 200
"""How far the facts of a part that is not shown are counted."""

# Characters that would break a line, change a terminal or turn the direction of the text, and those
# that XML cannot hold.
_UNSHOWN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]",
)


def plain(text: str) -> str:
    """The text with all its spaces, on one line, with every character one that can be shown."""
    return _UNSHOWN.sub(lambda found: " " if found[0] in "\t\n\r" else "\ufffd", text)


def shown(part: object, explanation: Explanation) -> str:
    """The text of a part of an explanation on one line, its IRIs with prefixes."""
    return plain(prefixed(str(part), explanation.prefixes))


_LONG_FLOAT = re.compile(
    r'"(?:[^"\\]|\\.)*"|<[^\s<>]*>|(?<![\w.])\d+\.\d{10,}(?:e[-+]?\d+)?(?![\w.])'
)
"""A text in quotes or an IRI, which stays as it is, or a float with many digits."""


_SIDES = re.compile(r"(-?\d+(?:\.\d+)?) (?:[<>]|!=) (-?\d+(?:\.\d+)?)")


def rounded(text: str) -> str:
    """The text with floats to 15 digits, for pictures: 15.300000000000004 is 15.3.

    A comparison stays as it is where only the digits behind tell its sides apart.
    """

    def short(found: re.Match[str]) -> str:
        return found[0] if found[0][0] in '"<' else repr(float(f"{float(found[0]):.15g}"))

    found = _LONG_FLOAT.sub(short, text)
    sides = _SIDES.fullmatch(found)
    return text if sides and float(sides[1]) == float(sides[2]) else found


def cut(text: str, longest: int = LONGEST) -> str:
    """The text, or its beginning if it is long."""
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def by(step: Step) -> str:
    """The rule of a step, in words."""
    over = "a path over " if step.kind == "path" else ""
    return f"by {over}{printable(plain(step.rule))}: {printable(plain(step.text))}"


def ask(fact: Fact, explanation: Explanation, whole: bool = False) -> str:
    """What to type for an explanation of the fact, of the same sort as this one.

    Or for the whole of it, in a form that leaves nothing out.
    """
    text = goal_text(fact, explanation)
    every = ", all=True" if explanation.every else ""
    as_json = ".json()" if whole else ""
    if text is None:
        return f"kb.why(...{every}){as_json} of this fact"
    quoted = repr(text) if '"' in text or "\\" in text else f'"{text}"'
    return f"kb.why({quoted}{every}){as_json}"


def goal_text(fact: Fact, explanation: Explanation) -> str | None:
    """The fact as a goal to type, with prefixes; None if that is too long, or cannot be typed."""
    text = prefixed(str(fact), explanation.prefixes)
    blank = any(isinstance(value, str) and value.startswith("_:") for value in fact.values)
    return None if blank or len(text) > LONGEST or plain(text) != text else text


def above(step: Step, explanation: Explanation) -> list[Fact]:
    """The facts that a step rests on and that are in the explanation, each once."""
    members = (fact for group in step.groups for member in group.members for fact in member)
    inside = (fact for fact in members if fact in explanation.derivations)
    return list(dict.fromkeys((*step.uses, *inside)))


def listed(member: tuple[Fact, ...]) -> str:
    """The facts of one solution of an aggregate's body."""
    return ", ".join(map(str, member))


def unlisted(group: Group, shown: int) -> str:
    """How many solutions of a group are not shown, or nothing."""
    rest = group.count - shown
    return f"… {rest:,} more" if rest > 0 else ""


def backwards(fact: Fact, step: Step) -> set[int]:
    """The places of the facts that a path passes from their second to their first value."""
    if step.kind != "path" or any(len(each.values) != 2 for each in (fact, *step.uses)):
        return set()
    found, end = set(), fact.values[0]
    for place, use in enumerate(step.uses):
        first, second = use.values
        if first != end and second == end:
            found.add(place)
            first, second = second, first
        end = second
    return found


def size_below(fact: Fact, explanation: Explanation) -> str:
    """How many facts a fact rests on, in words."""
    count = sum(1 for _ in islice(_below(fact, explanation), COUNTED + 1))
    if count > COUNTED:
        return f"more than {COUNTED:,} facts"
    return "1 fact" if count == 1 else f"{count:,} facts"


def _below(fact: Fact, explanation: Explanation) -> Iterator[Fact]:
    """All that a fact rests on, each once, without itself."""
    seen, waiting = {fact}, [fact]
    while waiting:
        for step in explanation.derivations.get(waiting.pop(), ()):
            for other in above(step, explanation):
                if other not in seen:
                    seen.add(other)
                    waiting.append(other)
                    yield other
