"""The graph of rules: which hypernodes there are, and what a change of rules does to them.

`rule_graph.py`     which rule feeds which, and the strongly connected components
`hypergraph.py`     hypernodes, their numbers and their order
`restructuring.py`  what a change creates, merges, splits and drops, and who gets the tables
"""
