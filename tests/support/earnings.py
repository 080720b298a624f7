"""Look-ups are earned by time: on a busy machine, slow changes earn them sooner."""

from __future__ import annotations

import pytest

from zodiac_sql.lookups import worth


def without_earnings(patch: pytest.MonkeyPatch) -> None:
    """Let no change earn look-ups, for tests of what DuckDB does."""
    patch.setattr(worth, "COPIED_A_SECOND", 0)
    patch.setattr(worth, "EARNED", 0)
