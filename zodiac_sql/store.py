"""The one door to DuckDB: connection, migrations, transactions, settings, errors, tracer.

Nothing else in zodiac_sql opens a connection or runs a statement, so whatever happens to a
database file can be seen by a tracer, and every DuckDB error becomes one that a person can act on.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.resources import files
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import duckdb

from zodiac_sql.errors import (
    DataError,
    FunctionError,
    LockedError,
    NewerFileError,
    ResourceError,
    StoreError,
    ZodiacError,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from sqlglot import exp

Parameters = Sequence[object] | Mapping[str, object] | None
Tracer = Callable[[str, Parameters], None]


class Store:
    """An open database. `tracer`, if set, sees every statement and its parameters first."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, path: str, read_only: bool) -> None:
        self._connection = connection
        self.path = path
        self.read_only = read_only
        self.tracer: Tracer | None = None
        self.symbols_wait = False
        """Whether the dictionary holds symbols that are not published (dictionary.py)."""
        self.largest = 0
        """The largest number that `count` has returned since this was set to 0."""
        self._names = itertools.count(1)
        self._texts: dict[Hashable, str] = {}

    def fresh(self, stem: str) -> str:
        """A name for a temporary table that no other has since `start_names`."""
        return f"zodiac_{stem}_{next(self._names)}"

    def start_names(self) -> None:
        """Begin a change: with the same names again, so that texts of statements can be kept."""
        self.symbols_wait = False
        self._names = itertools.count(1)

    def kept(self, key: Hashable, make: Callable[[], exp.Expr]) -> str:
        """The text of a tree that is made when its key is first asked for.

        For statements that depend on no program; those of a program are kept with it (apply.py).
        """
        if key not in self._texts:
            self._texts[key] = self.render(make())
        return self._texts[key]

    @property
    def in_memory(self) -> bool:
        return self.path == ":memory:"

    def run(
        self, statement: str | exp.Expr, parameters: Parameters = None
    ) -> duckdb.DuckDBPyConnection:
        """Run one statement. Text is for constants of this package; the rest comes as a tree."""
        text = statement if isinstance(statement, str) else self.render(statement)
        if self.tracer:
            self.tracer(text, parameters)
        with self._explaining():
            try:
                return self._connection.execute(text, parameters)
            except duckdb.InternalException as error:
                if "Failed to bind column reference" not in str(error):
                    raise
                return self._replanned(text, parameters)

    def _replanned(self, text: str, parameters: Parameters) -> duckdb.DuckDBPyConnection:
        """Run a statement that DuckDB 1.5.6 fails to plan: it loses columns of some cyclic joins."""
        self._connection.execute(f"SET disabled_optimizers = '{_WRONG},column_lifetime'")
        try:
            return self._connection.execute(text, parameters)
        finally:
            self._connection.execute(f"SET disabled_optimizers = '{_WRONG}'")

    @staticmethod
    def render(tree: exp.Expr) -> str:
        """The SQL text of a tree. Costs a third of a millisecond, so loops keep it."""
        # Names of functions stay as they are: the upper case of some scripts is another name.
        return tree.sql(dialect="duckdb", normalize_functions=False)

    def count(self, statement: str | exp.Expr, parameters: Parameters = None) -> int:
        """Run a statement whose answer is one number: a count, or how many rows it wrote."""
        result = self.run(statement, parameters)
        with self._explaining():
            row = result.fetchone()
        number = int(row[0]) if row else 0
        self.largest = max(self.largest, number)
        return number

    def rows(
        self, statement: str | exp.Expr, parameters: Parameters = None
    ) -> list[tuple[Any, ...]]:
        """Run a statement and fetch all its rows: for catalog-sized answers."""
        result = self.run(statement, parameters)
        with self._explaining():
            return result.fetchall()

    def plan(self, query: exp.Query) -> dict[str, Any]:
        """DuckDB's plan for a query: a tree of dictionaries with name, extra_info and children."""
        ((_, plan),) = self.rows(f"EXPLAIN (FORMAT json) {self.render(query)}")
        (root,) = json.loads(plan)
        return dict(root)

    def arrow(self, statement: str | exp.Expr, parameters: Parameters = None) -> pa.Table:
        """Run a statement and fetch its answer as an Arrow table."""
        result = self.run(statement, parameters)
        with self._explaining():
            return result.to_arrow_table()

    def batches(self, statement: str | exp.Expr, rows: int) -> pa.RecordBatchReader:
        """Run a statement, and stream its answer. The next statement ends the stream."""
        result = self.run(statement)
        with self._explaining():
            return result.to_arrow_reader(rows)

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        """Turn what DuckDB raises inside into an error that says what it means for the user."""
        try:
            yield
        except duckdb.Error as error:
            raise explained(error, self.path) from error
        except RuntimeError as error:
            if "interrupted" in str(error).lower():  # how DuckDB passes Control-C on
                raise KeyboardInterrupt from error
            raise

    @contextmanager
    def transaction(self, read_only: bool = False) -> Iterator[None]:
        """All statements inside take effect together, or none does."""
        self.run("BEGIN TRANSACTION READ ONLY" if read_only else "BEGIN TRANSACTION")
        try:
            yield
            self.run("COMMIT")
        except BaseException:
            with suppress(duckdb.Error):  # a COMMIT that fails has ended the transaction
                self._connection.rollback()
            raise

    @contextmanager
    def offered(self, name: str, data: object) -> Iterator[None]:
        """Let statements inside read an Arrow table or stream, data frame or relation by name."""
        self._connection.register(name, data)
        try:
            yield
        finally:
            self._connection.unregister(name)

    def statement_kinds(self, text: str) -> list[str]:
        """The kind of each statement in a text that a user gave: SELECT, INSERT, ..."""
        with self._explaining():
            return [s.type.name for s in self._connection.extract_statements(text)]

    def add_function(
        self, name: str, call: Callable[..., Any], types: Sequence[str], returns: str, arrow: bool
    ) -> None:
        """Make a Python function callable from SQL. A result of None stands for no value."""
        from duckdb.func import FunctionNullHandling, PythonUDFType

        try:
            self._connection.create_function(
                name,
                call,
                list(types),
                returns,
                type=PythonUDFType.ARROW if arrow else PythonUDFType.NATIVE,
                null_handling=FunctionNullHandling.SPECIAL,
                side_effects=True,  # else DuckDB computes a value that is tested, too, twice
            )
        except duckdb.Error as error:
            raise FunctionError(f"the function cannot be registered: {error}") from error

    def remove_function(self, name: str) -> None:
        """Take a Python function away again."""
        self._connection.remove_function(name)

    @contextmanager
    def aside(self) -> Iterator[Store]:
        """Another connection to the same database: its temporary tables are its own, and go with it.

        Functions that were added here can be called there, too.
        """
        other = Store(self._connection.cursor(), self.path, self.read_only)
        other.tracer = self.tracer
        with other:
            yield other

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


