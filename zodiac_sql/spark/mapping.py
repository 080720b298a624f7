"""Mappings: which columns of which files are the facts of which predicate.

In a TOML file, each predicate's facts are a table:

    [[facts]]
    predicate = "hasTemperature"
    source = "raw/*.csv"                 # next to this file; or a list, absolute paths, URIs
    format = "csv"                       # needed only where the suffix does not tell
    encoding = "cp1252"                  # of CSV, with delimiter, decimal, thousands, comment, skip
    where = "sensor = 'gearbox'"         # Spark SQL
    [facts.columns]
    turbine = "symbol"                                   # the column of the same name
    celsius = { type = "float", from = "(fahrenheit - 32) / 1.8" }
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, cast

from zodiac_sql.errors import DataError
from zodiac_sql.facts.load.options import Options, TableOptions, options_of
from zodiac_sql.language.syntax import Type
from zodiac_sql.spark.types import quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FORMATS = ("csv", "tsv", "parquet", "jsonl", "nt")

OPTIONS = ("encoding", "delimiter", "decimal", "thousands", "comment", "skip")
"""What a mapping may say of CSV."""

_SUFFIXES = {
    ".csv": "csv", ".tsv": "tsv", ".parquet": "parquet", ".jsonl": "jsonl", ".ndjson": "jsonl",
    ".nt": "nt",
}  # fmt: skip
_TYPES = ", ".join(Type)


@dataclass(frozen=True, slots=True)
class Field:
    """A column of a predicate: its name, its type, and the Spark SQL expression of its values.

    Without an expression, the values are those of the source's column of the same name.
    """

    name: str
    type: Type
    expression: str | None = None

    @property
    def sql(self) -> str:
        return quoted(self.name) if self.expression is None else self.expression


@dataclass(frozen=True, slots=True)
class FactMapping:
    """How rows of a source become facts of a predicate.

    `source` is a path, a glob or a URI as Spark reads it, several of these, or a data frame;
    `where` is a Spark SQL filter over its columns. `format` is "csv", "tsv", "parquet", "jsonl"
    (one JSON object a line) or "nt" (N-Triples); with None the suffix decides, also before .gz.
    `options` say how CSV is read, as those of `KnowledgeBase.load` with these names: `encoding`,
    `delimiter`, `decimal`, `thousands`, `comment` and `skip`. The marks in numbers are those of
    columns of numbers without an expression.
    N-Triples have columns of text: `subject`, `predicate` and `object`, as they are written, and
    for the object its `value` (the text of a literal, or the IRI without <>), `datatype` and
    `language`, or NULL. Raises DataError if there are no columns, two of the same name, no path, or
    no known format.
    """

    predicate: str
    source: str | Sequence[str] | DataFrame
    columns: tuple[Field, ...]
    where: str | None = None
    format: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.columns:
            raise DataError(f"{self.predicate}: a mapping needs columns, and has none.")
        if isinstance(self.source, (list, tuple)) and not self.source:
            raise DataError(f"{self.predicate}: a mapping needs a source, and has none.")
        seen: dict[str, str] = {}
        for name in (column.name for column in self.columns):
            if name.lower() in seen:
                raise DataError(
                    f"{self.predicate}: the columns {seen[name.lower()]} and {name} have the same "
                    "name (SQL ignores case). Rename one."
                )
            seen[name.lower()] = name
        if self.paths:
            _ = self.read_as
        self._require_options()

    def _require_options(self) -> None:
        """Raise DataError for options that are unknown, say nothing, or are for other files."""
        for name in self.options:
            if name not in OPTIONS:
                raise DataError(
                    f"{self.predicate}: a mapping has no option {name}. Known are "
                    f"{', '.join(OPTIONS)}."
                )
        if self.options and not (self.paths and self.read_as in ("csv", "tsv")):
            raise DataError(
                f"{self.predicate}: {', '.join(self.options)} say how CSV and TSV are read, and "
                f"{self.shown} is neither."
            )
        try:
            _ = self.reading
        except DataError as error:
            raise DataError(f"{self.predicate}: {error}") from None

    @property
    def reading(self) -> Options:
        """How the files are read."""
        return options_of(cast("TableOptions", self.options), enters=True)

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of the source; none if it is a data frame."""
        if isinstance(self.source, str):
            return (self.source,)
        return tuple(self.source) if isinstance(self.source, (list, tuple)) else ()

    @property
    def read_as(self) -> str:
        """The format of the files. Raises DataError if it is not given or unknown."""
        if self.format is not None:
            if self.format not in FORMATS:
                raise DataError(
                    f"{self.predicate}: the format {self.format!r} is unknown. "
                    f"Known are {', '.join(FORMATS)}."
                )
            return self.format
        told = {path: _SUFFIXES.get(_suffix(path)) for path in self.paths}
        for path, format_ in told.items():
            if format_ is None:
                raise DataError(
                    f"{self.predicate}: the suffix of {path} tells no format. Give the format, one "
                    f"of {', '.join(FORMATS)}, or use a suffix out of {' '.join(_SUFFIXES)}; text "
                    "may have .gz, too."
                )
        formats = sorted({format_ for format_ in told.values() if format_})
        if len(formats) > 1:
            raise DataError(
                f"{self.predicate}: the source has files of the formats {' and '.join(formats)}. "
                "Write a mapping for each: what several give for a predicate is united."
            )
        return formats[0]

    @property
    def shown(self) -> str:
        """The name of the source in errors."""
        return ", ".join(self.paths) or "the data frame"


