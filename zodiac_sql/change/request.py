"""What the verbs of one update have asked for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from zodiac_sql.change.change import Streamed
from zodiac_sql.language.schema import Predicate, Staged
from zodiac_sql.names import EXPLICIT_SCHEMA
from zodiac_sql.program.feed import Keeping
from zodiac_sql.program.rule_edits import RuleEdits
from zodiac_sql.program.state import State
from zodiac_sql.sql.relations import Part

if TYPE_CHECKING:
    from zodiac_sql.change.load_files import File


@dataclass(slots=True)
class Request:
    """The facts and rules that are to come and go, and how.

    Rule: when the update is applied, its rules are completed by the columns that they name, and the
    files that wait are loaded (apply.py). Nothing else of it changes then.
    """

    rules: RuleEdits
    check: bool
    """Whether the update is refused if it violates constraints anew."""
    inserts: dict[str, list[Staged]] = field(default_factory=lambda: defaultdict(list))
    deletes: dict[str, list[Staged]] = field(default_factory=lambda: defaultdict(list))
    seen: dict[str, Part] = field(default_factory=dict)
    """Facts to be deleted that the previous update has looked up already, by predicate."""
    ahead: dict[str, tuple[object, Staged]] = field(default_factory=dict)
    """What the next update deletes, by predicate: the rows as given, and staged."""
    waiting: list[File] = field(default_factory=list)
    """The files that wait until all rules are known: these tell which columns are loaded."""
    positions: dict[str, int] = field(default_factory=dict)
    """How far streams have come."""
    streamed: Streamed | None = None
    """Which updates of a stream this one applies."""
    left: dict[str, list[Staged]] = field(default_factory=dict)
    """Of predicates from whose windows facts fall out: what verbs have said is to be deleted."""
    keeping: Keeping | None = None
    """What is to be in the change feed from then on."""


def explicit_predicates(state: State, request: Request) -> set[str]:
    """The predicates that have explicit facts, or for which the update inserts or deletes some."""
    schema: Mapping[str, Predicate] = state.schema
    rows = state.rows
    there = {name for name, known in schema.items() if rows.get((EXPLICIT_SCHEMA, known.sql_name))}
    return there.union(request.inserts, request.deletes)


def left_window(
    left: Mapping[str, Sequence[Staged]], predicate: str, values: tuple[object, ...]
) -> bool:
    """Whether an explicit fact that an update has taken away fell out of a window.

    `left` are those of the predicates from whose windows facts fell out that verbs have deleted: of
    a table of them nobody asks whether it has the fact.
    """
    if predicate not in left:
        return False
    return not any(one.given is None or values in one.given for one in left[predicate])
