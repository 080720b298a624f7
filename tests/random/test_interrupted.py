"""Interruptions of changes of facts and rules, in three ways: each change is there, or it is not.

A model in plain Python is asked after each change what is there, so that damage is seen, too, that
an interruption does to what a session remembers, and that only a later change shows. In the end
the change feed must tell all changes, one by one, and `verify` must agree. For a certain number:

    PYTHONPATH=tests python tests/random/test_interrupted.py 20000
"""

from __future__ import annotations

import signal
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from itertools import count
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from generators.interrupted_changes import drawn
from generators.interrupted_rules import DECLARATIONS, EXPLICIT, PREDICATES, Row
from support import budget
from support.fed import entries
from support.interrupted_model import Model
from support.interruptions import WAYS

import zodiac_sql
from zodiac_sql.lookups import cascade
from zodiac_sql.storage import journal

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

CHANGES = 60
BEGINNING = Model({name: frozenset() for name in EXPLICIT}, frozenset())


@pytest.mark.fuzz(share=4)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("by", ["auto", "lookups", "support"])
def test_each_change_is_there_or_it_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    chance = Random(budget.seed(5219))
    monkeypatch.setattr(journal, "MOST_ENTRIES", chance.choice((2, 5, 40, 256)))
    monkeypatch.setattr(cascade, "ROUNDS", chance.choice((-1, 0, 4)))
    number = interrupted(tmp_path / "file.duckdb", by, chance)
    budget.tried("interruptions of changes", number)
    assert number > CHANGES // 10


def interrupted(file: Path, strategy: str, chance: Random) -> int:
    """Make changes of a file, and interrupt half of them. Returns how many interruptions came."""
    model, told, came = BEGINNING, [], 0
    fresh, usual = count(), defaultdict[str, float](lambda: 0.02)
    with zodiac_sql.connect(
        file, strategy=strategy, modules=chance.random() < 0.8, threads=chance.choice((1, 2))
    ) as kb:
        kb.add_rules(DECLARATIONS)
        kb.keep_feed()
        for _ in range(CHANGES):
            before = model
            kind, after, carry_out = drawn(chance, before, fresh)
            started = time.perf_counter()
            strikes = chance.random() < 0.5 and kind != "ask"
            if strikes and _is_interrupted(kb, carry_out, chance, usual[kind]):
                came += 1
                model = _there(kb, before, after)
            else:
                if not strikes:
                    carry_out(kb)
                    usual[kind] = time.perf_counter() - started
                model = _there(kb, after)
            told += [moved] if (moved := before.moved_to(model)) else []
        assert _fed(kb) == told
        assert kb.verify()
    return came


def _is_interrupted(
    kb: KnowledgeBase,
    carry_out: Callable[[KnowledgeBase], object],
    chance: Random,
    seconds: float,
) -> bool:
    try:
        with chance.choice(WAYS)(chance, seconds):
            carry_out(kb)
    except KeyboardInterrupt:
        return True
    return False


def _there(kb: KnowledgeBase, *possible: Model) -> Model:
    """Which of some states the knowledge base has, facts and rules."""
    names = {*kb.predicates()["predicate"].to_pylist()}
    facts = {p: set(kb.table(p).fetchall()) if p in names else set[Row]() for p in PREDICATES}
    rules = {*kb.rules()["name"].to_pylist()}
    for model in possible:
        if (rules, facts) == (model.rules, model.extensions):
            return model
    assert (rules, facts) == (possible[-1].rules, possible[-1].extensions)
    raise AssertionError


def _fed(kb: KnowledgeBase) -> list[set[tuple[str, str, Row]]]:
    """What the change feed tells of each change, of predicates that the model has."""
    found: defaultdict[int, set[tuple[str, str, Row]]] = defaultdict(set)
    for number, name, kind, row in entries(kb, since=0):
        found[number].add((name, kind, row))
    assert [*sorted(found)] == [*range(1, len(found) + 1)]
    return [found[number] for number in sorted(found)]


def _until(most: int, seed: int) -> None:
    """Interrupt so many changes, in one file after the other, and tell how it gets on."""
    tried = Counter[str]()
    for number in count(seed):
        if sum(tried.values()) >= most:
            return
        chance = Random(number)
        strategy = chance.choice(("auto", "lookups", "lookups", "support"))
        journal.MOST_ENTRIES = chance.choice((2, 5, 40, 256))
        cascade.ROUNDS = chance.choice((-1, 0, 4))
        with TemporaryDirectory() as folder:
            tried[strategy] += interrupted(Path(folder) / "file.duckdb", strategy, chance)
        print(f"seed {number}: {dict(tried)}", flush=True)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # nohup lets it be ignored
    _until(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
