"""Strategy `auto`: which strategy is cheapest for one hypernode and change, from sizes alone.

What is known before the work are the numbers of rows: of each input before and after the change, and
of what entered and left it. If rows join evenly, a rule's work is proportional to the product of its
inputs, so a share f of changed rows costs a share f of a full evaluation for each atom that reads
them: once to find what is gained, and for what is lost once to find candidates, and a share again to
check them. Starting over costs the full evaluation, and a comparison with what was there.

A recursive hypernode can be moved by few rows in all that it derives. There, `support` is begun
wherever few inputs change, with a budget: if more facts are taken out than a part of what the
hypernode holds, starting over is cheaper from there on.
"""

from __future__ import annotations

from zodiac_sql.maintain.candidates import candidates
from zodiac_sql.maintain.contract import Maintained, Task
from zodiac_sql.maintain.overdelete import TooMuch
from zodiac_sql.maintain.recompute import recompute
from zodiac_sql.maintain.support import support
from zodiac_sql.plan import Version

COMPARE = 0.2
"""What comparing costs, as a share of evaluating."""

SMALL = 5_000
"""Up to so many rows in all inputs, incremental work costs statements, not rows: it is not weighed."""

SHARE = 0.1
"""A recursive hypernode starts over if more than this share of an input's rows changes."""

BUDGET = 0.25
"""The share of a recursive hypernode's facts that may be taken out before it starts over."""


def auto(task: Task) -> tuple[Maintained, str, str]:
    """Maintain a hypernode by the strategy that promises most: its outcome, name and reason."""
    if not task.hypernode.recursive:
        incremental, full = _single(task)
        why = f"estimated {incremental:.2g} of an evaluation, starting over {full:.2g}"
        if incremental > full:
            return recompute(task), "recompute", why
        return candidates(task), "candidates", why
    return _recursive(task)


def _recursive(task: Task) -> tuple[Maintained, str, str]:
    if not task.ranked:
        return recompute(task), "recompute", "its tables have no ranks that may be relied upon"
    share, what = _share(task)
    if share > SHARE and _rows(task) > SMALL:
        return recompute(task), "recompute", what
    own = sum(part.rows for p in task.hypernode.derives if (part := task.stored(p)))
    budget = max(int(own * BUDGET), SMALL)
    try:
        return support(task, budget), "support", what
    except TooMuch:
        why = f"{what}, but more than {budget:,} of {own:,} facts lost their support"
        return recompute(task), "recompute", why


def _rows(task: Task) -> int:
    return sum(task.inputs(name, Version.ALL).rows for name in task.hypernode.reads)


def _share(task: Task) -> tuple[float, str]:
    """The largest share of an input that changes, and a sentence about it."""
    worst, said = 0.0, "nothing changes"
    for name, delta in task.deltas.items():
        rows = max(task.inputs(name, Version.BEFORE).rows, task.inputs(name, Version.ALL).rows)
        changed = delta.inserted.rows + delta.deleted.rows
        if changed / max(rows, 1) >= worst:
            worst = changed / max(rows, 1)
            said = f"{changed:,} of {rows:,} facts of {name} change"
    return worst, said


def _single(task: Task) -> tuple[float, float]:
    """What incremental work and starting over cost, as shares of an evaluation before the change."""
    if _rows(task) <= SMALL:
        return 0.0, 1.0
    (rule,) = task.hypernode.rules
    growth, lost, gained = 1.0, 0.0, 0.0
    for atom in rule.positive_atoms():
        before = task.inputs(atom.predicate, Version.BEFORE).rows
        after = task.inputs(atom.predicate, Version.ALL).rows
        growth *= after / max(before, 1)
        delta = task.deltas.get(atom.predicate)
        if delta is not None:
            lost += delta.deleted.rows / max(before, 1)
            gained += delta.inserted.rows / max(after, 1)
    for name in rule.negative():
        delta = task.deltas.get(name)
        if delta is not None:
            rows = max(task.inputs(name, Version.BEFORE).rows, 1)
            lost += delta.inserted.rows / rows
            gained += delta.deleted.rows / rows
    incremental = lost + min(lost, 1.0) * growth + gained * growth
    return incremental, growth + COMPARE
