"""Chooses the strategy that maintains one hypernode after one change.

A recursive hypernode is maintained by the strategy that the user has chosen, or by `auto`. A
hypernode that is not recursive needs no search: all strategies but `recompute` find candidates and
check each once, rule by rule where one is decomposed.
"""

from __future__ import annotations

from functools import partial

from zodiac_sql.maintain.auto import auto, starts_over
from zodiac_sql.maintain.best import best
from zodiac_sql.maintain.bf import bf
from zodiac_sql.maintain.candidates import candidates
from zodiac_sql.maintain.components import components
from zodiac_sql.maintain.contract import Maintained, Strategy, Task
from zodiac_sql.maintain.dred import dred
from zodiac_sql.maintain.recompute import recompute
from zodiac_sql.maintain.steps.tree_nodes import by_nodes
from zodiac_sql.maintain.support import support

RECURSIVE: dict[str, Strategy] = {
    "recompute": recompute, "dred": dred, "bf": bf, "support": support,
    "bf_marking": bf, "dred_marking": dred,
}  # fmt: skip

LOOKUPS = ("auto", "lookups")
"""Those by which changes of few facts may be looked up (change/by_lookups.py): when that has been
earned, or at once. What is not looked up follows by `auto`."""

STRATEGIES = (*LOOKUPS, *RECURSIVE)
"""The names of all strategies."""

MARKING = ("bf_marking", "dred_marking")
"""Those that look one update ahead in a stream (marking.py)."""


def _with_partitions(task: Task, strategy: str) -> tuple[Maintained, str, str]:
    """Maintain a hypernode one of whose relations is a partition: DRed^c with modules.

    Facts of a partition have neither ranks nor proofs that could be examined one by one. Its module
    does for all facts at once what `bf` is for: it takes out no fact that facts from outside prove.
    """
    if strategy == "auto" and task.hypernode.rules and (why := starts_over(task)):
        return recompute(task), "recompute", why
    why = "as chosen" if strategy.startswith("dred") else "a relation is kept as a partition"
    return dred(task), "dred", why


def maintain(task: Task, strategy: str) -> tuple[Maintained, str, str]:
    """Maintain a hypernode: what came of it, the strategy that did it, and why that one."""
    chosen = "as chosen"
    strategy = "auto" if strategy in LOOKUPS else strategy
    if strategy == "recompute":
        return recompute(task), "recompute", chosen
    if task.hypernode.bests:
        return best(task)
    if not task.hypernode.recursive and len(task.hypernode.rules) > 1:
        return by_nodes(task, partial(maintain, strategy=strategy))
    if task.merges and task.losses():
        return recompute(task), "recompute", "merged, and may lose facts in the same change"
    if any(row.directed for row in task.modules):
        return components(task), "components", "a relation is kept as components"
    if any(row.parted for row in task.modules):
        return _with_partitions(task, strategy)
    if strategy == "auto":
        return auto(task)
    if not task.hypernode.recursive:
        return candidates(task), "candidates", "not recursive"
    if strategy == "support" and not task.ranked:
        return recompute(task), "recompute", "its tables have no ranks that may be relied upon"
    return RECURSIVE[strategy](task), strategy, chosen
