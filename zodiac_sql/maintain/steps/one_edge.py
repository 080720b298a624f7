"""One new edge of a transitive closure: all that follows from it is found in one step.

Let R be the closure of its edges E by R(x, z) :- R(x, y), E(y, z), or the other way round. If no
path led back from b to a, then all that is new with an edge (a, b) are pairs (x, y) of a node x
from which a is reached, and a node y that is reached from b, a and b included (Italiano 1986,
"Amortized efficiency of a path retrieval data structure"). What reached b already, and what a
reached, gives no new pair. Rounds would join facts for each step of the longest path instead.

If the rule asks for x != z, what a reached may give new ones: where a reaches y through x, the path
from x by a to y leads back to x, so the rule has derived R(x, y) by no such path.

So the facts of R that begin or end at a or b tell all that is needed, and R is read once for them.

The rank of a new fact is more than that of R(x, a) and that of R(b, y) together. So a fact comes
after the ones that are one edge shorter at either end, from which the rule derives it.

The hypernode's own table also has edges that are paths of other edges. So the pair (a, b) itself is
new there only if a path from a to b takes the edge and a cycle: it stands apart.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import partial

from sqlglot import exp

from zodiac_sql.cost.calibration import HASHED, ROUND, SCANNED
from zodiac_sql.database.runner import Runner
from zodiac_sql.database.statements import (
    anti_join,
    parameter,
    temp_table,
    union_all,
)
from zodiac_sql.evaluate.cache_keys import relation_key
from zodiac_sql.evaluate.make_tables import make_table
from zodiac_sql.maintain.steps.recursion import Recursion
from zodiac_sql.maintain.steps.working_table import WorkingTable
from zodiac_sql.names import RANK
from zodiac_sql.sql.plan import Version
from zodiac_sql.sql.relations import Part, Relation, part_query, rank_of, relation_query
from zodiac_sql.sql.set_difference import unknown

FEWEST = 1_000
"""If a closure has fewer pairs than this, rounds do it: there can be 45 of them at most, and mostly
one or two are enough, which take fewer statements."""

HIGHEST_SUM = 2**40
"""Where ranks are higher than this, sums of them are not ranks any more, but give their order."""

_NODE, _OWN = "node", "own"

_BEFORE, _AFTER = "before", "after"
"""The nodes of both sides of the edge, each with a rank."""


@dataclass(frozen=True, slots=True)
class _Closure:
    """R after the change, the new edge, and the facts that R's own table had before."""

    own: WorkingTable
    edge: Part
    edge_columns: tuple[str, str]
    is_left: bool
    """Whether the rule is R(x, z) :- R(x, y), E(y, z)."""
    unequal: bool
    """Whether it also asks for x != z."""

    @property
    def all(self) -> Relation:
        return self.own.relation(Version.ALL)

    @property
    def key(self) -> Hashable:
        """All that SQL about it depends on."""
        relations = map(relation_key, (self.all, self.own.known))
        return (*relations, self.edge.table, self.edge_columns, self.is_left, self.unequal)

    @property
    def touched(self) -> str:
        """The table of the facts that begin or end at the edge, and whether R's own table has them.

        A fact that is also known from outside is there twice.
        """
        return f"touched_{self.own.stem}"


@dataclass(frozen=True, slots=True)
class _Found:
    """What these facts tell: whether a path leads back, whether one may take the edge and a cycle,
    the highest rank, and how many pairs there can be of nodes of both sides.
    """

    back: bool
    cycle: bool
    highest: int
    pairs: int


def add_one_edge(recursion: Recursion) -> int | None:
    """Create `plus_*` if one new edge is all that a closure gains. Returns how many facts are new.

    None: rounds have to do it.
    """
    closure, runner = _closure(recursion), recursion.runner
    if closure is None or closure.all.rows < FEWEST or runner.store.watch.counts:
        return None
    found = _look(runner, closure)
    most = (ROUND + SCANNED * closure.all.rows) / HASHED  # more take longer than a round of few
    if found.back or (found.pairs > most and _useful(runner, closure) > most):
        return None
    own, high = closure.own, found.highest > HIGHEST_SUM
    query = partial(_new_facts, closure, cycle=found.cycle, high=high)
    key = ("one edge", closure.key, found.cycle, high)
    rows = make_table(runner, key, own.added_table, query)
    own.gains(rows)
    if (bounds := runner.store.watch.bounds) is not None:
        bounds.found([rule.name for rule in recursion.hypernode.rules], rows)
    return rows


