"""Ways to interrupt a call: each comes once inside its block, or never if the block ends before.

* `at_place`: where Python looks for signals, in any file (struck.py).
* `at_statement`: right after a statement has run, such as a COMMIT, which may be there or not.
* `by_sigint`: a real SIGINT after some time. DuckDB may be at work then, or SQLite.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import pytest
from support.struck import struck_at

from zodiac_sql.database.store import Store
from zodiac_sql.database.waiting import publishes

Way = Callable[[Random, float], AbstractContextManager[object]]
"""What makes a block of an interruption, given how many seconds a call takes."""

MOST_PLACES = 20_000
MOST_STATEMENTS = 60


def at_place(chance: Random, _: float) -> AbstractContextManager[object]:
    """Where a function begins, or one of C returns."""
    number = int(MOST_PLACES ** chance.uniform(0.2, 1))
    return struck_at(number, lambda file: not file.is_relative_to(Path(__file__).parents[1]))


@contextmanager
def at_statement(chance: Random, _: float) -> Iterator[None]:
    """After a statement that publishes a change, or any other."""
    run, numbers = Store.run, count()
    number = chance.choice((None, int(MOST_STATEMENTS ** chance.random())))

    def struck(self: Store, statement: Any, *more: Any) -> Any:
        result = run(self, statement, *more)
        if publishes(statement) if number is None else next(numbers) == number:
            patch.undo()
            raise KeyboardInterrupt
        return result

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Store, "run", struck)
        yield


@contextmanager
def by_sigint(chance: Random, seconds: float) -> Iterator[None]:
    """At a random moment of a call."""
    main = threading.main_thread().ident
    assert main is not None
    ended = threading.Event()
    moment = 1.2 * seconds * chance.random()

    def strike() -> None:
        if not ended.wait(moment):
            signal.pthread_kill(main, signal.SIGINT)

    thread = threading.Thread(target=strike)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


WAYS: tuple[Way, ...] = (at_place, at_statement, by_sigint)
