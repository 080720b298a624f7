"""Deep recursions, in a process of its own: ours or SQL by hand, from scratch; then single changes.

Facts of one predicate go and come back, one at a time, at random places, each a durable change; and
then at named places: by then, what pays to be looked up is looked up.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING

from .deep_sql import derive
from .deep_workloads import WORKLOADS, columns

if TYPE_CHECKING:
    import zodiac_sql

OURS, SQL = "ours", "SQL by hand"
ENGINES = (OURS, SQL)

CHANGES = 30
"""So many facts go and come back, as far as the time allows."""


@dataclass(frozen=True)
class Change:
    """One fact that went or came back: seconds, and how many facts of all predicates moved."""

    place: str
    kind: str
    seconds: float
    facts: int


@dataclass(frozen=True)
class Run:
    """One run from scratch: seconds to reason, those to have it in the file, and the facts.

    `facts` are those of the last predicate. Only ours makes changes.
    """

    seconds: float
    durable: float
    facts: int
    changes: tuple[Change, ...] = ()


def run_one(engine: str, name: str, timeout: float) -> None:
    """Print one line of JSON."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "deep.duckdb")
        run = _ours(name, file, timeout) if engine == OURS else _sql(name, file)
    print(json.dumps(asdict(run)))


def _ours(name: str, file: Path, timeout: float) -> Run:
    import zodiac_sql

    workload = WORKLOADS[name]
    facts = workload.facts()
    with zodiac_sql.connect(file) as kb:
        with kb.update() as update:
            for predicate, rows in facts.items():
                update.insert(predicate, columns(rows))
        start = perf_counter()
        change = kb.add_rules(workload.rules)
        durable = perf_counter() - start
        changes = []
        rows = facts[workload.moved]
        for row in Random(7).sample(rows, CHANGES):
            changes += _changes(kb, workload.moved, row, "random")
            if perf_counter() - start > timeout:
                break
        for place, number in workload.named:
            changes += _changes(kb, workload.moved, rows[number], place)
        (found,) = kb.sql(f"SELECT count(*) FROM {workload.counted}").fetchall()
    reason = float(change.stats["seconds"]["reason"])  # type: ignore[index]
    return Run(reason, durable, int(found[0]), tuple(changes))


def _changes(
    kb: zodiac_sql.KnowledgeBase, predicate: str, row: tuple[int, ...], place: str
) -> Iterator[Change]:
    """One fact goes and comes back."""
    for kind, verb in (("delete", kb.delete), ("insert", kb.insert)):
        begun = perf_counter()
        done = verb(predicate, [row])
        moved = sum(done.deleted.values()) + sum(done.inserted.values())
        yield Change(place, kind, perf_counter() - begun, moved)


def _sql(name: str, file: Path) -> Run:
    import duckdb

    workload = WORKLOADS[name]
    with duckdb.connect(file) as con:
        for predicate, rows in workload.facts().items():
            given = columns(rows)
            con.register("given", given)
            con.execute(f"CREATE TABLE {predicate} AS FROM given")
            con.unregister("given")
        start = perf_counter()
        derive(con, workload.sql)
        seconds = perf_counter() - start
        (found,) = con.sql(f"SELECT count(*) FROM {workload.counted}").fetchall()
    return Run(seconds, seconds, int(found[0]))
