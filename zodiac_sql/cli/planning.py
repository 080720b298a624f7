"""What `zodiac run --plan` does and prints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from shutil import disk_usage
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from zodiac_sql.cli.databases import MEMORY, Wanted, changing
from zodiac_sql.cli.elsewhere import host
from zodiac_sql.cli.output import print_json, print_notes
from zodiac_sql.cli.tables import print_table
from zodiac_sql.cli.terminal import echo
from zodiac_sql.paths import is_there

if TYPE_CHECKING:
    from zodiac_sql.change.plan_sizes import Expected, PlannedSizes

_MOST_DERIVES = 3
"""So many of a hypernode's predicates are named."""


def show_plan(db: str, limits: Mapping[str, Any], wanted: Wanted, as_json: bool) -> None:
    """Print what a run is expected to derive. No file is made for that."""
    if db == MEMORY or host() is not None or is_there(db):
        with changing(db, limits) as opened:
            plan = opened.plan(wanted)
    else:
        folder = Path(db).absolute().parent
        with TemporaryDirectory(prefix=".zodiac-plan-", dir=folder) as spill:
            # What does not fit the memory goes to the disk that the file would be on.
            place = {"temp_directory": limits.get("temp_directory") or spill}
            with changing(MEMORY, {**limits, **place}) as opened:
                plan = opened.plan(wanted)
        plan = replace(plan, free=disk_usage(folder).free)
    if as_json:
        print_json({**asdict(plan), "problem": plan.problem})
    else:
        _print_plan(plan)


def _print_plan(plan: PlannedSizes) -> None:
    names = ("hypernode", "derives", "facts", "one round", "at most", "bytes", "estimated from")
    print_table(names, [_row(one) for one in plan.hypernodes])
    facts = sum(one.rows for one in plan.hypernodes)
    echo(f"\nexplicit facts: {plan.explicit:,}, derived: about {facts:,}")
    echo(f"file: about {plan.bytes:,} bytes; while it is computed, {plan.temporary:,} more")
    if any(one.how == "bounds" for one in plan.hypernodes):
        echo(
            "What recursion derives cannot be estimated: such facts are a guess between what one "
            "round is expected to derive, and the most that there can be."
        )
    print_notes(plan.notes)
    if plan.problem:
        echo(f"warning: {plan.problem}", err=True)


def _row(one: Expected) -> list[object]:
    derives = ", ".join(one.derives[:_MOST_DERIVES])
    more = len(one.derives) - _MOST_DERIVES
    if more > 0:
        derives += f" and {more} more"
    least, most = one.least, "unknown" if one.most is None else one.most
    bounds = (least, most) if one.how == "bounds" else ("", "")
    return [one.hypernode, derives, one.rows, *bounds, one.bytes, one.how]
