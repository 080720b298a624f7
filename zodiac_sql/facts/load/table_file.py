"""A table read from a file into the temporary table zodiac_rows, and the lines of its rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from zodiac_sql.database.other_connections import connect_outside
from zodiac_sql.database.statements import temp_table
from zodiac_sql.database.store import Store
from zodiac_sql.errors import DataError
from zodiac_sql.facts.load import cells
from zodiac_sql.facts.load.buffers import sized
from zodiac_sql.facts.load.lines import READ_LINES, true_lines
from zodiac_sql.facts.load.result import MOST_LISTED, Skipped
from zodiac_sql.facts.load.source import SourceFile
from zodiac_sql.language.schema import Staged
from zodiac_sql.names import NUMBER

ROWS = "zodiac_rows"
"""The temporary table."""

_WITH_HEADER = (".csv", ".tsv")
"""The files whose first line names the columns."""

_JSON_LINES = (".jsonl", ".ndjson")


_PLACES = (
    "SELECT place, number FROM ("
    "SELECT row_number() OVER (ORDER BY number) - $header AS place, number"
    f" FROM (SELECT row_number() OVER () AS number, line FROM ({READ_LINES}))"
    " WHERE line IS NOT NULL AND number NOT IN (SELECT unnest($gone::BIGINT[])))"
    " WHERE place IN (SELECT unnest($rows::BIGINT[]))"
)
"""The lines of rows that were read."""


@dataclass(frozen=True, slots=True)
class TableFile:
    """A file read into zodiac_rows, and the lines that are missing there."""

    store: Store
    file: SourceFile
    suffix: str
    syntaxes: Mapping[str, cells.Syntax]
    """How the cells of each column are written, by its name."""
    rejected: tuple[Skipped, ...] = ()
    """The lines that were not read, by their places in the data (`SourceFile.data`)."""
    named: bool = True
    """Whether the names of its columns mean anything; else they stand in the predicate's order."""
    header: bool = True
    """Whether its first line names the columns, if it is CSV."""
    notes: tuple[str, ...] = ()
    """How the file was read, where people may not expect it."""
    is_multiline: bool = False
    """Whether a column that is not taken has texts with line breaks."""
    uneven: tuple[Skipped, ...] = ()
    """The first rows that are gone, because lists in them should have the same length."""
    uneven_count: int = 0
    numbered: bool = False
    """Whether lists have become rows: then the column NUMBER of zodiac_rows, which is no column of
    the file, has the row of the file that each was."""

    def __post_init__(self) -> None:
        """Raise DataError for a name that cannot stand in SQL."""
        for name in self.syntaxes:
            if "\0" in name:
                raise DataError(
                    f"{self.file.path}: no column can be called {name!r}: a name has no NUL. "
                    "Nothing was loaded."
                )

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.syntaxes)

    def place(self, row: int) -> str:
        """The name of a row of zodiac_rows in messages."""
        line, path = self.lines([row]).get(row), self.file.path
        if line is not None:
            return f"line {line} of {path}"
        return f"row {self._in_file([row])[row]} of {path}"

    def _in_file(self, rows: Sequence[int]) -> dict[int, int]:
        """The rows of the file that rows of zodiac_rows were."""
        if not self.numbered:
            return {row: row for row in rows}
        row, given = exp.column("rowid") + 1, [exp.Literal.number(row) for row in rows]
        query = exp.select(row, _NUMBER.copy()).from_(temp_table(ROWS))
        return dict(self.store.rows(query.where(row.copy().isin(*given))))

    def lines(self, rows: Sequence[int]) -> dict[int, int]:
        """The line numbers of rows; none if a row of this file may have several lines.

        This reads the file again, so it is for errors only.
        """
        if self.suffix in (".parquet", ".json") or self.multiline():
            return {}
        header = 1 if self.suffix in _WITH_HEADER and self.header else 0
        gone = [bad.line for bad in self.rejected]
        in_file = self._in_file(rows)
        wanted = sorted({*in_file.values()})
        options = {"path": self.file.unglobbed, "gone": gone, "header": header, "rows": wanted}
        with connect_outside(self.store) as outside:
            found = dict(outside.rows(sized(outside, _PLACES), options))
        true = true_lines(self.file.data, found.values())
        return {
            row: self.file.line(true[found[place]])
            for row, place in in_file.items()
            if place in found
        }

    def rejected_in_file(self) -> list[Skipped]:
        """The lines that were rejected, with their places in the file."""
        return [
            bad if bad.line is None else replace(bad, line=self.file.line(bad.line))
            for bad in self.rejected
        ]

    def multiline(self) -> bool:
        """Whether some text contains a line break. In JSON lines none does."""
        if self.suffix not in _WITH_HEADER or self.is_multiline:
            return self.is_multiline
        pattern = exp.Literal.string("%\n%")
        breaks = [exp.column(name, quoted=True).like(pattern) for name in self.names]
        return bool(breaks) and self.store.count(count_where(exp.or_(*breaks))) > 0

    def has_gaps(self) -> bool:
        """Whether some row lacks a value."""
        counts = [exp.Count(this=exp.column(name, quoted=True)) for name in self.names]
        (found,) = self.store.rows(
            exp.select(exp.Count(this=exp.Star()), *counts).from_(temp_table(ROWS))
        )
        return len(set(found)) > 1

    def gaps(self) -> tuple[int, list[Skipped]]:
        """How many rows lack a value, and the first of these rows."""
        count, found = self.refused(
            {name: is_empty(name) for name in self.names},
            lambda name, *_: f"column {name} is empty",
        )
        if self.suffix not in _JSON_LINES:
            return count, found
        # DuckDB makes a row without values of a line that is no JSON.
        nothing = "it is no JSON, or has none of the columns"
        return count, [one if one.text else replace(one, reason=nothing) for one in found]

    def refused(
        self, faults: Mapping[str, exp.Expr], reason: Callable[[str, str, int], str]
    ) -> tuple[int, list[Skipped]]:
        """How many rows of the file have a fault, given by column, and the first rows with one."""
        condition = exp.or_(*faults.values())
        each = exp.Distinct(expressions=[_NUMBER.copy()]) if self.numbered else exp.Star()
        faulty = exp.select(exp.Count(this=each)).from_(temp_table(ROWS)).where(condition)
        count = self.store.count(faulty)
        if not count:
            return 0, []
        first, held = exp.case(), exp.case()
        for name, fault in faults.items():
            first = first.when(fault, exp.Literal.string(name))
            held = held.when(fault, self.written(name))
        texts = [self.written(name) for name in self.names]
        shown = exp.func("concat_ws", exp.Literal.string(","), *texts, dialect="duckdb")
        row = exp.column("rowid") + 1
        query = exp.select(row, first, held, shown).from_(temp_table(ROWS)).where(condition)
        found = self.store.rows(query.order_by("rowid").limit(MOST_LISTED))
        lines = self.lines([row for row, *_ in found])
        return count, [
            Skipped(lines.get(row), text, reason(name, value, row))
            for row, name, value, text in found
        ]

    def written(self, column: str) -> exp.Expr:
        """The cells of a column as the file has them."""
        cell: exp.Expr = exp.column(column, quoted=True)
        if self.syntaxes[column] is cells.STRING:
            cell = exp.func("to_json", cell, dialect="duckdb")
        return exp.cast(cell, "VARCHAR")

    def drop(self, faults: Sequence[exp.Expr], *, whole: bool = False) -> None:
        """Delete the rows with a fault; if `whole`, with all that their rows of the file gave."""
        condition = exp.or_(*faults)
        if whole and self.numbered:
            bad = exp.select(_NUMBER.copy()).from_(temp_table(ROWS)).where(condition)
            condition = exp.In(this=_NUMBER.copy(), query=bad.subquery(copy=False))
        self.store.run(exp.delete(temp_table(ROWS)).where(condition))


_NUMBER = exp.column(NUMBER, quoted=True)


def is_empty(column: str) -> exp.Expr:
    return exp.column(column, quoted=True).is_(exp.null())


def count_where(condition: exp.Expr) -> exp.Select:
    return exp.select(exp.Count(this=exp.Star())).from_(temp_table(ROWS)).where(condition)


def count_facts(store: Store, staged: Staged) -> int:
    return store.count(exp.select(exp.Count(this=exp.Star())).from_(temp_table(staged.table)))
