"""The settings of DuckDB that more than one connection is opened or run with."""

from __future__ import annotations

Settings = dict[str, str | bool | int | float | list[str]]

NO_EXTENSIONS: Settings = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "allow_unsigned_extensions": False,
    "python_enable_replacements": False,
}
"""Nothing is installed or loaded because a statement or a file names it; and SQL that names a table
cannot mean a variable of the Python program."""

WRONG_OPTIMIZER = "common_subplan"
"""An optimizer of DuckDB's that makes rows of unions wrong from 1.5.1 to 1.5.6: it takes two joins
of the same tables for one, although other columns of them are used (duckdb/duckdb#25819)."""
