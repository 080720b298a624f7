"""Other rules that derive the same facts, evaluated in place of those that a user wrote.

`closures/`               modules: rules with a shape that an algorithm of its own evaluates faster
`hypertree/`              rules with many atoms as trees of smaller joins
`forms.py`                which forms rules have: all that choose by them ask it
`copies.py`               rules that only copy facts
`product.py`              rules that are products
`rewritten_hypernode.py`  a hypernode with the rules that its modules and hypertrees make
"""
