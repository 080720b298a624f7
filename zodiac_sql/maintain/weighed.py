"""What is known of a task before anything is done for it: sizes, and what that will cost.

What the change may move (cost/moves.py) costs a share of a full evaluation. Gained facts are found
at that share; lost facts cost it to find candidates, and a share again to check them. Starting over
costs the full evaluation, and a comparison with what was there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf

from sqlglot import exp

from zodiac_sql.cost.calibration import COMPARED, DERIVED, HASHED, READ, STATEMENT
from zodiac_sql.cost.moves import MovedRows, Shares, shares_of
from zodiac_sql.cost.once import Once
from zodiac_sql.cost.operator import Operator
from zodiac_sql.language.syntax import Rule
from zodiac_sql.maintain.contract import Outcome, Task
from zodiac_sql.maintain.steps.change_plans import losses
from zodiac_sql.sql.emptiness import is_empty
from zodiac_sql.sql.plan import Version, whole
from zodiac_sql.sql.relations import Relation
from zodiac_sql.sql.select import compile_rule
from zodiac_sql.storage.sources import Sources

PATIENCE = 0.3
"""An operator may take this share of what the next one takes before it gives up."""

OF_A_RULE, OF_A_RECURSION = 8, 16
"""How many statements it takes to evaluate a hypernode anew, and to write its tables anew. (Half of
them evaluate. What costs as much is that copies for look-ups do not follow such a change.)"""


@dataclass(frozen=True, slots=True)
class Moves:
    """How many facts a hypernode was expected to gain and to lose by a change."""

    gained: float
    lost: float


class Weighed(Once):
    """A task with what is estimated of it, each when it is first asked for."""

    def __init__(self, task: Task) -> None:
        super().__init__()
        self.task = task

    @cached_property
    def held(self) -> int:
        """How many facts the hypernode holds."""
        return sum(self._held.values())

    @cached_property
    def _held(self) -> Mapping[str, int]:
        stored = {name: self.task.former.stored(name) for name in self.task.hypernode.derives}
        return {name: part.rows if part else 0 for name, part in stored.items()}

    @cached_property
    def moved(self) -> int:
        """How many facts have entered and left what the hypernode reads."""
        return sum(d.deleted.rows + d.inserted.rows for d in self.task.inputs.deltas.values())

    @cached_property
    def loses(self) -> bool:
        """Whether an input has lost a fact."""
        return any(delta.deleted.rows for delta in self.task.inputs.deltas.values())

    @cached_property
    def evaluation(self) -> float:
        """What evaluating the rules over what they read before the change takes, in milliseconds,
        beside its statements.
        """
        return READ * sum(self._before.values()) + DERIVED * self.held

    @property
    def anew(self) -> float:
        """What it takes to evaluate them over what they read now, to compare what that gives, and
        to write their tables anew, with all statements.
        """
        statements = OF_A_RECURSION if self.task.hypernode.recursive else OF_A_RULE
        return STATEMENT * statements + self.starting_over

    @property
    def starting_over(self) -> float:
        """The same, beside its statements."""
        return self.evaluation * self.shares.growth + COMPARED * self.held

    @property
    def incremental(self) -> float:
        """The same for finding what the change moves, and checking what may be lost."""
        found = self.shares
        lost = found.lost + min(found.lost, 1.0) * found.growth
        return self.evaluation * (lost + found.gained * found.growth)

    @cached_property
    def shares(self) -> Shares:
        """What the change may do to what the hypernode derives."""
        task = self.task
        left = {name: delta.deleted.rows for name, delta in task.inputs.deltas.items()}
        entered = {name: delta.inserted.rows for name, delta in task.inputs.deltas.items()}
        rows = MovedRows(self._before, self._after, left, entered, self._held)
        return shares_of(task.inner.forms, rows)

    @property
    def moves(self) -> Moves | None:
        """How many facts that is, if what rules derive is spread evenly. None if rules have come or
        gone, or a module evaluates all of them.
        """
        if self.task.former.heritage or not self.task.hypernode.rules:
            return None
        shares = self.shares
        return Moves(self.held * shares.gained * shares.growth, self.held * min(shares.lost, 1.0))

    def facts_within(self, ms: float) -> int | None:
        """How many facts may be checked in some time; None if that has no end."""
        return None if ms == inf else int(ms / DERIVED)

    @cached_property
    def is_plain(self) -> bool:
        """Whether the hypernode is one rule, or recursive, and its tables are those of its rules;
        and if several have merged, nothing may be lost.
        """
        task = self.task
        hypernode = task.hypernode
        if hypernode.bests or any(row.parted for row in task.inner.rows):
            return False
        if not hypernode.recursive and len(hypernode.rules) > 1:
            return False
        return not (task.former.merges and losses(task))

    @cached_property
    def joins(self) -> int:
        """The most joins of one rule, if each atom that changes is joined with all others."""
        bodies = [[a.predicate for a in r.positive_atoms()] for r in self.task.hypernode.rules]
        joins = (
            len(body) * sum(name in self.task.inputs.deltas for name in body) for body in bodies
        )
        return max(joins, default=0)

    @cached_property
    def many_instances(self) -> str:
        """Says which dropped or new rule has too many instances for incremental work; else nothing.

        Sizes do not tell what a dropped rule has derived. If it has more instances than the
        hypernode has facts, finding what it supported costs more than starting over without it. A
        new rule that joins what the hypernode derives with itself may have been left out when this
        was evaluated (by a module): then its join would be all of the work. (p(X, Z) :- p(X, Y),
        p(Y, Z). comes to a closure of 460,000 pairs: 2.5 s instead of 26.)
        """
        task, heritage = self.task, self.task.former.heritage
        if not heritage:
            return ""
        squares = [
            rule
            for rule in heritage.new
            if sum(atom.predicate in task.hypernode.derives for atom in rule.positive_atoms()) > 1
        ]
        weighed = [(rule, task.inputs.before, int(self.anew / DERIVED)) for rule in heritage.lost]
        weighed += [(rule, task.inputs.after, int(self.anew / HASHED)) for rule in squares]
        for rule, sources, limit in weighed:
            if _instances(task, rule, sources, limit) > limit:
                return f"rule {rule.name} has over {limit:,} instances"
        return ""

    @property
    def why_not_otherwise(self) -> str:
        """Says what only starting over can do, if it is that."""
        task = self.task
        if task.former.merges and (task.hypernode.bests or losses(task)):
            return "merged, and may lose facts in the same change"
        if self.is_plain and task.hypernode.recursive and not task.former.ranked:
            return "its tables have no ranks that may be relied upon"
        return self.many_instances

    @cached_property
    def _before(self) -> Mapping[str, int]:
        return self._rows_read(Version.BEFORE)

    @cached_property
    def _after(self) -> Mapping[str, int]:
        return self._rows_read(Version.ALL)

    def _rows_read(self, version: Version) -> Mapping[str, int]:
        inputs = self.task.inputs
        return {name: inputs.relation(name, version).rows for name in inputs.hypernode.reads}

    @property
    def reads(self) -> int:
        """How many facts the hypernode reads now."""
        return sum(self._after.values())


def _instances(task: Task, rule: Rule, sources: Sources, most: int) -> int:
    """How many instances a rule has over some sources. Counting stops if there are more than
    `most`.
    """
    plan = whole(rule, Version.BEFORE)

    def relation(name: str, version: Version) -> Relation:
        return sources.relation(name)

    context = replace(task.context, relation=relation)
    if is_empty(plan, context):
        return 0
    some = compile_rule(plan, task.columns(rule.head.predicate), context).query
    some = some.limit(most + 1)
    return task.runner.store.count(
        exp.select(exp.Count(this=exp.Star())).from_(some.subquery("i", copy=False))
    )


Maintains = Operator[Weighed, Outcome]
"""An operator that maintains a hypernode."""


def is_plain_recursion(weighed: Weighed) -> bool:
    """Whether the hypernode is recursive, and its tables are those of its rules."""
    return weighed.is_plain and weighed.task.hypernode.recursive
