"""A change as JSON, for the command line and for a server."""

from __future__ import annotations

from typing import Any

from zodiac_sql.change.change import Change

PHASES = ("stage", "check", "reason", "compare", "publish")
_FATES = ("created", "merged", "split", "dropped", "updated", "untouched")


def change_as_json(change: Change) -> dict[str, Any]:
    """What a change did, or would do."""
    return {
        **facts_and_seconds(change),
        "violations": [str(one) for one in change.violations],
        "hypernodes": {name: getattr(change.hypernodes, name) for name in _FATES},
        "work": dict(change.stats["hypernodes"]),
    }


def facts_and_seconds(change: Change) -> dict[str, Any]:
    """How many facts entered and left, the time by phase, and the notes."""
    spent = change.stats["seconds"]
    return {
        "seconds": {**{p: spent.get(p, 0.0) for p in PHASES}, "total": change.seconds},
        "inserted": dict(change.inserted),
        "deleted": dict(change.deleted),
        "notes": list(change.notes),
    }
