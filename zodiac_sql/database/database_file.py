"""The file that a store has open, and what is known of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from zodiac_sql.database.as_left import Identity
from zodiac_sql.database.check_file import Listed
from zodiac_sql.database.connection import Opened
from zodiac_sql.database.settings import Settings
from zodiac_sql.names import DERIVED_SCHEMA, EXPLICIT_SCHEMA, NODE_SCHEMA

SCHEMAS = ("zodiac", EXPLICIT_SCHEMA, DERIVED_SCHEMA, NODE_SCHEMA)
"""Our schemas in a database file."""


@dataclass(slots=True)
class DatabaseFile:
    """A database file, or memory."""

    path: str
    """As it was named."""
    read_only: bool = False
    settings: Settings = field(default_factory=dict)
    """Those of DuckDB that a user gave."""
    opened: Opened | None = None
    """As DuckDB has opened it, so that it can be opened once more; None if it never is."""
    real: Path = field(init=False)
    """The path, wherever the working directory moves, and without links, as DuckDB has it."""
    name: str = ""
    """DuckDB's name for the file, once it is open."""
    identity: Identity | None = None
    """Which file was opened, if that is sure (as_left.py)."""
    macros: tuple[Listed, ...] | None = None
    """The macros in a file that is as we make it; those that are ours may be left out."""

    def __post_init__(self) -> None:
        self.real = Path(self.path).resolve()

    @property
    def in_memory(self) -> bool:
        return self.path == ":memory:"
