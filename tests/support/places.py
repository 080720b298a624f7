"""Where things are."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).parent.parent
ROOT = TESTS.parent
CASES = TESTS / "cases"
SHARED = ROOT.resolve().parent / "shared" / "data"
"""Real data sets, which users do not have: tests that need them skip where they are absent."""
