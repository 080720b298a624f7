"""The directory of a materialisation: versions, each a manifest that names files of facts.

    versions/000000000012.json            what version 12 consists of
    data/000000000012-<random>/<random>/  Parquet files, written while version 12 was being made

A version shares files with those before it: nothing in `data` is ever modified. A manifest is
written aside, and gets its name by a hard link, which fails if there is one of that name. So a
version is there as a whole or not at all, and of two drivers that make version 12 one is refused.

Files are removed when no version that is kept names them, and none that may still be made: those
of a version that was not committed are left until another driver has committed its number.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from zodiac_sql.errors import LockedError, NewerFileError, StoreError
from zodiac_sql.language.kept_texts import as_today, with_floats
from zodiac_sql.language.syntax import Column, Type
from zodiac_sql.spark.planning import Text

FORMAT = 2
"""The format of manifests. A reader that finds a greater one must not touch the directory. In
versions of the first one, aggregates may mean something else (language/former_aggregates.py)."""

_EXACT_TEXTS, LANGUAGE = 2, 3
"""Languages of texts: the last in which xsd:decimal was a float, and the newest. Manifests that do
not tell theirs have texts of the first one. language/kept_texts.py reads those of both."""

KEPT = 2
"""So many versions are kept: the last one, and those before it that somebody may be reading."""


@dataclass(frozen=True, slots=True)
class Segment:
    """Files with some facts, each once: of a table they are added to, or `gone` from it.

    `path` is below the materialisation's directory.
    """

    path: str
    rows: int
    gone: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table as what was added to it and taken from it, in this order, with its columns' types."""

    types: tuple[Type | None, ...] = ()
    segments: tuple[Segment, ...] = ()

    @property
    def rows(self) -> int:
        return sum(-s.rows if s.gone else s.rows for s in self.segments)


