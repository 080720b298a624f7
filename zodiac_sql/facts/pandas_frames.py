"""Data frames and series of pandas -> Arrow tables.

A level of the index that has a name is a column, before the others: groupby and set_index make such
levels, and without them different rows would be one fact. An index without a name that counts the
rows is none. Another index without a name is refused, because it may hold what tells rows apart.
A series is a frame with one column. Of columns with several levels of names, as agg makes them, the
names are joined: celsius_min.
"""

from __future__ import annotations

import itertools
import math
import numbers
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from zodiac_sql.errors import DataError
from zodiac_sql.facts.arrow_types import unsupported
from zodiac_sql.facts.python_values import beyond_64_bits, has_surrogate, in_64_bits, shown
from zodiac_sql.facts.tuple_columns import TupleColumn, column_of

if TYPE_CHECKING:
    import pyarrow as pa


def is_pandas(rows: object) -> bool:
    """Whether rows are a data frame or a series of pandas, which need not be installed."""
    return _is(rows, "DataFrame") or (_is(rows, "Series") and not _is_of_tuples(rows))


def _is(rows: object, name: str) -> bool:
    kind = type(rows)
    return kind.__name__ == name and kind.__module__.partition(".")[0] == "pandas"


def _is_of_tuples(series: Any) -> bool:
    """Whether a series holds rows, as a list of tuples does."""
    return str(series.dtype) == "object" and any(isinstance(value, tuple) for value in series)


def table_of(
    predicate: str, rows: Any, explode: Collection[str] = ()
) -> tuple[pa.Table, bool, Sequence[str]]:
    """A data frame or series as an Arrow table, whether its columns have names, and which of them
    hold terms of all kinds, or lists of these to `explode`. Raises DataError.
    """
    import pyarrow as pa

    frame = _framed(rows) if _is(rows, "Series") else rows
    frame = _with_index(predicate, _with_one_level(frame))
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
        frame, terms = _with_terms(predicate, frame, explode)
        if not terms:
            raise DataError(_refused(predicate, frame, error)) from None
        table, labelled, more = table_of(predicate, frame, explode)
        return table, labelled, [*terms, *more]
    return table, any(isinstance(label, str) for label in frame.columns), ()


def _with_one_level(frame: Any) -> Any:
    """The frame with one name for each column; what is empty in a level adds nothing to it."""
    if frame.columns.nlevels == 1:
        return frame
    names = ["_".join(str(part) for part in label if part != "") for label in frame.columns]
    return frame.set_axis(names, axis="columns")


def _framed(series: Any) -> Any:
    """A series as a data frame. Beside an index with a name, the values need one, too."""
    is_keyed = any(not _is_missing(name) for name in series.index.names)
    return series.to_frame(_VALUE) if series.name is None and is_keyed else series.to_frame()


_VALUE = "value"
"""The column of a series that has no name."""


def _with_terms(predicate: str, frame: Any, explode: Collection[str]) -> tuple[Any, list[str]]:
    """The frame with texts of terms for objects of several kinds, and the names of their columns.

    Columns with something else than the values of facts stay as they are.
    """
    import pyarrow as pa

    found: dict[Any, Any] = {}
    for label in frame.columns:
        column = frame[label]
        if str(column.dtype) != "object":
            continue
        try:
            pa.Array.from_pandas(column)
        except (pa.ArrowException, OverflowError, TypeError, ValueError):
            where = TupleColumn(predicate, str(label), None, False, False)
            made = _list_terms if str(label) in explode else _terms
            texts = made(where, list(column))
            if texts is not None:
                found[label] = texts
    return _replaced(frame, found), list(map(str, found))


def _terms(where: TupleColumn, values: list[Any]) -> list[Any] | None:
    """The texts of the terms that values are, None for those that are missing.

    There is no answer if values are of one type. Raises DataError for what can be in no fact.
    """
    import pandas as pd

    there = pd.Series(values, dtype=object).notna()
    array, is_of_terms = column_of(where, tuple(itertools.compress(values, there)))
    if not is_of_terms:
        return None
    texts = iter(array.to_pylist())
    return [next(texts) if is_there else None for is_there in there]


def _list_terms(where: TupleColumn, values: list[Any]) -> list[Any] | None:
    """The same of values in lists, if there are no lists or objects in these.

    A value that is no list stands for itself.
    """
    lists = [list(value) if _is_list(value) else [value] for value in values]
    elements = list(itertools.chain.from_iterable(lists))
    if any(_is_list(value) or isinstance(value, dict) for value in elements):
        return None
    texts = _terms(where, elements)
    if texts is None:
        return None
    rest = iter(texts)
    return [[next(rest) for _ in one] for one in lists]


def _is_list(value: object) -> bool:
    return isinstance(value, (list, tuple)) or type(value).__name__ == "ndarray"


def _replaced(frame: Any, columns: dict[Any, Any]) -> Any:
    frame = frame.copy(deep=False)
    for label, values in columns.items():
        frame[label] = values
    return frame


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
    new = [place for place in named if not _is_column(predicate, frame, place)]
    return frame.reset_index(level=new, allow_duplicates=True) if new else frame


def _is_column(predicate: str, frame: Any, place: int) -> bool:
    """Whether a column has the name and the values of a level of the index, as by
    set_index(drop=False). Raises DataError if it has the name alone.
    """
    import pandas as pd

    name = str(frame.index.names[place])
    columns = [frame.iloc[:, at] for at, label in enumerate(frame.columns) if str(label) == name]
    if not columns:
        return False
    level = frame.index.get_level_values(place)
    if any(level.equals(pd.Index(column)) for column in columns):
        return True
    raise DataError(
        f"{predicate}: the index and a column are both called {shown(name)}, and differ. Leave the "
        "index out, frame.reset_index(drop=True), or give it another name: frame.rename_axis(..)."
    )


def _is_missing(name: object) -> bool:
    return name is None or (isinstance(name, float) and math.isnan(name))


def _counts_rows(index: Any) -> bool:
    """Whether an index holds whole numbers alone, of any type: pandas may keep them as objects."""
    from pandas.api.types import infer_dtype

    if not len(index):
        return True
    return bool(index.nlevels == 1 and infer_dtype(index, skipna=False) == "integer")


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
