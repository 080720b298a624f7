"""Random small changes that are looked up, against an evaluator in plain Python.

Copies are state that lasts from change to change. So between the changes, others come that copies
must follow, or by which they are lost: large ones, rules that come and go, previews, changes that
are refused, another knowledge base of the same file, and closing it to go on by another strategy,
which needs ranks that can be relied upon. To look for new examples:
    pytest --hypothesis-profile=explore tests/random/test_lookups.py
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import ExitStack
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest
from generators.joining_answers import evaluated
from generators.joining_programs import Facts, Row, rule_text
from generators.joining_random import random_program, random_row
from hypothesis import given, note, settings
from hypothesis import strategies as st
from support import budget
from support.agreement import assert_agrees, assert_told
from support.examples import share

from zodiac_sql import ConstraintError
from zodiac_sql.change.operators import copied_first
from zodiac_sql.database import remembered
from zodiac_sql.lookups import cascade, worth
from zodiac_sql.storage import journal
from zodiac_sql.storage.journal import MOST_ENTRIES

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase
    from zodiac_sql.change.change import Change
    from zodiac_sql.change.update import Update

OpenKb = Callable[..., "KnowledgeBase"]

CONSTRAINT = "never: !- forbidden(X), free(X)."
BY = ("lookups", "lookups", "auto", "support")


class Run:
    """A file, what is to be in it, and the knowledge base that changes it."""

    def __init__(self, rng: Random, open_kb: OpenKb, path: Path, closing: ExitStack) -> None:
        self.rng, self.open_kb, self.path, self.closing = rng, open_kb, path, closing
        self.program = random_program(rng)
        later = max(0, min(rng.randrange(3), len(self.program.rules) - 2))
        mixed = rng.sample(self.program.rules, len(self.program.rules))
        self.dropped = mixed[:later]
        """The rules that have gone, or come later."""
        self.program = replace(self.program, rules=tuple(mixed[later:]))
        self.explicit: Facts = {name: set() for name in self.program.types}
        self.alone = {(0,), (1,)}
        """Facts that no rule reads: now and then they come and go in the same changes."""
        self.new: list[str] = []
        self.kb = self.opened("lookups")
        # It is declared, so that it is known when its last fact has gone.
        self.kb.add_rules(f".decl alone(n: int)\n{self.program.text()}\n{CONSTRAINT}")
        self.kb.insert("forbidden", [("x",)])
        self.kb.insert("free", [("y",)])
        self.kb.insert("alone", self.alone)

    def opened(self, strategy: str) -> KnowledgeBase:
        return self.closing.enter_context(self.open_kb(self.path, strategy=strategy))

    def expected(self) -> Facts:
        return {**evaluated(self.program, self.explicit), "alone": {*self.alone}}

    def step(self) -> None:
        acts: list[tuple[int, Callable[[], object]]] = [
            (8, self.change), (6, self.changes_in_a_row), (1, self.large), (3, self.rules),
            (1, self.preview), (1, self.refused), (1, self.another), (1, self.reopen),
            (1, self.no_rule), (1, self.killed),
        ]  # fmt: skip
        weights, choices = zip(*acts, strict=True)
        act = self.rng.choices(choices, weights)[0]
        note(act.__name__)
        act()
        assert_agrees(self.kb, self.expected())

    # What can happen

    def change(self, kb: KnowledgeBase | None = None, facts: int = 0, asks: bool = True) -> None:
        """A change. To ask what it did would settle the journal."""
        before, verbs = self.expected(), self._verbs(facts or self.rng.choice([1, 1, 2, 4]))
        told = self._apply(kb or self.kb, verbs, self._verbs_alone())
        if asks:
            assert_told(told, before, self.expected())

    def changes_in_a_row(self) -> None:
        """Nobody asks in between, so they go to the journal; what comes next has to settle it."""
        for _ in range(self.rng.randrange(2, 7)):
            self.change(asks=False)
            if self.rng.random() < 0.1:
                self.no_rule()
        if self.rng.random() < 0.5:
            act = self.rng.choice(
                [self.large, self.rules, self.preview, self.refused, self.another]
            )
            note(f"then {act.__name__}")
            act()

    def killed(self) -> None:
        """A file with the log beside it is what a process leaves that is killed now."""
        for _ in range(self.rng.randrange(4)):
            self.change(asks=False)
        with TemporaryDirectory() as folder:
            left = Path(folder) / self.path.name
            for end in ("", ".wal"):
                if (there := Path(f"{self.path}{end}")).exists():
                    shutil.copy(there, f"{left}{end}")
            with self.open_kb(left, strategy="support") as kb:
                assert_agrees(kb, self.expected())
                assert kb.verify()

    def large(self) -> None:
        self.change(facts=40)

    def another(self) -> None:
        with self.open_kb(self.path, strategy=self.rng.choice(BY)) as other:
            self.change(other)

    def reopen(self) -> None:
        assert self.kb.verify()
        self.kb.close()
        self.kb = self.opened(self.rng.choice(BY))

    def preview(self) -> None:
        """It tells what the same change would do, and does nothing; perhaps the change follows."""
        before, explicit, alone = self.expected(), deepcopy(self.explicit), {*self.alone}
        verbs, verbs_alone = self._verbs(2), self._verbs_alone()
        with self.kb.preview() as update:
            self._put(update, verbs)
            self._put_alone(update, verbs_alone)
        after = self.expected()
        assert_told(update.change, before, after)
        strategies = [one.strategy for one in update.change.stats.hypernodes.values()]
        if "lookups" in strategies:
            budget.tried("previews looked up")
        if self.rng.random() < 0.5:
            self.explicit, self.alone = explicit, alone
            return
        told = self._apply(self.kb, verbs, verbs_alone)
        assert_told(told, before, after)
        if "lookups" in strategies:
            assert strategies == [one.strategy for one in told.stats.hypernodes.values()]

    def refused(self) -> None:
        with pytest.raises(ConstraintError), self.kb.update() as update:
            for (name, row), inserts in self._verbs(2).items():
                (update.insert if inserts else update.delete)(name, [row])
            update.insert("free", [("x",)])

    def no_rule(self) -> None:
        if verbs := self._verbs_alone(likely=1):
            self._apply(self.kb, {}, verbs)

    def rules(self) -> None:
        """One comes or goes, perhaps with facts; copies of what it leaves alone stay."""
        rules = list(self.program.rules)
        verbs = self._verbs(self.rng.choice([1, 3])) if self.rng.random() < 0.3 else {}
        with self.kb.update() as update:
            if self.dropped and self.rng.random() < 0.6:
                rules.append(self.dropped.pop(self.rng.randrange(len(self.dropped))))
                update.add_rules(rule_text(rules[-1]))
            elif len(rules) > 1:
                self.dropped.append(rules.pop(self.rng.randrange(len(rules))))
                update.drop_rules(self.dropped[-1].name)
            self._put(update, verbs)
        self.program = replace(self.program, rules=tuple(rules))

    # How

    def _verbs(self, facts: int) -> dict[tuple[str, Row], bool]:
        """Facts that are inserted, or deleted."""
        found: dict[tuple[str, Row], bool] = {}
        for _ in range(facts):
            name = self.rng.choice(sorted(self.program.types))
            there = sorted(self.explicit[name], key=repr)
            row = self._with_new(random_row(self.rng, self.program.types[name]))
            if there and self.rng.random() < 0.45:
                row = self.rng.choice(there)
            found.setdefault((name, row), self.rng.random() < 0.6)
        return found

    def _verbs_alone(self, likely: float = 0.3) -> dict[tuple[int], bool]:
        """Facts that no rule reads, which have to be inserted or deleted then."""
        verbs: dict[tuple[int], bool] = {}
        while self.rng.random() < likely:
            verbs[(self.rng.randrange(8),)] = self.rng.random() < 0.6
            likely = min(likely, 0.5)
        self.alone |= {row for row, inserts in verbs.items() if inserts}
        self.alone -= {row for row, inserts in verbs.items() if not inserts}
        return verbs

    def _with_new(self, row: Row) -> Row:
        """Now and then a symbol is a new one, or one that was new some changes ago."""
        if self.rng.random() < 0.1:
            self.new.append(f"new{len(self.new)}" + self.rng.choice(["", "!" * 200]))
        others = [*self.new[-4:], *self.new[:1]]
        if not others or self.rng.random() < 0.8:
            return row
        return tuple(self.rng.choice(others) if isinstance(v, str) else v for v in row)

    def _put(self, update: Update, verbs: dict[tuple[str, Row], bool]) -> None:
        """Let facts be inserted and deleted, and remember that."""
        for (name, row), inserts in verbs.items():
            (update.insert if inserts else update.delete)(name, [row])
            (self.explicit[name].add if inserts else self.explicit[name].discard)(row)

    def _put_alone(self, update: Update, verbs: dict[tuple[int], bool]) -> None:
        for number, inserts in verbs.items():
            (update.insert if inserts else update.delete)("alone", [number])

    def _apply(
        self,
        kb: KnowledgeBase,
        verbs: dict[tuple[str, Row], bool],
        alone: dict[tuple[int], bool],
    ) -> Change:
        budget.tried("changes")
        with kb.update() as update:
            self._put(update, verbs)
            self._put_alone(update, alone)
        hypernodes: Any = update.change.stats.hypernodes.values()
        for _ in range(sum(one.strategy == "lookups" for one in hypernodes)):
            budget.tried("hypernodes looked up")
        return update.change


@settings(max_examples=share(12))
@given(
    seed=st.integers(0, 2**32 - 1),
    steps=st.integers(5, 25),
    entries=st.sampled_from([1, 3, MOST_ENTRIES]),
    most=st.sampled_from([0, 3, remembered.MOST_REMEMBERED]),
    asked=st.sampled_from([1, 3, remembered.TIMES_ASKED]),
    rounds=st.sampled_from([-1, 0, cascade.ROUNDS]),
    parts=st.sampled_from([1, 3]),
    earned=st.sampled_from([1, worth.HYPERNODE]),
)
def test_small_changes_and_what_comes_between(
    open_kb: OpenKb,
    seed: int,
    steps: int,
    entries: int,
    most: int,
    asked: int,
    rounds: int,
    parts: int,
    earned: int,
) -> None:
    """So many `entries` wait in the journal, and so many symbols are remembered at `most`: all of
    them, if the file was `asked` for some so often. After so many `rounds` one statement does the
    others. Predicates are copied in so many `parts`, some of which come later, if little is
    `earned`.
    """
    with TemporaryDirectory() as folder, ExitStack() as closing:
        closing.enter_context(patch.object(journal, "MOST_ENTRIES", entries))
        closing.enter_context(patch.object(remembered, "MOST_REMEMBERED", most))
        closing.enter_context(patch.object(remembered, "TIMES_ASKED", asked))
        closing.enter_context(patch.object(cascade, "ROUNDS", rounds))
        closing.enter_context(patch.object(worth, "HYPERNODE", earned))
        closing.enter_context(patch.object(worth, "taken", lambda _: 0))
        closing.enter_context(patch.object(copied_first, "MOST", 0))
        closing.enter_context(patch.object(worth.Worth, "parts_of", lambda *_: parts))
        run = Run(Random(seed), open_kb, Path(folder) / "lookups.duckdb", closing)
        note(run.program.text())
        for _ in range(steps):
            run.step()
        assert run.kb.verify()
