"""Opens the database of a command, makes a change as a whole, and reports an interruption."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from zodiac_sql.cli.elsewhere import host, require_not_served
from zodiac_sql.cli.endings import (
    Interrupted,
    Refused,
    heed_interruption,
    interrupt,
    is_interruption,
)
from zodiac_sql.cli.limiting import checks, limits
from zodiac_sql.cli.reading_options import AS_USUAL, Reading
from zodiac_sql.database.waiting import publishes
from zodiac_sql.paths import STDIN, files_of, is_there

if TYPE_CHECKING:
    from zodiac_sql.change.change import Change
    from zodiac_sql.change.plan_sizes import PlannedSizes
    from zodiac_sql.change.update import Update
    from zodiac_sql.cli.progress import Report
    from zodiac_sql.knowledge_base import KnowledgeBase
    from zodiac_sql.program.rule_sets import MadeRules
    from zodiac_sql.questions import Questions

MEMORY = ":memory:"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to change: rules to drop, rules to add, facts to insert, facts to delete.

    Rules are dropped before others are added, so that a new rule can take the name of a dropped
    one.
    """

    dropped: Sequence[Path | str] = ()
    dropped_set: str | None = None
    """The rule set that rules are dropped from: without rules, it goes as a whole."""
    rules: Sequence[Path | str | MadeRules] = ()
    into: str = "main"
    """The rule set that rules are added to."""
    replace_set: bool = False
    """Whether the rules added, from one file or text, are to be all that the set has."""
    data: Sequence[Path] = ()
    unloaded: Sequence[Path] = ()
    reading: Reading = AS_USUAL
    """How files of facts are read."""
    altered: tuple[str, Mapping[str, str]] | None = None
    """A predicate, and types by column."""
    replace: bool = False
    strict: bool = False
    drops_known: bool = False
    """Whether it is an error if a rule that is to be dropped is not there, as with `strict`."""

    def tell(self, update: Update, report: Report) -> None:
        """Pass all of it to an update."""
        strict = self.strict or self.drops_known
        update.drop_rules(*self.dropped, set=self.dropped_set, strict=strict)
        for given in self.rules:
            if self.replace_set or not isinstance(given, str | Path):
                update.replace_rules(given, set=self.into)
            else:
                update.add_rules(given, set=self.into, replace=self.replace, strict=self.strict)
        if self.altered:
            update.alter(*self.altered)
        if self.rules and self.data:
            update._refuse_early()
        for files, verb in ((self.data, update.load), (self.unloaded, update.unload)):
            for file in files:
                report.reading(file)
                verb(file, self.reading.predicate, **self.reading.options)


@dataclass(slots=True)
class OpenChange:
    """A database that is open for one change, and how far the change has come."""

    kb: KnowledgeBase
    publishing: bool = False
    done: bool = False

    def see(self, statement: str, parameters: object) -> None:
        """Watch every statement for the one that publishes the change."""
        heed_interruption(statement, parameters)
        self.publishing = self.publishing or publishes(statement)

    def carry_out(self, wanted: Wanted) -> Change:
        """Make everything wanted one change, and show progress."""
        from zodiac_sql.cli.progress import reported

        self.kb.trace(self.see)
        with reported() as report, self.kb.update(progress=report, check=checks()) as update:
            wanted.tell(update, report)
        self.done = True
        return update.change

    def preview(self, wanted: Wanted) -> Change:
        """Compute what `carry_out` would do, and show progress; nothing is changed."""
        from zodiac_sql.cli.progress import reported

        self.kb.trace(heed_interruption)
        with reported() as report, self.kb.preview(progress=report) as preview:
            wanted.tell(preview, report)
        return preview.change

    def plan(self, wanted: Wanted) -> PlannedSizes:
        """What `carry_out` is expected to derive; nothing is evaluated."""
        from zodiac_sql.cli.progress import reported

        self.kb.trace(heed_interruption)
        with reported() as report, self.kb.preview(plan=True) as preview:
            wanted.tell(preview, report)
        return preview.plan

    def after_interruption(self, db: str) -> str:
        if self.done:
            return f"interrupted; the change itself is complete in {db}"
        if self.publishing:
            return f"interrupted while writing; the change is in {db} as a whole, or not at all"
        return "interrupted; nothing was changed"


def _connect(db: str, **settings: Any) -> KnowledgeBase:
    """Open a database with the limits of the command. Ctrl-C ends the statement that runs."""
    from zodiac_sql import connect
    from zodiac_sql.database.signals import RAISING

    RAISING.add(interrupt)
    return connect(db, **settings, **limits())


