"""One new edge of a transitive closure: all that follows from it is found in one step.

Let R be the closure of its edges E by R(x, z) :- R(x, y), E(y, z), or the other way round. If no
path led back from b to a, then all that is new with an edge (a, b) are pairs (x, y) of a node x
from which a is reached, and a node y that is reached from b, a and b included (Italiano 1986,
"Amortized efficiency of a path retrieval data structure"). What reached b already, and what a
reached, gives no new pair. Rounds would join facts for each step of the longest path instead.

The rank of a new fact is more than that of R(x, a) and that of R(b, y) together. So a fact comes
after the ones that are one edge shorter at either end, from which the rule derives it.

The hypernode's own table also has edges that are paths of other edges. So the pair (a, b) itself is
new there only if a path from a to b takes the edge and a cycle: it stands apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from sqlglot import exp

from zodiac_sql.database.render import render
from zodiac_sql.database.statements import anti_join, temp_table, union_all
from zodiac_sql.evaluate.cache_keys import relation_key
from zodiac_sql.evaluate.make_tables import make_part, make_table
from zodiac_sql.maintain.contract import Task
from zodiac_sql.maintain.steps.working_table import WorkingTable, WorkingTables, context_of
from zodiac_sql.names import RANK
from zodiac_sql.sql.plan import Version
from zodiac_sql.sql.relations import Part, Relation, rank_of, relation_query
from zodiac_sql.sql.set_difference import unknown

FEWEST = 50
"""If the first round finds fewer new facts than this, and there are fewer nodes in the direction
that rounds go, rounds do the rest. (Measured on a closure of 118,000 pairs, where a new edge brings
3 to 50: 26 ms by rounds, 36 in one step. But a round takes a millisecond, and there may be one for
each node: 160 to 270 ms for the fifth edge of a chain of 200, 10 in one step.)"""

MOST_PAIRS = 2_000_000
"""More pairs than this are not compared with what is known: rounds look only at what is new."""

HIGHEST_SUM = 2**40
"""Where ranks are higher than this, sums of them are not ranks any more, but give their order."""

_NODE = "node"


@dataclass(frozen=True, slots=True)
class _Closure:
    """R and E after the change, the new edge, and the facts that R's own table had before."""

    own: WorkingTable
    edges: Relation
    edge: Part
    is_left: bool
    """Whether the rule is R(x, z) :- R(x, y), E(y, z)."""

    @property
    def all(self) -> Relation:
        return self.own.relation(Version.ALL)

    @property
    def key(self) -> tuple[object, ...]:
        """All that SQL about it depends on."""
        relations = (self.all, self.edges, self.own.known)
        return (*map(relation_key, relations), self.edge.table, self.is_left)


def add_one_edge(task: Task, owns: WorkingTables, at_first: int) -> int | None:
    """Create `plus_*` if one new edge is all that a closure gains. Returns how many facts are new.

    The first round has found some of them. None: further rounds have to do it.
    """
    closure = _closure(task, owns)
    if closure is None or (at_first < FEWEST and _ends_soon(task, closure)):
        return None
    own = closure.own
    before = _side(task, closure, "reaching", to_edge=True)
    after = _side(task, closure, "reached", to_edge=False) if before else None
    if before is None or after is None or before.rows * after.rows > MOST_PAIRS:
        return None
    query = partial(_new_facts, closure, before, after)
    own.gains(make_table(task.store, task.cache, ("one edge", closure.key), own.plus_table, query))
    return own.plus


def _closure(task: Task, owns: WorkingTables) -> _Closure | None:
    """The closure, if there is nothing else to do for its hypernode."""
    if task.edges is None or task.closures or task.marking.next or len(owns) > 1:
        return None
    (own,) = owns.values()
    if own.gone or own.stored is None or own.inserted.rows != 1:
        return None
    context = context_of(task, owns)
    new = context.relation(task.edges, Version.INSERTED)
    edges = context.relation(task.edges, Version.ALL)
    if new.rows != 1 or len(new.parts) != 1 or not _is_a_table(new.parts[0]):
        return None
    if [c.type for c in edges.columns] != [c.type for c in own.columns]:
        return None
    (rule,) = task.hypernode.rules
    recursive = next(a for a in rule.positive_atoms() if a.predicate == own.predicate)
    return _Closure(own, edges, new.parts[0], recursive.terms[0] == rule.head.terms[0])


