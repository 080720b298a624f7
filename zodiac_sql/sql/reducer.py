"""Acyclic rules over their join tree: each atom reduced by its neighbours, then joined early.

p(A, C) :- q(A, B), r(B, C), s(C, D), t(D, E). does not need D and E. A flat join has a row for each
way through all four atoms. Over a join tree, `s` and `t` only filter, and only A and C are carried
on. This is cross-node evaluation (paper 5, Algorithm 4) in which each atom is a node:

1. top-down semi joins from the delta, if it is small,
2. bottom-up and top-down semi joins from the root, after which each node has only rows that join,
3. the join, bottom-up: each node hands its parent no more than the rest of the rule needs.

Always run steps 2 and 3. Step 3 alone reduces bottom-up, too, but it takes 1,028 ms for a chain of
four relations of 200,000 rows of which the root has 100 (on two cores); with step 2 it takes 49 ms,
and 15 with step 1 as well. If there is nothing to reduce, step 2 costs a tenth to a third.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from zodiac_sql.database.statements import distinct, joining
from zodiac_sql.language.binding import variables, variables_needed
from zodiac_sql.language.syntax import Column, Type, Variable
from zodiac_sql.language.types import body_types
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.plan import SMALL_VERSIONS, Plan, Scan
from zodiac_sql.sql.relations import HOLDS
from zodiac_sql.sql.scans import column_names, heads, quoted, side
from zodiac_sql.sql.select import Compiled

FEWEST_FIRST_ROWS = 10_000
"""Reduce a plan only if its first scan has at least this many rows: with fewer, the flat join takes
half the time. (A delta of 100 rows and three relations of 200,000: 10 ms flat, 20 reduced.)"""

FIRST_PASS_RATIO = 3
"""Run the first pass, away from the delta, only if the largest node has more than this many times
the rows of the delta (paper 5, section 5)."""


@dataclass(frozen=True, slots=True)
class JoinTree:
    """A plan whose scans form a join tree: all scans that share a variable are connected.

    Parents stand before their children; the root is the first. For each scan, `columns` are its
    variables that anything else needs, and `handed` the variables that its subtree hands over.
    """

    plan: Plan
    scans: tuple[Scan, ...]
    parents: tuple[int | None, ...]
    columns: tuple[tuple[Variable, ...], ...]
    handed: tuple[tuple[Variable, ...], ...]

    def children(self, place: int) -> list[int]:
        return [child for child, parent in enumerate(self.parents) if parent == place]

    def neighbours(self, place: int) -> list[int]:
        parent = self.parents[place]
        return [*([] if parent is None else [parent]), *self.children(place)]

    def only_filters(self, place: int) -> bool:
        """Whether a node hands over nothing but what its parent has: a semi join is enough."""
        parent = self.parents[place]
        if parent is None or not self.handed[place]:
            return False
        return set(self.handed[place]) <= set(self.columns[parent])

    @property
    def delta(self) -> int | None:
        """The place of the scan that is small, if there is one."""
        small = (place for place, scan in enumerate(self.scans) if scan.version in SMALL_VERSIONS)
        return next(small, None)


def join_tree(plan: Plan) -> JoinTree | None:
    """The scans of a plan as a join tree, if its body is acyclic and a join tree can help.

    It can help if some node need not hand over all variables of its subtree.
    """
    if len(plan.scans) < 3 or plan.body.aggregates:
        return None
    if any(scan.atom not in plan.body.atoms for scan in plan.scans):
        return None
    wanted = set(variables_needed(plan.rule.head, plan.body))
    places, parents = _spanning(plan.scans, wanted)
    scans = tuple(plan.scans[place] for place in places)
    if not _is_connected(scans, parents):
        return None
    columns = _columns(scans, wanted)
    handed, helps = _handed(scans, columns, parents, wanted)
    return JoinTree(plan, scans, parents, columns, handed) if helps else None


def _variables(scan: Scan) -> dict[Variable, None]:
    """The variables of a scan, each once, in order."""
    return dict.fromkeys(variables(*scan.atom.terms))


def _spanning(
    scans: Sequence[Scan], needed: Collection[Variable]
) -> tuple[list[int], tuple[int | None, ...]]:
    """A spanning tree whose edges share the most variables: a join tree, if there is one at all.

    The scan with the most variables that are needed is the root, so that few must be handed up.
    """
    names = [_variables(scan).keys() for scan in scans]
    root = max(range(len(scans)), key=lambda place: len(names[place] & set(needed)))
    placed, parents = [root], list[int | None]([None])
    waiting = [place for place in range(len(scans)) if place != root]
    while waiting:
        edges = [(place, parent) for place in waiting for parent in range(len(placed))]
        place, parent = max(edges, key=lambda edge: len(names[edge[0]] & names[placed[edge[1]]]))
        waiting.remove(place)
        placed.append(place)
        parents.append(parent)
    return placed, tuple(parents)


def _is_connected(scans: Sequence[Scan], parents: Sequence[int | None]) -> bool:
    """Whether each variable enters the tree once: the scans that have it are connected."""
    entered: set[Variable] = set()
    for scan, parent in zip(scans, parents, strict=True):
        above = _variables(scans[parent]).keys() if parent is not None else set()
        new = _variables(scan).keys() - above
        if new & entered:
            return False
        entered |= new
    return True


def _columns(
    scans: Sequence[Scan], needed: Collection[Variable]
) -> tuple[tuple[Variable, ...], ...]:
    """Of each scan, the variables that another scan or the rest of the rule has."""
    names = [_variables(scan) for scan in scans]
    return tuple(
        tuple(v for v in own if v in needed or sum(v in other for other in names) > 1)
        for own in names
    )


def _handed(
    scans: Sequence[Scan],
    columns: Sequence[Sequence[Variable]],
    parents: Sequence[int | None],
    needed: Collection[Variable],
) -> tuple[tuple[tuple[Variable, ...], ...], bool]:
    """The variables that each node hands over, and whether some node hands over less than all."""
    below = [dict.fromkeys(own) for own in columns]
    handed: list[tuple[Variable, ...]] = [()] * len(columns)
    helps = False
    for place, parent in reversed(list(enumerate(parents))):
        above = set(needed) | (set(columns[parent]) if parent is not None else set())
        handed[place] = tuple(v for v in below[place] if v in above)
        if parent is not None:
            dropped = below[place].keys() | _variables(scans[place]).keys()
            helps = helps or len(dropped) > len(handed[place])
            below[parent] |= dict.fromkeys(handed[place])
    return tuple(handed), helps


def is_worth_while(tree: JoinTree, context: Context) -> bool:
    """Whether a plan begins with enough rows: with few, the flat join is faster anyway."""
    begins = tree.scans[tree.delta or 0]
    return context.relation(begins.atom.predicate, begins.version).rows >= FEWEST_FIRST_ROWS


def needs_first_pass(tree: JoinTree, context: Context) -> bool:
    """Whether the delta is small enough to reduce all other nodes first (paper 5, section 5)."""
    if tree.delta is None:
        return False
    sizes = [context.relation(s.atom.predicate, s.version).rows for s in tree.scans]
    return sizes[tree.delta] * FIRST_PASS_RATIO < max(sizes)


# --- the statement --------------------------------------------------------------------------------


def reduce(
    tree: JoinTree,
    columns: Sequence[Column],
    context: Context,
    first_pass: bool,
    as_text: Collection[str] = (),
) -> Compiled:
    """The heads of a plan, each once: its scans reduced by each other, then joined bottom-up."""
    reduction = _Reduction(tree, context)
    reduction.scan()
    if first_pass:
        reduction.from_delta()
    reduction.bottom_up()
    reduction.top_down()
    reduction.join()
    compiled = _heads(tree, reduction.names[0], columns, context, as_text)
    query = distinct(compiled.query) if compiled.duplicates else compiled.query
    for name, part in reduction.parts:
        query = query.with_(name, as_=part, materialized=True, copy=False)
    return replace(compiled, query=exp.select(exp.Star()).from_(query.subquery("r", copy=False)))


@dataclass(slots=True)
class _Reduction:
    """The queries that a statement consists of; `names` are those that now stand for the nodes."""

    tree: JoinTree
    context: Context
    parts: list[tuple[str, exp.Select]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)

    def scan(self) -> None:
        for place, scan in enumerate(self.tree.scans):
            self.names.append(f"scan{place}")
            query = side(scan, self.tree.columns[place], self.context)
            self.parts.append((self.names[place], query))

    def from_delta(self) -> None:
        """The first pass: away from the delta, in all directions."""
        reached = [] if self.tree.delta is None else [self.tree.delta]
        for place in reached:
            for other in self.tree.neighbours(place):
                if other not in reached:
                    reached.append(other)
                    self.reduce("first", other, [place])

    def bottom_up(self) -> None:
        for place in reversed(range(len(self.tree.scans))):
            self.reduce("up", place, self.tree.children(place))

    def top_down(self) -> None:
        """The last pass, for nodes that are joined afterwards: the others have done their work."""
        for place, parent in enumerate(self.tree.parents):
            if parent is not None and not self.tree.only_filters(place):
                self.reduce("down", place, [parent])

    def reduce(self, stem: str, place: int, others: Sequence[int]) -> None:
        """A left semi join of a node with others, as far as they share variables with it."""
        own = self.tree.columns[place]
        query = exp.select(*self.values(dict.fromkeys(own, "n"))).from_(self.node(place))
        for other in others:
            if same := self.same(place, other):
                query = query.join(joining(self.node(other, other), "SEMI"), on=same, copy=False)
        if query.args.get("joins"):
            self.put(stem, place, query)

    def join(self) -> None:
        """Bottom-up, each node with the children that hand it variables, projected early."""
        for place in reversed(range(len(self.tree.scans))):
            if self.tree.only_filters(place):
                continue
            query = self.joined(place)
            if query.args.get("joins") or query.args.get("distinct"):
                self.put("join", place, query)

    def joined(self, place: int) -> exp.Select:
        found = dict.fromkeys(self.tree.columns[place], "n")
        query = exp.select().from_(self.node(place))
        for child in self.tree.children(place):
            if self.tree.only_filters(child):
                continue
            same = self.same(place, child)
            kind = "" if same else "CROSS"
            query = query.join(joining(self.node(child, child), kind), on=same, copy=False)
            found = dict.fromkeys(self.tree.handed[child], f"n{child}") | found
        handed = self.tree.handed[place]
        values = self.values({v: found[v] for v in handed})
        query = query.select(*values, copy=False)
        repeats = not handed or len(handed) < len(found) or self.repeats(place)
        return query.distinct(copy=False) if repeats else query

    @staticmethod
    def values(places: Mapping[Variable, str]) -> list[exp.Expr]:
        """Each variable as a column of some item; without variables, one column that is true."""
        names = zip(column_names(places), places.values(), strict=True)
        return [quoted(*name) for name in names] or [exp.true().as_(HOLDS.name, quoted=True)]

    def repeats(self, place: int) -> bool:
        """Whether a scan may find a row twice: parts overlap, or some variables are left out."""
        scan = self.tree.scans[place]
        parts = self.context.relation(scan.atom.predicate, scan.version).parts
        return len(parts) > 1 or len(self.tree.columns[place]) < len(_variables(scan))

    def put(self, stem: str, place: int, query: exp.Select) -> None:
        self.names[place] = f"{stem}{place}"
        self.parts.append((self.names[place], query))

    def node(self, place: int, alias: int | str = "") -> exp.Expr:
        """A node as an item of FROM."""
        return exp.table_(self.names[place]).as_(f"n{alias}")

    def same(self, place: int, other: int) -> exp.Expr | None:
        """The condition that two nodes agree in the variables that they share, if they do share."""
        shared = [v for v in self.tree.columns[place] if v in self.tree.columns[other]]
        if not shared:
            return None
        return exp.and_(
            *(quoted(n, "n").eq(quoted(n, f"n{other}")) for n in column_names(shared)), copy=False
        )


def _heads(
    tree: JoinTree,
    name: str,
    columns: Sequence[Column],
    context: Context,
    as_text: Collection[str],
) -> Compiled:
    """The rule over the result of the join, which stands for its atoms."""
    kept = tree.handed[0]
    types = [_type_of(variable, tree, context) for variable in kept]
    return heads(tree.plan, name, kept, types, columns, context, as_text)


def _type_of(variable: Variable, tree: JoinTree, context: Context) -> Type | None:
    """The type that a variable has in the topmost scan that has it, where its value comes from."""
    scan = next(scan for scan in tree.scans if variable in _variables(scan))
    return body_types((scan.atom,), context.columns, context.functions).types.get(variable.name)
