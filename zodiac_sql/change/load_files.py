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
    from zodiac_sql.change.baseline import Baseline
    from zodiac_sql.change.collected import Collected
    from zodiac_sql.database.store import Store
    from zodiac_sql.facts.load.options import Options
    from zodiac_sql.facts.load.result import Loaded
    from zodiac_sql.language.schema import Schema
    from zodiac_sql.program.rule_edits import RuleEdits


@dataclass(frozen=True, slots=True)
class File:
    """A file to be loaded: `predicate` is that of its rows, if it is a table."""

    path: Path
    predicate: str | None
    options: Options


def load(collected: Collected, file: File) -> None:
    """Collect the facts of a file, or that it waits for rules. Raises DataError."""
    from zodiac_sql.facts.load.load_file import predicate_of

    if file.options.prunes and (name := predicate_of(file.path, file.predicate)):
        file = replace(file, predicate=name)
        if name not in known_columns(collected.edits.provisional):
            collected.request.waiting.append(file)
            return
    _insert(collected, file)


def load_waiting(collected: Collected) -> None:
    """Load the files that have waited for rules: now all of them are known. Raises DataError."""
    for file in collected.request.waiting:
        assert file.predicate is not None
        read = None
        if file.predicate not in known_columns(collected.edits.provisional):
            read = _read_by_rules(collected.before, collected.request.rules, file.predicate)
        _insert_or_explain(collected, replace(file, options=replace(file.options, read=read)))


def staged(store: Store, schema: Schema, file: File) -> Loaded:
    """Stage the facts of a file."""
    from zodiac_sql.facts.load.load_file import load_file  # late: most changes read no file

    return load_file(store, file.path, schema, predicate=file.predicate, options=file.options)


def _insert(collected: Collected, file: File) -> None:
    """Collect the facts of a file."""
    edits, report = collected.edits, collected.report
    with report.timed("stage"):
        loaded = staged(collected.before.store, collected.schema_for_facts(), file)
        edits.prefixes = {**dict(loaded.prefixes), **edits.prefixes}
        for one in loaded.staged:
            collected.insert(one, empty=not loaded.facts)
    report.of_files += loaded.notes


def _insert_or_explain(collected: Collected, file: File) -> None:
    """Collect the facts of a file. If it lacks columns that rules name, they are refused by it."""
    from zodiac_sql.facts.load.pruned import LackingError

    try:
        _insert(collected, file)
    except LackingError as error:
        assert file.predicate is not None
        columns = tuple(Column(name, None) for name in error.names)
        declared = Declaration(file.predicate, columns)
        collected.report.problems += collected.edits.name_columns(declared)


def _read_by_rules(before: Baseline, edits: RuleEdits, predicate: str) -> ColumnsRead:
    """What the rules after the update say of the columns of a predicate."""
    dropped = edits.dropped
    kept = [rule for rule in before.written() if rule.name not in dropped]
    came = (rule for arrival in edits.arrivals for rule in arrival.program.rules)
    return columns_read(predicate, [*kept, *came], edits.facts())
