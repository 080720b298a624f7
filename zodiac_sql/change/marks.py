"""What of marks one update hands to the next (paper 4; maintain/marking.py says what they are)."""

from __future__ import annotations

from zodiac_sql.change.collected import Collected
from zodiac_sql.change.net_facts import deleted_next
from zodiac_sql.change.workspace import Materialisation, Net
from zodiac_sql.maintain.marking import Marks
from zodiac_sql.names import CHANGE_FACTS, whole
from zodiac_sql.program.state import State


def tell_marks(collected: Collected, work: Materialisation, net: Net) -> None:
    """Say what is marked: for this update, if it came as it was seen, and for the next."""
    structure, marks = work.planned.restructuring, collected.marks
    if marks and structure.before is structure.after and _came_as_seen(marks, work.state, net):
        work.marks = marks
    turn = work.state.generation % 2  # the next update reads its table while it makes another
    for name, (_, staged) in collected.ahead.items():
        known = work.planned.schema[name]
        part = deleted_next(
            work.store,
            known,
            work.new.relation(name),
            net.inserts.get(name),
            staged,
            f"{CHANGE_FACTS}ahead{turn}_{whole(known.sql_name)}",
            work.cache,
        )
        if part:
            work.next[name] = part


def marks_after(collected: Collected, work: Materialisation, state: State) -> Marks | None:
    """What the update has found out about the next one."""
    if not work.next:
        return None
    ahead = {name: (collected.ahead[name][0], part) for name, part in work.next.items()}
    return Marks(state.generation, ahead, work.marked, work.unmarked)


def _came_as_seen(marks: Marks, state: State, net: Net) -> bool:
    """Whether this update deletes all that the one before has marked."""
    if marks.generation != state.generation:
        return False
    return all(
        name in net.deletes and net.deletes[name].rows == part.rows
        for name, (_, part) in marks.ahead.items()
    )
