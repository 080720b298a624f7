"""Other rules for the same facts: what is evaluated in place of what a user wrote.

`closures/`               modules: rules with a shape that an algorithm of its own evaluates faster
`hypertree/`              rules with many atoms as trees of smaller joins
`rewritten_hypernode.py`  a hypernode with the rules that its modules and hypertrees make
"""
