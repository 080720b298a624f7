"""What one update of a stream hands to the next, so that it has less to find (paper 4).

maintain/marking.py explains what marks are.
"""

from __future__ import annotations

from collections.abc import Mapping

from zodiac_sql.change.net_facts import NetFacts, deleted_next
from zodiac_sql.change.workspace import Materialisation
from zodiac_sql.language.schema import Staged
from zodiac_sql.maintain.marking import Marks
from zodiac_sql.names import CHANGE_FACTS, whole
from zodiac_sql.program.state import State

Ahead = Mapping[str, tuple[object, Staged]]
"""What the next update deletes, by predicate: the rows as given, and staged."""


def tell_marks(marks: Marks | None, ahead: Ahead, work: Materialisation, net: NetFacts) -> None:
    """Note the marks for this update, if they still hold, and look up those for the next."""
    structure = work.planned.restructuring
    if marks and structure.before is structure.after and _came_as_seen(marks, work.state, net):
        work.marks = marks
    turn = _turn(marks)
    for name, (_, staged) in ahead.items():
        known = work.planned.schema[name]
        part = deleted_next(
            work.store,
            predicate=known,
            explicit=work.new.relation(name),
            entered=net.inserts.get(name),
            staged=staged,
            name=f"{CHANGE_FACTS}ahead{turn}_{whole(known.sql_name)}",
            cache=work.cache,
        )
        if part:
            work.next[name] = part


def marks_after(
    marks: Marks | None, ahead: Ahead, work: Materialisation, state: State
) -> Marks | None:
    """The marks that this update hands to the next one; None if there are none."""
    if not work.next:
        return None
    looked_up = {name: (ahead[name][0], part) for name, part in work.next.items()}
    return Marks(state.generation, _turn(marks), looked_up, work.marked, work.unmarked)


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
