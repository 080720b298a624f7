"""What work costs in DuckDB, in milliseconds: all estimates of operators follow from it.

Two cores, DuckDB 2.0.1, CPU time. STATEMENT is measured (changes of closures and rules of 50 to
20,000 facts: 1.3 to 3.5 ms each). The others are taken from what whole evaluations and rounds took,
by the number of their rows, and are rough. Only their ratios decide.
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