def _closure(recursion: Recursion) -> _Closure | None:
    """The closure, if there is nothing else to do for its hypernode."""
    owns, edges = recursion.owns, recursion.edges
    if edges is None or recursion.closures or len(owns) > 1:
        return None
    (own,) = owns.values()
    if own.gone or own.stored is None or own.outside_delta.inserted.rows != 1:
        return None
    new = recursion.context.relation(edges, Version.INSERTED)
    if new.rows != 1 or len(new.parts) != 1 or not _is_a_table(new.parts[0]):
        return None
    if [c.meant for c in new.columns] != [c.meant for c in own.columns]:
        return None
    (rule,) = recursion.hypernode.rules
    recursive = next(a for a in rule.positive_atoms() if a.predicate == own.predicate)
    first, second = (column.name for column in new.columns)
    is_left = recursive.terms[0] == rule.head.terms[0]
    unequal = len(rule.body) > 2
    return _Closure(own, new.parts[0], (first, second), is_left, unequal)


def _is_a_table(part: Part) -> bool:
    """Whether all rows of a temporary table are meant, and nothing else."""
    return part.schema == "temp" and not (part.read.minus or part.read.picked or part.read.pairs)


# --- what is there --------------------------------------------------------------------------------


def _look(runner: Runner, closure: _Closure) -> _Found:
    """Create the table of the facts that begin or end at the edge, and see what they tell."""
    ends = exp.select(*(_edge_end(closure, "e", place) for place in (0, 1)))
    ((first, second),) = runner.store.rows(ends.from_(_edge(closure, "e")))
    given = {"first": first, "second": second}
    query = partial(_touching, closure)
    make_table(runner, ("touched", closure.key), closure.touched, query, given)
    text = runner.text(("told", closure.key), lambda: _told(closure))
    ((back, cycle, highest, before, after),) = runner.store.rows(text, given)
    back = bool(back) or first == second
    return _Found(back, bool(cycle), int(highest), (before + 1) * (after + 1))


def _touching(closure: _Closure) -> exp.Query:
    """The facts that begin or end at the edge, whose ends are parameters: no join is needed."""
    known, queries = closure.own.known, []
    for part in closure.all.parts:
        rows = part_query(part, closure.all).subquery("t", copy=False)
        own = exp.convert(part in known.parts).as_(_OWN)
        columns = [_end(closure, "t", place) for place in (0, 1)]
        ends = [parameter("first"), parameter("second")]
        at_it = [column.copy().isin(*(end.copy() for end in ends)) for column in columns]
        rank = rank_of("t") if closure.own.ranked else exp.Literal.number(0)
        query = exp.select(*columns, rank.as_(RANK, quoted=True), own).from_(rows)
        queries.append(query.where(exp.or_(*at_it), copy=False))
    return union_all(queries)


def _told(closure: _Closure) -> exp.Select:
    """One row with what they tell."""
    ends = parameter("first"), parameter("second")
    begins, arrives = (
        [_end(closure, "t", place).eq(end.copy()) for end in ends] for place in (0, 1)
    )
    here, there = (begins, arrives) if closure.is_left else (arrives[::-1], begins[::-1])
    edge = exp.not_(exp.column(_OWN, table="t"))
    cycle = exp.and_(edge, there[1].copy(), exp.not_(here[0].copy()))
    loop = exp.and_(here[0].copy(), there[0].copy())
    return exp.select(
        exp.LogicalOr(this=exp.and_(begins[1], arrives[0])),
        exp.LogicalOr(this=exp.or_(cycle, loop)),
        _highest(closure),
        exp.CountIf(this=arrives[0].copy()),
        exp.CountIf(this=begins[1].copy()),
    ).from_(_touched(closure, "t"))


def _useful(runner: Runner, closure: _Closure) -> int:
    """How many pairs there are of nodes that may give new ones."""

    def query() -> exp.Expr:
        before, after = (
            exp.select(exp.Count(this=exp.Star())).from_(side).subquery(copy=False)
            for side in (_BEFORE, _AFTER)
        )
        pairs = exp.select(exp.Mul(this=before, expression=after))
        return _with_sides(closure, pairs)

    return runner.store.count(runner.text(("useful", closure.key), query))


def _cycle(closure: _Closure) -> exp.Select:
    """A row if the rule derives the edge by a cycle at that end at which it prolongs paths, or by a
    fact that says that the other end is related to itself.

    Edges are known from outside: R's own table does not have them as such.
    """
    side, here, there = (_AFTER, 0, 1) if closure.is_left else (_BEFORE, 1, 0)
    edge = exp.not_(exp.column(_OWN, table="t"))
    at_the_end = _end(closure, "t", there).eq(_edge_end(closure, "e", there))
    from_it = _end(closure, "t", here).eq(exp.column(_NODE, "n"))
    cycle = exp.and_(edge, at_the_end, from_it)
    loop = exp.and_(
        *(_end(closure, "t", place).eq(_edge_end(closure, "e", here)) for place in (0, 1))
    )
    query = exp.select(exp.Literal.number(1)).from_(_touched(closure, "t"))
    query = query.join(_edge(closure, "e"), join_type="cross")
    query = query.join(exp.to_table(side).as_("n"), on=cycle, join_type="left")
    return query.where(exp.or_(exp.column(_NODE, "n").is_(exp.null()).not_(), loop))


