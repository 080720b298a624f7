"""Cyclic rules by hypertree decompositions (paper 5). Rules to decompose are chosen in
evaluate/cost/choose_trees.py.

`tree.py`       what a decomposition is
`decompose.py`  the cheapest one for a body
`rewrite.py`    the rules that it makes of a rule
`stored.py`     how the catalog stores it
"""
