"""Which columns of a table are read, if its user does not say so: those that somebody asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from zodiac_sql.errors import DataError
from zodiac_sql.facts.load.options import Options
from zodiac_sql.language.columns_read import ColumnsRead
from zodiac_sql.language.schema import Predicate


class LackingError(DataError):
    """A file lacks a column that rules name. Who knows the rules can say which of them it is."""

    def __init__(self, message: str, names: Sequence[str]) -> None:
        super().__init__(message)
        self.names = tuple(names)


@dataclass(frozen=True, slots=True)
class Pruned:
    """The options with the columns that are read, and what is told of the others."""

    options: Options
    notes: tuple[str, ...] = ()


def of_predicate(
    options: Options, path: Path, names: Sequence[str], known: Predicate | None
) -> Pruned:
    """Only the columns of a predicate, if a file has all of them, by their names, and more."""
    wanted = [column.name for column in known.columns] if known else []
    if options.columns or not wanted or not set(wanted) < set(names):
        return Pruned(options)
    note = _note_on_left_out(options, path, names, wanted)
    return Pruned(_with_columns(options, wanted, names), (note,))


def _note_on_left_out(
    options: Options, path: Path, names: Sequence[str], wanted: Sequence[str]
) -> str:
    """What is told of the columns that a predicate does not have."""
    if options.prunes:
        some = f"{len(wanted)} of {len(names)} columns are loaded"
        return f"{path}: {some}, those of the predicate: {', '.join(wanted)}"
    left = ", ".join(name for name in names if name not in wanted)
    return f"{path}: not read, because the predicate has no such column: {left}"


def pruned(options: Options, path: Path, names: Sequence[str], known: Predicate | None) -> Pruned:
    """Only the columns of a file that rules name, if that is wanted.

    A predicate that has facts, or is declared, has its columns, whatever rules name. Raises
    LackingError.
    """
    read = options.read
    if not options.prunes:
        return Pruned(options)
    if read is None:
        return of_predicate(options, path, names, known)
    if why := _why_all(read, len(names)):
        return Pruned(options, (f"{path}: all columns are loaded, because {why}",))
    taken = [name for name in names if name.lower() in read.names]
    if missing := sorted(read.names.difference(name.lower() for name in names)):
        raise LackingError(f"{path} has no column {missing[0]}, which a rule names.", names)
    if len(taken) == len(names):
        return Pruned(options)
    told = f"{len(taken)} of {len(names)} columns are loaded, those that rules name"
    note = f"{path}: {told}: {', '.join(taken)}"
    return Pruned(_with_columns(options, taken, names), (note,))


def _why_all(read: ColumnsRead, columns: int) -> str:
    """Why rules do not tell which columns are enough."""
    if (atom := read.of_all(columns)) is not None:
        return f"`{atom}` names none: its terms stand for all of them"
    return "" if read.names else "no rule reads them yet"


def _with_columns(options: Options, taken: Sequence[str], names: Sequence[str]) -> Options:
    """Options with columns that keep their names. Of the others, empty cells need no value."""
    fills = {
        name: value
        for name, value in (options.fills or {}).items()
        if name in taken or name not in names
    }
    return replace(options, columns={name: name for name in taken}, fills=fills)
