"""Random programs over columns of terms of all kinds, against an oracle in plain Python.

After each change every extension is as the oracle has it (support/mixed_programs.py), term by term;
what the oracle finds ill-typed is refused, and changes nothing. To try seeds without pytest:

    python tests/random/test_mixed_columns.py SEED COUNT
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from generators.mixed_programs import (
    Change,
    Program,
    State,
    first_change,
    given,
    random_change,
    random_program,
)
from generators.mixed_rules import rule_text
from support import budget
from support.as_if_large import as_if_large
from support.earnings import without_earnings
from support.mixed_literals import literal_of, marks_of
from support.mixed_programs import Row, Violated, extensions
from support.mixed_rows import assert_same_rows
from support.mixed_types import Clash
from support.naive_values import Overflow
from support.strategies import STRATEGIES

from zodiac_sql import UpdateQueue, ZodiacError

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

PROGRAMS = budget.either(ci=6, fuzz=10)
CHANGES = 6
VERIFIED = 3
"""Every so many programs are verified, too."""


@pytest.mark.fuzz(share=6)
@pytest.mark.parametrize("large", [False, True], ids=["as they are", "as if large"])
def test_after_every_change(open_kb: OpenKb, large: bool) -> None:
    """With `large`, tables are treated as large, and each operator comes first at some time."""
    chance = Random(budget.seed(551 + large))
    for _ in range(PROGRAMS):
        seed = chance.randrange(2**32)
        with operators_in_turn(large), noted(seed):
            check_program(open_kb, seed)


@contextmanager
def operators_in_turn(really: bool) -> Iterator[None]:
    with as_if_large(really), pytest.MonkeyPatch.context() as patch:
        if really:
            without_earnings(patch)
        yield


@contextmanager
def noted(seed: int) -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        error.add_note(f"python tests/random/test_mixed_columns.py {seed}")
        raise


def check_program(open_kb: OpenKb, seed: int) -> None:
    """A program from scratch, then some changes: after each, every extension is as it should be."""
    rng = Random(seed)
    program = random_program(rng, rdf=True)
    with TemporaryDirectory() as directory:
        run = Run(open_kb, program, Path(directory) / "case.duckdb", rng)
        try:
            for number in range(CHANGES):
                first = number == 0
                run.make(
                    first_change(rng, program) if first else random_change(rng, program, run.state)
                )
                if rng.randrange(6) == 0:
                    run.reopen()
            if rng.randrange(VERIFIED) == 0:
                found = run.kb.verify()
                assert found, found
        finally:
            run.kb.close()
    budget.tried("programs over mixed columns")


class Run:
    """A file, and what is to be in it."""

    def __init__(self, open_kb: OpenKb, program: Program, path: Path, rng: Random) -> None:
        self.open_kb, self.program, self.path, self.rng = open_kb, program, path, rng
        self.strategy = strategy = rng.choice(STRATEGIES)
        self.state = State.empty(program)
        self.files = 0
        self.kb = open_kb(path, strategy=strategy)
        print(f"% {strategy}\n{program.declarations}", end="")
        self.kb.add_rules(program.declarations)

    def reopen(self) -> None:
        print("% reopen")
        self.kb.close()
        self.kb = self.open_kb(self.path, strategy=self.strategy)
        self.compare()

    def make(self, change: Change) -> None:
        """Make a change, and compare. What is ill-typed, or overflows, must be refused.

        The first change brings the rules one by one where not all of them fit together.
        """
        print(told(change))
        try:
            after = self.state.after(change, self.program)
            expected = self.expected(after)
        except (Clash, Overflow, Violated) as error:
            print(f"% to be refused: {error}")
            with pytest.raises(ZodiacError):
                self.bring(change)
            self.compare()
            if len(change.add) > 1:
                self.make(replace(change, add=()))
                for rule in change.add:
                    self.make(Change({}, {}, (rule,)))
            return
        self.bring(change)
        self.state = after
        assert_same(self.kb, expected)
        budget.tried("changes of mixed columns")

    def bring(self, change: Change) -> None:
        marks = {p.name: p.mark for p in self.program.schema if p.mark}
        rdf = marks.keys() & {*change.inserts, *change.deletes}
        if self.rng.randrange(4) == 0 and not (change.alter or rdf):
            self.stream(change)
            return
        with self.kb.update() as update:
            for name, (place, type_) in change.alter.items():
                update.alter(name, {f"c{place}": type_})
            if change.drop:
                update.drop_rules(*change.drop)
            for name, rows in change.deletes.items():
                if name in rdf:
                    update.unload(self.file(name, rows, marks[name]))
                else:
                    update.delete(name, given(rows))
            for name, rows in change.inserts.items():
                if name in rdf:
                    update.load(self.file(name, rows, marks[name]))
                else:
                    update.insert(name, given(rows))
            for rule in change.add:
                update.add_rules(rule_text(rule))

    def file(self, name: str, rows: Sequence[Row], mark: str) -> Path:
        """Facts of a property of RDF."""
        self.files += 1
        path = self.path.with_name(f"{self.files}.nt")
        lines = (f"<{s}> <{name}> {literal_of(value, mark).text} .\n" for s, value in rows)
        path.write_text("".join(lines), encoding="utf-8")
        print(f"% {path.name}\n{path.read_text(encoding='utf-8')}", end="")
        return path

    def stream(self, change: Change) -> None:
        """Make a change as an update of a stream, perhaps from a queue."""
        update: dict[str, object] = {
            "insert": {name: given(rows) for name, rows in change.inserts.items()},
            "delete": {name: given(rows) for name, rows in change.deletes.items()},
        }
        if change.drop:
            update["drop_rules"] = list(change.drop)
        if change.add:
            update["add_rules"] = "\n".join(map(rule_text, change.add))
        source: UpdateQueue | list[dict[str, object]] = [update]
        if self.rng.randrange(2):
            source = UpdateQueue()
            source.put(update)
            source.close()
        list(self.kb.stream(source))

    def compare(self) -> None:
        assert_same(self.kb, self.expected(self.state))

    def expected(self, state: State) -> Mapping[str, Collection[Row]]:
        rules = list(state.rules.values())
        marks = marks_of(rules, state.types, state.settled, self.program.marks)
        return extensions(rules, state.facts, state.types, marks)


def told(change: Change) -> str:
    """A change as one can type it."""
    lines = [f"kb.insert({name!r}, {given(rows)})" for name, rows in change.inserts.items()]
    lines += [f"kb.delete({name!r}, {given(rows)})" for name, rows in change.deletes.items()]
    lines += [f"kb.alter({n!r}, {{'c{p}': {t!r}}})" for n, (p, t) in change.alter.items()]
    lines += [f"{rule_text(rule)}" for rule in change.add]
    return "% change\n" + "\n".join([*lines, *(f"kb.drop_rules({name!r})" for name in change.drop)])


def assert_same(kb: KnowledgeBase, expected: Mapping[str, Collection[Row]]) -> None:
    """Compare the extensions of all predicates with what they should be."""
    known = kb.predicates()["predicate"].to_pylist()
    for name, rows in expected.items():
        if not rows and name not in known:
            continue  # nothing mentions it any more, and nothing declares it
        assert_same_rows(name, kb.table(name).fetchall(), rows)


def main(seed: int, count: int) -> None:
    from zodiac_sql import connect

    def open_kb(path: Path, strategy: str) -> KnowledgeBase:
        return connect(path, strategy=strategy, threads=1)

    for number in range(seed, seed + count):
        for large in (False, True):
            with operators_in_turn(large), noted(number):
                check_program(open_kb, number)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
