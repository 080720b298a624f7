"""The processes that test_stream_crash.py kills: each follows a stream of updates into a file.

    python stream_kill_child.py FILE UPDATES

UPDATES is a file of JSON lines. This process imports everything, and then forks a child for each
line on its stdin, a Job in JSON; so a child begins at once. Another line has the child killed, if
it does not kill itself; then "ended" and its exit code are told. The child tells "open"; for each
change the numbers of the first and the last update in it; and "stopped" if it comes to an end.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from zodiac_sql.database.store import Store
from zodiac_sql.database.waiting import publishes

NAME = "feed"


@dataclass(frozen=True)
class Job:
    """How a child follows the stream.

    `source`: the "file"; a "list" or a "generator" of what is in it; or a "reader", a thread of the
    stream's own that reads a slow generator. If `commit` is not 0, it kills itself as it publishes
    for that time: `before` the statement, or right after it.
    """

    strategy: str
    coalesce: int
    source: str
    commit: int = 0
    before: bool = True


def source_of(job: Job, updates: str) -> tuple[Any, dict[str, Any]]:
    """What the stream is given: updates and options."""
    if job.source == "file":
        return updates, {}
    every = (json.loads(line) for line in Path(updates).read_text().splitlines())
    if job.source == "list":
        return list(every), {}
    return (every, {}) if job.source == "generator" else (_slow(every), {"queue": 4})


def _slow(updates: Iterator[Any]) -> Iterator[Any]:
    for number, update in enumerate(updates):
        time.sleep(0.02 * (number % 3 == 0))
        yield update


def follow(job: Job, file: str, updates: str) -> None:
    from zodiac_sql import connect

    with connect(file, strategy=job.strategy) as kb:
        tell("open")
        if job.commit:
            _kill_at(job.commit, job.before)
        source, options = source_of(job, updates)
        for change in kb.stream(source, name=NAME, coalesce=job.coalesce, **options):
            tell(change.updates[0], change.updates[-1])


def _kill_at(commit: int, before: bool) -> None:
    """Let this process be killed as it publishes for that time: before the statement, or after it.

    (A tracer sees statements only before they run, and nothing may follow the one that publishes.)
    """
    run, commits = Store.run, 0

    def counted(self: Store, statement: Any, *more: Any) -> Any:
        nonlocal commits
        publishing = isinstance(statement, str) and publishes(statement)
        commits += publishing
        if before and publishing and commits == commit:
            os.kill(os.getpid(), signal.SIGKILL)
        found = run(self, statement, *more)
        if publishing and commits == commit:
            os.kill(os.getpid(), signal.SIGKILL)
        return found

    Store.run = counted  # type: ignore[method-assign]


def tell(*words: object) -> None:
    print(*words, flush=True)


def main(file: str, updates: str) -> None:
    _prepare()
    while line := sys.stdin.readline():
        job = Job(**json.loads(line))
        child = os.fork()
        if not child:
            code = 1
            try:
                follow(job, file, updates)
                code = 0
            except Exception:  # noqa: BLE001 (it is told)
                traceback.print_exc()
            finally:
                tell("stopped")
                os._exit(code)
        if not job.commit:
            sys.stdin.readline()
            os.kill(child, signal.SIGKILL)  # it may have ended, but still has its number
        tell("ended", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def _prepare() -> None:
    """Import what is imported late; but open no database: threads would not outlive a fork."""
    for name in (
        "opening",
        "change.apply",
        "storage.publish",
        "maintain.registry",
        "stream.run",
    ):
        import_module(f"zodiac_sql.{name}")
    from zodiac_sql.language.parse import parse

    parse("p(X) :- q(X).")


if __name__ == "__main__":
    from crash_child import NoPandas

    sys.meta_path.insert(0, NoPandas)
    main(*sys.argv[1:])