@dataclass(frozen=True, slots=True)
class Extension:
    """A predicate's columns, and its explicit and derived facts."""

    columns: tuple[Column, ...]
    table: Table

    @property
    def digest(self) -> str:
        """Extensions with the same digest have the same columns and facts."""
        columns = [(column.name, column.meant) for column in self.columns]
        segments = [(one.path, one.gone) for one in self.table.segments]
        return hashlib.sha256(json.dumps([columns, segments]).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a manifest says.

    `texts` are the rules; `columns` those of predicates with explicit facts, by predicate;
    `changes` has what extensions gained and lost by this version. `positions` are the last batches
    of streams. A `former` one has facts that were derived when aggregates meant something else.
    """

    number: int = 0
    texts: tuple[Text, ...] = ()
    columns: Mapping[str, tuple[Column, ...]] = field(default_factory=dict)
    tables: Mapping[str, Table] = field(default_factory=dict)
    changes: Mapping[str, tuple[Table, Table]] = field(default_factory=dict)
    positions: Mapping[str, int] = field(default_factory=dict)
    former: bool = False

    def files(self) -> Iterator[str]:
        """The directories of files that the version needs."""
        changed = (table for tables in self.changes.values() for table in tables)
        for table in (*self.tables.values(), *changed):
            yield from (segment.path for segment in table.segments)


class Directory:
    """The directory of a materialisation."""

    def __init__(self, path: str | Path) -> None:
        self.path = local(
            path,
            "a materialisation is kept in one that the driver and all executors see under the "
            "same path, because versions are made by hard links.",
        )
        self._versions = self.path / "versions"
        if self.path.exists() and not self.path.is_dir():
            raise StoreError(f"{self.path} is a file: a materialisation is kept in a directory.")
        if self.path.exists() and any(self.path.iterdir()) and not self._versions.is_dir():
            raise StoreError(
                f"{self.path} is not empty, and has no materialisation: give a new directory, or "
                "that of a materialisation."
            )

    def last(self) -> Manifest:
        """The last version; number 0, without anything, if there is none.

        Raises StoreError if files are gone that it needs: Spark would read them as no facts.
        """
        numbers = self._numbers()
        if not numbers:
            return Manifest()
        version = self._read(numbers[-1])
        gone = next((path for path in version.files() if not _has_facts(self.path / path)), None)
        if gone is None:
            return version
        if self._numbers()[-1] != numbers[-1]:  # another driver has made more, and removed these
            return self.last()
        raise StoreError(
            f"{self.path} lacks the files in {gone}, which version {version.number} needs. Take "
            "the directory from a copy, or make the materialisation anew from its facts."
        )

    def begin(self, number: int) -> str:
        """Make a new directory for files of a version that is being made. Returns its path here."""
        made = f"data/{number:012}-{uuid.uuid4().hex}"
        try:
            (self.path / made).mkdir(parents=True)
        except OSError as error:
            raise StoreError(f"{self.path} cannot be written to: {error.strerror}") from error
        return made

    def commit(self, version: Manifest) -> None:
        """Make a version the last one. Raises LockedError if another driver has made its number."""
        self._versions.mkdir(exist_ok=True)
        aside = self._versions / f".{uuid.uuid4().hex}"
        try:
            with aside.open("w", encoding="utf-8") as file:
                json.dump(_as_json(version), file)
            for path in {p for p in version.files() if p.startswith(f"data/{version.number:012}-")}:
                _bring_to_disk(*(self.path / path).iterdir(), self.path / path)
            _bring_to_disk(aside)
            os.link(aside, self._manifest(version.number))
            _bring_to_disk(self._versions)
        except OSError as error:
            if self._manifest(version.number).exists():  # who made it may have removed our files
                raise self.taken(version.number) from None
            hint = " (it has no hard links)" if error.errno in (errno.EPERM, errno.ENOTSUP) else ""
            raise StoreError(f"{self.path} cannot be written to: {error.strerror}{hint}") from error
        finally:
            aside.unlink(missing_ok=True)

    def taken(self, number: int) -> LockedError:
        """The error if another driver was faster."""
        return LockedError(
            f"another driver has made version {number} of {self.path} meanwhile; this update has "
            "changed nothing. Call it again: it begins with the last version. Let one driver at a "
            "time write."
        )

    def abandon(self, attempt: str) -> None:
        """Remove the files of an attempt that has failed."""
        shutil.rmtree(self.path / attempt, ignore_errors=True)

    def clean(self, version: Manifest) -> None:
        """Remove old versions, and files that nobody needs now that a version was made."""
        numbers = self._numbers()
        for number in numbers[:-KEPT]:
            self._manifest(number).unlink(missing_ok=True)
        needed = {path for number in numbers[-KEPT:] for path in self._read(number).files()}
        for directory in (self.path / "data").iterdir():
            if int(directory.name.partition("-")[0]) > version.number:
                continue
            for files in directory.iterdir():
                if f"data/{directory.name}/{files.name}" not in needed:
                    shutil.rmtree(files, ignore_errors=True)
            if not any(directory.iterdir()):
                shutil.rmtree(directory, ignore_errors=True)

    def _numbers(self) -> list[int]:
        if not self._versions.is_dir():
            return []
        return sorted(int(p.stem) for p in self._versions.glob("*.json") if p.stem.isdigit())

    def _manifest(self, number: int) -> Path:
        return self._versions / f"{number:012}.json"

    def _read(self, number: int) -> Manifest:
        path = self._manifest(number)
        try:
            told = json.loads(path.read_text(encoding="utf-8"))
            if told["format"] > FORMAT:
                raise NewerFileError(
                    f"{path} has format {told['format']}, and this zodiac_sql knows {FORMAT}: "
                    "install the version that wrote it, or a newer one."
                )
            version = _from_json(told)
            if version.number != number:
                raise ValueError(f"it tells version {version.number}")
            return version
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise StoreError(f"{path} is no manifest of a materialisation: {error}") from error


def _bring_to_disk(*paths: Path) -> None:
    """Files before the manifest that names them, so that a version outlives a loss of power."""
    for path in paths:
        opened = os.open(path, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def local(path: str | Path, reason: str) -> Path:
    """The path of a directory. Raises StoreError, with the reason, for other URIs than of files."""
    text = str(path)
    if text.startswith("file:"):
        text = "/" + text.removeprefix("file:").lstrip("/")
    if "://" in text:
        raise StoreError(f"{path} is no directory: {reason}")
    return Path(text).absolute()


# --- JSON -----------------------------------------------------------------------------------------


def _as_json(version: Manifest) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "number": version.number,
        "texts": version.texts,
        "language": LANGUAGE,
        "columns": {p: [(c.name, c.meant) for c in cs] for p, cs in version.columns.items()},
        "tables": {name: _written(table) for name, table in version.tables.items()},
        "changes": {p: [_written(one) for one in two] for p, two in version.changes.items()},
        "positions": dict(version.positions),
    }


def _written(table: Table) -> dict[str, Any]:
    segments = [(one.path, one.rows, one.gone) for one in table.segments]
    return {"types": table.types, "segments": segments}


def _has_facts(directory: Path) -> bool:
    return next(directory.glob("*.parquet"), None) is not None


def _from_json(told: Mapping[str, Any]) -> Manifest:
    language = told.get("language", 0)
    changes = {p: [_table(one) for one in two] for p, two in told["changes"].items()}
    return Manifest(
        told["number"],
        tuple((_today(text, language), name) for text, name in told["texts"]),
        {
            p: tuple(Column(name, Type(type_) if type_ else None) for name, type_ in columns)
            for p, columns in told["columns"].items()
        },
        {name: _table(table) for name, table in told["tables"].items()},
        {p: (gained, lost) for p, (gained, lost) in changes.items()},
        dict(told["positions"]),
        told["format"] < FORMAT,
    )


def _today(text: str, language: int) -> str:
    """A text that was kept when the language had this number, as the same is said today."""
    text = as_today(text, {}) if language < _EXACT_TEXTS else text
    return with_floats(text, {}) if language < LANGUAGE else text


def _table(told: Mapping[str, Any]) -> Table:
    return Table(
        tuple(Type(type_) if type_ else None for type_ in told["types"]),
        tuple(Segment(*segment) for segment in told["segments"]),
    )
