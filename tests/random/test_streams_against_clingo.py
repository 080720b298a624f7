"""Random streams of updates, whenever they arrive: after each Change the state is clingo's.

`update_streams` says what is in a stream. An example decides what has arrived when the next update
is asked for, and what arrives while it is applied; whether others change the file in between; and
whether the stream is left and begun again. To look for new examples:
    pytest --hypothesis-profile=explore tests/random/test_streams_against_clingo.py
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest
from generators.program_changes import AddRule, Delete, DropRule, Insert, State, change_text
from generators.programs import PLAIN, Predicate, program_text
from generators.random_programs import random_program, random_rows
from generators.random_rules import chance
from generators.update_streams import (
    GAUGE,
    Feed,
    Recipe,
    Sent,
    Stream,
    as_lines,
    as_update,
    random_updates,
    recipes,
)
from hypothesis import given, note, settings
from hypothesis import strategies as st
from support.agreement import Extensions, assert_agrees, assert_told, insert_all, make
from support.as_if_large import as_if_large
from support.examples import share
from support.oracle import extensions

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase
    from zodiac_sql.change.change import Change as Told

OpenKb = Callable[..., "KnowledgeBase"]

# A stream takes 4 s: half a minute is for all. The first one that hypothesis tries has no updates.
MARKING = share(70)
PLAINLY = share(140)
COALESCED = share(46)
THREADS = share(140)

NAME = "feed"


@dataclass(frozen=True)
class Way:
    """How a stream arrives, and what happens meanwhile.

    `source`: a "queue" that is filled bit by bit; or a "list" or "file", where all is there at
    once. `disturbed`: others make changes between two updates. `reopened`: after this update the
    stream ends, and another one goes on by name; with `on_file` the file is closed, too.
    """

    source: str
    large: bool = False
    disturbed: bool = False
    reopened: int = 0
    on_file: bool = False


WAYS = st.builds(
    Way,
    st.sampled_from(["queue", "queue", "queue", "list", "file"]),
    st.booleans(),
    st.sampled_from([False, False, True]),
    st.sampled_from([0, 0, 0, 9, 16]),
    st.booleans(),
)


@settings(max_examples=MARKING)
@given(recipe=recipes, way=WAYS)
@pytest.mark.parametrize("chosen", ["bf_marking", "dred_marking"])
def test_with_marking(open_kb: OpenKb, chosen: str, recipe: Recipe, way: Way) -> None:
    """What an update marks is there then, and it marks nothing if it knows of no next one."""
    _go_through(open_kb, chosen, recipe.stream(chosen, refusals=4), way)


@settings(max_examples=PLAINLY)
@given(recipe=recipes, way=WAYS)
@pytest.mark.parametrize("chosen", ["bf", "auto"])
def test_without_marking(open_kb: OpenKb, chosen: str, recipe: Recipe, way: Way) -> None:
    _go_through(open_kb, chosen, recipe.stream(chosen, refusals=4), way)


@settings(max_examples=COALESCED)
@given(recipe=recipes, way=WAYS, coalesce=st.integers(2, 8))
def test_coalesced(open_kb: OpenKb, recipe: Recipe, way: Way, coalesce: int) -> None:
    """The points at which the state is clingo's are fewer."""
    stream = recipe.stream("coalesced", refusals=2)
    chosen = stream.random("chosen").choice(["auto", "bf", "bf_marking"])
    _go_through(open_kb, chosen, stream, way, coalesce)


@settings(max_examples=THREADS)
@given(recipe=recipes, coalesce=st.sampled_from([1, 1, 4]), ahead=st.integers(1, 4))
@pytest.mark.parametrize("reader", ["of its own", "of the stream"])
def test_from_a_thread(
    open_kb: OpenKb, reader: str, recipe: Recipe, coalesce: int, ahead: int
) -> None:
    """It waits for a moment before many updates; and when so many are waiting, for the stream."""
    stream = recipe.stream(reader)
    note(str(stream))
    rng = stream.random("thread")
    updates = [as_update(sent, rng) for sent in stream.updates]
    source = _paced(updates, stream.random("pace"))
    with open_kb(strategy=rng.choice(["bf_marking", "auto"])) as kb:
        session = _Session(kb, stream, coalesce)
        if reader == "of the stream":
            session.follow(kb.stream(source, queue=ahead, coalesce=coalesce))
        else:
            with _filled(source, ahead) as queue:
                session.follow(kb.stream(queue, coalesce=coalesce))
        session.close()


