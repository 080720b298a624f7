"""Markdown on stdout: samples in seconds as milliseconds, counts, ratios, lines and notes."""

from __future__ import annotations

from statistics import median


def ms(seconds: list[float]) -> str:
    """Median, and (least-most) if there is more than one sample."""
    shown = [number(1000 * s) for s in (median(seconds), min(seconds), max(seconds))]
    return f"{shown[0]} ({shown[1]}-{shown[2]})" if len(seconds) > 1 else shown[0]


def number(value: float) -> str:
    """A figure with one decimal where that matters."""
    return f"{value:,.1f}" if value < 10 else f"{value:,.0f}"


def counts(found: list[int]) -> str:
    """One number if all samples agree, else their median and range."""
    least, most = min(found), max(found)
    return f"{least:,}" if least == most else f"{median(found):,.0f} ({least:,}-{most:,})"


def ratio(seconds: list[float], base: float | None) -> str:
    """The median as a part of a base, where there is one."""
    return f"{median(seconds) / base:.3f}" if base else "-"


def print_header(cells: list[str]) -> None:
    """The first line of a table, and the one that separates it."""
    print_line(cells)
    print("|" + "---|" * len(cells), flush=True)


def print_line(cells: list[str]) -> None:
    """One line of a table, seen at once also in a pipe."""
    print("| " + " | ".join(cells) + " |", flush=True)


def print_notes(notes: list[str]) -> None:
    """A list of what there is to say below a table."""
    print("".join(f"* {note}\n" for note in [*notes, ""] if note), flush=True)
