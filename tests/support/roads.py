"""A small road map: what tests of the journal make changes of, and how they look at its file."""

from __future__ import annotations

import shutil
from pathlib import Path

RULES = """
    path(X, Y) :- edge(X, Y).
    path(X, Z) :- path(X, Y), edge(Y, Z).
    far(X, Y) :- path(X, Y), not edge(X, Y).
"""


def as_if_killed(path: Path, folder: Path) -> Path:
    """The file and its log as they are while they are open, at another place."""
    folder.mkdir()
    left = folder / path.name
    for end in ("", ".wal"):
        if Path(f"{path}{end}").exists():
            shutil.copy(f"{path}{end}", f"{left}{end}")
    return left
