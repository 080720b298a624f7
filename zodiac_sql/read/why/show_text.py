"""An explanation as a tree for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zodiac_sql.read.why.show_outline import Limits, outline

if TYPE_CHECKING:
    from zodiac_sql.read.why.proof import Explanation

LIMITS = Limits(facts=60, depth=24, wide=20)


def text_form(explanation: Explanation) -> str:
    """A line for each fact and each part of a step; goals stand apart."""
    lines = list(outline(explanation, LIMITS))
    if not lines:
        return "nothing to explain"
    shown: list[str] = []
    following = [False] * (LIMITS.depth + 6)  # whether an entry of that depth still comes
    below = 0
    # From the last line upwards, as a branch is drawn down to its last entry.
    for line in reversed(lines):
        depth = line.depth
        guides = "".join("│  " if following[d] else "   " for d in range(1, depth))
        branch = ("├─ " if following[depth] else "└─ ") if depth else ""
        if line.by:
            under = ("│  " if following[depth] else "   ") if depth else ""
            stem = "│  " if below == depth + 1 else "   "
            shown.append(f"{guides}{under}{stem}{line.by}")
        shown.append(f"{guides}{branch}{line.text}{_note(line.kind, line.note)}")
        if not depth:
            shown.append("")
        following[depth + 1 :] = [False] * (len(following) - depth - 1)
        following[depth] = True
        below = depth
    return "\n".join(reversed(shown[:-1]))


def _note(kind: str, note: str) -> str:
    if not note:
        return ""
    return f"  ({note})" if kind in ("test", "fold") else f"  {note}"
