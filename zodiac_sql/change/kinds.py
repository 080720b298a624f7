"""Kinds of changes of facts: what is known of one that is looked up helps the next of its kind."""

from __future__ import annotations

from zodiac_sql.change.execution import Execution, in_rules
from zodiac_sql.change.staged_rows import without_none
from zodiac_sql.maintain.registry import LOOKUPS

Kind = frozenset[tuple[str, bool, bool]]
"""The predicates of which a change deletes facts, and of which it inserts some."""

MOST_GIVEN = 1_000
"""A change that is given more facts than this is no small one."""


def kind_of(execution: Execution) -> Kind | None:
    """The kind of an update of facts alone, if it may be looked up; else None."""
    return execution.once("kind", lambda: _kind_of(execution))


def _kind_of(execution: Execution) -> Kind | None:
    """That is for changes of some predicate that is in rules, and not for those whose rows are
    counted. The kind has only what rules have to do with: others are not copied.
    """
    before, request = execution.before, execution.request
    if not execution.is_of_facts or before.settings.strategy not in LOOKUPS:
        return None
    if before.store.watch.counts:
        return None
    deletes, inserts = without_none(request.deletes), without_none(request.inserts)
    names = deletes.keys() | inserts.keys()
    staged = (one for some in (deletes, inserts) for each in some.values() for one in each)
    if any((one.rows or 0) > MOST_GIVEN for one in staged):
        return None
    names &= in_rules(execution.prepared)
    return frozenset((name, name in deletes, name in inserts) for name in names) or None
