"""Whether a hypernode is a closure along another relation, and what a change can do to it."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from zodiac_sql.database.store import Store
from zodiac_sql.maintain.contract import Task
from zodiac_sql.rewrite.forms import Forms
from zodiac_sql.sql.relations import Part, rank_of, table


def directions(task: Task) -> tuple[bool, bool]:
    """Whether a change of the inputs can add facts to the tables, and whether it can take some."""
    inserted, deleted = task.inputs.changed
    if task.former.heritage or not inserted | deleted:
        return True, True  # the rules themselves are new
    if task.inputs.ticked:
        return True, True  # a comparison with now() begins to hold, or ends
    if task.hypernode.bests:
        return True, True  # a better value comes, and the one before goes
    negative = frozenset(p for rule in task.hypernode.rules for p in rule.negative())
    refuted = bool(negative & (inserted | deleted))
    return bool(inserted) or refuted, bool(deleted) or refuted


def was_in_layers(store: Store, forms: Forms, stored: Sequence[Part]) -> bool:
    """Whether a hypernode was evaluated in layers, by its stored tables: then most facts share
    their ranks. One recursive statement numbers all facts; changes by such statements number some.
    """
    if not forms.along or not stored or not stored[0].ranked or stored[0].schema == "temp":
        return False
    query = exp.select(exp.Max(this=rank_of("t"))).from_(table(stored[0]).as_("t"))
    return 2 * store.count(query) <= stored[0].rows
