"""One atomic change of facts and rules: its program is checked, then the cheapest operator runs."""

from __future__ import annotations

from dataclasses import replace
from shutil import disk_usage

from zodiac_sql.change.begin import begin
from zodiac_sql.change.check import check
from zodiac_sql.change.collected import Collected
from zodiac_sql.change.execution import Applied, Execution
from zodiac_sql.change.materialise import Progress
from zodiac_sql.change.plan_sizes import PlannedSizes, plan_of
from zodiac_sql.change.registry import carry_out
from zodiac_sql.change.report import IsCurrent, notes_of
from zodiac_sql.change.staged import ids_of, stage
from zodiac_sql.change.stats import considered
from zodiac_sql.change.temporary_tables import drop_temporary


def apply(collected: Collected, is_current: IsCurrent, progress: Progress | None) -> Applied:
    """Carry an update out. `is_current` tells, whenever asked, whether no other has come since."""
    return _applied(Execution(collected, check(collected), is_current, progress, publishes=True))


def preview(collected: Collected, is_current: IsCurrent, progress: Progress | None) -> Applied:
    """Compute the change without publishing it: it tells what would have happened."""
    return _applied(Execution(collected, check(collected), is_current, progress, publishes=False))


def _applied(execution: Execution) -> Applied:
    applied, decision = carry_out(execution)
    stats = replace(applied.change.stats, considered=considered(decision))
    return replace(applied, change=replace(applied.change, stats=stats))


def plan(collected: Collected) -> PlannedSizes:
    """What the change is expected to derive, from statistics of its facts: nothing is evaluated."""
    prepared = check(collected)
    net = stage(collected, prepared)
    before = collected.before
    work = begin(before, prepared, net, ids_of(before, prepared, collected.report))
    store = before.store
    free = None if store.file.in_memory else disk_usage(store.file.real.parent).free
    notes = notes_of(collected, prepared.planned.schema)
    found = replace(plan_of(work.basis, work.extensions.new, free), notes=notes)
    drop_temporary(store, (), renamed=True)
    return found
