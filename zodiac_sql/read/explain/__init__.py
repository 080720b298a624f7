"""`explain`: which operators have evaluated hypernodes, or maintained them, and what that took.

decisions.py      what is told, as tables
from_scratch.py   evaluates every hypernode once more, aside
rule_times.py     how long each rule of a hypernode takes
of_change.py      the same of a change, from what its stats say
"""
