"""What windows do to an update before it is carried out: facts fall out of them.

What leaves is added to what the update deletes, and what comes too late is taken out of what it
inserts. So all else is an ordinary change: its consequences, constraints, the feed, a preview.

Rule: the facts that are left are those that all windows keep, in whatever order verbs have come.
Windows by time look at the facts before the update and at those that it inserts; windows by count
look at what these leave.

Reason for asking DuckDB, and keeping no index of times: it reads only the row groups whose times
can be below the border (zone maps), and facts come nearly in the order of their times.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from zodiac_sql.change.border import Border, latest
from zodiac_sql.change.collected import Collected
from zodiac_sql.change.fallen import Fallen, latest_there, out_of_count, out_of_time, without_late
from zodiac_sql.change.staged_rows import without_none
from zodiac_sql.errors import DataError, Problem, ProgramError
from zodiac_sql.facts.stage import stage_rows
from zodiac_sql.language.schema import Predicate, Staged
from zodiac_sql.language.syntax import Atom, Constant, Window
from zodiac_sql.language.windows import terms, window_text
from zodiac_sql.names import CLOCK, EXPLICIT_SCHEMA, events
from zodiac_sql.program.check import in_order
from zodiac_sql.program.windows import Placed, placed


def window_problems(collected: Collected) -> list[Problem]:
    """What is wrong with windows. The predicates of the others are there from then on, whether
    they have facts or not.
    """
    windows = collected.request.rules.windows
    found, problems = placed(_all(collected), collected.edits.provisional)
    if windows:
        for one in found:
            collected.edits.declare(one.window.predicate)
    return problems


def _all(collected: Collected) -> list[Window]:
    return [one.window for one in collected.request.rules.windows.after]


def facts_in_texts(collected: Collected) -> list[Atom]:
    """The facts of predicates with windows that stand in texts of rules."""
    names = {window.predicate for window in _all(collected)}
    return [fact for fact in collected.request.rules.facts() if fact.predicate in names]


def take_facts_of_texts(collected: Collected, facts: Iterable[Atom]) -> None:
    """Let facts that stand in texts of rules be inserted like those of verbs."""
    rules = collected.request.rules
    rows: dict[str, list[tuple[object, ...]]] = defaultdict(list)
    for fact in facts:
        row = (term.value for term in fact.terms if isinstance(term, Constant))
        rows[fact.predicate].append(tuple(row))
    for name, values in rows.items():
        known = collected.edits.provisional[name]
        staged = stage_rows(collected.before.store, name, values, known)
        assert staged is not None
        collected.insert(staged)
    rules.arrivals = [
        replace(one, program=replace(one.program, facts=tuple(
            fact for fact in one.program.facts if fact.predicate not in rows
        )))
        for one in rules.arrivals
    ]  # fmt: skip


def fall_out(collected: Collected) -> None:
    """Let facts fall out of windows. Raises ProgramError for windows without columns of times, and
    DataError if a window refuses a fact.
    """
    found, problems = placed(_all(collected), collected.edits.provisional)
    if problems:
        raise ProgramError(in_order(problems))
    by_predicate: dict[str, list[Placed]] = defaultdict(list)
    for one in found:
        by_predicate[one.window.predicate].append(one)
    new = set(collected.request.rules.windows.new())
    for name, windows in by_predicate.items():
        _Predicate(collected, name, frozenset(new)).fall_out(windows)


@dataclass(frozen=True, slots=True)
class _Predicate:
    """A predicate with windows, in an update."""

    collected: Collected
    name: str
    new: frozenset[Window]
    """The windows that come with the update: they look at all facts that are there."""

    def fall_out(self, windows: Sequence[Placed]) -> None:
        """Let facts fall out of the windows of the predicate."""
        timed = [one for one in windows if one.window.lifetime is not None]
        # All events are seen, before facts are kept out that are too late for some window.
        borders = [self._events(one) if one.window.events else self._clock(one) for one in timed]
        for one, (border, moved) in zip(timed, borders, strict=True):
            if border is not None:
                self._by_time(one, Border(one.place, border), moved)
        counting = [one for one in windows if one.window.count is not None]
        fallen = [(one, self._by_count(one)) for one in counting]
        for one, out in fallen:
            if out is not None:
                late = self._take_late(one, out)
                self._let_go(one, out, (out.staged.rows or 0) - late)

    @property
    def _known(self) -> Predicate:
        return self.collected.edits.provisional[self.name]

    @property
    def _there(self) -> Predicate | None:
        """The predicate as the file has it, if it has explicit facts."""
        state = self.collected.before.state
        known = state.schema.get(self.name)
        rows = known and state.rows.get((EXPLICIT_SCHEMA, known.sql_name))
        return known if rows else None

    @property
    def _inserts(self) -> list[Staged]:
        return without_none({self.name: self.collected.request.inserts.get(self.name, [])}).get(
            self.name, []
        )

    def _by_time(self, one: Placed, border: Border, moved: bool) -> None:
        """Let facts leave whose time is over, and keep out those that come too late."""
        if self._inserts:
            self._take_late(one, border)
        if (moved or one.window in self.new) and self._there is not None:
            out = out_of_time(self.collected.before, self._there, border)
            if out is not None:
                self._let_go(one, out, out.staged.rows or 0)

    def _clock(self, one: Placed) -> tuple[int | None, bool]:
        """The last time that is over by the clock, and whether the clock has moved."""
        assert one.window.lifetime is not None
        asked, state = self.collected.request.positions.get(CLOCK), self.collected.before.state
        now = state.positions.get(CLOCK) if asked is None else asked
        return (None if now is None else now - one.window.lifetime), asked is not None

    def _events(self, one: Placed) -> tuple[int | None, bool]:
        """The same by the latest time that a fact has had."""
        assert one.window.lifetime is not None
        before, positions = self.collected.before, self.collected.request.positions
        key = events(one.place, self.name)
        former = before.state.positions.get(key)
        seen = positions.get(key, former)
        found = [latest(before.store, self._known, staged, one.place) for staged in self._inserts]
        if self._there is not None and (former is None or one.window in self.new):
            found.append(latest_there(before.store, self._there, one.place))
        times = [time for time in (seen, *found) if time is not None]
        if not times:
            return None, False
        now = max(times)
        if now != former:
            positions[key] = now
        return now - one.window.late - one.window.lifetime, now != former

    def _by_count(self, one: Placed) -> Fallen | None:
        """The facts of which enough others of their group are later."""
        inserts, request = self._inserts, self.collected.request
        if not inserts and one.window not in self.new:
            return None
        deletes = without_none({self.name: request.deletes.get(self.name, [])}).get(self.name, [])
        whole = one.window in self.new
        return out_of_count(
            self.collected.before, self._known, self._there, one, inserts, deletes, whole
        )

    def _take_late(self, one: Placed, out: Border | Fallen) -> int:
        """Take what comes too late out of what the update inserts. Returns how many that are."""
        kept, late = without_late(self.collected.before.store, self._known, self._inserts, out)
        if not late:
            return 0
        facts = "1 fact comes" if late == 1 else f"{late} facts come"
        if one.window.refuses:
            raise DataError(f"{self.name}: {facts} too late for {window_text(one.window)}")
        self.collected.request.inserts[self.name] = kept
        stored = "is" if late == 1 else "are"
        said = f"{self.name}: {facts} too late for its window ({terms(one.window)}), and"
        self.collected.report.remarks.append(f"{said} {stored} not stored")
        return late

    def _let_go(self, one: Placed, out: Fallen, count: int) -> None:
        """Let facts be deleted that have fallen out."""
        request = self.collected.request
        request.left.setdefault(self.name, list(request.deletes.get(self.name, ())))
        request.deletes[self.name].append(out.staged)
        if count > 0:
            facts = "1 fact" if count == 1 else f"{count} facts"
            said = f"{self.name}: {facts} left the window of {self.name} ({terms(one.window)})"
            self.collected.report.remarks.append(said)
