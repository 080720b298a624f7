"""The façade that users import. Each verb has a few lines; other modules do the work.

Those that change nothing are in questions.py, those that have to do with time in timed.py.
"""

from __future__ import annotations

import warnings
from collections.abc import (
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from zodiac_sql.change.inserting import Inserting, changing_in, row_keywords_in
from zodiac_sql.change.settings import Changing, Settings
from zodiac_sql.database.connection import Tracer
from zodiac_sql.database.guard import exclusive
from zodiac_sql.database.settings import require_storage_version
from zodiac_sql.errors import MissingFunctionWarning, MissingLogWarning, OtherMeaningWarning
from zodiac_sql.language.former_aggregates import what_is_otherwise
from zodiac_sql.language.syntax import Type
from zodiac_sql.paths import Files
from zodiac_sql.program.former_rules import former_rules
from zodiac_sql.python_functions import function_of
from zodiac_sql.session import Session
from zodiac_sql.timed import Timed
from zodiac_sql.updates import Updates

if TYPE_CHECKING:
    from zodiac_sql.change.change import Change
    from zodiac_sql.change.loading import Loading
    from zodiac_sql.change.materialise import Progress
    from zodiac_sql.change.update import Update
    from zodiac_sql.database.compact import Compacted
    from zodiac_sql.ontology.translate import Profile
    from zodiac_sql.reader import Reader
    from zodiac_sql.serve.server import Server, Serving


class KnowledgeBase(Timed):
    """Facts, rules and all their consequences. Get one from `connect`; close it after use.

    Every verb that changes something is atomic and returns a `Change`. Only the thread that opened
    the knowledge base may use it, one call at a time: any other call raises BusyError immediately.
    Each verb that changes or finds something takes `timeout`, `max_rows` and `max_iterations`, as
    `connect` does. A change that violates constraints anew is a ConstraintError, unless its verb is
    told `check=False`.
    """

    def __init__(self, session: Session, settings: Settings) -> None:
        super().__init__(session)
        self._updates = Updates(session, settings)
        if missing := ", ".join(self.missing_functions):
            said = f"rules of {session.path} use functions that are not registered: {missing}."
            said += " Queries work; a change or an explanation that needs one is refused."
            warnings.warn(said, MissingFunctionWarning, stacklevel=3)
        if former := former_rules(session.state):
            said = f"{session.path}: {what_is_otherwise(former)}"
            warnings.warn(said, OtherMeaningWarning, stacklevel=3)
        if session.store.log.missing:
            warnings.warn(session.store.log.missing, MissingLogWarning, stacklevel=3)

    # Changing

    def add_rules(
        self,
        rules: str | Path,
        *,
        set: str = "main",
        replace: bool = False,
        strict: bool = False,
        progress: Progress | None = None,
        **how: Unpack[Changing],
    ) -> Change:
        """Add rules, facts, declarations, prefixes of a text or file (.rules, .dl, .srl) to a set.

        A rule that the set has already, up to the names of variables and the order of the body, is
        passed over and reported in the change's notes, and what looks like a mistake is, too; with
        `strict` both are errors. So is a rule with another one's name, unless it may `replace`
        that. A rule that other sets have, too, is there once. Facts for another set than main
        belong to it. Raises ProgramError for all problems.
        """
        with self.update(progress=progress, **how) as update:
            update.add_rules(rules, set=set, replace=replace, strict=strict)
        return update.change

    def replace_rules(
        self,
        rules: str | Path,
        *,
        set: str,
        progress: Progress | None = None,
        **how: Unpack[Changing],
    ) -> Change:
        """Make the rules and facts of a text or a file those of a rule set.

        Only the difference from what the set has is added and dropped. Raises ProgramError.
        """
        with self.update(progress=progress, **how) as update:
            update.replace_rules(rules, set=set)
        return update.change

    def load_ontology(
        self,
        *files: str | Path | Iterable[str | Path],
        set: str,
        rules: Profile = "rl",
        progress: Progress | None = None,
        **how: Unpack[Changing],
    ) -> Change:
        """Make an ontology (RDF files) a rule set: its axioms become rules, by OWL 2 RL.

        Files are given one by one, or in a list.

        `rules` chooses "rdfs", "rl", or "rl-without-equality". If the set is there already, only
        the difference is added and dropped, so a new version is a small change. The change's notes
        say what has no rule; `read_ontology` has a report. Raises DataError, ProgramError.
        """
        from zodiac_sql.ontology.translate import translate

        self._session.guard.check()
        written = translate(*files, profile=rules).written()
        with self.update(progress=progress, **how) as update:
            update.replace_rules(written, set=set)
        return update.change

    def drop_rules(
        self,
        *rules: str | Path,
        set: str | None = None,
        strict: bool = False,
        progress: Progress | None = None,
        **how: Unpack[Changing],
    ) -> Change:
        """Remove rules: by name ("r4"), as text ("p(X) :- q(X)."), or all of a file ("wind.rules").

        They are those of the set main, or of the one named: "heat/r4", or `set`. With a `set` and
        no rules, the whole set goes, with its facts. A rule stays for other sets that have it.

        For rules given as text, labels, names of variables and the order of the body do not matter.
        What is not there is passed over and reported in the change's notes; with `strict` it is a
        QueryError. Facts in a file stay. Raises ProgramError for a text that cannot be read.
        """
        with self.update(progress=progress, **how) as update:
            update.drop_rules(*rules, set=set, strict=strict)
        return update.change

    def insert(self, predicate: str, rows: object, **options: Unpack[Inserting]) -> Change:
        """Insert explicit facts. Facts that are there already change nothing.

        `rows` are a list of tuples, an Arrow table or stream, a pandas, polars or Spark data frame,
        a pandas series, or a DuckDB relation. An index of pandas that has a name is a column,
        before the others. A table without rows creates its predicate. `columns`, `nulls` and
        `explode` are as for `load`; of tuples, `columns` names all values in order.
        Raises DataError if arity or types do not fit, or something is NULL.
        """
        with self.update(**changing_in(options)) as update:
            update.insert(predicate, rows, **row_keywords_in(options))
        return update.change

    def delete(self, predicate: str, rows: object, **options: Unpack[Inserting]) -> Change:
        """Delete explicit facts. A fact that rules derive stays derived. Raises DataError.

        The rows are read as by `insert`.
        """
        with self.update(**changing_in(options)) as update:
            update.delete(predicate, rows, **row_keywords_in(options))
        return update.change

    def replace(self, predicate: str, rows: object, **options: Unpack[Inserting]) -> Change:
        """Make these rows the only explicit facts of a predicate. Raises DataError as `insert`.

        The rows are read as by `insert`. Only what differs is inserted and deleted.
        """
        with self.update(**changing_in(options)) as update:
            update.replace(predicate, rows, **row_keywords_in(options))
        return update.change

    def load(
        self,
        path: Files,
        predicate: str | None = None,
        *,
        progress: Progress | None = None,
        **options: Unpack[Loading],
    ) -> Change:
        """Insert the facts of a file: RDF (.nt .nq .ttl .trig .rdf .jsonld), .csv, .tsv, .parquet,
        .jsonl; text formats also with .gz. "raw/*.csv", or a list, is several files, and "-" CSV
        from standard input. RDF has a predicate for each property, and a unary one for each class;
        a table's rows are of the predicate given, or named after the file. A bad line is a
        DataError with its number; with `skip_bad` it is left out and noted.

        Options for tables: `nulls`, which is "refuse", "skip-row", or values by column; `columns`,
        the names of those to take, or by their names those that they get ("address.city" is a part
        of an object), or "read" for those that rules of the same `update` name; a note says which
        are loaded. `explode` names columns with lists: each element makes a fact. For CSV:
        `header=False`, `delimiter`, `null_string`, `date_format`, `timestamp_format` ("%d.%m.%Y"),
        `encoding` ("cp1252"), `decimal` and `thousands` ("," and "." in 1.234,56), `skip`, the
        number of lines before the table, and `comment`, how lines begin that are no rows ("#").
        """
        from zodiac_sql.change.loading import table_options_in

        with self.update(progress=progress, **changing_in(options)) as update:
            update.load(path, predicate, **table_options_in(options))
        return update.change

    def unload(
        self,
        path: Files,
        predicate: str | None = None,
        *,
        progress: Progress | None = None,
        **options: Unpack[Loading],
    ) -> Change:
        """Delete the explicit facts that a file lists. The file is read as by `load`.

        Facts that are not there are passed over, and counted in the change's notes.
        """
        from zodiac_sql.change.loading import table_options_in

        with self.update(progress=progress, **changing_in(options)) as update:
            update.unload(path, predicate, **table_options_in(options))
        return update.change

    @contextmanager
    def update(
        self, *, progress: Progress | None = None, **how: Unpack[Changing]
    ) -> Iterator[Update]:
        """Make several verbs one atomic change. After an exception inside, nothing is changed.

        Deletions come first: a fact that is deleted and inserted, in any order, stays.
        with kb.update() as u: u.add_rules(...); u.insert(...)   then u.change
        """
        from zodiac_sql.change.update import Update

        with self._updates.updating(progress, how) as collected:
            yield Update(collected)

    @contextmanager
    def preview(
        self, *, plan: bool = False, progress: Progress | None = None, **how: Unpack[Changing]
    ) -> Iterator[Update]:
        """Compute what an update would do, without doing it. Use it like `update`.

        with kb.preview() as p: p.delete("p3", [("a", "b")])   then p.change.deleted
        With `plan`, nothing is evaluated: `p.plan` tells what to expect, from statistics.
        """
        from zodiac_sql.change.update import Update

        updates = self._updates
        doing = updates.planning(how) if plan else updates.previewing(progress, how)
        with doing as collected:
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
        with self.update(**how) as update:
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
        with self.update(**how) as update:
            update.alter(predicate, types)
        return update.change

    # Functions

    @exclusive
    def register_function(
        self,
        name: str,
        function: Callable[..., Any],
        parameters: Sequence[Type | str | type] | None = None,
        returns: Type | str | type | None = None,
        *,
        arrow: bool = False,
    ) -> None:
        """Make a Python function usable in BIND and comparisons.

        Types are those of the language ("float") or of Python; by default they are read from the
        function's annotations. Symbols are text; None means no value. With `arrow`, the function
        gets and returns pyarrow arrays of many rows at once. Raises FunctionError if its name or
        types clash with what rules use.
        """
        self._session.register(function_of(name, function, parameters, returns, False, arrow))

    @exclusive
    def register_aggregate(
        self,
        name: str,
        function: Callable[..., Any],
        parameter: Type | str | type | None = None,
        returns: Type | str | type | None = None,
        *,
        arrow: bool = False,
    ) -> None:
        """Make a Python function usable in AGGREGATE ... WITH. It gets the list of a group's values
        (with `arrow`, an array of lists) and returns one value. Else as `register_function`.
        """
        given = None if parameter is None else [parameter]
        self._session.register(function_of(name, function, given, returns, True, arrow))

    # Life

    def reader(self) -> Reader:
        """What asks while this changes: see `Reader`. Any thread may have its own."""
        from zodiac_sql.reader import Reader, ReadingSession

        self._session.guard.require_own_process()
        return Reader(ReadingSession(self._session))

    def serve(self, **options: Unpack[Serving]) -> Server:
        """Let others ask and change this while the program runs: see `Server`."""
        from zodiac_sql.serve.server import Server

        return Server(self, **options)

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
        return self._updates.compact(storage_version)

    @exclusive
    def backup(self, path: str | Path) -> None:
        """Copy the file, as it is now, to a path where there is none yet.

        Other threads of this process may read meanwhile; a change of theirs is a LockedError. The
        copy is one file, which `connect` opens. Raises StoreError if it cannot be made; then
        nothing is at the path.
        """
        from zodiac_sql.database.backup import back_up

        back_up(self._session.store, Path(path))

    def trace(self, tracer: Tracer | None) -> None:
        """Show a function every SQL statement and its parameters before it runs; None ends this.

        The function must not call the knowledge base, nor wait for somebody who opens its file.
        """
        self._session.trace(tracer)

    def close(self) -> None:
        """Close the database. All is on disk already; tables only for a Change are dropped."""
        self._updates.close()
