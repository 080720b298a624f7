"""Commands for a file that another process has open, and serves.

The command finds that out when it would open the file. Then the server (serve/) runs it instead:
with what it has open, on this terminal, and with relative paths as they are meant here. So its
output and its status are those of the command itself.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol

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
