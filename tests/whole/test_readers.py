"""Readers: questions from other threads, each about one published state, while the writer works."""

from __future__ import annotations

import asyncio
import multiprocessing
import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support import budget

from zodiac_sql.errors import BusyError, LimitError, QueryError, StoreError

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase, Reader

OpenKb = Callable[..., "KnowledgeBase"]

RULES = """
    .decl edge(x: int, y: int).
    path(X, Y) :- edge(X, Y).
    path(X, Z) :- path(X, Y), edge(Y, Z).
    ends(X) :- path(_, X), not edge(X, _).
    size(C) :- AGGREGATE(path(X, Y)) WITH COUNT(X) AS C.
"""


@pytest.fixture(params=["file", "memory"])
def kb(request: pytest.FixtureRequest, tmp_path: Path, open_kb: OpenKb) -> KnowledgeBase:
    kb = open_kb(tmp_path / "a.duckdb" if request.param == "file" else ":memory:")
    kb.add_rules(RULES)
    kb.insert("edge", [(1, 2), (2, 3)])
    return kb


def test_while_a_change_is_computed(kb: KnowledgeBase) -> None:
    """A reader comes, asks and goes in a change before it is published: it has the state from
    before.
    """
    asked: list[object] = []

    def ask() -> None:
        with kb.reader() as reader:
            asked.append(set(reader.table("path")))
            asked.append(str(reader.why("path(1, 3)")))
            asked.append(reader.query("ends(X)").fetchall())

    before = set(kb.table("path"))
    with ThreadPoolExecutor(1) as other, kb.reader() as reader:

        def during(text: str, _: object) -> None:
            if text == "COMMIT" and not asked:
                other.submit(ask).result(20)
                asked.append(reader.sql("SELECT max(s) FROM size").fetchall())

        kb.trace(during)
        kb.insert("edge", [(3, 4), (7, 8)])
        kb.trace(None)
        assert asked[0] == before and "edge(2, 3)" in str(asked[1])
        assert asked[2:] == [[(3,)], [(3,)]]
        assert set(reader.table("path")) == set(kb.table("path")) != before
        assert reader.sql("SELECT max(s) FROM size").fetchall() == [(7,)]


def test_every_question(kb: KnowledgeBase) -> None:
    kb.keep_feed(["ends"])
    kb.add_rules("loop: !- edge(X, X).")
    kb.insert("edge", [(3, 4)])
    with kb.reader() as reader:
        for one in (reader, kb):
            assert one.query("ends(X)").fetchall() == [(4,)]
            assert "edge(3, 4)" in str(one.why("path(1, 4)"))
            assert "does not hold" in str(one.why_not("path(4, 1)"))
            assert not one.sparql("ASK { ?s ?p ?o }").num_rows  # they are no IRIs
            assert one.changes().predicates == ("ends",)
            assert not one.inconsistencies() and not one.violations().num_rows
        for verb in ("rules", "hypernodes", "predicates", "constraints", "feed", "rule_sets"):
            assert getattr(reader, verb)().to_pylist() == getattr(kb, verb)().to_pylist()
        assert reader.verify() and "path" in str(reader.explain())
        assert reader.graph().svg() == kb.graph().svg()
        assert reader.prefixes == kb.prefixes and reader.position("none") is None
        with reader.batches("path") as batches:
            assert len(reader.table("ends")) == 1  # others can be asked for meanwhile
            assert sum(batch.num_rows for batch in batches) == 6
        assert "rules" in repr(reader)
    with pytest.raises(StoreError):
        reader.table("path")
    assert len(kb.table("path")) == 6


