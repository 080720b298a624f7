"""What rendering a plan as SQL needs to know besides the plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from zodiac_sql.language.functions import Functions
from zodiac_sql.language.passed_on import Datatypes
from zodiac_sql.language.syntax import Type
from zodiac_sql.sql.for_duckdb import for_duckdb
from zodiac_sql.sql.plan import Version
from zodiac_sql.sql.relations import Relation

Relations = Callable[[str, Version], Relation]

Leaves = Callable[[str, Sequence[Type | None], Type | None], bool]
"""Whether an engine leaves a function to DuckDB: by the types of its arguments and its value."""


@dataclass(frozen=True, slots=True)
class Context:
    """What rendering needs to know besides the plan.

    `relation` maps a predicate and a version to what to read, `columns` gives the types of all
    predicates, `ids` the dictionary's ids of the symbols that rules mention. With `spelled`,
    symbols have no ids, but stand as their text. Aggregates are over those of their `groups` only
    that are in the parts from one number on, before another one (sql/aggregates.py). Another engine
    than DuckDB `leaves` to it what it would compute otherwise, and all values of terms. `datatypes`
    say which literals native values are where rules copy them to columns of terms.
    """

    relation: Relations
    columns: Mapping[str, Sequence[Type | None]]
    functions: Functions
    ids: Mapping[str, int]
    spelled: bool = False
    groups: tuple[int, int] | None = None
    leaves: Leaves | None = None
    datatypes: Datatypes = field(default_factory=dict)

    def left(self, expression: exp.Expr, type_: str | exp.DataType) -> exp.Expr:
        """An expression of a type, marked as one for DuckDB if another engine leaves such to it."""
        return expression if self.leaves is None else for_duckdb(expression, type_)