def _paced(updates: list[dict[str, Any]], rng: Random) -> Iterator[dict[str, Any]]:
    for update in updates:
        time.sleep(rng.choice((0, 0, 0.01, 0.03, 0.08)))
        yield update


@contextmanager
def _filled(updates: Iterator[dict[str, Any]], size: int) -> Iterator[Any]:
    """A queue that a thread fills with updates, and closes."""
    from zodiac_sql import UpdateQueue

    queue = UpdateQueue(size)

    def fill() -> None:
        for update in updates:
            queue.put(update, timeout=60)
        queue.close()

    thread = Thread(target=fill, daemon=True)
    thread.start()
    yield queue
    thread.join(10)
    assert not thread.is_alive()


def test_marks_are_set_and_passed_on_in_such_streams(open_kb: OpenKb) -> None:
    """Else what is above would say nothing of them."""
    explicit = implicit = 0
    for seed in range(3):
        stream = _some_stream(seed)
        with open_kb(strategy="bf_marking") as kb:
            _begin(kb, stream)
            rng = stream.random("updates")
            for change in kb.stream([as_update(sent, rng) for sent in stream.updates]):
                marks = change.stats.get("marks", {})
                explicit += int(str(marks.get("explicit", 0)))
                implicit += int(str(marks.get("implicit", 0)))
    assert explicit > 30 and implicit > 10


def _some_stream(seed: int) -> Stream:
    rng = Random(seed)
    program = random_program(rng)
    return Stream(program, tuple(map(Sent, random_updates(rng, program, 20))))


# ------------------------------------------------------------------ what all of them have in common


def _go_through(
    open_kb: OpenKb, strategy: str, stream: Stream, way: Way, coalesce: int = 1
) -> None:
    note(f"% {strategy}, {way}, {coalesce=}\n{stream}")
    with TemporaryDirectory() as folder, as_if_large(way.large):
        file = Path(folder) / "streamed.duckdb" if way.on_file else ":memory:"
        kb = open_kb(file, strategy=strategy)
        try:
            session = _Session(kb, stream, coalesce)
            session.stream(way, Path(folder), until=way.reopened)
            if way.reopened and way.on_file:
                kb.close()
                other = stream.random("reopened").choice((strategy, "support", "bf_marking"))
                note(f"% reopened, {other}")
                session.kb = kb = open_kb(file, strategy=other)
            if way.reopened:
                session.stream(way, Path(folder))
            session.close()
        finally:
            kb.close()


def _begin(kb: KnowledgeBase, stream: Stream) -> None:
    insert_all(kb, stream.program.facts)
    kb.insert(GAUGE, [(1,)])
    kb.add_rules(program_text(stream.program.rules, {}, stream.program.style))


