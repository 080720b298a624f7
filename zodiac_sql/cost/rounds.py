"""When one recursive statement costs less than to go on round by round.

Nobody knows how many rounds a recursion will take. So the rounds go on until they have cost as much
as the statement would: then both together cost at most twice as much as the better of the two, and
a recursion of 10,000 rounds never costs a statement a round. The statement puts all that rounds
look up into hash tables first, which pays for small tables at once, and for large ones only after
some rounds: these find their few rows by a scan.
"""

from __future__ import annotations

import math

from zodiac_sql.cost.calibration import (
    BEFORE_IT,
    HASHED,
    JOINED,
    KEYED,
    PLANNED_BODY,
    ROUND,
    ROUND_BY_KEY,
    SKIMMED,
    SPELLED,
    WITH_TEXTS,
)


def rounds_cost(rounds: int, texts: bool = False) -> float:
    """What so many rounds cost that have little to do; `texts` tells whether rules make some."""
    return rounds * ROUND * (WITH_TEXTS if texts else 1)


def pays(rounds: int, rows: int, plans: int, spelled: bool = False) -> bool:
    """Whether `rounds` have cost as much as a recursive statement about so many rows would, which
    may have to be `spelled` for it (evaluate/spelled.py).
    """
    so_far = rounds_cost(rounds, spelled) + rounds * SKIMMED * rows
    return so_far >= _begun(rows, plans, spelled)


def _begun(rows: int, plans: int, spelled: bool) -> float:
    """What it costs to begin a statement about so many rows."""
    return PLANNED_BODY * plans + (HASHED + SPELLED * spelled) * rows


def rounds_in(seconds: float) -> int:
    """How many rounds that have little to do take so long: at least one."""
    return 1 + int(1000 * seconds / max(ROUND, SKIMMED))


def rounds_by_key(rows: int, new: int, plans: int, spelled: bool = False) -> int:
    """How many rounds a statement with a key should go through: it looks at all that it has found
    in each of them, and a round finds so many `new` rows. After so many rounds, that has cost as
    much as to begin another statement, which puts `rows` into hash tables, and spells them first if
    they are `spelled`.
    """
    return 1 + int(math.sqrt(2 * _begun(rows, plans, spelled) / (KEYED * plans * max(new, 1))))


def is_narrow(rows: int) -> bool:
    """Whether a round that joins so many rows costs its statements above all."""
    return JOINED * rows <= ROUND


def evaluated_by_key(rounds: int, read: int, facts: int, plans: int) -> float:
    """What it costs to evaluate rules with several recursive atoms, which read some rows, and
    derive some facts in some rounds.
    """
    begun = BEFORE_IT * PLANNED_BODY * plans
    return begun + HASHED * read + JOINED * facts + ROUND_BY_KEY * rounds
