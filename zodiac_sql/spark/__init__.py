"""Spark: the data pipeline, the hand-off, the fleet, and rules on a cluster.

Needs the extra: pip install 'zodiac-sql[spark]', and Java 17 or later. Nothing else in zodiac_sql
imports it. Sessions that are given are used as they are, never reconfigured or stopped.
"""

from __future__ import annotations

from zodiac_sql.spark.require import local_session, require_packages

require_packages()

from zodiac_sql.spark.cluster import (
    Iteration,
    Materialised,
    materialise,
)
from zodiac_sql.spark.handoff import (
    ChangedFrames,
    change_to_spark,
    from_spark,
    to_spark,
)

__all__ = [
    "ChangedFrames",
    "Iteration",
    "Materialised",
    "change_to_spark",
    "from_spark",
    "local_session",
    "materialise",
    "to_spark",
]
