"""Other rules that derive the same facts, evaluated in place of those that a user wrote.

`closures/`               modules: rules with a shape that an algorithm of its own evaluates faster
`hypertree/`              rules with many atoms as trees of smaller joins
`rewritten_hypernode.py`  a hypernode with the rules that its modules and hypertrees make
"""
