"""What rendering a plan as SQL needs to know besides the plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from zodiac_sql.language.functions import Functions
from zodiac_sql.language.syntax import Type
from zodiac_sql.sql.plan import Version
from zodiac_sql.sql.relations import Relation

Relations = Callable[[str, Version], Relation]


@dataclass(frozen=True, slots=True)
class Context:
    """What rendering needs to know besides the plan.

    `relation` maps a predicate and a version to what to read, `columns` gives the types of all
    predicates, `ids` the dictionary's ids of the symbols that rules mention. With `spelled`,
    symbols have no ids, but stand as their text. Aggregates are over those of their `groups` only
    that are in the parts from one number on, before another one (sql/aggregates.py).
    """

    relation: Relations
    columns: Mapping[str, Sequence[Type | None]]
    functions: Functions
    ids: Mapping[str, int]
    spelled: bool = False
    groups: tuple[int, int] | None = None
