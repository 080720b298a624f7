"""What a user can say of rows that are to become facts: of their columns, lists and empty cells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypedDict

from zodiac_sql.database.limits import require_known
from zodiac_sql.errors import DataError

READ = "read"
"""The word for the columns that rules name."""


NESTED = (
    'Of a list, explode="tags" makes a fact of each element; of an object, '
    'columns={"address.city": "city"} takes a part.'
)
"""What to do with values that hold others."""


class RowKeywords(TypedDict, total=False):
    """The keyword arguments of `insert` and `delete` that are about rows."""

    nulls: str | Mapping[str, object]
    columns: Literal["read"] | Iterable[str] | Mapping[str, str]
    explode: str | Iterable[str]


@dataclass(frozen=True, slots=True)
class RowOptions:
    """How rows become facts.

    Of each list in the columns `explode`, every element makes a row. Then `columns` has the columns
    that are taken, in order, with the names that they get; either may name a part of nested values
    (nested_names.py). Rows with an empty cell are left out if `skips_rows`, after the cells of the
    columns in `fills` got a value.
    """

    skips_rows: bool = False
    fills: Mapping[str, object] | None = None
    columns: Mapping[str, str] | None = None
    explode: tuple[str, ...] = ()

    @property
    def picks(self) -> bool:
        """Whether rows come or go, or cells get values."""
        return bool(self.explode or self.fills or self.skips_rows)

    def names_in(self, columns: Sequence[str]) -> list[str]:
        """The names of columns when lists have become rows: those inside others are some, too."""
        return [*columns, *(name for name in self.explode if name not in columns)]


AS_THEY_ARE = RowOptions()


def row_options_of(given: RowKeywords) -> RowOptions:
    """Options of rows at hand. Raises DataError, or TypeError for an unknown keyword."""
    if given.get("columns") == READ:
        raise DataError(
            f'columns="{READ}" is for files, of which only those columns are read that rules name. '
            "Name the columns of these rows."
        )
    require_known(given, (*RowKeywords.__annotations__, "check"))
    return RowOptions(**described(given))  # type: ignore[arg-type]


def described(given: RowKeywords) -> dict[str, object]:
    """The fields of RowOptions that keyword arguments tell, and other arguments. Raises DataError.

    Columns that rules name are not among them.
    """
    rest = {key: value for key, value in given.items() if key not in RowKeywords.__annotations__}
    nulls, explode = given.get("nulls"), given.get("explode")
    nulls = "refuse" if nulls is None else nulls
    if nulls not in ("refuse", "skip-row") and not isinstance(nulls, Mapping):
        raise DataError(
            'nulls is "refuse", "skip-row", or the values of empty cells by column, '
            f'{{"celsius": 0}}: {nulls!r} is none of them.'
        )
    columns = given.get("columns")
    return {
        "skips_rows": nulls == "skip-row",
        "fills": dict(nulls) if isinstance(nulls, Mapping) else None,
        "columns": None if columns == READ else _columns(columns),
        "explode": _exploded(() if explode is None else explode),
        **rest,
    }


def _columns(given: Iterable[str] | Mapping[str, str] | None) -> Mapping[str, str] | None:
    if given is None:
        return None
    if isinstance(given, str):
        raise DataError(
            f'columns is a list of names, [{given!r}], or "read": those that rules name.'
        )
    if not isinstance(given, Iterable):
        raise DataError(f'columns is a list of names, ["celsius"]: {given!r} is none.')
    found = dict(given) if isinstance(given, Mapping) else {name: name for name in given}
    if wrong := [name for pair in found.items() for name in pair if not isinstance(name, str)]:
        raise DataError(f"columns has names of columns, which are text: {wrong[0]!r} is none.")
    names = [name.lower() for name in found.values()]
    if not found or len(set(names)) < len(names):
        raise DataError("columns names at least one column, and no two by the same name.")
    return found


def _exploded(given: str | Iterable[str]) -> tuple[str, ...]:
    if not isinstance(given, Iterable):
        raise DataError(f"explode is the name of a column, or a list of names: {given!r} is none.")
    names = (given,) if isinstance(given, str) else tuple(given)
    if wrong := [name for name in names if not isinstance(name, str)]:
        raise DataError(f"explode has names of columns, which are text: {wrong[0]!r} is none.")
    if len(set(names)) < len(names):
        raise DataError("explode names no column twice.")
    return names
