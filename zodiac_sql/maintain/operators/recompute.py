"""Strategy `recompute`: evaluate a hypernode from scratch and compare with what was there.

It is the oracle of the other strategies. Its cost depends on the data, not on the change.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf

from sqlglot import exp

from zodiac_sql.cost.operator import Cost, Operator, certain
from zodiac_sql.database.runner import Runner
from zodiac_sql.database.statements import create_temp
from zodiac_sql.database.store import Store
from zodiac_sql.evaluate.cache_keys import relation_key
from zodiac_sql.evaluate.evaluation import Evaluation
from zodiac_sql.evaluate.make_tables import make_part
from zodiac_sql.evaluate.partition.closure import Closure
from zodiac_sql.evaluate.partition.condensation import Condensation
from zodiac_sql.evaluate.partition.partition import compare, nodes
from zodiac_sql.evaluate.registry import evaluate
from zodiac_sql.language.syntax import Column
from zodiac_sql.maintain.contract import Anew, Maintained, Outcome, Task, Work
from zodiac_sql.maintain.steps.closure_form import directions
from zodiac_sql.maintain.weighed import Maintains, Weighed
from zodiac_sql.names import CHANGE_FACTS, between, classes
from zodiac_sql.sql.plan import Version
from zodiac_sql.sql.relations import Part, Relation, columns_of, relation_query
from zodiac_sql.sql.set_difference import absent
from zodiac_sql.storage.edits import Edit
from zodiac_sql.storage.extensions import apart, comparable, lacking
from zodiac_sql.storage.same_values import have_same_types, in_types_of


def recompute(task: Task) -> Maintained:
    """Evaluate a hypernode; tables that are as they were have no edit."""
    runner, inner, inputs = task.runner, task.inner, task.inputs
    # An operator may have given up: what it has found is no growth.
    runner.store.watch.begins_anew()
    context = replace(task.context, relation=lambda name, _: inputs.relation(name, Version.ALL))
    work = Evaluation(runner, inner.forms, inputs.after.schema, context, modules=inner.rows)
    fixpoint, decision = evaluate(work)
    edits = {}
    for predicate in task.hypernode.derives:
        edit = _edit(task, predicate, fixpoint.parts.get(predicate))
        if edit is not None:
            edits[predicate] = edit
    for predicate, closure in fixpoint.closures.items():
        edits |= _closure_edits(task, predicate, closure)
    for predicate, condensed in fixpoint.condensed.items():
        edits |= _condensed_edits(task, predicate, condensed)
    did = Work(forward=fixpoint.rows, iterations=fixpoint.iterations)
    ranked = task.hypernode.recursive and not (
        fixpoint.closures or fixpoint.condensed or task.hypernode.bests
    )
    return Maintained(edits, did, fixpoint.method, ranked, evaluation=decision)


def _edit(task: Task, predicate: str, after: Part | None) -> Edit | None:
    """The edit that turns a table into that of the new fixpoint; None if there is nothing to do.

    A table is also rewritten if only its columns have changed, and always if it has ranks: the old
    ranks may rest on facts that no longer exist, and those of several predicates belong together.
    """
    columns, before = task.columns(predicate), task.inputs.before.schema.get(predicate)
    if before is None or not task.former.tables.get(predicate):
        return Edit(after, None, None, after, rewritten=True) if after else None
    runner, stem = task.runner, task.stem(predicate)
    came, left = f"{CHANGE_FACTS}plus_{stem}", f"{CHANGE_FACTS}minus_{stem}"
    old = Relation(before.columns, task.former.held(predicate))
    new = Relation(columns, (after,) if after else ())
    if not old.rows or not new.rows or not comparable(new, old):
        inserted, deleted = after, _one(runner.store, left, old)
    elif len(old.parts) > 1 or not have_same_types(new.columns, old.columns):
        inserted = _minus(runner, came, new, in_types_of(runner.store, old, new.columns))
        deleted = _minus(runner, left, old, in_types_of(runner.store, new, old.columns))
    else:
        grows, shrinks = directions(task)
        inserted = _minus(runner, came, new, old) if grows else None
        gone = old.rows + (inserted.rows if inserted else 0) - new.rows
        deleted = _minus(runner, left, old, new) if shrinks and gone > 0 else None
    if inserted or deleted or task.hypernode.recursive or old.columns != columns:
        return Edit(inserted, deleted, None, after, rewritten=True)
    return None


def _closure_edits(task: Task, predicate: str, closure: Closure) -> dict[str, Edit]:
    """The edits that turn the tables of a partition into those of the new fixpoint."""
    if former := _former_pairs(task, predicate, closure.columns, directed=False):
        compare(closure.partition, former)
        inserted = closure.partition.part("class", "before")
        deleted = closure.partition.part("before", "class")
    else:
        now = closure.now if closure.now.rows else None
        edit = _edit(task, predicate, now)
        inserted, deleted = (edit.inserted, edit.deleted) if edit else (None, None)
    name = f"{CHANGE_FACTS}came_{closure.stem}"
    rows = nodes(closure.partition, name)
    table = Part("temp", name, rows) if rows else None
    return {
        predicate: Edit(inserted, deleted, None, None, rewritten=True, now=closure.now),
        classes(predicate): Edit(table, None, None, table, rewritten=True),
    }


def _condensed_edits(task: Task, predicate: str, condensed: Condensation) -> dict[str, Edit]:
    """The same where the relation is directed."""
    now = condensed.now
    if former := _former_pairs(task, predicate, condensed.columns, directed=True):
        condensed.compare(former)
        inserted, deleted = condensed.inserted, condensed.deleted
    else:
        edit = _edit(task, predicate, now if now.rows else None)
        inserted, deleted = (edit.inserted, edit.deleted) if edit else (None, None)
    tables = {}
    for name, (table, rows) in zip(
        (classes(predicate), between(predicate)), condensed.tables(), strict=True
    ):
        part = Part("temp", table, rows) if rows else None
        tables[name] = Edit(part, None, None, part, rewritten=True)
    return {predicate: Edit(inserted, deleted, None, None, rewritten=True, now=now), **tables}


def _former_pairs(
    task: Task, predicate: str, columns: tuple[Column, ...], directed: bool
) -> Part | None:
    """The former table, if it has been kept in the same way, with nodes of the same type."""
    held = task.former.held(predicate)
    pairs = held[0].read.pairs if len(held) == 1 else None
    if pairs is None or bool(pairs.between) != directed:
        return None
    same = have_same_types(columns, task.inputs.before.schema[predicate].columns)
    return held[0] if same else None


def _one(store: Store, name: str, relation: Relation) -> Part | None:
    """The facts of a relation in one table."""
    if len(relation.parts) < 2:
        return relation.parts[0] if relation.parts else None
    rows = store.count(create_temp(name, relation_query(relation, distinct=True)))
    return Part("temp", name, rows)


def _minus(runner: Runner, name: str, these: Relation, those: Relation) -> Part | None:
    """Temporary table `name` with the rows of one table that another does not have, if any."""

    if len(these.parts) == 1 and _as_pairs(these):
        return apart(runner.store, name, these, those)

    def query() -> exp.Query:
        if len(these.parts) == 1 and these.columns == those.columns and not _as_pairs(those):
            facts = exp.select(*columns_of(these, "c")).from_(
                relation_query(these).subquery("c", copy=False)
            )
            return absent(facts, these, relation_query(those))  # no fact is there twice
        return lacking(relation_query(these), those)

    key = ("recomputed", relation_key(these), relation_key(those))
    return make_part(runner, key, name, query)


def _as_pairs(relation: Relation) -> bool:
    """Whether a relation has pairs of nodes that are kept by their components."""
    return any(part.read.pairs for part in relation.parts)


def _run(weighed: Weighed, _: float) -> Outcome:
    """Evaluate anew, or let it be done with something else at work in it."""
    return Anew() if weighed.task.instead.reconsiders else recompute(weighed.task)


RECOMPUTE: Maintains = Operator(
    "recompute",
    lambda weighed: True,
    lambda weighed: Cost(weighed.anew, weighed.why_not_otherwise),
    _run,
)

AS_CHOSEN: Maintains = certain(
    "recompute", "as chosen", lambda weighed: True, lambda weighed: recompute(weighed.task)
)
"""The same as a strategy that users choose."""

LAST: Maintains = Operator(
    "recompute",
    lambda weighed: True,
    lambda weighed: Cost(inf, weighed.why_not_otherwise),
    lambda weighed, _: recompute(weighed.task),
)
"""The same where another strategy was chosen, which cannot maintain the hypernode."""
