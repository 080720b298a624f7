"""What one update of a stream hands to the next, so that it has less to find (paper 4).

maintain/papers/marking.py explains what marks are.
"""

from __future__ import annotations

from collections.abc import Mapping

from zodiac_sql.change.net_facts import NetFacts, deleted_next
from zodiac_sql.change.workspace import Basis, MarkedFacts
from zodiac_sql.language.schema import Staged
from zodiac_sql.maintain.papers.marking import Marks
from zodiac_sql.names import CHANGE_FACTS, whole
from zodiac_sql.program.state import State
from zodiac_sql.sql.relations import Part
from zodiac_sql.storage.sources import Sources

Ahead = Mapping[str, tuple[object, Staged]]
"""What the next update deletes, by predicate: the rows as given, and staged."""


def marked_facts(
    marks: Marks | None, ahead: Ahead, basis: Basis, new: Sources, net: NetFacts
) -> MarkedFacts:
    """The marks for this update, if they still hold, and those on explicit facts for the next.

    `new` are the extensions with the update's explicit facts, before any hypernode is evaluated.
    """
    structure = basis.planned.restructuring
    hold = marks and structure.before is structure.after and _came_as_seen(marks, basis.state, net)
    turn, found = _turn(marks), dict[str, Part]()
    for name, (_, staged) in ahead.items():
        known = basis.planned.schema[name]
        part = deleted_next(
            basis.store,
            predicate=known,
            explicit=new.relation(name),
            staged=staged,
            name=f"{CHANGE_FACTS}ahead{turn}_{whole(known.sql_name)}",
            cache=basis.cache,
        )
        if part:
            found[name] = part
    return MarkedFacts(marks if hold else None, found)


def marks_after(
    marks: Marks | None, ahead: Ahead, marked: MarkedFacts, state: State
) -> Marks | None:
    """The marks that this update hands to the next one; None if there are none."""
    if not marked.next:
        return None
    looked_up = {name: (ahead[name][0], part) for name, part in marked.next.items()}
    return Marks(state.generation, _turn(marks), looked_up, marked.derived)


def _turn(marks: Marks | None) -> int:
    """Which of two names the tables for the next update get: this one reads those of the other."""
    return 1 - marks.turn if marks else 0


def _came_as_seen(marks: Marks, state: State, net: NetFacts) -> bool:
    """Whether this update directly follows, and deletes all facts that were marked for it."""
    if marks.generation != state.generation:
        return False
    return all(
        name in net.deletes and net.deletes[name].rows == part.rows
        for name, (_, part) in marks.ahead.items()
    )
