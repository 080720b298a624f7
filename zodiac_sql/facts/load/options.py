"""What a user can say of how a table in a file is to be read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from zodiac_sql.errors import DataError
from zodiac_sql.facts.row_options import READ, RowKeywords, RowOptions, described
from zodiac_sql.language.columns_read import ColumnsRead

_CSV = (".csv", ".tsv")
_TABLES = (*_CSV, ".parquet", ".jsonl", ".ndjson", ".json")


class TableOptions(RowKeywords, total=False):
    """The keyword arguments of `load` that are about tables."""

    header: bool
    delimiter: str
    null_string: str
    date_format: str
    timestamp_format: str


@dataclass(frozen=True, slots=True)
class Options(RowOptions):
    """How a table is read, and how its rows become facts."""

    header: bool = True
    delimiter: str | None = None
    null_string: str | None = None
    date_format: str | None = None
    timestamp_format: str | None = None
    enters: bool = True
    """Whether its rows are to be inserted, so that columns may become wider; else deleted."""
    prunes: bool = False
    """Whether only those columns are read that rules name (pruned.py)."""
    read: ColumnsRead | None = None
    """What rules name, if they are to tell the columns: nothing else tells them yet."""

    def require_fitting(self, path: Path, suffix: str) -> None:
        """Refuse options that say nothing about this kind of file. Raises DataError."""
        said = replace(self, enters=True, prunes=False)  # RDF has no columns to leave out
        if suffix not in _TABLES and said != DEFAULTS:
            raise DataError(f"{path} is no table: options for columns and cells do not fit it.")
        of_csv = (
            self.delimiter, self.null_string, self.date_format, self.timestamp_format,
        )  # fmt: skip
        if suffix in _CSV and self.explode:
            raise DataError(
                f"{path} is CSV, whose cells hold no lists: explode is for JSON and Parquet."
            )
        if suffix not in _CSV and (not self.header or any(of_csv)):
            raise DataError(
                f"{path} is no CSV: header, delimiter, null_string, date_format and "
                "timestamp_format are for CSV and TSV."
            )


DEFAULTS = Options()


def options_of(given: TableOptions, enters: bool) -> Options:
    """Options from keyword arguments. Raises DataError, or TypeError for an unknown keyword."""
    formats = (given.get("date_format"), given.get("timestamp_format"))
    for format_ in formats:
        if format_ is not None and any(part in format_ for part in ("%z", "%Z", "%n")):
            raise DataError(
                f"{format_} has time zones or nanoseconds: only ISO texts may have them."
            )
    prunes = given.get("columns") == READ
    if prunes and not given.get("header", True):
        raise DataError("Without a header, a file has no names of columns that rules could read.")
    return Options(prunes=prunes, enters=enters, **described(given))  # type: ignore[arg-type]
