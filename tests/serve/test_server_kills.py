"""A server is killed at random moments: what it said was done is in the file, and nothing else is.

Clients insert edges one after the other, and note which were answered. A file is exact if its
paths follow from its edges, and if it has each edge that was answered, and no other than the one
of each client that was under way.
"""

from __future__ import annotations

import random
import subprocess
import threading
import time
from pathlib import Path

import httpx
import pytest
from support import budget
from support.command_line import ZODIAC

import zodiac_sql
from zodiac_sql.serve.place import Place, place_of

RULES = "path(X, Y) :- edge(X, Y). path(X, Z) :- path(X, Y), edge(Y, Z)."


def started(db: Path) -> tuple[subprocess.Popen[bytes], Place]:
    """A process that serves a file, and where."""
    process = subprocess.Popen([ZODIAC, "serve", str(db)], stdout=subprocess.DEVNULL)
    until = time.monotonic() + 60
    while (place := place_of(db)) is None:
        assert process.poll() is None and time.monotonic() < until
        time.sleep(0.02)
    return process, place


class Client(threading.Thread):
    """Inserts edges until the server is gone."""

    def __init__(self, place: Place, number: int) -> None:
        super().__init__()
        self._place, self._number = place, number
        self.answered: list[tuple[int, int]] = []
        self.under_way: tuple[int, int] | None = None

    def run(self) -> None:
        headers = {"authorization": f"Bearer {self._place.writing}"}
        with httpx.Client(base_url=self._place.url, headers=headers, timeout=60) as client:
            for step in range(100_000):
                edge = (self._number * 1000 + step % 7, self._number * 1000 + step)
                self.under_way = edge
                try:
                    answer = client.post("/insert", json={"edge": [edge]})
                except httpx.HTTPError:
                    return
                assert answer.status_code == 200
                self.answered.append(edge)


@pytest.mark.fuzz
def test_what_was_answered_is_there(tmp_path: Path) -> None:
    choose = random.Random(budget.seed(2101))
    db = tmp_path / "a.duckdb"
    with zodiac_sql.connect(db) as kb:
        kb.add_rules(RULES)
    expected: set[tuple[int, int]] = set()
    for round_ in range(3):
        process, place = started(db)
        clients = [Client(place, 10 * round_ + number) for number in range(3)]
        for client in clients:
            client.start()
        time.sleep(choose.uniform(0.1, 1.5))
        process.kill()
        process.wait()
        for client in clients:
            client.join()
        assert place_of(db) is None
        with zodiac_sql.connect(db) as kb:
            found = set(kb.query("edge(X, Y)").fetchall())
            assert kb.verify()
        expected |= {edge for client in clients for edge in client.answered}
        assert found >= expected
        assert found - expected <= {client.under_way for client in clients}
        expected = found
        budget.tried("kills of a server")
