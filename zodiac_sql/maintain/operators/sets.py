"""A closure in layers of which much moves: found as sets, without going round by round.

Rounds over 22 million pairs take half a second each, and a hundred edges that come or go need up to
twenty. To evaluate all takes as long, since facts are made of all sets, and written. Here they are
made of what differs (evaluate/compared_layers.py). (22 million pairs, 100 and 1,000 of 100,000
edges: 1.8 and 2.3 s to delete, not 4.8 and 3.8; 1.6 and 2.2 to insert, not 1.8 and 3.2.)
"""

from __future__ import annotations

from dataclasses import replace

from zodiac_sql.cost.calibration import COMPARED, STATEMENT
from zodiac_sql.cost.operator import Cost, Declined, Operator
from zodiac_sql.cost.sizes import is_written_in_place
from zodiac_sql.database.statements import create_temp, union_all
from zodiac_sql.evaluate import layers
from zodiac_sql.evaluate.compared_layers import Compared, compared, forget
from zodiac_sql.evaluate.layers import form_of
from zodiac_sql.maintain.contract import Maintained, Task, Work
from zodiac_sql.maintain.steps.closure_form import directions, was_in_layers
from zodiac_sql.maintain.weighed import Maintains, Weighed
from zodiac_sql.names import CHANGE_FACTS
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.plan import Version
from zodiac_sql.sql.relations import Part, Relation, relation_query
from zodiac_sql.storage.edits import Edit

LAYERS = 80
"""Closures in layers are expected to have so many, with what is done once."""


def moved_in_sets(task: Task) -> Maintained | Declined:
    """What enters and leaves a closure in layers; declines if it is none."""
    stored, forms, store = _stored(task), task.inner.forms, task.runner.store
    if stored is None or not was_in_layers(store, forms, [stored]):
        return Declined("it was not evaluated in layers")
    before = form_of(forms, _inputs(task.context, Version.BEFORE))
    after = form_of(forms, _inputs(task.context, Version.ALL))
    if before is None or after is None:
        return Declined("its nodes are of several types")
    if min(after.facts.rows, after.edges.rows) < layers.FEWEST_ROWS:
        return Declined("it is too small for layers")
    enters, leaves = directions(task)
    found = compared(store, before, after, stored, leaves)
    done = _maintained(task, found, enters=enters, leaves=leaves) if found else None
    forget(store)
    return done or Declined("it cannot be in layers")


def _stored(task: Task) -> Part | None:
    """The table of a closure, if the rules were the same before, and its ranks are reliable."""
    former, before, after = task.former, task.inputs.before, task.inputs.after
    if not task.inner.forms.along or not former.ranked or former.heritage or task.hypernode.bests:
        return None
    if task.runner.store.watch.counts:
        return None
    (predicate,) = task.hypernode.derives
    read = {predicate, *task.hypernode.reads}
    if any(before.schema.get(name) != after.schema[name] for name in read):
        return None
    stored = former.stored(predicate)
    return stored if stored and stored.ranked and not stored.read.pairs else None


def _inputs(context: Context, version: Version) -> Context:
    """What the rules read before the change, or after it."""
    return replace(context, relation=lambda name, _: context.relation(name, version))


def _maintained(task: Task, found: Compared, *, enters: bool, leaves: bool) -> Maintained:
    """The edit of the table, from what differs."""
    (predicate,) = task.hypernode.derives
    stem = task.stem(predicate)
    inserted = found.entering(f"{CHANGE_FACTS}plus_{stem}") if enters else None
    deleted = found.leaving(f"{CHANGE_FACTS}minus_{stem}") if leaves else None
    moved = found.misplaced(f"misplaced_{stem}", deleted) if leaves else None
    if moved and not is_written_in_place(moved.rows, found.stored.rows):
        name = task.stem(predicate)
        edit = Edit(inserted, deleted, None, found.whole(name), rewritten=True)
    else:
        removed = _together(task, f"{CHANGE_FACTS}gone_{stem}", deleted, moved, ranked=False)
        added = _together(task, f"{CHANGE_FACTS}added_{stem}", inserted, moved, ranked=True)
        edit = Edit(inserted, deleted, removed, added)
    heads = sum(part.rows for part in (inserted, deleted, moved) if part)
    work = Work(forward=heads, iterations=found.depth)
    return Maintained({predicate: edit} if edit else {}, work, "layers", ranked=True)


def _together(
    task: Task, name: str, some: Part | None, others: Part | None, ranked: bool
) -> Part | None:
    """The facts of two tables in one, which is made only if there are others."""
    if others is None:
        return some
    columns = task.columns(task.hypernode.derives[0])
    both = [
        relation_query(Relation(columns, (part,), ranked=ranked)) for part in (some, others) if part
    ]
    rows = task.runner.store.count(create_temp(name, union_all(both)))
    return Part("temp", name, rows, ranked=ranked)


def _cost(weighed: Weighed) -> Cost:
    """A statement for each layer, of which there are some tens, and a look at all facts."""
    why = "much of the relation moves that its paths are along"
    return Cost(STATEMENT * LAYERS + COMPARED * weighed.held, why)


SETS: Maintains = Operator(
    "sets",
    lambda weighed: weighed.is_plain and _stored(weighed.task) is not None,
    _cost,
    lambda weighed, _: moved_in_sets(weighed.task),
)
