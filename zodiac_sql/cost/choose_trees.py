"""Which cyclic rules are decomposed, and how (paper 5, section 5).

Decompose a rule only if the intermediate results of DuckDB's plan for its whole body are much
larger than what the nodes of a tree need. Width alone does not tell: on some cyclic bodies the
bushy plan of hash joins is a decomposition already. So the rows of the joins in DuckDB's own plan
are estimated (cost/statistics.py), and compared with those of the best tree. If these
results are large, samples of the tree's nodes are counted before that.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from sqlglot import exp

from zodiac_sql.cost.calibration import JOIN_ROW, MARGIN, STATEMENT
from zodiac_sql.cost.sizes import is_large
from zodiac_sql.cost.statistics import Estimates, Statistics, pattern_of
from zodiac_sql.database.explain import plan
from zodiac_sql.database.store import Store
from zodiac_sql.language.binding import variables
from zodiac_sql.language.syntax import Atom, Rule, Variable
from zodiac_sql.language.types import mixes
from zodiac_sql.rewrite.hypertree.decompose import Costs, decompose
from zodiac_sql.rewrite.hypertree.rewrite import decomposed, edges_of, stored_tree
from zodiac_sql.rewrite.hypertree.stored import StoredNode, StoredTree
from zodiac_sql.rewrite.hypertree.tree import Edge, Hypertree
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.plan import Scan, Version
from zodiac_sql.sql.scans import column_name, side

MOST_NODE_ROWS_PER_FACT = 100
"""How many rows the tables of nodes may have for each fact that a rule reads or derives, if they
are large."""


Decomposing = Literal["auto"] | bool
"""Which cyclic rules are decomposed: those that promise to gain, all that can be, or none."""

_CHOSEN = "as chosen"
_NO_TREE = "no tree of several nodes joins its atoms"


@dataclass(frozen=True, slots=True)
class Question:
    """A rule to be decided upon, with what its body reads. `assumed` gives the rows of predicates
    that are not known yet, because the rule's hypernode derives them."""

    store: Store
    context: Context
    rule: Rule
    assumed: Mapping[str, int] = field(default_factory=dict)

    @property
    def facts(self) -> int:
        """How many facts the body has to read, those of each predicate once."""
        names = self.rule.positive()
        return sum(self.context.relation(name, Version.ALL).rows for name in names)

    @property
    def mixes(self) -> bool:
        """Whether a node of a tree would take a variable that is a float in the body for an int."""
        return mixes(self.rule.body, self.context.columns, self.context.functions)


def decision(
    question: Question, before: StoredTree | None, node_rows: Mapping[str, int], forced: bool
) -> StoredTree:
    """The decision for a rule: the one from before, if it still holds.

    `node_rows` has the rows of each node's table.
    """
    if before is None or (before.nodes and question.mixes):
        return decide(question, forced)
    if before.why == _NO_TREE or (forced and before.nodes):
        return before
    if forced or before.why == _CHOSEN or not _holds(before, question):
        return decide(question, forced)
    head = question.context.relation(question.rule.head.predicate, Version.ALL).rows
    return within(before, node_rows, question.facts + head)


def shape(trees: Iterable[StoredTree]) -> tuple[tuple[str, tuple[StoredNode, ...]], ...]:
    """The rules that trees evaluate, and their nodes, without the reasons."""
    return tuple((tree.rule, tree.nodes) for tree in at_work(trees))


def at_work(trees: Iterable[StoredTree]) -> Iterator[StoredTree]:
    """The trees by which rules are evaluated."""
    return (tree for tree in trees if tree.nodes)


def decide(question: Question, forced: bool) -> StoredTree:
    """The tree of a cyclic rule, or why it has none.

    If `forced`, any tree of several nodes will do.
    """
    rule, facts = question.rule, question.facts
    if question.mixes:
        return StoredTree(rule.name, "an int meets a float in it", facts)
    if not (forced or _may_pay(question)):
        return StoredTree(rule.name, "little to read", facts)
    statistics = Statistics(question.store, question.context, question.assumed)
    estimates = Estimates(tuple(rule.positive_atoms()), statistics)
    tree = _tree(rule, estimates)
    if tree is None:
        return StoredTree(rule.name, _NO_TREE, facts)
    why = _CHOSEN
    if not forced:
        gains, why = _gains(question, estimates, tree)
        if not gains:
            return StoredTree(rule.name, why, facts)
    types, functions = question.context.columns, question.context.functions
    stored = stored_tree(rule, tree, types=types, functions=functions, why=why, facts=facts)
    return stored or StoredTree(rule.name, "some of its columns have no type yet", facts)


