"""Recursion that can be computed apart, for each value of some columns.

    path(X, Y) :- edge(X, Y).        path(X, Z) :- path(X, Y), edge(Y, Z).

What follows from paths that begin at X begins at X, too: paths with different first nodes have
nothing to do with each other. So once the first paths are distributed by their first nodes, all
others are found where these are, if edges are everywhere: no round moves any fact. Such rules are
called decomposable, and the columns that they keep are the pivot (Seib and Lausen, Parallelizing
Datalog Programs by Generalized Pivoting, PODS 1991; on Spark Shkapsky et al., Big Data Analytics
with Datalog Queries on Spark, SIGMOD 2016).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.language.syntax import Column, Rule
from zodiac_sql.rewrite.closures.shapes import transitive
from zodiac_sql.rewrite.copies import copied
from zodiac_sql.rewrite.forms import Forms


@dataclass(frozen=True, slots=True)
class Pivot:
    """A recursive predicate, the places of the columns whose values its rules keep, and its rules.

    `seeds` are the rules that begin, `steps` those that go on. If they are `made`, they are not
    those of the program, but say the same.
    """

    predicate: str
    places: tuple[int, ...]
    seeds: tuple[Rule, ...]
    steps: tuple[Rule, ...]
    made: bool = False

    @property
    def reads(self) -> frozenset[str]:
        """What the rules that go on read besides."""
        read = (rule.positive() | rule.negative() for rule in self.steps)
        return frozenset().union(*read) - {self.predicate}


def pivot_of(hypernode: Hypernode, columns: Mapping[str, Sequence[Column]]) -> Pivot | None:
    """The pivot of a recursive hypernode with one predicate; None if there is none."""
    if not hypernode.recursive or len(hypernode.derives) > 1 or hypernode.bests:
        return None
    predicate = hypernode.derives[0]
    steps = tuple(rule for rule in hypernode.rules if predicate in rule.positive())
    seeds = tuple(rule for rule in hypernode.rules if predicate not in rule.positive())
    linear = _linear(seeds, steps, columns)
    rules = linear or steps
    places = Forms(replace(hypernode, rules=rules), {}).preserved
    return Pivot(predicate, places, seeds, rules, linear is not None) if places else None


def _linear(
    seeds: Sequence[Rule], steps: Sequence[Rule], columns: Mapping[str, Sequence[Column]]
) -> tuple[Rule] | None:
    """The transitive closure of a copy of another relation, by a rule that has a pivot.

    path(X, Y) :- edge(X, Y). path(X, Z) :- path(X, Y), path(Y, Z). The second rule may read edges
    in the place of its second path.
    """
    if len(seeds) != 1 or len(steps) != 1 or transitive(steps[0]) is not False:
        return None
    (seed,), (step,) = seeds, steps
    edges = copied(seed)
    kinds = [[c.type for c in columns[p]] for p in (step.head.predicate, edges) if p]
    if edges is None or kinds[0] != kinds[1]:
        return None
    start, _ = step.head.terms
    first, second = sorted(step.positive_atoms(), key=lambda atom: atom.terms[0] != start)
    return (replace(step, body=(first, replace(second, predicate=edges))),)
