"""Events that come and go away again: 10,000 keys, 1,000 events a second, a window of a minute.

Each second of the simulated clock is one change: its events, and a tick. Beside it is the same with
plain SQL of DuckDB, which deletes what is over and computes all rules anew each second.
"""

from __future__ import annotations

import datetime
import random
import resource
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import duckdb
import pyarrow as pa

import zodiac_sql

from .tables import print_header, print_line, print_notes

COMMAND = "windows"
NAME = f"{COMMAND}:minute"
NAMES = (NAME,)

KEYS, RATE, SECONDS, KEPT = 10_000, 1_000, 180, 60
START = datetime.datetime(2026, 1, 1)

RULES = f"""
.decl reading(t: int, at: timestamp, c: float)
.window reading(at: {KEPT} seconds).
recent(T) :- reading(T, A, _), A > add_seconds(now(), -10).
silent(T) :- turbine(T), not recent(T).
mean(T, M) :- AGGREGATE(reading(T, A, C)) ON T WITH AVG(C) AS M.
hot(T) :- mean(T, M), M > 85.
spread(X, Y) :- hot(X), next(X, Y).
spread(X, Z) :- spread(X, Y), hot(Y), next(Y, Z).
"""

BY_HAND = """
CREATE OR REPLACE TABLE recent AS SELECT DISTINCT t FROM reading WHERE "at" > $now - INTERVAL 10 SECOND;
CREATE OR REPLACE TABLE silent AS SELECT t FROM turbine ANTI JOIN recent USING (t);
CREATE OR REPLACE TABLE mean AS SELECT t, avg(c) AS m FROM reading GROUP BY t;
CREATE OR REPLACE TABLE hot AS SELECT t FROM mean WHERE m > 85;
CREATE OR REPLACE TABLE spread AS WITH RECURSIVE s(x, y) AS (
    SELECT t, b FROM hot JOIN next ON t = a UNION
    SELECT x, b FROM s JOIN hot ON y = t JOIN next ON y = a) SELECT * FROM s
"""  # noqa: E501


def seconds() -> Iterator[tuple[datetime.datetime, pa.Table]]:
    """The events of each second, and when it ends. The first minute fills the window."""
    chance = random.Random(58)
    for second in range(KEPT + SECONDS):
        begin = START + datetime.timedelta(seconds=second)
        at = [begin + datetime.timedelta(microseconds=1000 * n) for n in range(RATE)]
        keys = [chance.randrange(KEYS) for _ in at]
        values = [float(chance.randrange(20, 100)) for _ in at]
        yield begin + datetime.timedelta(seconds=1), pa.table({"t": keys, "at": at, "c": values})


def report() -> None:
    """Measure, and print a line for each."""
    print(
        f"{KEYS:,} keys, {RATE:,} events in each of {SECONDS} simulated seconds, a window of "
        f"{KEPT} s, six rules; each second is one durable change.\n"
    )
    print_header(["engine", "events/s", "median ms", "99 % ms", "max ms", "MB at first",
                  "MB in the end", "RSS MB"])  # fmt: skip
    for name, engine in (("zodiac_sql", _ours), ("SQL by hand", _by_hand)):
        with TemporaryDirectory() as folder:
            path = Path(folder, "a.duckdb")
            took, sizes = _measured(engine(path), path)
            took.sort()
            rate = RATE * len(took) / sum(took)
            rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print_line(
                [name, f"{rate:,.0f}", f"{1000 * median(took):.0f}",
                 f"{1000 * took[int(0.99 * len(took))]:.0f}", f"{1000 * took[-1]:.0f}",
                 f"{sizes[0]:.0f}", f"{sizes[-1]:.0f}", f"{rss:.0f}"]
            )  # fmt: skip
    print_notes(["RSS is the most of the process so far, with both engines and the events in it"])


Change = Callable[[datetime.datetime, pa.Table], object]


def _measured(change: Change, path: Path) -> tuple[list[float], list[float]]:
    """How long each second takes once the window is full, and how large the file is."""
    took, sizes = [], []
    for number, (now, events) in enumerate(seconds()):
        started = time.perf_counter()
        change(now, events)
        if number >= KEPT:
            took.append(time.perf_counter() - started)
            files = [path, path.with_name(f"{path.name}.wal")]
            sizes.append(sum(f.stat().st_size for f in files if f.exists()) / 1e6)
    return took, sizes


def _ours(path: Path) -> Change:
    kb = zodiac_sql.connect(path)
    kb.tick(START)
    kb.add_rules(RULES)
    kb.insert("turbine", pa.table({"t": list(range(KEYS))}))
    kb.insert("next", pa.table({"a": list(range(KEYS - 1)), "b": list(range(1, KEYS))}))

    def change(now: datetime.datetime, events: pa.Table) -> None:
        with kb.update() as update:
            update.insert("reading", events)
            update.tick(now)

    return change


def _by_hand(path: Path) -> Change:
    db = duckdb.connect(str(path))
    db.execute('CREATE TABLE reading (t BIGINT, "at" TIMESTAMP, c DOUBLE)')
    db.execute(f"CREATE TABLE turbine AS SELECT range AS t FROM range({KEYS})")
    db.execute(f"CREATE TABLE next AS SELECT range AS a, range + 1 AS b FROM range({KEYS - 1})")

    def change(now: datetime.datetime, events: pa.Table) -> None:
        db.execute("BEGIN")
        db.register("events", events)
        db.execute("INSERT INTO reading FROM events")
        db.execute(f'DELETE FROM reading WHERE "at" <= $now - INTERVAL {KEPT} SECOND', {"now": now})
        for statement in BY_HAND.split(";"):
            db.execute(statement, {"now": now} if "$now" in statement else None)
        db.execute("COMMIT")

    return change
