"""Data frames of pandas -> Arrow tables.

A level of the index that has a name is a column, before the others: groupby and set_index make such
levels, and without them different rows would be one fact. An index without a name that counts the
rows is none. Another index without a name is refused, because it may hold what tells rows apart.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from zodiac_sql.errors import DataError
from zodiac_sql.facts.arrow_types import unsupported
from zodiac_sql.facts.python_values import beyond_64_bits, has_surrogate, in_64_bits, shown

if TYPE_CHECKING:
    import pyarrow as pa


def is_pandas(rows: object) -> bool:
    """Whether rows are a data frame of pandas, which need not be installed."""
    kind = type(rows)
    return kind.__name__ == "DataFrame" and kind.__module__.partition(".")[0] == "pandas"


def table_of(predicate: str, frame: Any) -> tuple[pa.Table, bool]:
    """A data frame as an Arrow table, and whether its columns have names. Raises DataError."""
    import pyarrow as pa

    frame = _with_index(predicate, frame)
    if twice := _first_repeated(list(frame.columns)):
        raise DataError(f"{predicate}: two columns are called {twice}. Rename one.")
    try:
        table = pa.Table.from_pandas(frame, preserve_index=False)
    except UnicodeEncodeError:
        raise DataError(
            f"{predicate}: {_half_of_a_pair(frame)} holds half of a surrogate pair, which is no "
            "character."
        ) from None
    except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
        raise DataError(_refused(predicate, frame, error)) from None
    return table, any(isinstance(label, str) for label in frame.columns)


def _with_index(predicate: str, frame: Any) -> Any:
    """The frame with the levels of its index that have names as its first columns."""
    index = frame.index
    named = [place for place, name in enumerate(index.names) if not _is_missing(name)]
    if len(named) < index.nlevels and not _counts_rows(index):
        raise DataError(
            f"{predicate}: the index of the data frame has no name, and holds {shown(index[0])}. "
            'Give it one, frame.rename_axis("name"), and it is a column; or leave it out: '
            "frame.reset_index(drop=True)."
        )
    return frame.reset_index(level=named, allow_duplicates=True) if named else frame


def _is_missing(name: object) -> bool:
    return name is None or (isinstance(name, float) and math.isnan(name))


def _counts_rows(index: Any) -> bool:
    return not len(index) or (index.nlevels == 1 and index.dtype.kind in "iu")


def _first_repeated(labels: Sequence[object]) -> str:
    """The first label that stands twice, as a name; empty if there is none."""
    names = list(map(str, labels))
    return next((shown(name) for at, name in enumerate(names) if name in names[:at]), "")


def _half_of_a_pair(frame: Any) -> str:
    """The first column with half of a surrogate pair, in its name or in a value, for a message."""
    for place, label in enumerate(frame.columns):
        for what, texts in (("the name of", [label]), ("", frame.iloc[:, place])):
            if any(isinstance(text, str) and has_surrogate(text) for text in texts):
                return f"{what} column {shown(label)}".strip()
    return "the data frame"


def _refused(predicate: str, frame: Any, error: Exception) -> str:
    """What is said of the first column that Arrow refuses."""
    import pyarrow as pa

    for place, label in enumerate(frame.columns):
        column = frame.iloc[:, place]
        try:
            pa.Array.from_pandas(column)
        except (pa.ArrowException, OverflowError, TypeError, ValueError):
            return _refused_column(predicate, str(label), column, error)
    return f"{predicate}: not a table ({_said(error)})."


def _refused_column(predicate: str, name: str, column: Any, error: Exception) -> str:
    where, kind = f"{predicate}: column {name}", str(column.dtype)
    if kind.startswith("Sparse"):
        return f"{where} has the type {kind}. Make it dense: frame[..].sparse.to_dense()."
    for at, value in enumerate(column):
        if isinstance(value, numbers.Integral) and not in_64_bits(value):
            return beyond_64_bits(where, value, at)
    if kind == "object":
        return f"{where}: {_said(error)}. Each column holds values of one type: convert it first."
    return unsupported(predicate, name, kind)


def _said(error: Exception) -> str:
    return " ".join(map(str, error.args)).rstrip(".")