def _with_sides(closure: _Closure, query: exp.Select) -> exp.Select:
    """A query that may read the nodes of both sides."""
    query = query.with_(_BEFORE, as_=_nodes(closure, 0), materialized=True, copy=False)
    return query.with_(_AFTER, as_=_nodes(closure, 1), materialized=True, copy=False)


def _nodes(closure: _Closure, here: int) -> exp.Select:
    """The nodes of one side that may give new pairs, with ranks: the edge's own end, and those from
    which a path leads to it, or to which one leads from it.
    """
    there = 1 - here
    zero = exp.Literal.number(0)
    nearest = exp.select(
        _edge_end(closure, "e", here).as_(_NODE), zero.as_(RANK, quoted=True)
    ).from_(_edge(closure, "e"))
    rank = exp.func("greatest", rank_of("t"), zero.copy()) + 1
    others = exp.select(_end(closure, "t", here).as_(_NODE), rank.as_(RANK, quoted=True))
    others = others.from_(_touched(closure, "t")).join(
        _edge(closure, "e"), on=_end(closure, "t", there).eq(_edge_end(closure, "e", here))
    )
    query = exp.select(exp.column(_NODE, "n"), exp.Min(this=rank_of("n")).as_(RANK, quoted=True))
    query = query.from_(union_all([nearest, others]).subquery("n", copy=False))
    query = query.group_by(exp.column(_NODE, "n"))
    if closure.unequal:
        return query
    useless = exp.select(_end(closure, "t", here).as_(_NODE)).from_(_touched(closure, "t"))
    useless = useless.join(
        _edge(closure, "e"), on=_end(closure, "t", there).eq(_edge_end(closure, "e", there))
    ).where(exp.column(_OWN, table="t"))
    return anti_join(query, [exp.column(_NODE, "n")], useless.subquery(copy=False), "u")


# --- the new facts --------------------------------------------------------------------------------


def _new_facts(closure: _Closure, *, cycle: bool, high: bool) -> exp.Query:
    """All pairs of nodes of both sides that the hypernode had not derived."""
    own = closure.own
    heads = [_pairs(closure)] + [_edge_itself(closure)] * cycle
    rows = unknown(union_all(heads), own.known, ranked=own.ranked, once=True)
    if high:
        rows = _numbered(closure, rows)
    return _with_sides(closure, exp.select(exp.Star()).from_(rows.subquery("a", copy=False)))


def _numbered(closure: _Closure, rows: exp.Select) -> exp.Select:
    """The same, with ranks that follow the highest one, in the order of those that they have."""
    number = exp.Window(this=exp.RowNumber(), order=exp.Order(expressions=[rank_of("q")]))
    columns = [_end(closure, "q", place) for place in (0, 1)]
    rank = (_highest(closure) + number).as_(RANK, quoted=True)
    return exp.select(*columns, rank).from_(rows.subquery("q", copy=False))


def _pairs(closure: _Closure) -> exp.Select:
    """All pairs of nodes of both sides, but for the edge itself."""
    first, second = exp.column(_NODE, "x"), exp.column(_NODE, "y")
    query = _row(closure, first, second, rank_of("x") + rank_of("y") + 1)
    query = query.from_(exp.to_table(_BEFORE).as_("x"))
    for other in (exp.to_table(_AFTER).as_("y"), _edge(closure, "e")):
        query = query.join(other, join_type="cross")
    one, other_end = (_edge_end(closure, "e", place) for place in (0, 1))
    return query.where(exp.not_(exp.and_(first.copy().eq(one), second.copy().eq(other_end))))


def _edge_itself(closure: _Closure) -> exp.Select:
    """The edge, after all that is there or new."""
    highest: exp.Expr = exp.Literal.number(2)
    for side in (_BEFORE, _AFTER):
        top = exp.select(exp.Max(this=exp.column(RANK, quoted=True))).from_(side)
        highest = highest + top.subquery(copy=False)
    first, second = (_edge_end(closure, "e", place) for place in (0, 1))
    query = _row(closure, first, second, highest + _highest(closure)).from_(_edge(closure, "e"))
    return query.where(exp.Exists(this=_cycle(closure)))


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
    known = relation_query(closure.own.known).subquery("m", copy=False)
    query = exp.select(exp.Max(this=exp.column(RANK, quoted=True))).from_(known)
    return exp.Coalesce(this=query.subquery(copy=False), expressions=[exp.Literal.number(0)])


def _touched(closure: _Closure, alias: str) -> exp.Expr:
    return temp_table(closure.touched).as_(alias)


def _edge(closure: _Closure, alias: str) -> exp.Expr:
    return temp_table(closure.edge.table).as_(alias)


def _edge_end(closure: _Closure, alias: str, place: int) -> exp.Column:
    return exp.column(closure.edge_columns[place], table=alias, quoted=True)


def _end(closure: _Closure, alias: str, place: int) -> exp.Column:
    return exp.column(closure.own.columns[place].name, table=alias, quoted=True)
