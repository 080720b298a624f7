"""How a recursion that the workers compute apart (apart.py) follows a change.

    path(X, Y) :- edge(X, Y).        path(X, Z) :- path(X, Y), edge(Y, Z).

If edge(b, c) comes or goes, only paths from those X change from which a path leads to b: for these,
all paths are derived anew, and compared with those before. In general, each fact that comes or goes
has a derivation with a step that was not there before, or is not there any more, from facts that
were there before, and its pivot is that of this step's head: so the plans that find what a change
derives and refutes at once, without any recursion, find all pivots that it reaches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from zodiac_sql.database.statements import distinct, semi_join, union_all
from zodiac_sql.language.syntax import Column
from zodiac_sql.spark.apart import derived_apart, seeds_of
from zodiac_sql.spark.ledger import NOTHING, DueHypernode, Ledger, deriving, minus, refuting
from zodiac_sql.spark.pivots import Pivot
from zodiac_sql.spark.semi_naive import heads, without
from zodiac_sql.sql.plan import Version
from zodiac_sql.sql.relations import Part, relation_query, source, table


def maintain_by_pivots(ledger: Ledger, task: DueHypernode, pivot: Pivot) -> None:
    """Derive anew what has a pivot that the change reaches."""
    reached = _reached(ledger, task, pivot)
    if reached is None or not reached.rows:
        ledger.note(pivot.predicate, NOTHING, NOTHING)
        return
    tables, columns = ledger.tables, ledger.columns[pivot.predicate]
    new = old = NOTHING
    if seeds := seeds_of(pivot, ledger.columns, ledger.context):
        some = _of(reached, seeds, pivot, columns)
        part = derived_apart(tables.frames, pivot, some, ledger.columns, ledger.context)
        new = tables.taken([part], columns)
    before = ledger.relation(pivot.predicate, Version.BEFORE)
    if before.parts:
        old = tables.computed(_of(reached, relation_query(before), pivot, columns), columns)
    gained, lost = minus(tables, new, old, columns), minus(tables, old, new, columns)
    ledger.note(pivot.predicate, gained, lost)


def _reached(ledger: Ledger, task: DueHypernode, pivot: Pivot) -> Part | None:
    """The pivots of all facts that may come or go, each once; None if no plan could find any."""
    if pivot.made:
        task = replace(task, kept=(*pivot.seeds, *pivot.steps))
    name, columns = pivot.predicate, ledger.columns[pivot.predicate]
    both = refuting(ledger, task), deriving(ledger, task)
    gone, come = (heads(name, columns, plans, ledger.context) for plans in both)
    before = ledger.relation(name, Version.BEFORE)
    if come and before.parts:
        come = without(come, before, source(before, "x"))
    queries = [_pivots(query, pivot, columns) for query in (gone, come) if query]
    if not queries:
        return None
    return ledger.tables.frames.computed(distinct(union_all(queries)))


def _pivots(query: exp.Query, pivot: Pivot, columns: Sequence[Column]) -> exp.Select:
    """The columns of the pivot."""
    return exp.select(*_keys(pivot, columns, "f")).from_(query.subquery("f", copy=False))


def _of(reached: Part, facts: exp.Query, pivot: Pivot, columns: Sequence[Column]) -> exp.Select:
    """Those facts whose pivots are among some."""
    all_ = (exp.column(c.name, table="f", quoted=True) for c in columns)
    query = exp.select(*all_).from_(facts.subquery("f", copy=False))
    return semi_join(query, _keys(pivot, columns, "f"), table(reached))


def _keys(pivot: Pivot, columns: Sequence[Column], alias: str) -> list[exp.Column]:
    return [exp.column(columns[place].name, table=alias, quoted=True) for place in pivot.places]
