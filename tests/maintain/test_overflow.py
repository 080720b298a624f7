"""What cannot be computed is refused, also when the tables are only maintained."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from zodiac_sql import ZodiacError

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

LARGEST = 2**63 - 1


def test_a_sum_that_nothing_reads(open_kb: Callable[..., KnowledgeBase], strategy: str) -> None:
    """DuckDB does not compute what nothing reads, so a change passed that a recomputation refused.

    (Found by `make fuzz`.)
    """
    with open_kb(strategy=strategy) as kb:
        kb.insert("n", [("a", 1), ("b", 2)])
        kb.add_rules("r1: some(yes) :- AGGREGATE(n(K, V)) WITH SUM(V) AS S.")
        for row in (("a", LARGEST), ("c", LARGEST)):
            with pytest.raises(ZodiacError, match="r1"):
                kb.insert("n", [row])
        kb.insert("n", [("c", -1)])
        assert kb.table("some").fetchall() == [("yes",)]
        assert kb.verify()
