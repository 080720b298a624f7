"""When one recursive statement costs less than to go on round by round.

Nobody knows how many rounds a recursion will take. So the rounds go on until they have cost as much
as the statement would: then both together cost at most twice as much as the better of the two, and
a recursion of 10,000 rounds never costs a statement a round. The statement puts all that rounds
look up into hash tables first, which pays for small tables at once, and for large ones only after
some rounds: these find their few rows by a scan.
"""

from __future__ import annotations

import math

ROUND = 10_000_000
"""What a round costs that has little to do: some four statements, each planned anew."""

WITH_TEXTS = 3
"""So many times as much it costs if rules make texts: these get their ids by more statements."""

PLAN = 3_000_000
"""What it costs to plan one body in the recursive statement."""

SCANNED, HASHED, SPELLED = 1, 50, 500
"""What it costs to look at a row in a round, to put it into a hash table, and to put texts in the
place of its ids, and ids in the place of texts again."""


def rounds_cost(rounds: int, texts: bool = False) -> int:
    """What so many rounds cost that have little to do; `texts` tells whether rules make some."""
    return rounds * ROUND * (WITH_TEXTS if texts else 1)


def pays(rounds: int, rows: int, plans: int, spelled: bool = False) -> bool:
    """Whether `rounds` have cost as much as a recursive statement about so many rows would, which
    may have to be `spelled` for it (spelled.py).

    All costs are in nanoseconds, measured with two cores and DuckDB 2.0.1.
    """
    row = HASHED + SPELLED * spelled
    return rounds_cost(rounds, spelled) + rounds * SCANNED * rows >= PLAN * plans + row * rows


def rounds_in(seconds: float) -> int:
    """How many rounds that have little to do take so long: at least one."""
    return 1 + int(1e9 * seconds / max(ROUND, 1))


LOOKED_AT = 16
"""What it costs in a round to look at a row that a statement has found and keeps by a key."""


def rounds_by_key(rows: int, new: int, plans: int, spelled: bool = False) -> int:
    """How many rounds a statement with a key should go through: it looks at all that it has found
    in each of them, and a round finds so many `new` rows. After so many rounds, that has cost as
    much as to begin another statement, which puts `rows` into hash tables, and spells them first if
    they are `spelled`.
    """
    begun = PLAN * plans + (HASHED + SPELLED * spelled) * rows
    return 1 + math.isqrt(2 * begun // (LOOKED_AT * plans * max(new, 1)))


JOINED = 1_000
"""What it costs to join a row of the last round with what is known, and to keep what that finds."""


def is_narrow(rows: int) -> bool:
    """Whether a round that joins so many rows costs its statements above all."""
    return JOINED * rows <= ROUND


BY_KEY = 300_000
"""What a round with little to do costs in a statement that joins it with all that it has found."""

BEFORE_IT = 8
"""How many times as much as planning it such a statement costs before it begins (rest_at_once.py),
and when what it has found is compared with what there was."""


def evaluated_by_key(rounds: int, read: int, facts: int, plans: int) -> int:
    """What it costs to evaluate rules with several recursive atoms, which read some rows, and
    derive some facts in some rounds.
    """
    return BEFORE_IT * PLAN * plans + HASHED * read + JOINED * facts + BY_KEY * rounds
