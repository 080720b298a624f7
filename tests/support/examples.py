"""How many random examples a test tries: its share of those of the profile (conftest.py).

The first example that hypothesis tries of anything is the simplest: a program without rules. So it
does not count: a test with one example would try nothing else.
"""

from __future__ import annotations

from hypothesis import settings


def share(of: int, least: int = 1) -> int:
    """One of so many examples of the profile, or at least some, besides the simplest."""
    return 1 + max(least, settings().max_examples // of)
