"""Sensors that are read again and again: what an update deletes, the one before has inserted.

That is the best case for marking: all that follows from a reading is known to go when it comes.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from .session import Batch, Rows

RULES = """\
high(S, T) :- reading(S, T, V), limit(S, H), V > H.
anomaly(W, S, T) :- high(S, T), part(S, W).
alarm(W, T) :- anomaly(W, S, T), anomaly(W, R, T), S != R.
warned(W, T) :- alarm(W, T).
warned(V, T) :- warned(W, T), behind(W, V).
"""

SENSORS = 5
"""So many at each turbine, and so many turbines in a row."""


def updates(size: int, count: int, seed: int) -> Iterator[tuple[Batch, Batch]]:
    """First the wind farm, with a reading of each of `size` sensors; then other readings."""
    rng = random.Random(seed)
    known: Rows = []
    for moment in range(count):
        readings: Rows = [(sensor, moment, rng.random()) for sensor in range(size)]
        farm = {} if moment else _farm(size)
        yield ({"reading": known} if known else {}), {**farm, "reading": readings}
        known = readings


def _farm(size: int) -> Batch:
    """Limits that three in ten readings are above; who is behind whom."""
    turbines = range(-(-size // SENSORS))
    return {
        "limit": [(sensor, 0.7) for sensor in range(size)],
        "part": [(sensor, sensor // SENSORS) for sensor in range(size)],
        "behind": [(w, w + 1) for w in turbines if (w + 1) % SENSORS],
    }
