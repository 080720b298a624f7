"""Commands for a file that another process has open, and serves.

The command finds that out when it would open the file. Then the server (serve/) runs it instead:
with what it has open, on this terminal, and with relative paths as they are meant here. So its
output and its status are those of the command itself.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import TYPE_CHECKING, Any, Protocol

from zodiac_sql.cli.endings import Refused
from zodiac_sql.cli.terminal import terminal_width
from zodiac_sql.serve.place import Place, place_of

if TYPE_CHECKING:
    from zodiac_sql.knowledge_base import KnowledgeBase
    from zodiac_sql.reader import Reader

ARGUMENTS = "zodiac_sql.arguments"
"""The key of a context that has the name of the command, and what follows it."""


class Host(Protocol):
    """What a server lends to a command that it runs."""

    def reading(self, limits: Mapping[str, Any]) -> AbstractContextManager[Reader]: ...

    def changing(self, limits: Mapping[str, Any]) -> AbstractContextManager[KnowledgeBase]: ...

    def pause(self, seconds: float) -> None:
        """Wait. Raises BrokenPipeError if the client has gone away."""


_host: ContextVar[Host | None] = ContextVar("host", default=None)


def host() -> Host | None:
    """The server that runs this command; None if nobody does."""
    return _host.get()


@contextmanager
def run_by(server: Host) -> Iterator[None]:
    """Inside the block, commands are run by a server."""
    token = _host.set(server)
    try:
        yield
    finally:
        _host.reset(token)


class ServedElsewhere(Exception):
    """Ends a command that its server is to run."""

    def __init__(self, place: Place) -> None:
        super().__init__(place.file)
        self.place = place


def require_not_served(db: str) -> None:
    """Raise ServedElsewhere if another process serves a file."""
    place = place_of(db)
    if place is not None and place.pid != os.getpid():
        raise ServedElsewhere(place)


class _Connection(HTTPConnection):
    """HTTP by the Unix socket of a server."""

    def __init__(self, place: Place) -> None:
        super().__init__("localhost")
        self._place = place

    def connect(self) -> None:
        self.sock = self._place.connect()


def run_elsewhere(place: Place, arguments: Sequence[str]) -> int:
    """Let the server run a command, print what it prints, and return its status."""
    told = {"arguments": arguments, "folder": os.getcwd(), "width": terminal_width()}
    headers = {"Authorization": f"Bearer {place.writing}", "Content-Type": "application/json"}
    connection = _Connection(place)
    try:
        connection.request("POST", "/command", json.dumps(told), headers)
        status = _printed(connection.getresponse())
    except (HTTPException, ConnectionError) as error:
        raise _ended(place) from error
    finally:
        connection.close()
    if status is None:
        raise _ended(place)
    return status


def _printed(answer: HTTPResponse) -> int | None:
    """Print an answer as it comes. Returns the status, if the answer came to its end."""
    for line in answer:
        told = json.loads(line)
        if "error" in told:
            raise Refused(told["error"])
        if "status" in told:
            return int(told["status"])
        output = sys.stderr if "err" in told else sys.stdout
        output.write(told.get("out", told.get("err", "")))
        output.flush()
    return None


def _ended(place: Place) -> Refused:
    return Refused(
        f"process {place.pid}, which serves {place.file}, ended before the command did. A change "
        "is in the file as a whole, or not at all."
    )
