"""Files -> Staged facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from zodiac_sql.database.store import Store
from zodiac_sql.errors import DataError
from zodiac_sql.facts.load import rdf, tables
from zodiac_sql.facts.load.options import DEFAULTS, Options
from zodiac_sql.facts.load.result import Loaded, listed
from zodiac_sql.facts.load.source import opened
from zodiac_sql.facts.rows import check_names
from zodiac_sql.language.schema import Predicate
from zodiac_sql.paths import STDIN, impossible

__all__ = ["Loaded", "load_file"]


def load_file(
    store: Store,
    path: str | Path,
    known: Mapping[str, Predicate],
    *,
    predicate: str | None = None,
    options: Options = DEFAULTS,
) -> Loaded:
    """Stage the facts of an RDF file, or the rows of a table as facts of one predicate.

    The suffix tells the syntax, with or without .gz; standard input is CSV. `known` are the
    existing predicates, by name; `predicate` is the predicate of a table (by default the file's
    name), and `options` say how the file is read. A malformed file is refused as a whole, with its
    bad lines; with `skip_bad` they are left out and reported. Raises DataError.
    """
    path = Path(path)
    suffix = _suffix(path, predicate)
    options.require_fitting(path, suffix)
    check_names(str(path), [*(options.columns or {}).values()])
    with opened(path, options.encoding) as file:
        if suffix in rdf.SUFFIXES:
            loaded = rdf.load_rdf(store, file, suffix, known, options.skip_bad, options.enters)
        else:
            loaded = tables.load_table(store, file, suffix, predicate, known, options)
        return _with_skipped_noted(loaded, file.path)


def _with_skipped_noted(loaded: Loaded, path: Path) -> Loaded:
    """What was loaded, with a note on the lines that were left out."""
    count = loaded.skipped_count
    if not count:
        return loaded
    lines = "1 bad line was" if count == 1 else f"{count} bad lines were"
    note = f"{path}: {lines} left out\n{listed(loaded.skipped, count)}"
    return replace(loaded, notes=(*loaded.notes, note))


def predicate_of(path: str | Path, predicate: str | None) -> str | None:
    """The predicate of a table, given or named after its file; None for RDF. Raises DataError."""
    path = Path(path)
    return None if _suffix(path, predicate) in rdf.SUFFIXES else predicate or tables.name_of(path)


def _suffix(path: Path, predicate: str | None) -> str:
    """The suffix that tells the syntax, in lower case.

    Raises DataError if it tells none, or for a predicate that is given although RDF has its own.
    """
    accepted = f"Known are {' '.join((*rdf.SUFFIXES, *tables.SUFFIXES))}, all but Parquet also .gz."
    if str(path) == STDIN:
        if predicate is None:
            raise DataError(
                "Standard input has no name: give the predicate of its rows. Nothing was loaded."
            )
        return ".csv"
    if said := impossible(path):
        raise DataError(f"{path} {said}.")
    if not path.exists():
        raise DataError(f"{path}: there is no such file.")
    if not path.is_file():
        raise DataError(f"{path} is not a file. Give the files in it one by one. {accepted}")
    compressed = path.suffix.lower() == ".gz"
    suffix = Path(path.stem).suffix.lower() if compressed else path.suffix.lower()
    if suffix not in (*rdf.SUFFIXES, *tables.SUFFIXES) or (compressed and suffix == ".parquet"):
        raise DataError(f"{path}: the suffix {path.suffix or '(none)'} tells no format. {accepted}")
    if suffix in rdf.SUFFIXES and predicate is not None:
        raise DataError(
            f"{path}: RDF has the names of its predicates in itself; {predicate} cannot be "
            "given. Leave it out."
        )
    return suffix
