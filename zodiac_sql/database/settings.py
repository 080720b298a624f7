"""The settings of DuckDB that several kinds of connections share."""

from __future__ import annotations

import enum
import re

Settings = dict[str, str | bool | int | float | list[str]]

NO_EXTENSIONS: Settings = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "allow_unsigned_extensions": False,
    "python_enable_replacements": False,
}
"""With these, DuckDB installs or loads no extension that a statement or a file names, and a name of
a table in SQL cannot mean a variable of the Python program."""

WRONG_OPTIMIZER = "common_subplan"
"""An optimizer of DuckDB that made rows of unions wrong from 1.5.1 to 1.5.6: it treated two joins
of the same tables as one, although they used different columns (duckdb/duckdb#25819). 2.0.1 has
that mended, but this optimizer has been wrong in other ways before."""

SIDES_OPTIMIZER = "build_side_probe_side"
"""The optimizer that swaps the sides of joins by the numbers of their rows (optimizers.py)."""

LOSING_OPTIMIZERS = ("column_lifetime", "compressed_materialization")
"""Optimizers of DuckDB 1.5.6 that sometimes lose columns of cyclic joins, and end in an internal
error. A statement for which they do is planned without them."""

NOT_PLANNED = ("Failed to bind column reference", "Attempted to access index")
"""What DuckDB then says."""


class StorageVersion(enum.StrEnum):
    """The forms in which DuckDB writes files. It reads those of all versions up to its own."""

    V1_0 = "v1.0.0"
    V1_2 = "v1.2.0"
    V1_3 = "v1.3.0"
    V1_4 = "v1.4.0"
    V1_5 = "v1.5.0"
    V2_0 = "v2.0.0"


STORAGE_VERSION = StorageVersion.V1_0.value
"""That of new files. Later ones take as much space and time, and fewer clients can read them."""


def require_storage_version(version: str) -> None:
    """Raise ValueError for a form of files that DuckDB does not write."""
    if version not in list(StorageVersion):
        known = ", ".join(StorageVersion)
        raise ValueError(f"storage_version is one of {known}; not {version!r}")


_SIZE = re.compile(r"\s*([0-9.]+)\s*(?:([kmgt])(i?))?b(?:ytes)?\s*", re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def memory_limit_of(settings: Settings) -> int | None:
    """The memory limit in bytes; None if there is none, or it is no number of bytes."""
    found = _SIZE.fullmatch(str(settings.get("memory_limit", "")))
    if found is None:
        return None
    base = 1024 if found[3] else 1000
    return int(float(found[1]) * base ** _POWERS[(found[2] or "").lower()])
