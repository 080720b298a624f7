"""A materialisation on a cluster that follows changes: facts and rules come and go, in versions."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from zodiac_sql.errors import (
    DataError,
    OtherMeaningWarning,
    QueryError,
    StoreError,
    ZodiacError,
)
from zodiac_sql.language.former_aggregates import meant_otherwise, what_is_otherwise
from zodiac_sql.language.schema import default_columns, resolve
from zodiac_sql.language.syntax import Column
from zodiac_sql.names import CHANGE_TYPE, COMMIT, beside
from zodiac_sql.program.doubts import absent
from zodiac_sql.spark.evaluated_program import EvaluatedProgram, evaluated_program
from zodiac_sql.spark.frames import frames_of
from zodiac_sql.spark.here import ON_DRIVER, here_of
from zodiac_sql.spark.planning import Rules, Text, parsed, plan_texts, texts_of
from zodiac_sql.spark.refusals import require_builtins, require_runnable
from zodiac_sql.spark.require import explained, require_delta
from zodiac_sql.spark.streaming import DELETE, INSERT, is_new, query_of, split
from zodiac_sql.spark.tables import Tables, frame
from zodiac_sql.spark.types import columns_of, fits
from zodiac_sql.spark.updating import Updating, extension
from zodiac_sql.spark.versions import Directory, Extension, Manifest, Table, local
from zodiac_sql.sql.relations import HOLDS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from zodiac_sql.spark.delta import Lake

LOGGER = logging.getLogger("zodiac_sql.spark")


class _ByPredicate(Mapping[str, "DataFrame"]):
    """A mapping whose names can be written in several ways, and whose error is a QueryError."""

    __slots__ = ()

    def __contains__(self, predicate: object) -> bool:
        return isinstance(predicate, str) and self.get(predicate) is not None

    def get(self, predicate: str, default: Any = None) -> Any:
        """The data frame of a predicate, or something else if there is none."""
        try:
            return self[predicate]
        except QueryError:
            return default


@dataclass(frozen=True, slots=True)
class Changed(_ByPredicate):
    """What an update did to extensions: a data frame for each predicate that has changed.

    A data frame has the predicate's columns, then `_change_type` ("insert" or "delete") and
    `_commit`, the number of the version. `inserted` and `deleted` count the facts by predicate.
    `hypernodes` tells how each one that had something to do was maintained, by the predicates that
    it derives: "on the driver", "semi-naive", "dred", "by pivots" or "from scratch". `notes` tell
    what in new rules looks like a mistake.

    Its files are kept until the second update after it.
    """

    version: int
    inserted: Mapping[str, int]
    deleted: Mapping[str, int]
    hypernodes: Mapping[str, str]
    _frame: Callable[[str], DataFrame] = field(repr=False)
    notes: tuple[str, ...] = ()

    def __getitem__(self, predicate: str) -> DataFrame:
        return self._frame(predicate)

    def __iter__(self) -> Iterator[str]:
        return iter(sorted({*self.inserted, *self.deleted}))

    def __len__(self) -> int:
        return len({*self.inserted, *self.deleted})


class Materialisation(_ByPredicate):
    """Facts, rules and all that they entail, in a directory that a cluster's machines share.

        kept = Materialisation(spark, "path(X, Y) :- edge(X, Y). ...", "/mnt/paths")
        change = kept.update(inserts={"edge": df})
        kept["path"]            # the extension: explicit and derived facts, each once
        change["path"]          # what it gained and lost: its columns, _change_type, _commit

    `rules` are a text or a file (.rules, .dl), or several; facts in them count as long as they
    stand there. `path` is a directory that the driver and all executors see under the same path: on
    one machine any, on a cluster a shared one. If it has a materialisation, that goes on: with
    other rules the next version is made at once, and only hypernodes that the difference of rules
    concerns are evaluated; without `rules`, they stay. A hypernode that reads at most `driver_rows`
    facts, and has three times as many, is evaluated on the driver, by the embedded engine, if that
    is done in half a minute: for these it is faster; 0 is for never.

    Each version is there as a whole, or not at all: if the driver is killed, or an update fails,
    the last version is as it was. Of two drivers that make the same version one is refused. The
    last two versions are kept, so a data frame can be read until the second update after it.

    As a mapping it has the extensions by predicate: by name, `<iri>`, `prefix:local` or SQL name.
    Columns are as for `materialise`: strings for symbols, bigint, double, boolean, date,
    timestamp_ntz.

    `delta` is another such directory, for tables of Delta Lake (the extra `delta`): each extension
    is one, at the path that `delta_table` tells, and follows the versions by a commit for each that
    changes it. They are looked at when a materialisation is opened with `delta`, too.

    Raises StoreError if a path is something else, or has none where no rules are given;
    NewerFileError if a newer zodiac_sql wrote it; ProgramError for errors in rules; SparkError if
    Spark fails, or with the names of rules that Spark would compute differently.
    """

    def __init__(
        self,
        spark: SparkSession,
        rules: Rules | None,
        path: str | Path,
        *,
        driver_rows: int = ON_DRIVER,
        delta: str | Path | None = None,
    ) -> None:
        self._spark = spark
        self._driver_rows = driver_rows
        self._directory = Directory(path)
        self._version = self._directory.last()
        if rules is None and not self._version.number:
            raise StoreError(
                f"there is no materialisation in {path} to go on with: see whether the path is "
                "right, or give rules (an empty text for none) to begin one there."
            )
        self._program = _planned(self._version.texts, self._version.columns, stored=True)
        self._tell_former(path)
        self._change: Changed | None = None
        texts = texts_of(rules) if rules is not None else self._version.texts
        self._lake = None if delta is None else _lake(spark, self._directory.path, delta)
        self._shown: tuple[int, Mapping[str, Extension]] = (0, {})
        if texts != self._version.texts or not self._version.number:
            self._update({}, {}, texts, {})
        else:
            self._show()

    def _tell_former(self, path: str | Path) -> None:
        """Warn of rules that mean something else than when the last version was made."""
        rules = self._program.rules if self._version.former else ()
        if names := [rule.name for rule in rules if meant_otherwise(rule)]:
            said = f"{path}: {what_is_otherwise(names)}"
            warnings.warn(said, OtherMeaningWarning, stacklevel=3)

    @property
    def version(self) -> int:
        """The number of the last version that this object knows; the first one is 1."""
        return self._version.number

    @property
    def change(self) -> Changed:
        """What the last version changed, also if a driver that was killed has made it."""
        return self._changed({}) if self._change is None else self._change

    @property
    def derived(self) -> tuple[str, ...]:
        """The predicates that rules derive."""
        return self._program.planned.derived

    def __getitem__(self, predicate: str) -> DataFrame:
        name = self._known(predicate)
        columns = self._program.columns[name]
        table = extension(self._version, self._program, name) or Table()
        return frame(self._spark, self._directory.path, table, columns)

    def __iter__(self) -> Iterator[str]:
        return iter(self._program.planned.shown)

    def __len__(self) -> int:
        return len(self._program.planned.shown)

    def delta_table(self, predicate: str) -> Path:
        """The directory of the Delta Lake table that shows a predicate's extension.

        Raises QueryError if there is no such predicate, or if `delta` was not given.
        """
        if self._lake is None:
            raise QueryError("there are no Delta Lake tables: give their directory as delta=.")
        return self._lake.path(self._known(predicate))

    def update(
        self,
        inserts: Mapping[str, DataFrame] | None = None,
        deletes: Mapping[str, DataFrame] | None = None,
        rules: Rules | None = None,
    ) -> Changed:
        """Make the next version: facts come and go, and rules take the place of the former ones.

        `inserts` and `deletes` are data frames of explicit facts by predicate, whose columns are
        matched by position; their rows may repeat. A fact that is both deleted and inserted is
        there in the end; one to delete that is not there, or only derived, is passed over. `rules`
        are all rules from then on; what they have in common with the former ones stays as it is.

        Raises DataError for columns that do not fit, or an empty cell (as a SparkError, if it is
        found while Spark reads); LockedError if another driver has made the next version meanwhile;
        ConstraintError; and the errors of the class. After an error, nothing has changed.
        """
        for facts in (inserts, deletes):
            if not isinstance(facts, Mapping | None):
                raise TypeError("facts are data frames by predicate, as in {'edge': df}")
        texts = None if rules is None else texts_of(rules)
        return self._update(inserts or {}, deletes or {}, texts, {})

    def stream(
        self,
        predicate: str,
        *,
        operation: str | None = None,
        on_change: Callable[[Changed], None] | None = None,
    ) -> Callable[[DataFrame, int], None]:
        """A function for `foreachBatch`: each micro-batch of a stream is one update.

            query = (stream.writeStream.foreachBatch(kept.stream("reading", operation="op"))
                     .option("checkpointLocation", directory).start())

        `operation` names the text column that says "insert" or "delete" for each row; without it
        all rows are inserted. A batch that Spark repeats after a kill is recognised by its number,
        and passed over. `on_change` is called with what each batch has changed: there it can be
        written on, to a table or a topic. Raises DataError for an unknown operation, and SparkError
        if a batch is missing.
        """

        def apply(df: DataFrame, batch: int) -> None:
            query, place = query_of(df), str(self._directory.path)
            self._load()
            if not is_new(place, self._version.positions.get(query), query, batch, ""):
                df.write.format("noop").mode("overwrite").save()  # stateful operators need it
                return
            df.persist()
            try:
                some = split(predicate, df, operation)
                inserts = {predicate: some[INSERT]}
                deletes = {predicate: some[DELETE]} if DELETE in some else {}
                changed = self._update(inserts, deletes, None, {query: batch})
            finally:
                df.unpersist()
            if on_change is not None:
                on_change(changed)

        return apply

    def _known(self, predicate: str) -> str:
        """A predicate's full name. Raises QueryError if there is none."""
        name = self._program.planned.meant(predicate)
        if name not in self._program.planned.shown:
            raise QueryError(f"there is no predicate {predicate}. There are {', '.join(self)}.")
        return name

    def _load(self) -> None:
        """Learn of versions that others have made."""
        last = self._directory.last()
        if last.number != self._version.number:
            self._version, self._change = last, None
            self._program = _planned(last.texts, last.columns, stored=True)

    def _update(
        self,
        inserts: Mapping[str, DataFrame],
        deletes: Mapping[str, DataFrame],
        texts: tuple[Text, ...] | None,
        positions: Mapping[str, int],
    ) -> Changed:
        self._load()
        last = self._version
        texts = last.texts if texts is None else texts
        come = self._columns(texts, inserts)
        for name, df in deletes.items():
            columns_of(name, df)
        new = _planned(texts, {**last.columns, **come}, stored=texts == last.texts)
        require_runnable(new.planned, self._spark)
        come_, go = (_by_name(new, facts) for facts in (inserts, deletes))
        explicit = {p: new.columns[p] for p in {**last.columns, **come_}}
        passed = [note for p in go if p not in explicit for note in absent(p, explicit)]
        go = {p: df for p, df in go.items() if p in explicit}
        _require_fitting(explicit, (come_, go))
        wanted = replace(
            last, texts=texts, columns=explicit, positions={**last.positions, **positions}
        )
        with explained(), self._attempt(last) as tables, ExitStack() as exits:
            limit = self._driver_rows
            here = exits.enter_context(here_of(new.columns, limit)) if limit else None
            updating = Updating.begin(last, self._program, new, tables, here)
            updating.change_explicit(come_, go)
            updating.visit_all()
            version = updating.version(wanted)
            self._directory.commit(version)
        self._directory.clean(version)
        old, self._version, self._program = self._program, version, new
        notes = new.planned.planned.remarks if texts != last.texts else ()
        self._change = replace(self._changed(updating.methods, old), notes=(*notes, *passed))
        LOGGER.info(
            "version %d of %s: %d facts entered, %d left", version.number, self._directory.path,
            sum(self._change.inserted.values()), sum(self._change.deleted.values()),
        )  # fmt: skip
        self._show()
        return self._change

    def _show(self) -> None:
        """Let Delta Lake tables show the last version, if there are any."""
        if self._lake is None:
            return
        version, program = self._version, self._program
        extensions = {
            name: Extension(program.columns[name], extension(version, program, name) or Table())
            for name in program.planned.shown
        }
        number, before = self._shown
        before = before if number == version.number - 1 else {}
        self._lake.show(version.number, extensions, before, version.changes)
        self._shown = version.number, extensions

    @contextmanager
    def _attempt(self, last: Manifest) -> Iterator[Tables]:
        """A place for the files of the next version; they are removed if it is not made."""
        attempt = self._directory.begin(last.number + 1)
        root = self._directory.path
        try:
            with frames_of(self._spark, f"file://{root}/{attempt}") as frames:
                yield Tables(frames, root, attempt)
        except BaseException as error:
            self._directory.abandon(attempt)
            others = self._directory.last().number > last.number
            if others and not isinstance(error, ZodiacError):
                raise self._directory.taken(last.number + 1) from error
            raise

    def _columns(
        self, texts: tuple[Text, ...], facts: Mapping[str, DataFrame]
    ) -> dict[str, tuple[Column, ...]]:
        """The columns of predicates that get their first facts.

        What rules have derived without columns has none, although its data frame has `holds`.
        """
        require_builtins(texts)
        prefixes = parsed(texts)[1]
        found = {}
        for name, df in facts.items():
            columns = columns_of(name, df)
            meant = resolve(name, self._program.planned.schema, prefixes)
            if meant not in self._version.columns:
                derived = self._version.tables.get(meant, Table())
                holds = derived.rows and not derived.types and columns == (HOLDS,)
                found[name] = () if holds else columns
        return found

    def _changed(self, methods: Mapping[str, str], old: EvaluatedProgram | None = None) -> Changed:
        version, programs = self._version, (self._program, old or self._program)

        def of(name: str) -> DataFrame:
            meant = self._program.planned.meant(name)
            if meant not in version.changes:
                raise QueryError(f"version {version.number} has not changed {name}.")
            known = next((one.columns[meant] for one in programs if meant in one.columns), None)
            columns = known or _nameless(version.changes[meant][1])
            sides = zip(version.changes[meant], (INSERT, DELETE), strict=True)
            own = [beside(c.name, _OURS) for c in columns or (HOLDS,)]
            both = [
                frame(self._spark, self._directory.path, table, columns)
                .toDF(*own)
                .withColumns({CHANGE_TYPE: F.lit(kind), COMMIT: F.lit(version.number)})
                for table, kind in sides
                if table.rows
            ]  # fmt: skip
            return reduce(lambda a, b: a.unionAll(b), both)

        gained = {p: tables[0].rows for p, tables in version.changes.items() if tables[0].rows}
        lost = {p: tables[1].rows for p, tables in version.changes.items() if tables[1].rows}
        return Changed(version.number, gained, lost, methods, of)


