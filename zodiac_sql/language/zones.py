"""The time zones of a native column of moments, which are part of its entry in Predicate.datatypes.

A column holds instants in UTC, or moments without a zone. xsd:dateTime stands for the latter, ZONED
for instants that are written with a Z, and `xsd:dateTime+01:00` for instants that are written with
that offset. (xsd:dateTimeStamp, whose literals all have a zone, is as it is, or has an offset.)
"""

from __future__ import annotations

import re
from collections.abc import Collection

from zodiac_sql.language.symbols import XSD

ZONED = f"{XSD}dateTimeZ"
"""Instants that are xsd:dateTime and written with a Z."""

_MOMENT = re.compile(re.escape(XSD) + r"(dateTime(?:Stamp)?)(Z|[+-][0-9]{2}:[0-9]{2})?")


def zone_of(datatype: str | None) -> str | None:
    """The zone, Z or an offset, in which a column of moments is written; None if they have none."""
    found = _MOMENT.fullmatch(datatype or "")
    if found is None:
        return None
    return found[2] or ("Z" if found[1] == "dateTimeStamp" else None)


def without_zone(datatype: str) -> str:
    """The datatype of the literals of a column."""
    found = _MOMENT.fullmatch(datatype)
    return datatype if found is None else XSD + found[1]


def in_zone(datatype: str, zone: str) -> str:
    """The entry in Predicate.datatypes of moments of a datatype that are written in a zone."""
    plain = without_zone(datatype)
    return plain if zone == "Z" and plain == f"{XSD}dateTimeStamp" else plain + zone


def common_zone(zones: Collection[str]) -> str | None:
    """The zone in which moments of these zones are written; None if there are none."""
    return None if not zones else min(zones) if len(set(zones)) == 1 else "Z"


def is_zoned(datatype: str | None) -> bool:
    """Whether timestamps of a column with this RDF datatype are instants."""
    return zone_of(datatype) is not None


def united(before: str | None, found: str | None) -> str | None:
    """The entry of a column that gets literals for which another entry would have been made."""
    zones = [zone for zone in map(zone_of, (before, found)) if zone is not None]
    zone = common_zone(zones)
    if before is None or zone is None or len(zones) < 2:
        return before or found
    return in_zone(before, zone)