class _Session:
    """A knowledge base that follows a stream, and what should be in it."""

    def __init__(self, kb: KnowledgeBase, stream: Stream, coalesce: int) -> None:
        self.kb = kb
        self.applied = 0
        self._stream = stream
        self._coalesce = coalesce
        self._rng = stream.random("session")
        self._state = State.of(stream.program)
        self._before = self._extensions()
        _begin(kb, stream)

    def stream(self, way: Way, folder: Path, until: int = 0) -> None:
        """Follow the stream from its beginning, to its end or until some update is done."""
        rng = self._stream.random("updates")
        updates = [as_update(sent, rng, self._coalesce > 1) for sent in self._stream.updates]
        source, feed = _source(way, updates, folder, rng)
        options: dict[str, Any] = {"name": NAME, "coalesce": self._coalesce, "skip_bad": True}
        with closing(self.kb.stream(source, **options)) as changes:
            self.kb.trace(feed.during if feed else None)
            self.follow(changes, feed, until, way.disturbed)
        self.kb.trace(None)
        assert (self.kb.position(NAME) or 0) == self.applied

    def follow(
        self,
        changes: Iterator[Told],
        feed: Feed | None = None,
        until: int = 0,
        disturbed: bool = False,
    ) -> None:
        while True:
            if feed:
                feed.before(self.applied)
            try:
                change = next(changes)
            except StopIteration:
                break
            self._check(change)
            self._check_marks(change, feed)
            if until and self.applied >= until:
                return
            if disturbed and chance(self._rng, 15):
                self._disturb()
        assert self.applied == len(self._stream.updates)

    def _check(self, change: Told) -> None:
        """A change covers the next updates, and with them the state is right."""
        first, last = self.applied + 1, change.updates[-1]
        assert change.updates == range(first, last + 1)
        assert len(change.updates) <= self._coalesce
        note(f"% changed by {first} to {last}")
        sent = self._stream.updates[self.applied : last]
        for one in sent:
            if not one.refused:
                self._state.apply(one.change)
        passed_over = any("passed over: " in line and "update " in line for line in change.notes)
        assert passed_over == any(one.refused for one in sent)
        assert len(sent) == 1 or not any(one.refused or _has_rules(one) for one in sent)
        self.applied = last
        after = self._extensions()
        assert_told(change, self._before, after)
        assert_agrees(self.kb, after)
        if chance(self._rng, 10):  # ranks above all, before another change repairs them
            self._verify()
        self._before = after

    def _check_marks(self, change: Told, feed: Feed | None) -> None:
        """Only what is there is marked, and only if the next update had arrived."""
        marked = {
            predicate: {tuple(row.values()) for row in self._marked(change, predicate)}
            for predicate, rows in self._before.items()
            if rows and rows != {()}
        }
        for predicate, rows in marked.items():
            assert rows <= self._before[predicate], f"marked {predicate}"
        rest = self._stream.updates[self.applied :]
        if feed and feed.arrived <= self.applied or not rest or _has_rules(rest[0]):
            assert not any(marked.values())

    @staticmethod
    def _marked(change: Told, predicate: str) -> list[dict[str, Any]]:
        return change.marked_facts(predicate).to_pylist()

    def _disturb(self) -> None:
        """Something that is not of the stream: a change, a refused one, or a preview."""
        from zodiac_sql.errors import DataError

        step = _foreign(self._rng, self._stream.program.schema, self._stream)
        what = self._rng.choice(("change", "change", "refused", "preview"))
        note(f"% meanwhile {what}: {change_text((step,))}")
        if what == "change":
            self._state.apply((step,))
            make(self.kb, (step,), PLAIN)
            self._before = self._extensions()
        elif what == "preview":
            with self.kb.preview() as preview:
                getattr(preview, type(step).__name__.lower())(step.predicate, list(step.rows))
        else:
            with suppress(DataError):
                self.kb.insert(GAUGE, [(1, 2)])

    def close(self) -> None:
        assert_agrees(self.kb, self._before)
        self._verify()

    def _verify(self) -> None:
        found = self.kb.verify()
        assert found, found

    def _extensions(self) -> Extensions:
        return extensions(list(self._state.rules.values()), self._state.facts)


def _has_rules(sent: Sent) -> bool:
    return any(isinstance(step, AddRule | DropRule) for step in sent.change)


def _foreign(rng: Random, schema: tuple[Predicate, ...], stream: Stream) -> Insert | Delete:
    """Some facts of a predicate, inserted or deleted."""
    predicate = rng.choice([p for p in schema if not p.aggregate])
    program = stream.program
    rows = random_rows(rng, predicate, 2, program.symbols, program.integers)
    return rng.choice((Insert, Delete))(predicate.name, rows)


def _source(
    way: Way, updates: list[dict[str, Any]], folder: Path, rng: Random
) -> tuple[Any, Feed | None]:
    """What the stream is given, and what fills it."""
    from zodiac_sql import UpdateQueue

    if way.source == "list":
        return updates, None
    if way.source == "file":
        file = folder / "updates.jsonl"
        file.write_text(as_lines(updates, rng))
        return file, None
    feed = Feed(updates, UpdateQueue(), rng)
    return feed.queue, feed
