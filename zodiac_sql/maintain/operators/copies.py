"""Changes of a hypernode whose rules only copy facts of one predicate.

Then a fact of each of its predicates stands for one fact of that one, and comes and goes with it.
Nothing needs to be looked for, checked or compared. So it is, too, with a rule that only copies and
depends on nothing of itself.

If a predicate's own facts from outside are copied round to it, its table has them all, too.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from zodiac_sql.cost.calibration import DERIVED, STATEMENT
from zodiac_sql.cost.operator import Cost, Operator
from zodiac_sql.database.statements import distinct
from zodiac_sql.evaluate.cache_keys import relation_key
from zodiac_sql.evaluate.make_tables import make_part
from zodiac_sql.evaluate.operators.copies import copy_query, table_of_copies
from zodiac_sql.maintain.contract import Maintained, Task, Work
from zodiac_sql.maintain.weighed import Maintains, Weighed
from zodiac_sql.names import CHANGE_FACTS
from zodiac_sql.rewrite.copies import Order
from zodiac_sql.sql.plan import Version
from zodiac_sql.sql.relations import Part, Reading, Relation
from zodiac_sql.storage.edits import Edit

Source = tuple[str, Order, int]
"""From where a predicate has its facts, in which order of columns, and by how many rules."""


def copy_changes(task: Task) -> Maintained:
    """Copy what came and went."""
    edits, work = {}, Work(iterations=1)
    for name in task.hypernode.derives:
        found = _source(task, name)
        assert found is not None
        source, order, number = found
        delta = task.inputs.deltas.get(source)
        if delta is None:
            continue
        gone = _copied(task, name, "minus", delta.deleted, order, None)
        rank = number if task.hypernode.recursive else None
        come = _copied(task, name, "plus", delta.inserted, order, rank)
        covers = source == name and order == tuple(range(len(order)))
        edits[name] = Edit(come, gone, gone, come, covers=covers)
        lost, won = (part.rows if part else 0 for part in (gone, come))
        work = work.plus(forward=lost + won, deletions=lost, insertions=won)
    edits = {name: edit for name, edit in edits.items() if edit}
    return Maintained(edits, work, "copies", task.former.ranked)


def _source(task: Task, predicate: str) -> Source | None:
    """The only source of a predicate that had or has facts; None if there is none, or several."""
    filled = [
        (name, order, number)
        for (name, order), number in (task.inner.forms.copies or {}).get(predicate, {}).items()
        if any(
            task.inputs.relation(name, version).rows for version in (Version.BEFORE, Version.ALL)
        )
    ]
    return filled[0] if len(filled) == 1 else None


def _copied(
    task: Task, predicate: str, kind: str, facts: Relation, order: Order, rank: int | None
) -> Part | None:
    """A temporary table of copies, all with the rank if it is given.

    It is the table of the facts themselves if that has them as the copies are.
    """
    if not facts.rows:
        return None
    own = Relation(task.columns(predicate), ())
    if part := table_of_copies(facts, order, own.columns):
        return _with_rank(part, rank)

    def query() -> exp.Query:
        copies = copy_query(own, facts, order)
        return distinct(copies) if len(facts.parts) > 1 else copies

    name = f"{CHANGE_FACTS}{kind}_{task.stem(predicate)}"
    key = ("copied", relation_key(facts), order)
    made = make_part(task.runner, key, name, query)
    return _with_rank(made, rank) if made else None


def _with_rank(part: Part, rank: int | None) -> Part:
    return part if rank is None else replace(part, ranked=True, read=Reading(rank=rank))


def _matches(weighed: Weighed) -> bool:
    """Whether each predicate has its facts from one other, and no rows must be counted first."""
    task = weighed.task
    if task.inner.forms.copies is None or task.inner.rows or task.runner.store.watch.counts:
        return False
    if task.former.heritage or (task.hypernode.recursive and not task.former.ranked):
        return False
    return all(_source(task, name) for name in task.hypernode.derives)


def _cost(weighed: Weighed) -> Cost:
    statements = STATEMENT * 2 * len(weighed.task.hypernode.derives)
    why = "its rules copy the facts of one predicate"
    return Cost(statements + DERIVED * weighed.moved, why)


COPIES: Maintains = Operator(
    "copies", _matches, _cost, lambda weighed, _: copy_changes(weighed.task)
)
