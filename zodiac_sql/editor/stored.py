"""What a database knows of predicates, for editors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stored:
    """A predicate in a database: its columns as `s: symbol, o: int`, and how many facts it has."""

    columns: str
    explicit: int
    derived: int
    extension: int


@dataclass(frozen=True, slots=True)
class Database:
    """A database that is named. `read` returns what is there now; nothing if it cannot be read."""

    name: str = ""
    read: Callable[[], Mapping[str, Stored]] = dict
