"""The global sets of the Backward/Forward algorithm (bf.py), as temporary tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from zodiac_sql.evaluate.cache_keys import relation_key
from zodiac_sql.evaluate.make_tables import make_part
from zodiac_sql.maintain.contract import Work
from zodiac_sql.maintain.steps.recursion import Recursion
from zodiac_sql.maintain.steps.working_table import WorkingTable, put
from zodiac_sql.sql.relations import Part, Relation, part_query
from zodiac_sql.sql.set_difference import unknown

Facts = dict[str, Part]
"""Temporary tables of facts by predicate, none of them empty."""


@dataclass(slots=True)
class Search:
    """The paper's global sets, each a temporary table per predicate of the hypernode."""

    recursion: Recursion
    checked: Facts = field(default_factory=dict)
    proved: Facts = field(default_factory=dict)
    disproved: Facts = field(default_factory=dict)
    reached: Facts = field(default_factory=dict)
    """D: consequences of deleted facts."""
    doubtful: Facts = field(default_factory=dict)
    """Consequences of deleted facts that are known from outside, too."""
    work: Work = field(default_factory=Work)

    @property
    def owns(self) -> Mapping[str, WorkingTable]:
        """The hypernode's tables."""
        return self.recursion.owns


def parts_of(facts: Facts, own: WorkingTable) -> tuple[Part, ...]:
    part = facts.get(own.predicate)
    return (part,) if part else ()


def note(facts: Facts, own: WorkingTable, part: Part | None) -> None:
    if part is not None:
        facts[own.predicate] = part


def total_rows(facts: Facts) -> int:
    return sum(part.rows for part in facts.values())


def add_to_set(
    search: Search, facts: Facts, stem: str, own: WorkingTable, new: Part | None
) -> None:
    """Add the facts of a temporary table to a set."""
    if new is not None:
        name = f"{stem}_{own.stem}"
        rows = put(search.recursion.runner, own, new, name, facts.get(own.predicate))
        facts[own.predicate] = Part("temp", name, rows)


def set_minus(search: Search, these: Facts, those: Facts, stem: str) -> Facts:
    """The facts of one set that are not in another."""
    found: Facts = {}
    for predicate, part in these.items():
        own = search.owns[predicate]
        if predicate not in those:
            found[predicate] = part
            continue
        known = Relation(own.columns, parts_of(those, own))
        name = f"{stem}_{own.stem}"
        note(found, own, keep_unknown(search, own, part, known, name))
    return found


def keep_unknown(
    search: Search, own: WorkingTable, part: Part, known: Relation, name: str
) -> Part | None:
    """Create a table of those facts of a part that a relation does not have."""

    def query() -> exp.Query:
        return unknown(part_query(part, Relation(own.columns, ())), known)

    key = ("minus", part.table, relation_key(known))
    return make_part(search.recursion.runner, key, name, query)
