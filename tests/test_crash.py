"""A process that is killed at any moment leaves the file as it was before a change, or after it.

A child makes a list of changes of rules and facts, one by one, and is killed. The file must then
show the state after some number of these changes; no less than the child had reported done, and at
most one more. From there the next child goes on.
"""

from __future__ import annotations

import contextlib
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from zodiac_sql import KnowledgeBase, connect

OpenKb = Callable[..., KnowledgeBase]
State = tuple[frozenset[tuple[str, str]], dict[str, frozenset[tuple[object, ...]]]]
"""Rules by name and text, and the extension of each predicate that has facts."""

KILLS = 36
CHANGES = 200
ROUND = 20
"""Changes that one child would make if it were not killed."""

NODES = "abcdefgh"
RULES = {
    "copy": "path(X, Y) :- edge(X, Y).",
    "step": "path(X, Z) :- path(X, Y), edge(Y, Z).",
    "square": "path(X, Z) :- path(X, Y), path(Y, Z).",
    "back": "edge(X, Y) :- link(Y, X).",
    "cut": "far(X, Y) :- path(X, Y), not edge(X, Y).",
    "degree": "degree(X, N) :- AGGREGATE(edge(X, Y)) ON X WITH COUNT(Y) AS N.",
    "text": "label(X, L) :- far(X, Y), BIND(concat(X, Y) AS L).",
    "alarm": "alarm() :- degree(X, N), N > 3.",
}

CHILD = """
import sys
sys.path.insert(0, sys.argv[1])
from test_crash import make, planned
from zodiac_sql import connect
first, seed = int(sys.argv[3]), int(sys.argv[4])
changes = list(enumerate(planned(seed)))
with connect() as kb:  # what is imported late is imported now
    for _, change in changes[:2]:
        make(kb, change)
with connect(sys.argv[2]) as kb:
    print("open", flush=True)
    for number, change in changes[first : first + int(sys.argv[5])]:
        make(kb, change)
        print(number + 1, flush=True)
"""


@dataclass(frozen=True)
class Change:
    """One atomic change. What is dropped is there, what is added is not."""

    inserted: tuple[tuple[str, tuple[str, str]], ...]
    deleted: tuple[tuple[str, tuple[str, str]], ...]
    added: tuple[str, ...]
    dropped: tuple[str, ...]


def planned(seed: int) -> Iterator[Change]:
    """The same changes for the same seed, in every process."""
    chance = random.Random(seed)
    rules: set[str] = set()
    for number in range(CHANGES):
        facts = [_fact(chance, number) for _ in range(chance.choice((1, 1, 2, 5)))]
        gone = [_fact(chance, number) for _ in range(chance.choice((0, 1, 3)))]
        toggled = chance.sample(sorted(RULES), chance.choice((0, 0, 1, 1, 2)))
        added = tuple(name for name in toggled if name not in rules)
        dropped = tuple(name for name in toggled if name in rules)
        rules.symmetric_difference_update(toggled)
        yield Change(tuple(facts), tuple(f for f in gone if f not in facts), added, dropped)


def _fact(chance: random.Random, number: int) -> tuple[str, tuple[str, str]]:
    """Mostly of few nodes; now and then of one that no symbol has been made for."""
    nodes = [*NODES, f"n{number}"] if chance.random() < 0.3 else list(NODES)
    return chance.choice(("edge", "link")), (chance.choice(nodes), chance.choice(nodes))


def make(kb: KnowledgeBase, change: Change) -> None:
    with kb.update() as update:
        for predicate, row in change.deleted:
            update.delete(predicate, [row])
        for predicate, row in change.inserted:
            update.insert(predicate, [row])
        update.drop_rules(*change.dropped)
        update.add_rules("\n".join(f"{name}: {RULES[name]}" for name in change.added))


def from_scratch(changes: list[Change]) -> State:
    """The state after these changes, computed at once in memory."""
    rules: set[str] = set()
    facts: dict[str, set[tuple[str, str]]] = {"edge": set(), "link": set()}
    for change in changes:
        rules.symmetric_difference_update(change.added + change.dropped)
        for predicate, row in change.deleted:
            facts[predicate].discard(row)
        for predicate, row in change.inserted:
            facts[predicate].add(row)
    with connect() as kb:
        for predicate, rows in facts.items():
            kb.insert(predicate, sorted(rows))
        kb.add_rules("\n".join(f"{name}: {RULES[name]}" for name in sorted(rules)))
        return state_of(kb)


def state_of(kb: KnowledgeBase) -> State:
    """What the file's views show, read as any DuckDB client would."""
    rules = kb.sql("SELECT name, source FROM zodiac.rule").fetchall()
    names = kb.sql("SELECT sql_name FROM zodiac.predicate").fetchall()
    shown = {name: frozenset(kb.sql(f'SELECT * FROM "{name}"').fetchall()) for (name,) in names}
    return frozenset(rules), {name: rows for name, rows in shown.items() if rows}


def killed(file: Path, done: int, seed: int, after: float) -> int:
    """Let a child go on after `done` changes, and kill it. Returns how many it reported done."""
    arguments = [Path(__file__).parent, file, done, seed, ROUND]
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, *map(str, arguments)], stdout=subprocess.PIPE
    )
    with child:
        assert child.stdout is not None
        first = child.stdout.readline()
        assert first == b"open\n"
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(after)
        child.send_signal(signal.SIGKILL)
        reported = child.stdout.read().split()
    assert child.returncode in (-signal.SIGKILL, 0)
    return int(reported[-1]) if reported else done


@pytest.mark.parametrize("seed", [2026])
def test_a_killed_process_leaves_whole_changes(tmp_path: Path, open_kb: OpenKb, seed: int) -> None:
    file = tmp_path / "killed.duckdb"
    changes = list(planned(seed))
    chance = random.Random(seed)
    done = total = 0
    for _ in range(KILLS):
        reported = killed(file, done, seed, chance.uniform(0.0, 0.5))
        with open_kb(file) as kb:
            found = state_of(kb)
            leftovers = kb.sql(
                "SELECT count(*) FROM duckdb_tables() WHERE schema_name IN ('edb', 'idb')"
                " AND table_name NOT IN (SELECT sql_name FROM zodiac.predicate)"
                " AND regexp_replace(table_name, '^h[0-9]+_', '')"
                " NOT IN (SELECT sql_name FROM zodiac.predicate)"
            ).fetchone()
        assert leftovers == (0,)
        candidates = {n: from_scratch(changes[:n]) for n in (reported, reported + 1)}
        reached = [n for n, state in candidates.items() if state == found]
        assert reached, f"neither the state after {reported} changes nor after one more"
        total += reached[0] - done
        done = reached[0]
        if done + ROUND >= CHANGES:
            file.unlink()
            done = 0
    assert total > KILLS  # they were killed at work
