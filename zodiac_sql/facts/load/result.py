"""The result of reading a file."""

from __future__ import annotations

from dataclasses import dataclass

from zodiac_sql.language.schema import Staged

MOST_LISTED = 20
"""How many of the skipped lines are listed."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A line that was left out. `line` is None if the file has no lines (Parquet)."""

    line: int | None
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Loaded:
    """The facts of a file, staged. `skipped` lists the first of `skipped_count` bad lines.

    `notes` say what was not loaded; `prefixes` are those that the file declares.
    """

    staged: tuple[Staged, ...]
    facts: int
    skipped: tuple[Skipped, ...] = ()
    skipped_count: int = 0
    notes: tuple[str, ...] = ()
    prefixes: tuple[tuple[str, str], ...] = ()


def listed(skipped: tuple[Skipped, ...], count: int) -> str:
    """The first bad lines, each on a line of the error message."""
    shown = [
        f"    {'' if bad.line is None else f'line {bad.line}: '}{_cut(bad.text)}  ({bad.reason})"
        for bad in skipped[:5]
    ]
    if count > len(shown):
        shown.append(f"    and {count - len(shown)} more")
    return "\n".join(shown)


def _cut(text: str) -> str:
    return text if len(text) <= 160 else text[:157] + "..."
