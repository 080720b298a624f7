"""A program that was checked once, for all changes after it until rules or columns change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from zodiac_sql.database.statement_cache import StatementCache
from zodiac_sql.graph.hypergraph import Hypergraph
from zodiac_sql.graph.restructuring import unchanged
from zodiac_sql.language.functions import Functions
from zodiac_sql.language.schema import Predicate
from zodiac_sql.program.build import Planned
from zodiac_sql.program.state import State, StoredRule


@dataclass(frozen=True, slots=True)
class Prepared:
    """A program worked out once, for all changes of facts until rules or columns change.

    `rules` and `schema` are those of the state that has it; None before there is one.
    """

    rules: tuple[StoredRule, ...] | None
    schema: Mapping[str, Predicate]
    functions: Functions
    planned: Planned
    cache: StatementCache = field(default_factory=StatementCache)

    @property
    def graph(self) -> Hypergraph:
        """The HRDG of the program."""
        return self.planned.graph

    def fits(self, state: State, schema: Mapping[str, Predicate], functions: Functions) -> bool:
        """Whether it holds for a change of facts that leaves the predicates as in `schema`."""
        return (
            self.rules is state.rules
            and self.functions == functions
            and self.schema == state.schema == schema
        )

    def published(self, state: State) -> Prepared:
        """When the rules have come and gone, and nothing but facts changes after that."""
        planned = replace(self.planned, restructuring=unchanged(self.graph), remarks=())
        return replace(self, rules=state.rules, schema=state.schema, planned=planned)


def lasting(
    before: Prepared | None, state: State, planned: Planned, functions: Functions
) -> StatementCache:
    """What was worked out before and holds for a program with other rules, too."""
    if before is None or before.rules is not state.rules:
        return StatementCache()  # another connection has changed the program
    if before.functions != functions:
        return StatementCache()
    there, hypernodes = before.schema, planned.restructuring.unchanged()

    def lasts(owner: int | str) -> bool:
        if isinstance(owner, str):
            return _same_table(there.get(owner), planned.schema.get(owner))
        if owner not in hypernodes:
            return False
        hypernode = planned.graph[owner]
        names = hypernode.reads.union(hypernode.derives)
        return all(_same_table(there.get(n), planned.schema.get(n)) for n in names)

    return before.cache.carried(lasts)


def _same_table(before: Predicate | None, after: Predicate | None) -> bool:
    """Whether SQL sees the same in a predicate."""
    return bool(
        before and after and (before.sql_name, before.columns) == (after.sql_name, after.columns)
    )
