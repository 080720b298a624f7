"""A rule as its decomposition evaluates it: a rule for each node, and one that joins the nodes.

In-node evaluation is a rule: its head has those variables of the node that others need, its body
the atoms joined there. Cross-node evaluation is a rule over these heads (paper 5, section 4). Both
are rules like any other, so every strategy maintains them: the labels of equations 8 and 10 are the
versions that semi-naive variants read, and the check of a candidate is the oracle of Algorithm 6.

This differs from the paper in some points. Variables that nothing else needs are projected away in
the node, not after it. A node of one atom needs no rule and no table. Nodes that differ only in the
names of variables are one. A comparison stands in each node that has its variables, a negated atom
in the smallest one. A binding that nothing reads is a test, too, because it may have no value.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from zodiac_sql import names
from zodiac_sql.language.binding import Arranged, arrange, expressions_of, variables
from zodiac_sql.language.equivalence import same
from zodiac_sql.language.functions import Functions
from zodiac_sql.language.syntax import (
    Aggregate,
    Atom,
    Binding,
    Comparison,
    Literal,
    Negation,
    Rule,
    Type,
    Variable,
)
from zodiac_sql.language.types import body_types
from zodiac_sql.rewrite.hypertree.stored import StoredNode, StoredTree
from zodiac_sql.rewrite.hypertree.tree import Edge, Hypertree, Node, is_acyclic

Types = Mapping[str, Sequence[Type | None]]
Test = Comparison | Negation | Binding


@dataclass(frozen=True, slots=True)
class Decomposed:
    """The rules of a decomposition.

    For each node of the tree, `places` tells which of `nodes` has its rows, if any.
    """

    nodes: Mapping[int, Rule]
    join: Rule
    places: tuple[int | None, ...]


def edges_of(rule: Rule) -> tuple[Edge, ...] | None:
    """The hypergraph of a rule's positive atoms; None for a rule that is not decomposed.

    Rules with aggregates, or with atoms that have no variables, gain nothing by it.
    """
    if any(isinstance(literal, Aggregate) for literal in rule.body):
        return None
    edges = tuple(variables_of(atom) for atom in rule.positive_atoms())
    return edges if edges and all(edges) else None


def may_decompose(rule: Rule) -> bool:
    """Whether a rule is cyclic, and of a kind that can be decomposed."""
    if rule.best or len(rule.body) < 3:
        return False  # two atoms make no cycle
    edges = edges_of(rule)
    return edges is not None and not is_acyclic(edges)


def variables_of(atom: Atom) -> Edge:
    """The names of an atom's variables."""
    return frozenset(v.name for v in variables(*atom.terms))


def decomposed(rule: Rule, tree: Hypertree) -> Decomposed:
    """The rules that evaluate a rule along its tree."""
    body = arrange(rule.body)
    tabled = [place for place, node in enumerate(tree.nodes) if len(node.atoms) > 1]
    unread = _unread(body, rule.head)
    inside = _placed(body, tree, tabled, unread)
    done = {id(test) for tests in inside.values() for test in tests}
    tests: tuple[Test, ...] = (*body.filters, *body.negations, *unread)
    left = [test for test in tests if id(test) not in done]
    outside = _with_steps(body, left, _names(rule.head))
    needed = {*_names(rule.head), *(v for literal in outside for v in _needs(literal, body))}
    nodes: dict[int, Rule] = {}
    places: list[int | None] = []
    atoms: list[Atom] = []
    for place, node in enumerate(tree.nodes):
        if place not in inside:
            places.append(None)
            atoms += [body.atoms[i] for i in node.atoms]
            continue
        kept = _kept(tree, place, needed)
        joined = tuple(body.atoms[i] for i in node.atoms)
        written = _node_rule(rule, place, kept, (*joined, *_with_steps(body, inside[place])))
        shared = next(_shared(nodes, written), None)
        if shared is None:
            nodes[place] = written
        found, head = shared or (place, written.head)
        places.append(found)
        atoms.append(head)
    literals: tuple[Literal, ...] = (*dict.fromkeys(atoms), *outside)
    return Decomposed(nodes, replace(rule, body=literals), tuple(places))


def stored_tree(
    rule: Rule, tree: Hypertree, types: Types, functions: Functions, why: str, facts: int
) -> StoredTree | None:
    """A tree as the catalog keeps it; None while some column of a node has no type."""
    written = decomposed(rule, tree)
    nodes = []
    for place, node in enumerate(tree.nodes):
        variables_ = tuple(sorted(node.variables))
        stored = StoredNode(node.parent, variables_, node.cover, node.atoms)
        if place in written.nodes:
            one = written.nodes[place]
            known = body_types(one.body, types, functions).types
            found = [known.get(name) for name in _ordered(one.head)]
            if None in found:
                return None
            stored = replace(
                stored,
                table=names.node_table(rule.name, place + 1),
                columns=_columns(_ordered(one.head)),
                types=tuple(t.value for t in found if t),
            )
        nodes.append(stored)
    return StoredTree(rule.name, why, facts, tuple(nodes))


