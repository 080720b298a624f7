"""A process that is killed at any moment leaves the file as it was before a change, or after it.

A child makes a list of changes of rules and facts, one by one, and is killed. The file must then
show the state after some number of these changes; no less than the child had reported done, and at
most one more. From there the next child goes on, with another strategy. The change feed has just
these changes.
"""

from __future__ import annotations

import contextlib
import random
import subprocess
import sys
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Generator
from itertools import cycle, islice
from pathlib import Path

import pytest
from support import budget, crash_child
from support.changes_of_crash import _value
from support.crash_child import CHANGES, EXTRA, RULES, Change, planned
from support.fed import entries, facts, replayed
from support.oracle import only_model

from zodiac_sql import KnowledgeBase
from zodiac_sql.graph.hypergraph import Hypergraph, hypergraph
from zodiac_sql.graph.restructuring import kept_rules, restructure
from zodiac_sql.language.parse import parse
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.syntax import Column, Type
from zodiac_sql.rewrite.closures.recognise import modules_of
from zodiac_sql.rewrite.rewritten_hypernode import inner_of

OpenKb = Callable[..., KnowledgeBase]
Child = subprocess.Popen[bytes]
State = tuple[frozenset[tuple[str, str]], dict[str, frozenset[tuple[object, ...]]]]
"""Rules by name and text, and the extension of each predicate that has facts."""

CLINGO = {
    "degree": "degree(X, N) :- edge(X, _), N = #count { Y : edge(X, Y) }.",
    "near_a": "_walk(X, 1) :- edge(a, X). hops(X, N) :- _walk(X, _), N = #min { M : _walk(X, M) }.",
    "hops": "_walk(Y, N + 1) :- _walk(X, N), edge(X, Y), N < 40.",
}
"""Rules that clingo writes differently. No way from a is as long as 40 steps."""

SEED = 2028
KILLS = budget.either(ci=11, fuzz=30)
REPORTS = (None, 0, 0, 0, 0, 1, 1, 1)
"""After so many changes a child is left alone for a moment, and killed; None is while it opens."""

MOMENT = 0.2
"""In seconds. The first change in a file takes about as long, further ones less."""


@pytest.mark.fuzz(share=4)
@pytest.mark.filterwarnings("ignore::zodiac_sql.MissingLogWarning")  # see database/log.py
def test_a_killed_process_leaves_whole_changes(
    tmp_path: Path, open_kb: OpenKb, strategies: tuple[str, ...]
) -> None:
    seed = budget.seed(SEED)
    file = tmp_path / "killed.duckdb"
    changes = list(planned(seed))
    chance = random.Random(seed)
    done = total = 0
    with contextlib.closing(_children(file, seed, strategies)) as children:
        for child in children:
            reported = _killed(child, done, chance.choice(REPORTS), chance.uniform(0, MOMENT))
            with open_kb(file) as kb:
                before, done = done, reached(changes, reported, state_of(kb))
                _assert_whole(kb)
            total += done - before
            budget.tried("kills")
            if done > CHANGES * 0.9:
                file.unlink()
                done = 0
    assert total > KILLS / 4 or budget.FUZZING  # they were killed at work


def test_a_process_that_ends_when_it_has_only_opened_a_new_file(
    tmp_path: Path, open_kb: OpenKb
) -> None:
    """All migrations are in the log then, and nowhere else."""
    file = tmp_path / "new.duckdb"
    code = "import os, sys, zodiac_sql; kb = zodiac_sql.connect(sys.argv[1]); os._exit(9)"
    assert subprocess.run([sys.executable, "-c", code, str(file)], check=False).returncode == 9
    with open_kb(file) as kb:
        assert kb.insert("edge", [("a", "b")]).inserted == {"edge": 1}


def test_hypernodes_come_and_go_and_merge_and_split() -> None:
    """All of it happens often in the changes that children are killed at."""
    happened: Counter[str] = Counter()
    before, rules = Hypergraph(), set[str]()
    for number, change in enumerate(planned(SEED), 1):
        rules.symmetric_difference_update(change.added + change.dropped)
        program = parse("".join(f"{name}: {RULES[name]}\n" for name in sorted(rules))).rules
        after = hypergraph(program, kept_rules(before, program), 100 * number)
        found = restructure(before, after, lambda hypernode, predicate: 1)
        kinds = ("created", "dropped", "merged", "split")
        happened.update(kind for kind in kinds if getattr(found, kind))
        happened["both"] += bool(found.merged and found.split)
        before = after
    assert min(happened.values()) >= CHANGES / 20, happened


def test_modules_come_and_go_and_are_fed() -> None:
    """All of it happens often, too."""
    happened: Counter[str] = Counter()
    before, rules = set[str](), set[str]()
    for change in planned(SEED):
        rules.symmetric_difference_update(change.added + change.dropped)
        program = parse("".join(f"{name}: {RULES[name]}\n" for name in sorted(rules))).rules
        schema = {rule.head.predicate: _pairs_of_symbols(rule.head.predicate) for rule in program}
        now = set()
        for hypernode in hypergraph(program, {}, 1).hypernodes:
            inner = inner_of(hypernode, modules_of(hypernode, schema), schema)
            now |= {f"{row}{' fed' if row.fed else ''}" for row in inner.rows}
        happened.update(now)
        happened["on"] += bool(now - before)
        happened["off"] += bool(before - now)
        before = now
    kinds = ("stc(near)", "stc(near) fed", "tc(path)", "tc(path) fed", "on", "off")
    assert all(happened[kind] >= CHANGES / 20 for kind in kinds), happened