def _is_a_table(part: Part) -> bool:
    """Whether all rows of a temporary table are meant, and nothing else."""
    return part.schema == "temp" and not (part.minus or part.picked or part.pairs)


def _ends_soon(task: Task, closure: _Closure) -> bool:
    """Whether few nodes lie in the direction that rounds go, so that there are few rounds.

    A path of n nodes is n * (n - 1) / 2 pairs. If there are fewer, nothing needs to be counted.
    """
    if closure.all.rows < FEWEST * (FEWEST - 1) // 2:
        return True

    def query() -> str:
        nodes = _others(closure, 1 if closure.is_left else 0).limit(FEWEST)
        counted = exp.select(exp.Count(this=exp.Star())).from_(nodes.subquery("n", copy=False))
        return render(counted)

    text = task.cache.get(("ends soon", closure.key), query)
    return task.store.count(text) < FEWEST


# --- the two sides --------------------------------------------------------------------------------


def _side(task: Task, closure: _Closure, name: str, to_edge: bool) -> Part | None:
    """The nodes from which the edge is reached, or those that it leads to, with ranks."""
    name = f"{name}_{closure.own.stem}"
    query = partial(_nodes, closure, to_edge)
    return make_part(task.store, task.cache, (name, closure.key), name, query)


def _nodes(closure: _Closure, to_edge: bool) -> exp.Select:
    """The nodes of one side: none if a path leads back, or the edge is a loop."""
    here, there = (0, 1) if to_edge else (1, 0)
    known = _of(closure.own.known, "h")
    same = _end(closure.own, "h", there).eq(_edge_end(closure, "e", there))
    useless = exp.select(_end(closure.own, "h", here).as_(_NODE)).from_(known)
    useless = useless.join(_edge(closure, "e"), on=same)
    nodes = union_all([_nearest(closure, here), _others(closure, here)])
    rank = exp.Min(this=rank_of("n")) if closure.own.ranked else exp.Literal.number(0)
    query = exp.select(exp.column(_NODE, "n"), rank.as_(RANK, quoted=True))
    query = query.from_(nodes.subquery("n", copy=False)).group_by(exp.column(_NODE, "n"))
    query = anti_join(query, [exp.column(_NODE, "n")], useless.subquery(copy=False), "u")
    return query.where(exp.not_(exp.Exists(this=_way_back(closure))), copy=False)


def _nearest(closure: _Closure, here: int) -> exp.Select:
    """The edge's own end."""
    rank = exp.Literal.number(0).as_(RANK, quoted=True)
    end = _edge_end(closure, "e", here)
    return exp.select(end.as_(_NODE), rank).from_(_edge(closure, "e"))


def _others(closure: _Closure, here: int) -> exp.Select:
    """The nodes that a path leads from, or to, on this side of the edge."""
    own, there = closure.own, 1 - here
    zero = exp.Literal.number(0)
    rank = exp.func("greatest", rank_of("r"), zero) if own.ranked else zero
    query = exp.select(_end(own, "r", here).as_(_NODE), (rank + 1).as_(RANK, quoted=True))
    query = query.from_(_of(closure.all, "r"))
    return query.join(
        _edge(closure, "e"), on=_end(own, "r", there).eq(_edge_end(closure, "e", here))
    )


def _way_back(closure: _Closure) -> exp.Select:
    """A row if a path leads from the end of the edge to its beginning, or both are one node."""
    own = closure.own
    first, second = (_edge_end(closure, "e", place) for place in (0, 1))
    back = exp.and_(_end(own, "r", 0).eq(second), _end(own, "r", 1).eq(first))
    query = exp.select(exp.Literal.number(1)).from_(_edge(closure, "e"))
    query = query.join(_of(closure.all, "r"), on=back, join_type="left")
    return query.where(exp.or_(_end(own, "r", 0).is_(exp.null()).not_(), first.eq(second)))


# --- the new facts --------------------------------------------------------------------------------