def _holds(decision: StoredTree, question: Question) -> bool:
    """Whether a decision still holds: there is about as much to read as there was."""
    before, now, factor = decision.facts, question.facts, MARGIN**2
    return before <= now * factor and now <= before * factor


def within(tree: StoredTree, node_rows: Mapping[str, int], facts: int) -> StoredTree:
    """A decision, or one for no tree if the tables of its nodes have grown beyond the limit.

    `node_rows` has the rows of each, `facts` is the number of facts that the rule reads and
    derives.
    """
    rows = sum(node_rows.get(known.name, 0) for known in tree.tables)
    if not is_large(rows) or rows <= MOST_NODE_ROWS_PER_FACT * facts:
        return tree
    why = f"its nodes had {rows:,} rows, over {MOST_NODE_ROWS_PER_FACT} for each of {facts:,} facts"
    return StoredTree(tree.rule, why, tree.facts)


# --- trees ----------------------------------------------------------------------------------------


def _tree(rule: Rule, estimates: Estimates) -> Hypertree | None:
    """The best tree of a rule.

    Search for two trees, one as if every node had to be joined, one as if nodes that look the same
    were a single node, and take the cheaper one.
    """
    edges = edges_of(rule)
    assert edges is not None
    copies = _Copies(estimates.atoms)
    alike = any(copies.number(pair) > 1 for pair in copies.pairs())
    found = [_searched(rule, edges, estimates, None)]
    if alike:
        found.append(_searched(rule, edges, estimates, copies))
    trees = [_contracted(rule, estimates, tree) for tree in found if tree and len(tree.nodes) > 1]
    return min(trees, key=lambda tree: _tree_cost(rule, estimates, tree), default=None)


def _contracted(rule: Rule, estimates: Estimates, tree: Hypertree) -> Hypertree:
    """A tree in which nodes of one atom are joined in the node above where that costs less.

    The node above may become wider than necessary.

    So p(L, S, A) :- of(W, L), in(W, S), number(W, A), ... can do without all W in one node, where
    no two of the atoms cover all variables.
    """
    cost = _tree_cost(rule, estimates, tree)
    while len(tree.nodes) > 2:
        single = [p for p, node in enumerate(tree.nodes) if p and len(node.atoms) == 1]
        smaller = [tree.contracted(place) for place in single]
        best = min(smaller, key=lambda tree: _tree_cost(rule, estimates, tree), default=tree)
        if _tree_cost(rule, estimates, best) >= cost:
            break
        tree, cost = best, _tree_cost(rule, estimates, best)
    return tree


def _searched(
    rule: Rule, edges: Sequence[Edge], estimates: Estimates, copies: _Copies | None
) -> Hypertree | None:
    head = {v.name for v in variables(*rule.head.terms)}

    def node(places: frozenset[int], chi: Edge) -> tuple[float, float]:
        if len(places) == len(edges):
            return math.inf, math.inf  # that is the rule itself
        needed = _needed(edges, chi, head)
        rows = estimates.projected(places, needed)
        shared = copies.number(places) if copies else 1
        return (estimates.join_cost(places) + rows * len(needed)) / shared, rows

    return decompose(edges, Costs(node))


