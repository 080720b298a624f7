"""A recursive hypernode while facts of it are taken out and added, round by round."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from zodiac_sql.database.runner import Runner
from zodiac_sql.database.store import Store
from zodiac_sql.evaluate.partition.closure import Closure
from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.language.syntax import Rule
from zodiac_sql.maintain.contract import Instead
from zodiac_sql.maintain.steps.change_plans import checks
from zodiac_sql.maintain.steps.working_table import WorkingTable
from zodiac_sql.rewrite.forms import Forms
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.plan import Plan, Version, delta_plans
from zodiac_sql.sql.relations import Relation


@dataclass(frozen=True, slots=True)
class Recursion:
    """A recursive hypernode, with its tables as they are by now.

    `context` reads all but its own predicates. If it is a closure and nothing else, `edges` is the
    relation whose closure it is (maintain/contract.py).
    """

    runner: Runner
    forms: Forms
    context: Context
    owns: Mapping[str, WorkingTable]
    instead: Instead
    edges: str | None = None
    closures: Mapping[str, Closure] = field(default_factory=dict)
    """The relations that are kept as partitions (maintain/steps/partitions.py)."""

    @property
    def store(self) -> Store:
        """Where statements run."""
        return self.runner.store

    @property
    def hypernode(self) -> Hypernode:
        """The rules that are evaluated."""
        return self.forms.hypernode

    @property
    def read(self) -> int:
        """How many facts the rules read."""
        return sum(self.context.relation(name, Version.ALL).rows for name in self.hypernode.reads)

    def inside(self, undeleted: bool = False) -> Context:
        """What the hypernode's rules read: its own predicates here, the others as inputs.

        With `undeleted`, what was taken out is still there.
        """

        def relation(name: str, version: Version) -> Relation:
            closure = self.closures.get(name)
            if closure and version not in (Version.INSERTED, Version.DELETED):
                before = undeleted and version is not Version.DELTA
                return closure.undeleted if before else closure.relation(version)
            own = self.owns.get(name)
            if own is None:
                return self.context.relation(name, version)
            if undeleted and version in (Version.ALL, Version.OLD):
                return own.undeleted
            return own.relation(version)

        return replace(self.context, relation=relation)

    def onwards(self) -> list[Plan]:
        """The delta variants of all rules."""
        return [plan for rule in self.hypernode.rules for plan in self.variants(rule)]

    def variants(self, rule: Rule) -> tuple[Plan, ...]:
        """The delta variants of a rule over the hypernode's own predicates."""
        return delta_plans(self.runner.cache, rule, {*self.owns, *self.closures})

    def checks(self, predicate: str) -> list[Plan]:
        """Plans that derive the candidates that can be derived."""
        return checks(self.runner.cache, self.hypernode, predicate)