@contextmanager
def changing(db: str, settings: Mapping[str, Any] | None = None) -> Iterator[OpenChange]:
    """Open a database to change it. A file that is made here is removed if the change fails."""
    server = host()
    if server is not None:
        _require_none(settings or {})
        with server.changing(limits()) as kb:
            yield OpenChange(kb)
        return
    if db == MEMORY and settings is None:
        _refuse_memory()
    if db != MEMORY:
        require_not_served(db)
    made = db != MEMORY and not os.path.lexists(db)
    opened: OpenChange | None = None
    try:
        with _connect(db, **(settings or {})) as kb:
            opened = OpenChange(kb)
            yield opened
    except BaseException as error:
        if made and opened and not opened.publishing:
            _remove(db)
        if made and opened is None:
            _remove_if_empty(db)
        if opened and db != MEMORY and is_interruption(error):
            raise Interrupted(opened.after_interruption(db)) from None
        raise


@contextmanager
def reading(db: str) -> Iterator[Questions]:
    """Open a database read-only."""
    server = host()
    if server is not None:
        with server.reading(limits()) as reader:
            yield reader
        return
    require_database(db)
    require_not_served(db)
    with _for_reading(db) as kb:
        kb.trace(heed_interruption)
        yield kb


@contextmanager
def copying(db: str) -> Iterator[KnowledgeBase]:
    """Open a database to copy it as it is."""
    server = host()
    if server is None:
        with reading(db) as kb:
            yield cast("KnowledgeBase", kb)
        return
    with server.changing(limits()) as kb:
        yield kb


def _require_none(settings: Mapping[str, Any]) -> None:
    """Refuse settings for opening a database that a server has open."""
    given = [f"--{name.replace('_', '-')}" for name, value in settings.items() if value is not None]
    if given:
        raise Refused(f"{given[0]}: a server has the file open, with settings of its own.")


def _for_reading(db: str) -> KnowledgeBase:
    """Open a database read-only; first for writing, if a killed process has left it unsettled."""
    from zodiac_sql.errors import UnsettledError

    try:
        return _connect(db, read_only=True)
    except UnsettledError:
        _connect(db).close()
        return _connect(db, read_only=True)


def require_database(db: str, preview: bool = False) -> None:
    """Refuse a database that does not exist. A preview does not make one."""
    if host() is not None:
        return
    if db == MEMORY:
        _refuse_memory()
    if not is_there(db):
        vain = ", so there is nothing to preview against" if preview else ""
        raise Refused(
            f"there is no database {db}{vain}. `zodiac run {db} -r RULES -d DATA` makes one."
        )


_FACT = re.compile(r"([^\s(]+)\s*\(.*\)\s*\.?\s*", re.DOTALL)
"""What a fact looks like, and its predicate."""


def require_files(files: Iterable[Path]) -> None:
    missing = [str(file) for file in files if not is_there(file)]
    if missing:
        said = f"there is no file {', '.join(missing)}. Nothing was changed."
        raise Refused(said + _right(missing[0]))


def facts_in(given: Iterable[Path], rules: Iterable[Path] = ()) -> list[Path]:
    """The files of facts that paths and patterns mean.

    Refuses those that are not there, together with files of rules that are not.
    """
    found: list[Path] = []
    for one in given:
        if one.name == STDIN and host() is not None:  # in the folder of the client
            raise Refused(
                "a server has the file open, and standard input does not reach it. Write what "
                "comes in to a file, or send it to the server as text/csv: "
                "POST /insert?predicate=NAME."
            )
        found += files_of(one)
    require_files([*rules, *(file for file in found if str(file) != STDIN)])
    return found


def _right(given: str) -> str:
    """What would be right if this is not the name of a file, but a rule or a fact."""
    if ":-" in given:
        return (
            " Rules are read from files, such as more.rules; as text, only add-rules and "
            "drop-rules take them: `zodiac add-rules DB -e RULES`."
        )
    fact = _FACT.fullmatch(given)
    if fact is None:
        return ""
    shown = shlex.quote(f"{given.strip().rstrip('.')}.")
    return (
        " Facts are read from files: write a table, such as facts.csv, with a line of column names "
        f"and a line for each fact, and say -p {shlex.quote(fact[1])}. As text, only add-rules "
        f"takes them: `zodiac add-rules DB -e {shown}`, with --preview to see what it would do."
    )


def _refuse_memory() -> None:
    raise Refused(f"{MEMORY} is empty, and gone when the program ends: it is for `zodiac run`.")


def _remove_if_empty(db: str) -> None:
    """Remove a file without predicates whose making failed or was interrupted."""
    from zodiac_sql import ZodiacError, connect

    with suppress(ZodiacError):
        with connect(db) as kb:
            empty = not kb.predicates().num_rows
        if empty:
            _remove(db)


def _remove(db: str) -> None:
    from zodiac_sql.database.new_files import log_of

    for path in (Path(db), log_of(Path(db))):
        path.unlink(missing_ok=True)


def names_and_files(given: Iterable[str]) -> list[Path | str]:
    """Files of rules as paths, names of rules as text. The files must exist."""
    told = [Path(one) if one.endswith((".rules", ".dl", ".srl")) else one for one in given]
    require_files(one for one in told if isinstance(one, Path))
    return told
