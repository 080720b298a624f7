"""Pieces of HTML that fold and unfold in a notebook."""

from __future__ import annotations

from html import escape

# Readable on white and on black.
GREY, GREEN, RED = "color:#808080", "color:#0a8a62", "color:#d55e00"

UNFOLDED = 3
"""How many levels are open at first."""

DEEPEST = 60
"""Browsers stop nesting after some hundred levels."""


def framed(inside: str) -> str:
    """Pieces that stand in a notebook by themselves."""
    return f'<div style="font-family:monospace;line-height:1.5">{inside}</div>'


def fold(summary: str, inside: str, depth: int) -> str:
    """What a line of HTML unfolds to; without that, the line."""
    if not inside:
        return f"<div>{summary}</div>"
    opened = " open" if depth < UNFOLDED else ""
    below = f'<div style="margin-left:1.5em">{inside}</div>'
    return f"<details{opened}><summary>{summary}</summary>{below}</details>"


def coloured(text: str, style: str = "") -> str:
    """A text in a colour."""
    return f'<span style="{style}">{escape(text)}</span>' if style else escape(text)
