"""Whether a hypernode is a closure along another relation, and what a change can do to it."""

from __future__ import annotations

from sqlglot import exp

from zodiac_sql.maintain.contract import Task
from zodiac_sql.sql.relations import rank_of, table


def directions(task: Task) -> tuple[bool, bool]:
    """Whether a change of the inputs can add facts to the tables, and whether it can take some."""
    inserted, deleted = task.changed()
    if task.heritage or not inserted | deleted:
        return True, True  # the rules themselves are new
    if task.hypernode.bests:
        return True, True  # a better value comes, and the one before goes
    negative = frozenset(p for rule in task.hypernode.rules for p in rule.negative())
    refuted = bool(negative & (inserted | deleted))
    return bool(inserted) or refuted, bool(deleted) or refuted


def was_in_layers(task: Task) -> bool:
    """Whether the hypernode was evaluated in layers: then most facts share their ranks. One
    recursive statement numbers all facts; changes by such statements number some.
    """
    stored = task.stored(task.hypernode.derives[0]) if task.forms.along else None
    if stored is None or not stored.ranked:
        return False
    query = exp.select(exp.Max(this=rank_of("t"))).from_(table(stored).as_("t"))
    return 2 * task.store.count(query) <= stored.rows
