"""What work costs in DuckDB, in milliseconds: one measurement, from which all estimates follow.

Two cores, DuckDB 2.0.1, 2026-11-28, CPU time. Only their ratios decide, and these differ little
between machines.
"""

from __future__ import annotations

STATEMENT = 2.0
"""Planning and running a statement that has little to look at."""

PLANNED_JOIN = 0.1
"""Planning one join of a statement that has many."""

PLANNED_BODY = 3.0
"""Planning one body in a statement that has several."""

HASHED = 50e-6
"""Putting a row into a hash table."""

READ = 0.1e-3
"""Looking at a row while rules are evaluated."""

DERIVED = 0.3e-3
"""Deriving a fact: finding its heads, of which there are some, and keeping it once."""

COMPARED = 0.06e-3
"""Comparing a fact with those that were there before."""

SCANNED = 0.04e-3
"""Looking at a row of a table that a round reads from its beginning to its end."""
