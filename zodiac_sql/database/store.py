"""The one door to DuckDB: connection, migrations, transactions, settings, errors, tracer.

Nothing else in zodiac_sql opens a connection or runs a statement, so whatever happens to a
database file can be seen by a tracer, and every DuckDB error becomes one that a person can act on.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import tempfile
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from errno import EDQUOT, EFBIG, ENOSPC
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from weakref import WeakValueDictionary

import duckdb

from zodiac_sql.database import forks
from zodiac_sql.database.guard import Guard
from zodiac_sql.database.migrate import migrate
from zodiac_sql.database.new_files import aside, put_in_place
from zodiac_sql.database.opening import Listed, require_our_macros, require_our_tables
from zodiac_sql.database.temporary_rows import TemporaryRows
from zodiac_sql.errors import (
    DataError,
    EvaluationError,
    FunctionError,
    LockedError,
    NewerFileError,
    PublishedError,
    ResourceError,
    StoreError,
    ZodiacError,
)
from zodiac_sql.names import DERIVED_SCHEMA, EXPLICIT_SCHEMA, NODE_SCHEMA

if TYPE_CHECKING:
    import pyarrow as pa
    from sqlglot import exp

Parameters = Sequence[object] | Mapping[str, object] | None
Tracer = Callable[[str, Parameters], None]
Settings = dict[str, str | bool | int | float | list[str]]


class BrokenStreamError(DataError):
    """An Arrow stream that a statement reads has failed on the way."""


@dataclass(slots=True, weakref_slot=True)
class Instance:
    """A database file as DuckDB has it open, once for all connections of this process.

    It is `damaged` if a COMMIT has failed, or something after which DuckDB does nothing more: what it
    has in memory then need not be what is in the file, and must never be written there.
    """

    damaged: bool = False


_instances: WeakValueDictionary[str, Instance] = WeakValueDictionary()
"""Those of files, by path."""


class Store:
    """An open database. `tracer`, if set, sees every statement and its parameters first."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        path: str,
        read_only: bool,
        settings: Settings | None = None,
        instance: Instance | None = None,
    ) -> None:
        self._connection = connection
        self._instance = instance or Instance()
        forks.opened(connection, path)
        self._settings = settings or {}
        self.path = path
        self.read_only = read_only
        self.database = ""
        """What DuckDB calls the file."""
        self.guard = Guard(path)
        self.tracer: Tracer | None = None
        self.symbols_wait = False
        """Whether the dictionary holds symbols that are not published (dictionary.py)."""
        self.temporary_rows = TemporaryRows()
        """How large the temporary tables can be."""
        self._names = itertools.count(1)
        self._texts: dict[Hashable, str] = {}
        self._reader: Store | None = None
        self.functions: tuple[Listed, ...] | None = None
        """What was listed when it was opened, if nothing can be added to it since then."""

    def look_in(self, *schemas: str) -> None:
        """Let names be looked for in what is DuckDB's own first, then in these schemas of the file.

        Never in main, where anyone may have put a macro with the name of a function that we use.
        What is in main is read by its full name. (A bare CHECKPOINT would mean DuckDB's own, too.)
        """
        file = self.database.replace('"', '""')
        path = ",".join(["system.main", *(f'"{file}".{schema}' for schema in schemas)])
        # As text: a tree would need all of sqlglot, which else is imported when there is a change.
        self.run("SET search_path = '{}'".format(path.replace("'", "''")))

    def fresh(self, stem: str) -> str:
        """A name for a temporary table that no other has since `start_names`."""
        return f"zodiac_{stem}_{next(self._names)}"

    def start_names(self) -> None:
        """Begin a change: with the same names again, so that texts of statements can be kept."""
        self.symbols_wait = False
        self._names = itertools.count(1)

    def cached(self, key: Hashable, make: Callable[[], exp.Expr]) -> str:
        """The text of a tree that is made when its key is first asked for.

        For statements that depend on no program; those of a program are kept with it (evaluate/run_plans.py).
        """
        if key not in self._texts:
            self._texts[key] = self.render(make())
        return self._texts[key]

    @property
    def in_memory(self) -> bool:
        return self.path == ":memory:"

    @property
    def damaged(self) -> bool:
        """Whether this must be closed, and the file be opened again."""
        return self._instance.damaged

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
        """The SQL text of a tree. Costs a fifth of a millisecond, so loops keep it."""
        # Names of functions stay as they are: the upper case of some scripts is another name. And
        # nothing is copied first, which takes longer than to write: to write a tree changes nothing.
        return tree.sql(dialect="duckdb", normalize_functions=False, copy=False)

    def count(self, statement: str | exp.Expr, parameters: Parameters = None) -> int:
        """Run a statement whose answer is one number: a count, or how many rows it wrote.

        `temporary_rows` is told of it, for the rows may have gone into a temporary table.
        """
        result = self.run(statement, parameters)
        with self._explaining():
            row = result.fetchone()
        number = int(row[0]) if row else 0
        self.temporary_rows.written(number)
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

    def batches(
        self, statement: str | exp.Expr, rows: int, parameters: Parameters = None
    ) -> pa.RecordBatchReader:
        """Run a statement, and stream its answer. The next statement ends the stream."""
        result = self.run(statement, parameters)
        with self._explaining():
            return result.to_arrow_reader(rows)

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        """Turn what DuckDB raises inside into an error that says what it means for the user."""
        try:
            yield
        except duckdb.Error as error:
            if isinstance(error, duckdb.FatalException):
                self._instance.damaged = True
            raise explained(error, self.path) from error
        except UnicodeEncodeError as error:
            raise DataError(_HALF) from error
        except GeneratorExit:  # an interruption came before anything ran, and this is cleared away
            raise
        except BaseException as error:
            # Without this, DuckDB 1.5.6 waits for ever when it clears a recursive query away that an
            # interruption has left, be it before the next statement or to close the connection.
            with suppress(duckdb.ConnectionException):  # closed meanwhile
                self._connection.interrupt()
            if not isinstance(error, RuntimeError):
                raise
            if "interrupted" in str(error).lower():  # how DuckDB passes Control-C on
                raise KeyboardInterrupt from error
            if "Unable to cast Python instance of type <class 'str'>" in str(error):
                raise DataError(_HALF) from error
            raise

    @contextmanager
    def transaction(self, read_only: bool = False) -> Iterator[None]:
        """All statements inside take effect together, or none does."""
        if self.damaged:
            raise StoreError(f"writing {self.path} has failed: it must be opened again first")
        committing = False
        try:  # from here on: an interruption may come right after the statement
            self.run("BEGIN TRANSACTION READ ONLY" if read_only else "BEGIN TRANSACTION")
            yield
            committing = True
            self.run("COMMIT")
        except BaseException:
            with suppress(duckdb.Error):  # a COMMIT that fails has ended the transaction
                self._connection.rollback()
            if committing and not self.in_memory:
                self._abandon()
            raise

    def _abandon(self) -> None:
        """Let what a failed COMMIT leaves in memory never be written to the file.

        DuckDB would write a checkpoint of it when it is closed. (After a fatal error it does not, and
        takes no statement any more.)
        """
        self._instance.damaged = True
        with suppress(duckdb.Error):
            self._connection.execute("PRAGMA disable_checkpoint_on_shutdown")

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
            text.encode()  # DuckDB takes what cannot be encoded for no text at all
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
        other = Store(self._connection.cursor(), self.path, self.read_only, None, self._instance)
        other.tracer = self.tracer
        other.database = self.database
        with other:
            other.look_in(*_SCHEMAS)
            yield other

    @property
    def reader(self) -> Store:
        """The connection for SQL that users write: none of our temporary tables can be seen there.

        One for all that is read so, as DuckDB looks for any name among temporary tables first.
        """
        if self._reader is None:
            with self._explaining():
                cursor = self._connection.cursor()
                self._reader = Store(cursor, self.path, self.read_only, None, self._instance)
                self._reader.functions = self.functions
        self._reader.tracer = self.tracer
        return self._reader

    @contextmanager
    def outside(self) -> Iterator[Store]:
        """A database in memory that reads and writes files for this one, which must not.

        Rows go between the two as Arrow batches. It holds nothing of what is in the database file, so
        nothing there can make it touch another file. Both share the memory limit meanwhile.
        """
        settings: Settings = {**_NO_EXTENSIONS, **self._settings}
        limit = self._settings.get("memory_limit")
        if limit is not None:
            settings["memory_limit"] = half = self._half_the_memory()
            self.run("SET memory_limit = $1", [half])
        try:
            with _spill() as spill:
                settings["temp_directory"] = spill
                with Store(duckdb.connect(config=settings), self.path, False) as outside:
                    outside.tracer = self.tracer
                    outside.run("SET arrow_lossless_conversion = true")
                    yield outside
        finally:
            if limit is not None:
                self.run("SET memory_limit = $1", [limit])

    def _half_the_memory(self) -> str:
        ((limit,),) = self.rows("SELECT current_setting('memory_limit')")
        number, unit = limit.split()
        return f"{float(number) / 2:.2f}{unit}"

    def close(self) -> None:
        if self._reader is not None:
            self._reader.close()
        self._connection.close()
        forks.closed(self._connection)
        self._instance = Instance(self.damaged)  # no more the one that others may have open

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

