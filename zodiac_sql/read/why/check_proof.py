"""Looks at each step of a proof once more before it is shown."""

from __future__ import annotations

from zodiac_sql.read.why.asked import Known
from zodiac_sql.read.why.proof import Explanation


def check(known: Known, explanation: Explanation) -> None:
    """Raise StoreError unless a proof is one."""
