"""How one hypernode reacts to a change of its inputs: one file per strategy, one written contract.

A recursive hypernode is maintained by the strategy chosen; one that is not needs no search, so all
but `recompute` find candidates and check each once.
"""

from __future__ import annotations

from zodiac_sql.maintain.auto import auto
from zodiac_sql.maintain.bf import bf
from zodiac_sql.maintain.candidates import candidates
from zodiac_sql.maintain.contract import Maintained, Strategy, Task
from zodiac_sql.maintain.dred import dred
from zodiac_sql.maintain.recompute import recompute
from zodiac_sql.maintain.support import support

RECURSIVE: dict[str, Strategy] = {
    "recompute": recompute, "dred": dred, "bf": bf, "support": support
}  # fmt: skip

STRATEGIES = ("auto", *RECURSIVE)
"""The names of all strategies."""


def maintain(task: Task, strategy: str) -> tuple[Maintained, str, str]:
    """Maintain a hypernode: what came of it, the strategy that did it, and why that one."""
    chosen = "as chosen"
    if strategy == "recompute":
        return recompute(task), "recompute", chosen
    if task.merges and task.losses():
        return recompute(task), "recompute", "merged, and may lose facts in the same change"
    if strategy == "auto":
        return auto(task)
    if not task.hypernode.recursive:
        return candidates(task), "candidates", "not recursive"
    if strategy == "support" and not task.ranked:
        return recompute(task), "recompute", "its tables have no ranks that may be relied upon"
    return RECURSIVE[strategy](task), strategy, chosen
