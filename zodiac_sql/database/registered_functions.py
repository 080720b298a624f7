"""Python functions that SQL can call on a connection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import duckdb

from zodiac_sql.database.store import Store
from zodiac_sql.errors import FunctionError


def add_function(
    store: Store,
    name: str,
    call: Callable[..., Any],
    types: Sequence[str],
    returns: str,
    arrow: bool,
) -> None:
    """Make a Python function callable from SQL. A result of None means no value.

    With `arrow`, the function takes and returns Arrow arrays. Raises FunctionError.
    """
    from duckdb.func import FunctionNullHandling, PythonUDFType

    try:
        store.connection.duckdb.create_function(
            name,
            call,
            list(types),
            returns,
            type=PythonUDFType.ARROW if arrow else PythonUDFType.NATIVE,
            null_handling=FunctionNullHandling.SPECIAL,
            side_effects=True,  # else DuckDB computes a value twice that is also tested
        )
    except duckdb.Error as error:
        raise FunctionError(f"the function cannot be registered: {error}") from error


def remove_function(store: Store, name: str) -> None:
    """Remove a Python function from SQL."""
    store.connection.duckdb.remove_function(name)
