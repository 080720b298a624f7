"""One edge of a closure less: all that may be lost with it is found in one step.

Let R be the closure of its edges E by R(x, z) :- R(x, y), E(y, z), or the other way round. If the
edge (a, b) goes, then a pair (x, z) can be lost only if a path from x to z led over it: then a was
reached from x, or is x, and z from b, or is b. All such pairs of R's own table are taken out. What
has another path comes back when the hypernode is extended (DRed, paper 3, DR2 to DR5), and where
nothing has, one statement finds that. Rounds would join facts for each step of the longest path
instead, and so would starting over. (RS2, w = 200, a link of p2: 9 ms instead of 66.)

If b is still reached from a, all pairs come back, and starting over is cheaper. That is likely
where another edge of a leads to a node from which b was reached.

The ranks of the pairs that stay are still in order: had a fact that one of them is derived from by
lower ranks been taken out, or the edge been in that derivation, it would have been taken out, too.
"""

from __future__ import annotations

from functools import partial

from sqlglot import exp

from zodiac_sql.cost.calibration import SCANNED, STATEMENT
from zodiac_sql.cost.operator import Cost, Declined, Operator
from zodiac_sql.database.statements import semi_join, union_all
from zodiac_sql.evaluate.cache_keys import relation_key
from zodiac_sql.evaluate.make_tables import make_table
from zodiac_sql.maintain.contract import Outcome, Task, Work
from zodiac_sql.maintain.operators.support import can_support, extended, growth
from zodiac_sql.maintain.steps.change_plans import gains
from zodiac_sql.maintain.steps.merge_tables import begun
from zodiac_sql.maintain.steps.recursion import Recursion
from zodiac_sql.maintain.steps.working_table import WorkingTable
from zodiac_sql.maintain.weighed import Maintains, Weighed
from zodiac_sql.sql.plan import Version
from zodiac_sql.sql.relations import Relation, columns_of, relation_query, table


def loses_one_edge(task: Task) -> bool:
    """Whether the change is that a closure loses one of its edges."""
    inputs, former = task.inputs, task.former
    if inputs.edges is None or inputs.edges not in inputs.deltas:
        return False
    if former.heritage or not former.ranked or len(task.hypernode.derives) > 1:
        return False
    (predicate,) = task.hypernode.derives
    edges = inputs.relation(inputs.edges, Version.BEFORE)
    if [c.meant for c in edges.columns] != [c.meant for c in task.columns(predicate)]:
        return False
    deltas = inputs.deltas.values()
    return all((d.deleted.rows, d.inserted.rows) == (1, 0) for d in deltas)


def lose_one_edge(recursion: Recursion) -> Work | Declined:
    """Create `gone_*`: the pairs of which a path may have led over the edge.

    Declines if there seems to be another path from its beginning to its end.
    """
    assert recursion.edges is not None
    (own,) = recursion.owns.values()
    read = partial(recursion.context.relation, recursion.edges)
    runner, edge, edges = recursion.runner, read(Version.DELETED), read(Version.ALL)
    before = own.relation(Version.BEFORE)
    if own.stored is None:
        return Work()
    key = ("detour", *map(relation_key, (edge, edges, before)))
    if runner.store.rows(runner.text(key, lambda: _detour(edge, edges, before))):
        return Declined("another path seems to lead past that edge")
    key = ("lost edge", relation_key(edge), relation_key(before), own.stored.table, own.ranked)
    over = partial(_over, own, edge, before)
    # As it is written: DuckDB would keep pairs, of which there are many, and look nodes up in them.
    rows = make_table(runner, key, own.gone_table, over, as_written=True)
    own.loses(rows)
    return Work(checked=rows, overdeleted=rows, forward=rows, deletions=rows, iterations=1)


def _detour(edge: Relation, edges: Relation, before: Relation) -> exp.Select:
    """A row if another edge from the same node leads to one from which the end was reached."""
    (begin, end), (first, second) = columns_of(edge, "e"), columns_of(edges, "n")
    one, other = columns_of(before, "r")
    query = exp.select(exp.Literal.number(1)).from_(_of(edge, "e"))
    query = query.join(_of(edges, "n"), on=first.eq(begin))
    return query.join(_of(before, "r"), on=exp.and_(one.eq(second), other.eq(end))).limit(1)


def _over(own: WorkingTable, edge: Relation, before: Relation) -> exp.Query:
    """The pairs of what reached the edge, and what was reached from it."""
    assert own.stored is not None
    query = exp.select(*own.names("t")).from_(table(own.stored).as_("t"))
    for here in (0, 1):
        side = _side(edge, before, here).subquery(copy=False)
        query = semi_join(query, [columns_of(before, "t")[here]], side, f"n{here}")
    return query


def _side(edge: Relation, before: Relation, here: int) -> exp.Query:
    """The nodes from which the edge was reached, or those that it led to, with its own end."""
    end, ends = columns_of(edge, "e")[here], columns_of(before, "r")
    name = before.columns[here].name
    nearest = exp.select(end.as_(name, quoted=True)).from_(_of(edge, "e"))
    others = exp.select(ends[here]).from_(_of(before, "r"))
    others = others.join(_of(edge, "e"), on=ends[1 - here].eq(end.copy()))
    return union_all([nearest, others])


def _of(relation: Relation, alias: str) -> exp.Subquery:
    return relation_query(relation).subquery(alias, copy=False)


def _matches(weighed: Weighed) -> bool:
    return can_support(weighed) and loses_one_edge(weighed.task)


def _cost(weighed: Weighed) -> Cost:
    """Six statements of several joins find what may be lost, and look for other paths. All pairs
    are looked at twice. (One edge of 970,000 pairs in a tree: 0.12 s.)
    """
    return Cost(12 * STATEMENT + 2 * SCANNED * weighed.held, "one edge is lost")


def _run(weighed: Weighed, next_ms: float) -> Outcome | Declined:
    task = weighed.task
    recursion = begun(task, ranked=True)
    return extended(recursion, gains(task), lose_one_edge(recursion), growth(weighed, next_ms))


LOST_EDGE: Maintains = Operator("lost edge", _matches, _cost, _run)
