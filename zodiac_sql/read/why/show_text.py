"""An explanation as a tree for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from zodiac_sql.read.why.show_outline import Kind, OutlineLimits, outline

if TYPE_CHECKING:
    from zodiac_sql.read.why.proof import Explanation

LIMITS = OutlineLimits(facts=60, depth=24, wide=20)


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the tree: its branches, what it shows, and a note on that."""

    branches: str
    text: str
    note: str = ""
    kind: Kind | Literal["rule"] = "fold"
    explicit: bool = False

    def __str__(self) -> str:
        return f"{self.branches}{self.text}{self.note}"


def text_form(explanation: Explanation) -> str:
    """A line for each fact and each part of a step; goals stand apart."""
    return "\n".join(map(str, rows(explanation, LIMITS)))


def rows(explanation: Explanation, limits: OutlineLimits) -> Iterator[Row]:
    """The tree from top to bottom."""
    lines = list(outline(explanation, limits))
    if not lines:
        yield Row("", "nothing to explain")
        return
    shown: list[Row] = []
    following = [False] * (limits.depth + 6)  # whether an entry of that depth still comes
    below = 0
    # From the last line upwards, as a branch is drawn down to its last entry.
    for line in reversed(lines):
        depth = line.depth
        guides = "".join("│  " if following[d] else "   " for d in range(1, depth))
        branch = ("├─ " if following[depth] else "└─ ") if depth else ""
        if line.by:
            under = ("│  " if following[depth] else "   ") if depth else ""
            stem = "│  " if below == depth + 1 else "   "
            shown.append(Row(f"{guides}{under}{stem}", line.by, "", "rule"))
        note = _note(line.kind, line.note)
        shown.append(Row(f"{guides}{branch}", line.text, note, line.kind, line.explicit))
        if not depth:
            shown.append(Row("", ""))
        following[depth + 1 :] = [False] * (len(following) - depth - 1)
        following[depth] = True
        below = depth
    yield from reversed(shown[:-1])


def _note(kind: str, note: str) -> str:
    if not note:
        return ""
    return f"  ({note})" if kind in ("test", "fold") else f"  {note}"
