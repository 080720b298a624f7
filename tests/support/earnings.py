"""Look-ups are earned by time: on a busy machine, slow changes earn them sooner."""

from __future__ import annotations

import pytest

from zodiac_sql.change.operators import copied_first
from zodiac_sql.lookups import worth


def without_earnings(patch: pytest.MonkeyPatch) -> None:
    """Let no change earn look-ups, for tests of what DuckDB does."""
    by_numbers(patch)
    patch.setattr(worth, "HYPERNODE", 0)


def by_numbers(patch: pytest.MonkeyPatch) -> None:
    """Let the time that changes take earn nothing, however busy the machine is."""
    patch.setattr(worth, "taken", lambda _: 0)
    patch.setattr(copied_first, "MOST", 0)
