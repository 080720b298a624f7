"""Timings of materialisations, changes and streams: `python -m tests.benchmarks`.

README.md in this folder says what each command measures.
"""
