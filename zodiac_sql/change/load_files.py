"""Files whose facts an update inserts, at once or when all of its rules are known.

With `columns="read"`, rules tell which columns of a table are loaded. They may come later in the
same update, so a file waits until it is applied, unless something else tells the columns already.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from zodiac_sql.language.columns_read import ColumnsRead, columns_read
from zodiac_sql.language.named_columns import known_columns
from zodiac_sql.language.syntax import Column, Declaration

if TYPE_CHECKING:
    from zodiac_sql.change.collected import Collected
    from zodiac_sql.facts.load.options import Options
    from zodiac_sql.facts.load.result import Loaded


@dataclass(frozen=True, slots=True)
class File:
    """A file to be loaded: `predicate` is that of its rows, if it is a table."""

    path: str | Path
    predicate: str | None
    skip_bad: bool
    options: Options


def load(collected: Collected, file: File) -> None:
    """Collect the facts of a file, or that it waits for rules. Raises DataError."""
    from zodiac_sql.facts.load.load_file import predicate_of

    if file.options.prunes and (name := predicate_of(file.path, file.predicate)):
        file = replace(file, predicate=name)
        if name not in known_columns(collected.schema):
            collected.waiting.append(file)
            return
    _insert(collected, file)


def load_waiting(collected: Collected) -> None:
    """Load the files that have waited for rules: now all of them are known. Raises DataError."""
    waiting, collected.waiting = collected.waiting, []
    for file in waiting:
        assert file.predicate is not None
        read = None
        if file.predicate not in known_columns(collected.schema):
            read = _read_by_rules(collected, file.predicate)
        _insert_or_explain(collected, replace(file, options=replace(file.options, read=read)))


def staged(collected: Collected, file: File) -> Loaded:
    """Stage the facts of a file."""
    from zodiac_sql.facts.load.load_file import load_file  # late: most changes read no file

    return load_file(
        collected.store,
        file.path,
        collected.schema,
        predicate=file.predicate,
        skip_bad=file.skip_bad,
        options=file.options,
    )


def _insert(collected: Collected, file: File) -> None:
    """Collect the facts of a file."""
    with collected.timed("stage"):
        loaded = staged(collected, file)
        collected.prefixes = {**dict(loaded.prefixes), **collected.prefixes}
        for one in loaded.staged:
            collected.insert(one)
            if not loaded.facts:
                collected.declare(one.predicate)
    collected.loaded.append(loaded)


def _insert_or_explain(collected: Collected, file: File) -> None:
    """Collect the facts of a file. If it lacks columns that rules name, they are refused by it."""
    from zodiac_sql.facts.load.pruned import LackingError

    try:
        _insert(collected, file)
    except LackingError as error:
        assert file.predicate is not None
        columns = tuple(Column(name, None) for name in error.names)
        collected.name_columns(Declaration(file.predicate, columns))


def _read_by_rules(collected: Collected, predicate: str) -> ColumnsRead:
    """What the rules after the update say of the columns of a predicate."""
    edits, dropped = collected.rules, collected.rules.dropped
    kept = [rule for rule in collected.before.written() if rule.name not in dropped]
    came = (rule for arrival in edits.arrivals for rule in arrival.program.rules)
    return columns_read(predicate, [*kept, *came], edits.facts())
