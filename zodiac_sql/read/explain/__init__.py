"""`explain`: which operators have evaluated hypernodes, or maintained them, and what that took.

work.py           what one hypernode had to do
from_scratch.py   evaluates every hypernode once more, aside
rule_times.py     how long each rule of a hypernode takes
of_change.py      the same of a change, from what its stats say
decisions.py      what is told, as tables of data
shown.py          the tables that people see
"""
