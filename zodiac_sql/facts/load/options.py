"""What a user can say of how a table in a file is to be read."""

from __future__ import annotations

import codecs
from dataclasses import dataclass, replace
from pathlib import Path

from zodiac_sql.errors import DataError
from zodiac_sql.facts.row_options import READ, RowKeywords, RowOptions, described
from zodiac_sql.language.columns_read import ColumnsRead

_CSV = (".csv", ".tsv")
_TABLES = (*_CSV, ".parquet", ".jsonl", ".ndjson", ".json")


class TableOptions(RowKeywords, total=False):
    """The keyword arguments of `load` that are about tables."""

    skip_bad: bool
    header: bool
    delimiter: str
    null_string: str
    date_format: str
    timestamp_format: str
    encoding: str
    decimal: str
    thousands: str
    comment: str
    skip: int


@dataclass(frozen=True, slots=True)
class Options(RowOptions):
    """How a file is read, and how rows of a table become facts.

    `skip_bad` is for all files: bad lines are left out. The others are for tables.
    """

    skip_bad: bool = False
    header: bool = True
    delimiter: str | None = None
    null_string: str | None = None
    date_format: str | None = None
    timestamp_format: str | None = None
    encoding: str | None = None
    decimal: str = "."
    thousands: str | None = None
    comment: str | None = None
    """How lines begin that are comments."""
    skip: int = 0
    """How many lines stand before the table."""
    enters: bool = True
    """Whether its rows are to be inserted, so that columns may become wider; else deleted."""
    prunes: bool = False
    """Whether only those columns are read that rules name (pruned.py)."""
    read: ColumnsRead | None = None
    """What rules name, if they are to tell the columns: nothing else tells them yet."""

    def require_fitting(self, path: Path, suffix: str) -> None:
        """Refuse options that say nothing about this kind of file. Raises DataError."""
        # RDF has no columns to leave out.
        said = replace(self, enters=True, prunes=False, skip_bad=False)
        if suffix not in _TABLES and said != DEFAULTS:
            raise DataError(f"{path} is no table: options for columns and cells do not fit it.")
        if suffix in _CSV and self.explode:
            raise DataError(
                f"{path} is CSV, whose cells hold no lists: explode is for JSON and Parquet."
            )
        given = [name for name in _OF_CSV if getattr(self, name) != getattr(DEFAULTS, name)]
        if suffix not in _CSV and given:
            shown = " and ".join(given)
            raise DataError(
                f"{path} is no CSV: {shown} {'is' if len(given) == 1 else 'are'} for CSV and TSV."
            )

    @property
    def leaves_lines_out(self) -> bool:
        """Whether the file may have lines that are not of the table."""
        return bool(self.skip or self.comment)


DEFAULTS = Options()

_OF_CSV = (
    "header", "delimiter", "null_string", "date_format", "timestamp_format", "encoding", "decimal",
    "thousands", "comment", "skip",
)  # fmt: skip

DECIMAL_MARKS = (".", ",")
THOUSANDS_MARKS = (".", ",", "'", "\u2019", "_", " ", "\u00a0", "\u202f")
"""What may stand between groups of three digits: also a raised comma, and spaces that do not break
lines."""


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
    said = {key: value for key, value in given.items() if value is not None}
    options = Options(prunes=prunes, enters=enters, **described(said))  # type: ignore[arg-type]
    _require_marks(options)
    _require_lines(options)
    return replace(options, encoding=encoding_of(options.encoding))


def _require_marks(options: Options) -> None:
    """Refuse marks in numbers that are none, or say two things at once. Raises DataError."""
    decimal, thousands = options.decimal, options.thousands
    if decimal not in DECIMAL_MARKS:
        raise DataError(f'decimal is "," or ".", the mark before decimals: {decimal!r} is neither.')
    if thousands is not None and thousands not in THOUSANDS_MARKS:
        raise DataError(
            "thousands is the mark between groups of three digits, one of . , ' _ or a space: "
            f"{thousands!r} is none."
        )
    if thousands == decimal:
        raise DataError(
            f"{thousands!r} cannot be both the decimal mark and that of thousands: 1.234,56 has "
            'decimal="," and thousands=".", and 1,234.56 has thousands=",".'
        )


def _require_lines(options: Options) -> None:
    """Refuse what cannot tell lines to leave out. Raises DataError."""
    comment, skip = options.comment, options.skip
    if comment is not None and (
        not isinstance(comment, str) or not comment or any(c in comment for c in '"\r\n')
    ):
        raise DataError(
            f'comment is how lines begin that are comments, such as "#": {comment!r} is none.'
        )
    if type(skip) is not int or skip < 0:
        raise DataError(f"skip is how many lines stand before the table: {skip!r} is no number.")


def encoding_of(given: str | None) -> str | None:
    """The encoding by the name that Python gives it; None for UTF-8. Raises DataError."""
    if given is None:
        return None
    try:
        found = codecs.lookup(given)
        "".encode(found.name)  # refuses what encodes bytes, such as base64
    except (LookupError, TypeError, ValueError):
        raise DataError(
            f"{given!r} is no encoding of text. Known are utf-8, latin-1, cp1252 (Windows), "
            "utf-16 and all others of Python."
        ) from None
    return None if found.name in ("utf-8", "utf-8-sig") else found.name
