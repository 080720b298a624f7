"""Paths along edges."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

PATHS = "path(X, Y) :- edge(X, Y). path(X, Z) :- path(X, Y), edge(Y, Z)."


def rows(table: Any) -> list[tuple[Any, ...]]:
    if isinstance(table, pa.Table):
        return sorted(zip(*(column.to_pylist() for column in table.columns), strict=True))
    return sorted(table.fetchall())
