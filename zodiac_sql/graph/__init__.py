"""The graph of rules: which hypernodes there are, and what a change of rules does to them.

`digraph.py`        components, orders and paths of any directed graph
`rule_graph.py`     which rule feeds which, and the strongly connected components
`hypergraph.py`     hypernodes, their numbers and their order
`handed_on.py`      arguments that the rules of a hypernode hand on from body to head
`restructuring.py`  what a change creates, merges, splits and drops, and who gets the tables
"""
