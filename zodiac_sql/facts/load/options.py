"""What a user can say of how a table in a file is to be read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypedDict

from zodiac_sql.errors import DataError
from zodiac_sql.language.columns_read import ColumnsRead

READ = "read"
"""The word for the columns that rules name."""

_CSV = (".csv", ".tsv")
_TABLES = (*_CSV, ".parquet", ".jsonl", ".ndjson", ".json")


class TableOptions(TypedDict, total=False):
    """The keyword arguments of `load` that are about tables."""

    nulls: str | Mapping[str, object]
    columns: Literal["read"] | Iterable[str] | Mapping[str, str]
    header: bool
    delimiter: str
    null_string: str
    date_format: str
    timestamp_format: str


@dataclass(frozen=True, slots=True)
class Options:
    """How a table is read.

    `columns` has the columns of the file that are taken, in order, with the names that they get.
    Rows with an empty cell are left out if `skips_rows`, after the cells of the columns in `fills`
    got a value.
    """

    skips_rows: bool = False
    fills: Mapping[str, object] | None = None
    columns: Mapping[str, str] | None = None
    header: bool = True
    delimiter: str | None = None
    null_string: str | None = None
    date_format: str | None = None
    timestamp_format: str | None = None
    widens: bool = False
    """Whether fractions may make a column of ints one of floats."""
    prunes: bool = False
    """Whether only those columns are read that rules name (pruned.py)."""
    read: ColumnsRead | None = None
    """What rules name, if they are to tell the columns: nothing else tells them yet."""

    def require_fitting(self, path: Path, suffix: str) -> None:
        """Refuse options that say nothing about this kind of file. Raises DataError."""
        said = replace(self, widens=False, prunes=False)  # RDF has no columns to leave out
        if suffix not in _TABLES and said != DEFAULTS:
            raise DataError(f"{path} is no table: options for columns and cells do not fit it.")
        of_csv = (
            self.delimiter, self.null_string, self.date_format, self.timestamp_format,
        )  # fmt: skip
        if suffix not in _CSV and (not self.header or any(of_csv)):
            raise DataError(
                f"{path} is no CSV: header, delimiter, null_string, date_format and "
                "timestamp_format are for CSV and TSV."
            )


DEFAULTS = Options()


def options_of(given: TableOptions, widens: bool) -> Options:
    """Options from keyword arguments. Raises DataError, or TypeError for an unknown keyword."""
    rest = {key: value for key, value in given.items() if key not in ("nulls", "columns")}
    nulls = given.get("nulls", "refuse")
    if isinstance(nulls, str) and nulls not in ("refuse", "skip-row"):
        raise DataError(
            f'nulls is "refuse", "skip-row", or the values of empty cells by column: {nulls!r} is '
            "none of them."
        )
    formats = (given.get("date_format"), given.get("timestamp_format"))
    for format_ in formats:
        if format_ is not None and any(part in format_ for part in ("%z", "%Z", "%n")):
            raise DataError(
                f"{format_} has time zones or nanoseconds: only ISO texts may have them."
            )
    prunes = given.get("columns") == READ
    if prunes and not given.get("header", True):
        raise DataError("Without a header, a file has no names of columns that rules could read.")
    return Options(
        skips_rows=nulls == "skip-row",
        fills=dict(nulls) if isinstance(nulls, Mapping) else None,
        columns=None if prunes else _columns(given.get("columns")),
        prunes=prunes,
        widens=widens,
        **rest,  # type: ignore[arg-type]
    )


def _columns(given: Iterable[str] | Mapping[str, str] | None) -> Mapping[str, str] | None:
    if given is None:
        return None
    if isinstance(given, str):
        raise DataError(
            f'columns is a list of names, [{given!r}], or "read": those that rules name.'
        )
    found = dict(given) if isinstance(given, Mapping) else {name: name for name in given}
    names = [name.lower() for name in found.values()]
    if not found or len(set(names)) < len(names):
        raise DataError("columns names at least one column, and no two by the same name.")
    return found
