"""Copies of a predicate without types: its first facts give it tables with other columns."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

DAY, OTHER = dt.date(2024, 2, 29), dt.date(2024, 3, 1)


def test_the_first_fact_of_a_predicate_that_a_rule_derives(open_kb: OpenKb) -> None:
    """The copy was made when there was no table, so that the same fact came twice."""
    with open_kb(strategy="lookups") as kb:
        kb.add_rules("p(X, Y) :- seen(Y), measured(X).")
        kb.insert("measured", [(1,)])
        assert kb.insert("measured", [(2,)]).stats.hypernodes["h1"].strategy == "lookups"
        kb.insert("p", [(3, DAY)])
        assert kb.insert("p", [(3, DAY)]).inserted == {}
        kb.insert("seen", [(OTHER,)])
        expected = [(1, OTHER), (2, OTHER), (3, DAY)]
        assert sorted(kb.table("p").fetchall()) == expected
        assert kb.verify()
        kb.delete("p", [(3, DAY)])
        assert sorted(kb.table("p").fetchall()) == expected[:2]
        assert kb.verify()
