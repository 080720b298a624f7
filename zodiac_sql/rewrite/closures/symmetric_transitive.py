"""Module `stc`: symmetric-transitive closure (paper 2, section 6, Algorithms 7 to 9).

The relation holds between nodes that are connected in an undirected graph, whose edges are the
external facts. So it is stored as the graph's connected components: see
evaluate/partition/partition.py. Add and Red join the components at the ends of edges (CloseEdges).
Del looks at the components that have lost an edge, and finds what the facts known from outside the
hypernode still connect: these facts need no other to be proved. The paper keeps single facts with a
non-recursive counter above 0 (Y_R); we keep all that follows from them by the module's rules alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from zodiac_sql.language.syntax import Rule
from zodiac_sql.rewrite.closures.module import Module
from zodiac_sql.rewrite.closures.shapes import symmetric, transitive


@dataclass(frozen=True, slots=True)
class SymmetricTransitive(Module):
    """R is symmetric and transitive.

    If `unequal`, the symmetric rule still derives R(a, a) where it is external, unless that rule
    also asks for x != y (`strict`).
    """

    kind: ClassVar[str] = "stc"
    strict: bool = False

    @property
    def covers(self) -> bool:
        return not (self.unequal and self.strict)

    @property
    def parted(self) -> bool:
        return True

    def rules(self, fed: bool) -> tuple[Rule, ...]:
        return ()


def recognise(predicate: str, rules: Sequence[Rule]) -> SymmetricTransitive | None:
    """The module for a predicate, if rules of its hypernode make it symmetric and transitive."""
    mine = [rule for rule in rules if rule.head.predicate == predicate]
    joins = {rule.name: u for rule in mine if (u := transitive(rule)) is not None}
    turns = {rule.name: u for rule in mine if (u := symmetric(rule)) is not None}
    if not joins or not turns:
        return None
    taken = tuple(rule for rule in mine if rule.name in joins or rule.name in turns)
    return SymmetricTransitive(predicate, taken, all(joins.values()), all(turns.values()))
