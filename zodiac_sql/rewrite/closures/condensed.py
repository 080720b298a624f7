"""Module `scc`: a transitive closure as strongly connected components, and what each one reaches.

Two nodes on a common cycle of external facts reach the same nodes, and are reached by the same. So
they share a class, and R is stored as the class of each node and the pairs of classes that R
relates: n rows for a strongly connected graph of n nodes, where `tc` keeps n * n.

Whether a relation becomes that is decided when it is evaluated anew
(cost/closures.py). It must be the only thing that its hypernode derives, by the
rule R(x, y), R(y, z) -> R(x, z) alone: then nobody asks for what single rounds add to it. What is
stored has the external facts, too, so a reader of R need not unite millions of pairs with them.

A linear rule, R(x, y), E(y, z) -> R(x, z) or E(x, y), R(y, z) -> R(x, z), says the same as that one
if the external facts of R are those of E. They are as long as a rule copies E, and nothing else
gives R any: change/choose_rewrites.py asks for that whenever one of them has changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.language.schema import Schema
from zodiac_sql.language.syntax import Rule
from zodiac_sql.rewrite.closures.module import Module
from zodiac_sql.rewrite.closures.recognise import has_nodes
from zodiac_sql.rewrite.closures.shapes import paths


@dataclass(frozen=True, slots=True)
class Condensed(Module):
    """R is transitive, and its nodes are kept in classes.

    `edges` is the relation E of linear rules, if there are some. If there are only such rules,
    `prolongs` is the end of R, 0 or 1, to which the first of them adds a fact of E.
    """

    kind: ClassVar[str] = "scc"
    edges: str | None = None
    prolongs: int | None = None

    @property
    def covers(self) -> bool:
        return True

    @property
    def parted(self) -> bool:
        return True

    def rules(self, fed: bool) -> tuple[Rule, ...]:
        return ()


def condensed(hypernode: Hypernode, schema: Schema) -> Condensed | None:
    """The module that can evaluate all rules of a hypernode, if it can.

    With x != z a node may be related to all of its class but itself, which classes do not tell.
    """
    rules = hypernode.rules
    if not hypernode.recursive or hypernode.bests or len(hypernode.derives) != 1:
        return None
    (predicate,) = hypernode.derives
    if not has_nodes(schema, predicate):
        return None
    steps = [paths(rule) for rule in rules]
    if any(step is None or step.unequal for step in steps):
        return None
    linear = [step for step in steps if step and not step.own]
    edges = {step.edges for step in linear}
    if len(edges) > 1:
        return None
    return Condensed(
        predicate,
        tuple(rules),
        unequal=False,
        edges=next(iter(edges), None),
        prolongs=linear[0].place if len(linear) == len(rules) else None,
    )
