"""What `zodiac stream` does: apply updates as they come, and say what is in the file at the end."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zodiac_sql.cli.databases import (
    MEMORY,
    Changing,
    Interrupted,
    Refused,
    changing,
    is_interruption,
    require_files,
)
from zodiac_sql.cli.output import print_notes, print_update, say
from zodiac_sql.cli.tally import Tally, drawn
from zodiac_sql.errors import ZodiacError

if TYPE_CHECKING:
    from zodiac_sql.change.change import Change

STDIN = "-"


@dataclass(slots=True)
class Following:
    """A stream on its way into a database."""

    db: str
    as_json: bool
    tally: Tally = field(default_factory=Tally)
    publishing: bool = False
    """Whether an update is being written whose change has not been told."""

    def follow(self, source: str, strategy: str, options: Mapping[str, Any]) -> None:
        """Apply all updates. Raises Refused, or Interrupted, which say what is in the file."""
        try:
            with changing(self.db, {"strategy": strategy}) as opened:
                try:
                    self._apply(opened, source, options)
                except ZodiacError as error:
                    if is_interruption(error):
                        raise
                    raise Refused(f"{error}\n{self.kept()}") from error
        except Interrupted:
            and_one = ", and the next as a whole, or not at all" if self.publishing else ""
            raise Interrupted(f"interrupted; {self.kept()}{and_one}") from None

    def _apply(self, opened: Changing, source: str, options: Mapping[str, Any]) -> None:
        """Apply updates until the source ends, and tell each change."""

        def see(statement: str, parameters: object) -> None:
            opened.see(statement, parameters)
            self.publishing = self.publishing or statement == "COMMIT"

        position = opened.kb.position(options["name"]) if options["name"] else None
        if position is not None:
            self.tally.last = position
            say(f"going on after update {position}")
        opened.kb.trace(see)
        updates: Any = _stdin() if source == STDIN else Path(source)
        with drawn(self.tally, wanted=not self.as_json) as draw:
            for change in opened.kb.stream(updates, **options):
                self._told(change)
                draw()

    def _told(self, change: Change) -> None:
        self.publishing = False
        self.tally.add(change)
        if self.as_json:
            print_update(change)

    def kept(self) -> str:
        """How many updates are in the file."""
        last = self.tally.last
        return f"{last or 'no'} {'update is' if last in (0, 1) else 'updates are'} in {self.db}"


def follow(db: str, source: str, strategy: str, options: Mapping[str, Any], as_json: bool) -> None:
    """Apply the updates of a file, or of standard input, to a database, made if it is missing."""
    if db == MEMORY:
        raise Refused(f"{MEMORY} is gone when the program ends: give a file.")
    if source != STDIN:
        require_files([Path(source)])
    following = Following(db, as_json)
    following.follow(source, strategy, options)
    if not as_json:
        sys.stdout.write(f"{following.tally}\n")
        print_notes(following.tally.all_notes())


def _stdin() -> Any:
    """Standard input as UTF-8. Bytes that are none are refused with the update that has them."""
    if hasattr(sys.stdin, "reconfigure"):
        sys.stdin.reconfigure(encoding="utf-8", errors="surrogateescape")
    return sys.stdin
