"""Delta Lake tables that show the extensions of a materialisation, and follow its versions.

    <directory>/<predicate>/    a table of Delta Lake, with the predicate's columns

Each commit says, under `zodiac_sql`, what the table shows: a digest of the columns, and of the
names of the files that hold the facts. If that is the version before, what the new one changed is
merged into the table; else it is written anew. So a table shows one version as a whole, whoever was
killed meanwhile, and whichever versions were made without it.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import CommitProperties, DeltaTable, Schema, write_deltalake
from deltalake.exceptions import DeltaError
from deltalake.transaction import AddAction, create_table_with_add_actions
from sqlglot import exp

from zodiac_sql.errors import SparkError, StoreError
from zodiac_sql.language.syntax import Column
from zodiac_sql.spark.frames import ROWS_TO_COPY
from zodiac_sql.spark.require import explained
from zodiac_sql.spark.tables import arrow, frame
from zodiac_sql.spark.types import arrow_schema
from zodiac_sql.spark.versions import Extension, Table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SHOWS = "zodiac_sql"
"""Where a commit says what the table shows."""

_LOOKED_AT = 16
"""So many commits are looked at for the last one of ours."""

_SAME_FACTS = {"OPTIMIZE", "VACUUM START", "VACUUM END"}
"""What others may do to a table, because it keeps its facts."""

_COMES = "comes or goes"
"""A column of changes. No column of a table has such a name: it has blanks."""


@dataclass(frozen=True, slots=True)
class Lake:
    """The tables in the directory `place`, of the materialisation in the directory `root`."""

    spark: SparkSession
    root: Path
    place: Path

    def path(self, predicate: str) -> Path:
        """The directory of a predicate's table: its name, where `+2F` stands for `/`."""
        name = re.sub("[.~]", lambda found: f"%{ord(found[0]):02X}", quote(predicate, safe=""))
        return self.place / name.replace("%", "+")

    def show(
        self,
        version: int,
        extensions: Mapping[str, Extension],
        before: Mapping[str, Extension],
        changes: Mapping[str, tuple[Table, Table]],
    ) -> None:
        """Let the tables show a version. Those of predicates that are gone are emptied.

        `before` has the extensions that all tables show, by predicate, or nothing if that is not
        known; `changes` has what each one has gained and lost since.

        Raises StoreError if a table cannot be written.
        """
        with _told(version):
            for predicate, now in extensions.items():
                had = before.get(predicate)
                if had != now:
                    self._follow(predicate, version, now, had, changes.get(predicate))
            known = {self.path(predicate) for predicate in extensions}
            there = set(self.place.iterdir()) if self.place.is_dir() else set()
            for path in sorted(there - known):
                _empty(path, version)

    def _follow(
        self,
        predicate: str,
        version: int,
        now: Extension,
        had: Extension | None,
        change: tuple[Table, Table] | None,
    ) -> None:
        shown = _shown(self.path(predicate))
        if shown == now.digest:
            return
        same = had is not None and shown == had.digest and had.columns == now.columns
        if same and change and _rows_of(change) <= ROWS_TO_COPY:
            self._merge(predicate, version, now, change)
        else:
            self._write(predicate, version, now)

    def _merge(
        self, predicate: str, version: int, now: Extension, change: tuple[Table, Table]
    ) -> None:
        """Add what was gained, and take out what was lost, by one commit."""
        path, commit = self.path(predicate), _commit(version, now)
        gained, lost = (self._facts(now.columns, table) for table in change)
        if not lost.num_rows:
            write_deltalake(path, gained, mode="append", commit_properties=commit)
            return
        both = [
            facts.append_column(_COMES, pa.repeat(comes, facts.num_rows))
            for facts, comes in ((gained, True), (lost, False))
        ]
        old = {name: _column("old", name) for name in gained.column_names}
        new = {name: _column("new", name) for name in gained.column_names}
        equal = exp.and_(*(exp.EQ(this=old[name], expression=new[name]) for name in old))
        comes = _column("new", _COMES)
        merger = DeltaTable(path).merge(
            pa.concat_tables(both), _text(equal),
            source_alias="new", target_alias="old", commit_properties=commit,
        )  # fmt: skip
        merger = merger.when_matched_delete(_text(exp.not_(comes)))
        values = {_text(exp.to_identifier(name, quoted=True)): _text(new[name]) for name in new}
        merger.when_not_matched_insert(values, _text(comes)).execute()

    def _write(self, predicate: str, version: int, now: Extension) -> None:
        """Write a table anew: what is large, by Spark."""
        path, commit = self.path(predicate), _commit(version, now)
        if now.table.rows <= ROWS_TO_COPY:
            facts = self._facts(now.columns, now.table)
            write_deltalake(
                path, facts, mode="overwrite", schema_mode="overwrite", commit_properties=commit
            )
            return
        schema, files = _schema(now.columns), path / uuid.uuid4().hex
        path.mkdir(parents=True, exist_ok=True)
        with explained():
            df = frame(self.spark, self.root, now.table, now.columns)
            df.toDF(*schema.names).write.parquet(f"file://{files}")
        added = [_added(path, file) for file in sorted(files.glob("*.parquet"))]
        create_table_with_add_actions(
            str(path), Schema.from_arrow(schema), added, mode="overwrite", commit_properties=commit
        )

    def _facts(self, columns: tuple[Column, ...], table: Table) -> pa.Table:
        return arrow(self.root, table, columns).rename_columns(_schema(columns).names)


