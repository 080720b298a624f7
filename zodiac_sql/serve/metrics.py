"""Figures about a server in Prometheus' text format.

Names, units and kinds follow its conventions: base units, `_total` for what only grows.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from zodiac_sql.database.new_files import log_of
from zodiac_sql.reader import Reader

if TYPE_CHECKING:
    from zodiac_sql.serve.service import Service

Sample = tuple[dict[str, str], float]
"""Labels, and a value."""


def metrics_text(service: Service, reader: Reader) -> str:
    """All figures, as they are now."""
    return "".join(
        f"# HELP {name} {about}\n# TYPE {name} {kind}\n"
        + "".join(f"{name}{_labels(labels)} {value!r}\n" for labels, value in samples)
        for name, kind, about, samples in _figures(service, reader)
    )


def _figures(service: Service, reader: Reader) -> Iterator[tuple[str, str, str, Iterable[Sample]]]:
    totals, last = service.history.totals, service.history.last(1)
    yield "zodiac_changes_total", "counter", "Changes published.", [({}, totals.changes)]
    yield "zodiac_updates_total", "counter", "Updates of streams applied.", [({}, totals.updates)]
    yield (
        "zodiac_change_seconds_total", "counter", "Seconds that changes took.",
        [({}, totals.seconds)],
    )  # fmt: skip
    yield (
        "zodiac_facts_moved_total", "counter", "Facts that entered or left predicates.",
        [({"moved": "in"}, totals.inserted), ({"moved": "out"}, totals.deleted)],
    )  # fmt: skip
    yield (
        "zodiac_rule_seconds_total", "counter", "Seconds that statements of each rule took.",
        [({"rule": one["rule"]}, one["seconds"]) for one in reader.profile().rules.to_pylist()],
    )  # fmt: skip
    newest = last[-1] if last else None
    lag = newest.lag if newest and newest.lag is not None else 0.0
    waiting = newest.waiting if newest else 0
    yield "zodiac_stream_lag_seconds", "gauge", "Lag of the last change of a stream.", [({}, lag)]
    yield "zodiac_stream_waiting", "gauge", "Updates that waited behind it.", [({}, waiting)]
    known = reader.predicates().to_pylist()
    yield (
        "zodiac_facts", "gauge", "Facts of each predicate.",
        [({"predicate": one["predicate"]}, one["extension"]) for one in known],
    )  # fmt: skip
    violated = reader.constraints().to_pylist()
    yield (
        "zodiac_constraint_violations", "gauge", "How often each constraint is violated.",
        [({"constraint": row["name"]}, row["violations"]) for row in violated],
    )  # fmt: skip
    yield "zodiac_rules", "gauge", "Rules.", [({}, len(reader._session.state.written))]
    if os.path.isfile(service.path):
        sizes = [Path(service.path), log_of(Path(service.path))]
        size = sum(path.stat().st_size for path in sizes if path.exists())
        yield "zodiac_file_size_bytes", "gauge", "Size of the file and its log.", [({}, size)]
    memory = _resident_bytes()
    if memory is not None:
        yield "process_resident_memory_bytes", "gauge", "Resident memory.", [({}, memory)]
    yield (
        "process_start_time_seconds", "gauge", "When the server began, since 1970.",
        [({}, service.started)],
    )  # fmt: skip
    yield (
        "zodiac_uptime_seconds",
        "gauge",
        "How long it runs.",
        [({}, time.time() - service.started)],
    )


def _labels(labels: dict[str, str]) -> str:
    if not labels:
        return ""
    parts = (f'{name}="{_escaped(value)}"' for name, value in labels.items())
    return f"{{{','.join(parts)}}}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _resident_bytes() -> int | None:
    """The memory of this process; None where the system does not tell it so."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")
