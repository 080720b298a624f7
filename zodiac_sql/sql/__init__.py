"""Rules as queries: one plan for a rule and a delta, one SELECT for a plan.

`plan.py`            which atom reads which version of its predicate, and in what order
`relations.py`       where facts stand: tables, and the unions of tables that extensions are
`class_pairs.py`     pairs of nodes of the same class, read from a table of classes
`context.py`         what rendering needs to know besides the plan
`select.py`          a plan as one SELECT
`body.py`            the body of a rule as its FROM and WHERE,
`joins.py`           item by item, with
`values.py`          the values of variables and expressions,
`functions.py`       the functions of the language and
`aggregates.py`      groups
`duplicates.py`      whether a SELECT may return the same row twice
`emptiness.py`       whether a body can have no solution at all
`set_difference.py`  the facts that do not stand in given tables
`scans.py`           atoms as queries of their own, for
`product.py`         a join as a product of bit matrices, and
`reducer.py`         a join along a tree, reduced before it is made
"""
