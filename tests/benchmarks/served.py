"""A stream of updates while others ask its server: does it keep its rate, and does anybody wait?

Each client is a process of its own, asks ten times a second for what a rule derives, and measures
from its request to the last byte of its answer. One more client follows the change feed.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import zodiac_sql

from .tables import print_header, print_line, print_notes

COMMAND = "served"
NAME = f"{COMMAND}:200"
NAMES = (NAME,)

RATE, SECONDS, CLIENTS, TURBINES = 200, 60, 4, 51
ONE_BY_ONE, COALESCED = 1, 50
"""How many updates that have arrived may become one change."""

RULES = """
.decl at(x: symbol, t: float).
hot(X) :- at(X, T), T > 80.
beside(X, Y) :- next(X, Y).
beside(X, Y) :- next(Y, X).
warned(Y) :- hot(X), beside(X, Y).
"""

CLIENT = """
import sys, time, json, httpx
url, token, seconds = sys.argv[1:]
took = []
with httpx.Client(base_url=url, headers={"authorization": "Bearer " + token}, timeout=60) as client:
    for _ in range(3):
        client.post("/query", content="hot(X)")
    end = time.monotonic() + float(seconds)
    while time.monotonic() < end:
        before = time.perf_counter()
        assert client.post("/query", content="hot(X), at(X, T)").status_code == 200
        took.append(1000 * (time.perf_counter() - before))
        time.sleep(max(0.0, 0.1 - took[-1] / 1000))
print(json.dumps(took))
"""

FOLLOWER = """
import sys, httpx
url, token = sys.argv[1:]
headers = {"authorization": "Bearer " + token, "accept": "text/event-stream"}
with httpx.stream("GET", url + "/changes", headers=headers, timeout=None) as stream:
    for line in stream.iter_lines():
        pass
"""


def report() -> None:
    """Measure, and print a line for the stream alone and one for it with others."""
    print(
        f"A stream of {RATE} updates a second for {SECONDS} s, each of one fact out and one in, "
        f"alone, and with {CLIENTS} clients of its server that ask ten times a second. The updates "
        f"are applied one by one, or up to {COALESCED} that have arrived as one change.\n"
    )
    print_header(["stream", "updates/s", "lag median ms", "lag max ms", "answers", "median ms",
                  "99 % ms", "max ms"])  # fmt: skip
    with TemporaryDirectory() as folder, zodiac_sql.connect(Path(folder, "a.duckdb")) as kb:
        kb.add_rules(RULES)
        kb.insert("next", [(f"w{n}", f"w{n + 1}") for n in range(TURBINES - 1)])
        kb.keep_feed(["hot"], count=1000)
        farm = Farm()
        kb.insert("at", list(farm.celsius.items()))
        for coalesce, how in ((ONE_BY_ONE, ""), (COALESCED, ", coalesced")):
            alone = _streamed(kb, farm, SECONDS / 4, coalesce)
            print_line([f"alone{how}", *alone, "", "", "", ""])
            print_line([f"with others{how}", *_with_others(kb, farm, coalesce)])
        right = bool(kb.verify())
    print_notes([] if right else ["verify found a difference"])


def _with_others(kb: zodiac_sql.KnowledgeBase, farm: Farm, coalesce: int) -> list[str]:
    """The rate and lag of a stream while clients ask, and how long their answers took."""
    with kb.serve() as server:
        access = (server.url, server.reading_token)
        clients = [_started(CLIENT, *access, SECONDS) for _ in range(CLIENTS)]
        follower = _started(FOLLOWER, *access)
        time.sleep(2)
        found = _streamed(kb, farm, SECONDS - 2, coalesce)
        answers = sorted(t for one in clients for t in json.loads(one.communicate()[0]))
        follower.kill()
        follower.communicate()
    return [*found, *_shown(answers)]


class Farm:
    """Turbines whose temperatures change at random."""

    def __init__(self) -> None:
        self.celsius = {f"w{n}": 20.0 for n in range(TURBINES)}
        self._random = random.Random(1)

    def updates(self, seconds: float) -> Iterator[dict[str, Any]]:
        """Updates, as they are due."""
        started, number = time.perf_counter(), 0
        while (now := time.perf_counter() - started) < seconds:
            if number >= int(now * RATE):
                time.sleep(0.0005)
                continue
            number += 1
            name = f"w{self._random.randrange(TURBINES)}"
            before, after = self.celsius[name], round(self._random.uniform(0, 100), 3)
            self.celsius[name] = after
            yield {"delete": {"at": [[name, before]]}, "insert": {"at": [[name, after]]}}


def _streamed(kb: zodiac_sql.KnowledgeBase, farm: Farm, seconds: float, coalesce: int) -> list[str]:
    """The rate of a stream, and its lag."""
    started, lags, updates = time.perf_counter(), [], 0
    for change in kb.stream(farm.updates(seconds), coalesce=coalesce, queue=1000):
        lags.append(1000 * change.stats["stream"]["lag"])
        updates += len(change.updates)
    rate = updates / (time.perf_counter() - started)
    return [f"{rate:.0f}", f"{median(lags):.1f}", f"{max(lags):.0f}"]


def _started(script: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def _shown(answers: Sequence[float]) -> list[str]:
    late = answers[int(0.99 * len(answers))]
    return [f"{len(answers):,}", *(f"{one:.1f}" for one in (median(answers), late, answers[-1]))]