def _rows_of(change: tuple[Table, Table]) -> int:
    return sum(segment.rows for table in change for segment in table.segments)


def _shown(path: Path) -> str | None:
    """The digest of what a table shows; None if nobody knows, or there is no table."""
    if not DeltaTable.is_deltatable(str(path)):
        return None
    for commit in DeltaTable(path).history(_LOOKED_AT):
        if _SHOWS in commit:
            return str(commit[_SHOWS]["digest"])
        if commit.get("operation") not in _SAME_FACTS:
            return None
    return None


def _empty(path: Path, version: int) -> None:
    """Let the table of a predicate that is gone have no facts."""
    if DeltaTable.is_deltatable(str(path)) and (table := DeltaTable(path)).file_uris():
        schema = pa.schema(table.schema().to_arrow())
        commit = _commit(version, Extension((), Table()))
        write_deltalake(path, schema.empty_table(), mode="overwrite", commit_properties=commit)


def _commit(version: int, shows: Extension) -> CommitProperties:
    return CommitProperties(custom_metadata={_SHOWS: {"version": version, "digest": shows.digest}})


def _added(path: Path, file: Path) -> AddAction:
    """A Parquet file of a table, as a commit names it."""
    known, rows = file.stat(), pq.read_metadata(file).num_rows
    made = int(known.st_mtime * 1000)
    name = str(file.relative_to(path))
    return AddAction(name, known.st_size, {}, made, True, json.dumps({"numRecords": rows}))


def _schema(columns: Sequence[Column]) -> pa.Schema:
    """The columns of a table. In names, Delta Lake takes no blanks, and no brackets."""
    schema = arrow_schema(columns)
    taken, names = {name.lower() for name in schema.names}, list[str]()
    for name in schema.names:
        plain = re.sub(r"[ ,;{}()\n\t=]", "_", name)
        while plain != name and plain.lower() in taken:
            plain += "_"
        taken.add(plain.lower())
        names.append(plain)
    return pa.schema([field.with_name(name) for field, name in zip(schema, names, strict=True)])


def _column(side: str, name: str) -> exp.Column:
    return exp.column(name, side, quoted=True)


def _text(tree: exp.Expr) -> str:
    """An expression as Delta Lake's engine, DataFusion, reads it: as Postgres does."""
    return tree.sql("postgres")


@contextmanager
def _told(version: int) -> Iterator[None]:
    """Say of a failure that the version was made."""
    try:
        yield
    except (DeltaError, OSError, pa.ArrowException, SparkError) as error:
        raise StoreError(
            f"version {version} is made, but not all Delta Lake tables show it: {error}. They will "
            "after the next update, or when the materialisation is opened again."
        ) from error
