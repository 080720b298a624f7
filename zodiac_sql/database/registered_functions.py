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
    """Make a Python function callable from SQL. A result of None stands for no value.

    `arrow` tells that it takes and returns Arrow arrays. Raises FunctionError.
    """
    from duckdb.func import FunctionNullHandling, PythonUDFType

    try:
        store.connection.create_function(
            name,
            call,
            list(types),
            returns,
            type=PythonUDFType.ARROW if arrow else PythonUDFType.NATIVE,
            null_handling=FunctionNullHandling.SPECIAL,
            side_effects=True,  # else DuckDB computes a value that is also tested twice
        )
    except duckdb.Error as error:
        raise FunctionError(f"the function cannot be registered: {error}") from error


def remove_function(store: Store, name: str) -> None:
    """Take a Python function away again."""
    store.connection.remove_function(name)