def _suffix(path: str) -> str:
    pure = PurePosixPath(path.lower())
    return PurePosixPath(pure.stem).suffix if pure.suffix == ".gz" else pure.suffix


# --- from a file --------------------------------------------------------------------------------


def read_mappings(path: str | Path) -> tuple[FactMapping, ...]:
    """The mappings in a TOML file. The docstring of this module shows an example.

    Relative sources start from the directory of the file. Raises a DataError that names the file,
    the table and the key, and says what would be right.
    """
    path = Path(path)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise DataError(f"{path} is not UTF-8, and TOML is.") from None
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"{path}: {error}") from None
    tables = content.get("facts")
    if not isinstance(tables, list) or not tables or not all(isinstance(t, dict) for t in tables):
        raise DataError(f"{path}: each predicate's facts are a table [[facts]], and there is none.")
    _Place(str(path)).known(content, ("facts",))
    return tuple(_mapping(path, number, table) for number, table in enumerate(tables, 1))


def _mapping(path: Path, number: int, table: Mapping[str, Any]) -> FactMapping:
    named = table.get("predicate")
    place = _Place(f"{path}: [[facts]] {number}" + (f" ({named})" if named else ""))
    place.known(table, ("predicate", "source", "columns", "where", "format", *OPTIONS))
    predicate = place.text(table, "predicate", needed=True)
    columns = table.get("columns")
    if not isinstance(columns, dict):
        raise place.wrong("columns", 'a table, e.g. columns = { turbine = "symbol" }')
    fields = tuple(_field(place, name, column) for name, column in columns.items())
    where, format_ = place.text(table, "where"), place.text(table, "format")
    sources = tuple(_from_here(path.parent, one) for one in place.texts(table, "source"))
    options = {name: table[name] for name in OPTIONS if name in table}
    try:
        return FactMapping(predicate or "", sources, fields, where, format_, options)
    except DataError as error:
        raise DataError(f"{place.name}: {error}") from None


def _field(place: _Place, name: str, column: object) -> Field:
    inside = _Place(f"{place.name}: column {name}")
    if isinstance(column, str):
        column = {"type": column}
    if not isinstance(column, dict):
        raise inside.wrong(
            "what it is", 'a type, "float", or { type = "float", from = "(fahrenheit - 32) / 1.8" }'
        )
    inside.known(column, ("type", "from"))
    type_ = inside.text(column, "type", needed=True)
    if type_ not in list(Type):
        raise DataError(f"{inside.name}: there is no type {type_!r}. The types are {_TYPES}.")
    return Field(name, Type(type_), inside.text(column, "from"))


@dataclass(frozen=True, slots=True)
class _Place:
    """A table of the file, with its name in errors."""

    name: str

    def wrong(self, key: str, right: str) -> DataError:
        return DataError(f"{self.name}: {key} is missing, or not what it should be: {right}.")

    def known(self, table: Mapping[str, object], keys: tuple[str, ...]) -> None:
        for key in table:
            if key not in keys:
                raise DataError(
                    f"{self.name}: the key {key} is unknown. Known are {', '.join(keys)}."
                )

    def text(self, table: Mapping[str, object], key: str, needed: bool = False) -> str | None:
        value = table.get(key)
        if value is None and not needed:
            return None
        if not isinstance(value, str) or not value.strip():
            raise self.wrong(key, f'a text, {key} = "..."')
        return value

    def texts(self, table: Mapping[str, object], key: str) -> tuple[str, ...]:
        """One text or a list of them."""
        value = table.get(key)
        several = value if isinstance(value, list) else [value]
        if not several or not all(isinstance(one, str) and one.strip() for one in several):
            raise self.wrong(key, f'a path or a list of paths, {key} = "raw/*.csv"')
        return tuple(str(one) for one in several)


_GLOB = re.compile(r"[\\*?\[\]{}]")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")


def escaped(path: str) -> str:
    """A path with glob characters escaped, for places where Spark expects a glob."""
    return _GLOB.sub(lambda match: "\\" + match[0], path)


def _from_here(directory: Path, source: str) -> str:
    """A source for Spark. Relative ones get the directory, because Spark does not know it."""
    if source.startswith("/") or _URI.match(source):
        return source
    return f"file://{escaped(str(directory.absolute()))}/{source}"
