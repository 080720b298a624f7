"""What all tests share: how hypothesis runs, and the one place where a knowledge base is made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase, settings

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

# `make test` and CI run the same examples every time. To look for new ones:
#     pytest --hypothesis-profile=explore tests/test_against_clingo.py
SLOW_IS_FINE = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile(
    "ci",
    max_examples=340,
    derandomize=True,
    deadline=None,
    suppress_health_check=SLOW_IS_FINE,
)
settings.register_profile(
    "explore",
    max_examples=3400,
    deadline=None,
    suppress_health_check=SLOW_IS_FINE,
    print_blob=True,
)
# To see a failure at once, unshrunk: --hypothesis-profile=first
settings.register_profile(
    "first",
    settings.get_profile("ci"),
    phases=[Phase.explicit, Phase.generate],
)
settings.load_profile("ci")


@pytest.fixture(scope="session")
def open_kb() -> OpenKb:
    """Opens a knowledge base: `open_kb()` in memory, `open_kb(path)` on a file.

    Tests never call zodiac_sql.connect themselves, so that a parameter of this fixture can run
    all of them once for each maintenance strategy.
    """
    import zodiac_sql  # here, so that the oracle's own tests need no library

    def open_it(path: str | Path = ":memory:") -> KnowledgeBase:
        return zodiac_sql.connect(path)

    return open_it
