"""Hypertree decompositions of cyclic rules (paper 5).

cost/choose_trees.py chooses which rules are decomposed.

`tree.py`       what a decomposition is
`decompose.py`  the cheapest one for a body
`rewrite.py`    the rules that it makes of a rule
`stored.py`     how the catalog stores it
"""
