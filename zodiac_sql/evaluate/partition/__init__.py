"""Closures that are kept as classes of nodes rather than pairs (paper 2, section 6).

closure.py        one closed relation that is symmetric, as rules read and feed it
partition.py      its nodes and classes, while they change
components.py     connected components of a graph, in SQL
condensation.py   one closed relation that is directed: its classes, and how these are related
"""