_SCHEMAS = ("zodiac", EXPLICIT_SCHEMA, DERIVED_SCHEMA, NODE_SCHEMA)


def open_store(
    path: str | Path = ":memory:",
    *,
    read_only: bool = False,
    threads: int | None = None,
    memory_limit: str | None = None,
    temp_directory: str | Path | None = None,
    external_access: bool = False,
) -> Store:
    """Open a database file, bring its catalog up to date, and clear what a killed run left.

    Without `external_access`, no statement can reach another file or the network, load an extension
    or change a setting from then on, whatever is in the file. Raises LockedError, NewerFileError, or
    StoreError when the file is not a database, or not as we make them.
    """
    if _PREFIXED.match(str(path)) and str(path) != ":memory:":
        raise StoreError(
            f"{path} is no file here: what stands before the colon would be an extension or a place "
            "in the network. If a file has that name, write ./ before it."
        )
    if Path(path).name.partition(".")[0].lower() in _SCHEMAS:
        raise StoreError(
            f"{path} would have the name of one of the schemas in it ({', '.join(_SCHEMAS)}), so "
            "that SQL could not tell them apart: choose another file name."
        )
    if "?" in str(path) and not external_access:
        raise StoreError(
            f"DuckDB would write the log of {path} where the ? is, to a file that this database may "
            "not reach: choose another name, or open it with external_access=True."
        )
    if forks.is_inherited(str(path)):
        raise LockedError(
            f"{path} was open when this process was forked, and belongs to the other one. Close it "
            'before the fork, or start the process by multiprocessing.get_context("spawn").'
        )
    instance = _instance(str(path))
    made = False
    if not read_only and str(path) != ":memory:" and not os.path.lexists(path):
        made = _make(Path(path))
    settings: Settings = {}
    if threads is not None:
        settings["threads"] = threads
    if memory_limit is not None:
        settings["memory_limit"] = memory_limit
    locks = {} if external_access else _NO_EXTENSIONS
    places = {} if temp_directory is None else {"temp_directory": str(temp_directory)}
    try:
        connection = duckdb.connect(
            str(path), read_only=read_only, config={**settings, **locks, **places}
        )
    except duckdb.Error as error:
        raise explained(error, str(path)) from error
    store = Store(connection, str(path), read_only, settings, instance)
    try:
        store.look_in()
        store.database = _require_a_database_file(store)
        if store.count("SELECT current_setting('lock_configuration')::INTEGER") == 0:
            _configure(store, external_access)
        if not made:  # just now, by this process
            require_our_tables(store)
        if migrate(store, is_new=store.in_memory) and not made:
            listed = require_our_macros(store)
            store.functions = None if external_access else listed
        store.look_in(*_SCHEMAS)
    except ZodiacError:
        store.close()
        raise
    return store