def test_what_waits_in_the_journal(kb: KnowledgeBase) -> None:
    """Small changes, one behind the other, are not in the tables before somebody asks."""
    for number in range(10, 40):
        kb.insert("edge", [(number, number + 1)])
    with kb.reader() as reader:
        assert len(reader.query("edge(X, Y), X >= 10")) == 30
        for number in range(40, 60):
            kb.insert("edge", [(number, number + 1)])
            assert len(reader.query("edge(X, Y), X >= 10")) == number - 9
        kb.delete("edge", [(10, 11)])
    for number in range(60, 80):
        kb.insert("edge", [(number, number + 1)])
    with kb.reader() as reader:
        assert set(reader.table("path")) == set(kb.table("path"))
        assert kb.verify()


def test_rules_and_types_come_and_go(kb: KnowledgeBase) -> None:
    """Tables, views and columns change; the reader notices it."""
    with kb.reader() as reader:
        kb.add_rules("more: two(X, Z) :- edge(X, Y), edge(Y, Z).")
        assert reader.query("two(X, Y)").fetchall() == [(1, 3)]
        kb.insert("kind", [("a", 5)])
        assert reader.query("kind(X, K)").fetchall() == [("a", 5)]
        kb.insert("kind", [("a", "five")])
        assert len(reader.query("kind(a, K)")) == 2
        kb.alter("edge", {"x": "float"})
        assert reader.query("two(X, Y)").fetchall() == [(1.0, 3)]
        kb.drop_rules("more")
        with pytest.raises(QueryError, match="two"):
            reader.query("two(X, Y)")


def test_functions(kb: KnowledgeBase) -> None:
    def twice(x: int) -> int:
        return 2 * x

    with kb.reader() as reader:
        kb.register_function("twice", twice)
        kb.add_rules("double(X, D) :- ends(X), D = twice(X).")
        assert reader.query("double(X, D)").fetchall() == [(3, 6)]
        assert reader.query("edge(X, Y), Z = twice(Y)").fetchall()
        assert "twice" in str(reader.why("double(3, 6)"))


def test_limits_end_only_the_question(kb: KnowledgeBase) -> None:
    kb.insert("edge", [(n, n + 1) for n in range(3, 300)])
    with kb.reader() as reader:
        with pytest.raises(LimitError):
            reader.query("path(A, B), path(C, D), path(E, F), A + D * F > B * C", timeout=0.05)
        assert len(reader.query("ends(X)")) == 1
        kb.insert("edge", [(0, 1)])
        assert reader.query("ends(X)").fetchall() == [(300,)]


def test_each_belongs_to_its_thread(kb: KnowledgeBase) -> None:
    with ThreadPoolExecutor(1) as other, kb.reader() as reader:
        with pytest.raises(BusyError, match="belongs to the thread"):
            other.submit(reader.rules).result(20)
        theirs = other.submit(kb.reader).result(20)
        assert len(other.submit(theirs.rules).result(20)) == len(reader.rules())
        other.submit(theirs.close).result(20)


def test_beside_an_asynchronous_stream(kb: KnowledgeBase) -> None:
    """Another coroutine asks while an update is applied."""
    found: list[int] = []

    async def updates() -> object:
        for number in range(10, 40):
            await asyncio.sleep(0)
            yield {"insert": {"edge": [(number, number + 1)]}}

    async def look(reader: Reader, done: asyncio.Event) -> None:
        while not done.is_set():
            found.append(len(reader.query("edge(X, Y), X >= 10")))
            await asyncio.sleep(0)

    async def main() -> None:
        done = asyncio.Event()
        with kb.reader() as reader:
            looking = asyncio.ensure_future(look(reader, done))
            async for _ in kb.stream(updates()):
                pass
            done.set()
            await looking
            assert len(reader.query("edge(X, Y), X >= 10")) == 30

    asyncio.run(main())
    assert found == sorted(found)


