"""What is known of a task before anything is done for it: sizes, and what the change may move.

Before the work begins, only numbers of rows are known: of each input before and after the change,
and of what entered and left it. So costs are estimated as shares of a full evaluation. If rows join
evenly, a rule's work is proportional to the product of its inputs, and a share f of changed rows
costs a share f of an evaluation for each atom that reads them. Gained facts are found at that cost;
lost facts cost it to find candidates, and a share again to check them. Starting over costs the full
evaluation, and a comparison with what was there.

A few rows can change all that a recursive hypernode derives. So the share that it loses is
multiplied by 2.5 times the number of facts that it holds for each fact that it reads. (Measured on
closures: 100 of 20,000 edges, with 55 pairs for each, cost 550 ms to delete and 440 to start over;
1,000 of 100,000 edges, with 223 pairs for each, 19 s against 13.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import inf

from sqlglot import exp

from zodiac_sql.cost.calibration import COMPARED, DERIVED, READ, STATEMENT
from zodiac_sql.cost.once import Once
from zodiac_sql.cost.operator import Operator
from zodiac_sql.language.syntax import Aggregate, Rule
from zodiac_sql.maintain.contract import Outcome, Task
from zodiac_sql.maintain.steps.change_plans import losses
from zodiac_sql.sql.emptiness import is_empty
from zodiac_sql.sql.plan import Version, whole
from zodiac_sql.sql.relations import Relation
from zodiac_sql.sql.select import compile_rule
from zodiac_sql.storage.edits import Delta
from zodiac_sql.storage.sources import Sources

PATIENCE = 0.3
"""An operator may take this share of what the next one takes before it gives up."""

FACTS_THAT_DEPEND = 2.5
"""So many times as many facts of a recursion depend on one that it reads as it holds for each."""

CLOSURE_GROWS_BY = 30
"""Multiply by this the share that a large closure along another relation gains. (Measured on 22
million pairs: 1 % of new edges cost 7 s of CPU in rounds, 10 % 20; evaluating all costs 6.)"""

FEWEST_READ_OFTEN = 500_000
"""With at least so many facts, rounds that read all of them are weighed against evaluation."""

OF_A_RULE, OF_A_RECURSION = 8, 16
"""How many statements it takes to evaluate a hypernode anew."""

LARGEST_SURE = 15_000
"""So many instances of a rule are looked at in any case."""

MOST_OF_A_SQUARE = 10
"""A new rule that joins what its hypernode derives with itself is tried if it has at most so many
times as many instances as there are facts."""


@dataclass(frozen=True, slots=True)
class Shares:
    """The shares of what a hypernode derives that it may lose and gain by a change, and the factor
    by which its rules have more to do after it.
    """

    lost: float
    gained: float
    growth: float


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
        task = self.task
        return sum(part.rows for p in task.hypernode.derives if (part := task.stored(p)))

    @cached_property
    def moved(self) -> int:
        """How many facts have entered and left what the hypernode reads."""
        return sum(d.deleted.rows + d.inserted.rows for d in self.task.deltas.values())

    @cached_property
    def loses(self) -> bool:
        """Whether an input has lost a fact."""
        return any(delta.deleted.rows for delta in self.task.deltas.values())

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
        rules = [self._of_rule(rule) for rule in task.hypernode.rules]
        if not rules:  # a module evaluates all of them
            return Shares(0.0, 0.0, 1.0)
        lost, gained = max(one.lost for one in rules), max(one.gained for one in rules)
        if task.hypernode.recursive:
            of_each = self.held / max(sum(self._before.values()), 1)
            lost *= max(FACTS_THAT_DEPEND * of_each, 1.0)
        if self.held >= FEWEST_READ_OFTEN and task.forms.along:
            gained *= CLOSURE_GROWS_BY
        return Shares(lost, gained, max(one.growth for one in rules))

    @property
    def moves(self) -> Moves | None:
        """How many facts that is, if what rules derive is spread evenly. None if rules have come or
        gone, or a module evaluates all of them.
        """
        if self.task.heritage or not self.task.hypernode.rules:
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
        if hypernode.bests or any(row.parted for row in task.modules):
            return False
        if not hypernode.recursive and len(hypernode.rules) > 1:
            return False
        return not (task.merges and losses(task))

    @cached_property
    def joins(self) -> int:
        """The most joins of one rule, if each atom that changes is joined with all others."""
        bodies = [[a.predicate for a in r.positive_atoms()] for r in self.task.hypernode.rules]
        joins = (len(body) * sum(name in self.task.deltas for name in body) for body in bodies)
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
        task = self.task
        if not task.heritage:
            return ""
        most = max(self.held, LARGEST_SURE)
        squares = [
            rule
            for rule in task.heritage.new
            if sum(atom.predicate in task.hypernode.derives for atom in rule.positive_atoms()) > 1
        ]
        weighed = [(rule, task.before, most) for rule in task.heritage.lost]
        weighed += [(rule, task.after, MOST_OF_A_SQUARE * most) for rule in squares]
        for rule, sources, limit in weighed:
            if _instances(task, rule, sources, limit) > limit:
                return f"rule {rule.name} has over {limit:,} instances"
        return ""

    @property
    def why_not_otherwise(self) -> str:
        """Says what only starting over can do, if it is that."""
        task = self.task
        if task.merges and (task.hypernode.bests or losses(task)):
            return "merged, and may lose facts in the same change"
        if self.is_plain and task.hypernode.recursive and not task.ranked:
            return "its tables have no ranks that may be relied upon"
        return self.many_instances

    @cached_property
    def _before(self) -> Mapping[str, int]:
        task = self.task
        return {name: task.inputs(name, Version.BEFORE).rows for name in task.hypernode.reads}

    @cached_property
    def _after(self) -> Mapping[str, int]:
        task = self.task
        return {name: task.inputs(name, Version.ALL).rows for name in task.hypernode.reads}

    @property
    def reads(self) -> int:
        """How many facts the hypernode reads now."""
        return sum(self._after.values())

    def _of_rule(self, rule: Rule) -> Shares:
        """Shares of a rule's derivations."""
        task, before, after = self.task, self._before, self._after
        growth, lost, gained = 1.0, 0.0, 0.0
        for atom in rule.positive_atoms():
            name = atom.predicate
            if name not in task.hypernode.derives:  # else mostly its own facts, not known yet
                growth *= after[name] / max(before[name], 1)
            delta = task.deltas.get(name)
            if delta is not None:
                lost += delta.deleted.rows / max(before[name], 1)
                gained += delta.inserted.rows / max(after[name], 1)
        # What a negated fact refutes is at most what one fact of a positive atom takes part in.
        among = max((before[atom.predicate] for atom in rule.positive_atoms()), default=1)
        for name in rule.negative():
            delta = task.deltas.get(name)
            if delta is not None and any(isinstance(literal, Aggregate) for literal in rule.body):
                touched = self._touched(rule, delta)
                lost, gained = lost + touched, gained + touched
            elif delta is not None:
                lost += delta.inserted.rows / max(among, before[name], 1)
                gained += delta.deleted.rows / max(among, before[name], 1)
        return Shares(lost, gained, growth)

    def _touched(self, rule: Rule, delta: Delta) -> float:
        """The share of an aggregate's groups that a change may reach, one for each changed fact.

        These groups are computed as they were, and as they are.
        """
        stored = self.task.stored(rule.head.predicate)
        changed = delta.inserted.rows + delta.deleted.rows
        return min(changed / stored.rows, 1.0) if stored else 0.0


def _instances(task: Task, rule: Rule, sources: Sources, most: int) -> int:
    """How many instances a rule has over some sources. Counting stops if there are more than
    `most`.
    """
    plan = whole(rule, Version.BEFORE)

    def relation(name: str, version: Version) -> Relation:
        return sources.relation(name)

    context = task.context(relation)
    if is_empty(plan, context):
        return 0
    some = compile_rule(plan, task.schema[rule.head.predicate].columns, context).query
    some = some.limit(most + 1)
    return task.store.count(
        exp.select(exp.Count(this=exp.Star())).from_(some.subquery("i", copy=False))
    )


Maintains = Operator[Weighed, Outcome]
"""An operator that maintains a hypernode."""
