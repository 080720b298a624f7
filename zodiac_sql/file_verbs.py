"""The verbs about the file itself: its change feed, types of its columns, its copies, its size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from zodiac_sql.database.guard import exclusive
from zodiac_sql.database.settings import require_storage_version
from zodiac_sql.questions import Questions

if TYPE_CHECKING:
    from zodiac_sql.change.change import Change
    from zodiac_sql.change.settings import Changing
    from zodiac_sql.change.update import Update
    from zodiac_sql.database.compact import Compacted
    from zodiac_sql.read.changes import Changes
    from zodiac_sql.read.query import Answer


class FileVerbs(Questions):
    """What can be done with the file."""

    @contextmanager
    def _changing(self, how: Changing) -> Iterator[Update]:
        """One atomic change."""
        from zodiac_sql.change.update import Update

        with self._session.updating(None, how) as collected:
            yield Update(collected)

    def keep_feed(
        self,
        predicates: Iterable[str] | None = None,
        *,
        count: int | None = None,
        days: float | None = None,
        bytes: int | None = None,
        **how: Unpack[Changing],
    ) -> Change:
        """Keep a feed of what enters and leaves some predicates (by default all); see `changes`.

            kb.keep_feed(["anomaly"], count=10_000)

        The file keeps it, with all changes from the next one on, or at least the last `count`
        changes, those of the last `days`, or `bytes` of entries before compression; if several
        limits are given, what exceeds one of them can go. This replaces what was kept before:
        predicates that are not named any more leave the feed, with their entries; `keep_feed([])`
        ends it. Raises QueryError for limits that are none.
        """
        with self._changing(how) as update:
            update.keep_feed(predicates, count=count, days=days, bytes=bytes)
        return update.change

    def alter(self, predicate: str, types: Mapping[str, str], **how: Unpack[Changing]) -> Change:
        """Give columns of a predicate other types, with the facts that are there, as one change.

            kb.alter("reading", {"celsius": "float"})

        Every value must become one that stands for it alone: int to float, anything to symbol, and
        back. All rules are checked once more, and what depends on the predicate is derived anew.
        Raises QueryError, DataError for a value that does not convert, ProgramError if rules forbid
        the types; then nothing is changed.
        """
        with self._changing(how) as update:
            update.alter(predicate, types)
        return update.change

    @exclusive
    def changes(
        self, *predicates: str, since: int | None = None, until: int | None = None
    ) -> Changes:
        """What has entered and left predicates that are in the feed (`keep_feed`).

            seen = kb.changes().position
            for change in kb.changes(since=seen): ...

        Changes are numbered 1, 2, 3, ...; those after number `since` are returned, by default all
        that are kept, up to `until`. Raises QueryError for changes that are not kept any more.
        """
        from zodiac_sql.read.changes import changes

        return self._read(changes, predicates, since, until)

    @exclusive
    def feed(self) -> Answer:
        """What is in the feed: `predicate: string` (null: all), `since: int64` (`changes` can be
        asked from there on), `position: int64` (the last change), `entries: int64, bytes: int64`,
        and what is kept at least, or null: `count: int64, days: double, limit: int64` (bytes).
        """
        from zodiac_sql.read.changes import describe_feed

        return describe_feed(self._session.current())

    @exclusive
    def compact(self, *, storage_version: str | None = None) -> Compacted:
        """Write the file anew: as small as it can be, in order, without symbols that nothing uses.

        `storage_version` is the form of DuckDB's in which it is written, such as "v1.5.0" for all
        clients from 1.5 on; without it, the file keeps its own (see `connect`). Nobody else may
        have it open. A kill leaves it as it was, or as it is then. The facts of the last `Change`
        cannot be asked for any more. Raises BusyError, LockedError, StoreError or ValueError.
        """
        if storage_version is not None:
            require_storage_version(storage_version)
        return self._session.compact(storage_version)

    @exclusive
    def backup(self, path: str | Path) -> None:
        """Copy the file, as it is now, to a path where there is none yet.

        Other threads of this process may read meanwhile; a change of theirs is a LockedError. The
        copy is one file, which `connect` opens. Raises StoreError if it cannot be made; then
        nothing is at the path.
        """
        from zodiac_sql.database.backup import back_up

        back_up(self._session.store, Path(path))
