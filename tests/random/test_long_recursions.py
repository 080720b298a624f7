"""Ctrl-C and `timeout` in the middle of long recursions: each ends soon, and none hangs.

DuckDB 2.0.1 may wait for ever when it cancels a recursion (ARCHITECTURE.md, "Which DuckDB"), so
each recursion is in a process of its own (support/long_recursions.py), which has only so much time.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from support import budget, long_recursions
from support.long_recursions import LONG

KINDS = budget.either(ci=2, fuzz=len(LONG))
STRIKES = budget.either(ci=1, fuzz=4)
SECONDS = 1
LONGEST = 120
"""No process takes as long as this, unless it hangs."""


@pytest.mark.fuzz
def test_each_ends_soon_and_changes_nothing(tmp_path: Path) -> None:
    chance = Random(budget.seed(2053))
    for number, kind in enumerate(chance.sample(sorted(LONG), KINDS)):
        file = tmp_path / f"f{number}.duckdb"
        arguments = [file, kind, chance.getrandbits(30), STRIKES, SECONDS]
        done = subprocess.run(
            [sys.executable, long_recursions.__file__, *map(str, arguments)],
            check=False,
            capture_output=True,
            text=True,
            timeout=LONGEST,
        )
        print(done.stdout, done.stderr)
        *struck, usable = done.stdout.splitlines()
        assert usable == "usable" and len(struck) == STRIKES
        busy = os.getloadavg()[0] > 2 * (os.cpu_count() or 1)
        late = max(float(line.rpartition(":")[2]) for line in struck)
        assert late < (2 if busy else 0.5)
        budget.tried("interruptions of long recursions", STRIKES)
        file.unlink()
