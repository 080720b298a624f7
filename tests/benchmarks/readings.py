"""Turbines whose temperatures come and go, and rules that aggregate and compute: what is usual
near each, what differs from that, and how it is in each park.
"""

from __future__ import annotations

import random

import pyarrow as pa

from .workloads import Facts, Workload

RULES = """\
usual(X, M)  :- AGGREGATE(near(X, Y), temperature(Y, T)) ON X WITH MED(T) AS M.
odd(X, D)    :- usual(X, M), temperature(X, T), BIND(abs(T - M) AS D), D > 5.
park(P, A)   :- AGGREGATE(stands_in(X, P), temperature(X, T)) ON P WITH AVG(T) AS A.
warm(P)      :- park(P, A), A * 1.8 + 32 > 68.
hot(N)       :- AGGREGATE(temperature(X, T), T > 29) WITH COUNT(X) AS N ELSE 0.
"""

TURBINES = 2_000
NEAR = 5
"""So many on either side of a turbine are near it."""
PARKS = 20


def _table(rows: list[tuple[object, ...]]) -> pa.Table:
    return pa.table(
        {name: [*column] for name, column in zip("so", zip(*rows, strict=True), strict=True)}
    )


def _facts() -> Facts:
    rng = random.Random(3)
    names = [f"turbine{n}" for n in range(TURBINES)]
    near: list[tuple[object, ...]] = [
        (one, other)
        for place, one in enumerate(names)
        for other in names[max(0, place - NEAR) : place + NEAR + 1]
        if other != one
    ]
    return {
        "near": _table(near),
        "stands_in": _table([(one, f"park{n % PARKS}") for n, one in enumerate(names)]),
        "temperature": _table([(one, round(rng.uniform(10, 30), 1)) for one in names]),
    }


READINGS = Workload("readings", f"temperatures of {TURBINES:,} turbines", RULES, _facts, quick=True)
