"""Cyclic rules by hypertree decompositions (paper 5).

`tree.py` says what a decomposition is, `decompose.py` finds the best one, `rewrite.py` makes rules of
it, `stored.py` is how the catalog keeps it. Which rules are decomposed is decided in evaluate/cost/choose_trees.py.
"""