@dataclass(slots=True)
class _Copies:
    """Counts the groups of atoms in a body that look the same and have no atom in common."""

    atoms: Sequence[Atom]
    _numbers: dict[tuple[object, ...], int] = field(default_factory=dict)

    def pairs(self) -> Iterator[frozenset[int]]:
        """All pairs of atoms."""
        return map(frozenset, itertools.combinations(range(len(self.atoms)), 2))

    def number(self, places: frozenset[int]) -> int:
        """The number of copies of some atoms; 1 for more than four, whose copies are not sought."""
        if len(places) > 4:
            return 1
        look = self._look(places)
        if look not in self._numbers:
            self._numbers[look] = self._packed(look, len(places))
        return self._numbers[look]

    def _packed(self, look: tuple[object, ...], size: int) -> int:
        taken: set[int] = set()
        number = 0
        for some in itertools.combinations(range(len(self.atoms)), size):
            if taken.isdisjoint(some) and self._look(frozenset(some)) == look:
                taken.update(some)
                number += 1
        return number

    def _look(self, places: frozenset[int]) -> tuple[object, ...]:
        """What atoms look like: their patterns, and how each variable occurs in them."""
        atoms = [self.atoms[place] for place in places]
        uses: dict[str, list[tuple[str, int]]] = {}
        for atom in atoms:
            for column, term in enumerate(atom.terms):
                if isinstance(term, Variable):
                    uses.setdefault(term.name, []).append((atom.predicate, column))
        patterns = sorted(map(str, map(pattern_of, atoms)))
        return tuple(patterns), tuple(sorted(tuple(sorted(use)) for use in uses.values()))


def _needed(edges: Sequence[Edge], chi: Edge, head: Collection[str]) -> list[str]:
    """The variables of a node that the head or atoms joined elsewhere have."""
    outside = {name for edge in edges if not edge <= chi for name in edge}
    return sorted(name for name in chi if name in head or name in outside)


@dataclass(frozen=True, slots=True)
class _Sized:
    """What the nodes of a tree keep: `nodes` tells which have tables, `places` which share one."""

    kept: tuple[tuple[str, ...], ...]
    nodes: tuple[int, ...]
    places: tuple[int | None, ...]


def _sized(rule: Rule, tree: Hypertree) -> _Sized:
    head = {v.name for v in variables(*rule.head.terms)}
    written = decomposed(rule, tree)
    kept = []
    for place, node in enumerate(tree.nodes):
        others = (other.variables for i, other in enumerate(tree.nodes) if i != place)
        kept.append(tuple(sorted(node.variables & head.union(*others))))
    return _Sized(tuple(kept), tuple(written.nodes), written.places)


def _gains(question: Question, estimates: Estimates, tree: Hypertree) -> tuple[bool, str]:
    """Whether a tree promises to be worth its tables, and why."""
    whole = _whole_cost(question, estimates)
    if _pays(whole, 0):
        _measure(question.rule, estimates, tree)
        whole = _whole_cost(question, estimates)
    by_nodes = _tree_cost(question.rule, estimates, tree)
    why = f"estimated {whole:.2g} rows of intermediate results, by nodes {by_nodes:.2g}"
    return _pays(whole, by_nodes), why


def _pays(whole: float, by_nodes: float) -> bool:
    """Whether a plan with so many rows of intermediate results costs much more than a tree with so
    many, and with two statements for each of its nodes, of which there are two at least.
    """
    return JOIN_ROW * whole > MARGIN * (4 * STATEMENT + JOIN_ROW * by_nodes)


def _may_pay(question: Question) -> bool:
    """Whether a tree could pay if every row of an atom met all rows of the others."""
    names = [atom.predicate for atom in question.rule.positive_atoms()]
    known = {name: question.context.relation(name, Version.ALL).rows for name in names}
    rows = {**known, **question.assumed}
    return _pays(math.prod(rows[name] for name in names), 0)


def _measure(rule: Rule, estimates: Estimates, tree: Hypertree) -> None:
    """Replace the estimates of nodes, and that of the whole body, by what samples tell.

    The whole body is the last result of any plan. Its rows are estimated from the root down: each
    node multiplies them by how many of its rows a row of its parent meets.
    """
    sized = _sized(rule, tree)
    rows = 1.0
    for place, node in enumerate(tree.nodes):
        if place in sized.nodes:
            estimates.measure(node.atoms, sized.kept[place])
        elif (same := sized.places[place]) is not None:
            other = tree.nodes[same]
            estimates.suppose(node.atoms, estimates.rows(other.atoms))
            different = estimates.projected(other.atoms, sized.kept[same])
            estimates.suppose_different(node.atoms, sized.kept[place], different)
        above = tree.nodes[node.parent].variables if node.parent is not None else frozenset()
        meeting = estimates.projected(node.atoms, sorted(node.variables & above))
        rows *= estimates.rows(node.atoms) / max(meeting, 1.0)
    estimates.suppose(range(len(list(rule.positive_atoms()))), rows)