def _make(path: Path) -> bool:
    """Make a new database file with a catalog, aside, so that a kill leaves none that is not whole.

    Its catalog is in its log, which comes first: so a file without it is never one of ours. If it
    cannot be made, whoever opens it next says why. Returns whether the file is now the one made here.
    """
    try:
        with aside(path) as new:
            with Store(duckdb.connect(str(new)), str(path), False) as store:
                store.look_in()
                store.database = _require_a_database_file(store)
                store.run("PRAGMA disable_checkpoint_on_shutdown")
                migrate(store, is_new=True)
            return put_in_place(new, path)
    except duckdb.Error as error:
        if _FULL.search(str(error)):
            raise explained(error, str(path)) from error
    except OSError as error:
        if error.errno in (ENOSPC, EFBIG, EDQUOT):
            raise ResourceError(f"The disk is full: {path} cannot be made. {error}") from error
    return False


_PREFIXED = re.compile(r"\w{2,}:|:")
"""How paths begin that DuckDB does not take for files. (C: is a drive.)"""


def _configure(store: Store, external_access: bool) -> None:
    """The settings that need an open database. Others that open it, too, in this process have them."""
    # Up to so many values of a small join side are looked for in the blocks of the large one:
    # 7 ms against 50 for 20 of 10,000 values in 22 million rows that are in order.
    store.run("SET dynamic_or_filter_threshold = 1000")
    store.run(f"SET disabled_optimizers = '{_WRONG}'")
    if not external_access:
        store.run("SET enable_external_access = false")
        store.run(f"SET allowed_configs = {list(_NOT_LOCKED)}")
        store.run("SET lock_configuration = true")