_OURS = (CHANGE_TYPE, COMMIT)
"""Columns of changes. Columns of facts with these names get another one, as in the feed here."""


def _lake(spark: SparkSession, root: Path, place: str | Path) -> Lake:
    require_delta()
    from zodiac_sql.spark.delta import Lake

    reason = "tables are written into one that the driver and all executors see."
    return Lake(spark, root, local(place, reason))


def _planned(
    texts: tuple[Text, ...], columns: Mapping[str, tuple[Column, ...]], stored: bool
) -> EvaluatedProgram:
    planned = plan_texts(texts, columns, stored=stored)
    return evaluated_program(planned, {planned.names[name] for name in columns})


def _nameless(table: Table) -> tuple[Column, ...]:
    """Columns of a predicate that is gone."""
    names = default_columns(len(table.types))
    return tuple(Column(n, t) for n, t in zip(names, table.types, strict=True))


def _by_name(program: EvaluatedProgram, facts: Mapping[str, DataFrame]) -> dict[str, DataFrame]:
    """Data frames by full name of predicate. Raises DataError if a predicate has two."""
    found: dict[str, DataFrame] = {}
    for name, df in facts.items():
        meant = program.planned.meant(name)
        if meant in found:
            raise DataError(f"{meant} is given twice: unite the data frames into one.")
        found[meant] = df
    return found


def _require_fitting(
    explicit: Mapping[str, tuple[Column, ...]], given_: tuple[Mapping[str, DataFrame], ...]
) -> None:
    """Raise DataError unless data frames have the columns of their predicates."""
    for facts in given_:
        for name, df in facts.items():
            wanted = [column.meant for column in explicit[name] or (HOLDS,)]
            found = [column.meant for column in columns_of(name, df)]
            told = ", ".join(map(str, found))
            if len(wanted) != len(found) or not all(map(fits, wanted, found)):
                columns = ", ".join(f"{c.name}: {c.meant}" for c in explicit[name])
                raise DataError(
                    f"{name} has the columns ({columns}), the data frame ({told}): "
                    "they are matched by position."
                )