def test_life(tmp_path: Path, open_kb: OpenKb) -> None:
    """A reader outlives its knowledge base, and keeps the file from being compacted."""
    path = tmp_path / "a.duckdb"
    kb = open_kb(path)
    kb.add_rules(RULES)
    reader = kb.reader()
    with pytest.raises(BusyError):
        kb.compact()
    kb.insert("edge", [(1, 2)])
    kb.close()
    for _ in range(2):  # each time, the reader's connection is made anew afterwards
        assert len(reader.table("path")) == 1
        reader._session.held.is_aside = True
    with open_kb(path) as again:
        again.insert("edge", [(2, 3)])
        assert len(reader.table("path")) == 3
        reader.close()
        again.compact()
        assert len(again.table("path")) == 3


def _in_a_fork(kb: KnowledgeBase, answer: multiprocessing.SimpleQueue[str]) -> None:
    try:
        kb.reader()
    except BusyError as error:
        answer.put(str(error))


def test_a_fork_gets_none(kb: KnowledgeBase) -> None:
    context = multiprocessing.get_context("fork")
    answer = context.SimpleQueue()
    child = context.Process(target=_in_a_fork, args=(kb, answer))
    child.start()
    child.join(20)
    assert "a fork of it" in answer.get()


@pytest.mark.fuzz
def test_each_answer_is_of_one_published_state(tmp_path: Path, open_kb: OpenKb) -> None:
    """One thread changes facts and rules; others ask. Answers are compared with a model: the states
    by their positions, each a set of edges, whose consequences Python computes.
    """
    chance = random.Random(budget.seed(56))
    states: list[frozenset[tuple[int, int]]] = [frozenset()]
    strange: list[object] = []
    over = threading.Event()

    def wanted(edges: frozenset[tuple[int, int]]) -> set[tuple[int, int]]:
        paths = set(edges)
        while new := {(a, d) for a, b in paths for c, d in edges if b == c} - paths:
            paths |= new
        return paths

    def ask(seed: int) -> None:
        rng, place = random.Random(seed), 0
        with kb.reader() as reader:
            while not over.is_set() and not strange:
                first = len(states) - 1  # this one is published, or the next one is about to be
                if rng.random() < 0.5:
                    found = set(reader.table("path"))
                else:
                    goal = "path(X, Y), at(P)"
                    rows = reader.query(goal).fetchall()
                    if len({p for _, _, p in rows}) > 1:
                        strange.append(rows)
                    found = {(x, y) for x, y, _ in rows}
                last = len(states) + 1
                candidates = [n for n in range(max(0, first - 1), last) if _is(n, found)]
                if not [n for n in candidates if n >= place]:
                    strange.append((place, first, last, found))
                place = max(place, min(candidates, default=0))
                if rng.random() < 0.1 and found:
                    _explain(reader, rng.choice(sorted(found)))
                budget.tried("questions of readers")

    def _is(n: int, found: set[tuple[int, int]]) -> bool:
        return n < len(states) and wanted(states[n]) == found

    def _explain(reader: Reader, fact: tuple[int, int]) -> None:
        try:
            reader.why(f"path({fact[0]}, {fact[1]})")
        except QueryError as error:
            assert "does not hold" in str(error) or "no fact" in str(error)

    with open_kb(tmp_path / "a.duckdb") as kb, ThreadPoolExecutor(3) as pool:
        kb.add_rules(RULES)
        kb.add_rules(".decl at(position: int)")
        kb.insert("at", [(0,)])
        asking = [pool.submit(ask, chance.randrange(10**9)) for _ in range(3)]
        for position in range(1, 60):
            if strange:
                break
            before = states[-1]
            pairs = {(chance.randrange(6), chance.randrange(6)) for _ in range(2)}
            after = before - pairs if chance.random() < 0.45 else before | pairs
            states.append(after)
            with kb.update() as update:
                update.delete("edge", sorted(before - after))
                update.insert("edge", sorted(after - before))
                update.replace("at", [(position,)])
                if chance.random() < 0.1:
                    update.replace_rules(f"far(X) :- path({position}, X).", set="far")
        over.set()
        for one in asking:
            one.result(60)
        assert not strange, strange
        assert set(kb.table("path")) == wanted(states[-1])