_WRONG = "common_subplan"
"""An optimizer of DuckDB's that makes rows of unions wrong from 1.5.1 to 1.5.6: it takes joins of the
same tables for the same although other columns of them are used (duckdb/duckdb#25819)."""

_SCHEMAS = ("zodiac", "edb", "idb", "hd")


def open_store(
    path: str | Path = ":memory:",
    *,
    read_only: bool = False,
    threads: int | None = None,
    memory_limit: str | None = None,
    temp_directory: str | Path | None = None,
) -> Store:
    """Open a database file, bring its catalog up to date, and clear what a killed run left.

    Raises LockedError, NewerFileError, or StoreError when the file is not a database.
    """
    if Path(path).name.partition(".")[0].lower() in _SCHEMAS:
        raise StoreError(
            f"{path} would have the name of one of the schemas in it ({', '.join(_SCHEMAS)}), so "
            "that SQL could not tell them apart: choose another file name."
        )
    settings: dict[str, str | bool | int | float | list[str]] = {}
    if threads is not None:
        settings["threads"] = threads
    if memory_limit is not None:
        settings["memory_limit"] = memory_limit
    if temp_directory is not None:
        settings["temp_directory"] = str(temp_directory)
    try:
        connection = duckdb.connect(str(path), read_only=read_only, config=settings)
    except duckdb.Error as error:
        raise explained(error, str(path)) from error
    store = Store(connection, str(path), read_only)
    try:
        _require_a_database_file(store)
        # Up to so many values of a small join side are looked for in the blocks of the large one:
        # 7 ms against 50 for 20 of 10,000 values in 22 million rows that are in order. (Among the
        # settings of `connect`, it would keep other connections from opening the file.)
        store.run("SET dynamic_or_filter_threshold = 1000")
        store.run(f"SET disabled_optimizers = '{_WRONG}'")
        _migrate(store)
    except ZodiacError:
        store.close()
        raise
    return store


