"""Marking: what one update of a stream finds out about the next (paper 4, Algorithm 1).

Facts that the next update deletes are marked. While this update derives facts, a mark on an
explicit fact in a rule's body passes to the head: the queries that derive facts carry it along in a
column. The next update then begins with the marked facts among those to be checked, so its own
search has fewer to find.

All instances of a rule are found together, so a head is marked if any of them has a marked fact;
the paper looks only at the first instance that derives it. With `implicit`, marks also pass through
derived facts. That is right for DRed, which takes out whatever may be lost, but not for B/F (paper
4, section 4).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from zodiac_sql.database.statements import distinct, union_all
from zodiac_sql.evaluate.make_tables import make_part
from zodiac_sql.maintain.contract import Task
from zodiac_sql.names import CHANGE_FACTS
from zodiac_sql.sql.relations import Part, Relation, columns_of, mark_of, table


@dataclass(frozen=True, slots=True)
class Marks:
    """What an update has found out about the one after it.

    It holds for the state of that `generation`, and only if the next update deletes just the facts
    of `ahead`, which has for each predicate the rows as they were given, and a temporary table of
    those that are explicit. `found` are derived facts that the update has marked, by predicate and
    hypernode; `unmarked` are hypernodes that it has evaluated without marking.
    """

    generation: int
    turn: int
    """The tables of two updates that follow each other have different names: 0 or 1."""
    ahead: Mapping[str, tuple[object, Part]] = field(default_factory=dict)
    found: Mapping[tuple[str, int], Part] = field(default_factory=dict)
    unmarked: Collection[int] = ()

    def tables(self) -> set[str]:
        """The temporary tables that the next update reads."""
        parts = [*(part for _, part in self.ahead.values()), *self.found.values()]
        return {part.table for part in parts}


def marked_among(task: Task, predicate: str, parts: Iterable[Part | None]) -> dict[str, Part]:
    """Create a table of the marked facts of some tables, under a name that lasts."""
    known = [part for part in parts if part and part.marks]
    if not known:
        return {}
    name = f"{CHANGE_FACTS}marked_{task.stem(predicate)}"

    def query() -> exp.Query:
        relation = Relation(task.schema[predicate].columns, ())
        queries = [
            exp.select(*columns_of(relation, "t"))
            .from_(table(part).as_("t"))
            .where(mark_of("t"), copy=False)
            for part in known
        ]
        return distinct(union_all(queries)) if len(queries) > 1 else queries[0]

    key = ("marked", predicate, tuple(part.table for part in known))
    part = make_part(task.store, task.cache, key, name, query, marks="all")
    return {predicate: part} if part else {}
