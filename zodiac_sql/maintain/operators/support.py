"""Strategy `support`: delete only what has lost its support by ranks, then rederive.

DRed explores all consequences of what was deleted, and B/F (paper 3) looks for proofs behind each
fact. Here each candidate is checked by one look at the facts that derive it directly: the ranks,
kept with the tables since their evaluation, say which derivations cannot be circular. Nothing that
depends on a fact that stays is explored. A fact that is taken out wrongly, because its other
derivations are from facts of higher ranks, is rederived, with a rank after theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from zodiac_sql.cost.calibration import JOINED, PLANNED_JOIN, SCANNED, STATEMENT
from zodiac_sql.cost.operator import Cost, Declined, Operator, certain
from zodiac_sql.cost.rounds import rounds_in
from zodiac_sql.maintain.contract import Maintained, Outcome, Stopped, Task, Work
from zodiac_sql.maintain.steps.aggregate_groups import with_touched_groups
from zodiac_sql.maintain.steps.change_plans import gains, losses
from zodiac_sql.maintain.steps.extend import extend
from zodiac_sql.maintain.steps.merge_tables import begun
from zodiac_sql.maintain.steps.overdelete import overdelete
from zodiac_sql.maintain.steps.recursion import Recursion
from zodiac_sql.maintain.steps.working_table import edits_of
from zodiac_sql.maintain.weighed import PATIENCE, Maintains, Weighed, is_plain_recursion
from zodiac_sql.sql.plan import Plan


def support(
    task: Task, budget: int | None = None, growth: int | None = None, rounds: int | None = None
) -> Maintained | Stopped:
    """Maintain a recursive hypernode whose ranks are reliable.

    Stops before more facts than `budget` would be checked, or in more than `rounds`, or when more
    than `growth` were added.
    """
    assert task.former.ranked
    task = with_touched_groups(task)
    recursion = begun(task, ranked=True)
    lost = overdelete(recursion, losses(task), supported=True, budget=budget, rounds=rounds)
    return extended(recursion, gains(task), lost, growth)


def extended(
    recursion: Recursion, gains: Sequence[Plan], work: Work | Stopped, growth: int | None
) -> Maintained | Stopped:
    """What comes of a hypernode after facts were taken out, when it has been extended."""
    if not isinstance(work, Work):
        return work
    more = extend(recursion, gains, budget=growth)
    if not isinstance(more, Work):
        return more
    edits, rederived = edits_of(recursion.runner, recursion.owns, grows=bool(gains))
    work = work.and_(more).plus(rederived=rederived)
    return Maintained(edits, work, "support", ranked=True)


MOST_SLIGHT = 10
"""A change of so few facts may be lucky: mostly, little depends on them. (An axiom of an EL
terminology with 335,000 derived facts, of which one moves: 5 to 28 ms, not 500.)"""

PATIENCE_IF_SLIGHT = 0.01
"""If much may depend on it, such a change may check the facts for which this share of what the next
operator takes is enough."""

IN_VAIN = 0.5
"""How often such a change is followed in vain: it starts over then."""


def can_support(weighed: Weighed) -> bool:
    """Whether a hypernode can be maintained by ranks."""
    return is_plain_recursion(weighed) and weighed.task.former.ranked


def cost_of_support(weighed: Weighed) -> Cost:
    """Rounds by joins with what has changed, as shares of an evaluation."""
    if weighed.many_instances:
        return Cost(inf, weighed.many_instances)
    statements = STATEMENT * (8 + 4 * weighed.loses) + PLANNED_JOIN * weighed.joins
    if _is_slight(weighed):
        hoped = statements + IN_VAIN * weighed.anew
        return Cost(hoped, "few facts may depend on the change")
    return Cost(statements + _rounds(weighed), "")


def _rounds(weighed: Weighed) -> float:
    """What is expected of rounds, beside statements. In large closures they read whole tables."""
    read = SCANNED * weighed.held if weighed.task.inner.forms.along else 0
    return weighed.incremental + read


def _is_slight(weighed: Weighed) -> bool:
    """Whether sizes speak for starting over, but only few facts have moved.

    If starting over takes statements more than rows, one recursive statement ends the search in
    time (steps/cascade.py).
    """
    if weighed.task.former.heritage or weighed.moved > MOST_SLIGHT:
        return False
    statements = weighed.anew - weighed.starting_over
    return _rounds(weighed) > weighed.starting_over > statements


def growth(weighed: Weighed, next_ms: float) -> int | None:
    """How many facts may come before it is given up.

    (Measured on the closure of chains and trees, 4.6 million facts: adding 1.5 million in rounds
    takes 9.5 s, evaluating all 2.5.) A new rule may add as many as there are: most of the work is
    still to come then, and evaluation does it faster (the closure of RS2's p11, from 400 to 40,200
    facts: 160 ms against 330).
    """
    if next_ms == inf:
        return None
    if weighed.task.former.heritage:
        return weighed.held
    return int(PATIENCE * next_ms / JOINED)


def _run(weighed: Weighed, next_ms: float) -> Outcome | Declined:
    here = PATIENCE * next_ms
    slight = next_ms < inf and _is_slight(weighed)
    rounds = rounds_in(here / 1000) if slight else None
    budget = weighed.facts_within(PATIENCE_IF_SLIGHT * next_ms if slight else here)
    return support(weighed.task, budget, growth(weighed, next_ms), rounds)


SUPPORT: Maintains = Operator("support", can_support, cost_of_support, _run)

AS_CHOSEN: Maintains = certain(
    "support", "as chosen", can_support, lambda weighed: support(weighed.task)
)
"""The same as a strategy that users choose."""
