"""Strategy `components`: a relation that is kept as strongly connected components.

Components that have lost an edge inside are looked at, and the graph of components if edges have
come. Then all is compared with what was there, and only classes and pairs of them that changed are
written.
"""

from __future__ import annotations

from functools import partial

from zodiac_sql.cost.operator import certain
from zodiac_sql.evaluate.partition.condensation import Condensation, renew
from zodiac_sql.maintain.contract import Maintained, Task, Work
from zodiac_sql.maintain.steps.change_plans import losses
from zodiac_sql.maintain.weighed import Maintains, Weighed
from zodiac_sql.names import between, classes, given
from zodiac_sql.sql.plan import Version
from zodiac_sql.storage.edits import Delta, Edit


def components(task: Task) -> Maintained:
    """Maintain a hypernode that derives nothing but a relation kept as components."""
    (row,) = task.inner.rows
    name = row.predicate
    (former,) = task.former.tables[name]
    found = Condensation(task.runner.store, row, task.columns(name), task.stem(name))
    read = partial(task.context.relation, given(name))
    delta = Delta(read(Version.INSERTED), read(Version.DELETED))
    renew(former, found, read(Version.ALL), delta)
    moved = found.moved()
    edits = {}
    for table, gone, come in (
        (classes(name), moved.left, moved.came),
        (between(name), moved.parted, moved.joined),
    ):
        if gone or come:
            edits[table] = Edit(come, gone, gone, come)
    if edits:
        edits[name] = Edit(found.inserted, found.deleted, None, None, now=found.now)
    return Maintained(edits, Work(iterations=1), "components", ranked=False)


def _matches(weighed: Weighed) -> bool:
    task = weighed.task
    loses = task.former.merges and losses(task)
    return any(row.directed for row in task.inner.rows) and not loses


COMPONENTS: Maintains = certain(
    "components",
    "a relation is kept as components",
    _matches,
    lambda weighed: components(weighed.task),
)
