"""Ways to maintain a hypernode, of which the cheapest is run (maintain/registry.py): a file each.

copies.py      rules that copy facts copy the change
candidates.py  one rule that is not recursive: find candidates, check each once
products.py    a rule that is a product: compare what it derives with what it had derived
nodes.py       a decomposed rule: its nodes one by one, then their join
support.py     take out what has lost its support by ranks, then rederive
lost_edge.py   one edge of a closure less: take out all that may have led over it, in one step
sets.py        a closure in layers: compare the sets that it is made of
best.py        best values of groups
components.py  a relation that is kept as strongly connected components
partitions.py  relations that are kept as partitions, and the rules beside them
recompute.py   evaluate anew, and compare with what was there
"""