def _require_a_database_file(store: Store) -> None:
    """DuckDB opens a .csv or .parquet file as a database in memory, where all would be lost."""
    opened = store.rows("SELECT path FROM duckdb_databases() WHERE NOT internal")
    if not store.in_memory and (len(opened) != 1 or not opened[0][0]):
        raise StoreError(f"{store.path} is no name for a database file: use one like farm.duckdb")


def migrations() -> list[tuple[int, str, str]]:
    """(number, name, SQL text) of each migration that this version knows, in order."""
    folder = files("zodiac_sql.migrations")
    found = sorted(file.name for file in folder.iterdir() if file.name.endswith(".sql"))
    return [
        (int(name[:4]), name[5:-4], (folder / name).read_text(encoding="utf-8")) for name in found
    ]


def _migrate(store: Store) -> None:
    """Apply the migrations that the file lacks, in one transaction."""
    applied = _applied_version(store)
    known = migrations()
    newest = known[-1][0]
    if applied > newest:
        raise NewerFileError(
            f"{store.path} was written by a newer zodiac_sql: its catalog has version {applied}, "
            f"this zodiac_sql knows up to {newest}. Install a newer one: "
            "pip install --upgrade zodiac-sql"
        )
    missing = [migration for migration in known if migration[0] > applied]
    if not missing:
        return
    if store.read_only:
        raise StoreError(
            f"{store.path} holds no zodiac_sql catalog of version {newest}. "
            "Open it once without read_only to bring it up to date."
        )
    with store.transaction():
        if applied == 0:
            store.run(
                "CREATE SCHEMA IF NOT EXISTS zodiac;"
                "CREATE TABLE zodiac.migration (version INTEGER PRIMARY KEY, name VARCHAR NOT NULL,"
                " applied_at TIMESTAMP NOT NULL)"
            )
        for version, name, text in missing:
            store.run(text)
            store.run(
                "INSERT INTO zodiac.migration VALUES ($1, $2, now()::TIMESTAMP)", [version, name]
            )


def _applied_version(store: Store) -> int:
    """The newest migration in the file, 0 if it has no catalog."""
    exists = store.count(
        "SELECT count(*) FROM duckdb_tables()"
        " WHERE schema_name = 'zodiac' AND table_name = 'migration' AND NOT temporary"
        " AND database_name = current_database()"
    )
    return store.count("SELECT max(version) FROM zodiac.migration") if exists else 0


_ADVICE = "\n\nPossible solutions"
"""What follows in DuckDB's message are settings in SQL, which a user of ours cannot give."""

_LOCK_HOLDER = re.compile(r"Conflicting lock is held in (.+?)(?: by user .+?)?\. (?:See|However)")


_STREAM_FAILED = re.compile(
    r"arrow_scan: get_next failed\(\): (?:Invalid: |Unknown error: )*(.*?)(?:\. Detail: |\Z)",
    re.DOTALL,
)


def explained(error: duckdb.Error, path: str) -> ZodiacError:
    """The error of ours that says what a DuckDB error means for the user."""
    text = str(error)
    if "Could not set lock" in text or "Conflicting lock" in text:
        holder = _LOCK_HOLDER.search(text)
        who = f" ({holder[1]})" if holder else ""
        return LockedError(
            f"{path} is open in another process{who}. DuckDB lets one process write, or several "
            "read: close it there, or open it with read_only=True in all of them."
        )
    if "already open" in text or "different configuration" in text:
        return LockedError(
            f"{path} is already open in this process with other settings. Close that connection, "
            "or open it with the same ones."
        )
    if isinstance(error, duckdb.OutOfMemoryException):
        return ResourceError(
            f"Out of memory. Nothing was changed. Give more (memory_limit) or let it "
            f"spill to disk (temp_directory). DuckDB says: {text.partition(_ADVICE)[0]}"
        )
    if failed := _STREAM_FAILED.search(text):
        return DataError(f"the rows could not be read to their end: {failed[1]}")
    if "No space left" in text or "max_temp_directory_size" in text:
        return ResourceError(f"The disk is full. Nothing was changed. DuckDB says: {text}")
    if "Python exception occurred while executing the UDF" in text:
        return FunctionError(f"a registered function failed. Nothing was changed. {text}")
    if "not a valid DuckDB database file" in text:
        return StoreError(f"{path} is not a DuckDB database file. Nothing was changed.")
    if "newer DuckDB version" in text or "version number" in text:
        return NewerFileError(f"{path} was written by another DuckDB version: {text}")
    if "Memory must have a number" in text or "memory limit" in text.lower():
        return StoreError(f"the memory limit is written like 512MB or 2GB. DuckDB says: {text}")
    return StoreError(text)
