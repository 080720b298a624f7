"""Timings of whole materialisations and, later, of changes: `python -m tests.benchmarks`."""
