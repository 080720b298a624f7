"""Module `scc`: a transitive closure as strongly connected components, and what each one reaches.

Two nodes on a common cycle of external facts reach the same nodes, and are reached by the same. So
they share a class, and R is stored as the class of each node and the pairs of classes that R
relates: n rows for a strongly connected graph of n nodes, where `tc` keeps n * n.

Which of the two a relation becomes is decided when it is evaluated anew
(evaluate/cost/choose_components.py). It must be the only thing that its hypernode derives, by the
rule R(x, y), R(y, z) -> R(x, z) alone: then nobody asks for what single rounds add to it. What is
stored has the external facts, too, so a reader of R need not unite millions of pairs with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from zodiac_sql.language.syntax import Rule
from zodiac_sql.rewrite.closures.module import Module
from zodiac_sql.rewrite.closures.transitive import Transitive


@dataclass(frozen=True, slots=True)
class Condensed(Module):
    """R is transitive, and its nodes are kept in classes."""

    kind: ClassVar[str] = "scc"

    @property
    def covers(self) -> bool:
        return True

    @property
    def parted(self) -> bool:
        return True

    def rules(self, fed: bool) -> tuple[Rule, ...]:
        return ()


def condensed(modules: Sequence[Module], rules: Sequence[Rule]) -> Condensed | None:
    """The module that can take the place of those of a hypernode with some rules, if one can.

    With x != z a node may be related to all of its class but itself, which classes do not tell.
    """
    if len(modules) != 1 or not isinstance(modules[0], Transitive) or modules[0].unequal:
        return None
    (module,) = modules
    alone = len(module.taken) == len(rules)
    return Condensed(module.predicate, module.taken, unequal=False) if alone else None
