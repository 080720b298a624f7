"""Estimates of sizes, and what is decided by them.

statistics.py          how many rows joins of a rule's atoms have
choose_trees.py        which cyclic rules are decomposed, and how
choose_components.py   which transitive closures are kept as components
"""
