"""What a user says of the change feed: the predicates that are to be in it, and how long."""

from __future__ import annotations

from collections.abc import Iterable

from zodiac_sql.change.schema_edits import SchemaEdits
from zodiac_sql.change.update_report import UpdateReport
from zodiac_sql.errors import QueryError
from zodiac_sql.names import why_not
from zodiac_sql.program.feed import Keeping, Retention

_DAY = 24 * 60 * 60


def keeping_of(
    edits: SchemaEdits,
    report: UpdateReport,
    predicates: Iterable[str] | None,
    limits: tuple[int | None, float | None, int | None],
) -> Keeping:
    """What is to be kept from now on. Raises QueryError."""
    count, days, size = limits
    for what, limit in (("count", count), ("days", days), ("bytes", size)):
        if limit is not None and not limit > 0:
            raise QueryError(f"keep_feed: {what} is how much is kept at least, and {limit} is none")
    kept = Retention(count, None if days is None else round(days * _DAY), size)
    if predicates is None:
        return Keeping((None,), kept)
    if isinstance(predicates, str):
        raise QueryError(f"keep_feed takes a list of predicates: [{predicates!r}]")
    names = dict.fromkeys(_meant(edits, report, name) for name in predicates)
    return Keeping(tuple(names), kept)


def _meant(edits: SchemaEdits, report: UpdateReport, predicate: str) -> str:
    """The predicate that a name means; a remark tells that there is none yet."""
    if wrong := why_not(predicate):
        raise QueryError(f"keep_feed: {wrong}")
    name = edits.meant(predicate)
    if name not in edits.provisional:
        report.remarks.append(
            f"there is no predicate {name} yet: what enters it will be in the feed"
        )
    return name
