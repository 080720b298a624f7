"""Turns DuckDB's errors into errors of ours that say what they mean for the user."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import duckdb

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

if TYPE_CHECKING:
    from zodiac_sql.database.connection import Connection
    from zodiac_sql.database.watch import Watch


class BrokenStreamError(DataError):
    """An Arrow stream that a statement reads has failed on the way."""


class OutOfMemoryError(ResourceError):
    """A statement needs more memory than the limit, and cannot put on the disk what it holds."""


class PatternError(EvaluationError):
    """A regular expression that is none: a mistake in the text of a rule or a query, or in data."""


class ReadOnlyError(StoreError):
    """A statement in a transaction that only reads would have written."""


@contextmanager
def explaining(connection: Connection) -> Iterator[None]:
    """Turn an error that DuckDB raises inside into one that says what it means for the user."""
    watch = connection.watch
    watch.begins(connection.duckdb)
    try:
        yield
    except duckdb.Error as error:
        watch.ends()
        if isinstance(error, duckdb.FatalException):
            connection.instance.damaged = True
        _raise_if_interrupted(watch, error)
        raise explained(error, connection.path) from error
    except UnicodeEncodeError as error:
        raise DataError(HALF_A_CHARACTER) from error
    except GeneratorExit:  # an interruption came before anything ran: nothing to explain
        raise
    except BaseException as error:
        # Without this, DuckDB 1.5.6 waits for ever when it cleans up a recursive query after an
        # interruption, whether for the next statement or for closing the connection.
        with suppress(duckdb.ConnectionException):  # closed meanwhile
            connection.duckdb.interrupt()
        if isinstance(error, KeyboardInterrupt) or "interrupted" in str(error).lower():
            # Other threads may still be calling a registered function for the statement. The next
            # one waits for them; until then `struck` must tell them to stop (python_functions.py).
            watch.struck = True
            with suppress(Exception):
                connection.duckdb.execute("SELECT 1")
        if isinstance(error, Exception):  # Arrow has its own for what happens in a stream
            _raise_if_interrupted(watch, error)
        if not isinstance(error, RuntimeError):
            raise
        if "interrupted" in str(error).lower():  # this is how DuckDB reports Ctrl-C
            raise KeyboardInterrupt from error
        raise
    finally:
        watch.ends()


def _raise_if_interrupted(watch: Watch, error: Exception) -> None:
    """Raise what an interruption means, if an error tells of one: time is up, or Ctrl-C."""
    text = str(error)
    if watch.struck or _INTERRUPTED in text or _IN_A_FUNCTION in text:
        if watch.bounds is not None:
            watch.bounds.check_time()
        raise KeyboardInterrupt from error


# --- one error ------------------------------------------------------------------------------------

HALF_A_CHARACTER = (
    "a text holds half of a character (U+D800 to U+DFFF): it can be neither stored nor found."
)

_INTERRUPTED = "INTERRUPT Error: Interrupted!"
"""What DuckDB's message has after an interruption (watch.py)."""

_IN_A_FUNCTION = "Python exception occurred while executing the UDF: KeyboardInterrupt"
"""The same, where Ctrl-C came while a registered function was running."""

_ADVICE = "\n\nPossible solutions"
"""In DuckDB's message, SQL settings follow after this; users cannot change those."""

DISK_FULL = re.compile("No space left|File too large|Disk quota exceeded|max_temp_directory_size")

_CONFLICT = re.compile("[Cc]onflict|another transaction")

_PUBLISHED = (
    "The change is in {path}, as a whole, but DuckDB failed after that, and is opened again. "
    "What it said: {text}"
)

_LOCK_HOLDER = re.compile(r"Conflicting lock is held in (.+?)(?: by user .+?)?\. (?:See|However)")


_STREAM_FAILED = re.compile(
    r"(?:arrow_scan: get_next failed\(\)|reading [\w ]+ registered as '[^']*' failed): "
    r"(?:Invalid: |Unknown error: )*(.*?)(?:\. Detail: |\Z)",
    re.DOTALL,
)

_OVERFLOW = re.compile(
    r"Overflow in \w+ of INT64 \((.*)\)!|Overflow in division of (.*)|Overflow on (abs\(.*\))"
    r"|Type INT128 with value (-?\d+) can't be cast"
)


_PATTERN = re.compile(
    "Error: (missing |unexpected |invalid |bad |no argument |trailing |unknown error)"
)
"""How RE2 begins what it says of a pattern."""


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
        return OutOfMemoryError(
            f"Out of memory. Nothing was changed. Give more (memory_limit) or let it "
            f"spill to disk (temp_directory). DuckDB says: {text.partition(_ADVICE)[0]}"
        )
    if failed := _STREAM_FAILED.search(text):
        if "Out of Memory" in text:
            return ResourceError(f"Out of memory. Nothing was changed. DuckDB says: {failed[1]}")
        return BrokenStreamError(f"the rows could not be read to their end: {failed[1]}")
    if "COMMIT succeeded and is durable" in text:
        return PublishedError(_PUBLISHED.format(path=path, text=text))
    if DISK_FULL.search(text):
        return ResourceError(f"The disk is full. Nothing was changed. DuckDB says: {text}")
    if "transaction is launched in read-only mode" in text:
        return ReadOnlyError(text)
    if (found := _of_values(error, text)) is not None:
        return found
    if "not a valid DuckDB database file" in text:
        return StoreError(f"{path} is not a DuckDB database file. Nothing was changed.")
    if "newer DuckDB version" in text or "version number" in text:
        return NewerFileError(f"{path} was written by another DuckDB version: {text}")
    if "Memory must have a number" in text or "memory limit" in text.lower():
        return StoreError(f"the memory limit is written like 512MB or 2GB. DuckDB says: {text}")
    return StoreError(text)


def _of_values(error: duckdb.Error, text: str) -> ZodiacError | None:
    """What an error means that tells of values, if it does so."""
    if "Python exception occurred while executing the UDF" in text:
        return FunctionError(f"a registered function failed. Nothing was changed. {text}")
    if "cannot encode str as UTF-8" in text:
        return DataError(HALF_A_CHARACTER)
    if isinstance(error, duckdb.InvalidInputException) and _PATTERN.search(text):
        return PatternError(f"no regular expression: {text.partition('Error: ')[2]}")
    if _MINUS_INFINITY in text or TOO_MANY_PLACES in text:
        return EvaluationError(text.removeprefix("Invalid Input Error: "))
    if isinstance(error, duckdb.OutOfRangeException | duckdb.ConversionException):
        return EvaluationError(_no_value(text))
    return None


_MINUS_INFINITY = "minus infinity in a recursion"
"""What is said by sql/best_values.py."""


TOO_MANY_PLACES = (
    "A product of decimals has more than 18 digits after the point. Round what is multiplied, as "
    "in round(X, 4) * Y, or compute with floats: float(X) * Y."
)
"""What is said by sql/decimals.py."""

_DECIMAL_OVERFLOW = re.compile(
    r"Overflow in \w+ of DECIMAL|Overflow in HUGEINT|Casting value .* to type DECIMAL"
)
_TOO_LARGE = "a decimal has more than 20 digits before the point"


def _no_value(text: str) -> str:
    """DuckDB's message about a value that does not exist; for an integer, in our own words."""
    overflow = _OVERFLOW.search(text)
    if overflow:
        return f"an integer has more than 64 bits: {overflow[overflow.lastindex or 0]}"
    if _DECIMAL_OVERFLOW.search(text):
        return _TOO_LARGE
    return text.partition("Error: ")[2].partition("\n")[0] or text
