"""A process that is killed while it follows a stream: the file has the state after whole updates.

Children follow the same stream under a name, one after the other, and are killed at any moment.
What is in the file then is the state after as many updates as `kb.position` tells, no less than the
child had reported; and the next child goes on from there.

Whether an update was applied twice, or not at all, would not show in facts that are there or not.
So each update inserts its own number into `done`, which nobody but this test deletes, after each
kill: the numbers found there must be just the next ones.
"""

from __future__ import annotations

import contextlib
import json
import random
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support import budget, stream_kill_child
from support.changes_of_crash import _value
from support.oracle import only_model
from support.stream_kill_child import NAME, Job

if TYPE_CHECKING:
    from collections.abc import Callable

    from zodiac_sql import KnowledgeBase

    OpenKb = Callable[..., KnowledgeBase]

Update = dict[str, Any]
State = dict[str, frozenset[tuple[object, ...]]]

SEED = 2031
KILLS = budget.either(ci=11, fuzz=51)
UPDATES = 110
WINDOW = 7
"""An edge goes again after so many updates."""

NODES = "abcdefg"
RULES = {
    "copy": "path(X, Y) :- edge(X, Y).",
    "step": "path(X, Z) :- path(X, Y), edge(Y, Z).",
    "cut": "far(X, Y) :- path(X, Y), not edge(X, Y).",
    "degree": "degree(X, N) :- AGGREGATE(edge(X, Y)) ON X WITH COUNT(Y) AS N.",
    "back": "path(X, Y) :- path(Y, X).",
}
CLINGO = {"degree": "degree(X, N) :- edge(X, _), N = #count { Y : edge(X, Y) }."}
"""Rules that clingo writes differently."""

WAYS = [
    ("bf_marking", 1, "file"),
    ("auto", 1, "generator"),
    ("dred_marking", 1, "list"),
    ("bf", 6, "file"),
    ("bf_marking", 1, "reader"),
    ("auto", 4, "reader"),
    ("bf", 1, "file"),
    ("bf_marking", 3, "list"),
]
"""Strategy, coalesce and source of one child after the other."""

MOMENT = 0.1
"""In seconds: a child is killed up to so long after it has reported something. Some updates take
less.
"""


@pytest.mark.fuzz(share=4)
@pytest.mark.filterwarnings("ignore::zodiac_sql.MissingLogWarning")  # see database/log.py
def test_a_killed_process_goes_on_where_it_was(tmp_path: Path, open_kb: OpenKb) -> None:
    chance = random.Random(budget.seed(SEED))
    updates = list(planned(chance))
    lines = tmp_path / "updates.jsonl"
    lines.write_text("".join(f"{json.dumps(update)}\n" for update in updates))
    run = _Run(open_kb, tmp_path / "killed.duckdb", updates)
    with _nursery(run.file, lines) as nursery:
        for number in range(KILLS):
            way = WAYS[number % len(WAYS)]
            commit = chance.choice((0, 0, 0, chance.randint(1, 6)))
            job = Job(*way, commit, chance.random() < 0.5)
            reports = chance.choice((None, 0, 0, 0, 1, 2)) if not commit else None
            told = _killed(nursery, job, reports, chance.uniform(0, MOMENT))
            run.check(told, job.coalesce, thoroughly=number % 10 == 0)
            budget.tried("kills")
            if run.done > UPDATES * 0.85:
                run.finish(lines)
    run.finish(lines)
    assert run.killed_at_work > KILLS / 4
    assert run.untold or budget.FUZZING  # killed after a COMMIT, before they could tell


def planned(chance: random.Random) -> Iterator[Update]:
    """Edges come and go, and come back; rules do so, too. Each update has a number of its own."""
    edges: list[list[tuple[str, str]]] = []
    for number in range(1, UPDATES + 1):
        new = [
            (chance.choice(NODES), chance.choice(NODES)) for _ in range(chance.choice((1, 2, 3)))
        ]
        gone = edges[-WINDOW] if len(edges) >= WINDOW else []
        # Half of the time something goes at once: then the update before may have marked it.
        gone = gone + (edges[-1][:1] if edges and chance.random() < 0.5 else [])
        edges.append(new)
        update: Update = {
            "delete": {"at": [(number - 1,)], "edge": gone},
            "insert": {"at": [(number,)], "done": [(number,)], "edge": new},
        }
        if number == 1:
            update["add_rules"] = [f"{name}: {RULES[name]}" for name in RULES if name != "back"]
        elif number % 17 == 0:
            update["add_rules"] = f"back: {RULES['back']}"
        elif number % 17 == 4:
            update["drop_rules"] = ["back"]
        yield update


