"""What the hypernodes with work had to do in a change, or would have to do, by its stats."""

from __future__ import annotations

from collections.abc import Mapping

from zodiac_sql.change.change import Change
from zodiac_sql.read.explain.decisions import Decisions, decisions
from zodiac_sql.read.explain.work import HypernodeWork


def explain_change(change: Change, prefixes: Mapping[str, str]) -> Decisions:
    """The decisions of a change or a preview."""
    hypernodes = change.after.by_name
    done = change.stats.hypernodes.items()
    work = [HypernodeWork(hypernodes[name], stats) for name, stats in done]
    return decisions(change.seconds, True, work, prefixes)
