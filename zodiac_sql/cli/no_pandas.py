"""Keeps pandas from being imported by the program, which has no use for it.

DuckDB imports it with the first statement that has a parameter, if it is there: 0.4 s and 40 MB.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from types import ModuleType


def hide_pandas() -> None:
    """Let DuckDB and Arrow, which ask for pandas, think that it is not installed."""
    sys.meta_path.insert(0, _NoPandas())


class _NoPandas(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> None:
        if fullname == "pandas":
            raise ModuleNotFoundError("the program zodiac does without pandas", name=fullname)