def _tree_cost(rule: Rule, estimates: Estimates, tree: Hypertree) -> float:
    """What the nodes cost, each once, and semi-joins and joins between them."""
    sized = _sized(rule, tree)
    sizes = [
        estimates.projected(node.atoms, kept)
        for node, kept in zip(tree.nodes, sized.kept, strict=True)
    ]
    nodes = sum(
        estimates.join_cost(tree.nodes[place].atoms) + sizes[place] * len(sized.kept[place])
        for place in sized.nodes
    )
    between = sum(
        2 * (sizes[place] + sizes[node.parent])
        for place, node in enumerate(tree.nodes)
        if node.parent is not None
    )
    return nodes + between


# --- DuckDB's plan --------------------------------------------------------------------------------


def _whole_cost(question: Question, estimates: Estimates) -> float:
    """The rows of all intermediate results of DuckDB's own plan, as we estimate them."""
    joins = list(_joins(plan(question.store, _named(question))))
    if not joins or len(joins[-1]) < len(estimates.atoms):
        return estimates.join_cost(range(len(estimates.atoms)))
    return sum(estimates.rows(join) for join in joins)


def _named(question: Question) -> exp.Select:
    """The join of a body's atoms; the name of each column tells its atom: "3vX"."""
    query, known, head = exp.select(), dict[str, exp.Column](), question.rule.head
    for place, atom in enumerate(question.rule.positive_atoms()):
        names = list(dict.fromkeys(v.name for v in variables(*atom.terms)))
        item, here = _renamed(question, place, atom, names)
        same = [here[name].eq(known[name]) for name in names if name in known]
        query = query.join(item, on=exp.and_(*same)) if same else _first(query, item, place)
        known = {**here, **known}
    return query.select(*(known[v.name] for v in variables(*head.terms) if v.name in known), "1")


def _first(query: exp.Select, item: exp.Subquery, place: int) -> exp.Select:
    return query.join(item, join_type="CROSS") if place else query.from_(item)


def _renamed(
    question: Question, place: int, atom: Atom, names: Sequence[str]
) -> tuple[exp.Subquery, dict[str, exp.Column]]:
    inner = side(Scan(atom, Version.ALL), [Variable(n) for n in names], question.context)
    columns = {name: f"{place}{column_name(name)}" for name in names}
    renamed = exp.select(
        *(exp.column(column_name(n), quoted=True).as_(c, quoted=True) for n, c in columns.items())
    ).from_(inner.subquery("s"))
    alias = f"a{place}"
    here = {n: exp.column(c, table=alias, quoted=True) for n, c in columns.items()}
    return renamed.subquery(alias), here


def _joins(plan: Mapping[str, Any]) -> Iterator[frozenset[int]]:
    """The atoms that each join of a plan has below it, from the leaves up; the last is the root.

    A scan does not say which atom it reads; but the conditions of the joins above name its columns.
    """
    found: list[frozenset[int]] = []
    _collect(plan, found)
    return (join for join in found if len(join) > 1)


def _collect(plan: Mapping[str, Any], found: list[frozenset[int]]) -> frozenset[int]:
    below: frozenset[int] = frozenset().union(*(_collect(c, found) for c in plan["children"]))
    conditions = plan.get("extra_info", {}).get("Conditions")
    if "JOIN" in plan["name"] and conditions:
        texts = [conditions] if isinstance(conditions, str) else conditions
        below |= {place for text in texts for place in _places(text)}
        found.append(below)
    return below


def _places(condition: str) -> Iterator[int]:
    """The atoms whose columns a condition like `3vX = 0vY` names."""
    for part in condition.replace('"', "").split():
        number, mark, _ = part.partition("v")
        if mark and number.isdigit():
            yield int(number)
