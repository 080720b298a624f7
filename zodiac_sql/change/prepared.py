"""A program checked once, and used for all changes of facts until rules or columns change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from zodiac_sql.database.statement_cache import StatementCache
from zodiac_sql.graph.hypergraph import Hypergraph
from zodiac_sql.graph.restructuring import unchanged
from zodiac_sql.language.functions import Functions
from zodiac_sql.language.passed_on import Datatypes
from zodiac_sql.language.schema import Predicate
from zodiac_sql.lookups.copies import Copies
from zodiac_sql.program.build import Planned
from zodiac_sql.program.clock import clocked
from zodiac_sql.program.derived_datatypes import datatypes_after, differing
from zodiac_sql.program.state import State, StoredRule


@dataclass(frozen=True, slots=True)
class Prepared:
    """A program checked once, and used for all changes of facts until rules or columns change.

    `rules` and `schema` belong to the state that has this program. `rules` is None until that state
    is published.
    """

    rules: tuple[StoredRule, ...] | None
    schema: Mapping[str, Predicate]
    functions: Functions
    planned: Planned
    cache: StatementCache = field(default_factory=StatementCache)
    copies: Copies = field(default_factory=Copies)

    @property
    def graph(self) -> Hypergraph:
        """The HRDG of the program."""
        return self.planned.graph

    @property
    def datatypes(self) -> Datatypes:
        """Which literals the native values of columns are."""
        planned = self.planned
        return self.cache.get("datatypes", lambda: datatypes_after(planned.schema, planned.rules))

    @property
    def clocked(self) -> frozenset[int]:
        """The hypernodes whose rules say now()."""
        return self.cache.get("clocked", lambda: clocked(self.graph))

    def fits(self, state: State, schema: Mapping[str, Predicate], functions: Functions) -> bool:
        """Whether a change of facts that leaves the predicates as in `schema` can use this."""
        return (
            self.rules is state.rules
            and self.functions == functions
            and is_same(self.schema, state.schema)
            and is_same(schema, state.schema)
        )

    def published(self, state: State) -> Prepared:
        """The program for the changes of facts that follow: its rules no longer come or go."""
        planned, restructuring = self.planned, self.planned.restructuring
        if restructuring.before is not restructuring.after or planned.remarks:
            # One schema, if they are equal, so that later changes need not compare them.
            schema = state.schema if planned.schema == state.schema else planned.schema
            restructuring = unchanged(self.graph)
            planned = replace(planned, schema=schema, restructuring=restructuring, remarks=())
        return replace(self, rules=state.rules, schema=state.schema, planned=planned)


def is_same(one: Mapping[str, Predicate], other: Mapping[str, Predicate]) -> bool:
    """Whether two schemas are equal. Mostly they are one, and nothing must be compared."""
    return one is other or one == other


def prepared_after(
    before: Prepared | None, state: State, planned: Planned, functions: Functions
) -> Prepared:
    """A program with other rules, or other columns, than the one before it.

    What still holds of the earlier cache, and the copies, are passed on.
    """
    if before is None or before.rules is not state.rules or before.functions != functions:
        return Prepared(None, {}, functions, planned)  # or another connection has changed it
    cache = _lasting(before, planned)
    return Prepared(None, {}, functions, planned, cache, before.copies)


def _lasting(before: Prepared, planned: Planned) -> StatementCache:
    """The part of the earlier cache that still holds for a program with other rules."""
    hypernodes = planned.restructuring.unchanged()
    others = {
        name
        for name in before.schema.keys() | planned.schema.keys()
        if not _same_table(before.schema.get(name), planned.schema.get(name))
    }
    after = datatypes_after(planned.schema, planned.rules)
    literals = others | differing(before.datatypes, after)

    def lasts(owner: int | str) -> bool:
        if isinstance(owner, str):
            return owner not in others
        if owner not in hypernodes:
            return False
        hypernode = planned.graph[owner]
        return literals.isdisjoint(hypernode.reads) and literals.isdisjoint(hypernode.derives)

    return before.cache.carried(lasts)


def _same_table(before: Predicate | None, after: Predicate | None) -> bool:
    """Whether a predicate has the same SQL name and columns as before."""
    if before is None or after is None:
        return False
    same = before.columns is after.columns or before.columns == after.columns
    return same and before.sql_name == after.sql_name
