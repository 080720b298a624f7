"""Asks the server of a file to run a command (elsewhere.py)."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from http.client import HTTPConnection, HTTPException, HTTPResponse

from zodiac_sql.cli.endings import Refused
from zodiac_sql.cli.terminal import terminal_width
from zodiac_sql.serve.place import Place


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