def fits(rule: Rule, stored: StoredTree) -> bool:
    """Whether a stored tree has the tables that its nodes need: a file may be older than our way of
    placing tests."""
    needed = {
        place: _columns(_ordered(node.head))
        for place, node in decomposed(rule, stored.tree).nodes.items()
    }
    there = {place: node.columns for place, node in enumerate(stored.nodes) if node.table}
    return needed == there


def _columns(names: Sequence[str]) -> tuple[str, ...]:
    """Names of columns made from those of variables: SQL ignores case, rules do not."""
    lower = [name.lower() for name in names]
    return tuple(
        name if lower.index(low) == place else f"{name}_{place}"
        for place, (name, low) in enumerate(zip(names, lower, strict=True))
    )


# --- nodes ----------------------------------------------------------------------------------------


def _node_rule(rule: Rule, place: int, kept: Iterable[str], body: tuple[Literal, ...]) -> Rule:
    name = names.node(rule.name, place + 1)
    return Rule(
        f"{rule.name} n{place + 1}", Atom(name, tuple(map(Variable, sorted(kept)))), body,
        rule.text, rule.prefixes, rule.span,
    )  # fmt: skip


def _kept(tree: Hypertree, place: int, needed: Collection[str]) -> set[str]:
    """The variables of a node that the join or another node needs."""
    others = [node.variables for i, node in enumerate(tree.nodes) if i != place]
    return set(tree.nodes[place].variables) & set(needed).union(*others)


def _shared(nodes: Mapping[int, Rule], written: Rule) -> Iterator[tuple[int, Atom]]:
    """Earlier nodes with the same rows as `written`, each with the atom that reads them there."""
    for place, other in nodes.items():
        if len(other.head.terms) != len(written.head.terms):
            continue
        for terms in itertools.permutations(written.head.terms):
            head = Atom(other.head.predicate, terms)
            if same(other, replace(written, head=head)):
                yield place, head


def _names(atom: Atom) -> set[str]:
    return {v.name for v in variables(*atom.terms)}


def _ordered(atom: Atom) -> list[str]:
    return [v.name for v in variables(*atom.terms)]


# --- tests ----------------------------------------------------------------------------------------


def _unread(body: Arranged, head: Atom) -> tuple[Binding, ...]:
    """The bindings whose values neither the head nor any literal reads."""
    others: tuple[Test, ...] = (*body.steps, *body.filters, *body.negations)
    read = _names(head).union(*(_needs(literal, body) for literal in others))
    return tuple(step for step in body.steps if step.variable.name not in read)


def _placed(
    body: Arranged, tree: Hypertree, tabled: Sequence[int], unread: Sequence[Binding]
) -> dict[int, list[Test]]:
    """The tests made in each node that has a table: a comparison in every node that can make it."""
    inside: dict[int, list[Test]] = {place: [] for place in tabled}
    can = {place: _computable(body, tree.nodes[place]) for place in tabled}
    for comparison in body.filters:
        for place in tabled:
            if _needs(comparison, body) <= can[place]:
                inside[place].append(comparison)
    tests: tuple[Test, ...] = (*body.negations, *unread)
    for test in tests:
        able = [place for place in tabled if _needs(test, body) <= can[place]]
        if able:
            inside[min(able, key=lambda p: len(tree.nodes[p].variables))].append(test)
    return inside


def _computable(body: Arranged, node: Node) -> set[str]:
    """The variables of a node, and those that bindings compute from them."""
    known = set(node.variables)
    for step in body.steps:
        if _needs(step, body) <= known:
            known.add(step.variable.name)
    return known


def _needs(literal: Literal, body: Arranged) -> set[str]:
    """The variables that must be bound before a literal can be evaluated."""
    if isinstance(literal, Negation):
        return _names(literal.atom) & body.bound
    assert isinstance(literal, Comparison | Binding)
    return {v.name for v in variables(*expressions_of(literal))}


def _with_steps(
    body: Arranged, tests: Sequence[Test], also: Collection[str] = ()
) -> tuple[Literal, ...]:
    """Tests, after the bindings of the variables that they need and those in `also`."""
    bindings = [test for test in tests if isinstance(test, Binding)]
    others = [test for test in tests if not isinstance(test, Binding)]
    needed = {*also, *(name for test in others for name in _needs(test, body))}
    needed |= {binding.variable.name for binding in bindings}
    steps = []
    for step in reversed(body.steps):
        if step.variable.name in needed:
            steps.append(step)
            needed |= _needs(step, body)
    return (*reversed(steps), *others)
