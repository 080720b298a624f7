"""Random sequences of changes of facts: every strategy must give what clingo gives, step by step.

In each example one knowledge base per strategy gets the same changes. To look for new examples:
    pytest --hypothesis-profile=explore tests/random/test_maintenance.py
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from generators.drawn_programs import programs_with_changes
from generators.program_changes import Change, State
from generators.programs import Program, program_text
from hypothesis import given, note, settings
from hypothesis import strategies as st
from support.agreement import (
    Extensions,
    assert_agrees,
    assert_told,
    insert_all,
    make,
    numbered,
)
from support.as_if_large import as_if_large
from support.closures import closure_program
from support.examples import share
from support.oracle import extensions

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]
Case = tuple[Program, list[Change]]


@dataclass(frozen=True)
class Way:
    """`reopened`: after how many changes to close and reopen the files; None is in memory."""

    large: bool
    reopened: int | None


WAYS = st.builds(Way, st.booleans(), st.sampled_from([None, None, None, 7, 12, 18]))

GENERAL = share(60)
CLOSURES = share(70)

# A few steps are left out again, so that at least 20 changes remain.
CHANGES = {"min_changes": 23, "max_changes": 27, "change_rules": False}


class Competitors:
    """A knowledge base per strategy, to all of which the same is done."""

    def __init__(self, open_kb: OpenKb, strategies: tuple[str, ...], folder: Path | None) -> None:
        self._open_kb, self._folder, self._strategies = open_kb, folder, strategies
        self._opened = {strategy: self._open(strategy, strategy) for strategy in strategies}

    def _open(self, file: str, strategy: str) -> KnowledgeBase:
        place = self._folder / f"{file}.duckdb" if self._folder else ":memory:"
        return self._open_kb(place, strategy=strategy)

    def each(self, do: Callable[[KnowledgeBase], None]) -> None:
        """What fails says with which strategy it did."""
        for strategy, kb in self._opened.items():
            try:
                do(kb)
            except Exception as error:
                error.add_note(f"strategy {strategy}")
                raise

    def reopen(self) -> None:
        """Open each file with another strategy: what one leaves behind, all must understand."""
        self.close()
        others = (*self._strategies[1:], self._strategies[0])
        self._opened = {
            f"{before}, then {after}": self._open(before, after)
            for before, after in zip(self._strategies, others, strict=True)
        }

    def close(self) -> None:
        self.each(lambda kb: kb.close())


@settings(max_examples=GENERAL)
@given(case=programs_with_changes(**CHANGES, merging=15), way=WAYS)
def test_all_kinds_of_programs(
    open_kb: OpenKb, strategies: tuple[str, ...], case: Case, way: Way
) -> None:
    _compete(open_kb, strategies, case, way)


@settings(max_examples=CLOSURES)
@given(case=programs_with_changes(make=closure_program, **CHANGES), way=WAYS)
def test_recursion_over_cyclic_graphs(
    open_kb: OpenKb, strategies: tuple[str, ...], case: Case, way: Way
) -> None:
    _compete(open_kb, strategies, case, way)


def _compete(open_kb: OpenKb, strategies: tuple[str, ...], case: Case, way: Way) -> None:
    with TemporaryDirectory() as folder, as_if_large(way.large):
        competitors = Competitors(open_kb, strategies, Path(folder) if way.reopened else None)
        try:
            _go_through(competitors, *case, way.reopened)
        finally:
            competitors.close()


def _go_through(
    competitors: Competitors, program: Program, changes: list[Change], reopened: int | None
) -> None:
    note(str(program))
    state = State.of(program)
    competitors.each(lambda kb: _begin(kb, program))
    before = extensions(program.rules, state.facts)
    for number, change in enumerate(changes, 1):
        note(numbered(number, change))
        state.apply(change)
        after = extensions(program.rules, state.facts)
        _change_each(competitors, program, change, (before, after))
        before = after
        if number == reopened:
            note("% reopened")
            competitors.reopen()
    competitors.each(lambda kb: _assert_whole(kb, before))


def _assert_whole(kb: KnowledgeBase, expected: Extensions) -> None:
    """Every table is as it should be, also where that cannot be seen in an extension."""
    assert_agrees(kb, expected)
    found = kb.verify()
    assert found, found


def _begin(kb: KnowledgeBase, program: Program) -> None:
    insert_all(kb, program.facts)
    kb.add_rules(program_text(program.rules, {}, program.style))


def _change_each(
    competitors: Competitors,
    program: Program,
    change: Change,
    expected: tuple[Extensions, Extensions],
) -> None:
    """Compares what the change tells, and the extensions that should have changed."""
    before, after = expected
    changed = {name: rows for name, rows in after.items() if rows != before.get(name, set())}

    def change_one(kb: KnowledgeBase) -> None:
        assert_told(make(kb, change, program.style), before, after)
        assert_agrees(kb, changed)

    competitors.each(change_one)