def _new_facts(closure: _Closure, before: Part, after: Part) -> exp.Query:
    """All pairs of nodes of both sides that the hypernode had not derived."""
    own = closure.own
    names = [column.name for column in own.columns]
    heads = union_all([_pairs(closure, before, after), _edge_itself(closure, before, after)])
    rows = unknown(heads, own.known, own.ranked)
    if not own.ranked:
        return rows
    sums = exp.column(RANK, table="q", quoted=True)
    numbered = _highest(closure) + exp.Window(
        this=exp.RowNumber(), order=exp.Order(expressions=[sums.copy()])
    )
    too_high = _highest(closure) > exp.Literal.number(HIGHEST_SUM)
    rank = exp.case().when(too_high, numbered).else_(sums)
    columns = [exp.column(name, table="q", quoted=True) for name in names]
    return exp.select(*columns, rank.as_(RANK, quoted=True)).from_(rows.subquery("q", copy=False))


def _pairs(closure: _Closure, before: Part, after: Part) -> exp.Select:
    """All pairs of nodes of both sides, but for the edge itself."""
    first, second = exp.column(_NODE, "x"), exp.column(_NODE, "y")
    query = _row(closure, first, second, rank_of("x") + rank_of("y") + 1)
    query = query.from_(temp_table(before.table).as_("x"))
    for table in (temp_table(after.table).as_("y"), _edge(closure, "e")):
        query = query.join(table, join_type="cross")
    one, other = (_edge_end(closure, "e", place) for place in (0, 1))
    return query.where(exp.not_(exp.and_(first.eq(one), second.eq(other))))


def _edge_itself(closure: _Closure, before: Part, after: Part) -> exp.Select:
    """The edge, if the rule derives it by a cycle at that end at which it prolongs paths, or by a
    fact that says that the other end is related to itself.
    """
    own = closure.own
    beside, here, there = (after, 0, 1) if closure.is_left else (before, 1, 0)
    columns = [exp.column(c.name, table="c", quoted=True) for c in closure.edges.columns]
    cycle = exp.select(exp.Literal.number(1)).from_(_of(closure.edges, "c"))
    cycle = cycle.join(
        temp_table(beside.table).as_("b"), on=columns[here].eq(exp.column(_NODE, "b"))
    )
    cycle = cycle.where(columns[there].eq(_edge_end(closure, "e", there)))
    loop = (
        exp.select(exp.Literal.number(1))
        .from_(_of(closure.all, "l"))
        .where(*(_end(own, "l", place).eq(_edge_end(closure, "e", here)) for place in (0, 1)))
    )
    highest: exp.Expr = exp.Literal.number(2)
    for part in (before, after):
        top = exp.select(exp.Max(this=exp.column(RANK, quoted=True))).from_(temp_table(part.table))
        highest = highest + top.subquery(copy=False)
    first, second = (_edge_end(closure, "e", place) for place in (0, 1))
    query = _row(closure, first, second, highest + _highest(closure)).from_(_edge(closure, "e"))
    return query.where(exp.or_(exp.Exists(this=cycle), exp.Exists(this=loop)))


def _row(closure: _Closure, first: exp.Expr, second: exp.Expr, rank: exp.Expr) -> exp.Select:
    """SELECT of a pair as R's table has it."""
    names = [column.name for column in closure.own.columns]
    pair = [
        value.as_(name, quoted=True) for value, name in zip((first, second), names, strict=True)
    ]
    return exp.select(*pair, *([rank.as_(RANK, quoted=True)] if closure.own.ranked else []))


def _highest(closure: _Closure) -> exp.Expr:
    """The highest rank of R's own table."""
    if not closure.own.ranked:
        return exp.Literal.number(0)
    query = exp.select(exp.Max(this=exp.column(RANK, quoted=True))).from_(
        _of(closure.own.known, "m")
    )
    return exp.Coalesce(this=query.subquery(copy=False), expressions=[exp.Literal.number(0)])


def _of(relation: Relation, alias: str) -> exp.Subquery:
    return relation_query(relation).subquery(alias, copy=False)


def _edge(closure: _Closure, alias: str) -> exp.Expr:
    return temp_table(closure.edge.table).as_(alias)


def _edge_end(closure: _Closure, alias: str, place: int) -> exp.Column:
    return exp.column(closure.edges.columns[place].name, table=alias, quoted=True)


def _end(own: WorkingTable, alias: str, place: int) -> exp.Column:
    return exp.column(own.columns[place].name, table=alias, quoted=True)
