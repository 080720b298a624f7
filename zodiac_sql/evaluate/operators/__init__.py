"""Ways to evaluate a hypernode from scratch, of which the cheapest is run (evaluate/registry.py).

rules.py        the rules of a hypernode that is not recursive, in their order
best.py         best values of groups
components.py   a relation that is kept as strongly connected components
classes.py      relations that are kept as partitions, and a loop of the rules beside them
nothing.py      a recursion that has nothing to begin with
copies.py       rules that only copy facts
in_layers.py    a closure along a relation without cycles, as sets, layer by layer
statement.py    one recursive statement for one predicate
tagged.py       one recursive statement for several predicates, with tags
loop.py         rounds over delta tables
"""
