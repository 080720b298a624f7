"""How much the random tests try: a fixed part in CI, and as much as one likes under `make fuzz`.

    make test                   the same examples and seeds every time
    make fuzz                   an hour of new ones, in two processes; `make fuzz MINUTES=10`

What a random test does for that:

* A test of hypothesis: nothing. Its `max_examples` is a part of `settings().max_examples`, and
  under `make fuzz` it is run again and again, with new examples, until its share of the time is
  up.

* Any other (kills, threads, files, texts): carry the mark, take its seed from here when it runs,
  and count what it tries.

      @pytest.mark.fuzz
      def test_kills(tmp_path: Path) -> None:
          chance = random.Random(budget.seed(2028))
          for _ in range(30):
              ...
              budget.tried("kills")

  It needs no loop for `make fuzz`: it is run again and again, too, each time with new fixtures and
  a new seed. So one run takes seconds, not minutes. `@pytest.mark.fuzz(share=4)` gets four times
  the time of another test.

* `either(ci=5, fuzz=60)` is for what only one long run can show, such as seconds of threads at
  work.

A failure ends the runs of its test. It prints its seed, and `ZODIAC_SEED=17 pytest tests/test_x.py`
tries that one; hypothesis prints its own blob, and tries what failed first the next time.
"""

from __future__ import annotations

import json
import os
import random
import time
from collections import Counter
from pathlib import Path

MINUTES = float(os.environ.get("ZODIAC_FUZZ_MINUTES", "0"))
"""How long to look for new failures; 0 in CI. `make fuzz` sets it."""

FUZZING = MINUTES > 0

PART, PARTS = (int(text) for text in os.environ.get("ZODIAC_FUZZ_PART", "0/1").split("/"))
"""Which part of the tests this process runs, of how many processes."""

END = time.monotonic() + 60 * MINUTES

_TALLY = os.environ.get("ZODIAC_FUZZ_TALLY")
_counted: Counter[str] = Counter()


def either(ci: int, fuzz: int) -> int:
    """A number for CI, and another one for `make fuzz`."""
    return fuzz if FUZZING else ci


def seed(ci: int) -> int:
    """The seed of this run of a test: in CI always the given one. A test that fails prints it."""
    chosen = int(os.environ.get("ZODIAC_SEED", random.getrandbits(32) if FUZZING else ci))
    print(f"ZODIAC_SEED={chosen}")
    return chosen


def tried(what: str, number: int = 1) -> None:
    """Count what `make fuzz` says at its end: "programs", "changes", "texts", "kills" .."""
    _counted[what] += number


def share(left: list[float]) -> float:
    """How many seconds belong to the first of these tests: what is left, by their shares."""
    return max(0.0, END - time.monotonic()) * left[0] / sum(left)


def write_tally() -> None:
    """Where `make fuzz` adds up what its processes tried."""
    if _TALLY:
        Path(_TALLY).write_text(json.dumps(_counted))
