"""Finds proofs: from facts down to explicit ones, a level at a time.

Two ways lead down. In a small database, all instances of all rules are followed until a proof is
complete that is hardly higher than the lowest (lowest.py). In a large one, each fact gets one
(downwards.py).
If no proof consists of facts, because a best value rests on itself now, then values that were the
best for a time count, too (best_ranks.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from zodiac_sql.read.why.asked import Key
from zodiac_sql.read.why.downwards import downwards
from zodiac_sql.read.why.evaluated_again import Again
from zodiac_sql.read.why.lowest import Lowest
from zodiac_sql.read.why.search import Derivation, ProofSearch

SMALL = 20_000
"""In a database of at most this many facts, proofs of least height are looked for."""

FEW_FACTS = 100
"""If more facts than this take part, a proof is looked for in the other way, too."""

HIGHER = 2
"""In a small database, a proof may be so much higher than the lowest."""

MOST_FACTS = 3_000
"""If more facts than this take part, a lower proof than the one at hand is not looked for."""


def find_proofs(search: ProofSearch, goals: Sequence[Key]) -> dict[Key, Derivation] | None:
    """A derivation for each fact that a proof of the goals needs; None if there is none.

    The goals have been located. In a small database, a proof that is found while others have not
    been seen is kept only if none of these can be much lower.
    """
    is_small = sum(search.known.rows()) <= SMALL
    if not is_small and (found := downwards(search, goals, None)):
        return found
    found, lowest, has_read = None, Lowest(search, goals, FEW_FACTS), False
    if is_small or not any(closure.row.fed for closure in search.closures.values()):
        found = lowest.follow(FEW_FACTS)
        has_read = found is None and any(search.instances.values())
        if has_read:
            found = lowest.follow(MOST_FACTS, read_is_free=True)
    if found is None:
        with Again(search.known, search.state, search.closures) as again:
            found = downwards(search, goals, again)
    if found is None and search.known.graph.with_best:
        with Again(search.known, search.state, search.closures, passed=True) as again:
            return downwards(search, goals, again)
    if found is None or not is_small or has_read:
        return found
    if height(search, goals, found) <= lowest.unseen + HIGHER:
        return found
    other = Lowest(search, goals, FEW_FACTS).follow(MOST_FACTS)
    return min(found, other, key=partial(height, search, goals)) if other else found


def height(search: ProofSearch, goals: Sequence[Key], found: Mapping[Key, Derivation]) -> int:
    """The steps on the longest way from a goal to an explicit fact."""
    heights: dict[Key, int] = {}
    waiting = list(goals)
    while waiting:
        fact = waiting[-1]
        below = [] if search.is_explicit(fact) else found[fact].uses
        open_ = [use for use in below if use not in heights]
        if open_:
            waiting += open_
        else:
            heights[fact] = 1 + max((heights[use] for use in below), default=-1)
            waiting.pop()
    return max((heights[goal] for goal in goals), default=0)