_NOT_LOCKED = (
    "disabled_optimizers",  # see Store.run
    "memory_limit",  # see Store.outside
    "TimeZone",  # of a session; nothing of ours depends on it
    "current_transaction_invalidation_policy",  # DuckDB sets it itself, to alter a table
)

_NO_EXTENSIONS: Settings = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "allow_unsigned_extensions": False,
    "python_enable_replacements": False,
}
"""Nothing is installed or loaded because a statement or a file names it; and SQL that names a table
cannot mean a variable of the Python program."""


def _spill() -> tempfile.TemporaryDirectory[str]:
    """A place for temporary files. Raises ResourceError."""
    try:
        return tempfile.TemporaryDirectory(prefix="zodiac_sql_", ignore_cleanup_errors=True)
    except OSError as error:
        raise ResourceError(
            f"no temporary file can be written. Nothing was changed. {error}"
        ) from error


def _instance(path: str) -> Instance:
    """The instance that a file is opened in. Raises StoreError if it is damaged."""
    if path == ":memory:":
        return Instance()
    known = _instances.setdefault(os.path.realpath(path), Instance())
    if known.damaged:
        raise StoreError(
            f"writing {path} has failed: the change is in it as a whole, or not at all. It can be "
            "opened again when all knowledge bases of this process that have it open are closed, or "
            "used once more (each opens it again then)."
        )
    return known


def _require_a_database_file(store: Store) -> str:
    """What DuckDB calls the file that was opened.

    It opens a .csv or .parquet file as a database in memory, where all would be lost.
    """
    opened = store.rows("SELECT path, database_name FROM duckdb_databases() WHERE NOT internal")
    if not store.in_memory and (len(opened) != 1 or not opened[0][0]):
        raise StoreError(f"{store.path} is no name for a database file: use one like farm.duckdb")
    return str(opened[0][1])


_HALF = "a text holds half of a character (U+D800 to U+DFFF): it can be neither stored nor found."

_ADVICE = "\n\nPossible solutions"
"""What follows in DuckDB's message are settings in SQL, which a user of ours cannot give."""

_FULL = re.compile("No space left|File too large|Disk quota exceeded|max_temp_directory_size")

_CONFLICT = re.compile("[Cc]onflict|another transaction")

_PUBLISHED = (
    "The change is in {path}, as a whole, but DuckDB failed after that, and is opened again. "
    "What it said: {text}"
)

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
    if isinstance(error, duckdb.TransactionException) and _CONFLICT.search(text):
        return LockedError(
            f"{path} is being changed through another connection. Nothing was changed by this one: "
            "do it again."
        )
    if isinstance(error, duckdb.OutOfMemoryException):
        return ResourceError(
            f"Out of memory. Nothing was changed. Give more (memory_limit) or let it "
            f"spill to disk (temp_directory). DuckDB says: {text.partition(_ADVICE)[0]}"
        )
    if failed := _STREAM_FAILED.search(text):
        if "Out of Memory" in text:
            return ResourceError(f"Out of memory. Nothing was changed. DuckDB says: {failed[1]}")
        return BrokenStreamError(f"the rows could not be read to their end: {failed[1]}")
    if "COMMIT succeeded and is durable" in text:
        return PublishedError(_PUBLISHED.format(path=path, text=text))
    if _FULL.search(text):
        return ResourceError(f"The disk is full. Nothing was changed. DuckDB says: {text}")
    if "Python exception occurred while executing the UDF" in text:
        return FunctionError(f"a registered function failed. Nothing was changed. {text}")
    if "not a valid DuckDB database file" in text:
        return StoreError(f"{path} is not a DuckDB database file. Nothing was changed.")
    if "newer DuckDB version" in text or "version number" in text:
        return NewerFileError(f"{path} was written by another DuckDB version: {text}")
    if isinstance(error, duckdb.OutOfRangeException | duckdb.ConversionException):
        return EvaluationError(_no_value(text))
    if "Memory must have a number" in text or "memory limit" in text.lower():
        return StoreError(f"the memory limit is written like 512MB or 2GB. DuckDB says: {text}")
    return StoreError(text)


_OVERFLOW = re.compile(
    r"Overflow in \w+ of INT64 \((.*)\)!|Overflow in division of (.*)|Overflow on (abs\(.*\))"
    r"|Type INT128 with value (-?\d+) can't be cast"
)


def _no_value(text: str) -> str:
    """What DuckDB says of a value that does not exist, in our words where it is an integer."""
    overflow = _OVERFLOW.search(text)
    if overflow:
        return f"an integer has more than 64 bits: {overflow[overflow.lastindex or 0]}"
    return text.partition("Error: ")[2].partition("\n")[0] or text
