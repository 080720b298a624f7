"""What a person wants to know of a change, in ten lines: for print() and for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from zodiac_sql.errors import QueryError

if TYPE_CHECKING:
    from zodiac_sql.change.change import Change, HypernodeChange

PREDICATES_SHOWN = 5
NOTES_SHOWN = 2
HYPERNODES_NAMED = 10
"""So many of each are told, so that ten lines are enough."""

Row = tuple[str, int, int]
"""A predicate, how many facts entered its extension, and how many left it."""


def summary(change: Change) -> str:
    """The change as text: how many facts came and went, where, and how long it took."""
    rows, left, is_known = _moved(change)
    lines = [_headline(change, rows, is_known)]
    width = max((len(name) for name, _, _ in rows[:PREDICATES_SHOWN]), default=0)
    for name, entered, gone in rows[:PREDICATES_SHOWN]:
        signed = (f"{sign}{count:,}" for sign, count in (("+", entered), ("-", gone)) if count)
        lines.append(f"  {name:<{width}}  {' '.join(signed)}")
    lines += [left] if left else []
    lines.append(f"hypernodes: {fates(change.hypernodes)}")
    return "\n".join([*lines, *_notes(change)])


def one_line(change: Change) -> str:
    """The same on one line."""
    rows, left, is_known = _moved(change)
    moved = [f"{name} +{entered:,} -{gone:,}" for name, entered, gone in rows[:PREDICATES_SHOWN]]
    told = [_headline(change, rows, is_known), *moved, *([left.strip()] if left else [])]
    if change.updates:
        told.append(f"updates {change.updates[0]} to {change.updates[-1]} of a stream")
    return "; ".join([*told, f"hypernodes: {fates(change.hypernodes)}", *_notes(change)])


def summary_html(change: Change) -> str:
    """The same as a table."""
    rows, left, is_known = _moved(change)
    cells = "".join(
        f"<tr><td style='text-align:left'>{escape(name)}</td>"
        f"<td>{entered or ''}</td><td>{gone or ''}</td></tr>"
        for name, entered, gone in rows[:PREDICATES_SHOWN]
    )
    head = "<tr><th style='text-align:left'>predicate</th><th>entered</th><th>left</th></tr>"
    table = f"<table>{head}{cells}</table>" if cells else ""
    below = [*([left.strip()] if left else []), f"hypernodes: {fates(change.hypernodes)}"]
    below += _notes(change)
    told = "".join(f"<div>{escape(line)}</div>" for line in below)
    return f"<div><b>{escape(_headline(change, rows, is_known))}</b></div>{table}{told}"


def _moved(change: Change) -> tuple[list[Row], str, bool]:
    """The predicates concerned, those with most facts first, what is to be said of others, and
    whether it is known what left.
    """
    try:
        deleted = change.deleted
        unknown = ""
    except QueryError as error:  # another connection has changed the file before it was asked for
        deleted, unknown = {}, f"  what left is not known any more: {error}"
    rows = [
        (name, change.inserted.get(name, 0), deleted.get(name, 0))
        for name in sorted({*change.inserted, *deleted})
    ]
    rows.sort(key=lambda row: -row[1] - row[2])
    more = len(rows) - PREDICATES_SHOWN
    told = f"  and {more} more predicates" if more > 0 else ""
    return rows, unknown or told, not unknown


def _headline(change: Change, rows: Sequence[Row], is_known: bool) -> str:
    entered, left = sum(row[1] for row in rows), sum(row[2] for row in rows)
    took = f"{change.seconds:.3f} s"
    if not is_known:
        return f"{_facts(entered)} entered ({took})"
    if not rows:
        return f"no fact came or went ({took})"
    return f"{_facts(entered)} entered, {_facts(left)} left ({took})"


def _facts(count: int) -> str:
    return "1 fact" if count == 1 else f"{count:,} facts"


def _notes(change: Change) -> list[str]:
    notes = [f"note: {note}" for note in change.notes[:NOTES_SHOWN]]
    more = len(change.notes) - NOTES_SHOWN
    return [*notes, f"and {more} more: see change.notes"] if more > 0 else notes


def fates(told: HypernodeChange) -> str:
    """What became of hypernodes, on one line. Untouched ones are only counted."""
    counted = {
        word: f"{len(of)} {word} ({_listed(of)})"
        for word in ("created", "dropped", "updated")
        if (of := getattr(told, word))
    }
    merged = [f"{_listed(old)} merged into {new}" for new, old in told.merged.items()]
    split = [f"{old} split into {_listed(new)}" for old, new in told.split.items()]
    fates = [counted.pop("created", ""), *merged, *split, *counted.values()]
    if told.untouched:
        fates.append(f"{len(told.untouched)} untouched")
    return ", ".join(filter(None, fates)) or "none"


def _listed(names: Sequence[str]) -> str:
    """A list of names as text; only the beginning of a long list."""
    *first, last = (
        names if len(names) <= HYPERNODES_NAMED else [*names[: HYPERNODES_NAMED - 1], "others"]
    )
    return f"{', '.join(first)} and {last}" if first else last
