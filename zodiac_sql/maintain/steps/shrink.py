"""A closure in layers that only loses facts: these are found, and all others stay as they are.

Evaluation in layers (evaluate/layers.py) finds sets in a moment, but making facts of them and
writing these takes four fifths of its time. If no fact can be new, and the ranks of those that are
there are in order for all edges that are left, only what the sets lack needs to be looked for.
"""

from __future__ import annotations

from sqlglot import exp

from zodiac_sql.evaluate.layers import MOST_LAYERS, are_layers, forget, in_layers
from zodiac_sql.maintain.contract import Maintained, Task, Work
from zodiac_sql.names import CHANGE_FACTS
from zodiac_sql.rewrite.closures.shapes import along
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.plan import Version
from zodiac_sql.sql.relations import Part, rank_of, table
from zodiac_sql.storage.edits import Edit

HIGHEST_RANK = 10 * MOST_LAYERS
"""If no rank is higher, a closure was evaluated in layers; one statement numbers facts instead."""


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


def is_closure(task: Task) -> bool:
    """Whether the hypernode is one rule that takes facts along another relation."""
    rules = task.hypernode.rules
    return len(rules) == 1 and along(rules[0]) is not None


def was_in_layers(task: Task) -> bool:
    """Whether the hypernode was evaluated in layers: then its ranks are low."""
    stored = task.stored(task.hypernode.derives[0]) if is_closure(task) else None
    if stored is None or not stored.ranked:
        return False
    highest = exp.Max(this=rank_of("t"))
    return task.store.count(exp.select(highest).from_(table(stored).as_("t"))) <= HIGHEST_RANK


def shrinks_in_layers(task: Task) -> Part | None:
    """The stored table, if only facts that are not derived any more need to be taken out of it.

    So it is if the change can add no fact, and the ranks are layers (evaluate/layers.py).
    """
    if not is_closure(task) or not task.ranked or directions(task) != (False, True):
        return None
    (predicate,) = task.hypernode.derives
    stored = task.stored(predicate)
    if stored is None or stored.pairs or task.before.schema[predicate] != task.schema[predicate]:
        return None
    return stored if are_layers(task.store, task.hypernode, _inputs(task), stored) else None


def shrunk(task: Task) -> Maintained | None:
    """What a closure in layers loses, found without making all of its facts; None if it is none."""
    stored = shrinks_in_layers(task)
    layered = in_layers(task.store, task.hypernode, _inputs(task)) if stored else None
    if stored is None or layered is None:
        return None
    (predicate,) = task.hypernode.derives
    name = f"{CHANGE_FACTS}minus_{task.stem(predicate)}"
    gone = layered.lacks(task.store, stored, task.schema[predicate].columns, name)
    forget(task.store)
    left = stored.rows - (gone.rows if gone else 0)
    edits = {predicate: Edit(None, gone, gone, None)} if gone else {}
    return Maintained(edits, Work(forward=left, iterations=layered.depth), "layers", True)


def _inputs(task: Task) -> Context:
    """What the rules read after the change."""
    return task.context(lambda name, _: task.inputs(name, Version.ALL))
