"""A module takes some recursive rules of a hypernode, and evaluates them in a way of its own.

A hypernode's rules are partitioned (paper 2, section 4): each module takes the rules that it knows,
and the others are evaluated semi-naively. Every module closes one predicate R of the hypernode. The
facts of R that the other rules derive are its external facts. Together with the facts known from
outside the hypernode they are the X_R of paper 2, and R is a function of X_R. So a module and the
other rules never see each other: these rules write external facts, and read R.

A module must provide the four functions of paper 2; there are two ways to do so.

* By rules. `rules` replace the rules taken, and semi-naive evaluation provides the functions, as
  for any program: Add is the loop over deltas (Definition 3), Del finds what may lose a derivation
  (Definition 6), Diff is the delta variants over inputs (Definition 5), and Red checks what was
  taken out, continued by the loop (Definition 7). All strategies work on these rules as on any
  others, B/F as well: `rules` must derive the same facts of R from the same X_R, so a fact with a
  proof by the rules taken also has one by them.
* By a partition. If R is stored as nodes and their classes (`parted`), the functions are those of
  `Closure` (evaluate/partition/closure.py): `add`, `delete` and `redo`. Diff is empty, because a
  module's rules read no predicate but R (paper 2, section 5). If R is directed, its nodes are
  condensed anew instead (evaluate/partition/condensation.py).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from zodiac_sql.language.syntax import Rule


@dataclass(frozen=True, slots=True)
class Module(ABC):
    """The rules of a hypernode that a module takes, and the predicate that they close.

    If `unequal`, they derive no fact R(a, a) unless it is external.
    """

    kind: ClassVar[str]

    predicate: str
    taken: tuple[Rule, ...]
    unequal: bool

    @property
    def covers(self) -> bool:
        """Whether the hypernode derives all external facts, too, so that none need to be added."""
        return False

    @property
    def parted(self) -> bool:
        """Whether the relation is stored as nodes and their classes.

        See evaluate/partition/partition.py.
        """
        return False

    def absorbs(self, rule: Rule) -> bool:
        """Whether another rule for the predicate may write R itself, not external facts."""
        return False

    def feeds(self, rule: Rule) -> bool:
        """Whether another rule derives external facts of the predicate."""
        return rule.head.predicate == self.predicate and not self.absorbs(rule)

    def gains(self, others: Sequence[Rule]) -> bool:
        """Whether the module is worth its tables, beside the other rules of the hypernode."""
        return True

    @abstractmethod
    def rules(self, fed: bool) -> tuple[Rule, ...]:
        """The rules evaluated in place of those taken; `fed` if other rules give external facts."""


NODE = "node"
"""The column of nodes."""

FIRST, SECOND = "first", "second"
"""The columns of pairs of classes, of which the first is related to the second."""


LOOPS = {"class": "loop", "prev": "loop_prev", "before": "loop_before"}
"""The columns of classes: now, before the last step, before the change. Each is mapped to the
column that tells whether a node is related to itself where its class does not tell."""
