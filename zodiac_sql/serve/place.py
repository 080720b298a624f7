"""The file beside a database that tells where the process that has it open answers.

`farm.duckdb.server` is readable to its owner only, because it has the tokens. It may be left by a
server that was killed, or be copied with the database. So a place counts only if it names this very
file, and if somebody answers there.
"""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from socket import socket as Socket

_LONGEST = 100
"""Addresses of sockets have at most 104 or 108 bytes, by system."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where the server of a file answers, and with which tokens."""

    file: str
    """The real path of the database."""
    pid: int
    socket: str
    """The path of the Unix socket; empty where the system has none."""
    url: str
    """The address on loopback."""
    reading: str
    """The token with which one may only read."""
    writing: str

    def save(self) -> None:
        """Write the file beside the database, at once and only for its owner."""
        import tempfile

        path = path_of(self.file)
        number, made = tempfile.mkstemp(prefix=f"{path.name}.", dir=path.parent)  # mode 0600
        try:
            with os.fdopen(number, "w", encoding="utf-8") as file:
                json.dump(asdict(self), file, indent=2)
            os.replace(made, path)
        except BaseException:
            os.unlink(made)
            raise

    def remove(self) -> None:
        """Remove the file, unless it is that of another server by now, and the socket."""
        if _read(path_of(self.file)) == self:
            path_of(self.file).unlink(missing_ok=True)
        if self.socket:
            Path(self.socket).unlink(missing_ok=True)

    def connect(self) -> Socket:
        """A connection to the Unix socket. Raises OSError if nobody answers."""
        import socket  # late: it is needed only where there is a server

        found = socket.socket(socket.AF_UNIX)
        try:
            found.connect(self.socket)
        except BaseException:
            found.close()
            raise
        return found


def path_of(database: str | Path) -> Path:
    """The file that tells of the server of a database."""
    return Path(f"{os.path.realpath(database)}.server")


def socket_of(database: str) -> str:
    """Where the socket of a database is to be: beside it, or, if that is too long, elsewhere."""
    beside = f"{os.path.realpath(database)}.socket"
    if len(os.fsencode(beside)) <= _LONGEST:
        return beside
    import tempfile

    return os.path.join(tempfile.mkdtemp(prefix="zodiac_"), "socket")  # mode 0700


def place_of(database: str | Path) -> Place | None:
    """Where the server of a database answers; None if there is none."""
    path = path_of(database)
    place = _read(path)
    if place is None or place.file != os.path.realpath(database):
        return None
    with contextlib.suppress(OSError):
        if not _is_ours(path):
            return None
        place.connect().close()
        return place
    return None


def _read(path: Path) -> Place | None:
    try:
        return Place(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def _is_ours(path: Path) -> bool:
    """Whether nobody else can have written the file."""
    found = path.stat()
    return found.st_uid == os.geteuid() and not found.st_mode & 0o077
