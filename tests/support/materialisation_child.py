"""A driver that updates a materialisation again and again, for tests that kill it."""

from __future__ import annotations

import sys
from typing import Any

RULES = "path(X, Y) :- edge(X, Y). path(X, Z) :- path(X, Y), edge(Y, Z)."
LENGTH = 5
"""A chain of so many edges moves on by one edge with each version."""


def edges(version: int) -> set[tuple[int, int]]:
    """The edges of a version; the first one has none."""
    return {(n, n + 1) for n in range(max(version - LENGTH, 1), version)}


def paths(version: int) -> set[tuple[int, int]]:
    nodes = {node for edge in edges(version) for node in edge}
    return {(a, b) for a in nodes for b in nodes if a < b}


def update(spark: Any, version: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """What makes a version of the one before."""
    return tuple(  # type: ignore[return-value]
        {"edge": spark.createDataFrame(sorted(some), "x bigint, y bigint")}
        for some in (edges(version) - edges(version - 1), edges(version - 1) - edges(version))
    )


def main(place: str) -> None:
    from quick_spark import QUICK  # beside this script

    from zodiac_sql.spark import Materialisation, local_session

    spark = local_session(spark__master="local[2]", **QUICK)
    kept = Materialisation(spark, RULES, place)
    while True:
        kept.update(*update(spark, kept.version + 1))
        print("version", kept.version, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
