"""The work of `zodiac stream`: applies updates as they come, and says what is in the file."""

from __future__ import annotations

import logging
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zodiac_sql.cli.databases import MEMORY, OpenChange, changing, require_files
from zodiac_sql.cli.endings import Interrupted, Refused, is_interruption
from zodiac_sql.cli.output import print_notes, print_update, say
from zodiac_sql.cli.terminal import draws_progress, output
from zodiac_sql.database.waiting import publishes
from zodiac_sql.errors import ZodiacError
from zodiac_sql.serve.place import path_of, place_of

if TYPE_CHECKING:
    from zodiac_sql.change.change import Change
    from zodiac_sql.knowledge_base import KnowledgeBase

STDIN = "-"

_NOTES_SHOWN = 10
"""How many notes of a stream are printed at its end; the others are only counted."""

_PASSED_OVER = re.compile(r"update [0-9]+(?: \(.*?\))? was passed over: ")
"""How the note on an update begins that was passed over. It is printed at once: a stream may never
end."""


@dataclass(slots=True)
class Tally:
    """The changes of a stream, added up."""

    updates: int = 0
    entered: int = 0
    left: int = 0
    last: int = 0
    """The number of the last update in the file."""
    notes: list[str] = field(default_factory=list)
    more_notes: int = 0
    passed_over: int = 0
    behind: str = ""
    _started: float = field(default_factory=time.perf_counter)

    def add(self, change: Change) -> None:
        self.updates += len(change.updates)
        self.last = change.updates[-1] if change.updates else self.last
        self.entered += sum(change.inserted.values())
        self.left += sum(change.deleted.values())
        notes = [note for note in change.notes if not _PASSED_OVER.match(note)]
        self.passed_over += len(change.notes) - len(notes)
        free = max(0, _NOTES_SHOWN - len(self.notes))
        self.notes += notes[:free]
        self.more_notes += len(notes[free:])
        if change.updates:
            waiting, lag = change.stats["stream"]["waiting"], change.stats["stream"]["lag"]
            self.behind = f"behind: {_counted(waiting, 'update')}, {lag:.1f} s"

    def __str__(self) -> str:
        seconds = time.perf_counter() - self._started
        rate = self.updates / seconds if seconds else 0.0
        passed_over = f" ({self.passed_over} passed over)" if self.passed_over else ""
        return (
            f"{_counted(self.updates, 'update')}{passed_over}, "
            f"{_counted(self.entered, 'fact')} in, {self.left} out, {seconds:.1f} s, "
            f"{rate:.{0 if rate >= 10 else 1}f} updates/s"
        )

    def all_notes(self) -> list[str]:
        """The first notes, and how many more there are."""
        return [*self.notes, *([f"and {self.more_notes} more"] if self.more_notes else [])]


def _counted(number: Any, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


@contextmanager
def drawn(tally: Tally, wanted: bool) -> Iterator[Callable[[], object]]:
    """Draw a tally while the block runs, if stderr is a terminal. Call the result to redraw it."""
    if not wanted or not draws_progress():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("waiting for updates", total=None)
        yield lambda: bar.update(task, description=f"{tally}; {tally.behind}")


@dataclass(slots=True)
class Following:
    """Applies a stream to a database, and keeps count."""

    db: str
    as_json: bool
    strategy: str
    options: Mapping[str, Any]
    """Those of `KnowledgeBase.stream`."""
    port: int | None
    """Where others are let in meanwhile (serve/); None if they are not."""
    tally: Tally = field(default_factory=Tally)
    publishing: bool = False
    """Whether an update is being written whose change has not been reported yet."""

    def follow(self, source: str) -> None:
        """Apply all updates. Raises Refused or Interrupted, which say what is in the file."""
        try:
            with changing(self.db, {"strategy": self.strategy}) as opened:
                try:
                    with self._served(opened.kb):
                        self._apply(opened, source)
                except ZodiacError as error:
                    if is_interruption(error):
                        raise
                    raise Refused(f"{error}\n{self.kept()}") from error
        except Interrupted:
            and_one = ", and the next as a whole, or not at all" if self.publishing else ""
            raise Interrupted(f"interrupted; {self.kept()}{and_one}") from None

    @contextmanager
    def _served(self, kb: KnowledgeBase) -> Iterator[None]:
        """Let others in while the block runs, if that is wanted."""
        if self.port is None:
            yield
            return
        with kb.serve(port=self.port) as server:
            say(f"{self.db} is served at {server.url}; {path_of(self.db)} has the tokens")
            yield

    def _apply(self, opened: OpenChange, source: str) -> None:
        """Apply updates until the source ends, and report each change."""

        def see(statement: str, parameters: object) -> None:
            opened.see(statement, parameters)
            self.publishing = self.publishing or publishes(statement)

        name = self.options["name"]
        position = opened.kb.position(name) if name else None
        if position is not None:
            self.tally.last = position
            say(f"going on after update {position}")
        opened.kb.trace(see)
        updates: Any = _stdin() if source == STDIN else Path(source)
        with drawn(self.tally, wanted=not self.as_json) as draw:
            for change in opened.kb.stream(updates, **self.options):
                self._told(change)
                draw()

    def _told(self, change: Change) -> None:
        self.publishing = False
        self.tally.add(change)
        if self.as_json:
            print_update(change)
        print_notes(filter(_PASSED_OVER.match, change.notes))

    def kept(self) -> str:
        """A sentence that says how many updates are in the file."""
        last = self.tally.last
        return f"{last or 'no'} {'update is' if last in (0, 1) else 'updates are'} in {self.db}"


def follow(db: str, source: str, following: Following) -> None:
    """Apply the updates of a file or standard input to a database. A missing database is made."""
    if db == MEMORY:
        raise Refused(f"{MEMORY} is gone when the program ends: give a file.")
    if source != STDIN:
        require_files([Path(source)])
    place = place_of(db)
    if place is not None:
        raise Refused(
            f"{db} is served by process {place.pid}, which would have to wait until this stream "
            f"ends. Send updates there (POST {place.url}/update), or let the stream itself serve: "
            f"zodiac stream {db} {source} --serve"
        )
    # What is passed over is printed anyway, so nothing prints the warning if nobody wants a log.
    logging.getLogger("zodiac_sql.stream").addHandler(logging.NullHandler())
    following.follow(source)
    if not following.as_json:
        output().write(f"{following.tally}\n")
        print_notes(following.tally.all_notes())


def _stdin() -> Any:
    """Standard input as UTF-8. Other bytes are refused together with the update that has them."""
    if hasattr(sys.stdin, "reconfigure"):
        sys.stdin.reconfigure(encoding="utf-8", errors="surrogateescape")
    return sys.stdin
