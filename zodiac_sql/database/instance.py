"""A database file that DuckDB has open in this process, and whether it can be trusted."""

from __future__ import annotations

import os
from dataclasses import dataclass
from weakref import WeakValueDictionary

from zodiac_sql.errors import StoreError


@dataclass(slots=True, weakref_slot=True)
class Instance:
    """A database file as DuckDB has it open, once for all connections of this process.

    It is `damaged` if a COMMIT has failed, or after an error that makes DuckDB refuse everything.
    Its memory may then differ from the file, and must never be written there.
    """

    damaged: bool = False


_instances: WeakValueDictionary[str, Instance] = WeakValueDictionary()
"""The instances of open files, by path."""


def instance_of(path: str) -> Instance:
    """The instance that a file is opened in. Raises StoreError if it is damaged."""
    if path == ":memory:":
        return Instance()
    known = _instances.setdefault(os.path.realpath(path), Instance())
    if known.damaged:
        raise StoreError(
            f"writing {path} has failed: the change is in it as a whole, or not at all. It can be "
            "opened again when all knowledge bases of this process that have it open are closed, "
            "or used once more (each opens it again then)."
        )
    return known
