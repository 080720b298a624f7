"""A process that is killed between small changes, in one, or while it settles the journal."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support import budget, journal_kill_child
from support.fed import entries, facts, replayed
from support.journal_kill_child import CHANGES, Edge, planned

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

SEED = 2034
KILLS = budget.either(ci=8, fuzz=60)


@pytest.mark.fuzz(share=2)
@pytest.mark.filterwarnings("ignore::zodiac_sql.MissingLogWarning")  # see database/log.py
def test_a_killed_process_leaves_whole_small_changes(tmp_path: Path, open_kb: OpenKb) -> None:
    seed = budget.seed(SEED)
    file, states = tmp_path / "killed.duckdb", [frozenset(), *(edges for _, edges in planned(seed))]
    done = total = 0
    for _ in range(KILLS):
        call = [sys.executable, journal_kill_child.__file__, str(file), str(done), str(seed)]
        child = subprocess.run(call, stdout=subprocess.PIPE, text=True, check=False)
        assert child.returncode in (0, 9)
        reported = int((child.stdout.split() or [done])[-1])
        with open_kb(file, strategy="support") as kb:
            edges = {(a, b) for a, b in kb.table("edge").fetchall()}
            before, done = done, next(n for n in (reported, reported + 1) if states[n] == edges)
            assert {(a, b) for a, b in kb.table("path").fetchall()} == closure(edges)
            known = {name: rows for name, rows in facts(kb).items() if name in ("edge", "far")}
            assert replayed({}, entries(kb)) == known
            assert kb.verify()
        total += done - before
        budget.tried("kills")
        if done > CHANGES * 0.9:
            file.unlink()
            done = 0
    assert total > KILLS


def closure(edges: set[Edge]) -> set[Edge]:
    found = set(edges)
    while more := {(a, d) for a, b in found for c, d in edges if b == c} - found:
        found |= more
    return found
