"""A file of a table that has no rows, so that nothing in it tells the columns."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from zodiac_sql.database.statements import create_temp
from zodiac_sql.database.store import Store
from zodiac_sql.errors import DataError
from zodiac_sql.facts.load.options import Options
from zodiac_sql.facts.load.source import SourceFile
from zodiac_sql.facts.load.table_file import ROWS
from zodiac_sql.language.schema import Predicate


def without_rows(
    store: Store, file: SourceFile, options: Options, known: Predicate | None
) -> Sequence[str]:
    """Create an empty zodiac_rows, and return the names of its columns.

    They are those that are chosen, or of the predicate. Raises DataError if there are none.
    """
    names = [*(options.columns or ())]
    if not names and known is not None:
        names = [column.name for column in known.columns]
    if not names:
        raise DataError(
            f"{file.path} is empty: nothing tells the columns of its predicate. Name them by "
            "`columns`, or declare the predicate."
        )
    nothing = (exp.cast(exp.null(), "VARCHAR").as_(name, quoted=True) for name in names)
    store.run(create_temp(ROWS, exp.select(*nothing).limit(0)))
    return names
