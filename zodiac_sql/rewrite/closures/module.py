"""What a module is: some recursive rules of a hypernode that it evaluates in a way of its own.

A hypernode's rules are partitioned (paper 2, section 4): each module takes those that it knows, and
what is left is evaluated semi-naively. Every module closes one predicate R of the hypernode. What
other rules of the hypernode derive of R are its external facts; together with those that are known
from outside the hypernode they are the X_R of paper 2, and R is a function of them. So a module
never sees the other rules, nor they it: they write external facts, and read R.

A module must provide the four functions of paper 2; there are two ways to do so.

* By rules. `rules` stand in place of those taken, and semi-naive evaluation, which captures every
  program, captures them: Add is the loop over deltas (Definition 3), Del finds what may lose a
  derivation (Definition 6), Diff is the delta variants over inputs (Definition 5), and Red the
  check of what was taken out, continued by the loop (Definition 7). All strategies work on them as
  on any rules, B/F as well: `rules` must derive the same facts of R from the same X_R, so what has
  a proof by the rules taken has one by these.
* By a partition. Where R is kept as nodes and their classes (`parted`), the functions are those of
  `Closure` (evaluate/partition/closure.py): `add`, `delete` and `redo`. Diff is empty, for a
  module's rules read no other predicate than R (paper 2, section 5).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from zodiac_sql.language.syntax import Rule


@dataclass(frozen=True, slots=True)
class Module(ABC):
    """The rules of a hypernode that a module takes, and the predicate that they close.

    Where `unequal`, they derive no fact R(a, a) unless it is external.
    """

    kind: ClassVar[str]

    predicate: str
    taken: tuple[Rule, ...]
    unequal: bool

    @property
    def covers(self) -> bool:
        """Whether the hypernode derives all external facts, too: nobody needs to add them."""
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

    @abstractmethod
    def rules(self, fed: bool) -> tuple[Rule, ...]:
        """The rules evaluated in place of those taken; `fed` if other rules give external facts."""


NODE = "node"
"""The column of nodes."""


LOOPS = {"class": "loop", "prev": "loop_prev", "before": "loop_before"}
"""The columns of classes: now, before the last step, before the change. With each, the column that
tells whether a node is related to itself where that does not follow from its class."""
