"""Starts and ends the server of a knowledge base."""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
import time
import weakref
from collections.abc import Collection, Iterable
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Self, TypedDict

from zodiac_sql import garbage
from zodiac_sql.database.instance import Served
from zodiac_sql.database.limits import Limits
from zodiac_sql.errors import BusyError, QueryError, StoreError
from zodiac_sql.serve.place import Place, socket_of

if TYPE_CHECKING:
    import uvicorn

    from zodiac_sql.knowledge_base import KnowledgeBase
    from zodiac_sql.serve.service import Service

_LOOPBACK = ("127.0.0.1", "localhost", "::1")

_STARTING = 10.0
"""Seconds in which a server must have begun to answer."""


class Serving(TypedDict, total=False):
    """How a knowledge base is served; `Server` tells what each means."""

    host: str
    port: int
    origins: Iterable[str]
    timeout: float | None
    max_rows: int | None
    readers: int


class Server:
    """Lets others ask and change a knowledge base. Get one from `KnowledgeBase.serve`.

    It answers in threads of its own, on a Unix socket beside the file and on `url`, as long as it
    is not stopped and the knowledge base is open. The program goes on as before; its changes and
    those of the server take turns. Whoever has the `reading_token` may ask, whoever has the
    `writing_token` may change. Both are in the file `farm.duckdb.server`, which only its owner can
    read, and by which `zodiac` finds the server.

    `host` and `port`: the address; without a port, one that is free. Only loopback, unless another
    host is named. `origins`: pages of other origins that may ask, such as "https://yasgui.org".
    `timeout` (seconds) and `max_rows` limit each request, None does not. `readers`: so many
    questions are answered at the same time.
    """

    def __init__(
        self,
        kb: KnowledgeBase,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        origins: Iterable[str] = (),
        timeout: float | None = 60.0,
        max_rows: int | None = 1_000_000,
        readers: int = 4,
    ) -> None:
        _require_installed()
        from zodiac_sql.serve.resources import Resources
        from zodiac_sql.serve.service import Service

        kb._session.guard.require_own_process()
        self.reading_token, self.writing_token = (
            secrets.token_urlsafe(24),
            secrets.token_urlsafe(24),
        )
        file = kb._session.held.file
        if kb._session.held.connection.instance.served:
            raise BusyError(f"{file.path} is served by this process already")
        path = file.path if file.in_memory else os.path.realpath(file.path)
        listening = _listening(host, port)
        self.url = _url(host, listening)
        sockets = [listening]
        address = ""
        if not file.in_memory and hasattr(socket, "AF_UNIX"):
            address = socket_of(path)
            sockets.append(_unix_socket(address))
        resources = Resources(kb, readers)
        self._service = Service(path, resources, Limits(timeout, max_rows))
        self._origins = tuple(origins)
        self._hosts = (*_LOOPBACK, host) if host in _LOOPBACK else None
        self._servers: list[uvicorn.Server] = []
        self._thread = Thread(
            target=_run, args=(weakref.ref(self), self._service, sockets), name="zodiac-serve",
            daemon=True,
        )  # fmt: skip
        self._place: Place | None = None
        self._has_set_aside = False
        history = self._service.history
        mark = Served(history.hears, history.sees, resources.renew, self.stop, kb._session)
        resources.serves(mark)
        self._begin(address, path)

    def _begin(self, address: str, path: str) -> None:
        """Let the thread begin, and say where it answers."""
        self._thread.start()
        until = time.monotonic() + _STARTING
        while not (self._servers and all(one.started for one in self._servers)):
            if not self._thread.is_alive() or time.monotonic() > until:
                self.stop()
                raise StoreError(f"the server of {path} did not begin to answer at {self.url}")
            time.sleep(0.002)
        self._has_set_aside = garbage.set_aside()
        if address:
            self._place = Place(
                path, os.getpid(), address, self.url, self.reading_token, self.writing_token
            )
            self._place.save()

    def stop(self) -> None:
        """End: answers that are under way are cancelled, changes that are being written are not."""
        if self._place is not None:
            self._place.remove()
            self._place = None
        self._service.running.cancel()
        for one in self._servers:
            one.should_exit = True
        self._thread.join()
        self._service.running.close()
        self._service.resources.close()
        if self._has_set_aside:
            garbage.take_back()
            self._has_set_aside = False

    @property
    def stopped(self) -> bool:
        """Whether it answers no more."""
        return not self._thread.is_alive()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        state = "stopped" if self.stopped else f"at {self.url}"
        return f"<zodiac_sql server of {self._service.path} {state}>"


def _require_installed() -> None:
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise QueryError(
            "a server needs starlette and uvicorn: pip install 'zodiac-sql[serve]'"
        ) from error


def _listening(host: str, port: int) -> socket.socket:
    """A socket at an address. Raises StoreError if that is not free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # By its protocol asyncio knows that small answers are to be sent at once (TCP_NODELAY).
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((host, port))
    except OSError as error:
        found.close()
        raise StoreError(f"no server can be at {host}:{port}: {error.strerror}") from error
    return found


def _url(host: str, listening: socket.socket) -> str:
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{listening.getsockname()[1]}"


def _unix_socket(address: str) -> socket.socket:
    """A Unix socket for its owner only. One that a killed server has left is removed."""
    Path(address).unlink(missing_ok=True)
    found = socket.socket(socket.AF_UNIX)
    try:
        found.bind(address)
        os.chmod(address, 0o600)
    except OSError as error:
        found.close()
        raise StoreError(f"no socket can be made at {address}: {error.strerror}") from error
    return found


def _run(server: weakref.ref[Server], service: Service, sockets: Collection[socket.socket]) -> None:
    """What the thread does: it answers until it is told to end."""
    asyncio.run(_answer(server, service, sockets))


async def _answer(
    server: weakref.ref[Server], service: Service, sockets: Collection[socket.socket]
) -> None:
    import uvicorn

    from zodiac_sql.serve.access import Access
    from zodiac_sql.serve.app import app_of
    from zodiac_sql.serve.page_files import OPEN_PATHS

    here = server()
    assert here is not None
    app = app_of(service)
    for one in sockets:
        by_socket = one.family not in (socket.AF_INET, socket.AF_INET6)
        access = Access(
            app, here.reading_token, here.writing_token, here._hosts, here._origins, by_socket,
            OPEN_PATHS,
        )  # fmt: skip
        config = uvicorn.Config(
            access, log_config=None, access_log=False, lifespan="off", http="h11", ws="none",
            loop="asyncio", timeout_graceful_shutdown=2,
        )  # fmt: skip
        here._servers.append(uvicorn.Server(config))
    servers = tuple(here._servers)
    del here
    await asyncio.gather(
        *(one.serve(sockets=[each]) for one, each in zip(servers, sockets, strict=True))
    )