def _pairs_of_symbols(name: str) -> Predicate:
    columns = tuple(Column(end, Type.SYMBOL) for end in "so")
    return Predicate(name, name, columns, (Type.SYMBOL,) * 2, (None,) * 2)


def reached(changes: list[Change], reported: int, found: State) -> int:
    """How many changes a file shows, of which so many were reported done."""
    for done in (reported, reported + 1):
        if from_scratch(changes[:done]) == found:
            return done
    raise AssertionError(f"neither the state after {reported} changes nor after one more")


def from_scratch(changes: list[Change]) -> State:
    """The state after these changes by clingo; most of the rules are in its language."""
    rules: set[str] = set()
    facts: set[tuple[str, tuple[str, str]]] = set()
    extra: tuple[str, ...] = ()
    for change in changes:
        extra = extra if change.extra is None else change.extra
        rules.symmetric_difference_update(change.added + change.dropped)
        facts.difference_update(change.deleted)
        facts.update(change.inserted)
    lines = [f"{predicate}({', '.join(row)})." for predicate, row in sorted(facts)]
    lines += [CLINGO.get(name, RULES[name]) for name in sorted(rules)]
    lines += [EXTRA[name] for name in extra]
    shown: dict[str, set[tuple[object, ...]]] = defaultdict(set)
    for symbol in only_model("\n".join(lines)):
        if not symbol.name.startswith("_"):
            shown[symbol.name].add(tuple(_value(term) for term in symbol.arguments))
    texts = {(name, RULES[name]) for name in rules}
    texts |= {(f"extra/{name}", EXTRA[name]) for name in extra if name != "fact"}
    if "fact" in extra:
        texts.add(("extra/facts:tip", "tip(V1) :- <tip@extra>(V1)."))
        shown["tip@extra"].add(("a",))
    return frozenset(texts), {name: frozenset(rows) for name, rows in shown.items()}


def state_of(kb: KnowledgeBase) -> State:
    """What the file's views show, read as any DuckDB client would."""
    rules = kb.sql("SELECT name, source FROM zodiac.rule WHERE name <> 'never'").fetchall()
    names = kb.sql(
        "SELECT sql_name FROM zodiac.predicate WHERE NOT starts_with(name, 'urn:zodiac-sql:')"
    ).fetchall()
    shown = {name: frozenset(kb.sql(f'SELECT * FROM "{name}"').fetchall()) for (name,) in names}
    return frozenset(rules), {name: rows for name, rows in shown.items() if rows}


def _assert_whole(kb: KnowledgeBase) -> None:
    """Every table holds what it should; others are only there for the facts of the last change."""
    leftovers = kb.sql(
        "SELECT table_name FROM duckdb_tables() WHERE schema_name IN ('edb', 'idb')"
        " AND NOT starts_with(table_name, 'zodiac$aside_')"
        " AND table_name NOT IN (SELECT sql_name FROM zodiac.predicate)"
        " AND regexp_replace(table_name, '^h[0-9]+_|( classes| between| external)$', '', 'g')"
        " NOT IN (SELECT sql_name FROM zodiac.predicate)"
    ).fetchall()
    assert leftovers == []
    views = kb.sql("SELECT view_name FROM duckdb_views() WHERE schema_name = 'idb'").fetchall()
    partitions = kb.sql(
        "SELECT h.id, m.predicate FROM zodiac.hypernode AS h, unnest(h.modules) AS u(m)"
        " WHERE m.kind IN ('stc', 'scc')"
    ).fetchall()
    assert {name for (name,) in views} <= {f"h{number}_{name}" for number, name in partitions}
    for (name,) in views:  # such a relation has all facts of its predicate
        assert len(kb.sql(f"FROM idb.{name}")) == len(kb.table(name.partition("_")[2]))
    if kb.feed():  # a child may be killed before it has begun with it
        assert replayed({}, entries(kb, since=0)) == facts(kb)
    found = kb.verify()
    assert found, found


def _children(file: Path, seed: int, strategies: tuple[str, ...]) -> Generator[Child, None, None]:
    """Children to be killed, each started while the one before it is at work."""
    waiting = deque([_started(file, seed, strategies[0])])
    try:
        for strategy in islice(cycle(strategies), 1, KILLS):
            waiting.append(_started(file, seed, strategy))
            yield waiting[0]
            _end(waiting.popleft())
        yield waiting[0]
    finally:
        for child in waiting:
            _end(child)


def _end(child: Child) -> None:
    with child:
        child.kill()


def _started(file: Path, seed: int, strategy: str) -> Child:
    command = [sys.executable, crash_child.__file__, str(file), str(seed), strategy]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def _killed(child: Child, done: int, reports: int | None, after: float) -> int:
    """Let a child go on after `done` changes, and kill it a moment after it has reported some.

    Returns how many it had reported done in the end.
    """
    assert child.stdin is not None and child.stdout is not None
    child.stdin.write(f"{done}\n".encode())
    child.stdin.flush()
    told = [child.stdout.readline() for _ in range(0 if reports is None else 1 + reports)]
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(after)
    child.kill()
    told += child.stdout.readlines()
    assert told[:1] in ([], [b"open\n"])
    return int(told[-1]) if told[1:] else done