class _Run:
    """A file, and how far it has come."""

    def __init__(self, open_kb: OpenKb, file: Path, updates: list[Update]) -> None:
        self.file, self.done, self.untold, self.killed_at_work = file, 0, 0, 0
        self._open_kb, self._updates = open_kb, updates

    def check(self, told: list[str], coalesce: int, thoroughly: bool) -> None:
        """The child reported the next updates, each once; the file has these, or a change more."""
        assert told[-1] in ("ended -9", "ended 0"), told
        reports = [line.split() for line in told if line[0].isdigit()]
        reported = self.done
        for first, last in (map(int, line) for line in reports):
            assert first == reported + 1 and last < first + coalesce
            reported = last
        with self._open_kb(self.file) as kb:
            position = kb.position(NAME) or 0
            assert reported <= position <= reported + coalesce
            self.untold += position > reported
            self._take(kb, position)
            if thoroughly:
                assert kb.verify()
        self.killed_at_work += bool(reports) and "stopped" not in told

    def finish(self, lines: Path) -> None:
        """Apply the rest of the stream, and begin with a new file."""
        with self._open_kb(self.file) as kb:
            changes = kb.stream(lines, name=NAME, coalesce=10)
            rest = [number for change in changes for number in change.updates]
            assert rest == list(range(self.done + 1, UPDATES + 1))
            assert kb.position(NAME) == UPDATES
            self._take(kb, UPDATES)
            assert kb.verify()
        self.file.unlink()
        self.done = 0

    def _take(self, kb: KnowledgeBase, position: int) -> None:
        """Look at the state after so many updates, and take their numbers out of it."""
        found = _state_of(kb)
        fresh = found.pop("done", frozenset())
        assert fresh == {(number,) for number in range(self.done + 1, position + 1)}
        assert found == from_scratch(self._updates[:position]), position
        if fresh:
            kb.delete("done", list(fresh))
        self.done = position


def _state_of(kb: KnowledgeBase) -> State:
    """The extensions that have facts."""
    names = [name for (name,) in kb.sql("SELECT sql_name FROM zodiac.predicate").fetchall()]
    shown = {name: kb.sql(f'SELECT * FROM "{name}"').fetchall() for name in names}
    assert all(len(rows) == len(set(rows)) for rows in shown.values())
    rules = kb.sql("SELECT name FROM zodiac.rule").fetchall()
    return {name: frozenset(rows) for name, rows in {**shown, "rules": rules}.items() if rows}


def from_scratch(updates: list[Update]) -> State:
    """The state after these updates by clingo, but for `done`; and the names of the rules."""
    facts: set[tuple[str, tuple[object, ...]]] = set()
    rules: set[str] = set()
    for update in updates:
        for name, rows in update["delete"].items():
            facts -= {(name, tuple(row)) for row in rows}
        for name, rows in update["insert"].items():
            facts |= {(name, tuple(row)) for row in rows if name != "done"}
        rules -= set(update.get("drop_rules", []))
        added = update.get("add_rules", [])
        rules |= {text.partition(":")[0] for text in ([added] if isinstance(added, str) else added)}
    lines = [f"{predicate}({', '.join(map(str, row))})." for predicate, row in facts]
    lines += [CLINGO.get(name, RULES[name]) for name in rules]
    shown: dict[str, set[tuple[object, ...]]] = defaultdict(set)
    for symbol in only_model("\n".join(lines)):
        shown[symbol.name].add(tuple(_value(term) for term in symbol.arguments))
    shown["rules"] = {(name,) for name in rules}
    return {name: frozenset(rows) for name, rows in shown.items() if rows}


@contextlib.contextmanager
def _nursery(file: Path, updates: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, stream_kill_child.__file__, str(file), str(updates)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as nursery:
        try:
            yield nursery
        finally:
            assert nursery.stdin
            nursery.stdin.close()  # what is left of its children goes with it


def _killed(
    nursery: subprocess.Popen[str], job: Job, reports: int | None, after: float
) -> list[str]:
    """Let a child follow the stream, and kill it a moment after it has reported some changes.

    None is while it opens the file. One with a COMMIT to die at dies there. Returns what it told.
    """
    assert nursery.stdin and nursery.stdout
    print(json.dumps(asdict(job)), file=nursery.stdin, flush=True)
    told: list[str] = []
    lines = (line.strip() for line in iter(nursery.stdout.readline, ""))
    if not job.commit:
        while reports is not None and len(told) <= reports and "stopped" not in told:
            told.append(next(lines))
        time.sleep(after)
        print("kill", file=nursery.stdin, flush=True)
    for line in lines:
        told.append(line)
        if line.startswith("ended"):
            return told
    raise AssertionError("the nursery has gone")
