"""While a stream changes a knowledge base, each answer is one published state, and none waits.

The stream inserts one number after the other, and deletes an older one now and then. So a state is
known by the greatest number in it: the model is what was there when that number came.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from support import budget

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase
    from zodiac_sql.serve.server import Server

UPDATES = budget.either(ci=300, fuzz=3000)


class Model:
    """What each update leaves."""

    def __init__(self, seed: int) -> None:
        self._choose = random.Random(seed)
        self.states: list[frozenset[int]] = [frozenset()]

    def updates(self) -> Iterator[dict[str, Any]]:
        for number in range(1, UPDATES):
            before = self.states[-1]
            lost = self._choose.sample(
                sorted(before), min(len(before), self._choose.choice([0, 1]))
            )
            self.states.append((before - set(lost)) | {number})
            yield {"insert": {"v": [[number]]}, "delete": {"v": [[one] for one in lost]}}


class Asking(threading.Thread):
    """Asks until it is told to end. `problems` are answers that were no state."""

    def __init__(self, server: Server, model: Model) -> None:
        super().__init__()
        self._server, self._model = server, model
        self.ending = threading.Event()
        self.problems: list[str] = []
        self.asked = 0

    def run(self) -> None:
        headers = {"authorization": f"Bearer {self._server.reading_token}"}
        with httpx.Client(base_url=self._server.url, headers=headers, timeout=60) as client:
            last = 0
            while not self.ending.wait(0.01):
                answer = client.post("/query", content="twice(X, Y), v(X)")
                pairs = [(row["X"], row["Y"]) for row in answer.json()["rows"]]
                found = frozenset(x for x, _ in pairs)
                newest = max(found, default=0)
                if newest < last or found != self._model.states[newest]:
                    self.problems.append(f"{newest} after {last}: {sorted(found)}")
                if any(y != 2 * x for x, y in pairs):
                    self.problems.append("a rule")
                last = newest
                self.asked += 1


@pytest.mark.fuzz
def test_each_answer_is_a_state(kb: KnowledgeBase, server: Server) -> None:
    kb.add_rules(".decl v(x: int). twice(X, Y) :- v(X), BIND(2 * X AS Y).")
    model = Model(budget.seed(2102))
    asking = [Asking(server, model) for _ in range(4)]
    for one in asking:
        one.start()
    try:
        for _ in kb.stream(model.updates()):
            time.sleep(0.001)
    finally:
        for one in asking:
            one.ending.set()
            one.join()
    assert [problem for one in asking for problem in one.problems] == []
    assert all(one.asked for one in asking)
    assert kb.verify()
    budget.tried("answers of a server", sum(one.asked for one in asking))
